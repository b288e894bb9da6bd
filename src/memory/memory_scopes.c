/*
 * The walk.  An operator's outputs come to life at its scope, then its bodies
 * are walked, then its inputs and outputs are in use at the scope reached.  So
 * whatever is alive across an IF is in use during all of its bodies, and the
 * bodies follow one another:
 *
 *     scope   3          4 5 6       7 8          9
 *             if begins  then ...    else ...     next operator
 *     x       =========================
 *     then's             =====
 *     else's                         ===
 *
 * A body that several operators run is walked once for each: its tensors begin
 * in the first walk and end in the last.
 */
#include "memory/memory_scopes.h"

enum { MOST_SCOPES = 1 << 24 };

/* A graph in the midst of being walked. */
typedef struct walk_frame {
  uint32_t graph, step;
  uint32_t body; /* of the operator at `step`: bodies begun */
  int64_t start; /* its scope before any body */
} walk_frame;

typedef struct walker {
  const graph *graphs;
  uint32_t count;
  const op_id *const *sequences;
  calm_context *context;
  memory_scopes scopes;
  int64_t scope;
  uint32_t root;
  uint32_t *walked_from; /* graph -> the first root, plus 1 */
  VECTOR(walk_frame) stack;
} walker;

static void use(memory_span *span, int64_t first, int64_t last) {
  if (span->first == SCOPE_NEVER) span->first = first;
  span->last = last;
}

static memory_span *tensor_span(const walker *w, uint32_t graph, tensor_id t) {
  return &w->scopes.tensors[w->scopes.tensor_begin[graph] + t];
}

static calm_status enter_scope(walker *w) {
  if (++w->scope < MOST_SCOPES) return CALM_OK;
  return context_fail(w->context, CALM_UNSUPPORTED,
                      "graph '%s': the graphs that its operators run unfold to "
                      "more than %d steps",
                      w->graphs[0].name, MOST_SCOPES);
}

/* In use at this scope: all tensors of a graph that carry the flag. */
static void use_flagged(walker *w, uint32_t graph, unsigned flag) {
  const graph_tensor *tensors = w->graphs[graph].tensors.data;
  for (tensor_id t = 0; t < w->graphs[graph].tensors.count; t++)
    if (tensors[t].flags & flag)
      use(tensor_span(w, graph, t), w->scope, w->scope);
}

static calm_status begin_graph(walker *w, uint32_t graph) {
  w->walked_from[graph] = w->root + 1;
  VECTOR_PUSH(w->context, &w->stack, (walk_frame){.graph = graph});
  use_flagged(w, graph, CALM_TENSOR_INPUT);
  return CALM_OK;
}

static const graph_op *op_of_frame(const walker *w, const walk_frame *f,
                                   op_id *out_id) {
  *out_id = w->sequences[f->graph][f->step];
  return &w->graphs[f->graph].ops.data[*out_id];
}

/* A new scope, in which the outputs begin. */
static calm_status begin_op(walker *w, walk_frame *f) {
  op_id id;
  const graph_op *op = op_of_frame(w, f, &id);
  TRY(enter_scope(w));
  f->start = w->scope;
  for (uint32_t i = 0; i < op->output_count; i++) {
    if (op->outputs[i] == CALM_NONE) continue;
    memory_span *span = tensor_span(w, f->graph, op->outputs[i]);
    use(span, w->scope, span->last);
  }
  return CALM_OK;
}

/* What an input that nobody makes begins at is left open: TensorFlow Lite Micro
   leaves it before all others. */
static void end_op(walker *w, walk_frame *f) {
  op_id id;
  const graph_op *op = op_of_frame(w, f, &id);
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE)
      tensor_span(w, f->graph, op->inputs[i])->last = w->scope;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE)
      tensor_span(w, f->graph, op->outputs[i])->last = w->scope;
  use(&w->scopes.ops[w->scopes.op_begin[f->graph] + id], f->start, w->scope);
  f->step++;
  f->body = 0;
}

/* What the entry runs is there for the entry: a graph that nobody runs does not
   make it live longer. */
static bool belongs_elsewhere(const walker *w, uint32_t graph) {
  return w->walked_from[graph] && w->walked_from[graph] != w->root + 1;
}

/* One operator, or one of its bodies, or the end of a graph. */
static calm_status step(walker *w) {
  walk_frame *f = &w->stack.data[w->stack.count - 1];
  op_id id;
  if (f->step == w->graphs[f->graph].ops.count) {
    use_flagged(w, f->graph, CALM_TENSOR_OUTPUT);
    w->stack.count--;
    return CALM_OK;
  }
  const graph_op *op = op_of_frame(w, f, &id);
  if (f->body == 0) TRY(begin_op(w, f));
  if (f->body == op->body_count) {
    end_op(w, f);
    return CALM_OK;
  }
  const uint32_t body = op->bodies[f->body++];
  if (belongs_elsewhere(w, body)) return CALM_OK;
  TRY(enter_scope(w));
  return begin_graph(w, body); /* f may have moved */
}

static calm_status walk(walker *w, uint32_t root) {
  w->root = root;
  TRY(begin_graph(w, root));
  while (w->stack.count) TRY(step(w));
  return CALM_OK;
}

static void mark_bodies(const graph *g, bool *is_body) {
  for (op_id op = 0; op < g->ops.count; op++)
    for (uint32_t i = 0; i < g->ops.data[op].body_count; i++)
      is_body[g->ops.data[op].bodies[i]] = true;
}

static calm_status walk_roots(walker *w, memory_roots roots, arena *a) {
  bool *is_body;
  ARENA_ARRAY(a, w->walked_from, w->count);
  TRY(walk(w, 0));
  if (roots == ROOTS_ENTRY) return CALM_OK;
  ARENA_ARRAY(a, is_body, w->count);
  for (uint32_t i = 0; i < w->count; i++) mark_bodies(&w->graphs[i], is_body);
  for (uint32_t i = 1; i < w->count; i++) {
    if (is_body[i]) continue;
    TRY(enter_scope(w));
    TRY(walk(w, i));
  }
  return CALM_OK;
}

static calm_status fail_count(const walker *w) {
  return context_fail(w->context, CALM_UNSUPPORTED,
                      "graph '%s': more than 2^31 tensors or operators in all "
                      "graphs together",
                      w->graphs[0].name);
}

static calm_status number_all(walker *w, arena *a) {
  memory_scopes *s = &w->scopes;
  ARENA_ARRAY(a, s->tensor_begin, (size_t)w->count + 1);
  ARENA_ARRAY(a, s->op_begin, (size_t)w->count + 1);
  for (uint32_t i = 0; i < w->count; i++) {
    const uint64_t tensors =
        (uint64_t)s->tensor_begin[i] + w->graphs[i].tensors.count;
    const uint64_t ops = (uint64_t)s->op_begin[i] + w->graphs[i].ops.count;
    if (tensors > INT32_MAX || ops > INT32_MAX) return fail_count(w);
    s->tensor_begin[i + 1] = (uint32_t)tensors;
    s->op_begin[i + 1] = (uint32_t)ops;
  }
  return CALM_OK;
}

static void forget_all(memory_span *spans, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    spans[i] = (memory_span){SCOPE_NEVER, SCOPE_NEVER};
}

static calm_status build(walker *w, memory_roots roots, arena *a) {
  memory_scopes *s = &w->scopes;
  TRY(number_all(w, a));
  ARENA_ARRAY(a, s->tensors, s->tensor_begin[w->count]);
  ARENA_ARRAY(a, s->ops, s->op_begin[w->count]);
  forget_all(s->tensors, s->tensor_begin[w->count]);
  forget_all(s->ops, s->op_begin[w->count]);
  return walk_roots(w, roots, a);
}

calm_status memory_scopes_build(memory_scopes *out, const graph *graphs,
                                uint32_t count, const op_id *const *sequences,
                                memory_roots roots, arena *a) {
  walker w = {.graphs = graphs,
              .count = count,
              .sequences = sequences,
              .context = a->context};
  calm_status status = build(&w, roots, a);
  VECTOR_FREE(w.context, &w.stack);
  if (status == CALM_OK) *out = w.scopes;
  return status;
}
