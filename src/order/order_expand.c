/*
 * Which steps suffice, and why.  Let a state S be completed by some order
 * within tau, let w be the first operator on the way that frees a buffer, uses
 * a permission or has workspace, and P what runs before w.  Through P memory
 * only grows, so w costs mem(S) + new(P + w) + workspace(w) - reuse.
 *
 *   w uses a permission on buffer a:  let Q be all of S's complement that a's
 *     end needs.  Q lies within P + w, and w is last in it.  Run Q - w, then w,
 *     then P - Q: nothing up to w costs more than before, w has the same
 *     permission (a dies; the output has not begun), and what follows is below
 *     the old cost of w, because a, freed now, is at least as large as what the
 *     permission saved beyond w's workspace.                  "permission stop"
 *   w has workspace:  the same with Q = w and what it needs.   "workspace stop"
 *   w only frees b:  the same with Q = what b's end needs, or any smaller Q of
 *     another buffer within it; as P has no workspace, any order inside Q will
 *     do.                                                              "block"
 *   there is no such w: nothing is ever freed again, one step runs the rest.
 *
 * After P + w the sets are those of the old order, and so on by induction.  A
 * block with workspace inside is priced as if all its memory were there at
 * once; that is an honest upper bound, and the case in which it is too high is
 * covered by the workspace stop inside.
 *
 * Commit.  If T is reachable from S within tau and mem(T) <= mem(X) for each
 * down-set X from S to T, then S can be completed iff T can: run T first, then
 * the old order without T's operators.  A set Y of the old order becomes Y + T.
 * mem is submodular, hence mem(Y+T) <= mem(Y) + mem(T) - mem(Y^T) <= mem(Y).
 * For the next operator u, new(u) does not grow with the set; and where T
 * deprives u of a permission because the output has begun, that output is no
 * longer new, which saves at least as much, unless the permission spares
 * workspace.  Let s be the most that it spares beyond the output: as long as T
 * has not begun the output, it takes mem(T) + s <= mem(X), for then mem(Y+T) <=
 * mem(Y) - s where u misses the permission.  Inside a minimal block memory only
 * grows, so that mem(T) + s <= mem(S) is all it takes; a single operator needs
 * no more, either.  Mostly s is 0: no two operators begin the same output, or
 * all that do are in T.
 *
 * Hand over.  Let operators u, v, ... each have a permission to begin the same
 * buffer y over inputs of its size, each touch nothing else, need as much
 * workspace without the permission and have the same successors, and let nobody
 * else be spared workspace by these inputs.  If u can use its own now, it may.
 * Where an old order begins y with v at some later time and runs u after that,
 * let u begin y now, leave v out where it ran, and run v where u ran.  Until v
 * ran, y lies where the input of u lay; between the two times the input of v
 * lies where that of u lay; where u ran, v needs what u needed; who wrote over
 * the input of v meanwhile no longer does, but finds that of u gone.  Where an
 * old order begins y with anybody else, that one finds y now, and until u ran
 * there is less.
 *
 * All of this speaks of order problems in general.  The reversed problem is one
 * (a permission reversed trades input for output), so both directions may use
 * every rule, but not mix their steps in one search.
 */
#include "order/order_expand.h"

#include <assert.h>

#include "base/bits.h"

static calm_status reserve_groups(order_expansion *e, arena *a) {
  const order_core *c = e->core;
  ARENA_ARRAY(a, e->unborn_bytes, c->births.count);
  ARENA_ARRAY(a, e->unborn_ops, (size_t)c->births.count * e->stride);
  ARENA_ARRAY(a, e->unborn_of, c->births.count);
  ARENA_ARRAY(a, e->unborn_group, c->births.count);
  ARENA_ARRAY(a, e->birth_stamp, c->births.count);
  ARENA_ARRAY(a, e->death_stamp, c->deaths.count);
  ARENA_ARRAY(a, e->begun_stamp, c->births.count);
  ARENA_ARRAY(a, e->begun, c->births.count);
  ARENA_ARRAY(a, e->candidate_of, c->deaths.count);
  ARENA_ARRAY(a, e->candidates, e->candidate_capacity);
  ARENA_ARRAY(a, e->rows, (size_t)e->candidate_capacity * e->stride);
  ARENA_ARRAY(a, e->without, e->stride);
  ARENA_ARRAY(a, e->steps, e->candidate_capacity + 1);
  return CALM_OK;
}

calm_status order_expansion_init(order_expansion *out, const order_core *core,
                                 order_rules rules, uint32_t near_capacity,
                                 arena *a) {
  const uint64_t all = (uint64_t)core->deaths.count + core->op_count + 1;
  const uint64_t some = near_capacity * UINT64_C(4);
  order_expansion e = {.core = core,
                       .rules = rules,
                       .near_capacity = near_capacity,
                       .stride = bits_words(near_capacity)};
  assert(near_capacity <= core->op_count);
  e.candidate_capacity =
      (uint32_t)(near_capacity == core->op_count || all < some ? all : some);
  ARENA_ARRAY(a, e.set, core->words);
  ARENA_ARRAY(a, e.near, core->words);
  ARENA_ARRAY(a, e.op, near_capacity);
  ARENA_ARRAY(a, e.local, core->op_count);
  ARENA_ARRAY(a, e.before, (size_t)near_capacity * e.stride);
  ARENA_ARRAY(a, e.cost, near_capacity);
  ARENA_ARRAY(a, e.born, near_capacity);
  TRY(reserve_groups(&e, a));
  *out = e;
  return CALM_OK;
}

static void note_pruned(order_expansion *e, uint64_t cost) {
  assert(cost > e->tau);
  if (cost < e->pruned) e->pruned = cost;
}

/* ---- Single operators ---------------------------------------------------- */

static bool any_has_run(const order_expansion *e, uint32_t birth) {
  const order_groups *g = &e->core->births;
  for (uint32_t i = g->begin[birth]; i < g->begin[birth + 1]; i++)
    if (bits_has(e->set, g->ops[i])) return true;
  return false;
}

/* Has any operator of the group run?  Its members may be many, and all of them
   may ask. */
static bool has_begun(const order_expansion *e, uint32_t birth) {
  if (e->begun_stamp[birth] != e->stamp) {
    e->begun_stamp[birth] = e->stamp;
    e->begun[birth] = any_has_run(e, birth);
  }
  return e->begun[birth];
}

/* Does the group die if u runs now? */
static bool dies_with(const order_expansion *e, uint32_t death, uint32_t u) {
  const order_groups *g = &e->core->deaths;
  for (uint32_t i = g->begin[death]; i < g->begin[death + 1]; i++)
    if (g->ops[i] != u && !bits_has(e->set, g->ops[i])) return false;
  return true;
}

static uint64_t reuse_now(const order_expansion *e, uint32_t u) {
  const order_core *c = e->core;
  uint64_t best = 0;
  for (uint32_t i = c->permission_begin[u]; i < c->permission_begin[u + 1];
       i++) {
    const order_permission *r = &c->permissions[i];
    if (r->bytes > best && dies_with(e, r->death, u) &&
        (r->birth == CALM_NONE || !has_begun(e, r->birth)))
      best = r->bytes;
  }
  return best;
}

/* Does u begin a group over what dies with it, and save as much by it as
   anybody could? */
static bool hands_over(const order_expansion *e, uint32_t u, uint32_t birth) {
  const order_core *c = e->core;
  for (uint32_t i = c->permission_begin[u];
       i < c->permission_begin[u + 1] && c->alike[birth]; i++)
    if (c->permissions[i].birth == birth && c->permissions[i].spared &&
        dies_with(e, c->permissions[i].death, u))
      return true;
  return false;
}

/* The most workspace that others than u will have to find because u begins
   what they could have begun. */
static uint64_t spared_no_more(const order_expansion *e, uint32_t u) {
  const order_groups *g = &e->core->births;
  uint64_t most = 0;
  if (!e->core->any_spared) return 0;
  for (uint32_t i = g->of_begin[u]; i < g->of_begin[u + 1]; i++) {
    const uint32_t birth = g->of[i];
    if (e->core->spared[birth] > most && !has_begun(e, birth) &&
        !hands_over(e, u, birth))
      most = e->core->spared[birth];
  }
  return most;
}

/* Running u, all of whose predecessors have run: the exact cost and outcome. */
static order_step step_of(const order_expansion *e, uint32_t u) {
  const order_core *c = e->core;
  uint64_t gained = c->born[u], freed = 0;
  for (uint32_t i = c->births.of_begin[u]; i < c->births.of_begin[u + 1]; i++)
    if (!has_begun(e, c->births.of[i]))
      gained += c->births.bytes[c->births.of[i]];
  for (uint32_t i = c->deaths.of_begin[u]; i < c->deaths.of_begin[u + 1]; i++)
    if (dies_with(e, c->deaths.of[i], u))
      freed += c->deaths.bytes[c->deaths.of[i]];
  order_step step = {.mem = e->mem + gained - freed,
                     .cost = e->mem + gained,
                     .op = u,
                     .cause = order_cause_op(c, u)};
  if (!c->plain) step.cost += c->workspace[u] - reuse_now(e, u);
  return step;
}

/* ---- The operators near a state ------------------------------------------ */

static uint64_t *before_of(const order_expansion *e, uint32_t i) {
  return e->before + (size_t)i * e->stride;
}

static uint64_t *unborn_ops_of(const order_expansion *e, uint32_t i) {
  return e->unborn_ops + (size_t)i * e->stride;
}

/* Sets of local operators get another word when the next number needs it. */
static void widen_sets(order_expansion *e) {
  if (e->near_count < e->words * 64) return;
  for (uint32_t i = 0; i < e->near_count; i++) before_of(e, i)[e->words] = 0;
  for (uint32_t i = 0; i < e->unborn_count; i++)
    unborn_ops_of(e, i)[e->words] = 0;
  e->words++;
  assert(e->words <= e->stride);
}

uint64_t order_new_bytes(const order_expansion *e, const uint64_t *ops) {
  uint64_t bytes = 0;
  for (uint32_t w = 0; w < e->words; w++)
    for (uint64_t rest = ops[w]; rest; rest &= rest - 1)
      bytes += e->born[w * 64 + bits_lowest(rest)];
  for (uint32_t i = 0; i < e->unborn_count; i++)
    if (bits_meet(ops, unborn_ops_of(e, i), e->words))
      bytes += e->unborn_bytes[i];
  return bytes;
}

/* What begins with u when the local set `ops` has run. */
static uint64_t gain_after(const order_expansion *e, uint32_t u,
                           const uint64_t *ops) {
  const order_groups *g = &e->core->births;
  uint64_t bytes = e->core->born[u];
  for (uint32_t i = g->of_begin[u]; i < g->of_begin[u + 1]; i++) {
    const uint32_t birth = g->of[i];
    if (e->birth_stamp[birth] == e->stamp
            ? !bits_meet(ops, unborn_ops_of(e, e->unborn_of[birth]), e->words)
            : !has_begun(e, birth))
      bytes += g->bytes[birth];
  }
  return bytes;
}

/* Note for each unborn group of u that u begins it. */
static void add_births(order_expansion *e, uint32_t u) {
  const order_groups *g = &e->core->births;
  for (uint32_t i = g->of_begin[u]; i < g->of_begin[u + 1]; i++) {
    const uint32_t birth = g->of[i];
    if (e->birth_stamp[birth] != e->stamp) {
      if (has_begun(e, birth)) continue;
      e->birth_stamp[birth] = e->stamp;
      e->unborn_of[birth] = e->unborn_count;
      e->unborn_bytes[e->unborn_count] = g->bytes[birth];
      e->unborn_group[e->unborn_count] = birth;
      memset(unborn_ops_of(e, e->unborn_count), 0,
             e->words * sizeof *e->unborn_ops);
      e->unborn_count++;
    }
    bits_add(unborn_ops_of(e, e->unborn_of[birth]), e->near_count);
  }
}

/* The local predecessors of u with theirs to `row`; how many there are of the
   first kind, and in *out_only the last of them. */
static uint32_t gather_before(const order_expansion *e, uint32_t u,
                              uint64_t *row, uint32_t *out_only) {
  const order_core *c = e->core;
  uint32_t count = 0;
  memset(row, 0, e->words * sizeof *row);
  for (uint32_t i = c->pred_begin[u]; i < c->pred_begin[u + 1]; i++) {
    const uint32_t v = c->preds[i];
    if (bits_has(e->set, v)) continue;
    const uint32_t j = e->local[v];
    const uint64_t *from = before_of(e, j);
    for (uint32_t w = 0; w < e->words; w++) row[w] |= from[w];
    *out_only = j;
    count++;
  }
  return count;
}

/* Give u a local number if it could run within tau; any step that contains u
   costs at least what is compared here. */
static void add_near(order_expansion *e, uint32_t u) {
  const order_core *c = e->core;
  const uint32_t i = e->near_count;
  if (i == e->near_capacity) {
    e->truncated = true;
    return;
  }
  widen_sets(e);
  uint64_t *row = before_of(e, i);
  uint32_t only = 0;
  const uint32_t preds = gather_before(e, u, row, &only);
  uint64_t bytes = gain_after(e, u, row);
  if (preds == 1) bytes += e->cost[only];
  if (preds > 1) bytes += order_new_bytes(e, row);
  const uint64_t least = e->mem + bytes + c->workspace[u] - c->reuse[u];
  if (least > e->tau) {
    note_pruned(e, least);
    return;
  }
  add_births(e, u);
  bits_add(row, i);
  bits_add(e->near, u);
  e->op[i] = u;
  e->local[u] = i;
  e->born[i] = c->born[u];
  e->cost[i] = bytes;
  e->near_count++;
}

/* ---- Looking around ------------------------------------------------------ */

/* The last predecessor is the likeliest not to have run: look there first. */
static bool is_ready(const order_expansion *e, uint32_t u) {
  const order_core *c = e->core;
  for (uint32_t i = c->pred_begin[u + 1]; i-- > c->pred_begin[u];)
    if (!bits_has(e->set, c->preds[i])) return false;
  return true;
}

/* Has everything that u needs run, or is it near? */
static bool is_within_reach(const order_expansion *e, uint32_t u) {
  const order_core *c = e->core;
  for (uint32_t i = c->pred_begin[u + 1]; i-- > c->pred_begin[u];)
    if (!bits_has(e->set, c->preds[i]) && !bits_has(e->near, c->preds[i]))
      return false;
  return true;
}

/* The step of a ready operator alone.  True if it commits: it is then the only
   one, and what was pruned before does not matter. */
static bool try_single(order_expansion *e, uint32_t u) {
  const order_step step = step_of(e, u);
  if (step.cost > e->tau) {
    note_pruned(e, step.cost);
    return false;
  }
  if (e->rules.commit && step.mem + spared_no_more(e, u) <= e->mem) {
    e->steps[0] = step;
    e->step_count = 1;
    e->pruned = UINT64_MAX;
    return true;
  }
  if (e->rules.blocks) return false;
  if (e->step_count == e->candidate_capacity)
    e->truncated = true;
  else
    e->steps[e->step_count++] = step;
  return false;
}

/* The operators outside the state in word w of a set, up to `reach`. */
static uint64_t rest_of_word(const order_expansion *e, uint32_t w,
                             uint32_t reach) {
  if (w < reach / 64) return ~e->set[w];
  const uint64_t upto = UINT64_MAX >> (63 - reach % 64);
  return w == reach / 64 ? ~e->set[w] & upto : 0;
}

/* Try each ready operator alone.  True if one commits. */
static bool try_singles(order_expansion *e, uint32_t reach) {
  for (uint32_t w = 0; w <= reach / 64; w++)
    for (uint64_t rest = rest_of_word(e, w, reach); rest; rest &= rest - 1) {
      const uint32_t u = w * 64 + bits_lowest(rest);
      e->ticks++;
      if (is_ready(e, u) && try_single(e, u)) return true;
    }
  return false;
}

/* Number the operators near the state: up to the last successor of what is in
   it or near it. */
static void look_around(order_expansion *e, uint32_t reach) {
  for (uint32_t w = 0; w <= reach / 64; w++)
    for (uint64_t met = 0, rest; (rest = rest_of_word(e, w, reach) & ~met);) {
      const uint32_t u = w * 64 + bits_lowest(rest);
      met |= rest & -rest;
      e->ticks++;
      if (!is_within_reach(e, u)) continue;
      add_near(e, u);
      if (e->core->reach[u] > reach) reach = e->core->reach[u];
    }
}

static void forget_near(order_expansion *e) {
  for (uint32_t i = 0; i < e->near_count; i++) bits_remove(e->near, e->op[i]);
  e->near_count = 0;
  e->words = 1;
  e->unborn_count = 0;
}

void order_expand(order_expansion *e, uint64_t mem, uint32_t reach,
                  uint64_t tau) {
  assert(mem <= tau && reach < e->core->op_count);
  forget_near(e);
  e->stamp++;
  e->mem = mem;
  e->tau = tau;
  e->step_count = e->candidate_count = e->row_count = 0;
  e->pruned = UINT64_MAX;
  e->truncated = false;
  e->ticks = 1;
  const bool singles = e->rules.commit || !e->rules.blocks;
  if (singles && try_singles(e, reach)) return;
  if (!e->rules.blocks) return;
  look_around(e, reach);
  order_expand_blocks(e);
}
