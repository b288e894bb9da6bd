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

/* How often a tensor of a finished graph is read. */
uint32_t rewrite_readers(const graph *g, tensor_id t);

/* Of a typed tensor; CALM_NONE if it has no channels. */
uint32_t rewrite_channel_axis(const graph *g, uint32_t rank);

/* Why a part of a constant operand cannot be had, such as "its weights are
   computed by operators"; NULL: it can. */
const char *rewrite_refuse_constant(const rewrite_finder *f, tensor_id t);

/* A tensor of integers that stand for others by scales and zero points. */
bool rewrite_is_quantized(const graph_tensor *t);

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

/* "BASE/p1" for a kind of "p" and a number of 1. */
calm_status rewrite_name(const char **out, rewrite_maker *m, const char *base,
                         const char *kind, uint32_t number);

/* ---- Rules --------------------------------------------------------------- */

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
} rewrite_hooks;

#define RULE(name, option, needs, identity, cost) \
  extern const rewrite_hooks rewrite_##name##_hooks;
#include "rewrite/rules.def"
#undef RULE

#endif
