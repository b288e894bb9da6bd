/*
 * What each level carries of each tensor, beside what no nest can do without.
 */
#include "cost/cost_used.h"
#include "report/report_map_explain.h"

/* ---- Loads --------------------------------------------------------------- */

/* Each word that is used leaves every level that keeps it once at least, and
   comes to all but the outermost of these; one that is written comes back, and
   that is all: what is first touched is not read.  docs/cost-model.md, Counts.
 */
static double least_words(const calm_evaluation *e, uint32_t tensor,
                          bool outermost) {
  const double used = (double)cost_used_words(&e->layer, tensor);
  const bool once = outermost || e->layer.tensors[tensor].read_write;
  return once ? used : 2 * used;
}

static map_load load_of(const calm_evaluation *e, const cost_result *r,
                        uint32_t level, uint32_t tensor, bool outermost) {
  const cost_tensor *c = report_eval_tensor(r, level, tensor);
  const double all = (double)r->levels[level].instances;
  return (map_load){.level = level,
                    .tensor = tensor,
                    .least = least_words(e, tensor, outermost),
                    .reads = (double)c->reads * all,
                    .fills = (double)c->fills * all,
                    .updates = (double)c->updates * all,
                    .energy_pj = c->energy_pj};
}

calm_status report_map_loads(map_explanation *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch) {
  const cost_result *r = &n->result;
  uint32_t seen = 0;
  ARENA_ARRAY(scratch, out->loads, (size_t)r->level_count * r->tensor_count);
  for (uint32_t level = r->level_count; level-- > 0;)
    for (uint32_t t = 0; t < r->tensor_count; t++) {
      if (!report_eval_tensor(r, level, t)->kept) continue;
      out->loads[out->load_count++] = load_of(e, r, level, t, !(seen >> t & 1));
      seen |= UINT32_C(1) << t;
    }
  return CALM_OK;
}
