#include <inttypes.h>

#include "model/onnx_infer.h"

/* Larger operators: attention, losses, text, and what optimisers fuse. */

/* ---- Attention ----------------------------------------------------------- */

/* An operand of attention is [batch, heads, steps, size], or [batch, steps,
   heads * size] with the heads in an attribute. */
typedef struct heads {
  const onnx_shape *shape;
  int64_t count;
} heads;

static heads read_heads(const infer_node *n, uint32_t i, const char *name) {
  heads h = {infer_input_shape(n, i),
             onnx_find_int(n->node, name, ONNX_UNKNOWN)};
  if (h.shape && h.shape->rank == 4) h.count = h.shape->dims[1];
  return h;
}

static int64_t steps_of(const heads *h) {
  if (!h->shape || h->shape->rank < 3) return ONNX_UNKNOWN;
  return h->shape->dims[h->shape->rank - 2];
}

static int64_t size_of(const heads *h) {
  if (!h->shape || h->shape->rank < 3) return ONNX_UNKNOWN;
  int64_t last = h->shape->dims[h->shape->rank - 1];
  return h->shape->rank == 4 ? last : infer_divide(last, h->count);
}

static calm_status make_heads(infer_node *n, uint32_t o, const onnx_shape *like,
                              const int64_t sizes[3]) {
  onnx_shape *out;
  n->outputs[o].type = infer_input_type(n, 0);
  TRY(infer_make(&out, n, o, 4));
  infer_copy(out, 0, like, 0);
  for (uint32_t i = 0; i < 3; i++) infer_set(out, 1 + i, sizes[i], NULL);
  return CALM_OK;
}

/* Y has the steps of Q and the size of V; the keys and values of earlier calls
   (operands 4 and 5) come in front of those of this one. */
calm_status infer_attention(infer_node *n) {
  heads q = read_heads(n, 0, "q_num_heads"),
        k = read_heads(n, 1, "kv_num_heads");
  heads v = read_heads(n, 2, "kv_num_heads");
  const onnx_shape *past = infer_input_shape(n, 4);
  int64_t total = steps_of(&k);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!q.shape || q.shape->rank < 3) return CALM_OK;
  if (infer_input(n, 4))
    total = infer_add(total,
                      past && past->rank == 4 ? past->dims[2] : ONNX_UNKNOWN);
  TRY(infer_make(&out, n, 0, q.shape->rank));
  for (uint32_t i = 0; i < out->rank; i++) infer_copy(out, i, q.shape, i);
  int64_t size = size_of(&v);
  infer_set(out, out->rank - 1,
            out->rank == 4 ? size : infer_multiply(size, q.count), NULL);
  TRY(make_heads(n, 1, q.shape, (int64_t[]){k.count, total, size_of(&k)}));
  TRY(make_heads(n, 2, q.shape, (int64_t[]){v.count, total, size}));
  return make_heads(n, 3, q.shape, (int64_t[]){q.count, steps_of(&q), total});
}

/* com.microsoft Attention: one matrix makes queries, keys and values. */
calm_status infer_fused_attention(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_shape *weights = infer_input_shape(n, 1);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || in->rank != 3) return CALM_OK;
  TRY(infer_make(&out, n, 0, 3));
  for (uint32_t i = 0; i < 2; i++) infer_copy(out, i, in, i);
  int64_t own = weights && weights->rank == 2
                    ? infer_divide(weights->dims[1], 3)
                    : ONNX_UNKNOWN;
  infer_set(out, 2, infer_attribute_at(n->node, "qkv_hidden_sizes", 2, own),
            NULL);
  return CALM_OK;
}

/* One state per pair of key and value takes the place of earlier calls. */
calm_status infer_linear_attention(infer_node *n) {
  heads q = read_heads(n, 0, "q_num_heads"),
        k = read_heads(n, 1, "kv_num_heads");
  heads v = read_heads(n, 2, "kv_num_heads");
  int64_t size = size_of(&v);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!q.shape || q.shape->rank != 3) return CALM_OK;
  TRY(infer_make(&out, n, 0, 3));
  for (uint32_t i = 0; i < 2; i++) infer_copy(out, i, q.shape, i);
  infer_set(out, 2, infer_multiply(q.count, size), NULL);
  return make_heads(n, 1, q.shape, (int64_t[]){k.count, size_of(&k), size});
}

/* A convolution that keeps what its next call still needs: kernel - 1. */
calm_status infer_causal_conv(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_shape *filter = infer_input_shape(n, 1);
  onnx_shape *state;
  n->outputs[0].type = n->outputs[1].type = infer_input_type(n, 0);
  infer_share(n, 0, 0);
  if (!in || in->rank != 3) return CALM_OK;
  TRY(infer_make(&state, n, 1, 3));
  for (uint32_t i = 0; i < 2; i++) infer_copy(state, i, in, i);
  if (filter && filter->rank == 3)
    infer_set(state, 2, infer_add(filter->dims[2], -1), NULL);
  return CALM_OK;
}

/* ---- Training -----------------------------------------------------------

   Operands are a rate, a count, then tensors, gradients and one or two states
   of each (the argument: these 3 or 4 groups); outputs are new tensors and
   states. */
calm_status infer_optimizer(infer_node *n) {
  uint32_t groups = (uint32_t)n->argument;
  uint32_t each = (n->node->input_count - 2) / groups;
  for (uint32_t o = 0; each && o < n->node->output_count; o++) {
    uint32_t group = o / each, from = 2 + (group ? group + 1 : 0) * each;
    n->outputs[o].type = infer_input_type(n, from + o % each);
    infer_share(n, o, from + o % each);
  }
  return CALM_OK;
}

/* ---- Losses -------------------------------------------------------------- */

/* One number, or one per label. */
calm_status infer_loss(infer_node *n) {
  n->outputs[0].type = n->outputs[1].type = infer_input_type(n, 0);
  infer_share(n, 1, 0);
  if (infer_attribute_is(n->node, "reduction", "none"))
    infer_share(n, 0, 1);
  else
    TRY(infer_make_scalar(n, 0, infer_input_type(n, 0)));
  return CALM_OK;
}

/* ---- Text and features --------------------------------------------------- */

/* One column per index of an n-gram. */
calm_status infer_tfidf(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_attribute *a = onnx_find(n->node, "ngram_indexes");
  int64_t most = -1;
  onnx_shape *out;
  n->outputs[0].type = ONNX_FLOAT;
  if (!in || in->rank > 2 || !a || a->type != ONNX_ATTRIBUTE_INTS)
    return CALM_OK;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->ints[i] > most) most = a->ints[i];
  uint32_t rank = in->rank == 2 ? 2 : 1;
  TRY(infer_make(&out, n, 0, rank));
  if (rank == 2) infer_copy(out, 0, in, 0);
  infer_set(out, rank - 1, infer_add(most, 1), NULL);
  return CALM_OK;
}

/* Without stop words every string stays, else one line is as long as it is. */
calm_status infer_string_normalizer(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  n->outputs[0].type = ONNX_STRING;
  infer_share(n, 0, 0);
  if (!onnx_find(n->node, "stopwords") || !in || in->rank == 0) return CALM_OK;
  TRY(infer_depends(n, 0));
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i + 1 < in->rank; i++) infer_copy(out, i, in, i);
  return CALM_OK;
}

/* As many columns as the longest has parts, and how many each has. */
calm_status infer_string_split(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  n->outputs[0].type = ONNX_STRING;
  n->outputs[1].type = ONNX_INT64;
  infer_share(n, 1, 0);
  if (!in) return CALM_OK;
  TRY(infer_depends(n, 0));
  TRY(infer_make(&out, n, 0, in->rank + 1));
  for (uint32_t i = 0; i < in->rank; i++) infer_copy(out, i, in, i);
  return CALM_OK;
}

calm_status infer_label_encoder(infer_node *n) {
  static const struct {
    const char *name;
    int32_t type;
  } rows[] = {{"values_strings", ONNX_STRING},
              {"values_int64s", ONNX_INT64},
              {"values_floats", ONNX_FLOAT}};
  infer_share(n, 0, 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (onnx_find(n->node, rows[i].name)) n->outputs[0].type = rows[i].type;
  const onnx_attribute *values = onnx_find(n->node, "values_tensor");
  if (values) n->outputs[0].type = values->tensor.type;
  return CALM_OK;
}

/* Columns of the last dimension, one row for a line. */
calm_status infer_feature_extractor(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_shape *indices = infer_input_shape(n, 1);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || in->rank == 0) return CALM_OK;
  uint32_t rank = in->rank == 1 ? 2 : in->rank;
  TRY(infer_make(&out, n, 0, rank));
  for (uint32_t i = 0; i + 1 < rank; i++)
    if (in->rank == 1)
      infer_set(out, i, 1, NULL);
    else
      infer_copy(out, i, in, i);
  if (indices)
    infer_set(out, rank - 1, infer_product(indices, 0, indices->rank), NULL);
  return CALM_OK;
}

calm_status infer_tree_ensemble(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  TRY(infer_make(&out, n, 0, 2));
  if (in && in->rank == 2) infer_copy(out, 0, in, 0);
  infer_set(out, 1, onnx_find_int(n->node, "n_targets", ONNX_UNKNOWN), NULL);
  return CALM_OK;
}

/* A picture: [height, width, channels], by what the file says. */
calm_status infer_picture(infer_node *n) {
  onnx_shape *out;
  n->outputs[0].type = ONNX_UINT8;
  TRY(infer_depends(n, 0));
  TRY(infer_make(&out, n, 0, 3));
  bool grey = infer_attribute_is(n->node, "pixel_format", "Grayscale");
  infer_set(out, 2, grey ? 1 : 3, NULL);
  return CALM_OK;
}
