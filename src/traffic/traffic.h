/*
 * The traffic room.  On a machine with a small fast memory, which bytes does a
 * schedule have to move between on-chip and off-chip memory, if what stays is
 * chosen with the future known (Belady 1966)?  And which order moves least?
 * This room knows no graphs: it solves the arrays of the order room.
 *
 * A buffer is touched by several operators.  Between two of them in a row lies
 * a gap, and all that is ever decided is how many of its bytes stay on chip
 * over each gap.  What does not stay is read again at the gap's end, and was
 * written before if off-chip memory has no copy of it yet.  While an operator
 * runs, its buffers are on chip, beside what stays over it.  One that is larger
 * than the memory by itself streams: its buffers pass by, and whatever stays
 * before it and whatever stays after it has to fit, each by itself.
 *
 * Compulsory traffic is told apart from spills: the first read of an input, the
 * one write of the last state of an output, weights once per operator.  Spills
 * are all else, and none are needed where all that is live fits.
 */
#ifndef CALM_TRAFFIC_TRAFFIC_H
#define CALM_TRAFFIC_TRAFFIC_H

#include "order/order.h"

typedef struct traffic_problem {
  const order_problem *order; /* who touches what, workspaces, reuses.  A buffer
                                 that is pinned at its start is an input, one
                                 pinned at its end an output; neither has to be
                                 on chip at those ends */
  bool *writes; /* per entry of order->touch: that operator writes into it; the
                   first touch of what is no input always does */
  uint64_t *weight_bytes; /* per operator */
} traffic_problem;

typedef struct traffic_memory {
  uint64_t bytes;      /* on chip */
  uint64_t page_bytes; /* 0: whole buffers; else buffers are pages of so many
                          bytes, the last one padded, and each page stays or
                          goes by itself */
} traffic_memory;

/* Bytes that cross the border, by their reason. */
typedef struct traffic_amount {
  uint64_t input_bytes, weight_bytes; /* read, compulsory */
  uint64_t output_bytes;              /* written, compulsory */
  uint64_t spill_read_bytes, spill_write_bytes;
} traffic_amount;

/* A sequence, what stays, and what that costs. */
typedef struct traffic_result {
  uint64_t *kept_bytes; /* per entry of order->touch: over the gap from this
                           operator to the next one of the buffer; 0 after the
                           last one */
  traffic_amount total;
  traffic_amount *steps;   /* per step of the sequence */
  traffic_amount *buffers; /* per buffer; weights are of none */
  bool *streams;           /* per step */
  uint64_t used_bytes; /* the most that lies on chip while an operator runs that
                          does not stream */
} traffic_result;

static inline uint64_t traffic_spills(const traffic_amount *a) {
  return a->spill_read_bytes + a->spill_write_bytes;
}

/*
 * What stays by Belady's rule: whenever there is no room, the buffer (page)
 * goes that is needed again last; of those needed at the same step one that
 * costs no write, then the larger one.  How buffers are numbered changes no
 * sum. For pages no choice reads less; for whole buffers, and for writes, it is
 * a heuristic (docs/traffic.md), and more memory may cost more.  So it may in
 * any case where an operator no longer streams and takes room from what stays.
 * `sequence` is a topological order of all operators.  O(touches x log touches)
 * and the evictions.  Everything is taken from the arena.
 */
calm_status traffic_belady(traffic_result *out, const traffic_problem *p,
                           const uint32_t *sequence,
                           const traffic_memory *memory, arena *a);

/*
 * What given decisions cost: out->kept_bytes is read, all else is filled in.  A
 * read counts at the step that needs it, a write at the step behind the touch
 * after which it has to leave; the last state of an output is written at the
 * step that makes it.  CALM_MISUSE if the decisions do not fit, CALM_BAD_INPUT
 * if more than NUMBER_MAX_BYTES move.
 */
calm_status traffic_account(traffic_result *out, const traffic_problem *p,
                            const uint32_t *sequence,
                            const traffic_memory *memory, arena *a);

/*
 * Does the result hold?  Recomputed from the problem, step by step, by code
 * that shares nothing with the solvers: *out_fault is NULL, or says in the
 * arena what is wrong.
 */
calm_status traffic_check(const char **out_fault, const traffic_problem *p,
                          const uint32_t *sequence,
                          const traffic_memory *memory, const traffic_result *r,
                          arena *a);

/* An order with few spills, and how sure that is. */
typedef struct traffic_order {
  calm_outcome outcome;
  uint32_t *sequence;
  traffic_result result; /* what stays is chosen with the order; never more
                            spills than by Belady's rule */
  uint64_t bound_bytes;  /* no order and no choice has fewer bytes of spills */
  uint64_t states, ticks;
  limits_reason stopped;
} traffic_order;

/* Each rule that prunes may be left out. */
typedef struct traffic_options {
  uint64_t seed;
  bool bound;     /* prune by what is still to be moved at least */
  bool outlook;   /* and by what it costs if bytes were all alike */
  bool dominance; /* drop states that a cheaper one can become */
  bool commit;    /* take a step alone that only helps */
  bool exchange;  /* of two alike, the one needed again sooner stays */
} traffic_options;

/* Every rule. */
traffic_options traffic_options_default(void);

/*
 * Orders and what stays, searched together, whole buffers only (CALM_MISUSE if
 * there are pages): exact on small problems (traffic_exact.h), better than
 * `start` under Belady's rule or equal to it on large ones (traffic_improve.h).
 * `start` is a valid sequence, such as the one of least peak.  Sequence and
 * result are taken from `a`; scratch is freed before return.  Always yields a
 * valid sequence, also when a limit stops it at once.  Without any limit it
 * ends with a proof, or without memory.
 */
calm_status traffic_minimize(traffic_order *out, const traffic_problem *p,
                             const traffic_memory *memory,
                             const uint32_t *start,
                             const traffic_options *options, arena *a,
                             limits *l);

/* The same for one order: what stays, chosen best, and how sure that is. */
calm_status traffic_choose(traffic_order *out, const traffic_problem *p,
                           const traffic_memory *memory,
                           const uint32_t *sequence,
                           const traffic_options *options, arena *a, limits *l);

#endif
