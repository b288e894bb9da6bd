/*
 * What the files of the rewrite room share: how a rule finds its sites, and how
 * it makes operators of the rewritten graph.
 *
 * Both walk over the graph in its topological order.  A rule of its own (no
 * concat: affine, sums, noops) has a `find`, which appends the site that ends
 * in an operator, and a `cover` and `make` for sites that are taken.  Where two
 * taken sites cover one operator, the first acts and the second rests; a site
 * at a concat (channels, kernels) rests if its operator is covered.  So folding
 * comes before partitioning; who wants both at one operator rewrites in two
 * rounds.
 */
#ifndef CALM_REWRITE_REWRITE_PARTS_H
#define CALM_REWRITE_REWRITE_PARTS_H

#include "rewrite/rewrite.h"

/* ---- Finding ------------------------------------------------------------- */

typedef struct rewrite_finder {
  const graph *g;
  const rewrite_options *options;
  arena *a;    /* of the sites */
  bool *bound; /* per operator: control edges begin or end there, or it has
                  state, workspace or bodies: leave it alone */
  VECTOR(rewrite_site) sites;
} rewrite_finder;

/* Append a site without a concat, named after its operator; `refusal` as in
   rewrite_site. */
calm_status rewrite_add_site(rewrite_finder *f, rewrite_rule rule, op_id u,
                             const char *refusal, bool harmless);

/* The only output of an operator; CALM_NONE if it has none or several. */
tensor_id rewrite_output(const graph_op *op);

/* Operand `slot`; CALM_NONE if it is absent. */
tensor_id rewrite_operand(const graph_op *op, uint32_t slot);

/* How often a tensor of a finished graph is read. */
uint32_t rewrite_readers(const graph *g, tensor_id t);

/* Where the channels of a tensor of that rank are; CALM_NONE: nowhere. */
uint32_t rewrite_channel_axis(const graph *g, uint32_t rank);

/* How many channels it has; if only its bytes are known, those. */
uint64_t rewrite_channels(const graph *g, const graph_tensor *t);

/* Why no part of a constant operand can be had, such as "its weights are
   computed by operators"; NULL: it can. */
const char *rewrite_refuse_constant(const rewrite_finder *f, tensor_id t);

/* Why a concat cannot do with other operands, or be done without; NULL: it
   can. */
const char *rewrite_refuse_concat(const rewrite_finder *f, op_id u);

/* Integers that stand for other numbers by scales and zero points. */
bool rewrite_is_quantized(const graph_tensor *t);

/* The input that a no-op hands on as its output; CALM_NONE: it is none. */
tensor_id rewrite_handed_on(const graph *g, op_id u);

/* ---- Making -------------------------------------------------------------- */

/* Tensors of the graph that is being made have numbers of their own until it is
   finished: those that an operator touches come into it, first those of
   `before` in their order, then the others.  All strings and arrays given to
   these functions must live in `a`. */
typedef struct rewrite_maker {
  const graph *g;
  const rewrite_sites *sites;
  arena *a; /* of the edit */
  struct rewrite_work *work;
} rewrite_maker;

calm_status rewrite_make_tensor(tensor_id *out, rewrite_maker *m,
                                const graph_tensor *tensor,
                                const edit_tensor *descent);
calm_status rewrite_make_op(rewrite_maker *m, const graph_op *op,
                            const edit_op *descent);

/* What stands for tensor `t` of the graph, as a whole: itself, or what a no-op
   was given.  CALM_NONE for CALM_NONE. */
calm_status rewrite_whole(tensor_id *out, rewrite_maker *m, tensor_id t);

/* "BASE/p1" for a kind of "p" and a number of 1; "BASE/p" for a number of 0. */
calm_status rewrite_name(const char **out, rewrite_maker *m, const char *base,
                         const char *kind, uint32_t number);

/* Elements [begin, begin + count) of a constant along `axis`; itself if that
   are all.  `scaled`: its scales, if there are several, run along this axis. */
typedef struct rewrite_range {
  uint32_t axis;
  uint64_t begin, count;
  bool scaled;
  uint32_t number; /* of the slice, for its name */
} rewrite_range;
calm_status rewrite_slice(tensor_id *out, rewrite_maker *m, tensor_id t,
                          const rewrite_range *range);

/* Give a tensor another number of channels, or bytes. */
calm_status rewrite_resize(graph_tensor *t, rewrite_maker *m, uint32_t axis,
                           uint64_t count);

/* An operator that does what another one did, of other operands: the same kind
   and attributes, but for those named here (NULL: none). */
calm_status rewrite_imitate(graph_op *out, rewrite_maker *m,
                            const graph_op *model, const char *without);

/* ---- Parts --------------------------------------------------------------- */

/* A tensor as the parts that a concat would join, in this order. */
typedef struct rewrite_part {
  tensor_id tensor;  /* that is being made; CALM_NONE while sites are found */
  uint64_t channels; /* as rewrite_channels counts them */
} rewrite_part;

typedef struct rewrite_parts {
  const rewrite_part *list;
  uint32_t count;
} rewrite_parts;

/* How many channels of `y` those of a part of `x` become.  False: no whole
   number. */
bool rewrite_scale(uint64_t *out, uint64_t channels, uint64_t x, uint64_t y);

/* Where the first `channels` of `x` end among `y` bytes, rounded down: for
   constants of which only the bytes are known. */
uint64_t rewrite_share(uint64_t channels, uint64_t x, uint64_t y);

/* ---- Rules --------------------------------------------------------------- */

/* An operator `u` and its operand `slot`, a concat's output or what stands for
   one. */
typedef struct rewrite_spot {
  op_id u;
  uint32_t slot;
  rewrite_parts parts;
} rewrite_spot;

/* NULL where a rule has nothing to do. */
typedef struct rewrite_hooks {
  /* Append the site that ends in operator `u`, if there is one. */
  calm_status (*find)(rewrite_finder *f, op_id u);
  /* The operators that a site replaces, its own among them; in `a`. */
  calm_status (*cover)(op_id **out, uint32_t *count, const graph *g,
                       const rewrite_site *site, arena *a);
  /* Make what stands for them, where the site's operator stood: it has to write
     the outputs of that one. */
  calm_status (*make)(rewrite_maker *m, const rewrite_site *site);
  /* At a concat: why the operator cannot work on the parts one by one; NULL: it
     can. */
  const char *(*refuse)(const rewrite_finder *f, const rewrite_spot *spot);
  /* Make what works on the parts; `out`: the parts of its output. */
  calm_status (*divide)(rewrite_parts *out, rewrite_maker *m,
                        const rewrite_spot *spot);
} rewrite_hooks;

#define RULE(name, option, needs, identity, cost) \
  extern const rewrite_hooks rewrite_##name##_hooks;
#include "rewrite/rules.def"
#undef RULE

const rewrite_hooks *rewrite_hooks_of(rewrite_rule rule);

/* Which of the two rules at a concat is the one for this kind; *out_known: it
   says more than that the kind does not suit. */
rewrite_rule rewrite_rule_at_concat(bool *out_known, const graph_op *op);
bool rewrite_is_convolution(op_kind kind);
bool rewrite_is_channelwise(op_kind kind);

#endif
