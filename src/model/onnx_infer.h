/*
 * What the rules of shape inference share.  A rule sees one node in front of
 * known, partly known or unknown operands and fills in `outputs`: type, shape
 * and, in the second step ("fold"), elements.  It says nothing where it knows
 * nothing.  Everything a rule makes lies in the scratch of the reader; shapes
 * are never changed once they are in place, so they may be shared.
 *
 * A rule returns CALM_OK, CALM_NO_MEMORY, or what infer_conflict returns.
 */
#ifndef CALM_MODEL_ONNX_INFER_H
#define CALM_MODEL_ONNX_INFER_H

#include "graph/graph.h"
#include "model/onnx_parts.h"

enum {
  INFER_MAX_RANK = GRAPH_MAX_RANK,
  INFER_SPARE_OUTPUTS = 8 /* rules may fill in outputs that a node leaves out */
};

typedef struct infer_node {
  onnx_reader *r;
  onnx_graph *graph;
  const onnx_node *node;
  int argument;        /* of the row in onnx_rules.def */
  onnx_value *outputs; /* what the rule makes */
  const char *why;     /* NULL, or why an output is not known */
} infer_node;

typedef calm_status infer_function(infer_node *n);

typedef struct infer_rule {
  const char *domain, *op;
  uint32_t inputs; /* at least so many are there */
  infer_function *shape, *fold;
  int argument;
} infer_rule;

/* The row for a node, NULL if there is none. */
const infer_rule *infer_find_rule(const onnx_node *node);

/* ---- Operands and attributes --------------------------------------------- */

/* Operand `i`, NULL if it is absent; its shape, NULL if its rank is unknown. */
const onnx_value *infer_input(const infer_node *n, uint32_t i);
const onnx_shape *infer_input_shape(const infer_node *n, uint32_t i);
int32_t infer_input_type(const infer_node *n, uint32_t i);

/* Is the string attribute there, with that value? */
bool infer_attribute_is(const onnx_node *node, const char *name,
                        const char *value);
/* Element `i` of an INTS attribute, `otherwise` if it is not there. */
int64_t infer_attribute_at(const onnx_node *node, const char *name, uint32_t i,
                           int64_t otherwise);

/* A list of integers, which an operand or an older opset's attribute gives. */
typedef struct infer_list {
  bool given;           /* there is an operand or an attribute */
  const int64_t *data;  /* NULL: the operand is computed from data */
  const char **symbols; /* of its elements, or NULL */
  uint32_t count;       /* CALM_NONE: not known either */
} infer_list;

/* The list of operand `i` or, without it, of the attribute (which may be
   NULL).  Remembers in n->why if the operand is not known. */
infer_list infer_list_of(infer_node *n, uint32_t i, const char *attribute);

/* The same for axes, which are of no use if one of them is not known. */
infer_list infer_axes_of(infer_node *n, uint32_t i, const char *attribute);

/* The single number of operand `i`, without its fraction; ONNX_UNKNOWN, and a
 * reason in n->why. */
int64_t infer_scalar(infer_node *n, uint32_t i);

/* The rule depends on the elements of operand `i`, which are not known. */
calm_status infer_depends(infer_node *n, uint32_t i);

/* What is unknown "operator 'NAME' (TYPE) ..." explains. */
calm_status infer_explain(infer_node *n, const char *what);

/* No runtime could execute the node: says why and ends the rule. */
calm_status infer_conflict(infer_node *n, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* An axis from -rank to rank - 1, counted from 0; a conflict outside. */
calm_status infer_axis(uint32_t *out, infer_node *n, int64_t axis,
                       uint32_t rank);

/* ---- Dimensions ---------------------------------------------------------- */

/* Sum, product and quotient rounded down; ONNX_UNKNOWN if an operand is, or
   the result has no place in 64 bits, or the divisor is 0. */
int64_t infer_add(int64_t a, int64_t b);
int64_t infer_multiply(int64_t a, int64_t b);
int64_t infer_divide(int64_t a, int64_t b);

/* Rounded down, without the mathematical library. */
double infer_floor(double x);

/* Output `o` becomes a shape of that rank, all of it unknown. */
calm_status infer_make(onnx_shape **out, infer_node *n, uint32_t o,
                       uint32_t rank);
/* Output `o` has the shape of operand `i`. */
void infer_share(infer_node *n, uint32_t o, uint32_t i);
/* Output `o` is a scalar, or has one dimension. */
calm_status infer_make_scalar(infer_node *n, uint32_t o, int32_t type);
calm_status infer_make_line(infer_node *n, uint32_t o, int64_t length);

/* A size below 0 is not known either. */
void infer_set(onnx_shape *shape, uint32_t i, int64_t dim, const char *symbol);
void infer_copy(onnx_shape *shape, uint32_t i, const onnx_shape *from,
                uint32_t j);
const char *infer_symbol(const onnx_shape *shape, uint32_t i);

/* Equal for certain: both known, or of the same name. */
bool infer_same_dim(const onnx_shape *a, uint32_t i, const onnx_shape *b,
                    uint32_t j);

/* The product of the dimensions from `first` to before `end`. */
int64_t infer_product(const onnx_shape *shape, uint32_t first, uint32_t end);

/* All of it known? */
bool infer_complete(const onnx_shape *shape);

/* One dimension of two operands that have to agree: the known one. */
calm_status infer_agree(infer_node *n, onnx_shape *out, uint32_t i,
                        const onnx_shape *other, uint32_t j);

/* Two shapes broadcast against each other. */
calm_status infer_broadcast(infer_node *n, uint32_t o, const onnx_shape *a,
                            const onnx_shape *b);

/* What two values have in common (`a` of either), and what is known of a value
   that was inferred to be `made` and stated to be `stated`. */
calm_status infer_join(onnx_value *out, onnx_reader *r, const onnx_value *a,
                       const onnx_value *b);
calm_status infer_refine(onnx_shape *out, onnx_reader *r,
                         const onnx_shape *made, const onnx_shape *stated);

/* ---- Elements ------------------------------------------------------------ */

bool infer_is_integer(int32_t type); /* or bool */
bool infer_is_real(int32_t type);

/* Give output `o`, whose type and shape are set, room for its elements, all of
   them unknown.  Stays without them if it is not small or of another type:
   *out is then NULL. */
calm_status infer_make_contents(onnx_contents **out, infer_node *n, uint32_t o);

/* Are there elements to be read in operand `i`? */
const onnx_contents *infer_input_contents(const infer_node *n, uint32_t i);

void infer_move(onnx_contents *out, uint32_t i, const onnx_contents *from,
                uint32_t j);
void infer_set_integer(onnx_contents *out, uint32_t i, int64_t value);

/* Output `o` repeats, skips or permutes elements of operand 0: the element at
   coordinates c comes from  offset + sum(c[i] % wrap[i] * strides[i]), where
   wrap NULL means no remainder. */
calm_status infer_move_strided(infer_node *n, uint32_t o, int64_t offset,
                               const int64_t *strides, const int64_t *wrap);

/* Elements between two neighbours along each dimension; the shape is known. */
void infer_strides(int64_t *out, const onnx_shape *shape);

/* ---- Windows of convolutions and pools ----------------------------------- */

typedef struct infer_window {
  int64_t kernel, stride, dilation, begin, end; /* begin, end: padding */
} infer_window;

typedef enum infer_padding {
  INFER_PAD_GIVEN,
  INFER_PAD_SAME,
  INFER_PAD_VALID
} infer_padding;

typedef struct infer_windows {
  infer_padding padding;
  bool ceil;
  uint32_t count;
  infer_window axes[INFER_MAX_RANK];
} infer_windows;

/* The windows over `count` axes.  The kernel is an attribute or has the
   dimensions of `filter` (which may be NULL) from `first` on. */
calm_status infer_read_windows(infer_windows *out, infer_node *n,
                               uint32_t count, const onnx_shape *filter,
                               uint32_t first);

/* Dimension `j` of the output: window `i` over dimension `j` of `in`. */
calm_status infer_slide(infer_node *n, onnx_shape *out, uint32_t j,
                        const onnx_shape *in, const infer_windows *w,
                        uint32_t i);

/* ---- Nodes that run graphs ----------------------------------------------- */

/* The graph that the node is to run next, its inputs filled in, after `runs`
   runs; CALM_NONE: there is nothing more to run, and the rule may follow.
   `deep`: be content with less, there are many graphs around this one. */
calm_status infer_next_body(uint32_t *out, infer_node *n, uint32_t runs,
                            bool deep, onnx_value *const *stated);

/* ---- Rules --------------------------------------------------------------- */

#define RULE(domain, op, inputs, shape, fold, argument) \
  calm_status infer_##shape(infer_node *n);             \
  calm_status fold_##fold(infer_node *n);
#include "model/onnx_rules.def"
#undef RULE

#endif
