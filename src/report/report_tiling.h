/* What became of a graph by tiles: the regions, what else was possible, and
   what each part of planning bought. */
#ifndef CALM_REPORT_REPORT_TILING_H
#define CALM_REPORT_REPORT_TILING_H

#include "plan.h"
#include "report/report_json.h"

/* A paragraph and tables; of the front a part, or all if `complete`; nothing
   where nobody asked for tiles. */
calm_status report_tiling(text *out, const calm_plan *plan, bool complete,
                          bool color);

/* Members "tiling" and "steps"; an object without members where nobody asked.
 */
json_t *report_json_tiling(arena *scratch, const calm_plan *plan);

/* The front as SVG, or as CSV.  CALM_MISUSE if there is none. */
calm_status report_front_svg(text *out, const calm_plan *plan, arena *scratch);
calm_status report_front_csv(text *out, const calm_plan *plan);

#endif
