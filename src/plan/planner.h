/*
 * The parts of the memory pipeline: what plan.c strings together and the other
 * plan_*.c do.  Everything taken on the way lies in the planner's scratch and
 * is gone after the run; what the plan keeps lies in the plan's own arena.
 */
#ifndef CALM_PLANNER_H
#define CALM_PLANNER_H

#include "memory/memory_joint.h"
#include "memory/memory_litert.h"
#include "memory/memory_ort.h"
#include "pipeline_traffic.h"

/* What there is beside for TensorFlow Lite Micro: all graphs of the model. */
typedef struct plan_tflm {
  graph *graphs; /* their operators have their scratch as workspace */
  uint32_t count;
  pipeline_tflm file;       /* the model as it is, and the scratch */
  memory_problem *problems; /* per graph; the entry's comes later */
  const op_id **sequences;  /* per graph but the entry: its order */
  bool *is_body;            /* some operator runs it */
  uint64_t doubt; /* bodies may need less than they do, by at most this */
  uint64_t floor; /* no plan needs less, for the sake of other graphs and of
                     what no operator touches */
  bool on_grid;   /* all tensors, and so the head, end at multiples of 16 */
  const op_id **default_orders; /* of the file, where those are orders */
  tflm_head default_head;       /* in these, without a plan */
  uint64_t carried_bytes; /* head under the plan that the file brings along;
                             UINT64_MAX: none */
  bool carried_holds;     /* and it computes what the model says */
} plan_tflm;

typedef struct plan_ort plan_ort; /* plan_ort.h */

/* Everything one run of the pipeline works with. */
typedef struct planner {
  calm_plan *plan;
  const graph *g;
  const calm_options *options;
  const uint64_t *body_arenas;
  memory_problem problem;
  plan_tflm *tflm;       /* NULL under all other models of memory */
  bool litert;           /* TensorFlow Lite places by itself */
  plan_ort *ort;         /* NULL unless for ONNX Runtime */
  const op_id *baseline; /* what is run before planning */
  const op_id *run; /* the order in which operators really run; NULL: that of
                       the plan, and free ones as early as they can */
  pipeline_traffic traffic;
  op_id *least_peak; /* the order of least peak, and the one that was */
  traffic_order least_traffic; /* found for --minimize traffic */
  uint64_t joint_bound; /* no arena is smaller, in whatever order; 0: unknown */
  const order_problem *rounded; /* the same with sizes that are multiples of
                                   the alignment; NULL: they all are */
  arena *scratch;
} planner;

/* On top of the arena of a candidate that the runtime would compute wrong: any
   other is better. */
static const uint64_t PLAN_UNSOUND_BYTES = UINT64_C(1) << 62;

/* Of the time limit, for orders; with --minimize traffic the first half is for
   that of least peak. */
static const double PLAN_ORDER_SHARE = 0.75;

/* An order of the order problem, with the arena it gets. */
typedef struct plan_candidate {
  uint32_t *order_sequence;   /* of order operators */
  op_id *sequence;            /* of graph operators */
  memory_placement placement; /* of the entry alone, or */
  memory_joint joint;         /* of all graphs */
  layout_result layout;
  const op_id *const *orders; /* tflm: per graph */
  plan_source source;
  const uint64_t *const *offsets; /* tflm: per graph and tensor; NULL: all is
                               left to the runtime */
  tflm_head head;                 /* tflm: what the runtime makes of it */
  litert_arena litert;            /* litert: likewise */
  uint64_t workspace_offset;      /* litert: of all workspaces */
} plan_candidate;

/* A plan of a model without rewriting it; owned by the caller. */
calm_status plan_make_as_is(calm_plan **out, calm_model *model,
                            const calm_options *options);

/* The memory model of a plan: without a plan in the file TensorFlow Lite Micro
   aliases nothing. */
calm_status plan_memory_model(memory_model *out, const calm_model *model,
                              const calm_options *options);

/* Where a candidate has a tensor, under no runtime's own rules; UINT64_MAX:
   nowhere, or in several places. */
uint64_t plan_offset_of(const planner *p, const plan_candidate *c, tensor_id t);

/* What the model does as it is, in the arena of the plan. */
calm_status plan_copy_baseline(calm_plan *plan, const plan_baseline *from);

order_options plan_order_options(const calm_options *options);

/* No arena is smaller than this, in whatever order. */
uint64_t plan_arena_bound(const planner *p);

/* Is there no other order, whatever operators that do nothing do? */
bool plan_order_is_only(const planner *p);

/* Is another order than the one that was found as good an answer?  Not where
   the user asked for the order of a certain method, or for little traffic. */
bool plan_order_is_free(const planner *p);

/* Place what lives under an order.  Belongs to the planner's scratch. */
calm_status plan_place(plan_candidate *out, const planner *p,
                       const uint32_t *order_sequence,
                       const layout_options *options, limits *l);

/* Place another order, and count it; it becomes the best if it gets a smaller
   arena, else it leaves nothing in the planner's scratch.  What `out` says of
   offsets is gone. */
calm_status plan_try_order(layout_result *out, plan_candidate *best,
                           const planner *p, const uint32_t *order_sequence,
                           const layout_options *options, limits *l);

/* May another order be placed, or has --joint-orders been reached? */
bool plan_may_try(const planner *p);

/* Walk over orders whose peak leaves hope for a smaller arena; `best` becomes
   the one with the least.  Ends at an arena of `target_bytes`. */
calm_status plan_try_orders(plan_candidate *best, const planner *p,
                            uint64_t target_bytes, limits *l);

/*
 * The same by way of proofs, which may raise joint_bound: the order that is
 * best where all sizes are multiples of the alignment, and, if they are few,
 * each order that may have a smaller arena.
 */
calm_status plan_try_aligned(plan_candidate *best, planner *p,
                             const layout_options *options, limits *l);
calm_status plan_try_every_order(plan_candidate *best, planner *p,
                                 const layout_options *options, limits *l);

/*
 * For TensorFlow Lite Micro, in this order: find the orders of all bodies and
 * the head of the model as it is; place an order of the entry (in place of the
 * rest of plan_place), under a memory model without aliases where no plan will
 * be in the file (plan_tflm_leave_alone); predict the head, and keep to
 * something simpler if it exceeds that of the model as it is; fill in what the
 * plan says of graphs, offsets and runtime.
 */
calm_status plan_tflm_prepare(planner *p);
calm_status plan_tflm_place(plan_candidate *c, const planner *p,
                            const layout_options *options, limits *l);
void plan_tflm_leave_alone(memory_model *memory);
calm_status plan_tflm_settle(plan_candidate *best, const planner *p, limits *l);
calm_status plan_tflm_record(planner *p, const plan_candidate *c);
/* All graphs of the plan, judged by code that knows nothing of how it was made:
   CALM_INTERNAL if it does not hold, or costs another head than promised. */
calm_status plan_tflm_check(const planner *p);
/* Are rows of tensors told apart?  Then nobody else can judge the plan. */
bool plan_tflm_tells_rows(const planner *p);

/*
 * For TensorFlow Lite, which is not asked where tensors lie: whether the memory
 * model is its own; place an order as the runtime does (in place of the rest of
 * plan_place); prefer the order of the file where that has the smaller arena;
 * fill in what the plan says of offsets and runtime; tell of an unsound
 * placement.
 */
bool plan_litert_applies(const planner *p);
calm_status plan_litert_place(plan_candidate *c, const planner *p);
calm_status plan_litert_settle(plan_candidate *best, const planner *p);
calm_status plan_litert_record(planner *p, const plan_candidate *c);
void plan_litert_warn(const planner *p, const memory_verdict *verdict);
calm_status plan_litert_warn_others(const planner *p);

/*
 * For ONNX Runtime, which may run a file in an order of its own: see whether
 * that is so, before the baseline is measured; find a file for it, after an
 * order was found; fill in what the plan says of the runtime and of the file.
 */
calm_status plan_ort_prepare(planner *p);
calm_status plan_ort_arrange(planner *p);
calm_status plan_ort_record(planner *p);

/*
 * Off-chip traffic, in this order: read the options, CALM_MISUSE if they do not
 * go together; build its problem; with --minimize traffic take the order that
 * moves least in place of the one that was found; count what the orders of the
 * file and of the plan move.
 */
calm_status plan_traffic_ask(planner *p);
calm_status plan_traffic_prepare(planner *p);
calm_status plan_traffic_arrange(planner *p);
calm_status plan_traffic_record(planner *p);

/* Is the order chosen for its traffic? */
bool plan_traffic_decides(const calm_options *options);

/* Last of all: whether the offsets of a plan for TensorFlow Lite Micro rely on
   certain kernels (plan->mark), and a warning of inputs that they lose. */
calm_status plan_mark(calm_plan *plan, const calm_options *options);

/* Fill the plan: order, profile, offsets, outcomes, summary. */
calm_status plan_record(planner *p, const plan_candidate *c);

#endif
