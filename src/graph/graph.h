/*
 * The graph: tensors, operators and control edges of one network, as read from
 * a file or built by calls.  Things are named by 32-bit ids.  Everything a
 * graph holds lives in the arena of its model and dies with it.  A graph is
 * filled in by graph_add_*, closed by graph_finish (which validates it), and
 * only read from then on.
 */
#ifndef CALM_GRAPH_GRAPH_H
#define CALM_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vector.h"

typedef uint32_t tensor_id;
typedef uint32_t op_id;

typedef enum element_type {
#define ELEMENT_TYPE(name, bits) ELEMENT_##name,
#include "graph/types.def"
#undef ELEMENT_TYPE
  ELEMENT_ABSTRACT /* only a byte count is known; the last one */
} element_type;

typedef enum op_kind {
#define OP(name, tflite, flags) OP_##name,
#include "graph/ops.def"
#undef OP
  OP_OPAQUE /* a kind that calm does not know; the last one */
} op_kind;

/* What ops.def says of a kind. */
enum {
  OP_PLAIN = 0,
  OP_VIEW = 1,        /* the output is the first input under another shape */
  OP_ELEMENTWISE = 2, /* may write its output over an input of equal size */
  OP_STATEFUL = 4,    /* reads or writes state: keeps its relative order */
  OP_CONTROL = 8      /* runs subgraphs */
};

/* Where something stands in the text it came from; line 0: in no text. */
typedef struct graph_place {
  uint32_t line, column; /* from 1; the column counts bytes */
} graph_place;

enum { GRAPH_MAX_RANK = 64 };

/* Where the bytes of a constant are. */
typedef enum graph_contents {
  CONTENTS_HERE,     /* in the file of its model, or there is no file */
  CONTENTS_COMPUTED, /* operators compute it that the graph does not list */
  CONTENTS_ELSEWHERE /* in another file, or encoded so that nobody can take a
                        part of it */
} graph_contents;

typedef struct graph_tensor {
  const char *name;
  const int64_t *dimensions; /* `rank` of them */
  uint32_t rank;
  element_type type;
  unsigned flags; /* CALM_TENSOR_* */
  uint64_t bytes;
  bool unwritten; /* a text says that no operator writes it, and it is right */
  uint32_t file_index;     /* in the file it came from */
  uint32_t scale_count;    /* scales of its quantization there; 0: not told */
  uint32_t quantization;   /* tensors of a graph with the same number have the
                              same scales and zero points; 0: none told */
  graph_contents contents; /* of a constant */
  bool dynamic; /* a dimension other than the first may change from run to run
                 */
  graph_place place;
} graph_tensor;

typedef struct graph_attribute {
  const char *key, *value;
} graph_attribute;

typedef struct graph_op {
  const char *name;
  const char *kind_name; /* as written; the table's name for a known kind */
  op_kind kind;
  tensor_id *inputs;  /* CALM_NONE: absent */
  tensor_id *outputs; /* CALM_NONE: absent */
  op_id *after;       /* control edges into this operator */
  uint32_t *bodies;   /* indices of the graphs it runs, in its model */
  graph_attribute *attributes;
  uint32_t input_count, output_count, after_count, body_count, attribute_count;
  uint64_t workspace_bytes;
  bool stateful; /* keeps its order even if its kind would not have to */
  uint32_t file_index;
  graph_place place;
} graph_op;

typedef struct graph {
  arena *arena;
  const char *name;
  VECTOR(graph_tensor) tensors;
  VECTOR(graph_op) ops;
  bool is_body;        /* some operator runs it; set by graph_link_bodies */
  bool channels_first; /* pictures are N C H W and kernels O I H W, not N H W C
                          and O H W I */
  uint32_t listed_inputs, listed_outputs; /* in its file, repeated ones too */
  /* Filled by graph_finish: */
  op_id *producer; /* of each tensor, CALM_NONE */
  op_id *order;    /* stable topological order: file order where possible */
  bool file_order_valid;  /* order is 0, 1, 2, ... */
  uint32_t *reader_begin; /* readers of tensor t: readers[reader_begin[t] ..] */
  op_id *readers;         /* ascending; once per operand slot */
  uint32_t *pred_begin;   /* preds[pred_begin[op] .. pred_begin[op + 1]] */
  op_id *preds;           /* ascending, each once; data, control and state */
  uint32_t *succ_begin;
  op_id *succs;
} graph;

/* Does a tensor of a finished graph come from nowhere, and yet somebody wants
   it?  It costs nothing. */
bool graph_tensor_is_missing(const graph *g, tensor_id t);

/* Is a tensor of a finished graph an operand of a partial_sum, and its bytes,
   therefore, those of the sum?  Nobody else reads it then. */
bool graph_goes_into_sum(const graph *g, tensor_id t);

/* Is there any partial_sum?  No runtime has such an operator. */
bool graph_has_sums(const graph *g);

/* An empty graph in an arena.  Its vectors are freed by graph_free. */
void graph_init(graph *g, arena *a, const char *name);
void graph_free(graph *g);

/* Append a copy; strings and arrays are copied into the arena.  Typed tensors
   have their bytes computed here, abstract ones have no dimensions.  Names must
   be unique (checked by graph_finish).  CALM_BAD_INPUT, naming the tensor, on
   overflow, a negative dimension or too many of them. */
calm_status graph_add_tensor(tensor_id *out, graph *g,
                             const graph_tensor *tensor);
calm_status graph_add_op(op_id *out, graph *g, const graph_op *op);

/*
 * Look after the bodies of all operators of a model: each must be one of its
 * `count` graphs, and no graph may run itself, directly or through others.  An
 * operator that runs a graph with a stateful operator becomes stateful, and
 * what it runs is marked as a body.  To be called before graph_finish where
 * operators have bodies.
 */
calm_status graph_link_bodies(graph *graphs, uint32_t count, const char *path);

/*
 * Validate and index: ids in range, names unique, one producer per tensor, no
 * producer for an input or a constant, no cycle, partial sums as ops.def says,
 * all bytes together at most 2^62.  A failure names `path` and the tensor or
 * operator.
 *
 * preds and succs hold the edges from producer to reader, the control edges of
 * `after`, one from each stateful operator to the next in file order, and one
 * from each operator that touches a variable to the next one that does, in
 * place of its data edges: a variable may be read before it is written, so only
 * the file says what was meant.  Linear but for the heap that breaks ties in an
 * order that is not the file's.
 */
calm_status graph_finish(graph *g, const char *path);

/* Does the operator keep its place among those with state? */
bool graph_op_stateful(const graph_op *op);

/* Fail with CALM_BAD_INPUT and "PATH:LINE:COLUMN: ...", or "PATH: ..." for line
   0. */
calm_status graph_fail(calm_context *context, const char *path,
                       graph_place place, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Bytes of a typed tensor, sub-byte elements packed.  False on more than 2^62
   bytes or a negative dimension. */
bool graph_bytes_of(uint64_t *out, element_type type, const int64_t *dimensions,
                    uint32_t rank);

const char *element_type_name(element_type type);
uint32_t element_type_bits(element_type type);
/* ELEMENT_ABSTRACT if there is no such type. */
element_type element_type_find(const char *name, size_t length);

const char *op_kind_name(op_kind kind);
unsigned op_kind_flags(op_kind kind);
op_kind op_kind_find(const char *name);            /* OP_OPAQUE if unknown */
op_kind op_kind_from_tflite(int32_t builtin_code); /* OP_OPAQUE if unknown */

#endif
