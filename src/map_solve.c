/*
 * One layer: what constraints and options leave to be chosen, as a problem for
 * a mapper, and its answer.
 */
#include "map_parts.h"
#include "pipeline.h"

/* ---- What may be kept ---------------------------------------------------- */

typedef struct keep_sets {
  uint32_t *must, *may; /* per level */
} keep_sets;

static uint32_t all_tensors(const accel_layer *layer) {
  return (UINT32_C(1) << layer->tensor_count) - 1;
}

static uint32_t outermost_memory(const accel_arch *arch) {
  uint32_t level = arch->level_count - 1;
  while (level > 0 && arch->levels[level].virtual_level) level--;
  return level;
}

/* A tensor is kept wherever no constraint forbids it.  If that is searched, it
   stays at the outermost memory, where it comes from, and else only where it
   must. */
static calm_status find_keep_sets(keep_sets *out, const map_layer *l,
                                  const calm_mapping *m, bool searched,
                                  arena *a) {
  const uint32_t levels = m->arch.level_count;
  const uint32_t source = outermost_memory(&m->arch);
  keep_sets k;
  ARENA_ARRAY(a, k.must, levels);
  ARENA_ARRAY(a, k.may, levels);
  for (uint32_t i = 0; i < levels; i++) {
    const accel_level_rules *rules = &l->constraints.levels[i];
    if (m->arch.levels[i].virtual_level) continue;
    k.may[i] = all_tensors(&l->layer) & ~rules->bypass;
    k.must[i] = searched && i != source ? rules->keep & k.may[i] : k.may[i];
  }
  *out = k;
  return CALM_OK;
}

calm_status map_layer_may_keep(uint32_t **out, const map_layer *l,
                               const calm_mapping *m, arena *a) {
  keep_sets k;
  TRY(find_keep_sets(&k, l, m, false, a));
  *out = k.may;
  return CALM_OK;
}

static calm_status check_paths(const keep_sets *k, const map_layer *l,
                               const calm_mapping *m) {
  uint32_t somewhere = 0;
  for (uint32_t i = 0; i < m->arch.level_count; i++) somewhere |= k->may[i];
  for (uint32_t t = 0; t < l->layer.tensor_count; t++)
    if (!(somewhere >> t & 1))
      return context_fail(m->context, CALM_BAD_INPUT,
                          "%s: constraints let no level keep %s", l->name,
                          l->layer.tensors[t].name);
  return CALM_OK;
}

/* ---- Before anything is asked -------------------------------------------- */

static calm_status prepare(map_layer *l, const map_run *run, arena *scratch) {
  const calm_mapping *m = run->mapping;
  keep_sets k;
  TRY(accel_arch_check_tensors(&m->arch, &l->layer, m->context));
  TRY(accel_constraints_read_files(&l->constraints, &run->machine.constraints,
                                   &m->arch, &l->layer, &run->mapping->arena));
  TRY(find_keep_sets(&k, l, m, false, scratch));
  return check_paths(&k, l, m);
}

/* What is wrong with one layer is told with it; without memory nothing can be.
 */
static calm_status note_failure(map_layer *l, calm_status status,
                                calm_context *context, arena *a) {
  if (status == CALM_OK) return CALM_OK;
  l->error = status;
  return pipeline_keep_text(&l->reason, calm_context_message(context), a);
}

calm_status map_layer_prepare(map_layer *l, const map_run *run) {
  calm_context *context = run->mapping->context;
  arena scratch;
  arena_init(&scratch, context);
  const calm_status status = prepare(l, run, &scratch);
  arena_free(&scratch);
  if (status == CALM_NO_MEMORY) return status;
  return note_failure(l, status, context, &run->mapping->arena);
}

/* ---- Asking -------------------------------------------------------------- */

static calm_status ask(map_layer *l, const mapper_problem *p,
                       const map_run *run, limits *limit, arena *a) {
  switch (run->mapping->method) {
    case MAP_EXACT: return mapper_exact(&l->result, p, &run->rules, limit, a);
    case MAP_COSA:
      return mapper_cosa(&l->result, &l->terms, p, &run->cosa, limit, a);
    case MAP_RANDOM:
      return mapper_random(&l->result, p, &run->sampling, limit, a);
    case MAP_HYBRID: break;
  }
  return mapper_hybrid(&l->result, p, &run->sampling, limit, a);
}

calm_status map_layer_problem(mapper_problem *out, const map_layer *l,
                              const map_run *run, arena *a) {
  const calm_mapping *m = run->mapping;
  keep_sets k;
  TRY(find_keep_sets(&k, l, m, run->options->bypass != 0, a));
  *out = (mapper_problem){.arch = &m->arch,
                          .layer = &l->layer,
                          .constraints = &l->constraints,
                          .must_keep = k.must,
                          .may_keep = k.may,
                          .objective = m->objective,
                          .cost = m->cost,
                          .imperfect = run->options->imperfect};
  out->cost.networks = false; /* what only a report shows */
  return CALM_OK;
}

static calm_status solve(map_layer *l, const map_run *run, arena *a) {
  mapper_problem p;
  limits limit;
  TRY(map_layer_problem(&p, l, run, a));
  pipeline_limits(&limit, a->context, run->options, 1);
  TRY(ask(l, &p, run, &limit, a));
  if (l->result.outcome == CALM_FEASIBLE && !l->result.reason &&
      limit.reason != LIMITS_NONE)
    l->result.reason = limits_reason_name(limit.reason);
  return CALM_OK;
}

calm_status map_layer_solve(map_layer *l, const map_run *run, arena *a) {
  const double begin = limits_clock();
  l->reason = NULL;
  l->result = (mapper_result){0};
  const calm_status status = solve(l, run, a);
  l->seconds = limits_clock() - begin;
  if (status == CALM_OK && l->result.reason) l->reason = l->result.reason;
  return note_failure(l, status, a->context, a);
}
