#include "mapper/mapper_space.h"

#include "base/bits.h"
#include "cost/cost_scratch.h"
#include "cost/cost_used.h"
#include "mapper/mapper_mirror.h"
#include "mapper/mapper_outlook.h"
#include "mapper/mapper_parts.h"
#include "mapper/mapper_routes.h"
#include "mapper/mapper_rules.h"

/* ---- What the search can do ---------------------------------------------- */

static calm_status refuse(arena *a, const mapper_problem *p, const char *what) {
  return context_fail(a->context, CALM_UNSUPPORTED,
                      "exact mapper: layer \"%s\" on \"%s\": %s",
                      p->layer->name, p->arch->name, what);
}

/* A window is a rank with two dimensions, and a dimension moves one rank. */
static bool is_simple(const cost_shape *shape) {
  uint32_t seen = shape->factors;
  for (uint32_t i = 0; i < shape->sum_count; i++) {
    const cost_sum *sum = &shape->sums[i];
    if (sum->term_count > 2 || seen & sum->dimensions) return false;
    seen |= sum->dimensions;
  }
  if (shape->reach > (double)ACCEL_MAX_COUNT) return false;
  return !shape->read_write || shape->sum_count == 0;
}

static bool has_window(const cost_shape *shape) {
  for (uint32_t i = 0; i < shape->sum_count; i++)
    if (shape->sums[i].term_count > 1) return true;
  return false;
}

static calm_status check_support(const mapper_space *s, arena *a) {
  const mapper_problem *p = s->problem;
  uint32_t written = 0, windows = 0;
  if (s->tables->large_tensor != CALM_NONE)
    return refuse(a, p, "a tensor is too large to be counted");
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    written += s->tables->shapes[t].read_write;
    windows += has_window(&s->tables->shapes[t]);
    if (!is_simple(&s->tables->shapes[t]))
      return refuse(a, p, "its tensors are of a kind not supported yet");
  }
  if (written > 1) return refuse(a, p, "several tensors are written");
  if (windows > 1) return refuse(a, p, "several tensors have windows");
  if (s->tensor_count * s->level_count > MAPPER_MOST_LINKS)
    return refuse(a, p, "too many levels and tensors");
  for (uint32_t l = 0; l < s->level_count; l++)
    if (p->must_keep[l] != p->may_keep[l])
      return refuse(a, p, "searching what to bypass is not supported yet");
  return CALM_OK;
}

/* ---- Tensors ------------------------------------------------------------- */

static calm_status make_tensors(mapper_space *s, arena *a) {
  const accel_layer *layer = s->problem->layer;
  mapper_tensor *tensors;
  ARENA_ARRAY(a, tensors, s->tensor_count);
  for (uint32_t i = 0; i < s->tensor_count; i++) {
    mapper_tensor *t = &tensors[i];
    const cost_shape *shape = &s->tables->shapes[i];
    *t = (mapper_tensor){.shape = shape,
                         .moving = shape->moving,
                         .windows = shape->summed & ~shape->alone,
                         .written = shape->read_write,
                         .least = cost_real(cost_used_words(layer, i)),
                         .outermost = CALM_NONE};
    for (uint32_t l = 0; l < s->level_count; l++)
      if (s->kept[l] >> i & 1) t->outermost = l;
    if (t->written) s->written = true, s->written_tensor = i;
  }
  s->tensors = tensors;
  for (uint32_t d = 0; d < s->tables->dimension_count; d++) {
    uint32_t free = 0;
    for (uint32_t i = 0; i < s->tensor_count; i++)
      free += !(tensors[i].moving >> d & 1);
    if (free > 1 && s->tables->bounds[d] > 1) s->often_free |= UINT32_C(1) << d;
  }
  return CALM_OK;
}

calm_status mapper_space_begin(mapper_space *out, const mapper_problem *p,
                               limits *l, arena *a) {
  mapper_space s = {.problem = p, .limits = l, .kept = p->must_keep};
  const cost_options options = {.model = COST_EXACT};
  TRY(cost_problem_init(&s.cost, p->arch, p->layer, &options, a));
  s.tables = &s.cost.scratch->tables;
  s.level_count = s.tables->level_count;
  s.tensor_count = s.tables->tensor_count;
  TRY(check_support(&s, a));
  TRY(make_tensors(&s, a));
  TRY(mapper_lattice_init(&s, a));
  *out = s;
  return CALM_OK;
}

/* What takes time: all nodes, level by level. */
static calm_status fill_tables(mapper_space *s, bool energy, bool delay,
                               arena *a) {
  TRY(mapper_rules_look_ahead(s, a));
  TRY(mapper_routes_init(s, a));
  TRY(mapper_accounts_init(s, energy, delay, a));
  TRY(mapper_mirror_init(s, a));
  TRY(mapper_outlook_init(s, a));
  return mapper_cycles_init(s, a);
}

calm_status mapper_space_init(mapper_space *out, const mapper_problem *p,
                              bool energy, bool delay, limits *l, arena *a) {
  mapper_space s;
  TRY(mapper_space_begin(&s, p, l, a));
  TRY(mapper_rules_init(&s, a));
  if (l->reason == LIMITS_NONE) TRY(mapper_fans_init(&s, a));
  if (l->reason == LIMITS_NONE) TRY(fill_tables(&s, energy, delay, a));
  *out = s;
  return CALM_OK;
}
