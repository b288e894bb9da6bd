#include <math.h>

#include "base/bits.h"
#include "mapper/mapper_mirror.h"
#include "mapper/mapper_routes.h"
#include "mapper/mapper_rules.h"
#include "mapper/mapper_search.h"

/*
 * From a label back to its nest.  Steps of one dimension in one block are one
 * loop.  Where others stood between them, they meet at the inner place (nothing
 * becomes dearer then, but perhaps a window that went on past loops that do not
 * move it) or at the outer one; all ways are evaluated.
 */

enum { MOST_DOUBLE = 6 };

typedef struct rebuild {
  mapper_search *search;
  uint32_t path[4 * COST_MOST_STEPS]; /* trail, outermost first */
  bool turned[4 * COST_MOST_STEPS];   /* was it made for the twin? */
  uint32_t count;
  uint32_t outwards; /* bit i: the i-th time, meet at the outer place */
  uint32_t doubles;  /* such times */
} rebuild;

static void add_loop(accel_nest *n, uint64_t bound, uint32_t dimension,
                     uint32_t level, accel_loop_kind kind) {
  n->loops[n->loop_count++] =
      (accel_loop){bound, bound, dimension, level, kind};
}

/* ---- Fan-outs ------------------------------------------------------------ */

static void add_axis(accel_nest *n, const mapper_space *s, uint32_t level,
                     const mapper_spread *spread, uint32_t axis, bool row) {
  add_loop(n, (uint64_t)s->axes[axis].divisors[spread->digits[axis]],
           s->axes[axis].dimension, level,
           row ? ACCEL_SPATIAL_Y : ACCEL_SPATIAL_X);
}

/* Which of the axes stand on rows: the first choice that fits. */
static uint32_t choose_rows(const mapper_space *s, uint32_t level,
                            const mapper_spread *spread) {
  const mapper_fan *fan = &s->fans[level];
  for (uint32_t rows = 0;; rows = (rows - spread->axes) & spread->axes) {
    double x = 1, y = 1;
    for (uint32_t rest = spread->axes; rest; rest &= rest - 1) {
      const uint32_t a = bits_lowest(rest);
      const double factor = s->axes[a].divisors[spread->digits[a]];
      if (rows >> a & 1)
        y *= factor;
      else
        x *= factor;
    }
    if (rows == spread->axes ||
        (x <= fan->x && y <= fan->y &&
         mapper_rules_allow_rows(s, level, spread->digits, rows)))
      return rows;
  }
}

static void add_any(accel_nest *n, const mapper_space *s, uint32_t level,
                    const mapper_spread *spread) {
  uint8_t order[MAPPER_MOST_AXES];
  uint32_t columns;
  const uint32_t rows = choose_rows(s, level, spread);
  const uint32_t count =
      mapper_rules_arrange(order, &columns, s, level, spread->digits, rows);
  for (uint32_t i = 0; i < count; i++)
    add_axis(n, s, level, spread, order[i], i >= columns);
}

/* In the order whose routes were counted, if any were. */
static void add_spread(accel_nest *n, const mapper_space *s,
                       const mapper_trail *t) {
  const mapper_fan *fan = &s->fans[t->level];
  const mapper_spread *spread = &fan->spreads[t->what];
  const mapper_routes *routes = fan->routes[t->what];
  if (!routes) {
    add_any(n, s, t->level, spread);
    return;
  }
  const mapper_arrangement *order = &routes->arrangements[t->order];
  for (uint32_t i = 0; i < order->count; i++)
    add_axis(n, s, t->level, spread, order->axes[i], i >= order->columns);
}

/* ---- Temporal loops ------------------------------------------------------ */

/* Where a block already has a loop of the dimension; CALM_NONE if not. */
static uint32_t find_loop(const accel_nest *n, uint32_t dimension,
                          uint32_t level) {
  for (uint32_t i = n->loop_count; i-- > 0;) {
    const accel_loop *loop = &n->loops[i];
    if (loop->level != level || loop->kind != ACCEL_TEMPORAL) break;
    if (loop->dimension == dimension) return i;
  }
  return CALM_NONE;
}

static void move_outwards(accel_nest *n, uint32_t at) {
  const accel_loop loop = n->loops[at];
  for (; at + 1 < n->loop_count; at++) n->loops[at] = n->loops[at + 1];
  n->loops[at] = loop;
}

static void add_step(accel_nest *n, rebuild *r, const mapper_trail *t,
                     bool turned) {
  const mapper_space *s = r->search->space;
  const mapper_axis *axis = &s->axes[t->what >> 16];
  const uint64_t bound = (uint64_t)axis->divisors[t->what & 0xffff];
  const uint32_t dimension =
      turned ? mapper_mirror_twin(s, axis->dimension) : axis->dimension;
  const uint32_t at = find_loop(n, dimension, t->level);
  if (at == CALM_NONE) {
    add_loop(n, bound, dimension, t->level, ACCEL_TEMPORAL);
    return;
  }
  n->loops[at].bound = n->loops[at].residual = n->loops[at].bound * bound;
  if (at + 1 == n->loop_count || r->doubles == MOST_DOUBLE) return;
  if (r->outwards >> r->doubles++ & 1) move_outwards(n, at);
}

static void build(accel_nest *n, rebuild *r) {
  const mapper_search *m = r->search;
  n->loop_count = 0;
  r->doubles = 0;
  for (uint32_t i = r->count; i-- > 0;) {
    const mapper_trail *t = &m->trail.data[r->path[i]];
    const uint32_t before = n->loop_count;
    if (t->spatial)
      add_spread(n, m->space, t);
    else
      add_step(n, r, t, r->turned[i]);
    for (uint32_t k = before; t->spatial && k < n->loop_count; k++)
      if (r->turned[i])
        n->loops[k].dimension =
            mapper_mirror_twin(m->space, n->loops[k].dimension);
  }
}

/* ---- Evaluation ---------------------------------------------------------- */

static void keep_nest(mapper_search *m, const accel_nest *n, double value) {
  const cost_result swap = m->best;
  m->value = value;
  m->found = true;
  m->best = m->cost;
  m->cost = swap;
  m->best_nest.loop_count = n->loop_count;
  for (uint32_t i = 0; i < n->loop_count; i++)
    m->best_nest.loops[i] = n->loops[i];
}

/* Of equal nests, that of fewer cycles, then that of less energy. */
static bool is_better(const mapper_search *m, double value) {
  const cost_result *now = &m->cost, *best = &m->best;
  if (!m->found || fabs(value - m->value) > 1e-12 * m->value)
    return value < m->value;
  return now->cycles < best->cycles ||
         (now->cycles == best->cycles && now->energy_pj < best->energy_pj);
}

static calm_status judge_nest(mapper_search *m, const accel_nest *n) {
  TRY(cost_evaluate(&m->cost, &m->space->cost, n));
  if (m->cost.verdict.fault != COST_VALID) return CALM_OK;
  if ((double)m->cost.cycles > m->value_cap) return CALM_OK;
  if (m->front)
    return mapper_front_enter(m->front, n, m->cost.energy_pj,
                              (double)m->cost.cycles);
  const double value = mapper_value_of(m->objective, &m->cost);
  if (is_better(m, value)) keep_nest(m, n, value);
  return CALM_OK;
}

calm_status mapper_search_adopt(mapper_search *m, const accel_nest *n) {
  return judge_nest(m, n);
}

calm_status mapper_search_keep(mapper_search *m, uint32_t trail) {
  rebuild r = {.search = m};
  accel_nest n = {.loops = m->loops,
                  .kept = m->best_nest.kept,
                  .level_count = m->best_nest.level_count};
  bool turned = false;
  for (; trail != CALM_NONE; trail = m->trail.data[trail].before) {
    turned ^= m->trail.data[trail].turned;
    r.turned[r.count] = turned;
    r.path[r.count++] = trail;
  }
  do {
    build(&n, &r);
    TRY(judge_nest(m, &n));
  } while (++r.outwards < UINT32_C(1) << r.doubles);
  return CALM_OK;
}
