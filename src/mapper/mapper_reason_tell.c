#include <string.h>

#include "base/bits.h"
#include "mapper/mapper_reason_parts.h"
#include "mapper/mapper_remedy.h"

/*
 * One line: the item that is its subject, with what it lets pass, what the
 * others need at least, and these others.
 */

/* ---- Words --------------------------------------------------------------- */

static const char *level_name(const mapper_reasoning *r, uint32_t level) {
  return r->problem->arch->levels[level].name;
}

static void tell_place(text *out, const char *before, accel_place place) {
  if (!place.file) return;
  text_format(out, "%s%s:%u", before, place.file, place.line);
  if (place.column) text_format(out, ":%u", place.column);
}

/* What stands between the things of a list. */
static const char *between(uint32_t at, uint32_t count) {
  return at == 0 ? "" : at + 1 == count ? " and " : ", ";
}

static void tell_factor(text *out, const mapper_reasoning *r,
                        const mapper_item *item) {
  static const char *const signs[] = {"=", "<=", ">="};
  const accel_factor_rule *rule = item->rule;
  text_format(out, "%s%s%llu (%s loops of %s",
              r->problem->layer->dimensions[rule->dimension].name,
              signs[rule->relation], (unsigned long long)rule->value,
              item->spatial ? "spatial" : "temporal",
              level_name(r, item->level));
  tell_place(out, ", ", rule->place);
  text_format(out, ")");
}

static void tell_order(text *out, const mapper_reasoning *r,
                       const mapper_item *item) {
  const accel_block_rules *b =
      &r->problem->constraints->levels[item->level].spatial;
  text_format(out, "the order of spatial loops of %s",
              level_name(r, item->level));
  tell_place(out, " at ",
             b->split != CALM_NONE ? b->split_place
             : b->inner_count      ? b->inner_place
                                   : b->outer_place);
}

/* An item that is not the subject. */
static void tell_other(text *out, const mapper_reasoning *r,
                       const mapper_item *item) {
  const accel_constraints *c = r->problem->constraints;
  const cost_store *store =
      item->level == CALM_NONE ? NULL : &r->space->tables->stores[item->level];
  switch (item->kind) {
    case MAPPER_ITEM_CAPACITY:
      text_format(out, "%.0f words at %s", item->limit,
                  level_name(r, item->level));
      break;
    case MAPPER_ITEM_USE:
      text_format(out, "at least %.0f words in use at %s", ceil(item->limit),
                  level_name(r, item->level));
      break;
    case MAPPER_ITEM_PARALLELISM:
      text_format(out, "%.0f multipliers in use", item->limit);
      tell_place(out, " at ", c->parallelism_place);
      break;
    case MAPPER_ITEM_FAN:
      text_format(out, "a fan-out of %.0f x %.0f below %s", store->fanout_x,
                  store->fanout_y, level_name(r, item->level));
      break;
    case MAPPER_ITEM_ORDER: tell_order(out, r, item); break;
    case MAPPER_ITEM_FACTOR: tell_factor(out, r, item); break;
  }
}

/* That nothing can be spread where nothing is beside each other goes without
   saying. */
static bool is_told(const mapper_reasoning *r, const mapper_item *item,
                    const mapper_item *subject) {
  if (!item->on || item == subject) return false;
  if (item->kind != MAPPER_ITEM_FAN) return true;
  const cost_store *store = &r->space->tables->stores[item->level];
  return store->fanout_x * store->fanout_y > 1;
}

static void tell_others(text *out, const mapper_reasoning *r,
                        const mapper_item *subject) {
  uint32_t count = 0, at = 0;
  for (uint32_t i = 0; i < r->item_count; i++)
    count += is_told(r, &r->items[i], subject);
  for (uint32_t i = 0; i < r->item_count; i++) {
    if (!is_told(r, &r->items[i], subject)) continue;
    text_format(out, "%s", at ? between(at, count) : "; given ");
    tell_other(out, r, &r->items[i]);
    at++;
  }
}

/* ---- What is needed ------------------------------------------------------ */

/* The answer to the question without the subject. */
typedef struct without {
  mapper_question question;
  mapper_reach reach;
  double least_spread;
} without;

static calm_status ask_without(without *out, mapper_reasoning *r,
                               mapper_item *subject, arena *a) {
  subject->on = false;
  mapper_reason_open(r);
  out->question = (mapper_question){r->space, r->gates, UINT64_MAX};
  out->least_spread = 1;
  for (uint32_t i = 0; i < r->item_count; i++)
    if (r->items[i].on && r->items[i].kind == MAPPER_ITEM_PARALLELISM)
      out->least_spread = r->items[i].limit;
  subject->on = true;
  return mapper_reach_find(&out->reach, &out->question, a);
}

/* Of the nodes where a level's temporal loops can end, the one whose tiles fill
   it least, or most. */
static mapper_measure find_tiles(const without *w, const mapper_space *s,
                                 uint32_t level, uint32_t tensors, bool most) {
  mapper_measure best = {0, CALM_NONE};
  const float *inner = w->reach.inner + (size_t)level * s->node_count;
  const float *outer = w->reach.outer + (size_t)level * s->node_count;
  for (uint32_t node = 0; node < s->node_count; node++) {
    const double spread = (double)inner[node] * outer[node] * (1 + 1e-6);
    if (spread < w->least_spread) continue;
    const double words = mapper_reach_words(s, node, tensors);
    if (best.node == CALM_NONE ||
        (most ? words > best.number : words < best.number))
      best = (mapper_measure){words, node};
  }
  return best;
}

static calm_status measure(mapper_measure *out, mapper_reasoning *r,
                           mapper_item *item, arena *a) {
  const mapper_problem *p = r->problem;
  without w;
  TRY(ask_without(&w, r, item, a));
  switch (item->kind) {
    case MAPPER_ITEM_CAPACITY:
      *out = find_tiles(&w, r->space, item->level, p->must_keep[item->level],
                        false);
      break;
    case MAPPER_ITEM_USE:
      *out =
          find_tiles(&w, r->space, item->level, p->may_keep[item->level], true);
      break;
    default:
      *out =
          (mapper_measure){w.reach.spread, w.reach.spread > 0 ? 0 : CALM_NONE};
  }
  return CALM_OK;
}

calm_status mapper_reason_measure(mapper_measure *out, mapper_reasoning *r,
                                  mapper_item *subject, arena *a) {
  arena scratch;
  *out = (mapper_measure){0, CALM_NONE};
  if (!subject || subject->kind > MAPPER_ITEM_PARALLELISM) return CALM_OK;
  arena_init(&scratch, a->context);
  const calm_status status = measure(out, r, subject, &scratch);
  arena_free(&scratch);
  return status;
}

/* ---- Subjects ------------------------------------------------------------ */

static void tell_capacity(text *out, const mapper_reasoning *r,
                          const mapper_item *item, const mapper_measure *m) {
  const mapper_space *s = r->space;
  const uint32_t kept = r->problem->must_keep[item->level];
  const uint32_t count = bits_count_word(kept);
  text_format(out, "%s keeps ", level_name(r, item->level));
  mapper_remedy_tell_tensors(out, r->problem->layer, kept);
  text_format(out, count > 1 ? ": their smallest tiles have "
                             : ": its smallest tile has ");
  uint32_t i = 0;
  for (uint32_t left = kept; left && count > 1; left &= left - 1, i++)
    text_format(out, "%s%.0f", i ? " + " : "",
                mapper_reach_words(s, m->node, left & -left));
  text_format(out, "%s%.0f words, capacity %.0f; it needs %.0f",
              count > 1 ? " = " : "", m->number,
              s->tables->stores[item->level].capacity, m->number);
}

static void tell_use(text *out, const mapper_reasoning *r,
                     const mapper_item *item, const mapper_measure *m) {
  const cost_store *store = &r->space->tables->stores[item->level];
  text_format(out,
              "%s must have %.0f of its %.0f words in use (least utilization "
              "%g), and its fullest tiles have %.0f; a least utilization of "
              "%.3g would do",
              level_name(r, item->level), ceil(store->least), store->capacity,
              r->problem->arch->levels[item->level].min_utilization, m->number,
              floor(1e3 * m->number / store->capacity) / 1e3);
}

static void tell_parallelism(text *out, const mapper_reasoning *r,
                             const mapper_measure *m) {
  const accel_constraints *c = r->problem->constraints;
  const double all = (double)r->problem->arch->compute.instances;
  text_format(out, "at least %.0f of %.0f multipliers (a share of %g",
              mapper_rules_least_spread(r->space), all, c->min_parallelism);
  tell_place(out, ", ", c->parallelism_place);
  text_format(out,
              ") must be in use, and at most %.0f can be; a share of %.3g "
              "would do",
              m->number, floor(1e3 * m->number / all) / 1e3);
}

static calm_status tell_fan(text *out, mapper_reasoning *r, mapper_item *item,
                            arena *a) {
  const cost_store *store = &r->space->tables->stores[item->level];
  float *rows[2];
  without w;
  for (uint32_t i = 0; i < 2; i++)
    ARENA_ARRAY(a, rows[i], r->space->node_count);
  TRY(ask_without(&w, r, item, a));
  const double needed = mapper_reach_least_fan(&w.reach, &w.question,
                                               item->level, rows[0], rows[1]);
  text_format(out, "%s has a fan-out of %.0f x %.0f",
              level_name(r, item->level), store->fanout_x, store->fanout_y);
  if (needed > store->fanout_x * store->fanout_y)
    text_format(out, "; it needs %.0f places", needed);
  else
    text_format(out, ", on which %.0f places do not come out", needed);
  tell_others(out, r, item);
  return CALM_OK;
}

/* Only factors, of one dimension. */
static void tell_factors(text *out, const mapper_reasoning *r) {
  const mapper_item *any = NULL;
  uint32_t count = 0, at = 0;
  for (uint32_t i = 0; i < r->item_count; i++)
    if (r->items[i].on) any = &r->items[i], count++;
  if (!any || !any->rule) return;
  const accel_dimension *d =
      &r->problem->layer->dimensions[any->rule->dimension];
  for (uint32_t i = 0; i < r->item_count; i++) {
    if (!r->items[i].on) continue;
    text_format(out, "%s", between(at++, count));
    tell_other(out, r, &r->items[i]);
  }
  text_format(out, ": no factors of %s keep %s and make up its bound, %llu",
              d->name, count > 1 ? "these rules" : "this rule",
              (unsigned long long)d->bound);
}

bool mapper_reason_tell_ones(text *out, const mapper_reasoning *r) {
  for (uint32_t i = 0; i < r->item_count; i++) {
    const accel_factor_rule *rule = r->items[i].rule;
    if (!rule || r->space->tables->bounds[rule->dimension] > 1 ||
        mapper_rules_allow_factor(rule, 1))
      continue;
    tell_factor(out, r, &r->items[i]);
    text_format(out, ": the bound is 1");
    return true;
  }
  return false;
}

mapper_item *mapper_reason_subject(const mapper_reasoning *r) {
  mapper_item *subject = NULL;
  for (uint32_t i = 0; i < r->item_count; i++)
    if (r->items[i].on && (!subject || r->items[i].kind < subject->kind))
      subject = &r->items[i];
  return subject;
}

calm_status mapper_reason_tell(text *out, mapper_reasoning *r, arena *a) {
  mapper_item *subject = mapper_reason_subject(r);
  mapper_measure m;
  if (subject && subject->kind == MAPPER_ITEM_FAN)
    return tell_fan(out, r, subject, a);
  TRY(mapper_reason_measure(&m, r, subject, a));
  if (m.node == CALM_NONE) {
    tell_factors(out, r);
    return CALM_OK;
  }
  if (subject->kind == MAPPER_ITEM_CAPACITY)
    tell_capacity(out, r, subject, &m);
  else if (subject->kind == MAPPER_ITEM_USE)
    tell_use(out, r, subject, &m);
  else
    tell_parallelism(out, r, &m);
  tell_others(out, r, subject);
  if (subject->kind == MAPPER_ITEM_CAPACITY)
    mapper_remedy_tell(out, r->problem, subject->level, true);
  return CALM_OK;
}
