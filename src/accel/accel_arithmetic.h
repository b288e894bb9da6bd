/*
 * Numbers of expressions (accel_expression.c): whole ones of 64 bits and
 * doubles, with the operators and functions that they have in Python.  What has
 * no value is a flaw, which passes through all that is done with it: of
 * `1 / n if n else 0` only the part counts that is chosen.
 */
#ifndef CALM_ACCEL_ACCEL_ARITHMETIC_H
#define CALM_ACCEL_ACCEL_ARITHMETIC_H

#include "base/arena.h"

typedef enum accel_quantity_kind {
  ACCEL_WHOLE,
  ACCEL_REAL,
  ACCEL_WORD, /* a text, which can be handed on but not calculated with */
  ACCEL_FLAW  /* no value: `text` says why */
} accel_quantity_kind;

typedef struct accel_quantity {
  accel_quantity_kind kind;
  bool unsupported; /* the flaw is that calm does not do it */
  bool no_memory;   /* the flaw is that its text found no room */
  int64_t integer;
  double real;
  const char *text;
} accel_quantity;

typedef enum accel_operation {
  ACCEL_ADD,
  ACCEL_SUBTRACT,
  ACCEL_MULTIPLY,
  ACCEL_DIVIDE,
  ACCEL_DIVIDE_DOWN,
  ACCEL_REMAINDER,
  ACCEL_POWER,
  ACCEL_NO_OPERATION
} accel_operation;

/* The arena is for the texts of flaws. */
accel_quantity accel_make_whole(int64_t integer);
accel_quantity accel_make_flaw(arena *a, bool unsupported, const char *format,
                               ...) PRINTF_LIKE(3, 4);

/* A flaw if the number is not finite, or if `overflow`. */
accel_quantity accel_check_real(arena *a, double number);
accel_quantity accel_check_whole(arena *a, bool overflow, int64_t integer);

/* Is one of two no number?  Then *out is the flaw that this makes. */
bool accel_lacks_number(arena *a, accel_quantity *out, accel_quantity x,
                        accel_quantity y);
double accel_double_of(accel_quantity number);

accel_quantity accel_operate(arena *a, accel_operation op, accel_quantity x,
                             accel_quantity y);

/* min max ceil floor round log2 sqrt abs */
bool accel_knows_function(const char *name);
accel_quantity accel_call_function(arena *a, const char *name,
                                   const accel_quantity *arguments,
                                   uint32_t count);

#endif
