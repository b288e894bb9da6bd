/*
 * Random small networks as rewriting meets them: concats, nested or with an
 * operand twice, convolutions, depthwise convolutions, pools, activations and
 * additions, tensors with several readers, outputs anywhere.  Typed ones
 * (float, in either layout) have true shapes and attributes, so that they can
 * be run; abstract ones have byte counts.
 */
#ifndef CALM_TESTS_REWRITE_RANDOM_H
#define CALM_TESTS_REWRITE_RANDOM_H

#include "base/random.h"
#include "graph_fixture.h"

enum { NET_OPS = 24, NET_CHANNELS = 24, NET_WORDS = 8 };

typedef struct net_options {
  bool abstract;
  bool channels_first; /* else channels last, with fused activations */
  uint32_t ops;        /* about so many, at most NET_OPS */
} net_options;

/* A picture: 1 x H x W x C, or a number of bytes. */
typedef struct net_picture {
  tensor_id id;
  int64_t height, width, channels;
  bool concat; /* worth reading */
} net_picture;

typedef struct net {
  graph *g;
  random_state *r;
  net_options options;
  VECTOR(net_picture) pictures;
  uint32_t ops;
} net;

static inline tensor_id net_tensor(net *n, const char *letter,
                                   const int64_t *dimensions, uint32_t rank,
                                   unsigned flags) {
  char name[32];
  tensor_id id;
  snprintf(name, sizeof name, "%s%u", letter, (unsigned)n->g->tensors.count);
  graph_tensor tensor = {.name = name,
                         .dimensions = dimensions,
                         .rank = rank,
                         .type = ELEMENT_f32,
                         .flags = flags,
                         .file_index = n->g->tensors.count};
  assert_int_equal(graph_add_tensor(&id, n->g, &tensor), CALM_OK);
  return id;
}

static inline tensor_id net_bytes(net *n, int64_t bytes, unsigned flags) {
  char name[32];
  tensor_id id;
  snprintf(name, sizeof name, "t%u", (unsigned)n->g->tensors.count);
  graph_tensor tensor = {.name = name,
                         .type = ELEMENT_ABSTRACT,
                         .bytes = (uint64_t)bytes,
                         .flags = flags,
                         .file_index = n->g->tensors.count};
  assert_int_equal(graph_add_tensor(&id, n->g, &tensor), CALM_OK);
  return id;
}

static inline net_picture *net_add_picture(net *n, int64_t h, int64_t w,
                                           int64_t c, unsigned flags) {
  const int64_t last[] = {1, h, w, c}, first[] = {1, c, h, w};
  net_picture picture = {0, h, w, c, false};
  picture.id =
      n->options.abstract
          ? net_bytes(n, h * w * c, flags)
          : net_tensor(n, "t", n->options.channels_first ? first : last, 4,
                       flags);
  if (n->pictures.count == n->pictures.capacity) {
    uint32_t capacity = n->pictures.capacity ? 2 * n->pictures.capacity : 64;
    n->pictures.data =
        realloc(n->pictures.data, capacity * sizeof *n->pictures.data);
    assert_non_null(n->pictures.data);
    n->pictures.capacity = capacity;
  }
  n->pictures.data[n->pictures.count] = picture;
  return &n->pictures.data[n->pictures.count++];
}

/* Late ones and concats more often. */
static inline net_picture net_pick(net *n) {
  for (;;) {
    uint32_t late = n->pictures.count > 4 && random_below(n->r, 2) ? 4 : 0;
    uint32_t i = late ? n->pictures.count - late + random_below(n->r, late)
                      : random_below(n->r, n->pictures.count);
    if (n->pictures.data[i].concat || random_below(n->r, 3) == 0)
      return n->pictures.data[i];
  }
}

static inline bool net_same_size(const net_picture *a, const net_picture *b) {
  return a->height == b->height && a->width == b->width;
}

/* One of the same height and width, perhaps the same one. */
static inline net_picture net_pick_like(net *n, const net_picture *model,
                                        bool channels_too) {
  uint32_t i = random_below(n->r, n->pictures.count);
  for (uint32_t tries = 0; tries < n->pictures.count; tries++) {
    const net_picture *p = &n->pictures.data[(i + tries) % n->pictures.count];
    if (!net_same_size(p, model)) continue;
    if (!channels_too || p->channels == model->channels) return *p;
  }
  return *model;
}

static inline void net_op(net *n, op_kind kind, const tensor_id *inputs,
                          uint32_t input_count, tensor_id output,
                          const graph_attribute *attributes, uint32_t count) {
  char name[32];
  op_id id;
  snprintf(name, sizeof name, "op%u", (unsigned)n->g->ops.count);
  graph_op op = {.name = name,
                 .kind = kind,
                 .inputs = (tensor_id *)inputs,
                 .input_count = input_count,
                 .outputs = &output,
                 .output_count = 1,
                 .attributes = (graph_attribute *)attributes,
                 .attribute_count = n->options.abstract ? 0 : count,
                 .file_index = n->g->ops.count};
  op_id after = 0;
  if (n->g->ops.count > 0 && random_below(n->r, 20) == 0) {
    op.after_count = 1;
    op.after = &after;
    after = random_below(n->r, n->g->ops.count);
  }
  assert_int_equal(graph_add_op(&id, n->g, &op), CALM_OK);
}

static inline const char *net_number(char out[NET_WORDS], int64_t number) {
  snprintf(out, NET_WORDS, "%d", (int)number);
  return out;
}

/* Kernel, stride, padding and dilation in the words of the format.  All keep
   ceil(height / stride). */
typedef struct net_window {
  int64_t kernel, stride, dilation;
  char filter[NET_WORDS], strides[NET_WORDS], dilations[NET_WORDS],
      pads[2 * NET_WORDS];
  graph_attribute attributes[8];
  uint32_t count;
} net_window;

static inline void net_say(net_window *w, const char *key, const char *value) {
  w->attributes[w->count++] = (graph_attribute){key, value};
}

static inline void net_window_make(net_window *w, net *n, bool pool) {
  const bool first = n->options.channels_first;
  memset(w, 0, sizeof *w);
  w->kernel = random_below(n->r, 2) || pool ? 3 : 1;
  w->stride = random_below(n->r, 4) ? 1 : 2;
  w->dilation =
      w->kernel > 1 && w->stride == 1 && !pool && !random_below(n->r, 4) ? 2
                                                                         : 1;
  const int pad = (int)((w->kernel - 1) * w->dilation / 2);
  snprintf(w->filter, NET_WORDS, "%d,%d", (int)w->kernel, (int)w->kernel);
  snprintf(w->strides, NET_WORDS, "%d,%d", (int)w->stride, (int)w->stride);
  snprintf(w->dilations, NET_WORDS, "%d,%d", (int)w->dilation,
           (int)w->dilation);
  snprintf(w->pads, sizeof w->pads, "%d,%d,%d,%d", pad, pad, pad, pad);
  if (first) net_say(w, "layout", "channels_first");
  if (first || pool) net_say(w, "filter", w->filter);
  net_say(w, "stride", w->strides);
  if (!first) net_say(w, "pad", "same");
  if (first && pad) net_say(w, "pads", w->pads);
  if (w->dilation > 1) net_say(w, "dilation", w->dilations);
}

static inline int64_t net_shrunk(int64_t size, int64_t stride) {
  return (size + stride - 1) / stride;
}

static inline void net_conv(net *n) {
  const net_picture x = net_pick(n);
  const int64_t outputs = 1 + random_below(n->r, 4);
  net_window w;
  net_window_make(&w, n, false);
  const int64_t k = w.kernel, first[] = {outputs, x.channels, k, k},
                last[] = {outputs, k, k, x.channels};
  const bool biased = random_below(n->r, 4) > 0;
  tensor_id inputs[3] = {x.id};
  if (!n->options.abstract) {
    inputs[1] = net_tensor(n, "w", n->options.channels_first ? first : last, 4,
                           CALM_TENSOR_CONST);
    if (biased) inputs[2] = net_tensor(n, "b", &outputs, 1, CALM_TENSOR_CONST);
  }
  if (!n->options.channels_first && random_below(n->r, 2))
    net_say(&w, "activation", random_below(n->r, 2) ? "relu" : "relu6");
  const net_picture *y =
      net_add_picture(n, net_shrunk(x.height, w.stride),
                      net_shrunk(x.width, w.stride), outputs, 0);
  net_op(n, OP_conv2d, inputs,
         n->options.abstract ? 1
         : biased            ? 3
                             : 2,
         y->id, w.attributes, w.count);
}

static inline void net_depthwise(net *n) {
  const net_picture x = net_pick(n);
  const int64_t multiplier =
      random_below(n->r, 3) || x.channels > NET_CHANNELS ? 1 : 2;
  char number[NET_WORDS], groups[NET_WORDS];
  net_window w;
  net_window_make(&w, n, false);
  const int64_t k = w.kernel, outputs = x.channels * multiplier,
                first[] = {outputs, 1, k, k}, last[] = {1, k, k, outputs};
  const bool biased = random_below(n->r, 4) > 0;
  tensor_id inputs[3] = {x.id};
  if (!n->options.abstract) {
    inputs[1] = net_tensor(n, "w", n->options.channels_first ? first : last, 4,
                           CALM_TENSOR_CONST);
    if (biased) inputs[2] = net_tensor(n, "b", &outputs, 1, CALM_TENSOR_CONST);
  }
  if (n->options.channels_first)
    net_say(&w, "group", net_number(groups, x.channels));
  else
    net_say(&w, "multiplier", net_number(number, multiplier));
  if (!n->options.channels_first && random_below(n->r, 2))
    net_say(&w, "activation", "relu");
  const net_picture *y =
      net_add_picture(n, net_shrunk(x.height, w.stride),
                      net_shrunk(x.width, w.stride), outputs, 0);
  /* One channel in a group is a convolution like any other. */
  const bool plain = n->options.channels_first && x.channels == 1;
  if (plain) w.count--;
  net_op(n, plain ? OP_conv2d : OP_depthwise_conv2d, inputs,
         n->options.abstract ? 1
         : biased            ? 3
                             : 2,
         y->id, w.attributes, w.count);
}

static inline void net_pool(net *n) {
  const net_picture x = net_pick(n);
  net_window w;
  net_window_make(&w, n, true);
  const net_picture *y =
      net_add_picture(n, net_shrunk(x.height, w.stride),
                      net_shrunk(x.width, w.stride), x.channels, 0);
  net_op(n, random_below(n->r, 2) ? OP_max_pool2d : OP_average_pool2d, &x.id, 1,
         y->id, w.attributes, w.count);
}

static inline void net_relu(net *n) {
  const net_picture x = net_pick(n);
  const net_picture *y = net_add_picture(n, x.height, x.width, x.channels, 0);
  net_op(n, OP_relu, &x.id, 1, y->id, NULL, 0);
}

static inline void net_add(net *n) {
  const net_picture x = net_pick(n), z = net_pick_like(n, &x, true);
  const graph_attribute relu = {"activation", "relu"};
  const tensor_id inputs[] = {x.id, z.id};
  const bool active = !n->options.channels_first && !random_below(n->r, 3);
  const net_picture *y = net_add_picture(n, x.height, x.width, x.channels, 0);
  net_op(n, OP_add, inputs, 2, y->id, &relu, active ? 1 : 0);
}

/* One number per channel, or seldom one for all. */
static inline tensor_id net_vector(net *n, int64_t channels) {
  if (n->options.abstract) return net_bytes(n, channels, CALM_TENSOR_CONST);
  if (random_below(n->r, 6) == 0) channels = 1;
  const int64_t last[] = {channels}, first[] = {channels, 1, 1};
  return n->options.channels_first
             ? net_tensor(n, "v", first, 3, CALM_TENSOR_CONST)
             : net_tensor(n, "v", last, 1, CALM_TENSOR_CONST);
}

static inline void net_arithmetic(net *n) {
  static const op_kind kinds[] = {OP_mul, OP_add, OP_sub, OP_mul};
  const net_picture x = net_pick(n);
  const op_kind kind = kinds[random_below(n->r, 4)];
  const bool swapped = random_below(n->r, 4) == 0;
  const tensor_id v = net_vector(n, x.channels);
  const tensor_id inputs[] = {swapped ? v : x.id, swapped ? x.id : v};
  const net_picture *y = net_add_picture(n, x.height, x.width, x.channels, 0);
  net_op(n, kind, inputs, 2, y->id, NULL, 0);
}

static inline void net_normalization(net *n) {
  const net_picture x = net_pick(n);
  const graph_attribute epsilon = {"epsilon",
                                   random_below(n->r, 2) ? "0.001" : "1e-05"};
  tensor_id inputs[5] = {x.id};
  for (uint32_t i = 1; i < 5; i++)
    inputs[i] =
        net_tensor(n, i == 4 ? "var" : "v", &x.channels, 1, CALM_TENSOR_CONST);
  const net_picture *y = net_add_picture(n, x.height, x.width, x.channels, 0);
  net_op(n, OP_batch_normalization, inputs, 5, y->id, &epsilon, 1);
}

static inline void net_affine(net *n) {
  if (n->options.channels_first && !n->options.abstract &&
      random_below(n->r, 2))
    net_normalization(n);
  else
    net_arithmetic(n);
}

static inline void net_concat(net *n) {
  const graph_attribute axis = {"axis", n->options.channels_first ? "1"
                                        : random_below(n->r, 2)   ? "3"
                                                                  : "-1"};
  const net_picture x = net_pick(n);
  tensor_id inputs[3];
  int64_t channels = 0;
  uint32_t count = 0;
  for (uint32_t i = 2 + random_below(n->r, 2); i > 0; i--) {
    const net_picture z = count == 0 ? x : net_pick_like(n, &x, false);
    if (count > 0 && channels + z.channels > NET_CHANNELS) continue;
    inputs[count++] = z.id;
    channels += z.channels;
  }
  net_picture *y = net_add_picture(n, x.height, x.width, channels, 0);
  y->concat = true;
  net_op(n, OP_concat, inputs, count, y->id, &axis, 1);
}

/* Whatever nobody reads is an output, and seldom another tensor. */
static inline void net_mark_outputs(net *n) {
  for (tensor_id t = 0; t < n->g->tensors.count; t++) {
    graph_tensor *tensor = &n->g->tensors.data[t];
    bool read = false;
    if (tensor->flags & CALM_TENSOR_CONST) continue;
    for (op_id u = 0; u < n->g->ops.count && !read; u++)
      for (uint32_t i = 0; i < n->g->ops.data[u].input_count; i++)
        read = read || n->g->ops.data[u].inputs[i] == t;
    if (!read || (!tensor->flags && random_below(n->r, 24) == 0))
      tensor->flags |= CALM_TENSOR_OUTPUT;
  }
}

/* A finished graph in the arena. */
static inline void random_net(graph *g, arena *a, random_state *r,
                              net_options options) {
  net n = {.g = g, .r = r, .options = options};
  const uint32_t inputs = 1 + random_below(r, 2);
  graph_init(g, a, "net");
  g->channels_first = options.channels_first;
  for (uint32_t i = 0; i < inputs; i++)
    net_add_picture(&n, 4, 3, 1 + random_below(r, 3), CALM_TENSOR_INPUT);
  const uint32_t ops = options.ops / 2 + random_below(r, options.ops / 2 + 1);
  for (uint32_t i = 0; i < ops; i++) {
    switch (random_below(r, 13)) {
      case 0: net_relu(&n); break;
      case 1: net_add(&n); break;
      case 2: net_pool(&n); break;
      case 3: net_depthwise(&n); break;
      case 4:
      case 5:
      case 6: net_concat(&n); break;
      case 7:
      case 8: net_affine(&n); break;
      default: net_conv(&n); break;
    }
  }
  net_mark_outputs(&n);
  free(n.pictures.data);
  if (graph_finish(g, "net")) fail_msg("%s", calm_context_message(a->context));
}

/* A random topological order of a finished graph; `out` has room. */
static inline void random_sequence(op_id *out, const graph *g,
                                   random_state *r) {
  uint32_t *waits = calloc(g->ops.count + 1, sizeof *waits);
  op_id *ready = calloc(g->ops.count + 1, sizeof *ready);
  uint32_t count = 0, done = 0;
  assert_non_null(waits);
  assert_non_null(ready);
  for (op_id u = 0; u < g->ops.count; u++) {
    waits[u] = g->pred_begin[u + 1] - g->pred_begin[u];
    if (waits[u] == 0) ready[count++] = u;
  }
  while (count > 0) {
    const uint32_t i = random_below(r, count);
    const op_id u = ready[i];
    ready[i] = ready[--count];
    out[done++] = u;
    for (uint32_t s = g->succ_begin[u]; s < g->succ_begin[u + 1]; s++)
      if (--waits[g->succs[s]] == 0) ready[count++] = g->succs[s];
  }
  assert_int_equal(done, g->ops.count);
  free(waits);
  free(ready);
}

#endif
