/* Matrix products as windows of one tap. */
#include "accel/accel_graph_parts.h"

static calm_status refuse(accel_extractor *e) {
  e->reason = "its operands do not have the dimensions of a matrix product";
  return CALM_OK;
}

static uint64_t elements(const graph_tensor *t, uint32_t begin, uint32_t end) {
  uint64_t product = 1;
  for (uint32_t d = begin; d < end; d++) product *= (uint64_t)t->dimensions[d];
  return product;
}

static accel_window product_window(uint64_t n, uint64_t rows, uint64_t depth,
                                   uint64_t columns) {
  return (accel_window){
      {{1, rows, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}, depth, columns, n, 1};
}

/* Weights [outputs, inputs]; the other operand is flattened to rows of inputs.
 */
calm_status accel_graph_dense(accel_extractor *e) {
  const graph_tensor *x = accel_graph_input(e, 0);
  const graph_tensor *w = x ? accel_graph_input(e, 1) : NULL;
  const graph_tensor *y = w ? accel_graph_output(e) : NULL;
  if (!y) return CALM_OK;
  if (w->rank != 2 || y->rank == 0 ||
      elements(x, 0, x->rank) % (uint64_t)w->dimensions[1]) {
    return refuse(e);
  }
  const uint64_t rows = elements(x, 0, x->rank) / (uint64_t)w->dimensions[1];
  const uint64_t n = y->rank > 2 ? (uint64_t)y->dimensions[0] : rows;
  if (rows == 0 || rows % n) return refuse(e);
  return accel_graph_add(e,
                         product_window(n, rows / n, (uint64_t)w->dimensions[1],
                                        (uint64_t)w->dimensions[0]));
}

/* A matrix in the last two dimensions; a vector is a row on the left, a column
   on the right. */
typedef struct matrix {
  const graph_tensor *tensor;
  uint64_t rows, columns;
  uint32_t batch; /* dimensions before it */
} matrix;

static matrix matrix_of(const graph_tensor *t, bool transposed, bool left) {
  matrix m = {t, 1, 1, t->rank > 2 ? t->rank - 2 : 0};
  if (t->rank == 1) {
    *(left ? &m.columns : &m.rows) = (uint64_t)t->dimensions[0];
    return m;
  }
  if (t->rank == 0) return m;
  m.rows = (uint64_t)t->dimensions[t->rank - 2];
  m.columns = (uint64_t)t->dimensions[t->rank - 1];
  if (transposed) {
    const uint64_t rows = m.rows;
    m.rows = m.columns;
    m.columns = rows;
  }
  return m;
}

static uint64_t batch_at(const matrix *m, uint32_t from_last) {
  return from_last < m->batch
             ? (uint64_t)m->tensor->dimensions[m->batch - 1 - from_last]
             : 1;
}

/*
 * Along each dimension of the batch: where both operands differ there are
 * groups; where the right one stays the same, as weights do, there are more
 * pictures; where the left one stays the same there are more columns.
 */
static bool fold_batch(accel_window *w, const matrix *a, const matrix *b) {
  const uint32_t most = a->batch > b->batch ? a->batch : b->batch;
  for (uint32_t i = 0; i < most; i++) {
    const uint64_t left = batch_at(a, i), right = batch_at(b, i);
    if (left == right)
      w->groups *= left;
    else if (right == 1)
      w->n *= left;
    else if (left == 1)
      w->k *= right;
    else
      return false;
  }
  return true;
}

static bool is_transposed(const graph_op *op, const char *key,
                          const char *other) {
  return graph_op_attribute(op, key) || graph_op_attribute(op, other);
}

calm_status accel_graph_product(accel_extractor *e) {
  const graph_op *op = accel_graph_op(e);
  const graph_tensor *x = accel_graph_input(e, 0);
  const graph_tensor *y =
      x ? accel_graph_input(e, op->kind == OP_qlinear_matmul ? 3 : 1) : NULL;
  if (!y) return CALM_OK;
  const matrix a =
      matrix_of(x, is_transposed(op, "transpose_a", "adj_x"), true);
  const matrix b =
      matrix_of(y, is_transposed(op, "transpose_b", "adj_y"), false);
  const bool batched = a.batch + b.batch > 0;
  accel_window w = batched ? product_window(1, a.rows, a.columns, b.columns)
                           : product_window(a.rows, 1, a.columns, b.columns);
  if (a.columns == b.rows && fold_batch(&w, &a, &b))
    return accel_graph_add(e, w);
  return refuse(e);
}
