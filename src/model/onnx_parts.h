/*
 * What the files that read .onnx share: the reader, which lives while one file
 * is read, and what it knows of graphs, nodes and values.  onnx.c says in which
 * order the parts run: parse the graphs, bind names, sort the nodes, infer
 * shapes, then build the graphs of the model.  Strings and arrays lie in the
 * scratch of the reader; weights stay where they are in the file.
 */
#ifndef CALM_MODEL_ONNX_PARTS_H
#define CALM_MODEL_ONNX_PARTS_H

#include "model/model.h"
#include "model/protobuf.h"

typedef uint32_t value_id; /* index among the values of its graph */

/* TensorProto.DataType, as far as rules speak of single ones. */
enum {
  ONNX_UNDEFINED = 0,
  ONNX_FLOAT = 1,
  ONNX_UINT8 = 2,
  ONNX_INT8 = 3,
  ONNX_UINT16 = 4,
  ONNX_INT16 = 5,
  ONNX_INT32 = 6,
  ONNX_INT64 = 7,
  ONNX_STRING = 8,
  ONNX_BOOL = 9,
  ONNX_FLOAT16 = 10,
  ONNX_DOUBLE = 11,
  ONNX_UINT32 = 12,
  ONNX_UINT64 = 13,
  ONNX_BFLOAT16 = 16
};

#define ONNX_NO_RANK UINT32_MAX
#define ONNX_UNKNOWN INT64_MIN /* a dimension or element that is not known */

typedef struct onnx_shape {
  int64_t *dims;        /* `rank` of them, ONNX_UNKNOWN or at least 0 */
  const char **symbols; /* per dimension its dim_param or NULL; may be NULL */
  uint32_t rank;        /* ONNX_NO_RANK: nothing is known */
} onnx_shape;

/* Elements of a small tensor, as shape arithmetic needs them. */
typedef struct onnx_contents {
  int64_t *integers; /* of integer and bool tensors, single ones may be
                        ONNX_UNKNOWN; NULL: not known */
  double *reals;     /* of float tensors; NULL: not known.  A single one that is
                        not known is not a number */
  const char **symbols; /* per integer that is a dimension its dim_param or
                           NULL; may be NULL */
  uint32_t count;
} onnx_contents;

enum {
  ONNX_VALUE_INPUT = 1,
  ONNX_VALUE_OUTPUT = 2,
  ONNX_VALUE_WEIGHT = 4,  /* initializer, or computed from weights alone */
  ONNX_VALUE_OUTER = 8,   /* of the graph around this one */
  ONNX_VALUE_OPAQUE = 16, /* a sequence, a map, an optional: no tensor */
  ONNX_VALUE_DEFAULT = 32 /* a weight that the caller may replace: an
                             initializer listed as an input, from IR 4 on */
};

/* Where the bytes of a weight are. */
typedef struct onnx_origin {
  graph_contents contents;
  enum {
    ORIGIN_NOWHERE, /* unless `contents` is CONTENTS_HERE */
    ORIGIN_TENSOR,  /* a TensorProto */
    ORIGIN_FILLED,  /* its one element again and again; an empty span: 0.0 */
    ORIGIN_NUMBERS  /* the floats or ints of an AttributeProto */
  } form;
  proto_span span;
} onnx_origin;

typedef struct onnx_value {
  const char *name;
  int32_t type; /* ONNX_UNDEFINED: not known */
  unsigned flags;
  onnx_shape shape;
  const onnx_shape *most; /* where the shape is not known: one that no run
                             exceeds in elements; NULL: none */
  onnx_contents contents;
  onnx_origin origin;
  value_id outer; /* ONNX_VALUE_OUTER: its id in the graph around */
  const char
      *why; /* why the shape is not known, "operator 'Foo' has no rule" */
  size_t position;   /* in the file, of what declares it first */
  uint32_t producer; /* the node of its graph that writes it, or CALM_NONE */
} onnx_value;

/* A TensorProto: an initializer or an attribute. */
typedef struct onnx_tensor {
  int32_t type;
  int64_t *dims;
  uint32_t rank;
  const uint8_t *bytes; /* raw_data in the file; NULL: none, or elsewhere */
  uint64_t length;      /* of raw_data, or of the external data */
  bool external;
  onnx_origin origin;
  onnx_contents contents; /* filled if it has at most ONNX_SMALL elements
                             (integers of 32 or 64 bits) or ONNX_FEW (others) */
} onnx_tensor;

enum { ONNX_SMALL = 4096, ONNX_FEW = 64 };

typedef enum onnx_attribute_type { /* AttributeProto.AttributeType */
                                   ONNX_ATTRIBUTE_FLOAT = 1,
                                   ONNX_ATTRIBUTE_INT = 2,
                                   ONNX_ATTRIBUTE_STRING = 3,
                                   ONNX_ATTRIBUTE_TENSOR = 4,
                                   ONNX_ATTRIBUTE_GRAPH = 5,
                                   ONNX_ATTRIBUTE_FLOATS = 6,
                                   ONNX_ATTRIBUTE_INTS = 7,
                                   ONNX_ATTRIBUTE_STRINGS = 8,
                                   ONNX_ATTRIBUTE_TENSORS = 9,
                                   ONNX_ATTRIBUTE_GRAPHS = 10
} onnx_attribute_type;

typedef struct onnx_attribute {
  const char *name;
  int32_t type; /* onnx_attribute_type, or one that calm does not read */
  int64_t i;
  double f;
  const char *s;
  int64_t *ints;
  double *floats;
  uint32_t count; /* of ints, floats or graphs */
  onnx_tensor tensor;
  uint32_t *graphs; /* of GRAPH (one) and GRAPHS: indices in the reader */
  proto_span span;  /* the AttributeProto */
} onnx_attribute;

typedef struct onnx_node {
  const char *name, *op_type, *domain; /* domain "" is ai.onnx */
  int64_t opset;                       /* of its domain in this file; 0: none */
  value_id *inputs, *outputs;          /* CALM_NONE: absent */
  onnx_attribute *attributes;
  uint32_t input_count, output_count, attribute_count;
  uint32_t function; /* index of a model-local function, or CALM_NONE */
  bool weights_only; /* all it computes is a weight: no operator of the graph */
  size_t position;   /* of its entry in the file */
  const char *label; /* its name if no other node has it, else INDEX_OPTYPE */
  const char **input_names, **output_names; /* as written; "" is absent */
  value_id *captured; /* read by its bodies, in ids of its own graph */
  uint32_t captured_count;
  proto_span entry; /* its field in the graph, tag included */
} onnx_node;

typedef struct onnx_graph {
  const char *name;
  uint32_t parent; /* the graph around it, or CALM_NONE */
  VECTOR(onnx_value) values;
  VECTOR(onnx_node) nodes;
  value_id *inputs, *outputs; /* by position; initializers that are listed as
                                 inputs too are left out */
  uint32_t input_count, output_count;
  bool unreachable; /* after onnx_infer: a branch that is never taken, or that
                       no runtime could execute; so its sizes may be missing */
  uint32_t *order; /* nodes in a topological order, file order where possible */
  proto_span span; /* the GraphProto in the file */
  uint32_t node;   /* of the parent, which runs this graph */
  uint32_t depth;  /* 0 for the entry */
  name_table names; /* of its values */
  const char **output_names;
} onnx_graph;

enum { ONNX_MAX_DEPTH = 32 }; /* as deep as protobuf's own parsers go */

/* The version of one domain's operators that the file asks for. */
typedef struct onnx_opset {
  const char *domain;
  int64_t version;
} onnx_opset;

/* A function that the file itself defines. */
typedef struct onnx_function {
  const char *domain, *name;
} onnx_function;

/* One --dim NAME=N. */
typedef struct onnx_dim {
  const char *name;
  int64_t size;
  bool used;
} onnx_dim;

typedef struct onnx_reader {
  calm_model *model;
  calm_context *context;
  arena scratch;
  VECTOR(onnx_graph)
  graphs; /* the first is the entry; a body follows the graph
             around it */
  proto_file file;
  int64_t ir_version;
  VECTOR(onnx_opset) opsets;
  VECTOR(onnx_function) functions;
  name_table opset_names, function_names; /* those by "DOMAIN:NAME" */
  bool random_functions;    /* some function draws random numbers */
  bool repeated_weights;    /* has been warned of */
  const char *fixed_weight; /* the first of those that are taken for fixed */
  uint32_t fixed_weights;   /* how many there are */
  VECTOR(onnx_dim) dims;
  VECTOR(const char *) symbols; /* every dim_param, once, as first met */
  name_table symbol_names;
} onnx_reader;

void onnx_reader_init(onnx_reader *r, calm_model *model);
void onnx_reader_free(onnx_reader *r);

/* Everything up to the marking of weights: what can be said without shapes. */
calm_status onnx_parse(onnx_reader *r);

/* ---- Reading, in the order of the calls ---------------------------------- */

/* The --dim options of the model; CALM_MISUSE if one is no NAME=N. */
calm_status onnx_read_dims(onnx_reader *r);

/* The size that --dim gives a symbol, or ONNX_UNKNOWN. */
calm_status onnx_size_symbol(int64_t *out, onnx_reader *r, const char *symbol);

/* Give dimensions of an input the sizes of --dim INPUT:AXIS=N. */
calm_status onnx_size_input(onnx_reader *r, onnx_value *input);

/* CALM_MISUSE if a --dim was of no use; CALM_UNSUPPORTED if a dimension of an
   input that is read is still open. */
calm_status onnx_check_dims(onnx_reader *r);

/* Fill one graph from its span; the graphs of its nodes are appended to the
   reader, to be filled later. */
calm_status onnx_read_graph(onnx_reader *r, uint32_t graph);

/* A TypeProto: element type, shape and OPAQUE of a value. */
calm_status onnx_read_type(onnx_value *value, onnx_reader *r, proto_span type);

/* A TensorProto or a SparseTensorProto; *name is "" if it has none. */
calm_status onnx_read_tensor(onnx_tensor *out, const char **name,
                             onnx_reader *r, proto_span tensor);
calm_status onnx_read_sparse(onnx_tensor *out, const char **name,
                             onnx_reader *r, proto_span tensor);

/* A NodeProto without its names: operator type, domain, attributes. */
calm_status onnx_read_node(onnx_node *out, onnx_reader *r, uint32_t graph,
                           const proto_field *field);

/* Turn names into ids: values of the graph itself before those around it. */
calm_status onnx_bind(onnx_reader *r);

/* Find the topological order of each graph; a cycle is CALM_BAD_INPUT. */
calm_status onnx_sort(onnx_reader *r);

/* Mark the nodes that compute weights from weights, and what they compute. */
void onnx_mark_weights(onnx_reader *r);

/* Where a TensorProto has its bytes. */
calm_status onnx_locate(onnx_origin *out, const proto_file *file,
                        const onnx_tensor *tensor, proto_span span);

/* Find out of each weight where its bytes are, also behind nodes that only
   hand them on. */
void onnx_trace_origins(onnx_reader *r);

/* Make the graphs of the model. */
calm_status onnx_build(onnx_reader *r);

/* Mark the tensors of the model that are larger or smaller in other runs,
   because only --dim says what the file leaves open. */
calm_status onnx_mark_dynamic(onnx_reader *r);

/* What a node is to the graph: kind, name of the kind, statefulness and
   attributes of `op`.  The rest of it is left alone. */
calm_status onnx_describe(graph_op *op, onnx_reader *r, const onnx_graph *g,
                          const onnx_node *node);

/* How many of its outputs a node always writes. */
uint32_t onnx_needed_outputs(const onnx_node *node);

/* The element type for a TensorProto.DataType; ELEMENT_ABSTRACT: none. */
element_type onnx_element_type(int32_t type);

/* ---- What they share ----------------------------------------------------- */

/* "DOMAIN:NAME", in the scratch. */
calm_status onnx_qualify(const char **out, onnx_reader *r, const char *domain,
                         const char *name);

/* CALM_BAD_INPUT with "PATH: byte N: what (in graph 'g')". */
calm_status onnx_fail(const onnx_reader *r, uint32_t graph, size_t position,
                      const char *format, ...) PRINTF_LIKE(4, 5);

/* Draws random numbers, so that it must keep its place among its like.  Without
   a graph only the type of the operator is looked at. */
bool onnx_is_random(const onnx_graph *g, const onnx_node *node);

/*
 * Fill in types, shapes and small contents of everything that nodes compute:
 * the entry's nodes in order, a body when its node is reached (its inputs get
 * what the node gives them).  What the file states (value_info, outputs) is
 * there before; where inference contradicts it, inference wins and a warning
 * says so.  Values that stay unknown get a `why`.  Fails only without memory or
 * on contradictions that no runtime could execute.
 */
calm_status onnx_infer(onnx_reader *r);

/* The attribute of that name, or NULL; a number or a default. */
const onnx_attribute *onnx_find(const onnx_node *node, const char *name);
int64_t onnx_find_int(const onnx_node *node, const char *name,
                      int64_t otherwise);

#endif
