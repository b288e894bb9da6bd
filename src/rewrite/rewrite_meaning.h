/*
 * What the tensors of a rewritten graph stand for, in terms of the original:
 * runs of channels of original tensors, or a sum that is still being built.
 * Meanings are canonical: two tensors that a rule may exchange have equal ones,
 * since a concat means the channels of its operands and a no-op its operand.
 * In abstract graphs every byte is a channel.  All of it lives in an arena.
 */
#ifndef CALM_REWRITE_REWRITE_MEANING_H
#define CALM_REWRITE_REWRITE_MEANING_H

#include "graph/graph_edit.h"

/* Channels [begin, end) of a tensor that means itself. */
typedef struct channel_run {
  tensor_id of;
  int64_t begin, end;
} channel_run;

/* How an operator treats channels. */
typedef enum channel_habit {
  HABIT_MIXING,    /* no channel by itself, or nobody knows */
  HABIT_ELEMENT,   /* all elements alike */
  HABIT_PICTURE,   /* all channels alike */
  HABIT_REDUCTION, /* along some axes: all channels alike if not along them */
  HABIT_BROADCAST, /* elements, with those of operands that are repeated */
  HABIT_VECTORS,   /* elements, with vectors that have one per channel */
  HABIT_DEPTHWISE  /* a kernel per channel of the result */
} channel_habit;

channel_habit meaning_habit(op_kind kind);

typedef enum sum_leaf {
  LEAF_NONE, /* two sums */
  LEAF_CONV, /* convolution of some input channels, without bias */
  LEAF_BIAS, /* of an operator */
  LEAF_TERM  /* a tensor as a whole */
} sum_leaf;

typedef struct meaning {
  const channel_run *runs;
  uint32_t run_count; /* 0: not channels */
  const struct sum_node *sum;
  const struct affine_map *map;
  tensor_id like; /* of a sum or map: an original tensor of its shape */
} meaning;

typedef struct sum_node {
  sum_leaf leaf;
  const struct sum_node *left, *right;
  op_id op;           /* of CONV and BIAS */
  int64_t begin, end; /* of CONV, where weights say which channels */
  meaning channels;   /* of a CONV that has none; of a TERM */
} sum_node;

typedef struct meanings {
  const graph *g;    /* the original */
  const bool *kept;  /* its tensors that the rewritten graph has too, */
  const bool *whole; /* and those of them that nobody reads in parts */
  arena *a;
  meaning *of;    /* of each of its tensors, to those who read it, */
  meaning *made;  /* and as it is made: of a whole one more than itself */
  uint32_t *seen; /* per operator: when it was last looked into */
  uint32_t now;
  uint64_t runs_left; /* to be spent on concats */
} meanings;

/* Fill in the rest of what is given: `g`, `kept`, `whole` and `a`.  Linear in
   the channel runs. */
calm_status meanings_build(meanings *m);

/* Along which axis the channels lie; CALM_NONE: it has none.  How many they
   are. */
uint32_t meaning_axis(const graph *g, uint32_t rank);
int64_t meaning_channels(const graph *g, tensor_id t);

/* The number that an attribute says, as an axis of `rank` dimensions. */
bool meaning_read_axis(uint32_t *out, const graph_op *op, uint32_t rank);

/* at * made / read; false if that is no whole number. */
bool meaning_scale(int64_t *out, int64_t at, int64_t made, int64_t read);

bool meaning_equal(const meaning *x, const meaning *y);

/* The channels of all tensors of a list, one after the other. */
calm_status meaning_join(meaning *out, const meaning *of, const tensor_id *list,
                         uint32_t count, arena *a);

/* Channels [begin, end) of `whole`, which has them. */
calm_status meaning_cut(meaning *out, const meaning *whole, int64_t begin,
                        int64_t end, arena *a);

int64_t meaning_width(const meaning *x);

/* Where `part` begins in `whole`, the first place from channel `from` on; -1 if
   nowhere. */
calm_status meaning_find(int64_t *out, const meaning *whole,
                         const meaning *part, int64_t from, arena *a);

/* The operand that is worked on: the first that is no constant. */
tensor_id meaning_operand(const graph *g, const graph_op *op);

/* Does the operator hand that on as it is?  And is it the same at all times:
   what?  CALM_NONE: no. */
bool meaning_is_noop(const graph *g, const graph_op *op);
tensor_id meaning_handed_on(const graph *g, const graph_op *op);

/* Does it, if it reduces, not do so along the channels? */
bool meaning_leaves_channels(const graph *g, const graph_op *op);

/* Does it do the same to every channel, whatever it is, and to nothing else? */
bool meaning_is_uniform(const graph *g, const graph_op *op);

/* ---- Sums ---------------------------------------------------------------- */

/* The sum of one leaf, or of x and y; an x that is no sum yet is a term. */
calm_status sum_of_leaf(meaning *out, const meanings *m, sum_node leaf,
                        tensor_id like);
calm_status sum_of_two(meaning *out, const meanings *m, const meaning *x,
                       const meaning *y, tensor_id like);

/* Is it what an original convolution or addition yields before its activation,
   everything once?  Sums of the original that the rewritten graph does not have
   are taken apart. */
calm_status sum_is_complete(bool *out, meanings *m, const meaning *x,
                            op_id original);

/* ---- Products and sums with constants ------------------------------------ */

/* scale * base + shift, per channel; the numbers stand for vectors. */
typedef struct affine_map {
  meaning base; /* channels, or, if that is not CALM_NONE, */
  op_id conv;   /* an original convolution without its bias */
  uint64_t scale, shift;
  bool vague;       /* of abstract tensors: the numbers mean nothing */
  op_id activation; /* applied at the end: that of this original operator */
} affine_map;

/* A graph whose constants are looked at. */
typedef struct affine_side {
  const graph *g, *before;
  const graph_edit *edit; /* NULL: it is the original */
} affine_side;

/* Which operand such an operator works on; CALM_NONE: it is none, or all are
   constants, or several are not. */
uint32_t affine_operand(const graph *g, const graph_op *op);

/* What the operator makes of what its operand is.  False: nothing of the kind.
 */
bool affine_apply(affine_map *map, const affine_side *side, const graph_op *op);

/* By what constant s of the rewritten graph is the original kernel w
   multiplied, along `axis`? */
bool affine_factor(uint64_t *out, const affine_side *side, tensor_id s,
                   tensor_id w, uint32_t axis);

/* The number for a vector of so many channels; 0 for CALM_NONE. */
bool affine_vector(uint64_t *out, const affine_side *side, tensor_id t,
                   int64_t channels);

/* Is it what original operators make of its base up to tensor y? */
calm_status affine_is_complete(bool *out, const meanings *m,
                               const affine_map *map, tensor_id y);

#endif
