/*
 * The mark of a plan that relies on certain kernels (model_mark): in which
 * terms such a plan is to be judged, and whether it still speaks of this file.
 */
#ifndef CALM_CHECK_MARK_H
#define CALM_CHECK_MARK_H

#include "plan.h"

/* Is it a mark that can be read, of kernels that are known, beside the
   operators and offsets that it was made for?  False without one. */
bool check_mark_holds(const calm_model *model);

/* The options in the mark's terms: its kernels (but where it holds for any, and
   the options name some), its views unless the options say which, and overlap.
   They borrow from both. */
calm_status check_mark_terms(calm_options *out, const calm_model *model,
                             const calm_options *options);

/* What the mark is about, once the plan has been judged in those terms: faults
   and warnings. */
calm_status check_mark(calm_verdict *v, const calm_options *options);

#endif
