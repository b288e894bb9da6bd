/*
 * What an evaluator knows before it sees a nest: each tensor as a shape, each
 * level as the numbers that its counts are multiplied with.  Everything that is
 * counted is a double: counts are exact in it up to ACCEL_MAX_COUNT, and a
 * problem or a nest that exceeds that is refused.
 */
#ifndef CALM_COST_COST_TABLES_H
#define CALM_COST_COST_TABLES_H

#include "base/bits.h"
#include "cost/cost.h"

/* Between counts and doubles: both are far below 2^63, where the signed
   conversions are the quick ones. */
static inline double cost_real(uint64_t count) {
  return (double)(int64_t)count;
}
static inline uint64_t cost_whole(double count) {
  return (uint64_t)(int64_t)count;
}

/* Two dimensions that move one rank make it a window, as P and R do:
   extent = 1 + sum of coefficient * (dimension's extent - 1)
          = base + sum of coefficient * dimension's extent. */
typedef struct cost_sum {
  double base;
  uint32_t dimensions; /* bit d: dimension d has a term */
  uint32_t term_count;
  const uint32_t *term_dimensions;
  const double *coefficients;
} cost_sum;

/*
 * A tensor.  Dimensions of bound 1 move nothing.  A rank that is one dimension
 * with coefficient 1, and the first such rank of the dimension, is a factor;
 * any other rank is a sum.
 */
typedef struct cost_shape {
  uint32_t moving; /* bit d: d moves the tile */
  uint32_t alone;  /* bit d: d is the only term of some rank, so that tiles that
                      differ in d never overlap */
  uint32_t factors; /* bit d: d is a factor */
  uint32_t summed;  /* bit d: d is in a sum */
  uint32_t sum_count;
  const cost_sum *sums;
  const double *address; /* per dimension: how far a step of it leads, in a
                            space in which no two differences of offsets in the
                            sums coincide unless all sums agree */
  double reach;          /* how large that space is */
  const uint64_t *move;  /* per dimension: the same for all ranks, modulo 2^64;
                            two offsets coincide only by an improbable chance */
  double words;          /* of the whole tensor */
  bool read_write;
} cost_shape;

/* A level.  Words are of one instance. */
typedef struct cost_store {
  double capacity, least;           /* words that must fit, and must be used */
  bool limited;                     /* has it a capacity at all? */
  bool no_memory;                   /* a virtual level */
  double instances, mesh_x, mesh_y; /* as built */
  double fanout_x, fanout_y;        /* as built, below one instance */
  double clusters;                  /* of instances that share accesses */
  uint64_t block;                   /* words in a vector */
  uint32_t block_shift; /* block == 1 << block_shift, or CALM_NONE */
  double read_pj, write_pj, update_pj;    /* per vector */
  double address_pj;                      /* per access of a cluster */
  double leak_pj;                         /* per instance and cycle */
  bool throttles;                         /* has it any bandwidth? */
  double read_bandwidth, write_bandwidth; /* words a cycle; 0: no limit */
  double shared_bandwidth;                /* of reads and writes together */
  const double *scales; /* per tensor: bandwidth a word takes */
  bool reduces;         /* can it add what comes up to what it has? */
  double hop_pj, router_pj, ingress_pj; /* per word, in the network below */
  bool needs_hops;                      /* they cost, or are asked for */
} cost_store;

/* So many distinct offsets that `multicast` elements share each. */
typedef struct cost_bin {
  double multicast, scatter, hops; /* hops: summed over the offsets */
} cost_bin;

typedef struct cost_tables {
  uint32_t level_count, tensor_count, dimension_count;
  uint32_t row_size;        /* a number for each dimension and tensor */
  uint32_t summed;          /* dimensions in sums of any tensor */
  uint32_t windowed;        /* tensors that have sums */
  const uint32_t *factored; /* per dimension: tensors that it is a factor of */
  uint32_t all_tensors;     /* a bit for each */
  const cost_shape *shapes;
  const cost_store *stores;
  const double *bounds; /* per dimension */
  double macs;
  double multipliers, mesh_x, mesh_y, mac_pj;
  double network_cycles;  /* filling and draining all networks */
  uint32_t large_tensor;  /* one that has too many words, or CALM_NONE */
  uint32_t most_bins;     /* patterns of delivery that a fan-out can have */
  uint32_t most_elements; /* of a fan-out that is enumerated */
} cost_tables;

static inline double cost_extent(const cost_sum *sum, const double *extents) {
  double extent = sum->base;
  for (uint32_t i = 0; i < sum->term_count; i++)
    extent += sum->coefficients[i] * extents[sum->term_dimensions[i]];
  return extent;
}

/* Words of the box a tile spans while dimension d has extents[d] steps: those
   of its sums, and all. */
static inline double cost_window(const cost_shape *s, const double *extents) {
  double words = 1;
  for (uint32_t i = 0; i < s->sum_count; i++)
    words *= cost_extent(&s->sums[i], extents);
  return words;
}
static inline double cost_words(const cost_shape *s, const double *extents) {
  double words = cost_window(s, extents);
  for (uint32_t left = s->factors; left; left &= left - 1)
    words *= extents[bits_lowest(left)];
  return words;
}

#endif
