/*
 * The tail is filled in this order, everything below what came before and at
 * an address that suits it:
 *
 *     the runtime's own objects        once
 *     tensors, then operators          an array per graph
 *     options                          a struct per operator that has some
 *     what kernels take                a block or more per operator, at 16
 *     handles of scratch buffers       one array
 *     variables                        at 16
 *     inputs and outputs of the entry  a description each, with quantization
 *
 * So the bytes follow from counts and from one table, tflm_records.def.  What
 * the table does not know makes the result a lower bound, because nothing that
 * is taken is ever given back.
 */
#include "memory/memory_tail.h"

#include <string.h>

#include "base/number.h"

enum { NUMBER_BYTES = 4 };

/* What the runtime's objects take on a machine. */
typedef struct machine {
  uint16_t allocator, planner, interpreter_allocator, options_allocator;
  uint8_t graph, tensor, op, handle, description, quantization;
  uint8_t pointer; /* a pointer, and the alignment of everything above */
} machine;

/* On x86-64 with the allocator that records and with compression, as the
   package has them; on 32-bit targets with neither, as firmware is built. */
static const machine machines[] = {
    [TARGET_X86_64] = {104, 72, 272, 16, 24, 24, 64, 8, 64, 24, 8},
    [TARGET_32BIT] = {36, 44, 36, 8, 8, 12, 32, 4, 32, 12, 4}};

static const machine *machine_of(const tflm_tail *t) {
  return &machines[t->target];
}

/* ---- Taking bytes -------------------------------------------------------- */

static void lose(tflm_tail *t, const char *reason) {
  if (t->exact) t->reason = reason;
  t->exact = false;
}

static void take(tflm_tail *t, uint64_t bytes, uint64_t align) {
  uint64_t sum;
  if (number_add(&sum, t->bytes, bytes) && sum < NUMBER_MAX_BYTES - align)
    t->bytes = number_round_up(sum, align);
  else
    lose(t, "it is absurdly large");
}

/* An array of `count` things, at the addresses of kernels' own blocks. */
static void keep(tflm_tail *t, uint64_t count, uint64_t bytes) {
  uint64_t product;
  if (number_multiply(&product, count, bytes))
    take(t, product, TFLM_ALIGN);
  else
    lose(t, "it is absurdly large");
}

/* A rank or a count of channels, and as many numbers. */
static uint64_t list_bytes(uint64_t count) {
  return NUMBER_BYTES * (count + 1);
}

/* ---- What depends on shapes and types ------------------------------------ */

/* False: the graph does not say enough. */
typedef bool tail_function(tflm_tail *t, const graph *g, const graph_op *op);

static const graph_tensor *operand(const graph *g, const tensor_id *ids,
                                   uint32_t count, uint32_t slot) {
  if (slot >= count || ids[slot] == CALM_NONE) return NULL;
  return &g->tensors.data[ids[slot]];
}

static const graph_tensor *input_of(const graph *g, const graph_op *op,
                                    uint32_t slot) {
  return operand(g, op->inputs, op->input_count, slot);
}

static const graph_tensor *output_of(const graph *g, const graph_op *op) {
  return operand(g, op->outputs, op->output_count, 0);
}

static bool none(tflm_tail *t, const graph *g, const graph_op *op) {
  (void)t;
  (void)g;
  (void)op;
  return true;
}

static bool untold(tflm_tail *t, const graph *g, const graph_op *op) {
  return !none(t, g, op);
}

/* A multiplier and a shift per channel. */
static void keep_channels(tflm_tail *t, uint64_t channels) {
  keep(t, channels, NUMBER_BYTES);
  keep(t, channels, NUMBER_BYTES);
}

static bool keep_filter(tflm_tail *t, const graph_tensor *filter,
                        uint32_t dimension) {
  if (!filter || filter->rank <= dimension) return false;
  keep_channels(t, (uint64_t)filter->dimensions[dimension]);
  return true;
}

static bool keep_conv2d(tflm_tail *t, const graph *g, const graph_op *op) {
  return keep_filter(t, input_of(g, op, 1), 0);
}

static bool keep_depthwise(tflm_tail *t, const graph *g, const graph_op *op) {
  return keep_filter(t, input_of(g, op, 1), 3);
}

static bool keep_fully_connected(tflm_tail *t, const graph *g,
                                 const graph_op *op) {
  const graph_tensor *in = input_of(g, op, 0), *filter = input_of(g, op, 1);
  if (!in || !filter) return false;
  if (in->type != ELEMENT_f32 && filter->scale_count > 1)
    keep_channels(t, filter->scale_count);
  return true;
}

/* A block that only the kernel for one type takes. */
static bool keep_if(tflm_tail *t, const graph_tensor *tensor, element_type type,
                    uint64_t count, uint64_t bytes) {
  if (tensor && tensor->type == type) keep(t, count, bytes);
  return tensor;
}

static bool keep_add_n(tflm_tail *t, const graph *g, const graph_op *op) {
  return keep_if(t, output_of(g, op), ELEMENT_i8, 1, 40);
}

static bool keep_cumsum(tflm_tail *t, const graph *g, const graph_op *op) {
  return keep_if(t, output_of(g, op), ELEMENT_i8, 1, 36);
}

static bool keep_log_softmax(tflm_tail *t, const graph *g, const graph_op *op) {
  return keep_if(t, input_of(g, op, 0), ELEMENT_i8, 1,
                 UINT64_C(16) + UINT64_C(3) * machine_of(t)->pointer);
}

/* Two tables, of exponentials and of quotients. */
static bool keep_softmax(tflm_tail *t, const graph *g, const graph_op *op) {
  enum { TABLE_LENGTH = 513, ENTRY_BYTES = 2 };
  const graph_tensor *in = input_of(g, op, 0);
  if (in && in->type == ELEMENT_i16)
    for (int table = 0; table < 2; table++) keep(t, TABLE_LENGTH, ENTRY_BYTES);
  return in;
}

/* A shape that the kernel may write to. */
static bool keep_shape(tflm_tail *t, const graph *g, const graph_op *op) {
  const graph_tensor *out = output_of(g, op);
  if (out) keep(t, 1, list_bytes(out->rank));
  return out;
}

/* Behind the shape, two lists that the kernel keeps. */
static bool keep_lookup(tflm_tail *t, const graph *g, const graph_op *op) {
  const bool told = keep_shape(t, g, op);
  keep(t, 2, machine_of(t)->pointer);
  return told;
}

/* An operand that lies the wrong way round: description, shape, values. */
static void keep_transposed(tflm_tail *t, const graph_tensor *tensor) {
  keep(t, 1, machine_of(t)->tensor);
  keep(t, 1, list_bytes(tensor->rank));
  keep(t, 1, tflm_tensor_bytes(tensor));
}

static bool has_attribute(const graph_op *op, const char *key) {
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (!strcmp(op->attributes[i].key, key)) return true;
  return false;
}

static bool keep_batch_matmul(tflm_tail *t, const graph *g,
                              const graph_op *op) {
  const graph_tensor *left = input_of(g, op, 0), *right = input_of(g, op, 1);
  if (!left || !right) return false;
  if (left->type == ELEMENT_i8 || left->type == ELEMENT_i16) keep(t, 1, 28);
  if (has_attribute(op, "adj_x")) keep_transposed(t, left);
  if (!has_attribute(op, "adj_y")) keep_transposed(t, right);
  return keep_shape(t, g, op);
}

static uint64_t last_dimension(const graph_tensor *tensor) {
  if (!tensor || tensor->rank == 0) return 0;
  return (uint64_t)tensor->dimensions[tensor->rank - 1];
}

/* A sum per channel and one more. */
static bool keep_filter_bank(tflm_tail *t, const graph *g, const graph_op *op) {
  const uint64_t channels = last_dimension(output_of(g, op));
  keep(t, channels + 1, 8);
  return channels;
}

static bool keep_noise(tflm_tail *t, const graph *g, const graph_op *op) {
  const uint64_t channels = last_dimension(output_of(g, op));
  keep(t, channels, NUMBER_BYTES);
  return channels;
}

/* A transform of n real values is one of n / 2 complex ones: its factors, that
   many roots of unity, and as many again with half of the values for putting
   the halves together.  The output has a value more than that, each of two
   numbers. */
static bool keep_rfft(tflm_tail *t, const graph *g, const graph_op *op) {
  enum { FACTORS_BYTES = 264 };
  const uint64_t plan = UINT64_C(3) * machine_of(t)->pointer;
  const uint64_t last = last_dimension(output_of(g, op));
  if (last < 4) return false;
  const uint64_t half = (last - 2) / 2;
  const uint64_t complex =
      2 * (uint64_t)element_type_bits(output_of(g, op)->type) / 8;
  if (half > UINT32_MAX) return false;
  keep(t, 1, FACTORS_BYTES + plan + (half + half * 3 / 2) * complex);
  return true;
}

/* ---- Operators ----------------------------------------------------------- */

/* What one machine keeps for an operator: its options, and what its kernel
   takes whatever the shapes. */
typedef struct record_sizes {
  uint8_t options, align;
  uint16_t bytes;
} record_sizes;

typedef struct record {
  op_kind kind;
  const char *custom; /* of an opaque kind: its name */
  record_sizes sizes[TARGET_32BIT + 1];
  tail_function *more;
} record;

static const record records[] = {
#define SIZES(options, align, bytes) \
  { options, align, bytes }
#define RECORD(kind, x86_64, arm, more) \
  {OP_##kind, NULL, {SIZES x86_64, SIZES arm}, more},
#define CUSTOM(name, x86_64, arm, more) \
  {OP_OPAQUE, name, {{0, 1, x86_64}, {0, 1, arm}}, more},
#include "memory/tflm_records.def"
#undef SIZES
#undef RECORD
#undef CUSTOM
};

static const record *find_record(const graph_op *op) {
  for (size_t i = 0; i < sizeof records / sizeof *records; i++)
    if (records[i].kind == op->kind &&
        (!records[i].custom || !strcmp(records[i].custom, op->kind_name)))
      return &records[i];
  return NULL;
}

static void take_options(tflm_tail *t, const graph *g, const graph_op *op) {
  const record *r = find_record(op);
  (void)g;
  if (r && r->sizes[t->target].options)
    take(t, r->sizes[t->target].options, r->sizes[t->target].align);
}

static void take_state(tflm_tail *t, const graph *g, const graph_op *op) {
  const record *r = find_record(op);
  if (r && r->sizes[t->target].bytes) keep(t, 1, r->sizes[t->target].bytes);
  if (!r || !r->more(t, g, op)) lose(t, op->kind_name);
}

static void take_operators(tflm_tail *t, const tflm_model *m,
                           void (*taking)(tflm_tail *t, const graph *g,
                                          const graph_op *op)) {
  for (uint32_t i = 0; i < m->count; i++)
    for (uint32_t step = 0; step < m->graphs[i].ops.count; step++)
      taking(t, &m->graphs[i], &m->graphs[i].ops.data[m->sequences[i][step]]);
}

/* ---- Everything else ----------------------------------------------------- */

static void take_objects(tflm_tail *t, const tflm_model *m) {
  const machine *on = machine_of(t);
  take(t, on->allocator, on->pointer);
  take(t, on->planner, on->pointer);
  take(t, on->interpreter_allocator, on->pointer);
  take(t, on->options_allocator, on->pointer);
  take(t, (uint64_t)on->graph * m->count, on->pointer);
  for (uint32_t i = 0; i < m->count; i++)
    take(t, (uint64_t)on->tensor * m->graphs[i].tensors.count, on->pointer);
  for (uint32_t i = 0; i < m->count; i++)
    take(t, (uint64_t)on->op * m->graphs[i].ops.count, on->pointer);
}

static void take_handles(tflm_tail *t, const tflm_model *m) {
  const memory_scratch *s = m->scratch;
  const uint64_t count = s->begin[s->op_begin[m->count]];
  if (count) take(t, machine_of(t)->handle * count, machine_of(t)->pointer);
}

/* Variables with an offset lie in the head. */
static void take_variables(tflm_tail *t, const tflm_model *m) {
  for (uint32_t i = 0; i < m->count; i++)
    for (tensor_id k = 0; k < m->graphs[i].tensors.count; k++) {
      const graph_tensor *tensor = &m->graphs[i].tensors.data[k];
      const bool placed = m->offsets && m->offsets[i][k] != UINT64_MAX;
      if ((tensor->flags & CALM_TENSOR_VARIABLE) && !placed)
        keep(t, 1, tflm_tensor_bytes(tensor));
    }
}

static void describe(tflm_tail *t, const graph_tensor *tensor) {
  const machine *on = machine_of(t);
  take(t, on->description, on->pointer);
  if (tensor->scale_count == 0) return;
  take(t, on->quantization, on->pointer);
  take(t, list_bytes(tensor->scale_count), NUMBER_BYTES);
}

/* The file may list a tensor twice, or a constant as an input. */
static void take_interface(tflm_tail *t, const graph *g, unsigned flag,
                           uint32_t listed) {
  uint32_t found = 0;
  keep(t, listed, machine_of(t)->pointer);
  for (tensor_id k = 0; k < g->tensors.count; k++)
    if (g->tensors.data[k].flags & flag) {
      describe(t, &g->tensors.data[k]);
      found++;
    }
  if (found != listed) lose(t, "the list of inputs or outputs");
}

tflm_tail tflm_predict_tail(const tflm_model *m, tflm_target target) {
  tflm_tail t = {.exact = true, .target = target};
  const graph *entry = &m->graphs[0];
  take_objects(&t, m);
  take_operators(&t, m, take_options);
  take_operators(&t, m, take_state);
  take_handles(&t, m);
  take_variables(&t, m);
  take_interface(&t, entry, CALM_TENSOR_INPUT, entry->listed_inputs);
  take_interface(&t, entry, CALM_TENSOR_OUTPUT, entry->listed_outputs);
  return t;
}
