#include "accel/accel_settings.h"

#include <inttypes.h>
#include <string.h>

#include "accel/accel_names.h"
#include "base/text.h"

/* "GlobalBuffer.entries=65536" in its parts. */
typedef struct setting {
  const char *whole, *name, *key;
  const accel_yaml *value;
  uint32_t hits;
} setting;

enum { MOST_NAMES = 64 }; /* that a message looks at */

typedef struct known_names {
  const char *names[MOST_NAMES];
  uint32_t count;
} known_names;

/* ---- Reading one --------------------------------------------------------- */

static calm_status refuse_form(calm_context *context, const char *word) {
  return context_fail(context, CALM_MISUSE,
                      "--set: '%s' is not NAME.KEY=VALUE, such as "
                      "GlobalBuffer.entries=65536",
                      word);
}

static calm_status part_of(const char **out, const char *from, const char *to,
                           arena *a) {
  *out = arena_string(a, from, (size_t)(to - from));
  return *out ? CALM_OK : context_no_memory(a->context);
}

/* As the value of a key in a file of the setting's name. */
static calm_status read_value(setting *s, const char *value, arena *a) {
  text words;
  const char *line, *name;
  accel_yaml *root;
  text_init(&words, a->context);
  text_format(&words, "value: %s\n", value);
  TRY(text_keep(&words, &line, a));
  text_format(&words, "--set %s", s->whole);
  TRY(text_keep(&words, &name, a));
  TRY(accel_yaml_parse(&root, name, line, strlen(line), a));
  s->value = accel_yaml_get(root, "value");
  if (root->count != 1 || s->value->kind != ACCEL_YAML_SCALAR)
    return refuse_form(a->context, s->whole);
  return CALM_OK;
}

/* A name may have dots, a key has none. */
static calm_status read_setting(setting *out, const char *word, arena *a) {
  setting s = {.whole = word};
  const char *equals = strchr(word, '='), *dot = NULL;
  for (const char *c = word; equals && c < equals; c++)
    if (*c == '.') dot = c;
  if (!dot || dot == word || dot + 1 == equals || !equals[1])
    return refuse_form(a->context, word);
  TRY(part_of(&s.name, word, dot, a));
  TRY(part_of(&s.key, dot + 1, equals, a));
  TRY(read_value(&s, equals + 1, a));
  *out = s;
  return CALM_OK;
}

/* ---- Putting it in ------------------------------------------------------- */

/* The mapping, which others may share, becomes a copy with the value. */
static calm_status set_key(accel_yaml **mapping, const setting *s, arena *a) {
  const accel_yaml *old = *mapping;
  accel_yaml *copy;
  uint32_t at = 0;
  ARENA_ARRAY(a, copy, 1);
  *copy = *old;
  while (at < old->count && !accel_yaml_same_key(old->keys[at], s->key)) at++;
  copy->count = at < old->count ? old->count : old->count + 1;
  ARENA_ARRAY(a, copy->keys, copy->count);
  ARENA_ARRAY(a, copy->key_places, copy->count);
  ARENA_ARRAY(a, copy->items, copy->count);
  for (uint32_t i = 0; i < old->count; i++) {
    copy->keys[i] = old->keys[i];
    copy->key_places[i] = old->key_places[i];
    copy->items[i] = old->items[i];
  }
  if (at == old->count) copy->keys[at] = s->key;
  copy->key_places[at] = s->value->place;
  copy->items[at] = (accel_yaml *)(uintptr_t)s->value;
  copy->weight = old->weight + 1;
  *mapping = copy;
  return CALM_OK;
}

/* Where the value of a key of a component is; NULL: it has no such key. */
static accel_yaml **slot_of(accel_yaml *node, const char *key) {
  for (uint32_t i = 0; i < node->count; i++)
    if (accel_yaml_same_key(node->keys[i], key)) return &node->items[i];
  return NULL;
}

static bool is_mesh(const char *key) {
  return accel_yaml_same_key(key, "meshX") || accel_yaml_same_key(key, "meshY");
}

static bool holds_keys(accel_yaml *const *slot) {
  return slot && (*slot)->kind == ACCEL_YAML_MAPPING;
}

/* "PE[0..15]" says how many there are by its name. */
static calm_status set_range(accel_yaml **name, const setting *s, arena *a) {
  uint64_t count;
  text words;
  accel_yaml *copy;
  TRY(accel_yaml_integer(&count, a->context, s->value, s->whole));
  if (count == 0)
    return accel_place_fail(a->context, CALM_BAD_INPUT, s->value->place,
                            "there cannot be 0 of %s", s->name);
  text_init(&words, a->context);
  text_format(&words, "%s[0..%" PRIu64 "]", s->name, count - 1);
  ARENA_ARRAY(a, copy, 1);
  *copy = **name;
  *name = copy;
  return text_keep(&words, &copy->text, a);
}

/* Attributes stand below `attributes`, or in version 0.1 in the component. */
static calm_status set_component(accel_yaml **component, const setting *s,
                                 arena *a) {
  accel_yaml **spatial = slot_of(*component, "spatial");
  accel_yaml **attributes = slot_of(*component, "attributes");
  accel_yaml **name = slot_of(*component, "name");
  if (!strcmp(s->key, "instances") && strchr((*name)->text, '['))
    return set_range(name, s, a);
  if (is_mesh(s->key) && holds_keys(spatial)) return set_key(spatial, s, a);
  if (attributes && accel_yaml_is_null(*attributes))
    (*attributes)->kind = ACCEL_YAML_MAPPING;
  if (holds_keys(attributes)) return set_key(attributes, s, a);
  return set_key(component, s, a);
}

/* Is it "PE" or "PE[0..15]"? */
static bool is_named(const accel_yaml *node, const char *name) {
  const accel_yaml *own = accel_yaml_get(node, "name");
  const size_t length = strlen(name);
  return own && own->kind == ACCEL_YAML_SCALAR &&
         !strncmp(own->text, name, length) &&
         (own->text[length] == '\0' || own->text[length] == '[');
}

static void note_name(known_names *known, const accel_yaml *node) {
  const accel_yaml *own = accel_yaml_get(node, "name");
  if (own && own->kind == ACCEL_YAML_SCALAR && known->count < MOST_NAMES)
    known->names[known->count++] = own->text;
}

/* Trees are of limited depth, so that this may call itself. */
static calm_status walk(accel_yaml **node, setting *s, known_names *known,
                        arena *a) {
  if ((*node)->kind == ACCEL_YAML_SCALAR) return CALM_OK;
  for (uint32_t i = 0; i < (*node)->count; i++)
    TRY(walk(&(*node)->items[i], s, known, a));
  note_name(known, *node);
  if (!is_named(*node, s->name)) return CALM_OK;
  s->hits++;
  return set_component(node, s, a);
}

/* ---- All of them --------------------------------------------------------- */

static accel_yaml **section_of(accel_yaml *root) {
  accel_yaml **arch = slot_of(root, "arch");
  return arch ? arch : slot_of(root, "architecture");
}

static calm_status refuse_name(calm_context *context, const setting *s,
                               const known_names *known) {
  const char *const *names = (const char *const *)known->names;
  const accel_hint hint = accel_names_hint(s->name, names, known->count);
  return context_fail(context, CALM_MISUSE,
                      "--set %s: the accelerator has no part '%s'%s (there "
                      "are %s)",
                      s->whole, s->name, hint.text,
                      accel_names_list(names, known->count).text);
}

static calm_status apply(accel_yaml *root, const char *word, arena *a) {
  setting s;
  known_names known = {.count = 0};
  accel_yaml **section = section_of(root);
  accel_yaml **variables = slot_of(root, "variables");
  TRY(read_setting(&s, word, a));
  if (holds_keys(variables) && !strcmp(s.name, "variables"))
    return set_key(variables, &s, a);
  if (section) TRY(walk(section, &s, &known, a));
  return s.hits ? CALM_OK : refuse_name(a->context, &s, &known);
}

calm_status accel_settings_apply(accel_yaml *root, option_LIST settings,
                                 arena *a) {
  for (option_LIST item = settings; item; item = item->next)
    TRY(apply(root, item->text, a));
  return CALM_OK;
}
