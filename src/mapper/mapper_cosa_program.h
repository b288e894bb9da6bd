/*
 * What CoSA's program is made of, before it is one: which dimension counts for
 * which tensor, how much room a tensor has in a buffer, and what it is worth to
 * have a factor of a loop somewhere.  Everything is in bits (logarithms to base
 * 2), and linear in the factors, but for two things: which loops at the
 * permutation level a tensor is reused in (mapper_cosa_orders.h), and the halo
 * of windows.  The model, the measure of a nest and its repair all ask here.
 */
#ifndef CALM_MAPPER_MAPPER_COSA_PROGRAM_H
#define CALM_MAPPER_MAPPER_COSA_PROGRAM_H

#include <math.h>

#include "mapper/mapper_cosa.h"

/* Bounds make up 2^53 at most, so they have no more prime factors. */
enum { MAPPER_COSA_MOST_FACTORS = 53, MAPPER_COSA_MOST_WINDOWS = 16 };

/* What logarithms may be off, and still fit. */
#define MAPPER_COSA_SLACK 1e-7

/* Equal prime factors of a dimension; one by one in the literal model. */
typedef struct mapper_cosa_factor {
  uint32_t dimension, count;
  uint64_t prime;
  double bits; /* of the prime */
} mapper_cosa_factor;

/* Part of a loop somewhere: so many prime factors, whose product has so many
   bits. */
typedef struct mapper_cosa_use {
  uint32_t dimension, level;
  accel_loop_kind kind;
  double bits, primes;
} mapper_cosa_use;

/* Released form: a rank of a tensor that is read, in which `steps` move the
   window (P) and `taps` move within it (R).  Sets of dimensions. */
typedef struct mapper_cosa_window {
  uint32_t tensor, steps, taps;
} mapper_cosa_window;

typedef struct mapper_cosa_program {
  const mapper_problem *problem;
  const mapper_cosa_options *options;
  const accel_arch *arch;
  const accel_layer *layer; /* padded, if it had to be */
  uint32_t level_count, tensor_count, dimension_count;
  uint32_t global; /* the permutation level */
  uint32_t *kept;  /* per level */

  mapper_cosa_factor factors[MAPPER_COSA_MOST_FACTORS];
  uint32_t factor_count;
  uint32_t looped; /* dimensions of more than one iteration */

  uint32_t *moved; /* per dimension: tensors that it is related to (A) */
  /* Per tensor and dimension: ranks in which it counts, and (released) bits
     that each prime factor brings with it for the stride. */
  double *ranks, *stride_bits;

  /* Per level and tensor: room in bits, infinite without a limit; bits that are
     taken in any case (paper: strides); dimensions that must not be inside;
     weight of a bit in the utilization. */
  double *room, *taken, *weights;
  uint32_t *barred;

  mapper_cosa_window windows[MAPPER_COSA_MOST_WINDOWS];
  uint32_t window_count;
} mapper_cosa_program;

/* CALM_UNSUPPORTED for machines and layers that have no such program. */
calm_status mapper_cosa_program_init(mapper_cosa_program *out,
                                     const mapper_problem *p,
                                     const mapper_cosa_options *o,
                                     const accel_layer *layer, arena *a);

/* The layer with each bound raised to a number without prime factors beyond
   `pad`; `layer` itself if that changes nothing. */
calm_status mapper_cosa_pad(const accel_layer **out, const accel_layer *layer,
                            uint64_t pad, arena *a);

/* The smallest prime factor; n > 1. */
uint64_t mapper_cosa_prime(uint64_t n);

/* May a factor stand there?  Constraints on what it is are rows. */
bool mapper_cosa_allows(const mapper_cosa_program *p, uint32_t dimension,
                        uint32_t level, accel_loop_kind kind);

/* Bits that it adds to a tile of the tensor, halos aside. */
double mapper_cosa_inside(const mapper_cosa_program *p, uint32_t tensor,
                          const mapper_cosa_use *u);

/* What it adds to utilization, halos aside. */
double mapper_cosa_utility(const mapper_cosa_program *p,
                           const mapper_cosa_use *u);

/* What it adds to traffic wherever it stands in the order of its level.  A
   temporal factor at the permutation level adds its bits once more for each
   tensor that it is not related to and that is not reused in it. */
double mapper_cosa_traffic(const mapper_cosa_program *p,
                           const mapper_cosa_use *u);

/* Where a dimension stands in the order that is used where none is chosen. */
uint32_t mapper_cosa_place(const mapper_cosa_program *p, uint32_t dimension);

static inline bool mapper_cosa_is_ranked(const mapper_cosa_program *p,
                                         uint32_t level, accel_loop_kind kind) {
  return level == p->global && kind == ACCEL_TEMPORAL;
}

/* Released form: has a tensor at a level a halo that is counted? */
static inline bool mapper_cosa_has_halo(const mapper_cosa_program *p,
                                        uint32_t level, uint32_t tensor) {
  return level < p->global && p->kept[level] >> tensor & 1;
}

static inline uint32_t mapper_cosa_at(const mapper_cosa_program *p,
                                      uint32_t level, uint32_t tensor) {
  return level * p->tensor_count + tensor;
}

#endif
