/*
 * Arithmetic in values, as version 0.4 files have it: `depth: KB * 8192 //
 * width`.  Numbers, names, + - * / // % ** and parentheses, min max ceil floor
 * round log2 sqrt abs, comparisons, and `a if c else b`, with the meaning that
 * they have in Python.  A text that is none of this stays the text that it is,
 * with the reason in its `flaw`, so that only who needs a number complains.
 */
#ifndef CALM_ACCEL_ACCEL_EXPRESSION_H
#define CALM_ACCEL_ACCEL_EXPRESSION_H

#include "accel/accel_yaml.h"

/* What names mean: the keys of these mappings, the nearest first (a layer may
   be NULL).  Their values may be expressions of names again. */
enum { ACCEL_SCOPE_LAYERS = 3 };
typedef struct accel_scope {
  const accel_yaml *layers[ACCEL_SCOPE_LAYERS];
} accel_scope;

/*
 * `node` if it needs no evaluation (a number, a truth value, a text in quotes,
 * a list, a mapping); else a scalar at the same place with its value, or with
 * its text and a flaw.  Fails only without memory.
 */
calm_status accel_expression_evaluate(const accel_yaml **out,
                                      const accel_yaml *node,
                                      const accel_scope *scope, arena *a);

#endif
