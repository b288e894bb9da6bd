/*
 * The layout room.  Given bodies that occupy bytes over time, where in one
 * arena does each lie so that the arena is least and nothing overlaps?  This
 * room knows no graphs.
 *
 * A body is a rigid group of pieces: over steps [lower, upper) it occupies the
 * bytes [low, high) counted from its offset.  A plain buffer is a body with one
 * piece and low 0; an in-place pair, or buffers that must share an offset, are
 * one body with several.  Pieces of one body may overlap each other.  A body
 * without a piece of positive size and duration lies at its fixed offset or 0.
 */
#ifndef CALM_LAYOUT_LAYOUT_H
#define CALM_LAYOUT_LAYOUT_H

#include "base/arena.h"
#include "base/limits.h"

typedef struct layout_piece {
  uint32_t body;
  int64_t lower, upper; /* steps, upper exclusive */
  uint64_t low, high;   /* bytes from the body's offset, high exclusive */
} layout_piece;

typedef struct layout_body {
  uint64_t align; /* offset is a multiple of this; at least 1 */
  bool fixed;     /* offset is given */
  uint64_t offset;
} layout_body;

/*
 * A kernel reads one piece while it writes the other: the two may share bytes
 * after all, if `output` begins at least `distance` bytes below where `input`
 * begins; or above, by at most as much, where the distance is negative.  It is
 * never more than `output` is long, which would say nothing.  Such a pair meets
 * at one step only, and its bodies differ.
 */
typedef struct layout_relief {
  uint32_t input, output; /* pieces */
  int64_t distance;
} layout_relief;

typedef struct layout_problem {
  layout_body *bodies;
  layout_piece *pieces; /* ascending by body */
  uint32_t
      *piece_begin; /* body b: pieces[piece_begin[b] .. piece_begin[b+1]] */
  uint32_t body_count, piece_count;
  const char **names; /* of bodies, for messages; NULL: they have none */
  const layout_relief *reliefs; /* each pair once; with any, and only then, the
                                   problem is solved by layout_differences.h */
  uint32_t relief_count;
} layout_problem;

typedef enum layout_method {
  LAYOUT_SIZE,   /* greedy by size as TensorFlow Lite Micro does it */
  LAYOUT_GREEDY, /* the best of several greedy orders */
  LAYOUT_EXACT   /* skyline search with proof */
} layout_method;

typedef struct layout_options {
  layout_method method;
  uint64_t seed;
  uint32_t threads; /* for the greedy orders; 1: none but this one */
  uint64_t
      target_bytes; /* an arena this small is enough: stop there; 0: none */
  /* exact: each rule may be switched off */
  bool all_valleys; /* branch in any valley of the skyline, not just the lowest
                     */
  bool memory;      /* remember failed states */
  bool decompose;   /* solve independent parts of the time line separately */
  bool windows;     /* prove bounds on short time windows */
} layout_options;

typedef struct layout_result {
  calm_outcome outcome;
  uint64_t *offsets; /* per body, in the caller's arena */
  uint64_t arena_bytes, bound_bytes;
  uint64_t nodes, ticks;
  limits_reason stopped;
} layout_result;

/* The defaults: exact, every rule on. */
layout_options layout_options_default(void);

/* Fill piece_begin; check the fields (assert). */
calm_status layout_problem_finish(layout_problem *p, arena *a);

/* Solve.  Offsets are taken from `a`; scratch is freed before return.  Always
   yields a valid placement unless the fixed bodies collide (CALM_BAD_INPUT). */
calm_status layout_solve(layout_result *out, const layout_problem *p,
                         const layout_options *options, arena *a, limits *l);

/* What layout_check finds: one collision or misplacement, if any. */
typedef enum layout_fault_kind {
  LAYOUT_SOUND,      /* no fault */
  LAYOUT_OVERLAP,    /* a and b share bytes at a step */
  LAYOUT_MISALIGNED, /* a's offset is not a multiple of its alignment */
  LAYOUT_MOVED,      /* a is not at its fixed offset */
  LAYOUT_OUTSIDE     /* a ends beyond the arena */
} layout_fault_kind;

typedef struct layout_fault {
  layout_fault_kind kind;
  uint32_t a, b; /* bodies; b CALM_NONE where there is only one */
  int64_t step;  /* of an overlap */
} layout_fault;

/*
 * From first principles: the first fault of a placement in an arena of
 * `arena_bytes`, of overlaps the first in time.  O(n log n) in the pieces; with
 * reliefs, in the pairs of pieces that share a step.
 */
calm_status layout_check(layout_fault *out, const layout_problem *p,
                         const uint64_t *offsets, uint64_t arena_bytes,
                         calm_context *context);

#endif
