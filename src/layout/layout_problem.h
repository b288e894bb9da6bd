/*
 * A problem made ready for the solvers: pieces without bytes or steps dropped,
 * overlapping pieces of one body cut into disjoint ones, every number checked,
 * so that sums of bytes in use are plain sums and nothing wraps.  Reliefs,
 * which name pieces, do not survive that.
 */
#ifndef CALM_LAYOUT_LAYOUT_PROBLEM_H
#define CALM_LAYOUT_LAYOUT_PROBLEM_H

#include "layout/layout.h"

/*
 * out = p with tidy pieces, in `a`; bodies are shared with p.  CALM_BAD_INPUT
 * if a size, offset or alignment is beyond NUMBER_MAX_BYTES, a fixed offset is
 * misaligned, or fixed bodies collide.
 */
calm_status layout_problem_tidy(layout_problem *out, const layout_problem *p,
                                arena *a);

/* The checks alone, of a problem that may have reliefs; `a` is scratch. */
calm_status layout_problem_check(const layout_problem *p, arena *a);

/* Bytes from the offset of a body to its last one; 0 if it has no piece. */
uint64_t layout_body_span(const layout_problem *p, uint32_t body);

/* Does the body need a place at all? */
static inline bool layout_body_counts(const layout_problem *p, uint32_t body) {
  return p->piece_begin[body] < p->piece_begin[body + 1];
}

/* Where the highest piece of a placement ends. */
uint64_t layout_arena_bytes(const layout_problem *p, const uint64_t *offsets);

/*
 * The best bound that needs no search: bytes in use at one step, with the
 * padding that common alignment forces between pieces, and what fixed offsets
 * imply.  `p` is tidy.
 */
calm_status layout_bound_aligned(uint64_t *out, const layout_problem *p,
                                 calm_context *context);

/* The largest number that divides every offset that can occur: of alignments,
   of lows, and of fixed offsets.  0 if there is nothing to place. */
uint64_t layout_offset_unit(const layout_problem *p);

#endif
