/*
 * One layer by one mapper, as its paper or its authors start it; and the cost
 * of a nest, whoever found it.  Effort is limited in ticks, so that figures
 * repeat; no layer of CoSA's networks comes near the limit.
 */
#include <math.h>
#include <time.h>

#include "bench/bench_cosa_mappers.h"
#include "cost/cost_links.h"

/* ---- Nests --------------------------------------------------------------- */

static void add_words(bench_cost *c, const cost_result *r, uint32_t global) {
  const uint32_t tensors = r->tensor_count;
  for (uint32_t t = 0; t < tensors; t++) {
    const cost_tensor *kept = &r->tensors[global * tensors + t];
    const cost_flow *flow = &r->flows[global * tensors + t];
    c->buffer_words += (double)(kept->reads + kept->fills + kept->updates);
    c->array_words += flow->ingresses;
  }
}

/* Elements of the array stand in a row, as in the authors' file; inside of one
   words go where they are wanted. */
static calm_status bound_cycles(double *out, const bench_mapping *m,
                                const cost_problem *p, const accel_nest *n,
                                const cost_result *r, arena *a) {
  uint64_t *words;
  ARENA_ARRAY(a, words, r->level_count);
  TRY(cost_links_count(words, p, n, r));
  *out = fmax(
      (double)r->cycles,
      (double)cost_links_cycles(words[m->machine->global], BENCH_LINK_WORDS));
  return CALM_OK;
}

static calm_status cost_nest(bench_cost *out, const bench_mapping *m,
                             const accel_layer *layer, const accel_nest *n,
                             arena *a) {
  cost_problem problem;
  cost_result r;
  cost_options options = m->problem.cost;
  options.networks = true;
  TRY(cost_problem_init(&problem, m->problem.arch, layer, &options, a));
  TRY(cost_result_init(&r, &problem, a));
  TRY(cost_evaluate(&r, &problem, n));
  if (r.verdict.fault != COST_VALID)
    return context_fail(a->context, CALM_INTERNAL,
                        "%s: a nest that was handed out is not valid",
                        layer->name);
  *out = (bench_cost){.cycles = (double)r.cycles, .energy_pj = r.energy_pj};
  TRY(bound_cycles(&out->link_cycles, m, &problem, n, &r, a));
  add_words(out, &r, m->machine->global);
  return CALM_OK;
}

calm_status bench_cost_nest(bench_cost *out, const bench_mapping *m,
                            const accel_layer *layer, const accel_nest *n,
                            arena *a) {
  arena scratch;
  arena_init(&scratch, a->context);
  const calm_status status = cost_nest(out, m, layer, n, &scratch);
  arena_free(&scratch);
  return status;
}

/* ---- Mappers ------------------------------------------------------------- */

const char *const bench_mapper_names[BENCH_MAPPERS] = {
    "random", "hybrid", "hybrid, 32 x 500", "cosa", "cosa, fitted", "exact"};

enum {
  MOST_TICKS = 1000000000,
  VALID = 5,
  VICTORY = 500,
  THREADS = 32 /* of the authors, each of which gave up by itself */
};

typedef struct attempt {
  const bench_mapping *mapping;
  bench_mapper mapper;
  mapper_sampling sampling;
  mapper_cosa_options cosa;
  mapper_result result;
  mapper_cosa_terms terms;
  limits limits;
} attempt;

static calm_status ask(attempt *t, arena *a) {
  static const mapper_rules rules = {0};
  const mapper_problem *p = &t->mapping->problem;
  mapper_result *r = &t->result;
  switch (t->mapper) {
    case BENCH_RANDOM:
      t->sampling.valid = VALID;
      return mapper_random(r, p, &t->sampling, &t->limits, a);
    case BENCH_HYBRID_32: t->sampling.victory *= THREADS; /* fall through */
    case BENCH_HYBRID: return mapper_hybrid(r, p, &t->sampling, &t->limits, a);
    case BENCH_COSA:
    case BENCH_COSA_FITTED:
      return mapper_cosa(r, &t->terms, p, &t->cosa, &t->limits, a);
    default: return mapper_exact(r, p, &rules, &t->limits, a);
  }
}

/* A nest of a padded layer is measured as one. */
static calm_status describe(bench_try *out, const attempt *t, arena *a) {
  const mapper_result *r = &t->result;
  bench_mapping of = *t->mapping;
  if (r->padded) of.problem.layer = r->padded;
  out->proved = r->outcome == CALM_OPTIMAL;
  out->mapped = out->proved || r->outcome == CALM_FEASIBLE;
  out->samples = r->samples;
  out->valid = r->valid;
  if (!out->mapped) return CALM_OK;
  TRY(mapper_cosa_measure(&out->terms, &of.problem, &t->cosa, &r->nest, a));
  return bench_cost_nest(&out->cost, &of, of.problem.layer, &r->nest, a);
}

/* Of this process: what runs beside it does not count. */
static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

calm_status bench_request_run(bench_try *out, const bench_request *r,
                              const bench *b) {
  attempt t = {
      .mapping = r->mapping,
      .mapper = r->mapper,
      .sampling = {r->seed, UINT64_MAX, VICTORY, UINT64_MAX},
      .cosa = {.weights = r->weights ? *r->weights : mapper_cosa_released,
               .pad = 7}};
  arena scratch;
  *out = (bench_try){0};
  arena_init(&scratch, b->context);
  bench_limits(&t.limits, b, MOST_TICKS);
  const double begin = processor_seconds();
  calm_status status = ask(&t, &scratch);
  out->seconds = processor_seconds() - begin;
  out->stopped = t.limits.reason;
  if (status == CALM_OK) status = describe(out, &t, &scratch);
  arena_free(&scratch);
  return status;
}
