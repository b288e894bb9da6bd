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
 *   plan_rewrite_judge.c    what a choice of sites comes to; a door of its own
 *   plan_rewrite_parts.c    where sites stand that have to do with each other
 *   plan_rewrite_focus.c    the order problem of one such part
 *   plan_rewrite_sites.c    what the plan says of each site
 */
#ifndef CALM_PLAN_REWRITE_H
#define CALM_PLAN_REWRITE_H

#include "plan/planner.h"
#include "rewrite/rewrite.h"

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

/* The file of a model with the entry of `edit` in place of its own, which is
   the one of `last`, as a model to be freed by calm_model_free; its bytes lie
   in the arena of `last`.  Failures name `plan`. */
calm_status plan_round_file(calm_model **out, const calm_plan *plan,
                            const calm_model *from, graph_edit *edit,
                            plan_round *last);

/* What the original takes today stays what a plan is compared with. */
calm_status plan_keep_baseline(calm_plan *plan, const calm_plan *as_is);

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

/* Sites of a model at which something has to be chosen: what rewriting could do
   under a memory model. */
calm_status plan_count_sites(uint32_t *out, const calm_model *model,
                             const memory_model *memory, arena *a);

typedef struct plan_judge plan_judge; /* plan_rewrite_judge.h */

/* What the plan says of sites: those of earlier rounds, and a judge's. */
calm_status plan_record_harmless(calm_plan *plan, const rewrite_sites *sites,
                                 const bool *taken);
calm_status plan_record_sites(calm_plan *plan, plan_judge *j,
                              const bool *taken);

#endif
