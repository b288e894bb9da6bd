/*
 * The words of mappings and constraints: factors, orders, lists of tensors.
 * Texts are read from left to right; whatever does not belong there is an
 * error at its column, where Timeloop would pass over it.
 */
#include <string.h>

#include "accel/accel_nest_parts.h"
#include "base/number.h"

static bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

static bool is_gap(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

/* A scalar that is being read. */
typedef struct cursor {
  const accel_subject *subject;
  const accel_yaml *node;
  const char *at;
} cursor;

static cursor begin(const accel_subject *s, const accel_yaml *node) {
  return (cursor){s, node, node->text};
}

/* Where `at` stands in the file, as far as a text of one line goes. */
static accel_place place_at(const cursor *c, const char *at) {
  accel_place place = c->node->place;
  place.column += (uint32_t)(at - c->node->text) + c->node->quoted;
  return place;
}

static void skip_spaces(cursor *c) {
  while (*c->at == ' ' || *c->at == '\t') c->at++;
}

/* To the next word; false at the end, which a '#' is too. */
static bool skip_gaps(cursor *c) {
  while (is_gap(*c->at)) c->at++;
  return *c->at && *c->at != '#';
}

/* ---- Names of dimensions ------------------------------------------------- */

static uint32_t find_dimension(const accel_layer *layer, const char *name,
                               size_t length) {
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const char *own = layer->dimensions[d].name;
    if (strlen(own) == length && !memcmp(own, name, length)) return d;
  }
  return CALM_NONE;
}

static calm_status unknown_dimension(const cursor *c, const char *name,
                                     size_t length) {
  char word[64];
  const size_t kept = length < sizeof word - 1 ? length : sizeof word - 1;
  memcpy(word, name, kept);
  word[kept] = 0;
  return accel_subject_no_dimension(c->subject, place_at(c, name), word);
}

/* ---- Factors ------------------------------------------------------------- */

static calm_status read_number(uint64_t *out, cursor *c) {
  const char *start = c->at;
  while (is_digit(*c->at)) c->at++;
  if (c->at == start)
    return accel_place_fail(c->subject->context, CALM_BAD_INPUT,
                            place_at(c, start), "a number is missing in '%s'",
                            c->node->text);
  if (!number_parse(out, start, (size_t)(c->at - start)) ||
      *out > ACCEL_MAX_COUNT)
    return accel_place_fail(c->subject->context, CALM_BAD_INPUT,
                            place_at(c, start), "a factor above 2^53");
  return CALM_OK;
}

/* The longest name that begins a word of which only a number is left. */
static uint32_t longest_name(size_t *end, const cursor *c, size_t length) {
  const char *word = c->at;
  size_t letters = length;
  while (letters > 0 && is_digit(word[letters - 1])) letters--;
  for (*end = length - (letters < length); *end >= letters && *end; --*end) {
    const uint32_t d = find_dimension(c->subject->layer, word, *end);
    if (d != CALM_NONE) return d;
  }
  *end = letters;
  return CALM_NONE;
}

/* "C16" has the dimension C; so has "C16M8", whose second factor follows.
   Names may end in digits themselves. */
static calm_status split_word(uint32_t *dimension, cursor *c, size_t length) {
  const char *word = c->at;
  size_t end, first = 0;
  while (first < length && !is_digit(word[first])) first++;
  while (first < length && is_digit(word[first])) first++;
  *dimension = longest_name(&end, c, length);
  if (*dimension == CALM_NONE) *dimension = longest_name(&end, c, first);
  if (*dimension == CALM_NONE) return unknown_dimension(c, word, end);
  c->at = word + end;
  return CALM_OK;
}

static bool read_relation(accel_relation *out, cursor *c) {
  const char first = *c->at;
  *out = first == '<'   ? ACCEL_AT_MOST
         : first == '>' ? ACCEL_AT_LEAST
                        : ACCEL_EQUAL;
  if (first == '<' || first == '>') {
    if (c->at[1] != '=') return false;
    c->at += 2;
  } else {
    c->at += first == '=';
    c->at += first == '=' && *c->at == '=';
  }
  return true;
}

static calm_status read_dimension(uint32_t *out, accel_relation *relation,
                                  cursor *c) {
  const char *word = c->at;
  while (is_name(*c->at)) c->at++;
  const size_t length = (size_t)(c->at - word);
  if (length == 0 || is_digit(*word))
    return accel_place_fail(
        c->subject->context, CALM_BAD_INPUT, place_at(c, word),
        "a dimension is expected in '%s', such as C=4", c->node->text);
  skip_spaces(c);
  if (*c->at && strchr("=<>", *c->at)) {
    *out = find_dimension(c->subject->layer, word, length);
    if (*out == CALM_NONE) return unknown_dimension(c, word, length);
  } else {
    c->at = word;
    TRY(split_word(out, c, length));
    skip_spaces(c);
  }
  if (!read_relation(relation, c))
    return accel_place_fail(c->subject->context, CALM_BAD_INPUT,
                            place_at(c, c->at),
                            "'<' and '>' are not known here; write '<=' or "
                            "'>='");
  skip_spaces(c);
  return CALM_OK;
}

/* 0 is the full bound; the last pass has between 1 iteration and all. */
static calm_status settle_factor(accel_factor *f, const accel_subject *s,
                                 bool has_residual) {
  accel_factor_rule *r = &f->rule;
  const char *name = s->layer->dimensions[r->dimension].name;
  if (r->value == 0 && r->relation != ACCEL_EQUAL)
    return accel_place_fail(s->context, CALM_BAD_INPUT, r->place,
                            "a limit of 0 on %s; only '=0' has a meaning, the "
                            "full bound",
                            name);
  if (r->value == 0) r->value = s->layer->dimensions[r->dimension].bound;
  if (has_residual && (f->residual == 0 || f->residual > r->value))
    return accel_place_fail(s->context, CALM_BAD_INPUT, r->place,
                            "the last pass over %s has %llu of %llu "
                            "iterations; at least 1 and at most all are "
                            "possible",
                            name, (unsigned long long)f->residual,
                            (unsigned long long)r->value);
  return CALM_OK;
}

static calm_status read_factor(accel_factor *out, cursor *c) {
  *out = (accel_factor){.rule.place = place_at(c, c->at)};
  TRY(read_dimension(&out->rule.dimension, &out->rule.relation, c));
  TRY(read_number(&out->rule.value, c));
  const bool has_residual = *c->at == ',' && is_digit(c->at[1]);
  if (has_residual) {
    c->at++;
    TRY(read_number(&out->residual, c));
  }
  if (*c->at && !is_gap(*c->at) && *c->at != '#' && !is_letter(*c->at))
    return accel_place_fail(c->subject->context, CALM_BAD_INPUT,
                            place_at(c, c->at), "'%c' in the factors '%s'",
                            *c->at, c->node->text);
  return settle_factor(out, c->subject, has_residual);
}

/* A list [P=6,2, C=1] is three items: the second belongs to the first. */
static calm_status read_late_residual(accel_factors *all, cursor *c) {
  accel_factor *last = &all->items[all->count - 1];
  if (last->residual)
    return accel_place_fail(
        c->subject->context, CALM_BAD_INPUT, c->node->place,
        "a number without a dimension; a factor is written C=4");
  TRY(read_number(&last->residual, c));
  return settle_factor(last, c->subject, true);
}

/* A dimension can be equal, at most and at least something; what is more would
   be refused one by one. */
static uint32_t factor_limit(const accel_layer *layer) {
  return 3 * layer->dimension_count;
}

static calm_status read_factor_text(accel_factors *all, cursor *c,
                                    bool in_list) {
  while (skip_gaps(c)) {
    if (in_list && all->count && is_digit(*c->at)) {
      TRY(read_late_residual(all, c));
      continue;
    }
    if (all->count == factor_limit(c->subject->layer))
      return accel_place_fail(c->subject->context, CALM_BAD_INPUT,
                              place_at(c, c->at),
                              "more than %u factors, of %u dimensions",
                              all->count, c->subject->layer->dimension_count);
    accel_factor f;
    TRY(read_factor(&f, c));
    all->items[all->count++] = f;
  }
  return CALM_OK;
}

static const accel_yaml *item_of(const accel_yaml *value, uint32_t i) {
  return value->kind == ACCEL_YAML_SCALAR ? value : value->items[i];
}

static uint32_t item_count(const accel_yaml *value) {
  return value->kind == ACCEL_YAML_SCALAR ? 1 : value->count;
}

static calm_status check_words(const accel_subject *s, const accel_yaml *value,
                               const char *what) {
  const char *text;
  if (value->kind == ACCEL_YAML_MAPPING)
    return accel_place_fail(s->context, CALM_BAD_INPUT, value->place,
                            "%s are a word or a list, not a mapping", what);
  for (uint32_t i = 0; i < item_count(value); i++)
    TRY(accel_yaml_text(&text, s->context, item_of(value, i), what));
  return CALM_OK;
}

/* No text has more factors than half its characters. */
static size_t most_factors(const accel_layer *layer, const accel_yaml *value) {
  size_t most = 0;
  for (uint32_t i = 0; i < item_count(value); i++)
    most += strlen(item_of(value, i)->text) / 2 + 1;
  return number_smaller(most, factor_limit(layer));
}

calm_status accel_factors_read(accel_factors *out, const accel_subject *s,
                               const accel_yaml *value) {
  *out = (accel_factors){0};
  if (!value) return CALM_OK;
  TRY(check_words(s, value, "factors"));
  ARENA_ARRAY(s->arena, out->items, most_factors(s->layer, value));
  for (uint32_t i = 0; i < item_count(value); i++) {
    cursor c = begin(s, item_of(value, i));
    TRY(read_factor_text(out, &c, value->kind == ACCEL_YAML_SEQUENCE));
  }
  return CALM_OK;
}

/* ---- Orders -------------------------------------------------------------- */

typedef struct order_reader {
  accel_order *order;
  uint32_t seen; /* bit d */
  bool outer;    /* a '_' was passed: what follows is outermost */
} order_reader;

static calm_status add_to_order(order_reader *r, const cursor *c,
                                const char *name, uint32_t d) {
  accel_order *o = r->order;
  if (r->seen >> d & 1)
    return accel_place_fail(c->subject->context, CALM_BAD_INPUT,
                            place_at(c, name), "%s is twice in one order",
                            c->subject->layer->dimensions[d].name);
  r->seen |= UINT32_C(1) << d;
  if (r->outer)
    o->outer[o->outer_count++] = d;
  else
    o->inner[o->inner_count++] = d;
  return CALM_OK;
}

/* Do all characters name dimensions ('_' aside)? */
static bool is_letters(const cursor *c, const char *word, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (word[i] != '_' &&
        find_dimension(c->subject->layer, word + i, 1) == CALM_NONE)
      return false;
  return true;
}

static calm_status read_letters(order_reader *r, const cursor *c,
                                const char *word, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (word[i] == '_') {
      r->outer = true;
      continue;
    }
    const uint32_t d = find_dimension(c->subject->layer, word + i, 1);
    if (d == CALM_NONE) return unknown_dimension(c, word + i, 1);
    TRY(add_to_order(r, c, word + i, d));
  }
  return CALM_OK;
}

/* A word is a dimension's name, or one letter after another. */
static calm_status read_order_word(order_reader *r, cursor *c) {
  const char *word = c->at;
  while (is_name(*c->at)) c->at++;
  const size_t length = (size_t)(c->at - word);
  if (length == 0)
    return accel_place_fail(c->subject->context, CALM_BAD_INPUT,
                            place_at(c, word), "'%c' in the order '%s'", *word,
                            c->node->text);
  const uint32_t d = find_dimension(c->subject->layer, word, length);
  if (d != CALM_NONE) return add_to_order(r, c, word, d);
  bool one_letter_names = false;
  for (uint32_t i = 0; i < c->subject->layer->dimension_count; i++)
    one_letter_names |= !c->subject->layer->dimensions[i].name[1];
  if (!one_letter_names && !is_letters(c, word, length))
    return unknown_dimension(c, word, length);
  return read_letters(r, c, word, length);
}

static void reverse(uint32_t *items, uint32_t count) {
  for (uint32_t i = 0; i < count / 2; i++) {
    const uint32_t first = items[i];
    items[i] = items[count - 1 - i];
    items[count - 1 - i] = first;
  }
}

calm_status accel_order_read(accel_order *out, const accel_subject *s,
                             const accel_yaml *value) {
  *out = (accel_order){0};
  if (!value) return CALM_OK;
  TRY(check_words(s, value, "permutation"));
  ARENA_ARRAY(s->arena, out->inner, s->layer->dimension_count);
  ARENA_ARRAY(s->arena, out->outer, s->layer->dimension_count);
  order_reader r = {.order = out};
  for (uint32_t i = 0; i < item_count(value); i++) {
    cursor c = begin(s, item_of(value, i));
    while (skip_gaps(&c)) TRY(read_order_word(&r, &c));
  }
  reverse(out->outer, out->outer_count);
  return CALM_OK;
}

calm_status accel_split_read(uint32_t *out, const accel_subject *s,
                             const accel_yaml *value) {
  uint64_t split;
  TRY(accel_yaml_integer(&split, s->context, value, "split"));
  *out = (uint32_t)number_smaller(split, s->layer->dimension_count);
  return CALM_OK;
}

/* ---- Tensors ------------------------------------------------------------- */

uint32_t accel_tensors_all(const accel_layer *layer) {
  return (uint32_t)((UINT64_C(1) << layer->tensor_count) - 1);
}

calm_status accel_tensors_read(uint32_t *out, const accel_subject *s,
                               const accel_yaml *value) {
  *out = 0;
  if (!value) return CALM_OK;
  TRY(check_words(s, value, "tensors"));
  for (uint32_t i = 0; i < item_count(value); i++) {
    const accel_yaml *item = item_of(value, i);
    if (!strcmp(item->text, "*")) {
      *out = accel_tensors_all(s->layer);
      continue;
    }
    if (!*item->text) continue;
    const uint32_t t = accel_layer_tensor(s->layer, item->text);
    if (t == CALM_NONE)
      return accel_subject_no_tensor(s, item->place, item->text);
    *out |= UINT32_C(1) << t;
  }
  return CALM_OK;
}
