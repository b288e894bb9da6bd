/*
 * The dispatch of the libraries.  An operator has to pass three gates: its kind
 * and element type must have a kernel that was looked at, its shapes must be
 * known, and then the numbers decide, as they do in the library's wrapper.
 */
#include "kernel/kernel_pick.h"

/* ---- The operator at hand ------------------------------------------------ */

static const graph_tensor *operand(const graph *g, const tensor_id *ids,
                                   uint32_t count, uint32_t slot) {
  if (slot >= count || ids[slot] == CALM_NONE) return NULL;
  const graph_tensor *t = &g->tensors.data[ids[slot]];
  return t->type == ELEMENT_ABSTRACT || element_type_bits(t->type) < 8 ? NULL
                                                                       : t;
}

bool kernel_subject_of(kernel_subject *out, const graph *g, op_id id,
                       uint32_t slot) {
  const graph_op *op = &g->ops.data[id];
  *out = (kernel_subject){
      .g = g,
      .op = op,
      .slot = slot,
      .x = operand(g, op->inputs, op->input_count, slot),
      .y = operand(g, op->outputs, op->output_count, 0),
  };
  if (!out->x || !out->y || g->channels_first) return false;
  out->pictures = graph_window_of(&out->window, g, id);
  return true;
}

static bool same_shape(const graph_tensor *a, const graph_tensor *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->dimensions[i] != b->dimensions[i]) return false;
  return true;
}

/* ---- Tests of CMSIS-NN --------------------------------------------------- */

bool kernel_is_point(const graph_window *w) {
  return w->rows.taps == 1 && w->columns.taps == 1 && w->rows.before == 0 &&
         w->columns.before == 0 && w->rows.dilation == 1 &&
         w->columns.dilation == 1;
}

bool kernel_is_line(const graph_window *w) {
  return w->rows.input == 1 && w->rows.taps == 1 && w->columns.dilation == 1 &&
         w->columns.stride * w->in_channels % 4 == 0;
}

static int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool kernel_line_of(kernel_line *out, const window_axis *a) {
  const int64_t all = (a->output - 1) * a->stride + a->taps - a->input;
  const int64_t more = all % 2;
  out->uneven = more != 0;
  out->left = ceil_divide(a->before, a->stride);
  out->right = 0;
  if (a->before + more != 0) {
    out->right = ceil_divide(a->before + more, a->stride);
    if (out->right < 1) out->right = 1;
  }
  out->middle = a->output - out->left - out->right;
  if (out->middle < 0) out->middle = 0;
  return out->left + out->middle + out->right == a->output;
}

/* The pixels on the right are computed from a copy of all taps but one; and
   padding that differs by more than one is refused. */
static bool line_goes_wrong(const kernel_line *line, const window_axis *a) {
  const int64_t all = (a->output - 1) * a->stride + a->taps - a->input;
  return a->stride * (a->output - line->right) - a->before + a->taps - 1 >
             a->input ||
         2 * a->before + all % 2 != all;
}

bool kernel_becomes_conv(const graph_window *w, op_kind kind) {
  return kind == OP_depthwise_conv2d && w->in_channels == 1 &&
         w->out_channels > 1;
}

bool kernel_dense_is_point(const kernel_subject *s) {
  const graph_tensor *w = operand(s->g, s->op->inputs, s->op->input_count, 1);
  return s->y->rank > 2 && w && w->rank > 0 &&
         w->dimensions[w->rank - 1] % 4 == 0;
}

/* ---- CMSIS-NN ------------------------------------------------------------ */

static kernel_row pick_mve_line(const graph_window *w) {
  kernel_line line;
  if (!kernel_line_of(&line, &w->columns)) return KERNEL_CMSIS_LINE;
  return line_goes_wrong(&line, &w->columns) ? KERNEL_MVE_LINE_BEYOND
                                             : KERNEL_MVE_LINE;
}

static kernel_row pick_point(bool mve, const graph_window *w) {
  const bool strided = w->rows.stride != 1 || w->columns.stride != 1;
  if (mve) return strided ? KERNEL_MVE_POINT_STRIDED : KERNEL_MVE_POINT;
  if (strided) return KERNEL_CMSIS_POINT_STRIDED;
  return w->out_channels > 2 ? KERNEL_CMSIS_POINT : KERNEL_CMSIS_POINT_NARROW;
}

static kernel_row pick_conv(bool mve, const graph_window *w) {
  if (kernel_is_point(w)) return pick_point(mve, w);
  if (kernel_is_line(w)) return mve ? pick_mve_line(w) : KERNEL_CMSIS_LINE;
  return KERNEL_CMSIS_CONV;
}

static kernel_row pick_depthwise(bool mve, const graph_window *w) {
  if (mve && kernel_becomes_conv(w, OP_depthwise_conv2d))
    return pick_conv(true, w);
  const bool whole =
      w->multiplier == 1 && w->rows.dilation == 1 && w->columns.dilation == 1;
  if (mve && whole && w->in_channels > MVE_BLOCK)
    return KERNEL_MVE_DEPTHWISE_WIDE;
  return KERNEL_CMSIS_DEPTHWISE;
}

static int64_t rows_of(const graph_tensor *t) {
  int64_t rows = 1;
  for (uint32_t i = 0; i + 1 < t->rank; i++) rows *= t->dimensions[i];
  return rows;
}

/* Only rows and columns of a picture were padded in the measurements. */
static kernel_row pick_pad(const kernel_subject *s) {
  if (s->x->rank != 4 || s->y->rank != 4) return KERNEL_CMSIS_PAD_OTHER;
  return s->x->dimensions[0] == s->y->dimensions[0] &&
                 s->x->dimensions[3] == s->y->dimensions[3]
             ? KERNEL_CMSIS_PAD
             : KERNEL_CMSIS_PAD_OTHER;
}

static kernel_row pick_dense_row(const kernel_subject *s) {
  return kernel_dense_is_point(s) && rows_of(s->y) > 1
             ? KERNEL_CMSIS_DENSE_POINT
             : KERNEL_CMSIS_DENSE;
}

/* `none`: it has no kernel of its own for the kind. */
static kernel_row pick_cmsis(bool mve, const kernel_subject *s,
                             kernel_row none) {
  switch (s->op->kind) {
    case OP_conv2d:
      if (s->window.groups != 1) return KERNEL_CMSIS_GROUPED;
      return pick_conv(mve, &s->window);
    case OP_depthwise_conv2d: return pick_depthwise(mve, &s->window);
    case OP_average_pool2d:
    case OP_max_pool2d: return KERNEL_CMSIS_POOL;
    case OP_fully_connected: return pick_dense_row(s);
    case OP_add:
    case OP_mul: return KERNEL_CMSIS_ELEMENTS;
    case OP_softmax: return KERNEL_CMSIS_SOFTMAX;
    case OP_pad: return pick_pad(s);
    case OP_maximum:
    case OP_minimum: return KERNEL_CMSIS_LARGEST;
    default: return none;
  }
}

/* ---- ESP-NN -------------------------------------------------------------- */

static kernel_row pick_esp(const kernel_subject *s, kernel_row none) {
  switch (s->op->kind) {
    case OP_conv2d:
      return s->window.groups != 1 ? KERNEL_ESP_GROUPED : KERNEL_ESP_CONV;
    case OP_depthwise_conv2d: return KERNEL_ESP_DEPTHWISE;
    case OP_average_pool2d:
    case OP_max_pool2d: return KERNEL_ESP_POOL;
    case OP_fully_connected: return KERNEL_ESP_DENSE;
    case OP_add:
    case OP_mul: return KERNEL_ESP_ELEMENTS;
    case OP_softmax: return KERNEL_ESP_SOFTMAX;
    default: return none;
  }
}

/* ---- The reference ------------------------------------------------------- */

/* Element-wise kernels that were measured with floats alone. */
static const op_kind float_kinds[] = {OP_abs,
                                      OP_neg,
                                      OP_exp,
                                      OP_log,
                                      OP_sin,
                                      OP_cos,
                                      OP_sqrt,
                                      OP_rsqrt,
                                      OP_square,
                                      OP_floor,
                                      OP_ceil,
                                      OP_round,
                                      OP_elu,
                                      OP_div,
                                      OP_floor_div,
                                      OP_floor_mod,
                                      OP_squared_difference};

static bool is_float_kind(op_kind kind) {
  for (size_t i = 0; i < sizeof float_kinds / sizeof *float_kinds; i++)
    if (float_kinds[i] == kind) return true;
  return false;
}

static kernel_row pick_reference(const kernel_subject *s) {
  switch (s->op->kind) {
    case OP_conv2d: return s->window.groups != 1 ? KERNEL_GROUPED : KERNEL_CONV;
    case OP_depthwise_conv2d: return KERNEL_DEPTHWISE;
    case OP_average_pool2d:
    case OP_max_pool2d: return KERNEL_POOL;
    case OP_fully_connected: return KERNEL_DENSE;
    case OP_pad: return KERNEL_PAD;
    case OP_slice: return KERNEL_SLICE;
    case OP_softmax: return KERNEL_SOFTMAX;
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_maximum:
    case OP_minimum:
    case OP_relu:
    case OP_relu6:
    case OP_leaky_relu:
    case OP_hard_swish:
    case OP_tanh:
    case OP_logistic:
    case OP_quantize: return KERNEL_ELEMENTS;
    default:
      return is_float_kind(s->op->kind) ? KERNEL_ELEMENTS : KERNEL_OTHER_KIND;
  }
}

/* ---- The gates ----------------------------------------------------------- */

static bool is_measured_type(const kernel_subject *s, element_type type) {
  return type == ELEMENT_f32 ||
         (type == ELEMENT_i8 && !is_float_kind(s->op->kind));
}

/* Operands and weights of one type; a quantization may change it. */
static bool types_fit(const kernel_subject *s) {
  const graph_tensor *w = NULL;
  if (s->op->kind == OP_conv2d || s->op->kind == OP_depthwise_conv2d ||
      s->op->kind == OP_fully_connected) {
    if (s->op->input_count < 2 || s->op->inputs[1] == CALM_NONE) return false;
    w = &s->g->tensors.data[s->op->inputs[1]];
  }
  if (!is_measured_type(s, s->x->type) || !is_measured_type(s, s->y->type))
    return false;
  if (s->op->kind == OP_quantize) return true;
  return s->x->type == s->y->type && (!w || w->type == s->x->type);
}

/* A constant is broadcast to a picture: no library has a kernel of its own for
   that. */
static bool is_scaled_by_constant(const kernel_subject *s) {
  const op_kind kind = s->op->kind;
  if ((kind != OP_mul && kind != OP_sub) || s->op->input_count != 2 ||
      s->slot > 1 || !same_shape(s->x, s->y))
    return false;
  const graph_tensor *other = operand(s->g, s->op->inputs, 2, 1 - s->slot);
  return other && (other->flags & CALM_TENSOR_CONST);
}

/* Which operands are read element for element; of two, all must be of the
   output's shape. */
static kernel_row check_elements(const kernel_subject *s) {
  if (is_scaled_by_constant(s)) return KERNEL_CONSTANT;
  for (uint32_t i = 0; i < s->op->input_count && i < 2; i++) {
    const graph_tensor *x = operand(s->g, s->op->inputs, s->op->input_count, i);
    if (!x || !same_shape(x, s->y)) return KERNEL_BROADCAST;
  }
  return s->slot < 2 ? KERNEL_ROWS : KERNEL_OTHER_OPERAND;
}

static bool is_dense_known(const kernel_subject *s) {
  const graph_tensor *w = operand(s->g, s->op->inputs, s->op->input_count, 1);
  return w && w->rank == 2 && s->y->rank > 0 && s->x->rank > 0 &&
         w->dimensions[0] == s->y->dimensions[s->y->rank - 1] &&
         w->dimensions[0] > 0 && w->dimensions[1] > 0 && s->y->bytes > 0 &&
         s->x->bytes / (uint64_t)w->dimensions[1] ==
             s->y->bytes / (uint64_t)w->dimensions[0];
}

/* KERNEL_ROWS if shapes and attributes say what the formula needs. */
static kernel_row check_shapes(const kernel_subject *s) {
  int64_t numbers[GRAPH_MAX_RANK];
  switch (s->op->kind) {
    case OP_conv2d:
    case OP_depthwise_conv2d:
    case OP_average_pool2d:
    case OP_max_pool2d:
      if (!s->pictures) return KERNEL_OTHER_SHAPE;
      if (s->window.batches != 1) return KERNEL_OTHER_BATCHES;
      break;
    case OP_fully_connected:
      if (!is_dense_known(s)) return KERNEL_OTHER_SHAPE;
      break;
    case OP_pad:
      if (s->x->rank != s->y->rank ||
          graph_op_numbers(numbers, s->op, "before") != s->x->rank)
        return KERNEL_OTHER_SHAPE;
      break;
    case OP_slice:
      if (s->x->rank != s->y->rank ||
          graph_op_numbers(numbers, s->op, "begin") != s->x->rank)
        return KERNEL_OTHER_SHAPE;
      break;
    default: return check_elements(s);
  }
  return s->slot == 0 ? KERNEL_ROWS : KERNEL_OTHER_OPERAND;
}

/* ---- Libraries ----------------------------------------------------------- */

const kernel_row_facts kernel_rows[] = {
#define ROW(name, formula, reference, why, evidence) \
  {FORMULA_##formula, reference, why, evidence},
#include "kernel/kernel_rows.def"
#undef ROW
};

/* A kernel for floats is TFLM's own in every library. */
static kernel_row pick_of(kernel_library library, const kernel_subject *s) {
  const kernel_row own = pick_reference(s);
  if (library == KERNELS_REFERENCE || s->x->type == ELEMENT_f32) return own;
  if (library == KERNELS_ESP_NN_ANSI) return pick_esp(s, own);
  return pick_cmsis(library == KERNELS_CMSIS_NN_MVE, s, own);
}

/* Safe wherever it runs, at the distance of the reference.  Several rows at
   once were not measured under every routing. */
static kernel_row pick_portable(const kernel_subject *s) {
  for (int i = KERNELS_CMSIS_NN_C; i < KERNEL_LIBRARIES; i++) {
    const kernel_row row = pick_of((kernel_library)i, s);
    if (kernel_rows[row].formula == FORMULA_NEVER) return row;
    if (!kernel_rows[row].reference) return KERNEL_OTHER_ORDER;
  }
  if (s->op->kind == OP_fully_connected && rows_of(s->y) > 1)
    return KERNEL_OTHER_BATCHES;
  return pick_reference(s);
}

kernel_row kernel_pick(kernel_library library, const kernel_subject *s) {
  if (library == KERNELS_AUTO) return KERNEL_UNNAMED;
  if (pick_reference(s) == KERNEL_OTHER_KIND) return KERNEL_OTHER_KIND;
  if (!types_fit(s)) return KERNEL_OTHER_TYPE;
  const kernel_row fault = check_shapes(s);
  if (fault != KERNEL_ROWS) return fault;
  return library == KERNELS_PORTABLE ? pick_portable(s) : pick_of(library, s);
}
