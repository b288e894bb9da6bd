/*
 * Parts of a graph whose peaks have nothing to do with each other.  A barrier
 * is an operator that every other one comes before or after, whatever the
 * order; rewriting elsewhere leaves it one, because what is made of an operator
 * leads where that led.  So any order runs all before a barrier, the barrier,
 * and all behind it, and sites on one side do not matter to what happens on the
 * other.  Where the sites of one group stand on both sides, those parts are
 * one.
 *
 *     a -> b -> [v] -> c -> d -> [w] -> e       parts: 0 0  1  2 2  3  4
 *       \______/         \______/
 */
#include <string.h>

#include "plan/plan_rewrite_judge.h"

enum { MOST_OPS = 16384 };

typedef struct partition {
  const graph *g;
  uint32_t words;
  uint64_t *before; /* [op][word]: what has to run before each operator */
  uint32_t *part;   /* per operator */
  uint32_t count;
  arena *a;
} partition;

static void collect_before(const partition *p) {
  for (uint32_t i = 0; i < p->g->ops.count; i++) {
    const op_id op = p->g->order[i];
    uint64_t *mine = p->before + (size_t)op * p->words;
    for (uint32_t k = p->g->pred_begin[op]; k < p->g->pred_begin[op + 1]; k++) {
      const op_id pred = p->g->preds[k];
      const uint64_t *theirs = p->before + (size_t)pred * p->words;
      for (uint32_t w = 0; w < p->words; w++) mine[w] |= theirs[w];
      bits_add(mine, pred);
    }
  }
}

/* Operators that all others come before or after, but for those of `changed`.
 */
static calm_status find_barriers(bool *barrier, const partition *p,
                                 const bool *changed) {
  uint32_t *behind;
  const uint32_t ops = p->g->ops.count;
  ARENA_ARRAY(p->a, behind, ops);
  for (op_id op = 0; op < ops; op++)
    for (op_id u = 0; u < ops; u++)
      behind[u] += bits_has(p->before + (size_t)op * p->words, u);
  for (op_id op = 0; op < ops; op++) {
    const uint64_t *mine = p->before + (size_t)op * p->words;
    barrier[op] =
        !changed[op] && bits_count(mine, p->words) + behind[op] + 1 == ops;
  }
  return CALM_OK;
}

/* In topological order all barriers come in their own order. */
static void number_parts(partition *p, const bool *barrier) {
  uint32_t part = 0;
  for (uint32_t i = 0; i < p->g->ops.count; i++) {
    const op_id op = p->g->order[i];
    p->part[op] = part + barrier[op];
    if (barrier[op]) part += 2;
  }
  p->count = part + 1;
}

/* Parts from `low` to `high` become one. */
static void merge(partition *p, uint32_t low, uint32_t high) {
  for (op_id op = 0; op < p->g->ops.count; op++)
    if (p->part[op] > low && p->part[op] <= high) p->part[op] = low;
}

/* Of the sites of one group, from the first concat to the last operator; what a
   site without a concat covers is not told, so it counts from the beginning. */
static void merge_group(partition *p, const rewrite_sites *sites,
                        uint32_t first) {
  const rewrite_site *all = sites->sites;
  uint32_t low = UINT32_MAX, high = 0;
  for (uint32_t i = first; i < sites->count; i++) {
    if (i != first &&
        (all[i].group != all[first].group || all[first].group == CALM_NONE))
      continue;
    const uint32_t from =
        all[i].concat == CALM_NONE ? 0 : p->part[all[i].concat];
    if (from < low) low = from;
    if (p->part[all[i].op] > high) high = p->part[all[i].op];
  }
  merge(p, low, high);
}

static calm_status partition_graph(partition *p, const rewrite_sites *sites) {
  bool *changed, *barrier;
  ARENA_ARRAY(p->a, changed, p->g->ops.count);
  ARENA_ARRAY(p->a, barrier, p->g->ops.count);
  for (uint32_t i = 0; i < sites->count; i++) {
    if (sites->sites[i].refusal) continue;
    changed[sites->sites[i].op] = true;
    if (sites->sites[i].concat != CALM_NONE)
      changed[sites->sites[i].concat] = true;
  }
  collect_before(p);
  TRY(find_barriers(barrier, p, changed));
  number_parts(p, barrier);
  for (uint32_t i = 0; i < sites->count; i++)
    if (!sites->sites[i].refusal) merge_group(p, sites, i);
  return CALM_OK;
}

calm_status plan_rewrite_parts(uint32_t **out, const rewrite_sites *sites,
                               arena *a) {
  partition p = {.g = sites->g, .words = bits_words(sites->g->ops.count)};
  arena scratch;
  ARENA_ARRAY(a, p.part, p.g->ops.count);
  *out = p.part;
  if (p.g->ops.count > MOST_OPS) return CALM_OK;
  arena_init(&scratch, a->context);
  p.a = &scratch;
  p.before = arena_calloc(&scratch, (size_t)p.g->ops.count * p.words,
                          sizeof *p.before);
  calm_status status =
      p.before ? partition_graph(&p, sites) : context_no_memory(a->context);
  arena_free(&scratch);
  return status;
}
