#include <inttypes.h>
#include <math.h>

#include "model/onnx_infer.h"

/*
 * Resize and Upsample: sizes are given, or factors.  Runtimes multiply in
 * single precision and drop the fraction; so does this.
 */
typedef struct resize {
  infer_node *n;
  const onnx_shape *in;
  onnx_shape *out;
  infer_list axes;
} resize;

static calm_status resized_axis(uint32_t *out, const resize *r, uint32_t k) {
  int64_t axis = r->axes.given ? r->axes.data[k] : (int64_t)k;
  return infer_axis(out, r->n, axis, r->in->rank);
}

/* floor(size * factor), or ONNX_UNKNOWN. */
static int64_t scale(int64_t size, double factor) {
  if (size == ONNX_UNKNOWN || !(factor > 0)) return ONNX_UNKNOWN;
  float scaled = (float)size * (float)factor;
  return scaled < 9.0e18f ? (int64_t)scaled : ONNX_UNKNOWN;
}

static calm_status by_factors(resize *r, const double *factors,
                              uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    uint32_t i;
    TRY(resized_axis(&i, r, k));
    if (factors[k] <= 0)
      return infer_conflict(r->n,
                            "has a scale of %g for dimension %" PRIu32
                            ", it must be above 0",
                            factors[k], i);
    if (factors[k] != 1)
      infer_set(r->out, i, scale(r->in->dims[i], factors[k]), NULL);
  }
  return CALM_OK;
}

/* One factor for all axes, so that none becomes larger (or smaller) than what
   is given for it. */
static calm_status keep_aspect(resize *r, const infer_list *sizes,
                               bool larger) {
  double factor = larger ? 0 : INFINITY;
  for (uint32_t k = 0; k < sizes->count; k++) {
    uint32_t i;
    TRY(resized_axis(&i, r, k));
    int64_t size = r->in->dims[i];
    bool unknown = size <= 0 || sizes->data[k] == ONNX_UNKNOWN;
    double own =
        unknown ? (double)NAN : (double)((float)sizes->data[k] / (float)size);
    factor = unknown || factor != factor              ? (double)NAN
             : (larger ? own > factor : own < factor) ? own
                                                      : factor;
  }
  for (uint32_t k = 0; k < sizes->count; k++) {
    uint32_t i;
    TRY(resized_axis(&i, r, k));
    double size = factor == factor
                      ? infer_floor((double)r->in->dims[i] * factor + 0.5)
                      : -1;
    infer_set(r->out, i, size < 9.0e18 ? (int64_t)size : ONNX_UNKNOWN, NULL);
  }
  return CALM_OK;
}

static calm_status check_sizes(resize *r, const infer_list *sizes) {
  for (uint32_t k = 0; k < sizes->count; k++)
    if (sizes->data[k] < 0 && sizes->data[k] != ONNX_UNKNOWN)
      return infer_conflict(r->n, "has a size of %" PRId64, sizes->data[k]);
  return CALM_OK;
}

static calm_status by_sizes(resize *r, const infer_list *sizes) {
  const char *policy = "keep_aspect_ratio_policy";
  bool larger = infer_attribute_is(r->n->node, policy, "not_smaller");
  if (larger || infer_attribute_is(r->n->node, policy, "not_larger"))
    return keep_aspect(r, sizes, larger);
  for (uint32_t k = 0; k < sizes->count; k++) {
    uint32_t i;
    TRY(resized_axis(&i, r, k));
    infer_set(r->out, i, sizes->data[k],
              sizes->symbols ? sizes->symbols[k] : NULL);
  }
  return CALM_OK;
}

/* Operands are (X, factors) up to opset 10, then (X, roi, factors, sizes);
   Upsample of opset 7 and 8 has the factors as an attribute. */
static uint32_t factors_operand(const infer_node *n) {
  return n->argument && (n->node->opset == 0 || n->node->opset > 10) ? 2 : 1;
}

static bool empty(const onnx_value *value) {
  return !value || (value->shape.rank == 1 && value->shape.dims[0] == 0);
}

static void forget(resize *r, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) infer_set(r->out, i, ONNX_UNKNOWN, NULL);
}

static calm_status check_count(resize *r, uint32_t count) {
  uint32_t axes = r->axes.given ? r->axes.count : r->in->rank;
  if (count == axes) return CALM_OK;
  return infer_conflict(r->n, "resizes %" PRIu32 " of %" PRIu32 " dimensions",
                        count, axes);
}

static calm_status resize_by_factors(resize *r) {
  uint32_t at = factors_operand(r->n);
  const onnx_attribute *old = onnx_find(r->n->node, "scales");
  const onnx_contents *c = infer_input_contents(r->n, at);
  bool crop = infer_attribute_is(r->n->node, "coordinate_transformation_mode",
                                 "tf_crop_and_resize");
  if (old && old->type == ONNX_ATTRIBUTE_FLOATS && old->floats) {
    TRY(check_count(r, old->count));
    return by_factors(r, old->floats, old->count);
  }
  if (!c || !c->reals || crop) {
    forget(r, r->in->rank);
    return infer_depends(r->n, at);
  }
  TRY(check_count(r, c->count));
  return by_factors(r, c->reals, c->count);
}

calm_status infer_resize(infer_node *n) {
  resize r = {.n = n, .in = infer_input_shape(n, 0)};
  uint32_t at = factors_operand(n);
  n->outputs[0].type = infer_input_type(n, 0);
  r.axes = infer_list_of(n, CALM_NONE, "axes");
  if (!r.in) return CALM_OK;
  TRY(infer_make(&r.out, n, 0, r.in->rank));
  for (uint32_t i = 0; i < r.in->rank; i++) infer_copy(r.out, i, r.in, i);
  if (at == 1 || empty(infer_input(n, 3))) return resize_by_factors(&r);
  infer_list sizes = infer_list_of(n, 3, NULL);
  if (!sizes.data) {
    forget(&r, r.in->rank);
    return CALM_OK;
  }
  TRY(check_count(&r, sizes.count));
  TRY(check_sizes(&r, &sizes));
  return by_sizes(&r, &sizes);
}

/* GridSample: [batch, channels, as the grid...]. */
calm_status infer_grid_sample(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_shape *grid = infer_input_shape(n, 1);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || !grid || in->rank < 3 || in->rank != grid->rank) return CALM_OK;
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i < in->rank; i++)
    if (i < 2)
      infer_copy(out, i, in, i);
    else
      infer_copy(out, i, grid, i - 1);
  return CALM_OK;
}

/* AffineGrid: [N, C, (D,) H, W] -> [N, (D,) H, W, 2 or 3]. */
calm_status infer_affine_grid(infer_node *n) {
  infer_list size = infer_list_of(n, 1, NULL);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (size.count == CALM_NONE || size.count < 3) return CALM_OK;
  TRY(infer_make(&out, n, 0, size.count));
  for (uint32_t i = 0; size.data && i + 1 < size.count; i++)
    infer_set(out, i, size.data[i ? i + 1 : 0], NULL);
  infer_set(out, size.count - 1, (int64_t)size.count - 2, NULL);
  return CALM_OK;
}
