/*
 * A machine from a case, and a layer on it as a problem for a mapper: all is
 * judged by the model `exact`, and a tensor is kept wherever nothing forbids
 * it.
 */
#include "bench/bench_cosa.h"

calm_status bench_case_parse(accel_yaml **out, const char *name, arena *a) {
  const bench_case *file;
  TRY(bench_case_get(&file, name, a->context));
  return accel_yaml_parse(out, name, file->bytes, file->length, a);
}

calm_status bench_machine_open(bench_machine *out, const char *name, arena *a) {
  bench_machine m = {.name = name};
  accel_yaml *root;
  TRY(bench_case_parse(&root, name, a));
  TRY(accel_arch_read(&m.arch, root, NULL, true, a));
  m.rules = root;
  m.global = accel_arch_find(&m.arch, "GlobalBuffer");
  if (m.global == CALM_NONE)
    return context_fail(a->context, CALM_INTERNAL, "%s has no global buffer",
                        name);
  *out = m;
  return CALM_OK;
}

static calm_status read_rules(bench_mapping *m, const accel_yaml *more,
                              arena *a) {
  const accel_yaml *const roots[] = {m->machine->rules, more};
  const accel_rule_files files = {roots, more ? 2 : 1};
  return accel_constraints_read_files(&m->constraints, &files,
                                      &m->machine->arch, m->layer, a);
}

static calm_status keep_what_may_be(const uint32_t **out,
                                    const bench_mapping *m, arena *a) {
  const uint32_t all = (UINT32_C(1) << m->layer->tensor_count) - 1;
  uint32_t *kept;
  ARENA_ARRAY(a, kept, m->machine->arch.level_count);
  for (uint32_t l = 0; l < m->machine->arch.level_count; l++)
    kept[l] = all & ~m->constraints.levels[l].bypass;
  *out = kept;
  return CALM_OK;
}

calm_status bench_mapping_open(bench_mapping *out, const bench_machine *machine,
                               const accel_layer *layer,
                               mapper_objective objective,
                               const accel_yaml *more, arena *a) {
  const uint32_t *kept;
  *out = (bench_mapping){.machine = machine, .layer = layer};
  TRY(read_rules(out, more, a));
  TRY(keep_what_may_be(&kept, out, a));
  out->problem = (mapper_problem){
      .arch = &machine->arch,
      .layer = layer,
      .constraints = &out->constraints,
      .must_keep = kept,
      .may_keep = kept,
      .objective = objective,
      .cost = {.model = COST_EXACT, .fanout = COST_FANOUT_LEVEL}};
  return CALM_OK;
}
