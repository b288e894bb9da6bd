/*
 * calm: Compiler for Activation memory and Loop Mapping.
 *
 * In which order should the operators of a network run, and where in one
 * arena does each tensor lie, so that the least memory is needed?  And what
 * does a loop nest of one of its layers cost on a spatial accelerator?  This
 * header is the whole public interface.  Read it from the top: a context, a
 * model, a plan.  A complete use:
 *
 *     calm_context *context = calm_context_new(NULL);
 *     calm_model *model = NULL;
 *     calm_plan *plan = NULL;
 *     if (calm_model_open(&model, context, "net.tflite", NULL) ||
 *         calm_plan_make(&plan, model, NULL))
 *       puts(calm_context_message(context));
 *     else
 *       printf("%" PRIu64 "\n", calm_plan_summary_of(plan)->arena_bytes);
 *     calm_plan_free(plan);
 *     calm_model_free(model);
 *     calm_context_free(context);
 *
 * Conventions.  Every fallible call returns a calm_status; its results come
 * first, are named `out` and are untouched on failure.  The message of the last
 * failure is in the context.  A `T **out` is owned by the caller and has a free
 * function that accepts NULL; a returned pointer to const is borrowed and lives
 * as long as the object it came from.  Sizes are bytes in 64 bits.  Free plans,
 * evaluations, models and options before their context.  A context and what was
 * made from it belong to one thread at a time; contexts share nothing.
 */
#ifndef CALM_CALM_H
#define CALM_CALM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CALM_API __attribute__((visibility("default")))
#else
#define CALM_API
#endif

#define CALM_VERSION "0.1.0"

/* An absent optional operand, or an object that does not exist. */
#define CALM_NONE UINT32_MAX

/* Why a call failed.  Values never change. */
typedef enum calm_status {
  CALM_OK = 0,
  CALM_NO_MEMORY = 1, /* the allocator returned NULL */
  CALM_MISUSE = 2,    /* the call, an option name or an option value is wrong */
  CALM_BAD_INPUT = 3, /* a file or a graph is malformed */
  CALM_UNSUPPORTED = 4, /* well-formed, but calm cannot handle it */
  CALM_IO = 5,          /* a file cannot be read or written */
  CALM_INTERNAL = 6     /* a broken invariant, or a solver fault */
} calm_status;

/* How a search ended: a result, not an error. */
typedef enum calm_outcome {
  CALM_OPTIMAL = 0,    /* the value equals the proven bound */
  CALM_FEASIBLE = 1,   /* a value and a smaller proven bound */
  CALM_INFEASIBLE = 2, /* proved that there is none */
  CALM_LIMIT = 3       /* nothing found within the limits */
} calm_outcome;

/* "optimal", "feasible", "infeasible", "limit". */
CALM_API const char *calm_outcome_name(calm_outcome outcome);

/* The version of the library, as in CALM_VERSION. */
CALM_API const char *calm_version(void);

/* ---- Context ------------------------------------------------------------- */

typedef struct calm_context calm_context;

/*
 * The one function through which the library takes memory: realloc with the
 * old size.  new_size 0 frees (returning NULL), old NULL (old_size 0)
 * allocates; it returns NULL when there is no memory and then leaves old alone.
 * Blocks are aligned for any type.  Only the thread that calls the library
 * calls it, whatever the option "threads" says.
 */
typedef struct calm_allocator {
  void *(*reallocate)(void *payload, void *old, size_t old_size,
                      size_t new_size);
  void *payload;
} calm_allocator;

/* A new context, or NULL without memory.  allocator NULL means malloc. */
CALM_API calm_context *calm_context_new(const calm_allocator *allocator);

/* Free the context.  Everything made from it must have been freed before. */
CALM_API void calm_context_free(calm_context *context);

/* One line about the last failure: what, where, and what would be right. */
CALM_API const char *calm_context_message(const calm_context *context);

/* Bytes now held by everything made from this context, itself not counted. */
CALM_API size_t calm_context_bytes(const calm_context *context);

typedef enum calm_log_level {
  CALM_LOG_WARNING = 0,  /* the input is odd; is the result what was meant? */
  CALM_LOG_PROGRESS = 1, /* one line per improvement of a long search */
  CALM_LOG_DETAIL = 2    /* what each stage does */
} calm_log_level;

/* Receives one line without its newline. */
typedef void (*calm_log_function)(void *payload, calm_log_level level,
                                  const char *line);

/* Send the story of later calls to `function`; NULL (the default) drops it. */
CALM_API void calm_context_set_log(calm_context *context,
                                   calm_log_function function, void *payload);

/* How far something is whose end is known. */
typedef struct calm_progress {
  const char *what;     /* "layers", "points"; "searching" */
  uint64_t done, total; /* parts; with `limit` milliseconds */
  bool limit; /* the total is a limit of time, and it may end sooner */
} calm_progress;

typedef void (*calm_progress_function)(void *payload,
                                       const calm_progress *progress);

/* Send the progress of later calls to `function`, which is called often and
   should be fast; NULL (the default) drops it. */
CALM_API void calm_context_set_progress(calm_context *context,
                                        calm_progress_function function,
                                        void *payload);

/*
 * Ask running searches to stop and report the best so far.  Safe in a signal
 * handler and from another thread.  Lasts until calm_context_resume.
 */
CALM_API void calm_context_interrupt(calm_context *context);
CALM_API void calm_context_resume(calm_context *context);

/*
 * Lend a file from memory: calls below that read a file of this name read the
 * bytes instead, which must stay as they are until the same name is lent other
 * ones or NULL, which takes it back, or the context is freed.
 */
CALM_API calm_status calm_context_lend(calm_context *context, const char *name,
                                       const void *bytes, size_t length);

/* Free a text that a call below returned.  NULL is accepted. */
CALM_API void calm_text_free(calm_context *context, char *text);

/* ---- Models -------------------------------------------------------------- */

typedef struct calm_model calm_model;

/* The options that the calls below take; further down. */
typedef struct calm_options calm_options;

/*
 * Read a .tflite or .onnx file or a .cg text; the content decides, not the
 * name.  The file is mapped, weights are never copied.  Of the options, "dim"
 * sizes what an .onnx file leaves open; "to-int8" and "remove-noops" rewrite
 * the model at once, so that each value stays what it is (CALM_UNSUPPORTED,
 * naming an operator, where that cannot be); with any "rewrite" but "none",
 * what an .onnx file lists both as an initializer and as an input is a
 * constant; NULL means the defaults.  Linear in the size of the graph.
 */
CALM_API calm_status calm_model_open(calm_model **out, calm_context *context,
                                     const char *path,
                                     const calm_options *options);

/* The same from memory, which need not outlive the call; `name` stands for the
   file's name in messages. */
CALM_API calm_status calm_model_parse(calm_model **out, calm_context *context,
                                      const void *bytes, size_t length,
                                      const char *name,
                                      const calm_options *options);

/* Write a model's file as it is: the same bytes, whatever they mean to calm.  A
   built model becomes a text.  CALM_MISUSE if it came from calm_model_parse. */
CALM_API calm_status calm_model_write(const calm_model *model,
                                      const char *path);

/* An empty model with one empty graph, to be filled by the calls below until it
   is first dumped, inspected, checked or planned. */
CALM_API calm_status calm_model_new(calm_model **out, calm_context *context,
                                    const char *graph_name);

CALM_API void calm_model_free(calm_model *model);

enum {
  CALM_TENSOR_INPUT = 1,   /* given to the graph from outside */
  CALM_TENSOR_OUTPUT = 2,  /* must survive the run */
  CALM_TENSOR_CONST = 4,   /* a weight: not in the arena */
  CALM_TENSOR_VARIABLE = 8 /* state that survives from run to run */
};

/* What calm_model_add_tensor needs to know.  Strings are copied. */
typedef struct calm_tensor {
  const char *name;          /* unique among the tensors of the graph */
  const char *type;          /* element type such as "i8", or NULL: abstract */
  const int64_t *dimensions; /* `rank` of them, typed tensors only */
  uint32_t rank;
  uint64_t bytes; /* abstract tensors only; typed ones compute it */
  unsigned flags; /* CALM_TENSOR_* */
} calm_tensor;

/* What calm_model_add_op needs to know.  Strings and lists are copied; ids are
   those the adding calls gave. */
typedef struct calm_op {
  const char *name; /* unique among the operators of the graph */
  const char *kind; /* such as "conv2d" (src/graph/ops.def); any other name is
                       an opaque operator */
  const uint32_t *inputs; /* tensor ids or CALM_NONE */
  uint32_t input_count;
  const uint32_t *outputs;
  uint32_t output_count;
  const uint32_t *after; /* operators that must run before, earlier ones only */
  uint32_t after_count;
  uint64_t workspace_bytes; /* scratch the operator needs while it runs */
} calm_op;

/* Add a tensor to the first graph and yield its id (0, 1, 2, ...). */
CALM_API calm_status calm_model_add_tensor(uint32_t *out, calm_model *model,
                                           const calm_tensor *tensor);

/* Add an operator after those already there and yield its id. */
CALM_API calm_status calm_model_add_op(uint32_t *out, calm_model *model,
                                       const calm_op *op);

/* "tflite", "onnx", "cg", or "built". */
CALM_API const char *calm_model_format(const calm_model *model);

CALM_API uint32_t calm_model_op_count(const calm_model *model);
CALM_API uint32_t calm_model_tensor_count(const calm_model *model);

/* Names in the first graph; NULL for an id that does not exist. */
CALM_API const char *calm_model_op_name(const calm_model *model, uint32_t op);
CALM_API const char *calm_model_tensor_name(const calm_model *model,
                                            uint32_t tensor);

/* The whole model in calm's text form; free with calm_text_free. */
CALM_API calm_status calm_model_dump(char **out, calm_model *model);

/* ---- Options ------------------------------------------------------------- */

/* One row of the table of options, from which help and man page are made. */
typedef struct calm_option_info {
  const char *name;    /* "time-limit" */
  const char *verbs;   /* "plan pack" */
  const char *value;   /* "SECONDS", "none|identity"; NULL for a switch */
  const char *initial; /* the default, as text; NULL where there is none */
  const char *help;    /* one line */
} calm_option_info;

/* Row `index` of the table, NULL past its end. */
CALM_API const calm_option_info *calm_option_at(size_t index);

/* One row of the table of rules by which "rewrite" rewrites graphs. */
typedef struct calm_rule_info {
  const char *name;     /* "channels" */
  const char *option;   /* the switch that turns it off: "rewrite-channels" */
  const char *needs;    /* what it is looked for */
  const char *identity; /* why the graph computes the same */
  const char *cost;     /* what has to be paid */
} calm_rule_info;

/* Row `index` of the table, NULL past its end. */
CALM_API const calm_rule_info *calm_rule_at(size_t index);

/* All options at their defaults. */
CALM_API calm_status calm_options_new(calm_options **out,
                                      calm_context *context);
CALM_API void calm_options_free(calm_options *options);

/* Set one option by name; a switch takes "on" or "off", and what may be given
   several times is added to what is there. */
CALM_API calm_status calm_options_set(calm_options *options, const char *name,
                                      const char *value);

/* ---- Plans --------------------------------------------------------------- */

typedef struct calm_plan calm_plan;

/* The figures of a plan.  Peaks are sums of live bytes under the memory model;
   arenas are what has to be reserved. */
typedef struct calm_plan_summary {
  uint64_t baseline_peak_bytes;  /* file order */
  uint64_t baseline_arena_bytes; /* file order, placed by the runtime's rule,
                                    or by a plan in the file that holds */
  calm_outcome order_outcome; /* of the peak; with "minimize" at "traffic", of
                                 the traffic */
  uint64_t peak_bytes;        /* of the chosen order */
  uint64_t peak_bound_bytes;  /* no order is below this */
  calm_outcome layout_outcome;
  uint64_t arena_bytes;       /* of the chosen placement */
  uint64_t arena_bound_bytes; /* no arena is below this; with --order file,
                                 level, dfs or greedy: none for that order */
  bool within_budget;         /* true when no budget was given */
  uint64_t budget_bytes;      /* UINT64_MAX: none was given */
  uint64_t needed_bytes; /* what has to fit into it: for TensorFlow Lite Micro
                            head and tail, else the arena */
} calm_plan_summary;

/*
 * Find an order and an arena for the first graph of `model`; options NULL means
 * the defaults.  Exponential in the worst case, bounded by the limits among the
 * options; always yields a valid plan, and checks it before it returns.
 */
CALM_API calm_status calm_plan_make(calm_plan **out, calm_model *model,
                                    const calm_options *options);

CALM_API void calm_plan_free(calm_plan *plan);

CALM_API const calm_plan_summary *calm_plan_summary_of(const calm_plan *plan);

/* The model that the plan is of: the one it was made for or, where that was
   rewritten ("rewrite" among the options), what became of it, which lives as
   long as the plan.  Ids of operators and tensors below are of that one. */
CALM_API const calm_model *calm_plan_model(const calm_plan *plan);

/* The operator that runs at `step` (0 to op count - 1); CALM_NONE past it. */
CALM_API uint32_t calm_plan_op_at(const calm_plan *plan, uint32_t step);

/* Where a tensor lies in the arena; UINT64_MAX if it needs no place there. */
CALM_API uint64_t calm_plan_offset(const calm_plan *plan, uint32_t tensor);

/*
 * What an order of operators moves between a small memory on chip and a large
 * one off chip, if what stays on chip is chosen with the future known
 * (docs/traffic.md).  The option "onchip" lists the sizes to look at.
 * Compulsory traffic is what no order and no memory avoids; "offchip" says
 * which of it the totals include.
 */
typedef struct calm_traffic {
  uint64_t onchip_bytes; /* the memory on chip */
  uint64_t page_bytes;   /* 0: tensors stay or go as a whole */
  const char *order;     /* "file"; "peak": of least peak, where the plan's
                            order is another ("minimize"); "plan" */
  uint64_t read_bytes, write_bytes; /* totals */
  uint64_t spill_read_bytes, spill_write_bytes;
  uint64_t input_bytes, weight_bytes; /* compulsory reads */
  uint64_t output_bytes;              /* compulsory writes */
  uint64_t used_bytes;    /* most on chip at a step that does not stream */
  uint32_t streaming_ops; /* operators that the memory is too small for */
} calm_traffic;

/* Row number `row` of a plan: the sizes as given, for each the orders in the
   order above.  False past the last, at once without "onchip". */
CALM_API bool calm_plan_traffic(calm_traffic *out, const calm_plan *plan,
                                uint32_t row);

/*
 * A tiling of the Pareto front of a plan with the option "tile" or "effort":
 * none needs less memory without more multiply-accumulates or more operators.
 * Figures are as the search judged them (docs/tiling.md); those of the plan
 * itself are in its summary.
 */
typedef struct calm_tiling {
  uint64_t head_bytes, tail_bytes; /* tail 0 where it is not known */
  uint64_t macs;                   /* multiply-accumulates of one run */
  uint32_t op_count;
  bool chosen; /* the plan has these tiles */
} calm_tiling;

/* Tiling number `index` of a plan, ascending by arena.  False past the last, at
   once without such an option. */
CALM_API bool calm_plan_tiling(calm_tiling *out, const calm_plan *plan,
                               uint32_t index);

/* Its regions as the option "tile" spells them, "none" of the untiled one; to
   be freed with calm_text_free. */
CALM_API calm_status calm_plan_tiles(char **out, const calm_plan *plan,
                                     uint32_t index);

/*
 * Write the model of a plan with its operators in the plan's order, in the
 * format it was read from.  In a .tflite file everything else stays as it is,
 * but for the offsets (OfflineMemoryAllocation): under the memory model `tflm`
 * they are written, under the others left out, and what speaks of the order is
 * renumbered.  A built model becomes a text.  The file is read back and
 * compared with the plan before it replaces anything; `path` may be the input.
 */
CALM_API calm_status calm_plan_write(const calm_plan *plan, const char *path);

/* ---- The other verbs ----------------------------------------------------- */

/* What is in a model, and what its memory does step by step. */
typedef struct calm_inspection calm_inspection;
CALM_API calm_status calm_inspect(calm_inspection **out, calm_model *model,
                                  const calm_options *options);
CALM_API void calm_inspection_free(calm_inspection *inspection);

/* The figures of an inspection. */
typedef struct calm_inspection_summary {
  uint32_t op_count, tensor_count; /* of the first graph */
  uint64_t activation_bytes;       /* of the tensors that the arena holds */
  uint64_t weight_bytes;
  uint64_t peak_bytes;  /* live bytes in file order */
  uint32_t peak_op;     /* runs at the peak; CALM_NONE without operators */
  uint64_t floor_bytes; /* working set of one operator: no order is below */
} calm_inspection_summary;
CALM_API const calm_inspection_summary *calm_inspection_summary_of(
    const calm_inspection *inspection);

/* What the file order moves, for size number `row` of "onchip". */
CALM_API bool calm_inspection_traffic(calm_traffic *out,
                                      const calm_inspection *inspection,
                                      uint32_t row);

/*
 * Verify a plan against a model: the JSON plan in the file `plan_path`, or, if
 * that is NULL, the plan inside the model.  Faults are results, not errors.
 */
typedef struct calm_verdict calm_verdict;
CALM_API calm_status calm_check(calm_verdict **out, calm_model *model,
                                const char *plan_path,
                                const calm_options *options);
CALM_API void calm_verdict_free(calm_verdict *verdict);
/* True if no fault was found (also when the model carries no plan). */
CALM_API bool calm_verdict_valid(const calm_verdict *verdict);

/* Place the buffers of a CSV file with the columns id, lower, upper, size and
   optionally offset, alignment, group. */
typedef struct calm_packing calm_packing;
CALM_API calm_status calm_pack(calm_packing **out, calm_context *context,
                               const char *csv_path,
                               const calm_options *options);
CALM_API void calm_packing_free(calm_packing *packing);

/* The figures of a packing. */
typedef struct calm_packing_summary {
  calm_outcome outcome;
  uint64_t arena_bytes, arena_bound_bytes; /* no arena is below the bound */
  uint64_t budget_bytes;                   /* UINT64_MAX: none was given */
} calm_packing_summary;
CALM_API const calm_packing_summary *calm_packing_summary_of(
    const calm_packing *packing);
CALM_API calm_outcome calm_packing_outcome(const calm_packing *packing);
/* True if no budget was given or the arena fits into it. */
CALM_API bool calm_packing_within_budget(const calm_packing *packing);

/* ---- Loop nests on accelerators ------------------------------------------ */

/*
 * The files that say what is evaluated, in the YAML of Timeloop
 * (docs/accelerators.md).  They are read during the call and borrowed only for
 * that long.
 */
typedef struct calm_evaluation_files {
  const char *const *arch; /* parts of the architecture: at least one */
  uint32_t arch_count;
  const char *problem; /* NULL: the `problem` section among those parts */
  const char *const *mappings; /* loop nests, one or two; none: the `mapping`
                                  section among those parts */
  uint32_t mapping_count;
} calm_evaluation_files;

/*
 * What loop nests cost on an accelerator: accesses, cycles and energy.  Of the
 * options, "cost" says by whose rules, "ert" and "constraints" name further
 * files.  A nest that does not fit the machine, or breaks a constraint, is a
 * result.  Nothing is searched for.
 */
typedef struct calm_evaluation calm_evaluation;
CALM_API calm_status calm_evaluate(calm_evaluation **out, calm_context *context,
                                   const calm_evaluation_files *files,
                                   const calm_options *options);
CALM_API void calm_evaluation_free(calm_evaluation *evaluation);

/* The figures of one of the nests; all but `valid` are 0 if it is not. */
typedef struct calm_evaluation_summary {
  bool valid;
  uint64_t computes; /* multiply-accumulate operations */
  uint64_t cycles;
  double energy_pj;   /* 0 with "energy" off */
  double edp;         /* energy_pj times cycles */
  double utilization; /* of the multipliers over all cycles, 0 to 1 */
} calm_evaluation_summary;

/* Of the nest number `mapping` (0 or 1); NULL past the last. */
CALM_API const calm_evaluation_summary *calm_evaluation_summary_of(
    const calm_evaluation *evaluation, uint32_t mapping);

/* Why the nest number `mapping` is not valid, in one line; NULL if it is. */
CALM_API const char *calm_evaluation_reason(const calm_evaluation *evaluation,
                                            uint32_t mapping);

/* Is that because counting it takes more than calm agrees to?  The machine may
   well run such a nest. */
CALM_API bool calm_evaluation_limited(const calm_evaluation *evaluation,
                                      uint32_t mapping);

/* Are all its nests valid? */
CALM_API bool calm_evaluation_valid(const calm_evaluation *evaluation);

/* ---- Mapping layers ------------------------------------------------------ */

/* Loop nests of the layers of a network on an accelerator. */
typedef struct calm_mapping calm_mapping;

/* What to map.  Either problem files (one layer each) or a model, or, with
   neither, the `problem` section of the architecture's files. */
typedef struct calm_map_files {
  const char *const *arch; /* the accelerator, as one or several files */
  uint32_t arch_count;
  const char *const *problems;
  uint32_t problem_count;
  const char *model;   /* .tflite, .onnx or .cg; NULL: none */
  const char *journal; /* layers are added to this file as they are done, and
                          those that it has are not mapped again; NULL: none */
} calm_map_files;

/*
 * Maps each layer, equal ones once, in `jobs` processes.  Layers that fail, or
 * that have no nest, are results and do not stop the others.  Fails if files
 * cannot be read, or if there is nothing to be mapped.
 */
CALM_API calm_status calm_map(calm_mapping **out, calm_context *context,
                              const calm_map_files *files,
                              const calm_options *options);
CALM_API void calm_mapping_free(calm_mapping *mapping);

CALM_API uint32_t calm_mapping_layer_count(const calm_mapping *mapping);

/* What came of one layer; figures are 0 without a nest. */
typedef struct calm_layer_summary {
  const char *name;
  uint64_t count;    /* how often the network has it */
  calm_status error; /* CALM_OK, or the kind of failure */
  calm_outcome outcome;
  const char *reason;  /* why there is no nest, or no proof; NULL: no reason */
  double value, bound; /* of the objective */
  uint64_t cycles;
  double energy_pj, edp;
} calm_layer_summary;

/* Layer number `layer`, false past the last. */
CALM_API bool calm_mapping_layer(calm_layer_summary *out,
                                 const calm_mapping *mapping, uint32_t layer);

/* The nest of a layer, as Timeloop reads it; CALM_MISUSE if it has none.  To be
   freed with calm_text_free. */
CALM_API calm_status calm_mapping_nest(char **out, const calm_mapping *mapping,
                                       uint32_t layer);

/* The problem that the nest of a layer is of, as a file that calm_evaluate and
   Timeloop read beside it: the layer, or, where a mapper padded it, what it is
   padded to.  To be freed with calm_text_free. */
CALM_API calm_status calm_mapping_problem(char **out,
                                          const calm_mapping *mapping,
                                          uint32_t layer);

/* CoSA's weights for an architecture, as a file for the option "cosa-weights".
   To be freed with calm_text_free. */
CALM_API calm_status calm_calibrate(char **out, calm_context *context,
                                    const calm_map_files *files,
                                    const calm_options *options);

/* ---- Sweeps -------------------------------------------------------------- */

/*
 * Many layers on many accelerators: the points that a file of YAML describes
 * (docs/sweep.md), and a database of what came of them.
 */
typedef struct calm_sweep calm_sweep;

/* Read the file and open or make the database (SQLite), where the results of
   earlier runs are; NULL: one in memory.  Of the options, "jobs" counts. */
CALM_API calm_status calm_sweep_open(calm_sweep **out, calm_context *context,
                                     const char *path, const char *database,
                                     const calm_options *options);
CALM_API void calm_sweep_free(calm_sweep *sweep);

/* How far it is; the last three add up to the first. */
typedef struct calm_sweep_counts {
  uint32_t points, done, failed, left;
} calm_sweep_counts;
CALM_API calm_sweep_counts calm_sweep_counts_of(const calm_sweep *sweep);

/* Run all points that are left, in processes of their own; each result is in
   the database once it is there.  An interrupt leaves the others. */
CALM_API calm_status calm_sweep_run(calm_sweep *sweep);

/* Forget the points that failed: they are left again. */
CALM_API calm_status calm_sweep_retry(calm_sweep *sweep);

/*
 * The same by hand, for whoever has machines of his own: take a point that is
 * left, hand its task to calm_sweep_solve anywhere, store what that returns.
 */

/* The first point at or after `from` that is left and that no earlier one
   answers; CALM_NONE if there is none. */
CALM_API uint32_t calm_sweep_next(const calm_sweep *sweep, uint32_t from);

/* A text that says all there is to know; free with calm_text_free. */
CALM_API calm_status calm_sweep_task(char **out, const calm_sweep *sweep,
                                     uint32_t point);

/* Needs no file and no sweep.  A point that fails is a result, too. */
CALM_API calm_status calm_sweep_solve(char **out, calm_context *context,
                                      const char *task);

/* CALM_MISUSE if the point has a result already. */
CALM_API calm_status calm_sweep_store(calm_sweep *sweep, uint32_t point,
                                      const char *result);
CALM_API calm_status calm_sweep_fail(calm_sweep *sweep, uint32_t point,
                                     const char *why);

/* ---- Papers -------------------------------------------------------------- */

/*
 * The tables and figures of a paper, made anew: "serenity" or "cosa".  Of the
 * options, "only" chooses sections, "timing" measures seconds (on if not set),
 * without which every byte repeats; "jobs", "seed" and "time-limit" are those
 * of the searches.  What cannot be measured for want of a solver is left out.
 * An interrupt ends it; sections that are complete are kept.
 */
typedef struct calm_benchmark calm_benchmark;
CALM_API calm_status calm_bench(calm_benchmark **out, calm_context *context,
                                const char *paper, const calm_options *options);
CALM_API void calm_benchmark_free(calm_benchmark *benchmark);

/* Were all sections run that were asked for? */
CALM_API bool calm_benchmark_complete(const calm_benchmark *benchmark);

/* What was left out, why, and the remedy; NULL: nothing. */
CALM_API const char *calm_benchmark_missing(const calm_benchmark *benchmark);

/* Write NAME.csv of each table, NAME.svg of each figure, and a page, PAPER.md,
   that shows them into a folder, which is made if it is not there. */
CALM_API calm_status calm_benchmark_write(const calm_benchmark *benchmark,
                                          const char *folder);

/* A section of a paper: "figure10", and what is shown there. */
typedef struct calm_section_info {
  const char *paper, *paper_title;
  const char *name, *title;
} calm_section_info;

/* Section number `index` over all papers, false past the last. */
CALM_API bool calm_bench_section(calm_section_info *out, size_t index);

/* ---- Rendering ----------------------------------------------------------- */

typedef enum calm_format {
  CALM_FORMAT_TABLE = 0, /* for people: aligned, at most 100 columns */
  CALM_FORMAT_JSON = 1,  /* for programs: docs/json.md */
  CALM_FORMAT_CSV = 2,   /* plans, packings: MiniMalloc's columns; mappings: a
                            line per layer */
  CALM_FORMAT_LONG = 3,  /* a table with every step and every tensor */
  /* Plans only, see docs/emit.md: */
  CALM_FORMAT_BUFFERPLAN = 4,     /* C++ for TensorFlow Lite Micro */
  CALM_FORMAT_C_HEADER = 5,       /* constants for C and C++ */
  CALM_FORMAT_TRACE = 6,          /* for Perfetto and chrome://tracing */
  CALM_FORMAT_MODEL_EXPLORER = 7, /* node data */
  /* Evaluations of one nest, mappings of one layer only: */
  CALM_FORMAT_MAPPING = 8, /* the nest, as Timeloop reads it */
  CALM_FORMAT_NEST = 9,    /* the nest for people */
  /* Plans and inspections with "onchip" only: */
  CALM_FORMAT_TRAFFIC = 10, /* CSV: what moves at each step */
  /* Plans with "tile" or "effort" only: the tilings that no other beats */
  CALM_FORMAT_FRONT = 11,    /* SVG */
  CALM_FORMAT_FRONT_CSV = 12 /* CSV */
} calm_format;

/* Each yields a text to be freed with calm_text_free.  `color` adds terminal
   colours to tables. */
CALM_API calm_status calm_plan_render(char **out, const calm_plan *plan,
                                      calm_format format, bool color);
CALM_API calm_status calm_inspection_render(char **out,
                                            const calm_inspection *inspection,
                                            calm_format format, bool color);
CALM_API calm_status calm_verdict_render(char **out,
                                         const calm_verdict *verdict,
                                         calm_format format, bool color);
CALM_API calm_status calm_packing_render(char **out,
                                         const calm_packing *packing,
                                         calm_format format, bool color);

/* Two nests are shown by what differs between them. */
CALM_API calm_status calm_evaluation_render(char **out,
                                            const calm_evaluation *evaluation,
                                            calm_format format, bool color);

CALM_API calm_status calm_mapping_render(char **out,
                                         const calm_mapping *mapping,
                                         calm_format format, bool color);

/* As a table, JSON or CSV, with the results that there are. */
CALM_API calm_status calm_sweep_render(char **out, calm_sweep *sweep,
                                       calm_format format, bool color);

CALM_API calm_status calm_benchmark_render(char **out,
                                           const calm_benchmark *benchmark,
                                           calm_format format, bool color);

/* What calm said about something, as JSON. */
typedef struct calm_document {
  const char *name; /* shown, and in messages: the file that it came from */
  const char *json; /* of a schema of calm's: docs/json.md */
} calm_document;

/*
 * A page to look at: one file of HTML that needs nothing else and asks nothing
 * of the network, with charts and tables of all documents and with the
 * documents themselves.  `title` NULL: as the first one is called.
 * CALM_BAD_INPUT, with line and column, for what is no such document.
 */
CALM_API calm_status calm_report(char **out, calm_context *context,
                                 const calm_document *documents, uint32_t count,
                                 const char *title);

/* Write a text to a file: to a temporary one beside it, then renamed. */
CALM_API calm_status calm_text_write(calm_context *context, const char *path,
                                     const char *text);

#ifdef __cplusplus
}
#endif

#endif
