#include "mapper/mapper_cosa_measure.h"
#include "mapper/mapper_cosa_nest.h"
#include "mapper/mapper_remedy.h"
#include "mapper/mapper_sample_draw.h"

/*
 * Weights from micro-benchmarks.  Layers that no network has are drawn nests
 * of, whose factors then move outwards until they fit: uniform draws that fit
 * as they are would be one in thousands.  Each nest is an equation
 *
 *   compute * C + traffic * T - utilization * U  =  log2(cycles)
 *
 * and the weights are its least squares solution among those that are not
 * negative.
 */

enum { LAYERS = 8, NESTS = 200, TRIES = 10 * NESTS, UNKNOWNS = 3 };

/* R S P Q C K N */
static const uint64_t convolutions[LAYERS][7] = {
    {3, 3, 24, 24, 48, 96, 1}, {1, 1, 20, 20, 96, 160, 1},
    {5, 5, 12, 12, 32, 64, 1}, {1, 1, 1, 1, 768, 640, 1},
    {3, 1, 30, 16, 40, 80, 1}, {1, 3, 10, 28, 120, 48, 2},
    {7, 7, 18, 18, 6, 40, 1},  {1, 1, 5, 5, 320, 480, 4}};

/* Of layers without windows, and of dimensions that convolutions lack. */
static const uint64_t products[LAYERS] = {96, 160, 48, 320, 24, 640, 80, 120};

static const uint64_t channels[LAYERS] = {2, 6, 4, 3, 8, 5, 10, 12};

/* ---- Layers -------------------------------------------------------------- */

static bool has_window(const accel_layer *layer) {
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    for (uint32_t r = 0; r < layer->tensors[t].rank_count; r++)
      if (layer->tensors[t].ranks[r].term_count > 1) return true;
  return false;
}

static uint64_t bound_of(const mapper_cosa_program *p, uint32_t number,
                         uint32_t dimension, bool window) {
  const uint32_t place = mapper_cosa_place(p, dimension);
  if (!window) return products[(number + dimension) % LAYERS];
  return place < 7 ? convolutions[number][place]
                   : channels[(number + dimension) % LAYERS];
}

/* A layer of the same shape. */
static calm_status make_layer(accel_layer **out, const accel_layer *layer,
                              uint32_t number, arena *a) {
  const mapper_cosa_program names = {.layer = layer};
  accel_layer *made;
  ARENA_ARRAY(a, made, 1);
  *made = *layer;
  made->macs = 1;
  ARENA_ARRAY(a, made->dimensions, layer->dimension_count);
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    made->dimensions[d] = layer->dimensions[d];
    const uint64_t bound = bound_of(&names, number, d, has_window(layer));
    const uint64_t macs = accel_count_multiply(made->macs, bound);
    made->dimensions[d].bound = macs <= UINT64_C(1) << 40 ? bound : 1;
    made->macs *= made->dimensions[d].bound;
  }
  *out = made;
  return CALM_OK;
}

/* ---- Equations ----------------------------------------------------------- */

typedef struct equations {
  double products[UNKNOWNS][UNKNOWNS], sides[UNKNOWNS]; /* normal equations */
  uint64_t count;
  uint32_t small; /* a level that some nest does not fit, or CALM_NONE */
} equations;

static void add_equation(equations *e, const mapper_cosa_terms *t,
                         double side) {
  const double row[UNKNOWNS] = {t->compute, t->traffic, -t->utilization};
  for (uint32_t i = 0; i < UNKNOWNS; i++) {
    e->sides[i] += row[i] * side;
    for (uint32_t j = 0; j < UNKNOWNS; j++)
      e->products[i][j] += row[i] * row[j];
  }
  e->count++;
}

/* Only the unknowns in `set`, by elimination; false if that is singular. */
static bool solve_set(double *x, const equations *e, uint32_t set) {
  double m[UNKNOWNS][UNKNOWNS + 1];
  for (uint32_t i = 0; i < UNKNOWNS; i++) {
    for (uint32_t j = 0; j < UNKNOWNS; j++)
      m[i][j] = set >> i & set >> j & 1 ? e->products[i][j] : i == j;
    m[i][UNKNOWNS] = set >> i & 1 ? e->sides[i] : 0;
  }
  for (uint32_t i = 0; i < UNKNOWNS; i++) {
    if (!(m[i][i] > 1e-9)) return false;
    for (uint32_t k = 0; k < UNKNOWNS; k++) {
      const double times = k == i ? 0 : m[k][i] / m[i][i];
      for (uint32_t j = 0; j <= UNKNOWNS; j++) m[k][j] -= times * m[i][j];
    }
  }
  for (uint32_t i = 0; i < UNKNOWNS; i++) x[i] = m[i][UNKNOWNS] / m[i][i];
  return true;
}

/* What the squares are less than without any weight. */
static double gain_of(const equations *e, const double *x) {
  double gain = 0;
  for (uint32_t i = 0; i < UNKNOWNS; i++) {
    gain += 2 * x[i] * e->sides[i];
    for (uint32_t j = 0; j < UNKNOWNS; j++)
      gain -= x[i] * x[j] * e->products[i][j];
  }
  return gain;
}

/* With three unknowns, all sets of those that are not 0 can be tried. */
static mapper_cosa_weights solve_equations(const equations *e) {
  double best[UNKNOWNS] = {0}, most = 0;
  for (uint32_t set = 1; set < 1u << UNKNOWNS; set++) {
    double x[UNKNOWNS];
    if (!solve_set(x, e, set) || x[0] < 0 || x[1] < 0 || x[2] < 0) continue;
    const double gain = gain_of(e, x);
    if (gain <= most) continue;
    most = gain;
    for (uint32_t i = 0; i < UNKNOWNS; i++) best[i] = x[i];
  }
  return (mapper_cosa_weights){best[0], best[1], best[2]};
}

/* ---- Nests --------------------------------------------------------------- */

typedef struct sampler {
  mapper_cosa_program program;
  mapper_cosa_tiling tiling;
  mapper_draw draw;
  accel_nest nest;
  cost_problem cost;
  cost_result result;
} sampler;

static calm_status open_sampler(sampler *s, const mapper_problem *p,
                                const mapper_cosa_options *o, uint64_t seed,
                                arena *a) {
  TRY(mapper_cosa_program_init(&s->program, p, o, p->layer, a));
  TRY(mapper_cosa_tiling_init(&s->tiling, &s->program, a));
  TRY(mapper_draw_init(&s->draw, p, seed, a));
  TRY(mapper_cosa_nest_init(&s->nest, &s->program, a));
  TRY(cost_problem_init(&s->cost, p->arch, p->layer, &p->cost, a));
  return cost_result_init(&s->result, &s->cost, a);
}

static calm_status sample(equations *e, sampler *s, arena *a) {
  cost_verdict verdict;
  mapper_cosa_terms terms;
  uint32_t moves;
  if (!mapper_draw_next(&s->draw)) return CALM_OK;
  mapper_cosa_tiling_of(&s->tiling, &s->program, &s->draw.nest);
  mapper_cosa_repair(&s->tiling, &s->nest, &verdict, &moves, &s->program,
                     &s->cost);
  if (verdict.fault == COST_CAPACITY) e->small = verdict.level;
  if (verdict.fault != COST_VALID) return CALM_OK;
  TRY(cost_evaluate(&s->result, &s->cost, &s->nest));
  if (s->result.verdict.fault != COST_VALID) return CALM_OK;
  TRY(mapper_cosa_measure_program(&terms, &s->program, &s->nest, a));
  add_equation(e, &terms, log2((double)s->result.cycles));
  return CALM_OK;
}

/* Rules are for the layers of a network, these have other bounds. */
static calm_status sample_layer(equations *e, const mapper_problem *p,
                                const mapper_cosa_options *o, uint64_t seed,
                                limits *l, arena *a) {
  sampler s;
  mapper_problem without = *p;
  const uint64_t wanted = e->count + NESTS;
  without.constraints = NULL;
  without.must_keep = without.may_keep;
  TRY(open_sampler(&s, &without, o, seed, a));
  if (s.draw.reason) return CALM_OK;
  for (uint32_t i = 0; i < TRIES && e->count < wanted; i++) {
    arena scratch;
    if (limits_spend(l, 1)) return CALM_OK;
    arena_init(&scratch, a->context);
    const calm_status status = sample(e, &s, &scratch);
    arena_free(&scratch);
    TRY(status);
  }
  return CALM_OK;
}

static calm_status refuse(const equations *e, const mapper_problem *p,
                          calm_context *context) {
  text t;
  char *why;
  text_init(&t, context);
  text_format(&t, "calibration: hardly any nest runs on \"%s\"", p->arch->name);
  mapper_remedy_tell(&t, p, e->small, false);
  TRY(text_finish(&t, &why));
  const calm_status status = context_fail(context, CALM_UNSUPPORTED, "%s", why);
  calm_text_free(context, why);
  return status;
}

static calm_status calibrate(mapper_cosa_weights *out, const mapper_problem *p,
                             const mapper_cosa_options *o, uint64_t seed,
                             limits *l, arena *a) {
  equations e = {.small = CALM_NONE};
  for (uint32_t i = 0; i < LAYERS; i++) {
    mapper_problem of = *p;
    accel_layer *layer;
    TRY(make_layer(&layer, p->layer, i, a));
    of.layer = layer;
    TRY(sample_layer(&e, &of, o, seed + i, l, a));
  }
  if (l->reason != LIMITS_NONE)
    return context_fail(a->context, CALM_UNSUPPORTED,
                        "calibration stopped by the %s",
                        limits_reason_name(l->reason));
  if (e.count < NESTS) return refuse(&e, p, a->context);
  *out = solve_equations(&e);
  return CALM_OK;
}

calm_status mapper_cosa_calibrate(mapper_cosa_weights *out,
                                  const mapper_problem *p,
                                  const mapper_cosa_options *o, uint64_t seed,
                                  limits *l, arena *a) {
  arena scratch;
  arena_init(&scratch, a->context);
  const calm_status status = calibrate(out, p, o, seed, l, &scratch);
  arena_free(&scratch);
  return status;
}
