/*
 * The rewrite room: graphs that compute the same with less memory.  A site is
 * an operator that a rule can rewrite; rewrite_find_sites lists all of a graph,
 * those that must be left alone with the reason.  rewrite_apply makes the graph
 * in which some of them are rewritten and partial results may be added in any
 * order; it is what orders are searched in.  rewrite_chain fixes an order and
 * turns each such sum into operators that runtimes have.  Which sites to take
 * is decided by rewrite_search, which asks its caller what a choice costs.
 *
 * The method is identity graph rewriting of SERENITY (MLSys 2020, section 3.3).
 */
#ifndef CALM_REWRITE_REWRITE_H
#define CALM_REWRITE_REWRITE_H

#include "graph/graph_edit.h"

typedef enum rewrite_rule {
#define RULE(name, option, needs, identity, cost) REWRITE_##name,
#include "rewrite/rules.def"
#undef RULE
  REWRITE_RULES
} rewrite_rule;

/* How a partial result is added to those before it. */
typedef enum rewrite_partials {
  PARTIALS_ACCUMULATE,  /* the kernel adds into its output */
  PARTIALS_ADD_INPLACE, /* it needs an output of its own; the addition is in
                           place */
  PARTIALS_ADD_COPY     /* the addition makes a third tensor */
} rewrite_partials;

/* What the target can do. */
typedef struct rewrite_options {
  bool rules[REWRITE_RULES]; /* switched on */
  rewrite_partials partials;
  bool additions_copy; /* though kernels accumulate: an addition that no
                          convolution does makes a third tensor */
  bool abstract; /* it is a machine on paper: quantised sums are as good as
                    others, and no file has to be written */
  uint32_t accumulator_factor; /* of a quantised partial sum: its elements are
                                  so much wider (1, 2 or 4); abstract only */
  uint32_t most_operands;      /* that a concat can have; 0: any number */
} rewrite_options;

typedef struct rewrite_site {
  const char *name; /* "CONCAT>OPERATOR"; "OPERATOR" where there is no concat */
  rewrite_rule rule;
  op_id op;            /* of the graph: what is rewritten */
  op_id concat;        /* whose output it reads, after all; else CALM_NONE */
  const char *refusal; /* why it is left alone; NULL: it can be rewritten */
  uint32_t group; /* sites of one concat and of all that it opens have the same;
                     CALM_NONE: this one stands alone */
  bool harmless;  /* on its own it never needs more memory (no-ops, folding) */
} rewrite_site;

typedef struct rewrite_sites {
  const graph *g;
  rewrite_options options;
  rewrite_site *sites; /* in the graph's topological order */
  uint32_t count;
  uint32_t group_count;
  bool *closed; /* per group: with all its sites taken no concat remains, so
                   that kernels that accumulate never need more memory */
} rewrite_sites;

/* All sites of a graph.  Linear, but for the sites behind nested concats. */
calm_status rewrite_find_sites(rewrite_sites *out, const graph *g,
                               const rewrite_options *options, arena *a);

/* The sites that the paper rewrites: convolutions behind concats of more than
   two operands, and depthwise ones. */
void rewrite_take_paper(bool *taken, const rewrite_sites *sites);

/*
 * The graph with the sites of `taken` (per site) rewritten; a site that a
 * refused or untaken one keeps from its concat stays as it is.  Partial sums
 * are partial_sum operators, in add models with an add_into per operand, so
 * that they may run in any order.  Control edges lead on to whatever replaces
 * an operator.
 */
calm_status rewrite_apply(graph_edit *out, const rewrite_sites *sites,
                          const bool *taken, arena *a);

/*
 * The graph that a runtime executes: `edit`, in the order `sequence`, with each
 * partial sum as a chain in the order in which its operands become ready.  With
 * `fused`, of convolutions that add an operand (fused_conv); else of additions.
 * The first carries the bias, the last the activation, the others (not `fused`)
 * a bias of zeros, one per width.
 */
calm_status rewrite_chain(graph_edit *out, const graph_edit *edit,
                          const op_id *sequence, bool fused, arena *a);

/*
 * Does `after` compute what `before` says?  Knows nothing of sites and rules:
 * each tensor of `after` is traced back to channels of a tensor of `before`, or
 * to a part of a sum.  CALM_INTERNAL with the first operator for which that
 * fails.
 */
calm_status rewrite_check(const graph_edit *edit, calm_context *context);

/*
 * Two edits as one, from what `first` was made of to what `second` made of what
 * `first` had made; so that the file of two rounds is written once, from the
 * original.  CALM_UNSUPPORTED, naming it, if both made something anew in ways
 * that no single edit can say.
 */
calm_status rewrite_compose(graph_edit *out, const graph_edit *first,
                            const graph_edit *second, arena *a);

/* The bytes of a constant of `before`, little-endian, as the graph's type and
   dimensions say; false if they cannot be had. */
typedef bool rewrite_reader(void *payload, tensor_id t, const uint8_t **bytes,
                            uint64_t *length);

/* Fill in the bytes of slices, zeros and folded constants, in an arena. */
calm_status rewrite_fill(graph_edit *edit, rewrite_reader *read, void *payload,
                         arena *a);

#endif
