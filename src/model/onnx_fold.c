#include <math.h>
#include <string.h>

#include "model/onnx_infer.h"

/*
 * Arithmetic on small tensors, element by element and broadcast.  An integer
 * that is not known, that its type cannot hold, or that has no place in 64 bits
 * becomes unknown; a real number that is not known is not a number, which
 * arithmetic passes on by itself.
 */

/* ---- Types --------------------------------------------------------------- */

/* `value` if the integer type can hold it. */
static int64_t hold(int32_t type, int64_t value) {
  static const struct {
    int32_t type;
    int64_t low, high;
  } rows[] = {{ONNX_UINT8, 0, UINT8_MAX},
              {ONNX_INT8, INT8_MIN, INT8_MAX},
              {4, 0, UINT16_MAX},
              {5, INT16_MIN, INT16_MAX},
              {ONNX_INT32, INT32_MIN, INT32_MAX},
              {ONNX_BOOL, 0, 1},
              {12, 0, UINT32_MAX},
              {13, 0, INT64_MAX}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].type == type)
      return value < rows[i].low || value > rows[i].high ? ONNX_UNKNOWN : value;
  return value;
}

/* `value` as the real type stores it.  Of half precision nothing is said. */
static double store(int32_t type, double value) {
  if (type == ONNX_DOUBLE) return value;
  return type == ONNX_FLOAT ? (double)(float)value : (double)NAN;
}

/* ---- One operand --------------------------------------------------------- */

/* Halves go to the even neighbour. */
static double round_to_even(double x) {
  double below = infer_floor(x), rest = x - below;
  bool odd = below / 2 != infer_floor(below / 2);
  return rest > 0.5 || (!(rest < 0.5) && odd) ? below + 1 : below;
}

static double unary_real(const char *op, double x) {
  if (!strcmp(op, "Neg")) return -x;
  if (!strcmp(op, "Abs")) return x < 0 ? -x : x;
  if (!strcmp(op, "Floor")) return infer_floor(x);
  if (!strcmp(op, "Ceil")) return -infer_floor(-x);
  if (!strcmp(op, "Relu")) return x < 0 ? 0 : x;
  if (!strcmp(op, "Round")) return round_to_even(x);
  return (double)NAN;
}

static int64_t unary_integer(const char *op, int64_t x) {
  if (x == ONNX_UNKNOWN) return x;
  if (!strcmp(op, "Neg")) return -x;
  if (!strcmp(op, "Abs")) return x < 0 ? -x : x;
  if (!strcmp(op, "Relu")) return x < 0 ? 0 : x;
  if (!strcmp(op, "Not")) return !x;
  return ONNX_UNKNOWN;
}

calm_status fold_unary(infer_node *n) {
  const onnx_contents *in = infer_input_contents(n, 0);
  const char *op = n->node->op_type;
  int32_t type = n->outputs[0].type;
  onnx_contents *out;
  if (!in) return CALM_OK;
  TRY(infer_make_contents(&out, n, 0));
  for (uint32_t i = 0; out && i < out->count; i++)
    if (out->integers && in->integers)
      infer_set_integer(out, i, hold(type, unary_integer(op, in->integers[i])));
    else if (out->reals && in->reals)
      out->reals[i] = store(type, unary_real(op, in->reals[i]));
  return CALM_OK;
}

/* ---- Two operands -------------------------------------------------------- */

static double binary_real(const char *op, double x, double y) {
  if (!strcmp(op, "Add") || !strcmp(op, "Sum")) return x + y;
  if (!strcmp(op, "Sub")) return x - y;
  if (!strcmp(op, "Mul")) return x * y;
  if (!strcmp(op, "Div")) return x / y;
  if (x != x || y != y) return (double)NAN;
  if (!strcmp(op, "Min")) return x < y ? x : y;
  if (!strcmp(op, "Max")) return x > y ? x : y;
  return (double)NAN;
}

/* Rounded to 0, as integers are divided. */
static int64_t divide(int64_t x, int64_t y) { return y ? x / y : ONNX_UNKNOWN; }

/* The remainder has the sign of the divisor, with fmod that of the dividend. */
static int64_t modulo(const onnx_node *node, int64_t x, int64_t y) {
  if (y == 0) return ONNX_UNKNOWN;
  int64_t rest = x % y;
  bool fmod_like = onnx_find_int(node, "fmod", 0) != 0;
  return rest && !fmod_like && (rest < 0) != (y < 0) ? rest + y : rest;
}

static int64_t power(int64_t x, int64_t y) {
  int64_t result = y < 0 || y > 64 ? ONNX_UNKNOWN : 1;
  for (; y > 0 && result != ONNX_UNKNOWN; y--)
    result = infer_multiply(result, x);
  return result;
}

static int64_t compare(const char *op, int order) {
  if (!strcmp(op, "Equal")) return order == 0;
  if (!strcmp(op, "Greater")) return order > 0;
  if (!strcmp(op, "Less")) return order < 0;
  if (!strcmp(op, "GreaterOrEqual")) return order >= 0;
  return !strcmp(op, "LessOrEqual") ? order <= 0 : ONNX_UNKNOWN;
}

static int64_t binary_integer(const onnx_node *node, int64_t x, int64_t y) {
  const char *op = node->op_type;
  if (x == ONNX_UNKNOWN || y == ONNX_UNKNOWN) return ONNX_UNKNOWN;
  if (!strcmp(op, "Add") || !strcmp(op, "Sum")) return infer_add(x, y);
  if (!strcmp(op, "Sub")) return infer_add(x, -y);
  if (!strcmp(op, "Mul")) return infer_multiply(x, y);
  if (!strcmp(op, "Div")) return divide(x, y);
  if (!strcmp(op, "Mod")) return modulo(node, x, y);
  if (!strcmp(op, "Pow")) return power(x, y);
  if (!strcmp(op, "Min")) return x < y ? x : y;
  if (!strcmp(op, "Max")) return x > y ? x : y;
  if (!strcmp(op, "And")) return x && y;
  if (!strcmp(op, "Or")) return x || y;
  if (!strcmp(op, "Xor")) return !x != !y;
  return compare(op, (x > y) - (x < y));
}

/* Two elements, of which one may be a dimension without a number. */
typedef struct pair {
  const onnx_contents *a, *b;
  uint32_t i, j;
} pair;

static const char *symbol_of(const onnx_contents *c, uint32_t i) {
  return c->symbols && c->integers[i] == ONNX_UNKNOWN ? c->symbols[i] : NULL;
}

/* A dimension times 1 or plus 0 is that dimension. */
static bool is_neutral(const char *op, int64_t value) {
  if (!strcmp(op, "Mul") || !strcmp(op, "Div")) return value == 1;
  return (!strcmp(op, "Add") || !strcmp(op, "Sub")) && value == 0;
}

/* A dimension is itself, and never below 0. */
static int64_t compare_symbols(const pair *p) {
  const char *a = symbol_of(p->a, p->i), *b = symbol_of(p->b, p->j);
  if (a && b && !strcmp(a, b)) return 1;
  if (a && p->b->integers[p->j] < 0 && !b &&
      p->b->integers[p->j] != ONNX_UNKNOWN)
    return 0;
  if (b && p->a->integers[p->i] < 0 && !a &&
      p->a->integers[p->i] != ONNX_UNKNOWN)
    return 0;
  return ONNX_UNKNOWN;
}

static void fold_integers(onnx_contents *out, uint32_t k, const infer_node *n,
                          const pair *p) {
  const char *op = n->node->op_type;
  int64_t x = p->a->integers[p->i], y = p->b->integers[p->j];
  bool either = !strcmp(op, "Add") || !strcmp(op, "Mul");
  int64_t made = hold(n->outputs[0].type, binary_integer(n->node, x, y));
  if (x != ONNX_UNKNOWN && y != ONNX_UNKNOWN)
    infer_set_integer(out, k, made);
  else if (symbol_of(p->a, p->i) && is_neutral(op, y))
    infer_move(out, k, p->a, p->i);
  else if (either && symbol_of(p->b, p->j) && is_neutral(op, x))
    infer_move(out, k, p->b, p->j);
  else
    infer_set_integer(out, k,
                      !strcmp(op, "Equal") ? compare_symbols(p) : ONNX_UNKNOWN);
}

static void fold_reals(onnx_contents *out, uint32_t k, const infer_node *n,
                       const pair *p) {
  double x = p->a->reals[p->i], y = p->b->reals[p->j];
  const char *op = n->node->op_type;
  if (out->reals)
    out->reals[k] = store(n->outputs[0].type, binary_real(op, x, y));
  else if (x == x && y == y)
    infer_set_integer(out, k, compare(op, (x > y) - (x < y)));
}

/* Which element of an operand belongs to element `k` of the output. */
static uint32_t broadcast_index(const onnx_shape *out, const onnx_shape *in,
                                uint32_t k) {
  int64_t left = k, at = 0, stride = 1;
  for (uint32_t i = out->rank, j = in->rank; i > 0 && j > 0; i--, j--) {
    if (in->dims[j - 1] != 1) at += left % out->dims[i - 1] * stride;
    stride *= in->dims[j - 1];
    left /= out->dims[i - 1];
  }
  return (uint32_t)at;
}

static void fold_pair(onnx_contents *out, uint32_t k, const infer_node *n,
                      const pair *p) {
  if (p->a->integers && p->b->integers && out->integers)
    fold_integers(out, k, n, p);
  else if (p->a->reals && p->b->reals)
    fold_reals(out, k, n, p);
}

calm_status fold_binary(infer_node *n) {
  const onnx_contents *a = infer_input_contents(n, 0);
  const onnx_contents *b = infer_input_contents(n, 1);
  const onnx_shape *shape = &n->outputs[0].shape;
  onnx_contents *out;
  if (!a || !b || onnx_find_int(n->node, "broadcast", 0)) return CALM_OK;
  TRY(infer_make_contents(&out, n, 0));
  for (uint32_t k = 0; out && k < out->count; k++) {
    pair p = {a, b, broadcast_index(shape, infer_input_shape(n, 0), k),
              broadcast_index(shape, infer_input_shape(n, 1), k)};
    fold_pair(out, k, n, &p);
  }
  return CALM_OK;
}

/* Any number of operands, one after the other. */
calm_status fold_variadic(infer_node *n) {
  const onnx_shape *shape = &n->outputs[0].shape;
  onnx_contents *out;
  for (uint32_t i = 0; i < n->node->input_count; i++)
    if (!infer_input_contents(n, i)) return CALM_OK;
  TRY(infer_make_contents(&out, n, 0));
  for (uint32_t i = 0; out && i < n->node->input_count; i++) {
    const onnx_contents *in = infer_input_contents(n, i);
    for (uint32_t k = 0; k < out->count; k++) {
      uint32_t at = broadcast_index(shape, infer_input_shape(n, i), k);
      pair p = {out, in, k, at};
      if (i == 0)
        infer_move(out, k, in, at);
      else
        fold_pair(out, k, n, &p);
    }
  }
  return CALM_OK;
}

/* ---- Where --------------------------------------------------------------- */

static bool same_element(const pair *p) {
  if (p->a->integers && p->b->integers)
    return p->a->integers[p->i] == p->b->integers[p->j];
  return p->a->reals && p->b->reals &&
         !(p->a->reals[p->i] < p->b->reals[p->j]) &&
         !(p->a->reals[p->i] > p->b->reals[p->j]);
}

static void choose(onnx_contents *out, uint32_t k, int64_t flag,
                   const pair *p) {
  if (flag == ONNX_UNKNOWN && !same_element(p)) return;
  if (flag != 0)
    infer_move(out, k, p->a, p->i);
  else
    infer_move(out, k, p->b, p->j);
}

calm_status fold_where(infer_node *n) {
  const onnx_contents *flags = infer_input_contents(n, 0);
  const onnx_contents *a = infer_input_contents(n, 1);
  const onnx_contents *b = infer_input_contents(n, 2);
  const onnx_shape *shape = &n->outputs[0].shape;
  onnx_contents *out;
  if (!flags || !flags->integers || !a || !b) return CALM_OK;
  TRY(infer_make_contents(&out, n, 0));
  for (uint32_t k = 0; out && k < out->count; k++) {
    pair p = {a, b, broadcast_index(shape, infer_input_shape(n, 1), k),
              broadcast_index(shape, infer_input_shape(n, 2), k)};
    uint32_t at = broadcast_index(shape, infer_input_shape(n, 0), k);
    choose(out, k, flags->integers[at], &p);
  }
  return CALM_OK;
}

/* ---- Other types, other shapes ------------------------------------------- */

static int64_t to_integer(int32_t type, double value) {
  if (type == ONNX_BOOL) return value != value ? ONNX_UNKNOWN : value != 0;
  if (!(value > -9.0e18 && value < 9.0e18)) return ONNX_UNKNOWN;
  return hold(type, (int64_t)value);
}

static void cast_element(onnx_contents *out, const onnx_contents *in,
                         uint32_t i, int32_t type) {
  if (in->integers && out->integers && type == ONNX_BOOL) {
    int64_t value = in->integers[i];
    infer_set_integer(out, i, value == ONNX_UNKNOWN ? value : value != 0);
  } else if (in->integers && out->integers) {
    infer_move(out, i, in, i);
    out->integers[i] = hold(type, in->integers[i]);
  } else if (in->integers) {
    double value =
        in->integers[i] == ONNX_UNKNOWN ? (double)NAN : (double)in->integers[i];
    out->reals[i] = store(type, value);
  } else if (out->integers) {
    infer_set_integer(out, i, to_integer(type, in->reals[i]));
  } else {
    out->reals[i] = store(type, in->reals[i]);
  }
}

calm_status fold_cast(infer_node *n) {
  const onnx_contents *in = infer_input_contents(n, 0);
  onnx_contents *out;
  if (!in) return CALM_OK;
  TRY(infer_make_contents(&out, n, 0));
  for (uint32_t i = 0; out && i < out->count; i++)
    cast_element(out, in, i, n->outputs[0].type);
  return CALM_OK;
}

/* The same elements in the same order. */
calm_status fold_copy(infer_node *n) {
  const onnx_contents *in = infer_input_contents(n, 0);
  if (in && infer_complete(&n->outputs[0].shape)) n->outputs[0].contents = *in;
  return CALM_OK;
}
