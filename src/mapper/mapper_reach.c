#include "mapper/mapper_reach.h"

#include <string.h>

#include "base/bits.h"
#include "mapper/mapper_parts.h"

/*
 * A row has a number per node: most multipliers in use when a nest has come
 * there, 0 if none can.  Temporal loops are one sweep per axis, as what one
 * dimension may grow by does not depend on the others; a fan-out, where
 * dimensions share the places, goes through all ways to spread.  Rows are
 * changed in place: a sweep outwards goes from large nodes to small ones, so
 * that each hands on what it had before the sweep; one inwards the other way.
 */

static float most(float a, float b) { return a > b ? a : b; }

static bool may_be(const uint8_t *marks, uint32_t digit) {
  return !marks || marks[digit] & MAPPER_MAY_BE;
}

/* ---- Sweeps -------------------------------------------------------------- */

/* What a factor does to the multipliers in use, to this power. */
static float weight_of(const mapper_axis *a, uint32_t digit, int power) {
  const float factor = (float)a->divisors[digit];
  return power > 0 ? factor : power < 0 ? 1 / factor : 1;
}

/* Is there but the factor 1? */
static bool stands_still(const mapper_axis *a, const uint8_t *marks) {
  for (uint32_t k = 1; k < a->count; k++)
    if (may_be(marks, k)) return false;
  return may_be(marks, 0);
}

static void sweep_outwards(float *row, const mapper_space *s, uint32_t axis,
                           const uint8_t *marks, int power) {
  const mapper_axis *a = &s->axes[axis];
  if (stands_still(a, marks)) return;
  for (uint32_t node = s->node_count; node-- > 0;) {
    const float value = row[node];
    if (value == 0) continue;
    const uint32_t digit = s->digits[(size_t)node * s->axis_count + axis];
    const uint32_t *times = a->times + (size_t)digit * a->count;
    if (!may_be(marks, 0)) row[node] = 0;
    for (uint32_t k = 1; k < a->count; k++) {
      if (times[k] == CALM_NONE || !may_be(marks, k)) continue;
      float *to = &row[node + (times[k] - digit) * a->stride];
      *to = most(*to, value * weight_of(a, k, power));
    }
  }
}

static void sweep_inwards(float *row, const mapper_space *s, uint32_t axis,
                          const uint8_t *marks, int power) {
  const mapper_axis *a = &s->axes[axis];
  if (stands_still(a, marks)) return;
  for (uint32_t node = 0; node < s->node_count; node++) {
    const uint32_t digit = s->digits[(size_t)node * s->axis_count + axis];
    const uint32_t *times = a->times + (size_t)digit * a->count;
    float value = may_be(marks, 0) ? row[node] : 0;
    for (uint32_t k = 1; k < a->count; k++)
      if (times[k] != CALM_NONE && may_be(marks, k))
        value = most(value, row[node + (times[k] - digit) * a->stride] *
                                weight_of(a, k, power));
    row[node] = value;
  }
}

/* ---- Fan-outs ------------------------------------------------------------ */

static bool keeps_rules(const mapper_gate *g, const mapper_spread *spread,
                        uint32_t axis_count) {
  for (uint32_t i = 0; i < axis_count; i++)
    if (!may_be(g->spatial[i], spread->digits[i])) return false;
  return true;
}

/* Which of the spreads count; false: too much work. */
static bool begin_fan(mapper_reach *r, const mapper_question *q,
                      const mapper_gate *g, const float *row) {
  uint64_t alive = 0;
  for (uint32_t node = 0; node < q->space->node_count; node++)
    alive += row[node] > 0;
  r->work += alive * g->spread_count + q->space->node_count;
  return r->work <= q->most_work;
}

/* `to` is empty at first. */
static void fan_outwards(float *to, const float *row, const mapper_space *s,
                         const mapper_gate *g) {
  for (uint32_t i = 0; i < g->spread_count; i++) {
    const mapper_spread *spread = &g->spreads[i];
    if (!keeps_rules(g, spread, s->axis_count)) continue;
    for (uint32_t node = 0; node < s->node_count; node++) {
      if (row[node] == 0) continue;
      const uint32_t next = mapper_space_spread(s, node, spread);
      if (next != CALM_NONE)
        to[next] = most(to[next], row[node] * (float)spread->product);
    }
  }
}

/* Of the nodes that were reached from inside only. */
static void fan_inwards(float *to, const float *row, const float *reached,
                        const mapper_space *s, const mapper_gate *g) {
  for (uint32_t i = 0; i < g->spread_count; i++) {
    const mapper_spread *spread = &g->spreads[i];
    if (!keeps_rules(g, spread, s->axis_count)) continue;
    for (uint32_t node = 0; node < s->node_count; node++) {
      if (reached[node] == 0) continue;
      const uint32_t next = mapper_space_spread(s, node, spread);
      if (next != CALM_NONE)
        to[node] = most(to[node], row[next] * (float)spread->product);
    }
  }
}

/* ---- Capacities ---------------------------------------------------------- */

double mapper_reach_words(const mapper_space *s, uint32_t node,
                          uint32_t tensors) {
  double words = 0;
  for (; tensors; tensors &= tensors - 1)
    words += s->words[(size_t)node * s->tensor_count + bits_lowest(tensors)];
  return words;
}

static void keep_fitting(float *row, const mapper_space *s,
                         const mapper_gate *g) {
  if (g->capacity == HUGE_VAL && g->least == 0) return;
  for (uint32_t node = 0; node < s->node_count; node++)
    if (row[node] > 0 &&
        (mapper_reach_words(s, node, g->fitting) > g->capacity ||
         mapper_reach_words(s, node, g->filling) < g->least))
      row[node] = 0;
}

/* ---- From inside, and back ----------------------------------------------- */

/* Changes `row`, of the tiles of the level inside, to those of this level;
   `spare` is any row.  False: too much work. */
static bool go_outwards(float **row, float **spare, mapper_reach *r,
                        const mapper_question *q, uint32_t level) {
  const mapper_space *s = q->space;
  const mapper_gate *g = &q->gates[level];
  if (g->endless) {
    for (uint32_t i = 0; i < s->axis_count; i++)
      sweep_outwards(*row, s, i, g->spatial[i], 1);
  } else {
    if (!begin_fan(r, q, g, *row)) return false;
    memset(*spare, 0, s->node_count * sizeof **spare);
    fan_outwards(*spare, *row, s, g);
    float *swap = *row;
    *row = *spare, *spare = swap;
  }
  for (uint32_t i = 0; i < s->axis_count; i++)
    sweep_outwards(*row, s, i, g->temporal[i], 0);
  keep_fitting(*row, s, g);
  r->work += (uint64_t)s->node_count * (s->axis_count + 2);
  return r->work <= q->most_work;
}

static calm_status walk_outwards(mapper_reach *r, const mapper_question *q,
                                 arena *scratch) {
  const mapper_space *s = q->space;
  float *row, *spare;
  ARENA_ARRAY(scratch, row, s->node_count);
  ARENA_ARRAY(scratch, spare, s->node_count);
  row[0] = 1;
  for (uint32_t level = 0; level < s->level_count; level++) {
    if (!go_outwards(&row, &spare, r, q, level)) return CALM_OK;
    if (r->inner)
      memcpy(r->inner + (size_t)level * s->node_count, row,
             s->node_count * sizeof *row);
  }
  r->known = true;
  r->spread = row[s->node_count - 1];
  return CALM_OK;
}

/* Of the tiles of this level to those of the level inside. */
static bool go_inwards(float *to, float *row, mapper_reach *r,
                       const mapper_question *q, uint32_t level) {
  const mapper_space *s = q->space;
  const mapper_gate *g = &q->gates[level];
  const float *reached = r->inner + (size_t)(level - 1) * s->node_count;
  for (uint32_t i = 0; i < s->axis_count; i++)
    sweep_inwards(row, s, i, g->temporal[i], 0);
  if (g->endless) {
    for (uint32_t i = 0; i < s->axis_count; i++)
      sweep_inwards(row, s, i, g->spatial[i], 1);
    memcpy(to, row, s->node_count * sizeof *to);
  } else {
    if (!begin_fan(r, q, g, reached)) return false;
    fan_inwards(to, row, reached, s, g);
  }
  for (uint32_t node = 0; node < s->node_count; node++)
    if (reached[node] == 0) to[node] = 0;
  return true;
}

static calm_status walk_inwards(mapper_reach *r, const mapper_question *q,
                                arena *scratch) {
  const mapper_space *s = q->space;
  float *row;
  ARENA_ARRAY(scratch, row, s->node_count);
  const size_t last = (size_t)(s->level_count - 1) * s->node_count;
  r->outer[last + s->node_count - 1] = 1;
  r->known = false;
  for (uint32_t level = s->level_count - 1; level > 0; level--) {
    float *to = r->outer + (size_t)(level - 1) * s->node_count;
    memcpy(row, to + s->node_count, s->node_count * sizeof *row);
    if (!go_inwards(to, row, r, q, level)) return CALM_OK;
  }
  r->known = true;
  return CALM_OK;
}

calm_status mapper_reach_ask(mapper_reach *out, const mapper_question *q,
                             arena *a) {
  arena scratch;
  arena_init(&scratch, a->context);
  *out = (mapper_reach){.known = false};
  const calm_status status = walk_outwards(out, q, &scratch);
  arena_free(&scratch);
  return status;
}

calm_status mapper_reach_find(mapper_reach *out, const mapper_question *q,
                              arena *a) {
  const size_t rows = (size_t)q->space->level_count * q->space->node_count;
  arena scratch;
  mapper_reach r = {.known = false};
  ARENA_ARRAY(a, r.inner, rows);
  ARENA_ARRAY(a, r.outer, rows);
  arena_init(&scratch, a->context);
  calm_status status = walk_outwards(&r, q, &scratch);
  if (status == CALM_OK && r.known && r.spread > 0)
    status = walk_inwards(&r, q, &scratch);
  arena_free(&scratch);
  *out = r;
  return status;
}

/* The least product is the most of its inverse. */
double mapper_reach_least_fan(const mapper_reach *r, const mapper_question *q,
                              uint32_t level, float *row, float *after) {
  const mapper_space *s = q->space;
  const mapper_gate *g = &q->gates[level];
  const size_t nodes = s->node_count, at = level * nodes;
  float best = 0;
  memcpy(after, r->outer + at, nodes * sizeof *after);
  for (size_t i = 0; i < nodes; i++)
    row[i] = level ? r->inner[at - nodes + i] > 0 : i == 0;
  for (uint32_t i = 0; i < s->axis_count; i++) {
    sweep_inwards(after, s, i, g->temporal[i], 0);
    sweep_outwards(row, s, i, g->spatial[i], -1);
  }
  for (size_t i = 0; i < nodes; i++)
    if (after[i] > 0) best = most(best, row[i]);
  return best > 0 ? round(1 / (double)best) : HUGE_VAL;
}

/* ---- For the search ------------------------------------------------------ */

/* Whatever factors still come: loops that have none here aside, a node can grow
   to any that contains it. */
static void spread_room(float *room, const mapper_space *s, uint32_t once) {
  for (uint32_t i = 0; i < s->axis_count; i++) {
    const mapper_axis *a = &s->axes[i];
    if (once >> a->dimension & 1) continue;
    for (uint32_t node = s->node_count; node-- > 0;) {
      const uint32_t digit = s->digits[(size_t)node * s->axis_count + i];
      for (uint32_t k = 0; k < a->prime_count; k++) {
        const uint32_t more = a->times[(size_t)digit * a->count + a->primes[k]];
        if (more != CALM_NONE)
          room[node] =
              most(room[node], room[node + (more - digit) * a->stride]);
      }
    }
  }
}

static calm_status keep_tables(mapper_demands *d, const mapper_space *s,
                               const mapper_reach *r, arena *a) {
  const size_t nodes = s->node_count;
  uint8_t *ends;
  float *room;
  ARENA_ARRAY(a, ends, s->level_count * nodes);
  ARENA_ARRAY(a, room, s->level_count * nodes);
  for (size_t i = 0; i < s->level_count * nodes; i++) {
    ends[i] = (double)r->inner[i] * r->outer[i] * (1 + 1e-6) >=
              (d->least_spread > 1 ? d->least_spread : 1);
    room[i] = ends[i] ? r->outer[i] : 0;
  }
  for (uint32_t level = 0; level < s->level_count; level++)
    spread_room(room + level * nodes, s, d->levels[level].once);
  d->ends = ends;
  d->room = room;
  return CALM_OK;
}

/* So much work is worth it before a search. */
static const uint64_t most_work = UINT64_C(1) << 28;

calm_status mapper_rules_look_ahead(mapper_space *s, arena *a) {
  mapper_gate *gates;
  mapper_demands *d;
  mapper_reach r;
  arena scratch;
  if (!s->demands) return CALM_OK;
  ARENA_ARRAY(a, d, 1);
  ARENA_ARRAY(a, gates, s->level_count);
  *d = *s->demands;
  for (uint32_t l = 0; l < s->level_count; l++) {
    const cost_store *store = &s->tables->stores[l];
    mapper_gate *g = &gates[l];
    *g = (mapper_gate){.fitting = s->kept[l],
                       .filling = s->kept[l],
                       .capacity = store->limited ? store->capacity : HUGE_VAL,
                       .least = store->limited ? store->least : 0,
                       .spreads = s->fans[l].spreads,
                       .spread_count = s->fans[l].spread_count};
    memcpy(g->temporal, d->levels[l].temporal, sizeof g->temporal);
  }
  const mapper_question q = {s, gates, most_work};
  arena_init(&scratch, a->context);
  calm_status status = mapper_reach_find(&r, &q, &scratch);
  if (status == CALM_OK && r.known) status = keep_tables(d, s, &r, a);
  arena_free(&scratch);
  s->demands = d;
  return status;
}
