/*
 * What an order really does to memory, simulated tensor by tensor, and whether
 * a plan is sound: written from the rules alone, sharing no code with the order
 * and layout problems, so that it can judge the solvers that worked on those.
 */
#ifndef CALM_MEMORY_MEMORY_CHECK_H
#define CALM_MEMORY_MEMORY_CHECK_H

#include "memory/memory.h"

/* One tensor's life in an order of all graph operators; steps are 0-based and
   inclusive, a graph input begins at 0. */
typedef struct memory_life {
  bool counted; /* false: constant, external, view, elided, untouched */
  bool kept;    /* its bytes must survive the run */
  uint32_t first, last;
  tensor_id storage; /* the tensor whose bytes these are: itself, or the base of
                        a view */
  uint64_t bytes;    /* rounded */
} memory_life;

typedef struct memory_profile {
  memory_life *lives;   /* per tensor */
  uint64_t *step_bytes; /* per step, workspace included, in-place deducted */
  uint64_t peak_bytes;
  uint32_t peak_step; /* the first step that reaches it */
} memory_profile;

/* Simulate an order step by step. */
calm_status memory_simulate(memory_profile *out, const graph *g,
                            const memory_model *model,
                            const uint64_t *body_arena, const op_id *sequence,
                            arena *a);

/* The same where it is known what each operator needs while it runs, its bodies
   included (not rounded); NULL: as the graph says, without bodies. */
calm_status memory_simulate_workspaces(memory_profile *out, const graph *g,
                                       const memory_model *model,
                                       const uint64_t *workspace_bytes,
                                       const op_id *sequence, arena *a);

/* What a plan says of a life; UINT64_MAX: nothing. */
typedef struct memory_claim {
  uint64_t first, last;
} memory_claim;

/* A plan as the outside sees it: an order, and an offset per tensor. */
typedef struct memory_plan {
  const op_id *sequence;   /* all graph operators; NULL: the file order */
  const uint64_t *offsets; /* per tensor; UINT64_MAX: not placed */
  const uint64_t *workspace_offsets; /* per operator, or NULL: not checked */
  const uint64_t *workspace_bytes;   /* per operator, bodies included; NULL: as
                                        the graph says, without bodies */
  uint64_t arena_bytes;              /* UINT64_MAX: derive from the offsets */
  const memory_claim *claims; /* per tensor, or NULL; they follow from the order
                                 and decide nothing */
  uint64_t claimed_peak_bytes; /* likewise; UINT64_MAX: none */
  bool unplaced_allowed; /* a runtime places what has no offset: warnings */
} memory_plan;

typedef struct memory_fault {
  const char *kind; /* "order", "overlap", "misaligned", "outside", "unplaced",
                       "view", "claim", or "more": the list was cut off here */
  tensor_id a, b;   /* CALM_NONE where there is none */
  const char *text; /* one line */
} memory_fault;

typedef struct memory_verdict {
  uint64_t arena_bytes;
  VECTOR(memory_fault) faults; /* freed by memory_verdict_free */
  VECTOR(memory_fault) warnings;
} memory_verdict;

/*
 * Check a plan tensor by tensor: the order is topological and complete, tensors
 * alive at one step do not overlap (but for views and permitted in-place
 * pairs), offsets are aligned (`round`, `align` of the model: warnings; the
 * element size: faults) and inside the arena.  Every fault is one line in
 * words.  All are listed, in the order of the steps, up to a thousand.  Input
 * and output of one opaque operator that meet there are a warning: it may
 * manage its own memory.  O(n log n + faults log n) for n tensors.
 */
calm_status memory_check(memory_verdict *out, const graph *g,
                         const memory_model *model, const memory_plan *plan,
                         arena *a);
void memory_verdict_free(memory_verdict *verdict, calm_context *context);

#endif
