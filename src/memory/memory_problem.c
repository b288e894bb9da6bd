/*
 * Graph and memory model to order problem.  The graph's tensors become buffers,
 * its operators become order operators, but for those that do nothing: these
 * are folded out, and whoever waited for them waits for what they waited for.
 * Order operators are numbered by the graph's own topological order, so that
 * 0, 1, 2, ... is the file order wherever that is valid.
 */
#include <stdlib.h>

#include "base/number.h"
#include "memory/memory_relief.h"
#include "memory/memory_segments.h"

typedef struct builder {
  const graph *g;
  const memory_model *model;
  arena *a;      /* of the result */
  arena scratch; /* of the way there */
  memory_storage storage;
  memory_rows touched; /* order operator -> the buffers it touches */
  memory_rows waits;   /* operator -> the order operators it stands for: itself,
                          or, if it is free, those before it */
  uint64_t *workspace; /* per graph operator, rounded, bodies included */
  uint32_t *buffer_of; /* base -> buffer, CALM_NONE if it has no place */
  bool cut;            /* tensors are made of segments, and these are buffers */
  memory_segments segments;
  memory_problem p;
} builder;

static calm_status fail_total(const graph *g, calm_context *context) {
  return context_fail(context, CALM_BAD_INPUT,
                      "graph '%s': its tensors and workspaces together exceed "
                      "2^62 bytes",
                      g->name);
}

static uint64_t largest_body(const graph_op *op, const uint64_t *body_arena) {
  uint64_t largest = 0;
  for (uint32_t i = 0; body_arena && i < op->body_count; i++)
    if (body_arena[op->bodies[i]] > largest)
      largest = body_arena[op->bodies[i]];
  return largest;
}

calm_status memory_workspaces(uint64_t **out, const graph *g,
                              const uint64_t *body_arena, arena *a) {
  uint64_t *bytes;
  ARENA_ARRAY(a, bytes, g->ops.count);
  for (op_id op = 0; op < g->ops.count; op++) {
    const graph_op *o = &g->ops.data[op];
    if (!number_add(&bytes[op], o->workspace_bytes,
                    largest_body(o, body_arena)))
      return fail_total(g, a->context);
  }
  *out = bytes;
  return CALM_OK;
}

static calm_status sum_workspace(builder *b, const uint64_t *body_arena) {
  TRY(memory_workspaces(&b->p.workspace_bytes, b->g, body_arena, b->a));
  ARENA_ARRAY(&b->scratch, b->workspace, b->g->ops.count);
  for (op_id op = 0; op < b->g->ops.count; op++)
    b->workspace[op] =
        number_round_up(b->p.workspace_bytes[op], b->model->round);
  return CALM_OK;
}

/* ---- Buffers ------------------------------------------------------------- */

static calm_status number_buffers(builder *b) {
  const uint32_t tensors = b->g->tensors.count;
  uint32_t count = 0;
  ARENA_ARRAY(&b->scratch, b->buffer_of, tensors);
  for (tensor_id t = 0; t < tensors; t++)
    b->buffer_of[t] = b->storage.base[t].placed ? count++ : CALM_NONE;
  ARENA_ARRAY(b->a, b->p.order.buffers, count);
  ARENA_ARRAY(b->a, b->p.tensor_of, count);
  for (tensor_id t = 0; t < tensors; t++) {
    const memory_base *base = &b->storage.base[t];
    if (!base->placed) continue;
    b->p.order.buffers[b->buffer_of[t]] =
        (order_buffer){base->bytes, base->from_start, base->to_end};
    b->p.tensor_of[b->buffer_of[t]] = t;
  }
  b->p.order.buffer_count = count;
  return CALM_OK;
}

/* Segments are pinned as their base is: what lies in others is neither given
   nor returned. */
static calm_status number_segments(builder *b) {
  const memory_segments *s = &b->segments;
  ARENA_ARRAY(b->a, b->p.order.buffers, s->count);
  ARENA_ARRAY(b->a, b->p.tensor_of, s->count);
  for (uint32_t i = 0; i < s->count; i++) {
    const memory_base *base = &b->storage.base[s->list[i].base];
    b->p.order.buffers[i] =
        (order_buffer){s->list[i].bytes, base->from_start, base->to_end};
    b->p.tensor_of[i] = s->list[i].base;
  }
  b->p.order.buffer_count = s->count;
  return CALM_OK;
}

static calm_status list_segments(builder *b) {
  const memory_segments *s = &b->segments;
  uint64_t total = 0;
  uint32_t filled = 0;
  for (tensor_id t = 0; t < b->g->tensors.count; t++)
    total += s->end[t] - s->first[t];
  ARENA_ARRAY(b->a, b->p.buffer_begin, (size_t)b->g->tensors.count + 1);
  ARENA_ARRAY(b->a, b->p.buffers, total);
  for (tensor_id t = 0; t < b->g->tensors.count; t++) {
    for (uint32_t i = s->first[t]; i < s->end[t]; i++)
      b->p.buffers[filled++] = i;
    b->p.buffer_begin[t + 1] = filled;
  }
  return CALM_OK;
}

/* The buffers of each tensor: those of its bases. */
static calm_status list_buffers(builder *b) {
  const memory_rows *bases = &b->storage.bases;
  uint32_t filled = 0;
  ARENA_ARRAY(b->a, b->p.buffer_begin, (size_t)b->g->tensors.count + 1);
  ARENA_ARRAY(b->a, b->p.buffers, bases->items.count);
  for (tensor_id t = 0; t < b->g->tensors.count; t++) {
    for (uint32_t i = bases->begin[t]; i < bases->end[t]; i++) {
      uint32_t buffer = b->buffer_of[bases->items.data[i]];
      if (buffer != CALM_NONE) b->p.buffers[filled++] = buffer;
    }
    b->p.buffer_begin[t + 1] = filled;
  }
  return CALM_OK;
}

/* ---- Operators ----------------------------------------------------------- */

static calm_status number_operators(builder *b) {
  const uint32_t ops = b->g->ops.count;
  uint32_t count = 0;
  ARENA_ARRAY(b->a, b->p.op_of, ops);
  ARENA_ARRAY(b->a, b->p.order_op_of, ops);
  ARENA_ARRAY(b->a, b->p.order.workspace, ops);
  for (uint32_t i = 0; i < ops; i++) {
    const op_id op = b->g->order[i];
    if (b->storage.free_op[op]) {
      b->p.order_op_of[op] = CALM_NONE;
      continue;
    }
    b->p.order.workspace[count] = b->workspace[op];
    b->p.op_of[count] = op;
    b->p.order_op_of[op] = count++;
  }
  b->p.order.op_count = count;
  return CALM_OK;
}

static int compare_ids(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

/* What an operator has to wait for, free operators looked through. */
static calm_status add_waits(builder *b, memory_rows *to, op_id op) {
  const graph *g = b->g;
  for (uint32_t i = g->pred_begin[op]; i < g->pred_begin[op + 1]; i++) {
    const memory_rows *waits = &b->waits;
    const op_id pred = g->preds[i];
    for (uint32_t k = waits->begin[pred]; k < waits->end[pred]; k++)
      TRY(memory_rows_add(to, waits->items.data[k]));
  }
  return CALM_OK;
}

/* The row of a free operator is complete before anyone waits for it, because
   operators are visited in topological order. */
static calm_status fold_free_operators(builder *b) {
  for (uint32_t i = 0; i < b->g->ops.count; i++) {
    const op_id op = b->g->order[i];
    memory_rows_open(&b->waits, op);
    if (b->storage.free_op[op])
      TRY(add_waits(b, &b->waits, op));
    else
      TRY(memory_rows_add(&b->waits, b->p.order_op_of[op]));
  }
  return CALM_OK;
}

static calm_status list_predecessors(builder *b, memory_rows *preds) {
  order_problem *o = &b->p.order;
  TRY(fold_free_operators(b));
  for (uint32_t u = 0; u < o->op_count; u++) {
    memory_rows_open(preds, u);
    TRY(add_waits(b, preds, b->p.op_of[u]));
    if (memory_rows_count(preds, u))
      qsort(preds->items.data + preds->begin[u], memory_rows_count(preds, u),
            sizeof *preds->items.data, compare_ids);
  }
  return CALM_OK;
}

/* Rows written in ascending order are the compressed form already. */
static calm_status copy_rows(uint32_t **out_begin, uint32_t **out_items,
                             const memory_rows *rows, uint32_t count,
                             arena *a) {
  uint32_t *begin, *items;
  ARENA_ARRAY(a, begin, (size_t)count + 1);
  ARENA_ARRAY(a, items, rows->items.count);
  for (uint32_t i = 0; i < rows->items.count; i++)
    items[i] = rows->items.data[i];
  for (uint32_t row = 0; row < count; row++) begin[row + 1] = rows->end[row];
  *out_begin = begin;
  *out_items = items;
  return CALM_OK;
}

static calm_status set_predecessors(builder *b) {
  order_problem *o = &b->p.order;
  memory_rows preds = {0};
  calm_status status =
      memory_rows_init(&preds, o->op_count, o->op_count, &b->scratch);
  if (status != CALM_OK) return status;
  status = list_predecessors(b, &preds);
  if (status == CALM_OK)
    status = copy_rows(&o->pred_begin, &o->preds, &preds, o->op_count, b->a);
  memory_rows_free(&preds);
  return status;
}

/* ---- Touches ------------------------------------------------------------- */

static calm_status add_touches(builder *b, const tensor_id *tensors,
                               uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (tensors[i] == CALM_NONE) continue;
    const uint32_t *begin = &b->p.buffer_begin[tensors[i]];
    for (uint32_t k = begin[0]; k < begin[1]; k++)
      TRY(memory_rows_add(&b->touched, b->p.buffers[k]));
  }
  return CALM_OK;
}

/* Of its first input an operator may need a part only. */
static calm_status add_inputs(builder *b, op_id id) {
  const graph_op *op = &b->g->ops.data[id];
  const memory_segments *s = &b->segments;
  if (!b->cut || op->input_count == 0)
    return add_touches(b, op->inputs, op->input_count);
  for (uint32_t i = s->read_first[id]; i < s->read_end[id]; i++)
    TRY(memory_rows_add(&b->touched, i));
  return add_touches(b, op->inputs + 1, op->input_count - 1);
}

/* Buffer -> operators, ascending, from operator -> buffers. */
static calm_status transpose_touches(builder *b) {
  order_problem *o = &b->p.order;
  uint32_t *next;
  ARENA_ARRAY(b->a, o->touch_begin, (size_t)o->buffer_count + 1);
  ARENA_ARRAY(b->a, o->touch, b->touched.items.count);
  ARENA_ARRAY(&b->scratch, next, o->buffer_count);
  for (uint32_t i = 0; i < b->touched.items.count; i++)
    o->touch_begin[b->touched.items.data[i] + 1]++;
  for (uint32_t i = 0; i < o->buffer_count; i++) {
    o->touch_begin[i + 1] += o->touch_begin[i];
    next[i] = o->touch_begin[i];
  }
  for (uint32_t u = 0; u < o->op_count; u++)
    for (uint32_t i = b->touched.begin[u]; i < b->touched.end[u]; i++)
      o->touch[next[b->touched.items.data[i]]++] = u;
  return CALM_OK;
}

/* Rows of an input that are cut off are nobody's. */
static void forget_unread(builder *b) {
  order_problem *o = &b->p.order;
  for (uint32_t i = 0; i < o->buffer_count; i++)
    if (o->touch_begin[i] == o->touch_begin[i + 1] && !o->buffers[i].pinned_end)
      o->buffers[i].bytes = 0;
}

static calm_status set_touches(builder *b) {
  for (uint32_t u = 0; u < b->p.order.op_count; u++) {
    const graph_op *op = &b->g->ops.data[b->p.op_of[u]];
    memory_rows_open(&b->touched, u);
    TRY(add_inputs(b, b->p.op_of[u]));
    TRY(add_touches(b, op->outputs, op->output_count));
  }
  TRY(transpose_touches(b));
  if (b->cut) forget_unread(b);
  return CALM_OK;
}

/* ---- In-place permissions ------------------------------------------------ */

/* The one buffer that holds a whole tensor and nothing else, or CALM_NONE. */
static uint32_t sole_buffer(const builder *b, tensor_id t) {
  if (t == CALM_NONE || memory_rows_count(&b->storage.bases, t) != 1)
    return CALM_NONE;
  return b->buffer_of[*memory_rows_at(&b->storage.bases, t)];
}

static bool may_overwrite(const builder *b, uint32_t input, uint32_t output) {
  const order_buffer *buffers = b->p.order.buffers;
  return input != CALM_NONE && input != output &&
         buffers[input].bytes == buffers[output].bytes &&
         !buffers[input].pinned_end && !buffers[output].pinned_start;
}

static bool read_once(const graph *g, tensor_id t) {
  return g->reader_begin[t + 1] - g->reader_begin[t] == 1;
}

/* What the memory model has against it, other than the order. */
static bool may_use_slot(const builder *b, const graph_op *op, uint32_t slot) {
  const tensor_id input = op->inputs[slot];
  const graph_tensor *tensors = b->g->tensors.data;
  if (!memory_slot_inplace(op->kind, slot) ||
      tensors[input].bytes <= b->model->inplace_above ||
      !memory_same_elements(&tensors[input], &tensors[op->outputs[0]]))
    return false;
  return !b->model->sole_reader ||
         (read_once(b->g, input) &&
          read_once(b->g, *memory_rows_at(&b->storage.bases, input)));
}

/* A runtime may want a graph output to have bytes of its own. */
static uint32_t overwriting_buffer(const builder *b, const graph_op *op) {
  if (!bits_has(b->model->inplace, op->kind) || op->output_count == 0)
    return CALM_NONE;
  const uint32_t buffer = sole_buffer(b, op->outputs[0]);
  if (buffer == CALM_NONE) return CALM_NONE;
  const unsigned flags = b->g->tensors.data[b->p.tensor_of[buffer]].flags;
  return b->model->own_outputs && (flags & CALM_TENSOR_OUTPUT) ? CALM_NONE
                                                               : buffer;
}

static bool slot_repeats(const graph_op *op, uint32_t slot) {
  for (uint32_t i = 0; i < slot; i++)
    if (op->inputs[i] == op->inputs[slot]) return true;
  return false;
}

/* Does a kernel that changes one operand while it reads the others find the
   same bytes in one of these? */
static bool needs_unchanged(const builder *b, const graph_op *op,
                            uint32_t buffer) {
  const uint32_t changed = memory_changed_slot(op->kind);
  for (uint32_t i = 0; i < op->input_count && changed != CALM_NONE; i++) {
    if (i == changed || op->inputs[i] == CALM_NONE) continue;
    const uint32_t *begin = &b->p.buffer_begin[op->inputs[i]];
    for (uint32_t k = begin[0]; k < begin[1]; k++)
      if (b->p.buffers[k] == buffer) return true;
  }
  return false;
}

/* Whatever the model says of kinds, the first operand of a sum to be there may
   become it; then there is nothing to add and no workspace to add it with. */
static uint32_t find_handover(const builder *b, uint32_t u, order_reuse *out) {
  const graph_op *op = &b->g->ops.data[b->p.op_of[u]];
  const uint32_t input = sole_buffer(b, op->inputs[0]);
  const uint32_t output = sole_buffer(b, op->outputs[0]);
  if (output == CALM_NONE || !may_overwrite(b, input, output)) return 0;
  const uint64_t bytes = b->p.order.buffers[output].bytes;
  if (out)
    *out = (order_reuse){u, input, output, bytes + b->p.order.workspace[u]};
  return 1;
}

/* The permissions of one relief: each segment of the input and the largest of
   the output. */
static uint32_t list_relief(const builder *b, uint32_t u,
                            const memory_relief *relief, order_reuse *out) {
  const memory_segments *s = &b->segments;
  const order_buffer *buffers = b->p.order.buffers;
  const uint32_t output =
      memory_segment_largest(s, b->g->ops.data[b->p.op_of[u]].outputs[0]);
  uint32_t count = 0;
  if (output == CALM_NONE || buffers[output].pinned_start) return 0;
  for (uint32_t i = s->first[relief->input]; i < s->end[relief->input]; i++) {
    const uint64_t bytes = memory_relief_saving(
        buffers[i].bytes, buffers[output].bytes, relief->distance);
    if (!bytes || buffers[i].pinned_end ||
        s->list[i].base == s->list[output].base)
      continue;
    if (out) out[count] = (order_reuse){u, i, output, bytes};
    count++;
  }
  return count;
}

static uint32_t find_reliefs(const builder *b, uint32_t u, order_reuse *out) {
  memory_relief reliefs[RELIEFS_MOST];
  uint32_t kept = 0;
  const uint32_t count =
      memory_reliefs_of(reliefs, b->g, b->model, b->p.op_of[u]);
  for (uint32_t i = 0; i < count; i++)
    kept += list_relief(b, u, &reliefs[i], out ? out + kept : NULL);
  return kept;
}

/* Permissions of operator u; counted only while `out` is NULL. */
static uint32_t find_reuses(const builder *b, uint32_t u, order_reuse *out) {
  const graph_op *op = &b->g->ops.data[b->p.op_of[u]];
  if (b->cut) return find_reliefs(b, u, out);
  if (op->kind == OP_add_into) return find_handover(b, u, out);
  const uint32_t output = overwriting_buffer(b, op);
  uint32_t count = 0;
  for (uint32_t i = 0; output != CALM_NONE && i < op->input_count; i++) {
    const uint32_t input = sole_buffer(b, op->inputs[i]);
    if (!may_overwrite(b, input, output) || slot_repeats(op, i) ||
        !may_use_slot(b, op, i) || needs_unchanged(b, op, input))
      continue;
    if (out)
      out[count] =
          (order_reuse){u, input, output, b->p.order.buffers[output].bytes};
    count++;
  }
  return count;
}

static calm_status set_reuses(builder *b) {
  order_problem *o = &b->p.order;
  uint32_t count = 0;
  for (uint32_t u = 0; u < o->op_count; u++) count += find_reuses(b, u, NULL);
  ARENA_ARRAY(b->a, o->reuses, count);
  o->reuse_count = count;
  count = 0;
  for (uint32_t u = 0; u < o->op_count; u++)
    count += find_reuses(b, u, o->reuses + count);
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status check_total(const builder *b) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < b->p.order.buffer_count; i++)
    if (!number_add(&total, total, b->p.order.buffers[i].bytes))
      return fail_total(b->g, b->a->context);
  for (uint32_t u = 0; u < b->p.order.op_count; u++)
    if (!number_add(&total, total, b->p.order.workspace[u]))
      return fail_total(b->g, b->a->context);
  return CALM_OK;
}

static calm_status build(builder *b, const uint64_t *body_arena) {
  TRY(sum_workspace(b, body_arena));
  TRY(memory_storage_resolve(&b->storage, b->g, b->model, b->workspace,
                             &b->scratch));
  b->cut = b->model->overlap || memory_alias_asked(b->model);
  if (b->cut)
    TRY(memory_segments_find(&b->segments, &b->storage, b->g, b->model,
                             b->workspace, &b->scratch));
  TRY(b->cut ? number_segments(b) : number_buffers(b));
  TRY(b->cut ? list_segments(b) : list_buffers(b));
  TRY(number_operators(b));
  TRY(check_total(b));
  TRY(memory_rows_init(&b->touched, b->p.order.op_count,
                       b->p.order.buffer_count, &b->scratch));
  TRY(memory_rows_init(&b->waits, b->g->ops.count, b->p.order.op_count,
                       &b->scratch));
  TRY(set_touches(b));
  TRY(set_predecessors(b));
  TRY(set_reuses(b));
  return order_problem_finish(&b->p.order, b->a);
}

static void free_rows(memory_rows *rows) {
  if (rows->context) memory_rows_free(rows);
}

calm_status memory_problem_build(memory_problem *out, const graph *g,
                                 const memory_model *model,
                                 const uint64_t *body_arena, arena *a) {
  builder b = {.g = g, .model = model, .a = a};
  arena_init(&b.scratch, a->context);
  calm_status status = build(&b, body_arena);
  free_rows(&b.touched);
  free_rows(&b.waits);
  memory_storage_free(&b.storage);
  arena_free(&b.scratch);
  if (status == CALM_OK) *out = b.p;
  return status;
}
