#include "mapper/mapper_search.h"

#include <math.h>

#include "mapper/mapper_blocks.h"
#include "mapper/mapper_bound.h"
#include "mapper/mapper_dominance.h"
#include "mapper/mapper_mirror.h"
#include "mapper/mapper_outlook.h"
#include "mapper/mapper_prune.h"
#include "mapper/mapper_routes.h"
#include "mapper/mapper_rules.h"

/*
 * Blocks are walked from the innermost temporal loops outwards.  The labels of
 * a block lie in lists by node; nodes are visited in the order of their
 * numbers, so that each list is complete when its turn comes.  A loop leads to
 * a later list of the same block, the end of the block (where tiles must fit)
 * and the fan-out above it to the next block.
 *
 * A label remembers the least bound of its children that were pruned.  A round
 * with a higher threshold makes those that are now below it, of the labels that
 * have any; all others stay as they are.
 */

static double smaller(double a, double b) { return a < b ? a : b; }

/* ---- Memory -------------------------------------------------------------- */

static mapper_label *label_at(const mapper_search *m, uint32_t index) {
  return (mapper_label *)(m->labels.data + index);
}

static calm_status make_label(mapper_label **out, const mapper_space *s,
                              arena *a) {
  *out = arena_calloc(a, 1, mapper_label_bytes(s));
  return *out ? CALM_OK : context_no_memory(a->context);
}

calm_status mapper_search_init(mapper_search *out, const mapper_space *s,
                               const mapper_rules *rules, limits *l, arena *a) {
  mapper_search m = {.space = s,
                     .rules = rules,
                     .objective = s->problem->objective,
                     .limits = l,
                     .context = a->context,
                     .cap = HUGE_VAL,
                     .capped = HUGE_VAL,
                     .score = HUGE_VAL,
                     .value = HUGE_VAL,
                     .value_cap = HUGE_VAL,
                     .most_states = UINT64_MAX};
  TRY(mapper_prospect_init(&m.prospect, s, a));
  TRY(mapper_prospect_init(&m.ahead, s, a));
  TRY(make_label(&m.label, s, a));
  TRY(make_label(&m.above, s, a));
  TRY(make_label(&m.next, s, a));
  ARENA_ARRAY(a, m.heads, (size_t)s->level_count * s->node_count);
  ARENA_ARRAY(a, m.wakes, (size_t)s->level_count * s->node_count);
  m.best_nest.level_count = s->level_count;
  ARENA_ARRAY(a, m.best_nest.loops, 2 * COST_MOST_STEPS);
  ARENA_ARRAY(a, m.best_nest.kept, s->level_count);
  for (uint32_t i = 0; i < s->level_count; i++)
    m.best_nest.kept[i] = s->kept[i];
  TRY(cost_result_init(&m.cost, &s->cost, a));
  TRY(cost_result_init(&m.best, &s->cost, a));
  *out = m;
  return CALM_OK;
}

void mapper_search_free(mapper_search *m) {
  VECTOR_FREE(m->context, &m->labels);
  VECTOR_FREE(m->context, &m->trail);
}

/* A label takes as many words as it has chains for. */
static calm_status append_label(mapper_search *m, const mapper_label *l,
                                uint32_t level) {
  const size_t at = (size_t)level * m->space->node_count + l->node;
  const size_t words = mapper_label_used(l, m->space) / sizeof *m->labels.data;
  VECTOR_RESERVE(m->context, &m->labels, words);
  const uint32_t index = m->labels.count;
  m->labels.count += (uint32_t)words;
  mapper_label *copy = label_at(m, index);
  mapper_label_copy(copy, l, m->space);
  copy->step_next = copy->spread_next = -HUGE_VAL;
  copy->next = m->heads[at];
  m->heads[at] = index;
  m->wakes[at] = -HUGE_VAL;
  return CALM_OK;
}

/* ---- Superfluous labels -------------------------------------------------- */

/*
 * With everything rounded, whole words and blocks may differ where sums do not:
 * only what is less by more than that is as good.  Cycles are rounded so that
 * one may be more or less.
 */
static mapper_comparison compare_by(const mapper_search *m, uint32_t level) {
  mapper_comparison c = {
      .space = m->space,
      .level = level,
      .delay = m->objective != MAPPER_ENERGY || m->space->leaks,
      .same_spread = m->spread > 0,
      .rounded = m->rounded,
      .ties = m->objective != MAPPER_ENERGY && m->objective != MAPPER_EDP};
  if (m->objective == MAPPER_EDP)
    c.more_pj =
        2 * m->threshold / (m->space->least_cycles * m->space->least_cycles);
  if (m->space->leaks) c.more_pj += 2 * m->space->most_leaking;
  return c;
}

static bool is_superfluous(const mapper_search *m, const mapper_comparison *c,
                           const mapper_label *a, const mapper_label *b) {
  return m->rules->no_dominance ? mapper_label_equal(m->space, a, b)
                                : mapper_dominates(c, a, b);
}

/* False if an older label is as good; older ones that are worse leave. */
static bool stands_out(mapper_search *m, const mapper_label *l,
                       uint32_t level) {
  const mapper_comparison c = compare_by(m, level);
  uint32_t *link = &m->heads[(size_t)level * m->space->node_count + l->node];
  while (*link != CALM_NONE) {
    mapper_label *old = label_at(m, *link);
    m->limits->ticks++;
    if (is_superfluous(m, &c, old, l)) return false;
    if (is_superfluous(m, &c, l, old))
      *link = old->next;
    else
      link = &old->next;
  }
  return true;
}

static calm_status insert(mapper_search *m, mapper_label *l, uint32_t level,
                          const mapper_trail *how) {
  mapper_trail trail = *how;
  if (mapper_prune_child(m, l, level)) return CALM_OK;
  trail.turned = mapper_mirror_turn(l, m->space);
  if (!stands_out(m, l, level)) return CALM_OK;
  VECTOR_PUSH(m->context, &m->trail, trail);
  l->trail = m->trail.count - 1;
  m->states++;
  return append_label(m, l, level);
}

/* ---- One label ----------------------------------------------------------- */

static calm_status try_step(mapper_search *m, const mapper_label *l,
                            uint32_t level, uint32_t axis, uint32_t digit) {
  const mapper_trail how = {
      l->trail, axis << 16 | digit, (uint16_t)level, 0, false, false};
  mapper_label_copy(m->next, l, m->space);
  const bool locks = mapper_label_step(m->next, m->space, axis, digit, false);
  if (!mapper_rules_step(m->next, m->space, level, axis)) return CALM_OK;
  TRY(insert(m, m->next, level, &how));
  if (!locks) return CALM_OK;
  mapper_label_copy(m->next, l, m->space);
  mapper_label_step(m->next, m->space, axis, digit, true);
  mapper_rules_step(m->next, m->space, level, axis);
  return insert(m, m->next, level, &how);
}

static calm_status try_steps(mapper_search *m, const mapper_label *l,
                             uint32_t level) {
  const mapper_space *s = m->space;
  for (uint32_t a = 0; a < s->axis_count; a++) {
    const mapper_axis *axis = &s->axes[a];
    const uint32_t digit = s->digits[(size_t)l->node * s->axis_count + a];
    if (l->locked >> axis->dimension & 1) continue;
    for (uint32_t k = 0; k < axis->prime_count; k++)
      if (axis->times[digit * axis->count + axis->primes[k]] != CALM_NONE)
        TRY(try_step(m, l, level, a, axis->primes[k]));
  }
  return CALM_OK;
}

/* Where routes cost something, every order that is worth it.  Most ways to
   spread cost too much without them. */
static calm_status try_orders(mapper_search *m, const mapper_label *l,
                              const mapper_trail *how, uint32_t node) {
  const mapper_space *s = m->space;
  mapper_spread spread = s->fans[how->level].spreads[how->what];
  mapper_trail order = *how;
  const mapper_routes *routes;
  if (mapper_prune_label(m, m->next, how->level)) return CALM_OK;
  m->floor = m->next->score;
  TRY(mapper_routes_find(&routes, s, how->level, how->what));
  for (uint32_t i = 0; i < routes->count; i++) {
    order.order = (uint16_t)i;
    spread.arranged = &routes->arrangements[i];
    mapper_label_copy(m->next, l, s);
    mapper_label_spread(m->next, s, how->level, &spread, node);
    mapper_rules_begin(m->next, s, how->level);
    TRY(insert(m, m->next, how->level, &order));
  }
  return CALM_OK;
}

static calm_status try_kind(mapper_search *m, const mapper_label *l,
                            uint32_t level, const mapper_kind *kind,
                            double floor) {
  const mapper_space *s = m->space;
  const mapper_fan *fan = &s->fans[level];
  for (uint32_t i = kind->first; i < kind->first + kind->count; i++) {
    const mapper_spread *spread = &fan->spreads[i];
    m->floor = floor;
    const mapper_trail how = {l->trail, i, (uint16_t)level, 0, true, false};
    const uint32_t node = mapper_space_spread(s, l->node, spread);
    if (node == CALM_NONE) continue;
    mapper_label_copy(m->next, l, s);
    mapper_label_spread(m->next, s, level, spread, node);
    if (!mapper_rules_begin(m->next, s, level)) continue;
    if (fan->routed && spread->axes && s->networks)
      TRY(try_orders(m, l, &how, node));
    else
      TRY(insert(m, m->next, level, &how));
  }
  return CALM_OK;
}

static calm_status try_spreads(mapper_search *m, const mapper_label *l,
                               uint32_t level) {
  const mapper_fan *fan = &m->space->fans[level];
  if (!m->rules->no_bound) mapper_prospect_look(&m->prospect, l, level);
  for (uint32_t i = 0; i < fan->kind_count; i++) {
    double floor = l->score;
    if (!mapper_prune_kind(&floor, m, l, &fan->kinds[i]))
      TRY(try_kind(m, l, level, &fan->kinds[i], floor));
  }
  return CALM_OK;
}

/* A label may cost less than its nest, which is rounded. */
static calm_status leave_open(mapper_search *m, uint32_t level) {
  const mapper_floor f = mapper_bound_label(m->space, m->above, level);
  return m->rounded || mapper_front_covers(m->front, &f)
             ? CALM_OK
             : mapper_front_open(m->front, &f);
}

/* All loops are there. */
static calm_status complete(mapper_search *m, const mapper_label *l,
                            uint32_t level) {
  mapper_label_copy(m->above, l, m->space);
  mapper_label_level(m->above, m->space, level);
  mapper_label_finish(m->above, m->space);
  m->floor = l->score;
  if (mapper_prune_child(m, m->above, level)) return CALM_OK;
  const double score = m->above->score;
  if (m->spread > 0 && m->spread != l->spread) return CALM_OK;
  TRY(mapper_search_keep(m, l->trail));
  m->stopped = m->any && m->found;
  if (m->front) return leave_open(m, level);
  if (score < m->score) m->score = score;
  if (!m->rounded && score < m->threshold) m->threshold = score;
  if (m->rounded && m->value < m->threshold) m->threshold = m->value;
  return CALM_OK;
}

static calm_status leave_level(mapper_search *m, const mapper_label *l,
                               uint32_t level) {
  const mapper_space *s = m->space;
  if (!mapper_outlook_fits(s, l->node, level) ||
      !mapper_rules_leave(l, s, level))
    return CALM_OK;
  if (level + 1 == s->level_count)
    return l->node + 1 == s->node_count ? complete(m, l, level) : CALM_OK;
  mapper_label_copy(m->above, l, s);
  mapper_label_level(m->above, s, level);
  return try_spreads(m, m->above, level + 1);
}

/* ---- A round ------------------------------------------------------------- */

uint64_t mapper_search_bytes(const mapper_search *m) {
  return m->held + m->labels.capacity * sizeof *m->labels.data +
         m->trail.capacity * sizeof(mapper_trail);
}

static bool is_exhausted(mapper_search *m) {
  return limits_spend(m->limits, 16) || m->trail.count > m->most_states ||
         (m->rounded && m->limits->ticks > m->last_tick) ||
         limits_memory(m->limits, mapper_search_bytes(m));
}

/* Children of the label that were pruned and are not any more. */
static calm_status expand(mapper_search *m, uint32_t index, uint32_t level) {
  mapper_label *l = m->label;
  const double steps = l->step_next, spreads = l->spread_next;
  if (steps < m->threshold) {
    m->handled = steps, m->waiting = HUGE_VAL;
    m->floor = l->score;
    TRY(try_steps(m, l, level));
    label_at(m, index)->step_next = l->step_next = m->waiting;
  }
  if (spreads < m->threshold) {
    m->handled = spreads, m->waiting = HUGE_VAL;
    TRY(leave_level(m, l, level));
    label_at(m, index)->spread_next = l->spread_next = m->waiting;
  }
  return CALM_OK;
}

/* The least bound that waits at a node, once all below the threshold is done.
 */
static calm_status walk_node(mapper_search *m, uint32_t level, uint32_t node) {
  const size_t at = (size_t)level * m->space->node_count + node;
  double least = HUGE_VAL;
  for (uint32_t i = m->heads[at]; i != CALM_NONE; i = m->label->next) {
    /* Labels move as more are made. */
    mapper_label_copy(m->label, label_at(m, i), m->space);
    if (is_exhausted(m)) {
      m->stopped = true;
      return CALM_OK;
    }
    if (m->label->score < m->threshold || m->rules->no_bound) {
      TRY(expand(m, i, level));
      if (m->stopped) return CALM_OK;
      least = smaller(least, m->label->step_next);
      least = smaller(least, m->label->spread_next);
    } else {
      least = smaller(least, m->label->score);
    }
  }
  m->wakes[at] = least;
  return CALM_OK;
}

static calm_status walk_level(mapper_search *m, uint32_t level) {
  const double *wakes = m->wakes + (size_t)level * m->space->node_count;
  for (uint32_t node = 0; node < m->space->node_count && !m->stopped; node++) {
    if (wakes[node] < m->threshold) TRY(walk_node(m, level, node));
    if (wakes[node] < m->pruned) m->pruned = wakes[node];
  }
  return CALM_OK;
}

static void begin(mapper_search *m) {
  const size_t lists = (size_t)m->space->level_count * m->space->node_count;
  for (size_t i = 0; i < lists; i++)
    m->heads[i] = CALM_NONE, m->wakes[i] = HUGE_VAL;
  m->labels.count = m->trail.count = 0;
  m->begin_next = -HUGE_VAL;
  m->capped = HUGE_VAL;
  m->begun = true;
  m->begun_spread = m->spread;
  m->begun_cap = m->cap;
  m->begun_rounded = m->rounded;
}

static bool may_go_on(const mapper_search *m) {
  return m->begun && m->begun_spread == m->spread && m->begun_cap == m->cap &&
         m->begun_rounded == m->rounded;
}

static calm_status walk(mapper_search *m, double threshold) {
  if (!may_go_on(m)) begin(m);
  m->threshold = threshold;
  m->score = HUGE_VAL;
  m->states = 0;
  m->handled = m->begin_next, m->waiting = HUGE_VAL;
  mapper_label_begin(m->above, m->space);
  TRY(try_spreads(m, m->above, 0));
  m->pruned = m->begin_next = m->waiting;
  for (uint32_t level = 0; level < m->space->level_count && !m->stopped;
       level++)
    TRY(walk_level(m, level));
  return CALM_OK;
}

/* What is rounded is looked at with what rounding costs. */
calm_status mapper_search_round(mapper_search *m, double threshold) {
  const mapper_space *space = m->space;
  if (!m->rounded) return walk(m, threshold);
  if (!m->blocks.tables) TRY(mapper_blocks_look_ahead(&m->blocks, space));
  m->space = &m->blocks;
  m->last_tick = m->limits->ticks + m->last_ticks;
  const calm_status status = walk(m, threshold);
  m->space = space;
  return status;
}

double mapper_search_root(mapper_search *m) {
  double root = HUGE_VAL;
  const mapper_space *s = m->space;
  mapper_label_begin(m->above, s);
  for (uint32_t i = 0; i < s->fans[0].spread_count; i++) {
    const mapper_spread *spread = &s->fans[0].spreads[i];
    mapper_label_copy(m->next, m->above, s);
    mapper_label_spread(m->next, s, 0, spread,
                        mapper_space_spread(s, 0, spread));
    const mapper_floor f = mapper_bound_label(s, m->next, 0);
    if (mapper_prune_score(m, &f) < root) root = mapper_prune_score(m, &f);
  }
  return root;
}
