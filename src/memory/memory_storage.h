/*
 * Whose bytes a tensor is made of.  A tensor that an operator computes has its
 * own; a view has its input's; an elided concat has those of all its operands;
 * an operand of a partial sum has those of the sum, made by whoever is first.
 * From this follow which tensors need a place in the arena, from when to when
 * they are pinned, and which operators do nothing at all.  Private to the
 * memory room; memory_simulate.c answers the same questions its own way.
 */
#ifndef CALM_MEMORY_MEMORY_STORAGE_H
#define CALM_MEMORY_MEMORY_STORAGE_H

#include "memory/memory.h"
#include "memory/memory_rows.h"

/* How a tensor that has its own bytes occupies the arena. */
typedef struct memory_base {
  bool placed;             /* it takes bytes at all */
  bool from_start, to_end; /* pinned */
  uint64_t bytes;          /* rounded */
} memory_base;

/* The output of an operator stands for the inputs in slots [from, to): none for
   an operator that computes, one for a view, all for an elided concat. */
typedef struct memory_sharing {
  uint32_t from, to;
} memory_sharing;

typedef struct memory_storage {
  memory_sharing *sharing; /* per operator */
  memory_rows bases;       /* tensor -> the tensors with the bytes it is made
                              of, each once */
  memory_base *base;       /* per tensor; of interest for bases only */
  bool *free_op;           /* per operator: it does nothing when it runs */
} memory_storage;

/* `workspace` per operator: one that needs some is never free.  The arrays
   are taken from the arena, the rows are freed by memory_storage_free (also
   after a failure). */
calm_status memory_storage_resolve(memory_storage *out, const graph *g,
                                   const memory_model *model,
                                   const uint64_t *workspace, arena *a);
void memory_storage_free(memory_storage *storage);

#endif
