/* Convolutions, plain, grouped, depthwise and transposed, as windows. */
#include "accel/accel_graph_parts.h"
#include "base/number.h"

/* Where the dimensions of a filter and of a picture are. */
typedef struct places {
  uint32_t filter_axis, filter_c, filter_k; /* its first spatial dimension */
  uint32_t picture_axis, picture_c;
  uint32_t axes;
} places;

static places places_of(const graph *g, op_kind kind, uint32_t rank) {
  const bool transposed = kind == OP_transpose_conv ||
                          kind == OP_conv1d_transpose ||
                          kind == OP_conv3d_transpose;
  if (g->channels_first)
    return (places){2, transposed ? 0 : 1, transposed ? 1 : 0, 2, 1, rank - 2};
  if (kind == OP_conv3d)
    return (places){0, rank - 2, rank - 1, 1, rank - 1, rank - 2};
  if (kind == OP_conv3d_transpose)
    return (places){0, rank - 1, rank - 2, 1, rank - 1, rank - 2};
  return (places){1, rank - 1, 0, 1, rank - 1, rank - 2};
}

/* Which operands are the picture and the filter. */
static void operands_of(op_kind kind, bool channels_first, uint32_t *picture,
                        uint32_t *filter) {
  *picture = 0;
  *filter = kind == OP_qlinear_conv ? 3 : 1;
  if (!channels_first &&
      (kind == OP_transpose_conv || kind == OP_conv3d_transpose))
    *picture = 2; /* behind the shape of the output */
}

typedef struct convolution {
  const graph_tensor *x, *w, *y;
  places at;
} convolution;

/* False, with the reason, if the operands do not fit. */
static bool find_convolution(convolution *out, accel_extractor *e) {
  const graph_op *op = accel_graph_op(e);
  uint32_t picture, filter;
  operands_of(op->kind, e->g->channels_first, &picture, &filter);
  out->x = accel_graph_input(e, picture);
  out->w = out->x ? accel_graph_input(e, filter) : NULL;
  out->y = out->w ? accel_graph_output(e) : NULL;
  if (!out->y) return false;
  const uint32_t rank = out->x->rank;
  if (rank < 3 || rank > 2 + ACCEL_AXES || out->w->rank != rank ||
      out->y->rank != rank) {
    e->reason = "its operands do not have the dimensions of a convolution";
    return false;
  }
  out->at = places_of(e->g, op->kind, rank);
  return true;
}

/* Channels of one group; false, with the reason, if they cannot be divided. */
static bool divide_channels(accel_window *w, const convolution *c,
                            accel_extractor *e) {
  const graph_op *op = accel_graph_op(e);
  const uint64_t in = (uint64_t)c->x->dimensions[c->at.picture_c];
  const uint64_t out = (uint64_t)c->y->dimensions[c->at.picture_c];
  const bool transposed = op->kind == OP_transpose_conv ||
                          op->kind == OP_conv1d_transpose ||
                          op->kind == OP_conv3d_transpose;
  if (op->kind == OP_depthwise_conv2d)
    w->groups = in;
  else if (e->g->channels_first || transposed)
    w->groups = accel_graph_number(op, "group", 0, 1);
  else
    w->groups = in / (uint64_t)c->w->dimensions[c->at.filter_c];
  w->n = (uint64_t)c->x->dimensions[0];
  if (w->groups > 0 && in % w->groups == 0 && out % w->groups == 0) {
    w->c = in / w->groups;
    w->k = out / w->groups;
    return true;
  }
  e->reason = "its channels do not divide into its groups";
  return false;
}

/* Axis 0 is the last one, the width. */
static accel_window_axis axis_of(const convolution *c, const graph_op *op,
                                 uint32_t i) {
  if (i >= c->at.axes) return (accel_window_axis){1, 1, 1, 1};
  const uint32_t d = c->at.axes - 1 - i;
  return (accel_window_axis){(uint64_t)c->w->dimensions[c->at.filter_axis + d],
                             (uint64_t)c->y->dimensions[c->at.picture_axis + d],
                             accel_graph_number(op, "stride", d, 1),
                             accel_graph_number(op, "dilation", d, 1)};
}

calm_status accel_graph_convolution(accel_extractor *e) {
  convolution c;
  accel_window w;
  if (!find_convolution(&c, e) || !divide_channels(&w, &c, e)) return CALM_OK;
  for (uint32_t i = 0; i < ACCEL_AXES; i++)
    w.axes[i] = axis_of(&c, accel_graph_op(e), i);
  return accel_graph_add(e, w);
}

/* ---- Transposed convolutions --------------------------------------------- */

/* What is cut off in front: as listed, else half of what is too much. */
static uint64_t crop_of(const graph_op *op, const accel_stretch *s,
                        uint32_t d) {
  if (graph_op_attribute(op, "pads"))
    return accel_graph_number(op, "pads", d, 0);
  uint64_t moved, reach, all;
  if (!number_multiply(&moved, s->inputs - 1, s->stride) ||
      !number_multiply(&reach, s->taps - 1, s->dilation) ||
      !number_add(&all, moved, reach))
    return 0;
  return all + 1 > s->outputs ? (all + 1 - s->outputs) / 2 : 0;
}

static uint32_t phases_of(accel_phase *out, const convolution *c,
                          accel_extractor *e, uint32_t i) {
  const graph_op *op = accel_graph_op(e);
  const accel_window_axis axis = axis_of(c, op, i);
  accel_stretch s = {axis.taps, axis.stride,    axis.dilation,
                     1,         axis.positions, 0};
  if (i >= c->at.axes) {
    *out = (accel_phase){axis, 1};
    return 1;
  }
  const uint32_t d = c->at.axes - 1 - i;
  if (s.stride == 0 || s.dilation == 0 || s.stride > ACCEL_MAX_STRETCH) {
    e->reason = "a stride that no transposed convolution has";
    return 0;
  }
  s.inputs = (uint64_t)c->x->dimensions[c->at.picture_axis + d];
  s.begin = crop_of(op, &s, d);
  return accel_stretch_phases(out, &s);
}

/* One convolution for each combination of kinds of phases. */
calm_status accel_graph_transposed(accel_extractor *e) {
  convolution c;
  accel_window w;
  accel_phase x[ACCEL_MAX_PHASES], y[ACCEL_MAX_PHASES], z[ACCEL_MAX_PHASES];
  if (!find_convolution(&c, e) || !divide_channels(&w, &c, e)) return CALM_OK;
  const uint64_t k = w.k;
  const uint32_t nx = phases_of(x, &c, e, 0), ny = phases_of(y, &c, e, 1),
                 nz = phases_of(z, &c, e, 2);
  for (uint32_t i = 0; i < nx * ny * nz; i++) {
    const accel_phase *px = &x[i % nx], *py = &y[i / nx % ny],
                      *pz = &z[i / nx / ny];
    w.axes[0] = px->axis;
    w.axes[1] = py->axis;
    w.axes[2] = pz->axis;
    w.k = k * px->count * py->count * pz->count;
    TRY(accel_graph_add(e, w));
  }
  return CALM_OK;
}
