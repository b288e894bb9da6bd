/* Which levels a report shows, and what it calls them. */
#include "report/report_eval.h"

#include <stdio.h>
#include <string.h>

#include "report/report_name.h"

static uint64_t used_fanout(const accel_nest *n, uint32_t level) {
  uint64_t used = 1;
  for (uint32_t i = 0; i < n->loop_count; i++)
    if (n->loops[i].level == level && n->loops[i].kind != ACCEL_TEMPORAL)
      used *= n->loops[i].bound;
  return used;
}

/* Does anything happen in the network below a level? */
static bool costs_energy(const cost_result *r, uint32_t level) {
  for (uint32_t t = 0; t < r->tensor_count; t++)
    if (report_eval_flow(r, level, t)->energy_pj > 0) return true;
  return false;
}

bool report_eval_shows(const calm_evaluation *e, const eval_nest *n,
                       uint32_t level) {
  if (!e->arch.levels[level].virtual_level) return true;
  return used_fanout(&n->nest, level) > 1 ||
         (!n->reason && costs_energy(&n->result, level));
}

calm_status report_eval_levels(eval_levels *out, const calm_evaluation *e,
                               const eval_nest *n, arena *scratch) {
  out->count = 0;
  ARENA_ARRAY(scratch, out->ids, e->arch.level_count);
  for (uint32_t level = e->arch.level_count; level-- > 0;)
    if (report_eval_shows(e, n, level)) out->ids[out->count++] = level;
  return CALM_OK;
}

const char *report_eval_level_name(const calm_evaluation *e, uint32_t level) {
  return level == CALM_NONE ? e->arch.compute.name : e->arch.levels[level].name;
}

const char *report_eval_below(const calm_evaluation *e,
                              const eval_levels *levels, uint32_t i) {
  return report_eval_level_name(
      e, i + 1 < levels->count ? levels->ids[i + 1] : CALM_NONE);
}

const char *report_eval_times(arena *scratch, const char *name,
                              uint64_t count) {
  const report_digits digits = report_number(count);
  const size_t bytes = strlen(name) + strlen(digits.text) + sizeof " x ";
  char *out = arena_calloc(scratch, bytes, 1);
  if (out && count == 1) return strcpy(out, name);
  if (out) snprintf(out, bytes, "%s x %s", name, digits.text);
  return out;
}

double report_eval_multicast(const cost_flow *f) {
  double words = 0, served = 0;
  for (uint32_t i = 0; i < f->group_count; i++) {
    words += f->groups[i].accesses;
    served += f->groups[i].accesses * (double)f->groups[i].multicast;
  }
  return words > 0 ? served / words : 1;
}
