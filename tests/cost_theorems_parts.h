/*
 * What the files of the theorems share: a case on trial.  A theorem is a
 * function that tells whether the case breaks it, and says how if it does.
 */
#ifndef CALM_TESTS_COST_THEOREMS_PARTS_H
#define CALM_TESTS_COST_THEOREMS_PARTS_H

#include <math.h>

#include "cost_check.h"
#include "cost_pieces.h"
#include "cost_theorems.h"

/* A case, what it costs, and the first theorem that it breaks. */
typedef struct trial {
  const cost_random_case *c;
  cost_result result, adding; /* as it is, and if all levels can add */
  random_state *r;
  arena *arena;
  char *broken;
} trial;

/* Keeps what is said; true. */
bool theorem_breaks(trial *t, const char *format, ...) PRINTF_LIKE(2, 3);

/* What a case costs, at any fan-out that a level has. */
cost_result theorem_evaluate(const trial *t, const cost_random_case *c,
                             cost_model model);

/* Does another case cost something else than `r`? */
bool theorem_differs(trial *t, const cost_result *r, const cost_random_case *c,
                     cost_model model, const char *theorem);

static inline bool theorem_near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

static inline const cost_tensor *theorem_tensor(const cost_result *r,
                                                uint32_t level,
                                                uint32_t tensor) {
  return &r->tensors[level * r->tensor_count + tensor];
}

static inline const cost_flow *theorem_flow(const cost_result *r,
                                            uint32_t level, uint32_t tensor) {
  return &r->flows[level * r->tensor_count + tensor];
}

static inline bool theorem_keeps(const trial *t, uint32_t level,
                                 uint32_t tensor) {
  return t->c->nest.kept[level] >> tensor & 1;
}

/* ---- Nothing is made from nothing (cost_theorems_words.c) ---------------- */

bool theorem_words_are_lost(trial *t, uint32_t tensor);
bool theorem_operands_are_missing(trial *t, uint32_t tensor);
bool theorem_computes_are_wrong(trial *t);
bool theorem_too_cheap(trial *t);
bool theorem_sums_are_wrong(trial *t);

/* ---- Changes that change nothing (cost_theorems_changes.c) --------------- */

bool theorem_names_matter(trial *t);
bool theorem_ranks_matter(trial *t);
bool theorem_tensors_matter(trial *t);
bool theorem_innermost_order_matters(trial *t);
bool theorem_splitting_matters(trial *t);
bool theorem_empty_level_matters(trial *t);
bool theorem_batches_differ(trial *t);

#endif
