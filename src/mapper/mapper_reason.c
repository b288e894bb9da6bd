#include "mapper/mapper_reason.h"

#include <string.h>

#include "mapper/mapper_parts.h"
#include "mapper/mapper_reason_parts.h"

/*
 * Every capacity, fan-out and constraint is an item.  Items are left out, many
 * at once and then one by one, as long as there is still no nest; what remains
 * cannot hold together, and could if any one were left out.  Whether there is a
 * nest is asked of tiles alone, without costs.
 */

/* All questions together may take so much work (mapper_reach). */
static const uint64_t most_work = UINT64_C(1) << 29;

/* ---- Items --------------------------------------------------------------- */

static void add_item(mapper_reasoning *r, mapper_item_kind kind, uint32_t level,
                     double limit) {
  r->items[r->item_count++] =
      (mapper_item){.kind = kind, .on = true, .level = level, .limit = limit};
}

static void add_factors(mapper_reasoning *r, const accel_block_rules *b,
                        uint32_t level, bool spatial) {
  for (uint32_t i = 0; i < b->factor_count; i++) {
    add_item(r, MAPPER_ITEM_FACTOR, level, 0);
    r->items[r->item_count - 1].rule = &b->factors[i];
    r->items[r->item_count - 1].spatial = spatial;
  }
}

static bool has_order(const accel_block_rules *b) {
  return b->inner_count || b->outer_count || b->split != CALM_NONE;
}

static void add_level(mapper_reasoning *r, uint32_t level) {
  const accel_constraints *c = r->problem->constraints;
  const cost_store *store = &r->space->tables->stores[level];
  if (store->limited && store->least > 0)
    add_item(r, MAPPER_ITEM_USE, level, store->least);
  if (c && has_order(&c->levels[level].spatial))
    add_item(r, MAPPER_ITEM_ORDER, level, 0);
  add_item(r, MAPPER_ITEM_FAN, level, 0);
  if (c) {
    add_factors(r, &c->levels[level].temporal, level, false);
    add_factors(r, &c->levels[level].spatial, level, true);
  }
  if (store->limited) add_item(r, MAPPER_ITEM_CAPACITY, level, store->capacity);
}

static uint32_t most_items(const mapper_problem *p) {
  const accel_constraints *c = p->constraints;
  uint32_t most = 1 + 4 * p->arch->level_count;
  for (uint32_t l = 0; c && l < c->level_count; l++)
    most +=
        c->levels[l].temporal.factor_count + c->levels[l].spatial.factor_count;
  return most;
}

static calm_status list_items(mapper_reasoning *r, arena *a) {
  const accel_constraints *c = r->problem->constraints;
  ARENA_ARRAY(a, r->items, most_items(r->problem));
  if (c && c->min_parallelism > 0)
    add_item(r, MAPPER_ITEM_PARALLELISM, CALM_NONE,
             mapper_rules_least_spread(r->space));
  for (uint32_t l = 0; l < r->space->level_count; l++) add_level(r, l);
  return CALM_OK;
}

/* ---- Gates --------------------------------------------------------------- */

static uint32_t axis_of(const mapper_space *s, uint32_t dimension) {
  for (uint32_t i = 0; i < s->axis_count; i++)
    if (s->axes[i].dimension == dimension) return i;
  return CALM_NONE;
}

/* Marks are a byte per level, block, axis and digit. */
static uint8_t *marks_of(const mapper_reasoning *r, uint32_t level,
                         bool spatial, uint32_t axis) {
  const size_t block = 2 * (size_t)level + spatial;
  return r->marks + (block * MAPPER_MOST_AXES + axis) * UINT8_MAX;
}

static void close_factor(mapper_reasoning *r, const mapper_item *item) {
  const uint32_t i = axis_of(r->space, item->rule->dimension);
  if (i == CALM_NONE) return;
  const mapper_axis *axis = &r->space->axes[i];
  uint8_t *marks = marks_of(r, item->level, item->spatial, i);
  mapper_gate *g = &r->gates[item->level];
  for (uint32_t k = 0; k < axis->count; k++)
    if (!mapper_rules_allow_factor(item->rule, axis->divisors[k])) marks[k] = 0;
  (item->spatial ? g->spatial : g->temporal)[i] = marks;
}

static void close_gate(mapper_reasoning *r, const mapper_item *item) {
  mapper_gate *g = &r->gates[item->level];
  switch (item->kind) {
    case MAPPER_ITEM_CAPACITY: g->capacity = item->limit; break;
    case MAPPER_ITEM_USE: g->least = item->limit; break;
    case MAPPER_ITEM_FAN: g->endless = false; break;
    case MAPPER_ITEM_ORDER:
      g->spreads = r->ordered[item->level].spreads;
      g->spread_count = r->ordered[item->level].spread_count;
      break;
    case MAPPER_ITEM_FACTOR: close_factor(r, item); break;
    case MAPPER_ITEM_PARALLELISM: break;
  }
}

void mapper_reason_open(mapper_reasoning *r) {
  const mapper_space *s = r->space;
  for (uint32_t l = 0; l < s->level_count; l++)
    r->gates[l] = (mapper_gate){.fitting = r->problem->must_keep[l],
                                .filling = r->problem->may_keep[l],
                                .capacity = HUGE_VAL,
                                .spreads = s->fans[l].spreads,
                                .spread_count = s->fans[l].spread_count,
                                .endless = true};
  memset(r->marks, MAPPER_MAY_BE,
         2 * (size_t)s->level_count * MAPPER_MOST_AXES * UINT8_MAX);
  for (uint32_t i = 0; i < r->item_count; i++)
    if (r->items[i].on && r->items[i].level != CALM_NONE)
      close_gate(r, &r->items[i]);
}

/* ---- Leaving items out --------------------------------------------------- */

calm_status mapper_reason_ask(bool *out, mapper_reasoning *r, arena *a) {
  mapper_reach reach;
  mapper_reason_open(r);
  const mapper_question q = {r->space, r->gates, most_work - r->work};
  TRY(mapper_reach_ask(&reach, &q, a));
  r->work = reach.work < most_work - r->work ? r->work + reach.work : most_work;
  double least = 1;
  for (uint32_t i = 0; i < r->item_count; i++)
    if (r->items[i].on && r->items[i].kind == MAPPER_ITEM_PARALLELISM)
      least = r->items[i].limit;
  /* Not knowing whether an item can go, it stays. */
  *out = !reach.known || reach.spread * (1 + 1e-6) >= least;
  return CALM_OK;
}

/* Leaves out some items in a row if there is no nest without them. */
static calm_status try_without(mapper_reasoning *r, uint32_t begin,
                               uint32_t end, arena *a) {
  bool was_on[MAPPER_MOST_ITEMS], any = false, nest;
  for (uint32_t i = begin; i < end; i++) {
    was_on[i] = r->items[i].on;
    any |= was_on[i];
    r->items[i].on = false;
  }
  if (!any) return CALM_OK;
  TRY(mapper_reason_ask(&nest, r, a));
  for (uint32_t i = begin; i < end && nest; i++) r->items[i].on = was_on[i];
  return CALM_OK;
}

static calm_status leave_out(mapper_reasoning *r, arena *a) {
  for (uint32_t size = r->item_count; size > 0; size /= 2)
    for (uint32_t i = 0; i < r->item_count; i += size) {
      const uint32_t left = r->item_count - i;
      TRY(try_without(r, i, i + (left < size ? left : size), a));
    }
  return CALM_OK;
}

/*
 * Of the subject there may be a number that would do, all others kept; but what
 * remained may explain less than that.  So it is asked once more why there is
 * no nest if the subject is short of this number by one.
 */
static calm_status sharpen(mapper_reasoning *r, arena *a) {
  bool was_on[MAPPER_MOST_ITEMS];
  mapper_item *subject = mapper_reason_subject(r);
  mapper_measure m;
  for (uint32_t i = 0; i < r->item_count; i++) {
    was_on[i] = r->items[i].on;
    r->items[i].on = true;
  }
  TRY(mapper_reason_measure(&m, r, subject, a));
  if (m.node == CALM_NONE) {
    for (uint32_t i = 0; i < r->item_count; i++) r->items[i].on = was_on[i];
    return CALM_OK;
  }
  subject->limit = m.number + (subject->kind == MAPPER_ITEM_CAPACITY ? -1 : 1);
  return leave_out(r, a);
}

/* ---- The space ----------------------------------------------------------- */

/* Only the orders and splits of fan-outs. */
static calm_status keep_orders(accel_constraints *out,
                               const accel_constraints *c, arena *a) {
  *out = *c;
  out->min_parallelism = 0;
  ARENA_ARRAY(a, out->levels, c->level_count);
  for (uint32_t l = 0; l < c->level_count; l++) {
    out->levels[l] = c->levels[l];
    out->levels[l].spatial.factor_count = 0;
    out->levels[l].temporal.factor_count = 0;
  }
  return CALM_OK;
}

/* All that fan-outs have room for, and what of it the orders allow. */
static calm_status find_fans(mapper_reasoning *r, mapper_space *s, arena *a) {
  const mapper_problem *p = s->problem;
  TRY(mapper_fans_init(s, a));
  r->ordered = s->fans;
  if (!p->constraints) return CALM_OK;
  mapper_problem *ordered;
  accel_constraints *orders;
  mapper_space spread = *s;
  ARENA_ARRAY(a, ordered, 1);
  ARENA_ARRAY(a, orders, 1);
  TRY(keep_orders(orders, p->constraints, a));
  *ordered = *p;
  ordered->constraints = orders;
  spread.problem = ordered;
  TRY(mapper_rules_init(&spread, a));
  TRY(mapper_fans_init(&spread, a));
  r->ordered = spread.fans;
  return CALM_OK;
}

static calm_status begin(mapper_reasoning *r, mapper_space *s,
                         const mapper_problem *p, arena *a) {
  mapper_problem *fixed;
  limits *all; /* none */
  ARENA_ARRAY(a, fixed, 1);
  *fixed = *p;
  fixed->may_keep = p->must_keep;
  ARENA_ARRAY(a, all, 1);
  limits_init(all, a->context);
  TRY(mapper_space_begin(s, fixed, all, a));
  *r = (mapper_reasoning){.problem = p, .space = s};
  TRY(find_fans(r, s, a));
  TRY(list_items(r, a));
  ARENA_ARRAY(a, r->gates, s->level_count);
  ARENA_ARRAY(a, r->marks,
              2 * (size_t)s->level_count * MAPPER_MOST_AXES * UINT8_MAX);
  return CALM_OK;
}

static calm_status find(text *out, const mapper_problem *p, arena *scratch) {
  mapper_reasoning r;
  mapper_space s;
  bool nest = true;
  TRY(begin(&r, &s, p, scratch));
  if (mapper_reason_tell_ones(out, &r)) return CALM_OK;
  if (r.item_count <= MAPPER_MOST_ITEMS)
    TRY(mapper_reason_ask(&nest, &r, scratch));
  if (!nest) {
    TRY(leave_out(&r, scratch));
    TRY(sharpen(&r, scratch));
    TRY(mapper_reason_tell(out, &r, scratch));
  }
  if (out->length == 0)
    text_format(out, "no tiling fits the capacities%s",
                p->constraints ? " and the constraints" : "");
  return CALM_OK;
}

calm_status mapper_reason(const char **out, const mapper_problem *p, arena *a) {
  arena scratch;
  text line;
  arena_init(&scratch, a->context);
  text_init(&line, a->context);
  calm_status status = find(&line, p, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) status = text_keep(&line, out, a);
  text_free(&line);
  return status;
}
