/*
 * The offline plan in a .tflite file as a table of words, before anybody asks
 * where tensors lie: what keeps a runtime from reading it is a fault, what it
 * silently ignores is a warning.
 */
#ifndef CALM_CHECK_TABLE_H
#define CALM_CHECK_TABLE_H

#include "memory/memory_check.h"
#include "model/model.h"

/* Add to `verdict` what is to be said; texts are in the arena.  *out_readable:
   there is a plan, and its offsets can be judged. */
calm_status check_table(bool *out_readable, memory_verdict *verdict,
                        const calm_model *model, arena *a);

#endif
