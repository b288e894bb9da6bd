/*
 * Small networks at random for tests of tiles: convolutions, plain and
 * depthwise, poolings, what works element by element, pads, and additions
 * around one or two operators, with odd sizes, all strides up to 3 and both
 * layouts.  The region is all of it but an operator in front and one behind.
 */
#ifndef CALM_TESTS_TILE_RANDOM_H
#define CALM_TESTS_TILE_RANDOM_H

#include <stdio.h>

#include "base/random.h"
#include "graph/graph_edit.h"

typedef struct tile_net {
  graph *g;
  random_state *random;
  bool pads;          /* paddings per side (.onnx) */
  tensor_id x;        /* so far */
  int64_t sizes[3];   /* of x: rows, columns, channels */
  uint32_t constants; /* made so far */
} tile_net;

static inline int64_t net_draw(tile_net *n, uint32_t least, uint32_t most) {
  return least + random_below(n->random, most - least + 1);
}

static inline tensor_id net_tensor(tile_net *n, const int64_t *dimensions,
                                   uint32_t rank, unsigned flags) {
  char name[32];
  tensor_id id = CALM_NONE;
  snprintf(name, sizeof name, "t%u", n->g->tensors.count);
  const graph_tensor t = {.name = name,
                          .dimensions = dimensions,
                          .rank = rank,
                          .type = ELEMENT_i8,
                          .flags = flags};
  assert_int_equal(graph_add_tensor(&id, n->g, &t), CALM_OK);
  return id;
}

static inline tensor_id net_picture(tile_net *n, const int64_t *sizes,
                                    unsigned flags) {
  const int64_t last[4] = {1, sizes[0], sizes[1], sizes[2]};
  const int64_t first[4] = {1, sizes[2], sizes[0], sizes[1]};
  return net_tensor(n, n->g->channels_first ? first : last, 4, flags);
}

typedef struct net_op {
  op_kind kind;
  tensor_id operands[3];
  uint32_t operand_count;
  graph_attribute attributes[6];
  uint32_t attribute_count;
  char texts[6][32];
} net_op;

static inline void net_say(net_op *op, const char *key, const char *value) {
  op->attributes[op->attribute_count++] = (graph_attribute){key, value};
}

static inline void net_pair(net_op *op, const char *key, const int64_t *two) {
  char *text = op->texts[op->attribute_count];
  snprintf(text, sizeof op->texts[0], "%d,%d", (int)two[0], (int)two[1]);
  net_say(op, key, text);
}

static inline void net_four(net_op *op, const char *key, const int64_t *four) {
  char *text = op->texts[op->attribute_count];
  snprintf(text, sizeof op->texts[0], "%d,%d,%d,%d", (int)four[0], (int)four[1],
           (int)four[2], (int)four[3]);
  net_say(op, key, text);
}

static inline tensor_id net_add(tile_net *n, net_op *made,
                                const int64_t *sizes) {
  char name[32];
  tensor_id y = net_picture(n, sizes, 0);
  op_id id;
  snprintf(name, sizeof name, "op%u", n->g->ops.count);
  const graph_op op = {.name = name,
                       .kind = made->kind,
                       .kind_name = op_kind_name(made->kind),
                       .inputs = made->operands,
                       .outputs = &y,
                       .input_count = made->operand_count,
                       .output_count = 1,
                       .attributes = made->attributes,
                       .attribute_count = made->attribute_count};
  assert_int_equal(graph_add_op(&id, n->g, &op), CALM_OK);
  n->x = y;
  for (int i = 0; i < 3; i++) n->sizes[i] = sizes[i];
  return y;
}

/* ---- Operators ----------------------------------------------------------- */

/* The window's padding and the output's size; false if it does not fit. */
static inline bool net_settle(tile_net *n, net_op *op, int64_t *sizes,
                              const int64_t *taps, const int64_t *stride,
                              const int64_t *dilation, bool same) {
  int64_t pads[4] = {0};
  for (int i = 0; i < 2; i++) {
    const int64_t reach = (taps[i] - 1) * dilation[i] + 1;
    if (n->pads && reach > 1) {
      pads[i] = net_draw(n, 0, (uint32_t)(reach - 1));
      pads[i + 2] = net_draw(n, 0, (uint32_t)(reach - 1));
    }
    const int64_t room = n->sizes[i] + pads[i] + pads[i + 2] - reach;
    if (room < 0 && (!same || n->pads)) return false;
    sizes[i] = same && !n->pads ? (n->sizes[i] + stride[i] - 1) / stride[i]
                                : room / stride[i] + 1;
  }
  if (n->pads)
    net_four(op, "pads", pads);
  else
    net_say(op, "pad", same ? "same" : "valid");
  return true;
}

static inline void net_weights(tile_net *n, net_op *op, const int64_t *taps,
                               int64_t depth, int64_t channels, bool deep) {
  const bool first = n->g->channels_first;
  const int64_t last_form[4] = {deep ? 1 : channels, taps[0], taps[1],
                                deep ? channels : depth};
  const int64_t first_form[4] = {channels, depth, taps[0], taps[1]};
  op->operands[op->operand_count++] =
      net_tensor(n, first ? first_form : last_form, 4, CALM_TENSOR_CONST);
  op->operands[op->operand_count++] =
      net_tensor(n, &channels, 1, CALM_TENSOR_CONST);
}

typedef struct net_choice {
  int64_t taps[2], stride[2], dilation[2], channels;
  bool same, depthwise;
} net_choice;

static inline bool net_conv(tile_net *n, const net_choice *c) {
  int64_t sizes[3] = {0, 0, c->channels};
  net_op op = {.kind = c->depthwise ? OP_depthwise_conv2d : OP_conv2d,
               .operands = {n->x},
               .operand_count = 1};
  if (c->depthwise) sizes[2] = n->sizes[2] * c->channels;
  if (!net_settle(n, &op, sizes, c->taps, c->stride, c->dilation, c->same))
    return false;
  net_weights(n, &op, c->taps, c->depthwise ? 1 : n->sizes[2], sizes[2],
              c->depthwise);
  net_pair(&op, "stride", c->stride);
  if (c->dilation[0] > 1 || c->dilation[1] > 1)
    net_pair(&op, "dilation", c->dilation);
  net_add(n, &op, sizes);
  return true;
}

static inline int64_t net_stride(tile_net *n) {
  const int64_t draw = net_draw(n, 0, 9);
  return draw < 6 ? 1 : draw < 9 ? 2 : 3;
}

static inline void net_random_conv(tile_net *n) {
  net_choice c = {.channels = net_draw(n, 1, 3)};
  c.depthwise = net_draw(n, 0, 2) == 0;
  if (c.depthwise && n->sizes[2] * c.channels > 4) c.channels = 1;
  c.same = net_draw(n, 0, 3) > 0;
  for (int i = 0; i < 2; i++) {
    c.taps[i] = net_draw(n, 1, 5);
    c.stride[i] = net_stride(n);
    c.dilation[i] = c.stride[i] == 1 && net_draw(n, 0, 5) == 0 ? 2 : 1;
  }
  if (net_draw(n, 0, 1)) {
    c.taps[1] = c.taps[0];
    c.stride[1] = c.stride[0];
    c.dilation[1] = c.dilation[0];
  }
  net_conv(n, &c);
}

static inline void net_random_pool(tile_net *n) {
  int64_t taps[2], stride[2], one[2] = {1, 1}, sizes[3] = {0, 0, n->sizes[2]};
  const bool same = net_draw(n, 0, 1);
  net_op op = {.kind = net_draw(n, 0, 1) ? OP_max_pool2d : OP_average_pool2d,
               .operands = {n->x},
               .operand_count = 1};
  taps[0] = taps[1] = net_draw(n, 1, 3);
  stride[0] = stride[1] = net_draw(n, 1, 2);
  if (!net_settle(n, &op, sizes, taps, stride, one, same)) return;
  net_pair(&op, "filter", taps);
  net_pair(&op, "stride", stride);
  net_add(n, &op, sizes);
}

static inline void net_random_point(tile_net *n) {
  static const op_kind kinds[] = {OP_relu, OP_logistic, OP_mul, OP_sub, OP_add};
  const int64_t one = 1, sizes[3] = {n->sizes[0], n->sizes[1], n->sizes[2]};
  net_op op = {
      .kind = kinds[net_draw(n, 0, 4)], .operands = {n->x}, .operand_count = 1};
  if (op.kind == OP_add) {
    op.operands[op.operand_count++] = n->x;
  } else if (op.kind == OP_mul || op.kind == OP_sub) {
    const int64_t per_channel[3] = {n->sizes[2], 1, 1};
    const bool scalar = net_draw(n, 0, 1);
    const bool first = n->g->channels_first;
    op.operands[op.operand_count++] =
        net_tensor(n, scalar ? &one : per_channel, scalar || !first ? 1 : 3,
                   CALM_TENSOR_CONST);
  }
  net_add(n, &op, sizes);
}

static inline void net_random_pad(tile_net *n) {
  const int64_t eight = 8;
  const uint32_t rows = n->g->channels_first ? 2 : 1;
  int64_t before[4] = {0}, after[4] = {0}, sizes[3];
  net_op op = {.kind = OP_pad, .operands = {n->x}, .operand_count = 1};
  if (n->pads) return;
  sizes[2] = n->sizes[2];
  for (uint32_t i = 0; i < 2; i++) {
    before[rows + i] = net_draw(n, 0, 2);
    after[rows + i] = net_draw(n, 0, 2);
    sizes[i] = n->sizes[i] + before[rows + i] + after[rows + i];
  }
  op.operands[op.operand_count++] = net_tensor(n, &eight, 1, CALM_TENSOR_CONST);
  net_four(&op, "before", before);
  net_four(&op, "after", after);
  net_add(n, &op, sizes);
}

/* Go on from an earlier tensor. */
static inline void net_return(tile_net *n, tensor_id x, const int64_t *sizes) {
  n->x = x;
  for (int i = 0; i < 3; i++) n->sizes[i] = sizes[i];
}

static inline tensor_id net_shortcut(tile_net *n, tensor_id x,
                                     const int64_t *sizes) {
  const net_choice c = {.taps = {1, 1},
                        .stride = {2, 2},
                        .dilation = {1, 1},
                        .channels = sizes[2],
                        .same = true};
  net_return(n, x, sizes);
  net_conv(n, &c);
  return n->x;
}

/* One or two convolutions that keep the size, or a stride of two on both ways,
   and the sum. */
static inline void net_random_residual(tile_net *n) {
  const tensor_id x = n->x;
  const int64_t sizes[3] = {n->sizes[0], n->sizes[1], n->sizes[2]};
  const bool strided = net_draw(n, 0, 2) == 0;
  const int64_t stride = strided ? 2 : 1;
  const int64_t taps = n->pads ? 1 : net_draw(n, 1, 2) * 2 - 1;
  tensor_id way = x;
  net_choice c = {.taps = {taps, taps},
                  .stride = {stride, stride},
                  .dilation = {1, 1},
                  .channels = n->sizes[2],
                  .same = true};
  if (strided && net_draw(n, 0, 1)) way = net_shortcut(n, x, sizes);
  net_return(n, x, sizes);
  net_conv(n, &c);
  if (net_draw(n, 0, 1)) net_random_point(n);
  const tensor_id main = n->x;
  if (strided && way == x) way = net_shortcut(n, x, sizes);
  const int64_t end[3] = {n->sizes[0], n->sizes[1], n->sizes[2]};
  net_op op = {.kind = OP_add, .operands = {way, main}, .operand_count = 2};
  if (net_draw(n, 0, 1))
    op = (net_op){.kind = OP_add, .operands = {main, way}, .operand_count = 2};
  net_add(n, &op, end);
}

static inline void net_random_op(tile_net *n) {
  switch (net_draw(n, 0, 9)) {
    case 0: net_random_pool(n); break;
    case 1: net_random_point(n); break;
    case 2: net_random_pad(n); break;
    case 3:
    case 4: net_random_residual(n); break;
    default: net_random_conv(n);
  }
}

static inline void net_outer(tile_net *n) {
  const int64_t sizes[3] = {n->sizes[0], n->sizes[1], n->sizes[2]};
  net_op op = {.kind = OP_relu, .operands = {n->x}, .operand_count = 1};
  net_add(n, &op, sizes);
}

/* *first, *last: the region. */
static inline void tile_net_draw(graph *g, random_state *random, bool pads,
                                 uint32_t *first, uint32_t *last) {
  tile_net n = {.g = g, .random = random, .pads = pads};
  g->channels_first = pads || random_below(random, 3) == 0;
  n.sizes[0] = net_draw(&n, 5, 26);
  n.sizes[1] = net_draw(&n, 4, 14);
  n.sizes[2] = net_draw(&n, 1, 2);
  n.x = net_picture(&n, n.sizes, CALM_TENSOR_INPUT);
  if (net_draw(&n, 0, 1)) net_outer(&n);
  *first = g->ops.count;
  const int64_t wanted = net_draw(&n, 1, 7);
  while (g->ops.count - *first < wanted) net_random_op(&n);
  *last = g->ops.count - 1;
  if (net_draw(&n, 0, 1)) net_outer(&n);
  g->tensors.data[n.x].flags |= CALM_TENSOR_OUTPUT;
  assert_int_equal(graph_finish(g, "net"), CALM_OK);
}

#endif
