/* From the cause of a step back to its operators: the search remembers only
   causes, and replays the path once it has arrived. */
#include <assert.h>
#include <stdlib.h>

#include "base/bits.h"
#include "order/order_expand.h"

/* A set that grows, and what came in on the way. */
typedef struct walk {
  const order_core *core;
  uint64_t *set;
  uint32_t *out, *stack;
  uint32_t count;
} walk;

static void enter(walk *k, uint32_t u, uint32_t *depth) {
  if (bits_has(k->set, u)) return;
  bits_add(k->set, u);
  k->out[k->count++] = u;
  k->stack[(*depth)++] = u;
}

/* u and all it needs, in no particular order. */
static void enter_all_before(walk *k, uint32_t u) {
  const order_core *c = k->core;
  uint32_t depth = 0;
  enter(k, u, &depth);
  while (depth) {
    const uint32_t v = k->stack[--depth];
    for (uint32_t i = c->pred_begin[v]; i < c->pred_begin[v + 1]; i++)
      enter(k, c->preds[i], &depth);
  }
}

static void enter_until_death(walk *k, uint32_t death) {
  const order_groups *g = &k->core->deaths;
  for (uint32_t i = g->begin[death]; i < g->begin[death + 1]; i++)
    enter_all_before(k, g->ops[i]);
}

static int compare_ops(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void move_to_end(walk *k, uint32_t u) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < k->count; i++)
    if (k->out[i] != u) k->out[kept++] = k->out[i];
  assert(kept == k->count - 1);
  k->out[kept] = u;
}

uint32_t order_step_replay(uint32_t *out, const order_core *core, uint64_t *set,
                           uint32_t cause, uint32_t *stack) {
  walk k = {core, set, out, stack, 0};
  uint32_t last = CALM_NONE;
  if (cause < order_cause_permission(core, 0)) {
    enter_until_death(&k, cause);
  } else if (cause < order_cause_op(core, 0)) {
    const order_permission *r =
        &core->permissions[cause - order_cause_permission(core, 0)];
    enter_until_death(&k, r->death);
    last = r->op;
  } else if (cause < order_cause_rest(core)) {
    enter_all_before(&k, cause - order_cause_op(core, 0));
  } else {
    for (uint32_t u = 0; u < core->op_count; u++) enter_all_before(&k, u);
  }
  qsort(out, k.count, sizeof *out, compare_ops);
  if (last != CALM_NONE) move_to_end(&k, last);
  return k.count;
}
