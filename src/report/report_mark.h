/*
 * The mark of a plan that relies on certain kernels, in words and as an object.
 */
#ifndef CALM_REPORT_REPORT_MARK_H
#define CALM_REPORT_REPORT_MARK_H

#include "model/model.h"
#include "report/report_json.h"

/* "the plan relies on the kernels 'reference' (edition 1 of their distances)",
   or why the mark means nothing. */
void report_mark(text *out, const model_mark *mark, bool holds);

/* {"kernels", "edition", "views", "calm", "holds", "fault"}; null without a
   mark. */
json_t *report_json_mark(arena *scratch, const model_mark *mark, bool holds);

#endif
