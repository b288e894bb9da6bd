#include <math.h>
#include <stdio.h>

#include "mapper/mapper_exact.h"

/*
 * The front of energy and cycles.  First the fastest nests, and the least
 * energy among them; then rounds with a growing threshold of energy.  After
 * each, the front is complete as far as its threshold, and a label is pruned
 * if a nest is known that is no worse than its bounds: what is left has fewer
 * cycles than all nests so far, until the fastest is reached.  That is the
 * epsilon-constraint method with the cap falling by itself, many points a
 * round.
 *
 * The proof: a nest's label is pruned only if the nest is no better than one
 * that is known, or made superfluous by one that is no worse in energy nor in
 * cycles.  Where rounding makes a nest cost more than its label, the label
 * leaves a corner open, and a last round looks for better ones there.
 */

/* ---- One space ----------------------------------------------------------- */

/* The corners of this space. */
static calm_status look_again(mapper_progress *p, mapper_search *m) {
  mapper_front *f = m->front;
  mapper_front_close(f);
  if (f->corners.count == f->old_corners || m->stopped) return CALM_OK;
  m->rounded = true;
  m->most_states = MAPPER_MOST_LAST_STATES;
  m->last_ticks = MAPPER_MOST_LAST_TICKS;
  TRY(mapper_exact_round(p, m, HUGE_VAL));
  if (!m->stopped) f->corners.count = f->old_corners;
  m->rounded = false;
  return CALM_OK;
}

calm_status mapper_pareto_deepen(mapper_progress *p, mapper_search *m) {
  const double root = mapper_search_root(m);
  double threshold = mapper_exact_raise(root, root);
  p->bound = root;
  p->infeasible = root == HUGE_VAL;
  while (p->bound < HUGE_VAL) {
    TRY(mapper_exact_round(p, m, threshold));
    if (m->stopped) break;
    p->bound = m->pruned;
    threshold = mapper_exact_raise(root, m->pruned);
  }
  TRY(look_again(p, m));
  m->front->old_corners = m->front->corners.count;
  return CALM_OK;
}

/* ---- The answer ---------------------------------------------------------- */

static calm_status evaluate_point(mapper_point *out, cost_problem *cost,
                                  const mapper_stair *s, arena *a) {
  TRY(accel_nest_copy(&out->nest, &s->nest, a));
  TRY(cost_result_init(&out->cost, cost, a));
  return cost_evaluate(&out->cost, cost, &out->nest);
}

static calm_status evaluate_all(mapper_result *out, const mapper_problem *p,
                                const mapper_front *f, arena *a) {
  const cost_options options = {.model = COST_EXACT};
  cost_problem cost;
  TRY(cost_problem_init(&cost, p->arch, p->layer, &options, a));
  ARENA_ARRAY(a, out->front, f->stairs.count);
  for (uint32_t i = 0; i < f->stairs.count; i++)
    TRY(evaluate_point(&out->front[out->front_count++], &cost,
                       &f->stairs.data[i], a));
  out->nest = out->front[0].nest;
  out->cost = out->front[0].cost;
  return CALM_OK;
}

/* What the best nest that is not known could cost less, as a factor. */
static double find_gap(const mapper_front *f, double bound) {
  const mapper_floor rest = {bound, f->least_cycles};
  double gap = 1;
  if (!mapper_front_covers(f, &rest)) gap = mapper_front_gap(f, &rest);
  for (uint32_t i = 0; i < f->corners.count; i++)
    gap = fmax(gap, mapper_front_gap(f, &f->corners.data[i]));
  return gap;
}

/* How far it got: what costs less energy than the bound was found. */
static calm_status say_how_far(const char **out, const mapper_front *f,
                               double bound, const char *reason, arena *a) {
  char text[128];
  uint32_t i = 0;
  while (i < f->stairs.count && f->stairs.data[i].energy_pj >= bound) i++;
  const int length = i < f->stairs.count && f->corners.count == 0
                         ? snprintf(text, sizeof text,
                                    "%.60s; complete from %.0f cycles upwards",
                                    reason, f->stairs.data[i].cycles)
                         : snprintf(text, sizeof text, "%.60s", reason);
  *out = arena_string(a, text, (size_t)length);
  return *out ? CALM_OK : context_no_memory(a->context);
}

/* No label costs less than `bound` but those that were looked at. */
static calm_status report(mapper_result *out, const mapper_problem *p,
                          const mapper_front *f, double bound, const limits *l,
                          arena *a) {
  const double gap = find_gap(f, bound);
  TRY(evaluate_all(out, p, f, a));
  out->value = out->cost.energy_pj;
  out->bound = out->value / gap;
  out->outcome = gap <= 1 + 1e-9 ? CALM_OPTIMAL : CALM_FEASIBLE;
  out->reason = NULL;
  return out->outcome == CALM_FEASIBLE
             ? say_how_far(&out->reason, f, bound, mapper_exact_reason(l), a)
             : CALM_OK;
}

/* The fastest nest, and the least energy of such. */
static calm_status find_fastest(mapper_result *out, mapper_front *f,
                                const mapper_problem *p,
                                const mapper_given *given, limits *l,
                                arena *a) {
  mapper_problem problem = *p;
  mapper_given within = *given;
  mapper_result r;
  problem.objective = MAPPER_DELAY;
  TRY(mapper_exact_any(out, &problem, given, l, a));
  if (!mapper_exact_found(out)) return CALM_OK;
  f->least_cycles = out->bound;
  TRY(mapper_front_enter(f, &out->nest, out->cost.energy_pj,
                         (double)out->cost.cycles));
  problem.objective = MAPPER_DELAY_ENERGY;
  within.most_cycles = (double)out->cost.cycles;
  within.most_value = out->cost.energy_pj;
  TRY(mapper_exact_any(&r, &problem, &within, l, a));
  out->states += r.states;
  out->rounds += r.rounds;
  return mapper_exact_found(&r)
             ? mapper_front_enter(f, &r.nest, r.cost.energy_pj,
                                  (double)r.cost.cycles)
             : CALM_OK;
}

static calm_status search(mapper_result *out, mapper_front *f,
                          const mapper_problem *p, const mapper_rules *rules,
                          limits *l, arena *a) {
  mapper_given given = {
      .rules = rules, .most_cycles = HUGE_VAL, .most_value = HUGE_VAL};
  mapper_result all;
  TRY(find_fastest(out, f, p, &given, l, a));
  if (!mapper_exact_found(out)) return CALM_OK;
  given.front = f;
  TRY(mapper_exact_any(&all, p, &given, l, a));
  out->states += all.states;
  out->rounds += all.rounds;
  return report(out, p, f, all.bound, l, a);
}

calm_status mapper_pareto(mapper_result *out, const mapper_problem *p,
                          const mapper_rules *rules, limits *l, arena *a) {
  mapper_front front;
  mapper_front_init(&front, a->context);
  const calm_status status = search(out, &front, p, rules, l, a);
  mapper_front_free(&front);
  return status;
}
