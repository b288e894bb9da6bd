/* Small questions that several rules ask about a graph. */
#include "rewrite/rewrite_parts.h"

static const rewrite_hooks *const hooks[] = {
#define RULE(name, option, needs, identity, cost) &rewrite_##name##_hooks,
#include "rewrite/rules.def"
#undef RULE
};

const rewrite_hooks *rewrite_hooks_of(rewrite_rule rule) { return hooks[rule]; }

rewrite_rule rewrite_rule_at_concat(bool *out_known, const graph_op *op) {
  const bool convolution = rewrite_is_convolution(op->kind);
  *out_known = convolution || rewrite_is_channelwise(op->kind);
  return convolution ? REWRITE_channels : REWRITE_kernels;
}

tensor_id rewrite_output(const graph_op *op) {
  return op->output_count == 1 ? op->outputs[0] : CALM_NONE;
}

tensor_id rewrite_operand(const graph_op *op, uint32_t slot) {
  return slot < op->input_count ? op->inputs[slot] : CALM_NONE;
}

uint32_t rewrite_readers(const graph *g, tensor_id t) {
  return g->reader_begin[t + 1] - g->reader_begin[t];
}

uint32_t rewrite_channel_axis(const graph *g, uint32_t rank) {
  if (g->channels_first) return rank > 1 ? 1 : CALM_NONE;
  return rank > 0 ? rank - 1 : CALM_NONE;
}

uint64_t rewrite_channels(const graph *g, const graph_tensor *t) {
  if (t->type == ELEMENT_ABSTRACT) return t->bytes;
  const uint32_t axis = rewrite_channel_axis(g, t->rank);
  return axis == CALM_NONE ? 0 : (uint64_t)t->dimensions[axis];
}

/* A file that is made on paper needs no bytes. */
const char *rewrite_refuse_constant(const rewrite_finder *f, tensor_id t) {
  const graph_tensor *w = &f->g->tensors.data[t];
  if (f->g->producer[t] != CALM_NONE)
    return "its weights are computed by operators";
  if (!(w->flags & CALM_TENSOR_CONST)) return "its weights are no constants";
  if (f->options->abstract) return NULL;
  if (w->contents == CONTENTS_COMPUTED)
    return "its weights are computed by operators, or the caller may replace "
           "them";
  if (w->contents == CONTENTS_ELSEWHERE)
    return "its weights are in another file, or packed";
  if (w->type != ELEMENT_ABSTRACT && element_type_bits(w->type) % 8)
    return "its weights have less than a byte each";
  return NULL;
}

bool rewrite_is_quantized(const graph_tensor *t) {
  switch (t->type) {
    case ELEMENT_i8:
    case ELEMENT_u8:
    case ELEMENT_i16:
    case ELEMENT_u16:
    case ELEMENT_i4:
    case ELEMENT_u4:
    case ELEMENT_i2:
    case ELEMENT_u2: return true;
    default: return false;
  }
}

bool rewrite_scale(uint64_t *out, uint64_t channels, uint64_t x, uint64_t y) {
  uint64_t a = x, b = y;
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  *out = 0;
  if (x == 0 || channels % (x / a)) return false;
  *out = channels / (x / a) * (y / a);
  return true;
}

uint64_t rewrite_share(uint64_t channels, uint64_t x, uint64_t y) {
  const uint64_t rest = y % x;
  if (channels >= x) return y;
  return y / x * channels +
         (rest > UINT64_MAX / x ? rest / x * channels : rest * channels / x);
}
