/*
 * What every report says of a model, of a memory model and of a search, once
 * for people and once for programs.
 */
#ifndef CALM_REPORT_REPORT_FACTS_H
#define CALM_REPORT_REPORT_FACTS_H

#include "plan.h"
#include "report/report_json.h"
#include "report/report_table.h"

/* The lines a table begins with: the file, what is in it, the memory model with
   the columns that differ from its preset, and what the figures leave out. */
calm_status report_title(text *out, const calm_model *model,
                         const plan_facts *facts, const memory_model *memory,
                         bool color);

/* A path in one line of its own. */
calm_status report_heading(text *out, const char *path, bool color);

/* How a search ended, in words that fit what was searched for. */
typedef struct report_search {
  const char *what;    /* "order" */
  const char *method;  /* "exact" */
  const char *nothing; /* "no order needs less than" */
  const char *effort;  /* "states", in the plural */
  calm_outcome outcome;
  uint64_t value, bound, effort_count, ticks;
  limits_reason stopped;
  bool timing; /* are seconds to be told? */
  double seconds;
} report_search;

/* One line, or two. */
void report_outcome(text *out, const report_search *search, bool color);

/* Does a budget (UINT64_MAX: none) hold?  A line, or nothing; `what` says what
   it is for, "" of the arena alone. */
void report_budget(text *out, uint64_t budget, const char *what, uint64_t arena,
                   uint64_t bound, bool color);

/* {"calm": version, "options": {NAME: value}}: how a result came about. */
json_t *report_json_provenance(arena *scratch, const options_changed *changed);

/* {"schema", "model", "memory", "align", "columns"} */
json_t *report_json_head(arena *scratch, const char *schema,
                         const calm_model *model, const memory_model *memory);

/* {"name", "ops", "tensors", "activation_bytes", "weight_bytes"} */
json_t *report_json_graph(arena *scratch, const graph *g,
                          const plan_facts *facts);

/* {"weight_bytes", "state_bytes", "input_bytes", "output_bytes", "unknown"}:
   what peak and arena leave out. */
json_t *report_json_excluded(const plan_facts *facts,
                             const memory_model *memory);

/* {"method", "status", "bound_bytes", EFFORT, "ticks", "stopped"[, "seconds"]};
   the value has a name of its own and is the caller's. */
json_t *report_json_search(const report_search *search);

#endif
