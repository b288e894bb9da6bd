#include "graph/graph_topology.h"

#include <inttypes.h>

#include "base/text.h"

/* ---- Who writes and who reads -------------------------------------------- */

static calm_status add_producer(graph *g, const char *path, op_id u,
                                tensor_id t) {
  const graph_op *op = &g->ops.data[u];
  const char *name = g->tensors.data[t].name;
  op_id other = g->producer[t];
  g->producer[t] = u;
  if (other == CALM_NONE) return CALM_OK;
  if (other == u)
    return graph_fail(g->arena->context, path, op->place,
                      "operator '%s' writes tensor '%s' twice", op->name, name);
  return graph_fail(g->arena->context, path, op->place,
                    "tensor '%s' is written by the operators '%s' and '%s'; "
                    "a tensor has one producer",
                    name, g->ops.data[other].name, op->name);
}

static calm_status find_producers(graph *g, const char *path) {
  ARENA_ARRAY(g->arena, g->producer, g->tensors.count);
  for (tensor_id t = 0; t < g->tensors.count; t++) g->producer[t] = CALM_NONE;
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    for (uint32_t i = 0; i < op->output_count; i++)
      if (op->outputs[i] != CALM_NONE)
        TRY(add_producer(g, path, u, op->outputs[i]));
  }
  return CALM_OK;
}

/* Counts in begin[1 ..] become the first index of each part. */
static void sum_counts(uint32_t *begin, uint32_t parts) {
  for (uint32_t i = 0; i < parts; i++) begin[i + 1] += begin[i];
}

/* While a part was filled its begin moved to its end, the next one's begin. */
static void rewind_begins(uint32_t *begin, uint32_t parts) {
  for (uint32_t i = parts; i > 0; i--) begin[i] = begin[i - 1];
  begin[0] = 0;
}

static calm_status find_readers(graph *g) {
  uint32_t tensors = g->tensors.count;
  ARENA_ARRAY(g->arena, g->reader_begin, (size_t)tensors + 1);
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    for (uint32_t i = 0; i < op->input_count; i++)
      if (op->inputs[i] != CALM_NONE) g->reader_begin[op->inputs[i] + 1]++;
  }
  sum_counts(g->reader_begin, tensors);
  ARENA_ARRAY(g->arena, g->readers, g->reader_begin[tensors]);
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    for (uint32_t i = 0; i < op->input_count; i++)
      if (op->inputs[i] != CALM_NONE)
        g->readers[g->reader_begin[op->inputs[i]]++] = u;
  }
  rewind_begins(g->reader_begin, tensors);
  return CALM_OK;
}

/* ---- Who waits for whom -------------------------------------------------- */

/* What is known while the operators are visited in file order. */
typedef struct edge_collector {
  graph *g;
  VECTOR(op_id) preds; /* of all operators so far, in no order */
  op_id *seen_by;      /* the last operator that took this one as pred */
  op_id *last_touch;   /* of each variable */
  op_id last_stateful; /* CALM_NONE before the first */
} edge_collector;

/* Each predecessor once.  An operator may come out as its own: that is a cycle
   of one, found later like any other. */
static calm_status add_pred(edge_collector *c, op_id u, op_id pred) {
  if (pred == CALM_NONE || c->seen_by[pred] == u) return CALM_OK;
  c->seen_by[pred] = u;
  VECTOR_PUSH(c->g->arena->context, &c->preds, pred);
  return CALM_OK;
}

static calm_status touch_variables(edge_collector *c, op_id u,
                                   const tensor_id *tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    tensor_id t = tensors[i];
    if (t == CALM_NONE) continue;
    if (!(c->g->tensors.data[t].flags & CALM_TENSOR_VARIABLE)) continue;
    if (c->last_touch[t] != u) TRY(add_pred(c, u, c->last_touch[t]));
    c->last_touch[t] = u;
  }
  return CALM_OK;
}

static calm_status wait_for_inputs(edge_collector *c, op_id u) {
  const graph_op *op = &c->g->ops.data[u];
  for (uint32_t i = 0; i < op->input_count; i++) {
    tensor_id t = op->inputs[i];
    if (t == CALM_NONE) continue;
    if (c->g->tensors.data[t].flags & CALM_TENSOR_VARIABLE) continue;
    TRY(add_pred(c, u, c->g->producer[t]));
  }
  return CALM_OK;
}

static calm_status collect_preds_of(edge_collector *c, op_id u) {
  const graph_op *op = &c->g->ops.data[u];
  TRY(wait_for_inputs(c, u));
  TRY(touch_variables(c, u, op->inputs, op->input_count));
  TRY(touch_variables(c, u, op->outputs, op->output_count));
  for (uint32_t i = 0; i < op->after_count; i++)
    TRY(add_pred(c, u, op->after[i]));
  if (!graph_op_stateful(op)) return CALM_OK;
  TRY(add_pred(c, u, c->last_stateful));
  c->last_stateful = u;
  return CALM_OK;
}

static calm_status collect_preds(edge_collector *c, arena *scratch) {
  graph *g = c->g;
  c->last_stateful = CALM_NONE;
  ARENA_ARRAY(scratch, c->seen_by, g->ops.count);
  ARENA_ARRAY(scratch, c->last_touch, g->tensors.count);
  for (op_id u = 0; u < g->ops.count; u++) c->seen_by[u] = CALM_NONE;
  for (tensor_id t = 0; t < g->tensors.count; t++) c->last_touch[t] = CALM_NONE;
  ARENA_ARRAY(g->arena, g->pred_begin, (size_t)g->ops.count + 1);
  for (op_id u = 0; u < g->ops.count; u++) {
    TRY(collect_preds_of(c, u));
    g->pred_begin[u + 1] = c->preds.count;
  }
  return CALM_OK;
}

/* Turn all edges around.  Sources are visited in ascending order, so the new
   lists are ascending, whatever the old ones were. */
static void reverse_edges(uint32_t *to_begin, op_id *to,
                          const uint32_t *from_begin, const op_id *from,
                          uint32_t count) {
  for (uint32_t i = 0; i <= count; i++) to_begin[i] = 0;
  for (uint32_t i = 0; i < from_begin[count]; i++) to_begin[from[i] + 1]++;
  sum_counts(to_begin, count);
  for (op_id u = 0; u < count; u++)
    for (uint32_t i = from_begin[u]; i < from_begin[u + 1]; i++)
      to[to_begin[from[i]]++] = u;
  rewind_begins(to_begin, count);
}

/* Turned around twice, the predecessors are sorted, too. */
static calm_status index_edges(graph *g, arena *scratch) {
  edge_collector c = {.g = g};
  uint32_t count = g->ops.count;
  calm_status status = collect_preds(&c, scratch);
  if (status == CALM_OK) {
    g->succs = arena_calloc(g->arena, c.preds.count, sizeof *g->succs);
    g->preds = arena_calloc(g->arena, c.preds.count, sizeof *g->preds);
    g->succ_begin =
        arena_calloc(g->arena, (size_t)count + 1, sizeof *g->succ_begin);
    if (!g->succs || !g->preds || !g->succ_begin)
      status = context_no_memory(g->arena->context);
  }
  if (status == CALM_OK) {
    reverse_edges(g->succ_begin, g->succs, g->pred_begin, c.preds.data, count);
    reverse_edges(g->pred_begin, g->preds, g->succ_begin, g->succs, count);
  }
  VECTOR_FREE(g->arena->context, &c.preds);
  return status;
}

/* ---- The order ----------------------------------------------------------- */

/* Operators that could run now; the one lowest in the file is on top. */
typedef struct ready_heap {
  op_id *ops;
  uint32_t count;
} ready_heap;

static void push_ready(ready_heap *heap, op_id u) {
  uint32_t i = heap->count++;
  for (; i > 0 && heap->ops[(i - 1) / 2] > u; i = (i - 1) / 2)
    heap->ops[i] = heap->ops[(i - 1) / 2];
  heap->ops[i] = u;
}

static op_id pop_ready(ready_heap *heap) {
  op_id top = heap->ops[0];
  op_id last = heap->ops[--heap->count];
  uint32_t i = 0;
  for (uint32_t child = 1; child < heap->count; child = 2 * i + 1) {
    if (child + 1 < heap->count && heap->ops[child + 1] < heap->ops[child])
      child++;
    if (heap->ops[child] >= last) break;
    heap->ops[i] = heap->ops[child];
    i = child;
  }
  heap->ops[i] = last;
  return top;
}

/* Kahn's algorithm.  Returns how many operators could be ordered; those left
   have waiting > 0. */
static uint32_t order_by_readiness(graph *g, ready_heap *heap,
                                   uint32_t *waiting) {
  uint32_t done = 0;
  for (op_id u = 0; u < g->ops.count; u++) {
    waiting[u] = g->pred_begin[u + 1] - g->pred_begin[u];
    if (waiting[u] == 0) push_ready(heap, u);
  }
  while (heap->count) {
    op_id u = pop_ready(heap);
    g->order[done++] = u;
    for (uint32_t i = g->succ_begin[u]; i < g->succ_begin[u + 1]; i++)
      if (--waiting[g->succs[i]] == 0) push_ready(heap, g->succs[i]);
  }
  return done;
}

static op_id first_waiting_pred(const graph *g, const uint32_t *waiting,
                                op_id u) {
  for (uint32_t i = g->pred_begin[u]; i < g->pred_begin[u + 1]; i++)
    if (waiting[g->preds[i]]) return g->preds[i];
  return CALM_NONE;
}

/* ---- Cycles -------------------------------------------------------------- */

enum { SHOWN_OPS = 12 };

/* One cycle, in an array backwards: each operator waits for the next one, the
   last for the first. */
typedef struct cycle {
  const op_id *ops;
  uint32_t length;
} cycle;

/*
 * An operator that could not be ordered waits for another such operator, so
 * walking from one to the next must come back to where it was.
 */
static calm_status find_cycle(cycle *out, const graph *g,
                              const uint32_t *waiting, arena *scratch) {
  op_id *walk;
  uint32_t *step, length = 0;
  ARENA_ARRAY(scratch, walk, g->ops.count);
  ARENA_ARRAY(scratch, step, g->ops.count);
  op_id u = 0;
  while (waiting[u] == 0) u++;
  for (; step[u] == 0; u = first_waiting_pred(g, waiting, u)) {
    walk[length++] = u;
    step[u] = length;
  }
  *out = (cycle){walk + step[u] - 1, length - step[u] + 1};
  return CALM_OK;
}

static const char *cycle_remedy(const graph *g, const cycle *c) {
  for (uint32_t i = 0; i < c->length; i++)
    if (graph_op_stateful(&g->ops.data[c->ops[i]]) &&
        graph_op_stateful(&g->ops.data[c->ops[(i + 1) % c->length]]))
      return " (operators with state keep the order of the file)";
  return "";
}

/* In running order, beginning with the operator that is lowest in the file. */
static calm_status report_cycle(const graph *g, const char *path,
                                const cycle *c) {
  uint32_t first = 0;
  for (uint32_t i = 1; i < c->length; i++)
    if (c->ops[i] < c->ops[first]) first = i;
  const graph_op *start = &g->ops.data[c->ops[first]];
  calm_context *context = g->arena->context;
  text names;
  text_init(&names, context);
  for (uint32_t i = 0; i < c->length && i < SHOWN_OPS; i++) {
    op_id u = c->ops[(first + c->length - i) % c->length];
    text_format(&names, "'%s' -> ", g->ops.data[u].name);
  }
  if (c->length > SHOWN_OPS)
    text_format(&names, "%" PRIu32 " more -> ", c->length - SHOWN_OPS);
  text_format(&names, "'%s'", start->name);
  calm_status status = names.failed
                           ? context_no_memory(context)
                           : graph_fail(context, path, start->place,
                                        "operators wait for each other: %s%s",
                                        names.data, cycle_remedy(g, c));
  text_free(&names);
  return status;
}

static calm_status fail_on_cycle(const graph *g, const char *path,
                                 const uint32_t *waiting, arena *scratch) {
  cycle c = {NULL, 0};
  TRY(find_cycle(&c, g, waiting, scratch));
  return report_cycle(g, path, &c);
}

static bool file_order_holds(const graph *g) {
  for (op_id u = 0; u < g->ops.count; u++)
    for (uint32_t i = g->pred_begin[u]; i < g->pred_begin[u + 1]; i++)
      if (g->preds[i] >= u) return false;
  return true;
}

static calm_status find_order(graph *g, const char *path, arena *scratch) {
  uint32_t *waiting;
  ready_heap heap = {.count = 0};
  ARENA_ARRAY(g->arena, g->order, g->ops.count);
  g->file_order_valid = file_order_holds(g);
  for (op_id u = 0; u < g->ops.count; u++) g->order[u] = u;
  if (g->file_order_valid) return CALM_OK;
  ARENA_ARRAY(scratch, waiting, g->ops.count);
  ARENA_ARRAY(scratch, heap.ops, g->ops.count);
  if (order_by_readiness(g, &heap, waiting) == g->ops.count) return CALM_OK;
  return fail_on_cycle(g, path, waiting, scratch);
}

calm_status topology_build(graph *g, const char *path) {
  arena scratch;
  arena_init(&scratch, g->arena->context);
  calm_status status = find_producers(g, path);
  if (status == CALM_OK) status = find_readers(g);
  if (status == CALM_OK) status = index_edges(g, &scratch);
  if (status == CALM_OK) status = find_order(g, path, &scratch);
  arena_free(&scratch);
  return status;
}
