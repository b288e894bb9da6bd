/*
 * What a page draws of a plan's graph: the operators around the peak, and
 * around each site that was rewritten, before and after, each in layers.
 */
#ifndef CALM_REPORT_REPORT_DRAWINGS_H
#define CALM_REPORT_REPORT_DRAWINGS_H

#include "report/report_json.h"

/* An array of drawings for a document; empty if it is no plan, or has no graph
   (docs/report.md describes one). */
calm_status report_drawings_make(json_t **out, const json_t *data,
                                 calm_context *context);

#endif
