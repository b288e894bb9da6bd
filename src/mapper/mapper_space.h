/*
 * The search space of one problem as tables: tiles as nodes of a lattice (one
 * divisor of its bound per dimension), the ways to spread over each fan-out,
 * the chains (a tensor on its way from one level that keeps it to the next
 * inner one), and the accounts that add up what chains cost.
 */
#ifndef CALM_MAPPER_MAPPER_SPACE_H
#define CALM_MAPPER_MAPPER_SPACE_H

#include "cost/cost_tables.h"
#include "mapper/mapper.h"

enum { MAPPER_MOST_AXES = 16, MAPPER_MOST_LINKS = 64 };

/* A dimension whose bound is not 1; digit i of a node is its i-th divisor. */
typedef struct mapper_axis {
  uint32_t dimension, count, stride;
  const double *divisors; /* ascending */
  const uint32_t *times;  /* [i * count + j]: digit of the product, or NONE */
  const uint32_t *primes; /* digits of the prime factors, without repeats */
  uint32_t prime_count;
} mapper_axis;

/* A tensor, seen by a search.  Sets are bits of dimensions.  `windows` slide:
   they share a rank with another dimension. */
typedef struct mapper_tensor {
  const cost_shape *shape;
  uint32_t moving, windows;
  double least; /* words that are used at all */
  bool written;
  uint32_t outermost; /* level that keeps it */
} mapper_tensor;

/* A tensor between a level that keeps it, or the multipliers (child CALM_NONE),
   and the next outer level that does. */
typedef struct mapper_link {
  uint32_t tensor, child, parent;
  bool passing; /* the child does not keep it, nor count it: here is how far
                   words travel below the parent, if routes cost anything */
  bool priced;  /* does any account charge for it? */
  bool rounded; /* are its counts ever rounded, or cycles that follow? */
  double fill_block, send_block; /* words in a block that is read or written as
                                    a whole at the one instance of a level; 0:
                                    this is not counted (mapper_blocks.h) */
  double fill_pj, send_pj;       /* ... and what such a block costs */
} mapper_link;

/*
 * A sum of counts, each times a price: picojoules, or words that a bandwidth
 * has to bear.  Counts are those of all instances together.  In the end it is
 * multiplied by a share that depends on the instances in use of its level.
 */
typedef struct mapper_account {
  bool energy;
  uint32_t level;      /* CALM_NONE: several; nothing depends on them */
  double clusters;     /* energy */
  double bandwidth;    /* otherwise */
  const double *fill;  /* per link: price of a word that arrives */
  const double *send;  /* of one that leaves, once or, if written, twice */
  const double *fetch; /* the part of `send` that first touches save */
  const double *saved; /* per level: what first touches save, once */
  const double
      *slack; /* per level: how far rounding may take two sums from what
                 is counted, by links begun inside of that level */
} mapper_account;

/* How far the words of a tensor travel over a fan-out.  Both are per word that
   arrives; routers are those beyond the first, if all words go `[i] + 1` times.
 */
typedef struct mapper_route {
  double hops, routers[2];
  double groups; /* patterns of delivery */
  double print;  /* differs if the hops of any pattern do */
} mapper_route;

/* An order of the spatial loops of a fan-out, innermost first; so many of them
   stand on columns. */
typedef struct mapper_arrangement {
  uint8_t axes[MAPPER_MOST_AXES];
  uint32_t count, columns;
  const mapper_route *routes; /* [pattern * tensor_count + t] */
  const struct mapper_routes *of;
} mapper_arrangement;

/* The account that bears what networks take. */
static inline bool mapper_account_travels(const mapper_account *a) {
  return a->energy && a->level == CALM_NONE;
}

/* One way to spread over a fan-out. */
typedef struct mapper_spread {
  double product;
  uint32_t axes; /* bit a: axis a is spread */
  const uint32_t *digits;
  const double *apart; /* per tensor: product of the factors that move it */
  const mapper_arrangement *arranged; /* NULL: any, and routes cost nothing */
} mapper_spread;

/* To how many elements of a fan-out a word of a tensor goes. */
typedef struct mapper_cast {
  double cast; /* at most */
  double used; /* by factors that do not move the tensor */
  bool uneven; /* several windows are spread */
} mapper_cast;

/* Spreads that use as many elements and cast all tensors alike. */
typedef struct mapper_kind {
  double product;
  uint32_t first, count; /* of the fan's spreads */
  uint16_t casts[ACCEL_MAX_TENSORS];
} mapper_kind;

typedef struct mapper_fan {
  double x, y, size;
  bool routed;                  /* do routes cost anything? */
  const mapper_spread *spreads; /* if it may, the first spreads
                                   nothing */
  uint32_t spread_count;
  const mapper_kind *kinds; /* of spreads */
  uint32_t kind_count;
  const mapper_cast *casts[ACCEL_MAX_TENSORS];
  uint32_t cast_counts[ACCEL_MAX_TENSORS];
  struct mapper_routes **routes; /* per spread: found when first asked for */
} mapper_fan;

typedef struct mapper_space {
  const mapper_problem *problem;
  limits *limits; /* once they are hit, nothing here means anything */
  cost_problem cost;
  const cost_tables *tables;
  uint32_t level_count, tensor_count, link_count, account_count, axis_count;
  const uint32_t *kept; /* per level */
  const mapper_axis *axes;
  const mapper_tensor *tensors;
  const mapper_link *links;
  const mapper_account *accounts;
  const mapper_fan *fans; /* per level: below it */
  const double *beyond;   /* per level: sizes of the fans of outer levels */
  const struct mapper_demands *demands; /* of the user's constraints; NULL:
                                           there are none (mapper_rules.h) */
  const struct mapper_mirror *mirror;   /* NULL: dimensions differ
                                           (mapper_mirror.h) */
  uint32_t node_count;
  const double *extents; /* [node * dimension_count + d] */
  const uint8_t *digits; /* [node * axis_count + a] */
  const double *words;   /* [node * tensor_count + t] */
  const double *visits;  /* [node]: iterations outside of the tile */
  const double *unmoved; /* [node * tensor_count + t]: of these, by dimensions
                            that do not move the tensor */
  const double *sliding; /* likewise: by its windows */
  const double *halo;    /* likewise: how often spreading windows may need the
                            same word at most */
  const double *outlook; /* [(level * account_count + j) * node_count + node]:
                            of account j, links whose child is that level or
                            further out, while the tile is this node */
  const cost_tensor *least_counts; /* [level * tensor_count + t]: words that any
                                      nest asks of it, if it has one instance */
  const double *spread_cycles; /* by multipliers in use so far: the least cycles
                                  of any nest; NULL: too many multipliers */
  const double
      *end_cycles;       /* likewise, if no more come into use; 0: cannot be */
  double most_spread;    /* of these tables */
  const double *leaking; /* per level: pJ a cycle of an instance of each level
                            further out */
  const double *lost;    /* per level: pJ that rounding may take from routers
                            further out (mapper_travel.c) */
  double most_leaking;   /* pJ a cycle of all instances there are */
  bool networks;         /* do words that cross a fan-out cost energy? */
  bool leaks;            /* does energy depend on cycles? */
  bool bears;            /* has any account a bandwidth? */
  struct mapper_router *router; /* scratch of mapper_routes_hops.c */
  bool blocks;                  /* the outlook counts whole blocks */
  arena *arena;                 /* where it keeps what it finds */
  bool falling;                 /* more multipliers never mean more cycles */
  double least_cycles;          /* of any nest, networks not counted */
  uint32_t often_free;    /* dimensions that do not move several tensors */
  uint32_t first_rounded; /* fan-outs beyond this level change what is */
  bool written;           /* is there a tensor that is? */
  uint32_t written_tensor;
} mapper_space;

/* CALM_UNSUPPORTED names what the search cannot do.  *out of accounts those
   that the objective needs.  Check `l` afterwards. */
calm_status mapper_space_init(mapper_space *out, const mapper_problem *p,
                              bool energy, bool delay, limits *l, arena *a);

static inline const double *mapper_extents(const mapper_space *s,
                                           uint32_t node) {
  return s->extents + (size_t)node * s->tables->dimension_count;
}

/* Offsets that differ among the elements of a spread above a tile. */
double mapper_space_apart(const mapper_space *s, uint32_t tensor, uint32_t node,
                          const mapper_spread *spread);

/* The node of a tile spread, CALM_NONE if the bounds do not allow it. */
uint32_t mapper_space_spread(const mapper_space *s, uint32_t node,
                             const mapper_spread *spread);

/* May `a` multipliers in use so far stand for `b`?  Whatever more come into
   use, cycles are no more, as far as these tables tell. */
bool mapper_cycles_no_more(const mapper_space *s, double a, double b);

/* The next smaller number of compute cycles that does not rule out `most`
   cycles in all; 0: none. */
double mapper_cycles_next(const mapper_space *s, double compute, double most);

#endif
