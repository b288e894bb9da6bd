/* Depth first from the sinks: finish one operand before beginning the next, the
   hungriest first. */
#include "order/order_greedy.h"

/* A visit in progress: which operators wait for their operands. */
typedef struct descent {
  const order_problem *p;
  uint64_t *made; /* bytes that begin with this operator in file order */
  uint64_t *need; /* peak of computing it alone, were the graph a tree */
  bool *visited;
  uint32_t *sequence, count;
  uint32_t *stack, depth;
} descent;

static calm_status descent_begin(descent *out, const order_problem *p,
                                 uint32_t *sequence, arena *a) {
  descent d = {.p = p, .sequence = sequence};
  ARENA_ARRAY(a, d.made, p->op_count);
  ARENA_ARRAY(a, d.need, p->op_count);
  ARENA_ARRAY(a, d.visited, p->op_count);
  /* an operator waits once for itself and once for each edge into it */
  ARENA_ARRAY(a, d.stack, (size_t)p->op_count + p->pred_begin[p->op_count]);
  *out = d;
  return CALM_OK;
}

/* Does operator a go before b?  The one whose computation needs more room
   beyond what it leaves behind. */
static bool goes_first(const descent *d, uint32_t a, uint32_t b) {
  const uint64_t room_a = d->need[a] - d->made[a];
  const uint64_t room_b = d->need[b] - d->made[b];
  return room_a != room_b ? room_a > room_b : a < b;
}

/* Heap sort: no recursion and no bad case, for a hub may have any number of
   operands. */
static void sift_down(const descent *d, uint32_t *list, size_t at,
                      size_t count) {
  for (;;) {
    size_t last = at; /* of the family, the one that goes last */
    for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
      if (child < count && goes_first(d, list[last], list[child])) last = child;
    if (last == at) return;
    const uint32_t moved = list[at];
    list[at] = list[last];
    list[last] = moved;
    at = last;
  }
}

static void sort_by_need(const descent *d, uint32_t *list, size_t count) {
  for (size_t at = count / 2; at-- > 0;) sift_down(d, list, at, count);
  for (size_t end = count; end-- > 1;) {
    const uint32_t moved = list[0];
    list[0] = list[end];
    list[end] = moved;
    sift_down(d, list, 0, end);
  }
}

static uint64_t add_saturating(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t bytes_made(const order_problem *p, uint32_t u) {
  uint64_t bytes = 0;
  for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++) {
    const uint32_t b = p->uses[i];
    if (p->touch[p->touch_begin[b]] == u && !p->buffers[b].pinned_start)
      bytes += p->buffers[b].bytes;
  }
  return bytes;
}

/*
 * Sethi and Ullman's labels in bytes: operands are computed one after the
 * other, each leaving its result behind, and then the operator itself runs.
 * Exact on trees; elsewhere a sum that counts shared operands again and only
 * serves to compare, so it may saturate.
 */
static void label_operators(descent *d, uint32_t *list) {
  const order_problem *p = d->p;
  for (uint32_t u = 0; u < p->op_count; u++) {
    const uint32_t count = p->pred_begin[u + 1] - p->pred_begin[u];
    for (uint32_t i = 0; i < count; i++)
      list[i] = p->preds[p->pred_begin[u] + i];
    sort_by_need(d, list, count);
    uint64_t held = 0;
    for (uint32_t i = 0; i < count; i++) {
      const uint64_t here = add_saturating(held, d->need[list[i]]);
      if (here > d->need[u]) d->need[u] = here;
      held = add_saturating(held, d->made[list[i]]);
    }
    d->made[u] = bytes_made(p, u);
    const uint64_t here = add_saturating(held, d->made[u] + p->workspace[u]);
    if (here > d->need[u]) d->need[u] = here;
  }
}

/* Add operators to the stack so that the one that goes first is on top. */
static void push_sorted(descent *d, const uint32_t *list, uint32_t count) {
  uint32_t *added = d->stack + d->depth;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!d->visited[list[i]]) added[kept++] = list[i];
  sort_by_need(d, added, kept);
  for (uint32_t low = 0, high = kept; low + 1 < high; low++) {
    const uint32_t moved = added[low];
    added[low] = added[--high];
    added[high] = moved;
  }
  d->depth += kept;
}

/* An operator on top of the stack either waits for operands, which then go on
   top of it, or runs.  Each waits once, so each edge is pushed once. */
static void descend(descent *d) {
  const order_problem *p = d->p;
  while (d->depth) {
    const uint32_t u = d->stack[d->depth - 1];
    const uint32_t before = d->depth;
    if (!d->visited[u])
      push_sorted(d, p->preds + p->pred_begin[u],
                  p->pred_begin[u + 1] - p->pred_begin[u]);
    if (d->depth > before) continue;
    d->depth--;
    if (!d->visited[u]) d->sequence[d->count++] = u;
    d->visited[u] = true;
  }
}

static calm_status order_from_sinks(uint32_t *sequence, const order_problem *p,
                                    arena *scratch) {
  descent d;
  uint32_t *list, sinks = 0;
  TRY(descent_begin(&d, p, sequence, scratch));
  ARENA_ARRAY(scratch, list, p->op_count);
  label_operators(&d, list);
  for (uint32_t u = 0; u < p->op_count; u++)
    if (p->succ_begin[u] == p->succ_begin[u + 1]) list[sinks++] = u;
  push_sorted(&d, list, sinks);
  descend(&d);
  return CALM_OK;
}

calm_status order_dfs(uint32_t *out_sequence, const order_problem *p,
                      calm_context *context) {
  arena scratch;
  arena_init(&scratch, context);
  const calm_status status = order_from_sinks(out_sequence, p, &scratch);
  arena_free(&scratch);
  return status;
}
