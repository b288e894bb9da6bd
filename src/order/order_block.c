/* Blocks and stops: local sets of operators that make good steps, and what
   they cost.  Why these are the ones that matter: order_expand.c. */
#include <assert.h>

#include "base/bits.h"
#include "order/order_expand.h"

static const uint64_t *before_of(const order_expansion *e, uint32_t i) {
  return e->before + (size_t)i * e->stride;
}

static bool is_near_in(const order_expansion *e, uint32_t u,
                       const uint64_t *ops) {
  return bits_has(e->near, u) && bits_has(ops, e->local[u]);
}

/* ---- Candidates ---------------------------------------------------------- */

/* The candidate that has exactly these operators; CALM_NONE if there is none.
 */
static uint32_t find_equal(const order_expansion *e, const uint64_t *ops,
                           uint32_t size) {
  for (uint32_t i = 0; i < e->candidate_count; i++)
    if (e->candidates[i].size == size &&
        bits_equal(e->candidates[i].ops, ops, e->words))
      return i;
  return CALM_NONE;
}

/* Find or add the candidate of a local set; CALM_NONE if there is no room. */
static uint32_t candidate_for(order_expansion *e, const uint64_t *ops,
                              uint64_t new_bytes) {
  const uint32_t size = bits_count(ops, e->words);
  const uint32_t equal = find_equal(e, ops, size);
  e->ticks += 1 + e->candidate_count / 16;
  if (equal != CALM_NONE) return equal;
  if (e->candidate_count == e->candidate_capacity) {
    e->truncated = true;
    return CALM_NONE;
  }
  e->candidates[e->candidate_count] = (order_candidate){
      .ops = ops, .new_bytes = new_bytes, .cost = UINT64_MAX, .size = size};
  return e->candidate_count++;
}

/*
 * What must run until a group dies: the local set, or NULL if it is not all
 * near, or if local operator i is not the last of the group outside the state
 * (there it will be met again).
 */
static const uint64_t *ops_until_death(order_expansion *e, uint32_t death,
                                       uint32_t i) {
  const order_groups *g = &e->core->deaths;
  uint64_t *row = e->rows + (size_t)e->row_count * e->stride;
  const uint64_t *ops = before_of(e, i);
  for (uint32_t k = g->begin[death]; k < g->begin[death + 1]; k++) {
    const uint32_t v = g->ops[k];
    if (v == e->op[i] || bits_has(e->set, v)) continue;
    if (v > e->op[i] || !bits_has(e->near, v)) return NULL;
    const uint64_t *other = before_of(e, e->local[v]);
    if (bits_within(other, ops, e->words)) continue;
    for (uint32_t w = 0; w < e->words; w++) row[w] = ops[w] | other[w];
    ops = row;
  }
  return ops;
}

/* In a plain problem a set that costs too much can be dropped at once; with
   stops it still counts as something that dies inside another set.  False if
   there is no room. */
static bool add_death(order_expansion *e, uint32_t death, uint32_t i) {
  const uint64_t *ops = ops_until_death(e, death, i);
  if (!ops) return true;
  const bool own_row = ops != before_of(e, i);
  const uint64_t new_bytes = own_row ? order_new_bytes(e, ops) : e->cost[i];
  if (e->core->plain && e->mem + new_bytes > e->tau) {
    if (e->mem + new_bytes < e->pruned) e->pruned = e->mem + new_bytes;
    return true;
  }
  const uint32_t known = e->candidate_count;
  const uint32_t found = candidate_for(e, ops, new_bytes);
  if (found == CALM_NONE) return false;
  order_candidate *candidate = &e->candidates[found];
  if (found == known) {
    candidate->cause = death;
    candidate->minimal = true;
    if (own_row) e->row_count++;
  }
  candidate->freed_bytes += e->core->deaths.bytes[death];
  e->death_stamp[death] = e->stamp;
  e->candidate_of[death] = found;
  return true;
}

static bool collect_deaths(order_expansion *e) {
  const order_groups *g = &e->core->deaths;
  for (uint32_t i = 0; i < e->near_count; i++)
    for (uint32_t k = g->of_begin[e->op[i]]; k < g->of_begin[e->op[i] + 1]; k++)
      if (!add_death(e, g->of[k], i)) return false;
  return true;
}

/* Only the smallest sets are blocks. */
static void mark_minimal(order_expansion *e) {
  for (uint32_t i = 0; i < e->candidate_count; i++) {
    order_candidate *c = &e->candidates[i];
    for (uint32_t j = 0; j < e->candidate_count && c->minimal; j++)
      if (e->candidates[j].size < c->size &&
          bits_within(e->candidates[j].ops, c->ops, e->words))
        c->minimal = false;
    e->ticks += e->candidate_count / 16;
  }
}

/* ---- Prices -------------------------------------------------------------- */

static uint64_t largest_workspace(const order_expansion *e,
                                  const uint64_t *ops) {
  uint64_t largest = 0;
  for (uint32_t w = 0; w < e->words; w++)
    for (uint64_t rest = ops[w]; rest; rest &= rest - 1) {
      const uint32_t u = e->op[w * 64 + bits_lowest(rest)];
      if (e->core->workspace[u] > largest) largest = e->core->workspace[u];
    }
  return largest;
}

static void offer(order_candidate *c, uint64_t cost, uint32_t cause) {
  if (cost >= c->cost) return;
  c->cost = cost;
  c->cause = cause;
}

static void price_blocks(order_expansion *e) {
  for (uint32_t i = 0; i < e->candidate_count; i++) {
    order_candidate *c = &e->candidates[i];
    if (!c->minimal) continue;
    uint64_t cost = e->mem + c->new_bytes;
    if (!e->core->plain) cost += largest_workspace(e, c->ops);
    offer(c, cost, c->cause);
  }
}

/* Is nothing in `ops` after local operator i? */
static bool can_be_last(const order_expansion *e, uint32_t i,
                        const uint64_t *ops) {
  for (uint32_t j = i + 1; j < e->near_count; j++)
    if (bits_has(ops, j) && bits_has(before_of(e, j), i)) return false;
  return true;
}

static bool permission_holds(const order_expansion *e,
                             const order_permission *r, const uint64_t *ops,
                             const uint64_t *without) {
  const order_groups *d = &e->core->deaths, *b = &e->core->births;
  for (uint32_t i = d->begin[r->death]; i < d->begin[r->death + 1]; i++)
    if (!bits_has(e->set, d->ops[i]) && !is_near_in(e, d->ops[i], ops))
      return false;
  if (r->birth == CALM_NONE) return true;
  for (uint32_t i = b->begin[r->birth]; i < b->begin[r->birth + 1]; i++)
    if (bits_has(e->set, b->ops[i]) || is_near_in(e, b->ops[i], without))
      return false;
  return true;
}

/* What `ops` cost if local operator i runs last and uses its best permission.
   Until then nothing is taken to be freed. */
static uint64_t cost_with_last(order_expansion *e, const order_candidate *c,
                               uint32_t i) {
  const order_core *core = e->core;
  const uint32_t u = e->op[i];
  memcpy(e->without, c->ops, e->words * sizeof *e->without);
  bits_remove(e->without, i);
  const uint64_t before = e->mem + order_new_bytes(e, e->without) +
                          largest_workspace(e, e->without);
  uint64_t reuse = 0;
  for (uint32_t k = core->permission_begin[u];
       k < core->permission_begin[u + 1]; k++)
    if (core->permissions[k].bytes > reuse &&
        permission_holds(e, &core->permissions[k], c->ops, e->without))
      reuse = core->permissions[k].bytes;
  const uint64_t at_last = e->mem + c->new_bytes + core->workspace[u] - reuse;
  return before > at_last ? before : at_last;
}

static void offer_permission_stops(order_expansion *e, uint32_t i) {
  const order_core *core = e->core;
  const uint32_t u = e->op[i];
  for (uint32_t k = core->permission_begin[u];
       k < core->permission_begin[u + 1]; k++) {
    const uint32_t death = core->permissions[k].death;
    if (e->death_stamp[death] != e->stamp) continue;
    order_candidate *c = &e->candidates[e->candidate_of[death]];
    assert(bits_has(c->ops, i));
    if (can_be_last(e, i, c->ops))
      offer(c, cost_with_last(e, c, i), order_cause_permission(core, k));
  }
}

static void offer_workspace_stop(order_expansion *e, uint32_t i) {
  const order_core *core = e->core;
  if (!core->workspace[e->op[i]]) return;
  const uint32_t found = candidate_for(e, before_of(e, i), e->cost[i]);
  if (found == CALM_NONE) return;
  order_candidate *c = &e->candidates[found];
  offer(c, cost_with_last(e, c, i), order_cause_op(core, e->op[i]));
}

/* Memory after a candidate: all that dies inside it counts. */
static uint64_t mem_after(const order_expansion *e, const order_candidate *c) {
  uint64_t freed = c->freed_bytes;
  if (!c->minimal)
    for (uint32_t i = 0; i < e->candidate_count; i++)
      if (e->candidates[i].size < c->size &&
          bits_within(e->candidates[i].ops, c->ops, e->words))
        freed += e->candidates[i].freed_bytes;
  assert(freed <= e->mem + c->new_bytes);
  return e->mem + c->new_bytes - freed;
}

/* ---- Steps --------------------------------------------------------------- */

/* Has everybody run who could begin a group, once `ops` have? */
static bool all_have_run(const order_expansion *e, uint32_t birth,
                         const uint64_t *ops) {
  const order_groups *b = &e->core->births;
  for (uint32_t i = b->begin[birth]; i < b->begin[birth + 1]; i++)
    if (!bits_has(e->set, b->ops[i]) && !is_near_in(e, b->ops[i], ops))
      return false;
  return true;
}

/* The most workspace that others will have to find because `ops` begin what
   they could have begun. */
static uint64_t spared_no_more(const order_expansion *e, const uint64_t *ops) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < e->unborn_count && e->core->any_spared; i++) {
    const uint32_t birth = e->unborn_group[i];
    const uint64_t *begins = e->unborn_ops + (size_t)i * e->stride;
    if (e->core->spared[birth] > most && bits_meet(ops, begins, e->words) &&
        !all_have_run(e, birth, ops))
      most = e->core->spared[birth];
  }
  return most;
}

/* The block that leaves the least memory, if that is no more than now,
   workspace included that it makes others need. */
static const order_candidate *find_commit(const order_expansion *e) {
  const order_candidate *best = NULL;
  uint64_t best_mem = e->mem;
  for (uint32_t i = 0; i < e->candidate_count; i++) {
    const order_candidate *c = &e->candidates[i];
    if (!c->minimal || c->cost > e->tau) continue;
    const uint64_t mem = mem_after(e, c);
    if (mem > best_mem || (best && mem == best_mem)) continue;
    if (mem + spared_no_more(e, c->ops) > e->mem) continue;
    best = c;
    best_mem = mem;
  }
  return best;
}

static void add_step(order_expansion *e, const order_candidate *c) {
  e->steps[e->step_count++] =
      (order_step){mem_after(e, c), c->cost, CALM_NONE, c->ops, c->cause};
}

static void add_steps(order_expansion *e) {
  for (uint32_t i = 0; i < e->candidate_count; i++) {
    const order_candidate *c = &e->candidates[i];
    if (c->cost <= e->tau)
      add_step(e, c);
    else if (c->cost < e->pruned)
      e->pruned = c->cost;
  }
}

/* When nothing is ever freed again and nobody needs workspace, memory grows to
   its final size, in whatever order. */
static void add_rest(order_expansion *e) {
  const order_core *core = e->core;
  for (uint32_t w = 0; w < core->words; w++)
    if (core->eventful[w] & ~e->set[w]) return;
  const uint32_t cause = order_cause_rest(core);
  assert(core->end_bytes >= e->mem);
  if (core->end_bytes <= e->tau)
    e->steps[e->step_count++] =
        (order_step){core->end_bytes, core->end_bytes, CALM_NONE, NULL, cause};
  else if (core->end_bytes < e->pruned)
    e->pruned = core->end_bytes;
}

/* Without room for all that may die nothing is known about the rest, and the
   state is given up; the expansion says that it was truncated. */
void order_expand_blocks(order_expansion *e) {
  if (!collect_deaths(e)) return;
  mark_minimal(e);
  price_blocks(e);
  if (!e->core->plain)
    for (uint32_t i = 0; i < e->near_count; i++) {
      offer_permission_stops(e, i);
      offer_workspace_stop(e, i);
    }
  const order_candidate *commit = e->rules.commit ? find_commit(e) : NULL;
  if (commit) {
    e->pruned = UINT64_MAX;
    add_step(e, commit);
  } else {
    add_steps(e);
  }
  if (e->candidate_count == 0) add_rest(e);
}
