/*
 * The networks that SERENITY is evaluated on, as models: nine cells, whose
 * memory the paper compares, and four whole networks, whose operations and
 * weights its Table 1 lists.  SwiftNet is read from a case that the library
 * carries, its cells are cut out of it; DARTS is built from its genotype;
 * RandWire is drawn from a seed, since the paper's own graphs are not public.
 * All are deterministic, typed and have their filters and biases as constants.
 */
#ifndef CALM_BENCH_BENCH_NETWORK_H
#define CALM_BENCH_BENCH_NETWORK_H

#include "base/text.h"
#include "model/model.h"

/* In the order of the paper's figures. */
typedef enum bench_network_id {
  BENCH_DARTS_NORMAL,
  BENCH_SWIFTNET_A,
  BENCH_SWIFTNET_B,
  BENCH_SWIFTNET_C,
  BENCH_CIFAR10_A,
  BENCH_CIFAR10_B,
  BENCH_CIFAR100_A,
  BENCH_CIFAR100_B,
  BENCH_CIFAR100_C,
  BENCH_CELL_COUNT,
  /* whole networks */
  BENCH_DARTS = BENCH_CELL_COUNT,
  BENCH_SWIFTNET,
  BENCH_CIFAR10,
  BENCH_CIFAR100,
  BENCH_NETWORK_COUNT
} bench_network_id;

typedef struct bench_network {
  const char *name;    /* swiftnet-a, randwire-cifar10-b, darts */
  const char *network; /* as the paper calls it: SwiftNet */
  const char *data;    /* ImageNet, Visual Wake Words, CIFAR-10, CIFAR-100 */
  const char *cell;    /* Normal, A, B, C; NULL: the whole network */
  bool seeded;         /* what it is depends on a seed */
} bench_network;

extern const bench_network bench_networks[BENCH_NETWORK_COUNT];

/* Seeds are any numbers; statistics are over so many. */
enum { BENCH_SEED_COUNT = 20 };

/* How a node of RandWire is written down; other networks do not care. */
typedef enum bench_grain {
  BENCH_NODES,    /* one operator, as the paper counts memory: its output */
  BENCH_OPERATORS /* sum, depthwise and pointwise convolution */
} bench_grain;

/* Append the text form.  Linear in its size. */
calm_status bench_network_write(text *out, bench_network_id id, uint64_t seed,
                                bench_grain grain);

/* The same as a model, to be freed with calm_model_free. */
calm_status bench_network_open(calm_model **out, calm_context *context,
                               bench_network_id id, uint64_t seed,
                               bench_grain grain);

/* What a network computes and stores, counted from the shapes of its graph. */
typedef struct bench_network_size {
  uint32_t op_count;
  uint64_t macs;    /* of convolutions and fully connected layers */
  uint64_t weights; /* elements of filters */
  uint64_t biases;  /* elements of other constants; batch norm is folded */
} bench_network_size;

/* CALM_UNSUPPORTED if an operator has MACs that cannot be counted: those of
   BENCH_NODES. */
calm_status bench_network_measure(bench_network_size *out,
                                  const calm_model *model);

#endif
