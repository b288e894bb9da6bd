/*
 * Plans of rewritten graphs.  The original is planned first, as it is: what
 * rewriting does not improve on is not rewritten, and it is what the result is
 * compared with.  Then the graph is rewritten in rounds, each of which makes a
 * model without a file from the one before: no-ops leave, then constants are
 * folded, neither of which ever costs memory, then comes what has to be chosen.
 * The last model goes through the pipeline like any other.
 *
 *   plan_rewrite.c          the order of events
 *   plan_rewrite_target.c   what the runtime can do, by options and model
 *   plan_rewrite_round.c    from an edit to a model and back to a file
 *   plan_rewrite_names.c    sites that the user names
 *   plan_rewrite_judge.c    what a choice of sites comes to
 *   plan_rewrite_parts.c    where sites stand that have to do with each other
 *   plan_rewrite_focus.c    the order problem of one such part
 *   plan_rewrite_sites.c    what the plan says of each site
 */
#ifndef CALM_PLAN_REWRITE_H
#define CALM_PLAN_REWRITE_H

#include "planner.h"
#include "rewrite/rewrite_search.h"

/* A model that an edit of another one makes. */
typedef struct plan_round {
  calm_context *context;
  arena arena;
  const calm_model *from;
  graph_edit edit;  /* its `before` is the entry of `from` */
  calm_model model; /* its entry is `after`; it has no file */
} plan_round;

/* Room for an edit; `edit` is to be filled in, in its arena. */
calm_status plan_round_new(plan_round **out, const calm_model *from);

/* Close the round: make its model. */
calm_status plan_round_finish(plan_round *round);
void plan_round_free(plan_round *round);

/* The plan that --rewrite asks for. */
calm_status plan_rewrite_make(calm_plan **out, calm_model *model,
                              const calm_options *options);

/* The original's file as the rounds of a plan rewrite it: as a model whose
   graphs are those of the plan's, to be freed by calm_model_free. */
calm_status plan_rewrite_file(calm_model **out, const calm_plan *plan);

/* What the memory model allows in a rewritten graph, beside what it does in
   any. */
void plan_rewrite_memory(memory_model *memory, const calm_model *model,
                         const calm_options *options);

/* What rewriting is for. */
typedef struct plan_target {
  rewrite_options options;
  bool chained; /* sums become operators that the runtime has */
  const char *partials, *accumulator; /* their names */
} plan_target;

/* CALM_MISUSE, with what would be right, where options and runtime do not go
   together. */
calm_status plan_rewrite_target(plan_target *out, const calm_model *model,
                                const calm_options *options, arena *a);

/* The sites that the list of --rewrite names; *known gets true for each word
   that names some here.  CALM_MISUSE if one of them cannot be rewritten. */
typedef struct plan_word {
  const char *text;
  size_t length;
  bool known;
} plan_word;
typedef struct plan_words {
  plan_word *words;
  uint32_t count;
} plan_words;
calm_status plan_split_words(plan_words *out, const char *list, arena *a);
calm_status plan_take_named(bool *taken, plan_words *words,
                            const rewrite_sites *sites);
/* CALM_MISUSE with the nearest names if some word names nothing. */
calm_status plan_check_words(const plan_words *words,
                             const rewrite_sites *sites, arena *a);

/* Whoever judges choices of sites of one graph. */
typedef struct plan_judge {
  calm_context *context;
  const calm_model *model; /* whose entry has the sites */
  const rewrite_sites *sites;
  const plan_target *target;
  const calm_options *options;
  calm_options quick; /* the same, with less effort */
  memory_model memory;
  uint64_t *body_arenas;
  uint32_t *parts; /* per operator of the graph; see plan_rewrite_parts */
  /* Choices that differ from this one in one part only (CALM_NONE: none is
     known) need no more than that elsewhere. */
  uint32_t focus;
  bool *focus_taken;
  uint64_t elsewhere_bytes;
  limits *l;
} plan_judge;

/* Everything it needs but the target and `quick`; `a` outlives it. */
calm_status plan_judge_init(plan_judge *out, const calm_model *model,
                            const rewrite_sites *sites,
                            const plan_target *target,
                            const calm_options *options, limits *l, arena *a);
rewrite_judge plan_judge_of(plan_judge *j);

/* No choice of sites has a lower peak: the largest working set of an operator
   that is as it was when all sites are taken. */
calm_status plan_judge_floor(uint64_t *out, const plan_judge *j);

/* Per operator the part of the graph that it is in.  In any order, whatever is
   rewritten, the parts run one after the other, and what a part needs depends
   on the sites in it only. */
calm_status plan_rewrite_parts(uint32_t **out, const rewrite_sites *sites,
                               arena *a);

/* The order problem of one part; part_of per operator of `p`. */
calm_status plan_focus(order_problem *out, const order_problem *p,
                       const uint32_t *part_of, uint32_t part, arena *a);

/* The least peak of a choice, within the judge's effort. */
calm_status plan_judge_peak(rewrite_peak *out, const plan_judge *j,
                            const bool *taken, uint64_t ceiling);

/* The round that a choice makes, with its sums in a good order, which may take
   `patience` times the effort of a question. */
calm_status plan_judge_round(plan_round **out, const plan_judge *j,
                             const bool *taken, uint32_t patience);

/* What a plan comes to. */
rewrite_score plan_score_of(const calm_plan *plan);

/* Operators of the graph that a choice makes, as they are executed. */
calm_status plan_count_ops(uint32_t *out, const plan_judge *j,
                           const bool *taken);

/* Sites of a model at which something has to be chosen: what rewriting could do
   under a memory model. */
calm_status plan_count_sites(uint32_t *out, const calm_model *model,
                             const memory_model *memory, arena *a);

/* What the plan says of sites: those of earlier rounds, and a judge's. */
calm_status plan_record_harmless(calm_plan *plan, const rewrite_sites *sites,
                                 const bool *taken);
calm_status plan_record_sites(calm_plan *plan, plan_judge *j,
                              const bool *taken);

#endif
