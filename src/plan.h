/*
 * The results of the four verbs, as the pipelines (plan.c, inspect.c, check.c,
 * pack.c) fill them and the report room prints them.  Each owns an arena; the
 * model it speaks of is borrowed.
 */
#ifndef CALM_PLAN_H
#define CALM_PLAN_H

#include <string.h>

#include "base/options.h"
#include "layout/layout_csv.h"
#include "memory/memory_check.h"
#include "memory/memory_explain.h"
#include "memory/memory_tail.h"
#include "model/model.h"
#include "tile/tile_search.h"
#include "traffic/traffic.h"

/* What every report begins with. */
typedef struct plan_facts {
  uint32_t op_count, tensor_count;
  uint64_t activation_bytes; /* sum of the tensors that the arena has to hold */
  uint64_t weight_bytes;
  /* What the memory model leaves to somebody else: */
  uint64_t state_bytes, input_bytes, output_bytes;
} plan_facts;

/* What a plan says of one graph of the model; the entry is the first. */
typedef struct plan_graph {
  op_id *sequence;   /* all its operators in running order */
  uint64_t *offsets; /* per tensor; UINT64_MAX: left to the runtime */
} plan_graph;

/* A buffer that a kernel asks for, and where the runtime will put it. */
typedef struct plan_scratch {
  uint32_t graph;
  op_id op;
  uint64_t bytes, offset;
} plan_scratch;

/* Whose offsets a plan has. */
typedef enum plan_source {
  PLAN_OWN,     /* those of the search */
  PLAN_CARRIED, /* those that the model brought along: they are better */
  PLAN_NONE     /* none help: all placing is left to the runtime */
} plan_source;

/* The peaks of a file in the two orders of ONNX Runtime. */
typedef struct plan_peaks {
  uint64_t default_bytes, priority_bytes;
} plan_peaks;

/* What the runtime that the memory model speaks of will do, predicted. */
typedef struct plan_runtime {
  const char *name;    /* "tflm", "litert", "ort"; NULL: the memory model
                          is nobody's */
  const char *kernels; /* the library, as --kernels calls it */
  uint64_t default_head_bytes; /* its arena for the model without a plan */
  uint64_t
      carried_head_bytes; /* with the model's own; UINT64_MAX: it has none */
  bool carried_holds;     /* that plan computes what the model says */
  uint64_t head_bytes;    /* its arena for the plan */
  tflm_tail tail, default_tail; /* tflm: beside that head and the default one */
  uint64_t persistent_bytes;    /* litert: its other arena, of variables */
  /* ort: of the model as it is and of the file that is planned; the order in
     which the latter is run by default; whether it was planned for that */
  plan_peaks file_peaks, planned_peaks;
  op_id *default_sequence;
  bool by_default;
  uint64_t small_weights; /* bytes of weights in the arena of activations */
  plan_source source;
  plan_scratch *scratch;
  uint32_t scratch_count;
} plan_runtime;

/* The model as it is: the file's order under the rules that a plan is compared
   with. */
typedef struct plan_baseline {
  const graph *graph; /* the entry of the original */
  op_id *sequence;    /* of its operators */
  uint64_t *step_bytes;
  uint32_t peak_step;
  memory_life *lives; /* per tensor */
  uint64_t *offsets;  /* per tensor; UINT64_MAX: not placed; NULL: it is not
                         known where they lie */
} plan_baseline;

/* A site at which the graph can be rewritten, or not. */
typedef struct plan_site {
  const char *name;
  const char *kind;   /* its rule */
  const char *reason; /* why it is left as it is; NULL: it is rewritten */
  int64_t operators;  /* the graph has so many more for it; UNKNOWN_GAIN */
  /* What the peak has less of where this site alone is rewritten, and of what
     it would have more without this site; UNKNOWN_GAIN: not computed. */
  int64_t bytes_alone, bytes_together;
} plan_site;

static const int64_t UNKNOWN_GAIN = INT64_MIN;

/* What became of the graph before it was planned. */
typedef struct plan_rewriting {
  const char *mode;     /* "none" (also NULL), "auto", "all", "paper", "sites"
                         */
  const char *partials; /* how they execute, as --partials calls it; NULL:
                           nothing was looked for */
  const char *accumulator; /* as --accumulator calls it */
  const char *proof; /* why no choice of sites has a lower peak; NULL: that is
                        not known */
  uint32_t judged;   /* choices that were planned */
  plan_site *sites;
  uint32_t site_count, applied;
} plan_rewriting;

/* A graph as the traffic room sees it. */
typedef struct plan_traffic_problem {
  const graph *graph;
  memory_problem memory; /* its operators and buffers in terms of the graph */
  traffic_problem problem;
} plan_traffic_problem;

/* What an order moves between one on-chip memory and the rest. */
typedef struct plan_traffic {
  const char *order; /* "file"; "peak", the one of least peak; "plan" */
  const plan_traffic_problem *of;
  traffic_memory memory;
  const uint32_t *sequence; /* of operators of the problem */
  const uint32_t
      *steps; /* of each: its step among all operators of the graph */
  traffic_result result;
} plan_traffic;

/* Order and layout together: what became of orders that were placed because the
   first did not pack into the bound of all orders (plan_joint.c). */
typedef struct plan_joint {
  uint64_t orders;           /* placed beside the first; 0: none was */
  uint64_t first_bytes;      /* the arena that the first one got */
  uint64_t least_peak_bytes; /* of all orders, as far as it is known: that of
                                the plan may be higher, for a smaller arena */
  bool all; /* every order that might have had a smaller arena was placed */
} plan_joint;

/* How the order was found that moves least, if one was looked for. */
typedef struct plan_least_traffic {
  bool wanted;
  calm_outcome outcome;
  uint64_t spill_bytes, bound_bytes; /* no order spills less than the bound */
  uint64_t states, ticks;
  limits_reason stopped;
} plan_least_traffic;

/* Compulsory traffic that totals include; bit i is plan_offchip_names[i]. */
enum { OFFCHIP_INPUTS = 1, OFFCHIP_OUTPUTS = 2, OFFCHIP_WEIGHTS = 4 };
enum { OFFCHIP_NAMES = 3 };
extern const char *const plan_offchip_names[OFFCHIP_NAMES];

/* Off-chip traffic: for each on-chip memory that was asked for, a row for each
   of `orders` orders, the file's first and the plan's last. */
typedef struct plan_traffics {
  plan_traffic *rows;
  uint32_t count, orders;
  unsigned counted; /* OFFCHIP_* */
  plan_least_traffic least;
} plan_traffics;

/* The figures of row number `row`; false past the last. */
bool plan_traffic_figures(calm_traffic *out, const plan_traffics *traffics,
                          uint32_t row);

/* What a part of planning bought: what is needed after it. */
typedef struct plan_step {
  const char *name;
  uint64_t head_bytes, tail_bytes; /* UINT64_MAX: nothing is known of it */
  uint64_t macs;
  uint32_t op_count;
} plan_step;
enum { PLAN_MOST_STEPS = 6 };

/* What became of the graph by tiles, and what else was possible. */
typedef struct plan_tiling {
  const char *mode;   /* NULL: nobody asked; "auto", "given" */
  const graph *of;    /* the untiled graph, of which regions speak */
  tile_choice choice; /* its front; `chosen`: that of the plan */
  tile_goal goal;
  bool tail_counts;   /* arenas of the front are heads and tails */
  uint64_t macs;      /* of the untiled graph */
  uint64_t plan_macs; /* of the one that is planned */
  bool most_macs_given;
  uint32_t folded;    /* regions that the model had in tiles, undone */
  const char *reason; /* why there are no tiles in the plan; NULL: there are */
  plan_step steps[PLAN_MOST_STEPS];
  uint32_t step_count;
  plan_step with_overlap; /* what --overlap on would come to; no name: it was
                             not asked */
} plan_tiling;

/* A point of the front: what is compared there. */
static inline uint64_t plan_tiling_bytes(const plan_tiling *t,
                                         const tile_score *score) {
  return score->head_bytes + (t->tail_counts ? score->tail_bytes : 0);
}

/* "0-3:4:pad,5-7:2:same"; "none". */
void plan_tiling_words(text *out, const tile_state *state);

struct plan_round; /* plan_rewrite.h */
struct plan_stage; /* plan_tile.h */
enum { PLAN_MOST_ROUNDS = 3, PLAN_MOST_STAGES = 3 };

struct calm_plan {
  calm_context *context;
  arena arena;
  const calm_model *model;    /* that is planned: the original, or what the last
                                 round made of it */
  const calm_model *original; /* as it was opened */
  struct plan_round *rounds[PLAN_MOST_ROUNDS]; /* of rewriting; owned */
  uint32_t round_count;
  struct plan_stage *stages[PLAN_MOST_STAGES]; /* after these; owned */
  uint32_t stage_count;
  calm_plan *earlier; /* from whose model the stages begin; owned, or NULL */
  plan_rewriting rewriting;
  plan_tiling tiling;
  calm_plan *before;  /* of the original, whose figures this one quotes; owned,
                         NULL: none are */
  const graph *graph; /* the entry */
  memory_model memory;
  plan_facts facts;
  calm_plan_summary summary;
  const char *baseline_order; /* "file" */
  plan_baseline baseline;
  options_changed changed;
  const char *order_method, *layout_method;
  order_result order; /* its sequence is of order operators */
  layout_result layout;
  plan_joint joint;
  bool any_order;              /* layout.bound_bytes holds for every order, not
                                  only for one that was asked for */
  bool counted;                /* order.downsets and order.orders are meant */
  op_id *sequence;             /* all graph operators in running order */
  uint64_t *offsets;           /* per tensor; UINT64_MAX: not placed */
  uint64_t *workspace_offsets; /* per operator; UINT64_MAX: needs none */
  uint64_t *workspace_bytes;   /* per operator, bodies included */
  plan_runtime runtime;
  model_mark mark; /* present: offsets rely on its kernels, and a file with them
                      has to say so */
  plan_graph *graphs;     /* per graph of the model, for its writer */
  memory_profile profile; /* of the chosen order, from first principles */
  plan_traffics traffic;
  uint64_t budget_bytes; /* UINT64_MAX: none given */
  bool offline_plan;     /* its writer may write the offsets */
  bool note;             /* its writer leaves a note in the metadata */
  bool timing;
  double order_seconds, layout_seconds;
};

/* What a budget is compared with: for TensorFlow Lite Micro the whole arena, as
   far as it is known. */
static inline uint64_t plan_needed_bytes(const calm_plan *plan) {
  return tflm_arena_bytes(plan->summary.arena_bytes, &plan->runtime.tail);
}

/* Is it a plan for the runtime of this name, such as "tflm"? */
static inline bool plan_is_for(const calm_plan *plan, const char *runtime) {
  return plan->runtime.name && !strcmp(plan->runtime.name, runtime);
}

struct calm_inspection {
  calm_context *context;
  arena arena;
  const calm_model *model;
  const graph *graph;
  memory_model memory;
  plan_facts facts;
  const op_id *sequence; /* file order, or its stable topological sort */
  memory_profile profile;
  memory_explanation explanation;
  calm_inspection_summary summary;
  plan_traffics traffic; /* of the file order */
  uint32_t site_count;   /* where --rewrite could do something at a concat */
  bool tflm;             /* TensorFlow Lite Micro will run it, as it is: */
  uint64_t head_bytes;   /* with the plan in the file, if there is one */
  tflm_tail tail;
  bool mark_holds; /* of that plan: check_mark.h */
  options_changed changed;
  bool timing;
  double seconds;
};

struct calm_verdict {
  calm_context *context;
  arena arena;
  const calm_model *model;
  const char *source; /* "OfflineMemoryAllocation" or the path of the JSON plan;
                         NULL: the model carries no plan */
  memory_model memory;
  memory_verdict verdict;
  bool tflm; /* its arena is the head of TensorFlow Lite Micro's */
  tflm_tail tail;
  bool mark_shown; /* the plan inside the model was judged, and has a mark */
  bool mark_holds; /* which is about this file: check_mark.h */
};

struct calm_packing {
  calm_context *context;
  arena arena;
  const char *path;
  layout_csv csv;
  const char *layout_method;
  layout_result layout;
  calm_packing_summary summary;
  uint64_t budget_bytes;
  bool timing;
  double seconds;
};

#endif
