/*
 * What was written under a plan, read again by the reader, which knows nothing
 * of the writer: the same tensors and operators, in the plan's order, each
 * waiting for the same ones, with the plan's offsets, which are judged once
 * more.  Costs as much as reading a model.
 */
#ifndef CALM_WRITE_READ_BACK_H
#define CALM_WRITE_READ_BACK_H

#include "plan.h"

/* CALM_INTERNAL, saying what differs, unless the file at `path` is the plan's
   model as planned.  `action`: what was to become of its offline plan. */
calm_status write_read_back(const calm_plan *plan, const char *path,
                            model_plan_action action);

/* CALM_INTERNAL, saying what differs, unless `after`, read from a file that was
   made for it, has the graphs of `before`, but for attributes and the like that
   a reader may see otherwise. */
calm_status write_compare_rebuilt(const calm_plan *plan,
                                  const calm_model *before,
                                  const calm_model *after);

#endif
