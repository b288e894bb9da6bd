#include <inttypes.h>

#include "graph/graph.h"

/*
 * The graphs of a model call each other like functions.  Walk that call graph
 * depth first, with a stack of its own, and close a graph when all that it runs
 * is closed: meeting an open graph again is recursion, and when a graph closes
 * it is known which graphs below it hold state.
 */
typedef enum body_state { UNSEEN, OPEN, STATELESS, STATEFUL } body_state;

typedef struct body_frame {
  uint32_t graph;
  op_id op; /* the next one to look at */
  uint32_t body;
} body_frame;

typedef struct body_walk {
  graph *graphs;
  const char *path;
  calm_context *context;
  body_state *states;
  body_frame *stack;
  uint32_t depth;
} body_walk;

static calm_status check_bodies(const graph *g, uint32_t count,
                                const char *path) {
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    for (uint32_t i = 0; i < op->body_count; i++)
      if (op->bodies[i] >= count)
        return graph_fail(g->arena->context, path, op->place,
                          "operator '%s' runs graph number %" PRIu32
                          ", but there are only %" PRIu32,
                          op->name, op->bodies[i], count);
  }
  return CALM_OK;
}

static void open_graph(body_walk *w, uint32_t index) {
  w->states[index] = OPEN;
  w->stack[w->depth++] = (body_frame){.graph = index};
}

static void close_graph(body_walk *w) {
  uint32_t index = w->stack[--w->depth].graph;
  graph *g = &w->graphs[index];
  w->states[index] = STATELESS;
  for (op_id u = 0; u < g->ops.count; u++) {
    graph_op *op = &g->ops.data[u];
    for (uint32_t i = 0; i < op->body_count; i++)
      if (w->states[op->bodies[i]] == STATEFUL) op->stateful = true;
    if (graph_op_stateful(op)) w->states[index] = STATEFUL;
  }
}

static calm_status enter_body(body_walk *w, const graph *caller,
                              const graph_op *op, uint32_t body) {
  if (w->states[body] == OPEN)
    return graph_fail(w->context, w->path, op->place,
                      "operator '%s' of graph '%s' runs graph '%s', which is "
                      "already running: bodies must not recur",
                      op->name, caller->name, w->graphs[body].name);
  if (w->states[body] == UNSEEN) open_graph(w, body);
  w->graphs[body].is_body = true;
  return CALM_OK;
}

/* Advance the graph on top of the stack by one body, or close it. */
static calm_status step(body_walk *w) {
  body_frame *frame = &w->stack[w->depth - 1];
  const graph *g = &w->graphs[frame->graph];
  while (frame->op < g->ops.count &&
         frame->body == g->ops.data[frame->op].body_count) {
    frame->op++;
    frame->body = 0;
  }
  if (frame->op == g->ops.count) {
    close_graph(w);
    return CALM_OK;
  }
  const graph_op *op = &g->ops.data[frame->op];
  return enter_body(w, g, op, op->bodies[frame->body++]);
}

static calm_status walk_bodies(body_walk *w, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (w->states[i] == UNSEEN) open_graph(w, i);
    while (w->depth) TRY(step(w));
  }
  return CALM_OK;
}

static calm_status link_bodies(body_walk *w, uint32_t count, arena *scratch) {
  ARENA_ARRAY(scratch, w->states, count);
  ARENA_ARRAY(scratch, w->stack, count);
  for (uint32_t i = 0; i < count; i++)
    TRY(check_bodies(&w->graphs[i], count, w->path));
  return walk_bodies(w, count);
}

calm_status graph_link_bodies(graph *graphs, uint32_t count, const char *path) {
  if (count == 0) return CALM_OK;
  arena scratch;
  calm_context *context = graphs->arena->context;
  body_walk w = {.graphs = graphs, .path = path, .context = context};
  arena_init(&scratch, context);
  calm_status status = link_bodies(&w, count, &scratch);
  arena_free(&scratch);
  return status;
}
