/* Arithmetic of dimensions that may be unknown, and shapes made of them. */
#include <inttypes.h>
#include <string.h>

#include "model/onnx_infer.h"

/* ---- Numbers that may be unknown ----------------------------------------- */

int64_t infer_add(int64_t a, int64_t b) {
  if (a == ONNX_UNKNOWN || b == ONNX_UNKNOWN) return ONNX_UNKNOWN;
  if (b > 0 ? a > INT64_MAX - b : a < -INT64_MAX - b) return ONNX_UNKNOWN;
  return a + b;
}

int64_t infer_multiply(int64_t a, int64_t b) {
  if (a == ONNX_UNKNOWN || b == ONNX_UNKNOWN) return ONNX_UNKNOWN;
  if (a == 0 || b == 0) return 0;
  int64_t most = a < 0 ? -a : a;
  if ((b < 0 ? -b : b) > INT64_MAX / most) return ONNX_UNKNOWN;
  return a * b;
}

int64_t infer_divide(int64_t a, int64_t b) {
  if (a == ONNX_UNKNOWN || b == ONNX_UNKNOWN || b == 0) return ONNX_UNKNOWN;
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* From 2^53 on a double has no fraction. */
double infer_floor(double x) {
  if (!(x > -9.0e15 && x < 9.0e15)) return x;
  double whole = (double)(int64_t)x;
  return whole > x ? whole - 1 : whole;
}

/* ---- Single dimensions --------------------------------------------------- */

const char *infer_symbol(const onnx_shape *shape, uint32_t i) {
  return shape->symbols ? shape->symbols[i] : NULL;
}

void infer_set(onnx_shape *shape, uint32_t i, int64_t dim, const char *symbol) {
  shape->dims[i] = dim < 0 ? ONNX_UNKNOWN : dim;
  shape->symbols[i] = dim == ONNX_UNKNOWN ? symbol : NULL;
}

void infer_copy(onnx_shape *shape, uint32_t i, const onnx_shape *from,
                uint32_t j) {
  infer_set(shape, i, from->dims[j], infer_symbol(from, j));
}

bool infer_same_dim(const onnx_shape *a, uint32_t i, const onnx_shape *b,
                    uint32_t j) {
  if (a->dims[i] != b->dims[j]) return false;
  if (a->dims[i] != ONNX_UNKNOWN) return true;
  const char *one = infer_symbol(a, i), *other = infer_symbol(b, j);
  return one && other && !strcmp(one, other);
}

int64_t infer_product(const onnx_shape *shape, uint32_t first, uint32_t end) {
  int64_t product = 1;
  for (uint32_t i = first; i < end; i++)
    product = infer_multiply(product, shape->dims[i]);
  return product;
}

bool infer_complete(const onnx_shape *shape) {
  if (shape->rank == ONNX_NO_RANK) return false;
  for (uint32_t i = 0; i < shape->rank; i++)
    if (shape->dims[i] == ONNX_UNKNOWN) return false;
  return true;
}

/* ---- New shapes ---------------------------------------------------------- */

static calm_status make_shape(onnx_shape *out, onnx_reader *r, uint32_t rank) {
  ARENA_ARRAY(&r->scratch, out->dims, rank);
  ARENA_ARRAY(&r->scratch, out->symbols, rank);
  out->rank = rank;
  for (uint32_t i = 0; i < rank; i++) out->dims[i] = ONNX_UNKNOWN;
  return CALM_OK;
}

calm_status infer_make(onnx_shape **out, infer_node *n, uint32_t o,
                       uint32_t rank) {
  if (rank > INFER_MAX_RANK)
    return infer_conflict(n, "makes %" PRIu32 " dimensions, at most %d work",
                          rank, INFER_MAX_RANK);
  *out = &n->outputs[o].shape;
  n->outputs[o].most = NULL;
  return make_shape(*out, n->r, rank);
}

void infer_share(infer_node *n, uint32_t o, uint32_t i) {
  const onnx_value *from = infer_input(n, i);
  if (!from) return;
  n->outputs[o].shape = from->shape;
  n->outputs[o].most = from->most;
}

calm_status infer_make_scalar(infer_node *n, uint32_t o, int32_t type) {
  onnx_shape *shape;
  n->outputs[o].type = type;
  return infer_make(&shape, n, o, 0);
}

calm_status infer_make_line(infer_node *n, uint32_t o, int64_t length) {
  onnx_shape *shape;
  TRY(infer_make(&shape, n, o, 1));
  infer_set(shape, 0, length, NULL);
  return CALM_OK;
}

/* ---- Two shapes ---------------------------------------------------------- */

calm_status infer_agree(infer_node *n, onnx_shape *out, uint32_t i,
                        const onnx_shape *other, uint32_t j) {
  int64_t here = out->dims[i], there = other->dims[j];
  if (here != ONNX_UNKNOWN && there != ONNX_UNKNOWN && here != there)
    return infer_conflict(n,
                          "has operands of %" PRId64 " and %" PRId64
                          " in dimension %" PRIu32 ", which must be equal",
                          here, there, i);
  if (here == ONNX_UNKNOWN && (there != ONNX_UNKNOWN || !infer_symbol(out, i)))
    infer_copy(out, i, other, j);
  return CALM_OK;
}

/* A dimension of 1 gives way to the other one.  Of two that are not known, or
   of one that is not known and a 1, nothing can be said but for a name they
   share; one that is known and not 1 wins over one that is not known. */
static calm_status broadcast_dim(infer_node *n, onnx_shape *out, uint32_t i,
                                 const onnx_shape *other, uint32_t j) {
  int64_t here = out->dims[i], there = other->dims[j];
  if (there == 1 || infer_same_dim(out, i, other, j)) return CALM_OK;
  if (here == 1) {
    infer_copy(out, i, other, j);
  } else if (here == ONNX_UNKNOWN) {
    infer_set(out, i, there, NULL);
  } else if (there != ONNX_UNKNOWN) {
    return infer_conflict(n,
                          "has operands of %" PRId64 " and %" PRId64
                          " in dimension %" PRIu32
                          " of the output, which do not broadcast",
                          here, there, i);
  }
  return CALM_OK;
}

calm_status infer_broadcast(infer_node *n, uint32_t o, const onnx_shape *a,
                            const onnx_shape *b) {
  onnx_shape *out;
  const onnx_shape *high = a->rank < b->rank ? b : a;
  const onnx_shape *low = a->rank < b->rank ? a : b;
  onnx_shape long_one = *high, short_one = *low; /* `o` may be one of them */
  uint32_t ahead = high->rank - low->rank;
  TRY(infer_make(&out, n, o, long_one.rank));
  for (uint32_t i = 0; i < long_one.rank; i++) {
    infer_copy(out, i, &long_one, i);
    if (i >= ahead) TRY(broadcast_dim(n, out, i, &short_one, i - ahead));
  }
  return CALM_OK;
}

static calm_status join_shapes(onnx_shape *out, onnx_reader *r,
                               const onnx_shape *a, const onnx_shape *b) {
  onnx_shape made = {.rank = ONNX_NO_RANK};
  if (a->rank != ONNX_NO_RANK && a->rank == b->rank) {
    TRY(make_shape(&made, r, a->rank));
    for (uint32_t i = 0; i < a->rank; i++)
      if (infer_same_dim(a, i, b, i)) infer_copy(&made, i, a, i);
  }
  *out = made;
  return CALM_OK;
}

static bool same_elements(const onnx_contents *a, const onnx_contents *b) {
  if (!a->integers || !b->integers || a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->integers[i] != b->integers[i] || a->integers[i] == ONNX_UNKNOWN)
      return false;
  return true;
}

calm_status infer_join(onnx_value *out, onnx_reader *r, const onnx_value *a,
                       const onnx_value *b) {
  onnx_shape shape;
  TRY(join_shapes(&shape, r, &a->shape, &b->shape));
  out->shape = shape;
  out->type = a->type == b->type ? a->type : ONNX_UNDEFINED;
  out->flags |= (a->flags | b->flags) & ONNX_VALUE_OPAQUE;
  out->contents = same_elements(&a->contents, &b->contents)
                      ? a->contents
                      : (onnx_contents){0};
  return CALM_OK;
}

calm_status infer_refine(onnx_shape *out, onnx_reader *r,
                         const onnx_shape *made, const onnx_shape *stated) {
  *out = made->rank == ONNX_NO_RANK ? *stated : *made;
  if (made->rank == ONNX_NO_RANK || made->rank != stated->rank ||
      infer_complete(made))
    return CALM_OK;
  onnx_shape refined;
  TRY(make_shape(&refined, r, made->rank));
  for (uint32_t i = 0; i < made->rank; i++) {
    bool better = stated->dims[i] != ONNX_UNKNOWN || !infer_symbol(made, i);
    infer_copy(&refined, i,
               made->dims[i] == ONNX_UNKNOWN && better ? stated : made, i);
  }
  *out = refined;
  return CALM_OK;
}
