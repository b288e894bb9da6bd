#include <inttypes.h>

#include "model/onnx_infer.h"

/*
 * Products of matrices.  A vector on the left is one row, on the right one
 * column, and that dimension is missing in the result; what is in front of the
 * last two dimensions broadcasts.
 */

static calm_status check_inner(infer_node *n, int64_t a, int64_t b) {
  if (a == ONNX_UNKNOWN || b == ONNX_UNKNOWN || a == b) return CALM_OK;
  return infer_conflict(
      n, "multiplies rows of %" PRId64 " by columns of %" PRId64, a, b);
}

/* The dimensions in front of the last two, as a shape of their own. */
static onnx_shape front(const onnx_shape *shape) {
  onnx_shape f = *shape;
  f.rank = shape->rank > 2 ? shape->rank - 2 : 0;
  return f;
}

typedef struct matrix {
  const onnx_shape *shape;
  uint32_t outer, inner; /* dimensions; outer CALM_NONE: a vector */
} matrix;

static matrix read_matrix(const onnx_shape *shape, bool right, bool swapped) {
  matrix m = {shape, CALM_NONE, shape->rank - 1};
  if (shape->rank == 1) return m;
  m.outer = shape->rank - (right != swapped ? 1 : 2);
  m.inner = shape->rank - (right != swapped ? 2 : 1);
  return m;
}

static calm_status make_product(infer_node *n, const onnx_shape *left,
                                const onnx_shape *right, bool swap_a,
                                bool swap_b) {
  if (left->rank == 0 || right->rank == 0)
    return infer_conflict(n, "multiplies a scalar as a matrix");
  matrix a = read_matrix(left, false, swap_a);
  matrix b = read_matrix(right, true, swap_b);
  onnx_shape front_a = front(left), front_b = front(right), batch, *out;
  TRY(check_inner(n, left->dims[a.inner], right->dims[b.inner]));
  TRY(infer_broadcast(n, 0, &front_a, &front_b));
  batch = n->outputs[0].shape;
  uint32_t rank = batch.rank + (a.outer != CALM_NONE) + (b.outer != CALM_NONE),
           j = 0;
  TRY(infer_make(&out, n, 0, rank));
  for (; j < batch.rank; j++) infer_copy(out, j, &batch, j);
  if (a.outer != CALM_NONE) infer_copy(out, j++, left, a.outer);
  if (b.outer != CALM_NONE) infer_copy(out, j++, right, b.outer);
  return CALM_OK;
}

/* The argument: the operand that is the right matrix, and what comes out. */
enum {
  MATMUL_RIGHT = 15,
  MATMUL_INT32 = 16,
  MATMUL_FLOAT = 32,
  MATMUL_ZERO_TYPE = 64 /* the type of operand 7 */
};

static int32_t product_type(const infer_node *n) {
  if (n->argument & MATMUL_INT32) return ONNX_INT32;
  if (n->argument & MATMUL_FLOAT) return ONNX_FLOAT;
  return infer_input_type(n, n->argument & MATMUL_ZERO_TYPE ? 7 : 0);
}

calm_status infer_matmul(infer_node *n) {
  const onnx_shape *a = infer_input_shape(n, 0);
  const onnx_shape *b =
      infer_input_shape(n, (uint32_t)(n->argument & MATMUL_RIGHT));
  n->outputs[0].type = product_type(n);
  if (!a || !b) return CALM_OK;
  if (onnx_find_int(n->node, "transBatchA", 0) ||
      onnx_find_int(n->node, "transBatchB", 0))
    return CALM_OK;
  return make_product(n, a, b, onnx_find_int(n->node, "transA", 0) != 0,
                      onnx_find_int(n->node, "transB", 0) != 0);
}

/* Operand 2 is added; it broadcasts to the product and has no say. */
calm_status infer_gemm(infer_node *n) {
  const onnx_shape *a = infer_input_shape(n, 0);
  const onnx_shape *b =
      infer_input_shape(n, (uint32_t)(n->argument & MATMUL_RIGHT));
  n->outputs[0].type = infer_input_type(n, 0);
  if (!a || !b) return CALM_OK;
  if (a->rank != 2 || b->rank != 2)
    return infer_conflict(n,
                          "multiplies tensors of %" PRIu32 " and %" PRIu32
                          " dimensions, both need 2",
                          a->rank, b->rank);
  return make_product(n, a, b, onnx_find_int(n->node, "transA", 0) != 0,
                      onnx_find_int(n->node, "transB", 0) != 0);
}

/* Weights of few bits: [..., K] and attributes K, N -> [..., N]. */
calm_status infer_matmul_nbits(infer_node *n) {
  const onnx_shape *a = infer_input_shape(n, 0);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!a || a->rank == 0) return CALM_OK;
  TRY(infer_make(&out, n, 0, a->rank));
  for (uint32_t i = 0; i + 1 < a->rank; i++) infer_copy(out, i, a, i);
  infer_set(out, a->rank - 1, onnx_find_int(n->node, "N", ONNX_UNKNOWN), NULL);
  return CALM_OK;
}

/* The determinant of the last two dimensions. */
calm_status infer_determinant(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || in->rank < 2) return CALM_OK;
  TRY(infer_make(&out, n, 0, in->rank - 2));
  for (uint32_t i = 0; i < out->rank; i++) infer_copy(out, i, in, i);
  return CALM_OK;
}
