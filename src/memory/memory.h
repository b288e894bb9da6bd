/*
 * The memory room: what is live when, under the rules of the runtime that will
 * execute the graph.  From a graph and a memory model come the order problem
 * and, once an order is chosen, the layout problem.  memory_check.h looks at
 * the same things from first principles.
 */
#ifndef CALM_MEMORY_MEMORY_H
#define CALM_MEMORY_MEMORY_H

#include "base/bits.h"
#include "base/text.h"
#include "graph/graph.h"
#include "kernel/kernel.h"
#include "layout/layout.h"
#include "order/order.h"

typedef enum memory_inputs {
  INPUTS_UNTIL_USE,
  INPUTS_WHOLE_RUN,
  INPUTS_EXTERNAL
} memory_inputs;
typedef enum memory_outputs { OUTPUTS_TO_END, OUTPUTS_EXTERNAL } memory_outputs;
typedef enum memory_concat { CONCAT_COPY, CONCAT_ELIDE } memory_concat;
typedef enum memory_variables {
  VARIABLES_EXTERNAL,
  VARIABLES_WHOLE_RUN
} memory_variables;

typedef enum memory_subgraphs {
  SUBGRAPHS_ENTRY, /* the first graph; bodies are workspace of their caller */
  SUBGRAPHS_TFLM   /* all graphs, as TensorFlow Lite Micro plans them */
} memory_subgraphs;

enum { OP_KIND_WORDS = 8 }; /* of a set of kinds */
_Static_assert(OP_OPAQUE < 64 * OP_KIND_WORDS, "every kind fits into a set");

/* One row of the table of memory models (memory_model.c);
 * docs/memory-models.md. */
typedef struct memory_model {
  const char *name;
  memory_inputs inputs;
  memory_outputs outputs;
  uint64_t align; /* offsets are multiples of this */
  uint64_t round; /* sizes are rounded up to a multiple of this */
  uint64_t inplace[OP_KIND_WORDS]; /* kinds that may overwrite a dying input */
  uint64_t views[OP_KIND_WORDS];   /* kinds whose output is their input under
                                      another name */
  unsigned copied;  /* CALM_TENSOR_*: a view of such an input is a copy */
  bool own_outputs; /* a graph output is never a view nor made in place */
  bool sole_reader; /* only an input that no other operator reads, now or
                       before, is overwritten */
  bool keep_unread; /* what nobody reads stays to the end, unless an in-place
 kind makes it */
  uint64_t inplace_above; /* inputs of no more bytes are not overwritten */
  memory_concat concat;
  memory_variables variables;
  memory_subgraphs subgraphs;
  kernel_library kernels; /* whose kernels run */
  bool overlap; /* an output may lie over a dying input, as far below it as the
                   kernels need (kernel_overlap) */
} memory_model;

/* Name the kernels that run; their kinds may then overwrite a dying input. */
void memory_model_use_kernels(memory_model *model, kernel_library library);

/* The same without what tells rows of tensors apart: no tensor lies in another
   but all of it, no output over an input but in place. */
memory_model memory_model_of_whole(const memory_model *model);

/* NULL if there is no such preset. */
const memory_model *memory_model_find(const char *name);

/* No column differs from those of the preset that it is named after. */
bool memory_model_is_preset(const memory_model *model);

/* Override one column by its option ("inputs", "inplace", ...).  CALM_MISUSE
   with the list of what would be right. */
calm_status memory_model_override(memory_model *model, calm_context *context,
                                  const char *column, const char *value);

/* Column `i` of those that choose one word, as its option spells it: *out_word
   is the value.  NULL past the last. */
const char *memory_model_word(const char **out_word, const memory_model *model,
                              uint32_t i);

/* The column of views as its option spells it: "none", "identity", or kinds
   between commas. */
void memory_model_views_word(text *out, const memory_model *model);

/* Can one be written over the other, element by element?  They have the same
   bytes in elements of the same width, which no operand has that is broadcast,
   however sizes are rounded. */
bool memory_same_elements(const graph_tensor *a, const graph_tensor *b);

/* The one operand that a kind can overwrite, which it changes while it still
   reads the others, so that none of these may be the same bytes; CALM_NONE for
   a kind that reads each element for the last time before it writes there. */
uint32_t memory_changed_slot(op_kind kind);

/* Which operands can a kind overwrite at all? */
bool memory_slot_inplace(op_kind kind, uint32_t slot);

/* The order problem of a graph, and the way back. */
typedef struct memory_problem {
  order_problem order;
  op_id *op_of;              /* order operator -> graph operator */
  uint32_t *order_op_of;     /* graph operator -> order operator; CALM_NONE for
                                operators that cost nothing (views, elided
                                concats, partial sums), which are no operators
                                there */
  uint32_t *buffer_begin;    /* tensor t lives in buffers[buffer_begin[t] ..] */
  uint32_t *buffers;         /* several only where a concat is elided */
  tensor_id *tensor_of;      /* buffer -> the tensor that gives it its name */
  uint64_t *workspace_bytes; /* per graph operator; see memory_workspaces */
} memory_problem;

/*
 * Per operator what it needs while it runs beside its tensors: its own
 * workspace and the largest of its bodies, not rounded.  body_arena as below.
 */
calm_status memory_workspaces(uint64_t **out, const graph *g,
                              const uint64_t *body_arena, arena *a);

/*
 * Build it.  body_arena[i] are the bytes that graph i of the model needs when
 * an operator runs it (NULL if no operator has bodies); an operator needs the
 * largest of its bodies beside its own workspace.
 */
calm_status memory_problem_build(memory_problem *out, const graph *g,
                                 const memory_model *model,
                                 const uint64_t *body_arena, arena *a);

/* Order operators in running order -> all graph operators in running order, the
   free ones as early as they can run. */
calm_status memory_expand_sequence(op_id *out, const graph *g,
                                   const memory_problem *p,
                                   const uint32_t *order_sequence);

/* And back: `out` has room for the order operators. */
void memory_fold_sequence(uint32_t *out, const graph *g,
                          const memory_problem *p, const op_id *sequence);

/* The layout problem of an order. */
typedef struct memory_placement {
  layout_problem layout;
  uint32_t *body_of;        /* buffer -> body; in-place pairs share one */
  uint32_t *workspace_body; /* graph operator -> body of its workspace, or
                               CALM_NONE: it needs none in this order */
  bool merged; /* some buffers share a body because of in-place reuse */
} memory_placement;

calm_status memory_placement_build(memory_placement *out, const graph *g,
                                   const memory_model *model,
                                   const memory_problem *p,
                                   const op_id *sequence, arena *a);

#endif
