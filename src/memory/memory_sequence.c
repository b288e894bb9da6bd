/* From a sequence of order operators to one of all operators, and back. */
#include <assert.h>

#include "memory/memory.h"

typedef struct expansion {
  const graph *g;
  const memory_problem *p;
  op_id *out;
  uint32_t count;   /* operators written so far */
  uint32_t settled; /* of these, those whose successors were told */
  uint32_t *preds_left;
} expansion;

static bool ready_and_free(const expansion *e, op_id op) {
  return e->preds_left[op] == 0 && e->p->order_op_of[op] == CALM_NONE;
}

/* Tell the successors of everything written; write the free ones among them
   that waited for nothing else, until nothing more follows. */
static void settle(expansion *e) {
  const graph *g = e->g;
  for (; e->settled < e->count; e->settled++) {
    const op_id op = e->out[e->settled];
    for (uint32_t i = g->succ_begin[op]; i < g->succ_begin[op + 1]; i++) {
      e->preds_left[g->succs[i]]--;
      if (ready_and_free(e, g->succs[i])) e->out[e->count++] = g->succs[i];
    }
  }
}

calm_status memory_expand_sequence(op_id *out, const graph *g,
                                   const memory_problem *p,
                                   const uint32_t *order_sequence) {
  arena scratch;
  arena_init(&scratch, g->arena->context);
  expansion e = {.g = g, .p = p, .out = out};
  e.preds_left = arena_calloc(&scratch, g->ops.count, sizeof *e.preds_left);
  if (!e.preds_left) return context_no_memory(g->arena->context);
  for (uint32_t i = 0; i < g->ops.count; i++) {
    const op_id op = g->order[i];
    e.preds_left[op] = g->pred_begin[op + 1] - g->pred_begin[op];
    if (ready_and_free(&e, op)) out[e.count++] = op;
  }
  settle(&e);
  for (uint32_t i = 0; i < p->order.op_count; i++) {
    out[e.count++] = p->op_of[order_sequence[i]];
    settle(&e);
  }
  assert(e.count == g->ops.count);
  arena_free(&scratch);
  return CALM_OK;
}

void memory_fold_sequence(uint32_t *out, const graph *g,
                          const memory_problem *p, const op_id *sequence) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < g->ops.count; i++) {
    const uint32_t u = p->order_op_of[sequence[i]];
    if (u != CALM_NONE) out[count++] = u;
  }
  assert(count == p->order.op_count);
}
