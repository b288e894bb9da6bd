#include "memory/memory_ort.h"

/* ---- Nodes and edges ----------------------------------------------------- */

static op_id producer_of(const graph *g, tensor_id t) {
  return t == CALM_NONE ? CALM_NONE : g->producer[t];
}

/* Count or write, per producer, the operators that read it: each once, because
   it is remembered who was the last reader. */
static void walk_edges(ort_nodes *n, bool write) {
  const graph *g = n->g;
  for (op_id op = 0; op < g->ops.count; op++) n->position[op] = CALM_NONE;
  for (op_id op = 0; op < g->ops.count; op++)
    for (uint32_t i = 0; i < g->ops.data[op].input_count; i++) {
      const op_id from = producer_of(g, g->ops.data[op].inputs[i]);
      if (from == CALM_NONE || n->position[from] == op) continue;
      n->position[from] = op;
      if (write) n->succs[n->fill[from]] = op;
      n->fill[from]++;
      if (!write) n->pred_begin[op + 1]++;
    }
}

static void sum_up(uint32_t *begin, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) begin[i + 1] += begin[i];
}

calm_status ort_nodes_init(ort_nodes *out, const graph *g, arena *a) {
  const uint32_t ops = g->ops.count;
  ort_nodes n = {.g = g};
  ARENA_ARRAY(a, n.succ_begin, (size_t)ops + 1);
  ARENA_ARRAY(a, n.pred_begin, (size_t)ops + 1);
  ARENA_ARRAY(a, n.fill, ops);
  ARENA_ARRAY(a, n.position, ops);
  ARENA_ARRAY(a, n.visited, ops);
  walk_edges(&n, false);
  for (op_id op = 0; op < ops; op++) n.succ_begin[op + 1] = n.fill[op];
  sum_up(n.succ_begin, ops);
  sum_up(n.pred_begin, ops);
  ARENA_ARRAY(a, n.succs, n.succ_begin[ops]);
  ARENA_ARRAY(a, n.preds, n.succ_begin[ops]);
  ARENA_ARRAY(a, n.stack, (size_t)n.succ_begin[ops] + 2 * (size_t)ops);
  for (op_id op = 0; op < ops; op++) n.fill[op] = n.succ_begin[op];
  walk_edges(&n, true);
  *out = n;
  return CALM_OK;
}

/* ---- By default ---------------------------------------------------------- */

/* Each node's predecessors as the file lists them: whoever comes next in the
   file is put behind those that its successors have already. */
static void sort_predecessors(ort_nodes *n, const op_id *file) {
  const uint32_t ops = n->g->ops.count;
  for (op_id op = 0; op < ops; op++) n->fill[op] = n->pred_begin[op];
  for (uint32_t i = 0; i < ops; i++)
    for (uint32_t k = n->succ_begin[file[i]]; k < n->succ_begin[file[i] + 1];
         k++)
      n->preds[n->fill[n->succs[k]]++] = file[i];
}

/* Nodes that feed no other, as the file lists them. */
static uint32_t push_leaves(ort_nodes *n, const op_id *file) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < n->g->ops.count; i++) {
    n->visited[file[i]] = false;
    if (n->succ_begin[file[i]] == n->succ_begin[file[i] + 1])
      n->stack[depth++] = file[i];
  }
  return depth;
}

static uint32_t push_predecessors(ort_nodes *n, op_id op, uint32_t depth) {
  for (uint32_t i = n->pred_begin[op]; i < n->pred_begin[op + 1]; i++)
    if (!n->visited[n->preds[i]]) n->stack[depth++] = n->preds[i];
  return depth;
}

/*
 * What is on top of the stack comes first.  A node is marked when it is
 * entered, and stays below what it needs until it is left:
 *
 *     stack | leaf | leaf | n, to be left | pred | pred |
 *                                                   ^ the last in the file
 */
static const uint32_t LEAVE = UINT32_C(1) << 31;

void ort_default_order(op_id *out, ort_nodes *n, const op_id *file) {
  uint32_t count = 0;
  sort_predecessors(n, file);
  uint32_t depth = push_leaves(n, file);
  while (depth) {
    const uint32_t top = n->stack[--depth];
    if (top & LEAVE) {
      out[count++] = top & ~LEAVE;
    } else if (!n->visited[top]) {
      n->visited[top] = true;
      n->stack[depth++] = top | LEAVE;
      depth = push_predecessors(n, top, depth);
    }
  }
}

/* ---- By priority --------------------------------------------------------- */

/* A heap of operators that can run, in `stack`. */
typedef struct ready_heap {
  const ort_nodes *n;
  uint32_t count;
} ready_heap;

static bool runs_before(const ready_heap *h, op_id a, op_id b) {
  const graph_op *ops = h->n->g->ops.data;
  const bool a_soon = ops[a].kind == OP_shape || ops[a].kind == OP_size;
  const bool b_soon = ops[b].kind == OP_shape || ops[b].kind == OP_size;
  if (a_soon != b_soon) return a_soon;
  return h->n->position[a] < h->n->position[b];
}

static void heap_push(ready_heap *h, op_id op) {
  op_id *items = h->n->stack;
  uint32_t at = h->count++;
  for (; at && runs_before(h, op, items[(at - 1) / 2]); at = (at - 1) / 2)
    items[at] = items[(at - 1) / 2];
  items[at] = op;
}

static op_id heap_pop(ready_heap *h) {
  op_id *items = h->n->stack;
  const op_id first = items[0], last = items[--h->count];
  uint32_t at = 0;
  for (uint32_t child; (child = 2 * at + 1) < h->count; at = child) {
    if (child + 1 < h->count && runs_before(h, items[child + 1], items[child]))
      child++;
    if (!runs_before(h, items[child], last)) break;
    items[at] = items[child];
  }
  items[at] = last;
  return first;
}

void ort_priority_order(op_id *out, ort_nodes *n, const op_id *file) {
  ready_heap heap = {.n = n};
  const uint32_t ops = n->g->ops.count;
  for (uint32_t i = 0; i < ops; i++) n->position[file[i]] = i;
  for (op_id op = 0; op < ops; op++) {
    n->fill[op] = n->pred_begin[op + 1] - n->pred_begin[op];
    if (n->fill[op] == 0) heap_push(&heap, op);
  }
  for (uint32_t step = 0; heap.count; step++) {
    const op_id op = heap_pop(&heap);
    out[step] = op;
    for (uint32_t i = n->succ_begin[op]; i < n->succ_begin[op + 1]; i++)
      if (--n->fill[n->succs[i]] == 0) heap_push(&heap, n->succs[i]);
  }
}

/* ---- Weights ------------------------------------------------------------- */

uint64_t ort_small_weights(const graph *g) {
  enum { SMALL_BELOW = 128 };
  uint64_t bytes = 0;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if ((g->tensors.data[t].flags & CALM_TENSOR_CONST) &&
        g->reader_begin[t] < g->reader_begin[t + 1] &&
        g->tensors.data[t].bytes < SMALL_BELOW)
      bytes += g->tensors.data[t].bytes;
  return bytes;
}
