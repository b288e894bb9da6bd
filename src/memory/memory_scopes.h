/*
 * When TensorFlow Lite Micro holds a tensor to be in use.  It counts scopes:
 * one when a graph begins, one per operator, and those of a body in the midst
 * of the operator that runs it, one body after the other.  All graphs of a
 * model share one count, so that a tensor of a body and one of the entry can be
 * compared.  Linear in the operators that are walked, bodies as often as they
 * are run.
 */
#ifndef CALM_MEMORY_MEMORY_SCOPES_H
#define CALM_MEMORY_MEMORY_SCOPES_H

#include "graph/graph.h"

enum { SCOPE_NEVER = -1 };

/* Scopes, both inclusive.  SCOPE_NEVER in both: in no graph that is run; such
   things are all in use at one scope before the first. */
typedef struct memory_span {
  int64_t first, last;
} memory_span;

typedef struct memory_scopes {
  uint32_t *tensor_begin; /* tensor t of graph i is number tensor_begin[i] + t;
                             the last element is the number of all */
  uint32_t *op_begin;     /* the same for operators */
  memory_span *tensors;
  memory_span *ops; /* while an operator needs its scratch: its bodies, too */
} memory_scopes;

/* Two spans share a scope. */
static inline bool memory_spans_meet(memory_span a, memory_span b) {
  return a.first <= b.last && b.first <= a.last;
}

/* Which graphs are walked. */
typedef enum memory_roots {
  ROOTS_ENTRY, /* the first graph and what it runs: how the runtime counts */
  ROOTS_ALL    /* then each graph that nobody runs, at a time of its own, with
                  what is not walked yet: what really may share bytes */
} memory_roots;

/*
 * Walk the graphs of a model, sequences[i] being the order of graph i.
 * CALM_UNSUPPORTED if bodies within bodies unfold to absurdly many scopes.
 */
calm_status memory_scopes_build(memory_scopes *out, const graph *graphs,
                                uint32_t count, const op_id *const *sequences,
                                memory_roots roots, arena *a);

#endif
