/* What became of the graph before it was planned: the sites at which it was
   rewritten, what each is worth, and why the others were left alone. */
#ifndef CALM_REPORT_REPORT_REWRITE_H
#define CALM_REPORT_REPORT_REWRITE_H

#include "plan.h"
#include "report/report_json.h"

/* A paragraph and a table of the sites that were rewritten, of all sites if
   `complete`; nothing where nobody asked for it. */
calm_status report_rewrite(text *out, const calm_plan *plan, bool complete,
                           bool color);

/* {"mode", "sites"[, "partials", "accumulator", "proved", "proof", "judged",
   "applied"]} */
json_t *report_json_rewrite(arena *scratch, const calm_plan *plan);

#endif
