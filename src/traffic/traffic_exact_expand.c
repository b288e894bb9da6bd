#include "traffic/traffic_exact_expand.h"

#include <assert.h>

/*
 * An operator that streams takes no room from what stays beside it; if a
 * permission lets it fit, it does.  The permission holds when all others have
 * touched its input: to run one of these sooner may cost something.
 */
static void list_unlockers(traffic_expansion *e) {
  const traffic_core *core = e->core;
  const order_problem *p = core->problem->order;
  for (uint32_t i = 0; i < p->reuse_count; i++) {
    const order_reuse *r = &p->reuses[i];
    const uint64_t *sole = traffic_core_ops(core, core->reuse_sole, i);
    const uint64_t need = core->need[r->op];
    if (need <= core->capacity || need - r->bytes > core->capacity) continue;
    for (uint32_t w = 0; w < core->op_words; w++) e->unlockers[w] |= sole[w];
  }
}

calm_status traffic_expansion_init(traffic_expansion *out,
                                   const traffic_core *core,
                                   const traffic_options *options, arena *a) {
  traffic_expansion e = {.core = core,
                         .exchange = options->exchange,
                         .commit = options->commit,
                         .most_sets = UINT32_MAX};
  const uint32_t words = traffic_row_words(core);
  ARENA_ARRAY(a, e.from_row, words);
  ARENA_ARRAY(a, e.to_row, words);
  ARENA_ARRAY(a, e.live_row, core->buffer_words);
  ARENA_ARRAY(a, e.candidates, core->buffer_count);
  ARENA_ARRAY(a, e.stack, core->buffer_count);
  ARENA_ARRAY(a, e.firsts, core->buffer_count);
  ARENA_ARRAY(a, e.candidate_cost, core->buffer_count);
  ARENA_ARRAY(a, e.rest, core->buffer_count + 1);
  ARENA_ARRAY(a, e.unlockers, core->op_words);
  e.from = traffic_sets_of(core, e.from_row);
  e.to = traffic_sets_of(core, e.to_row);
  list_unlockers(&e);
  *out = e;
  return CALM_OK;
}

/* ---- What an operator changes -------------------------------------------- */

/* Buffer b as operator u leaves it; false if nobody needs it any more. */
static bool leave_buffer(const traffic_expansion *e, uint32_t u, uint32_t b) {
  const traffic_core *core = e->core;
  bits_remove(e->to.out, b);
  const bool lives = !bits_within(traffic_core_ops(core, core->touchers, b),
                                  e->to.done, core->op_words);
  const bool written = traffic_core_writes(core, u, b, e->from.done);
  if (!lives || (written && !traffic_core_spills(core, b, e->to.done)))
    bits_remove(e->to.dirty, b);
  else if (written)
    bits_add(e->to.dirty, b);
  return lives;
}

/* The state behind operator u, had nothing to go.  `live` loses what dies and
   gains what begins. */
static void run_op(const traffic_expansion *e, uint32_t u, uint64_t *live) {
  const traffic_core *core = e->core;
  const uint64_t *uses = traffic_core_buffers(core, core->uses, u);
  bits_add(e->to.done, u);
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = uses[w]; rest; rest &= rest - 1) {
      const uint32_t b = w * 64 + bits_lowest(rest);
      if (leave_buffer(e, u, b))
        bits_add(live, b);
      else
        bits_remove(live, b);
    }
}

static uint64_t sum_bytes(const traffic_core *core, const uint64_t *set) {
  uint64_t bytes = 0;
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1)
      bytes += core->bytes[w * 64 + bits_lowest(rest)];
  return bytes;
}

/* ---- What may go --------------------------------------------------------- */

/*
 * Of two buffers of one size, the one that is needed again sooner in any order
 * stays, if it saves nothing that the other one goes instead.  For the one that
 * went could stay, from now to its next use, where the other one stays; and
 * from then on there is more room.  It could only matter that what goes is
 * clean when it is back, while the other one is still dirty: so either what
 * goes is clean already, or the one that stays dies when it is used.
 */
static bool goes_first(const traffic_expansion *e, uint32_t far,
                       uint32_t near) {
  const traffic_core *core = e->core;
  const bool dirty = bits_has(e->to.dirty, far);
  if (dirty && !bits_has(e->to.dirty, near)) return false;
  const uint64_t *done = e->to.done;
  const uint64_t *far_ops = traffic_core_ops(core, core->touchers, far);
  const uint64_t *near_ops = traffic_core_ops(core, core->touchers, near);
  uint32_t left = 0, soonest = CALM_NONE;
  for (uint32_t w = 0; w < core->op_words; w++)
    for (uint64_t rest = near_ops[w] & ~done[w]; rest; rest &= rest - 1) {
      const uint32_t v = w * 64 + bits_lowest(rest);
      const uint64_t *after = traffic_core_ops(core, core->after, v);
      bool sooner = true;
      for (uint32_t x = 0; x < core->op_words; x++)
        sooner = sooner && !(far_ops[x] & ~done[x] & ~after[x]);
      if (sooner) soonest = v;
      left++;
    }
  return soonest != CALM_NONE && (!dirty || left == 1);
}

static void swap_candidates(traffic_expansion *e, uint32_t i, uint32_t j) {
  const uint32_t held = e->candidates[i];
  e->candidates[i] = e->candidates[j];
  e->candidates[j] = held;
}

/* Candidates from `begin` to `end` are of one size: those go to the front
   before which fewer others go.  (Going first is transitive.) */
static void sort_alike(traffic_expansion *e, uint32_t begin, uint32_t end) {
  for (uint32_t at = begin; at < end; at++)
    for (uint32_t i = at; i < end; i++) {
      bool is_next = true;
      for (uint32_t j = at; j < end && is_next; j++)
        is_next = i == j || !goes_first(e, e->candidates[j], e->candidates[i]);
      if (!is_next) continue;
      swap_candidates(e, at, i);
      break;
    }
  for (uint32_t i = begin; i < end; i++)
    for (uint32_t j = begin; j < i; j++)
      if (goes_first(e, e->candidates[j], e->candidates[i]))
        e->firsts[i] |= UINT64_C(1) << j;
}

/* Who goes before whom, among the first 64 candidates. */
static void compare_candidates(traffic_expansion *e) {
  const uint32_t count = e->candidate_count < 64 ? e->candidate_count : 64;
  const uint64_t *bytes = e->core->bytes;
  for (uint32_t i = 0; i < e->candidate_count; i++) e->firsts[i] = 0;
  if (!e->exchange || !e->excess) return;
  for (uint32_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count &&
           bytes[e->candidates[end]] == bytes[e->candidates[begin]])
      end++;
    sort_alike(e, begin, end);
    e->ticks += (end - begin) * (end - begin);
  }
}

/* `set`: what may go, in the state `to`; larger ones have lower numbers. */
static void list_candidates(traffic_expansion *e, const uint64_t *set) {
  const traffic_core *core = e->core;
  e->candidate_count = 0;
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1)
      e->candidates[e->candidate_count++] = w * 64 + bits_lowest(rest);
  compare_candidates(e);
  e->rest[e->candidate_count] = 0;
  for (uint32_t i = e->candidate_count; i-- > 0;) {
    const uint32_t b = e->candidates[i];
    e->rest[i] = e->rest[i + 1] + core->bytes[b];
    e->candidate_cost[i] = core->bytes[b] * (1 + bits_has(e->to.dirty, b));
  }
  e->ticks += e->candidate_count;
}

/*
 * Try operator u.  In `to` is then the state behind it without anything gone,
 * `excess` says how many bytes have to go, and the candidates are what may.
 */
static void begin_op(traffic_expansion *e, uint32_t u) {
  const traffic_core *core = e->core;
  memcpy(e->to_row, e->from_row, traffic_row_words(core) * sizeof *e->to_row);
  const uint64_t need = traffic_core_need(core, u, e->from.done);
  const uint64_t *uses = traffic_core_buffers(core, core->uses, u);
  uint64_t *may_go = e->live_row;
  traffic_core_live(core, may_go, e->from.done);
  const bool streams = e->streams = need > core->capacity;
  run_op(e, u, may_go);
  for (uint32_t w = 0; w < core->buffer_words; w++)
    may_go[w] &= ~e->to.out[w] & ~(streams ? 0 : uses[w]);
  const uint64_t held = sum_bytes(core, may_go) + (streams ? 0 : need);
  e->op = u;
  e->excess = held > core->capacity ? held - core->capacity : 0;
  list_candidates(e, may_go);
  e->depth = e->at = e->sets = 0;
  e->chosen = e->chosen_cost = e->chosen_set = 0;
  e->ticks += core->buffer_count;
}

static void choose(traffic_expansion *e) {
  const uint32_t b = e->candidates[e->at];
  e->chosen += e->core->bytes[b];
  e->chosen_cost += e->candidate_cost[e->at];
  if (e->at < 64) e->chosen_set |= UINT64_C(1) << e->at;
  e->stack[e->depth++] = e->at++;
}

/* Undo the last choice and go on behind it. */
static void step_back(traffic_expansion *e) {
  e->at = e->stack[--e->depth];
  e->chosen -= e->core->bytes[e->candidates[e->at]];
  e->chosen_cost -= e->candidate_cost[e->at];
  if (e->at < 64) e->chosen_set &= ~(UINT64_C(1) << e->at);
  e->at++;
}

/*
 * The next set that makes enough room and has no smaller one inside: the last
 * one chosen is the smallest, so it is enough that without it there is too
 * little.
 */
static bool next_set(traffic_expansion *e) {
  if (e->excess == 0) return e->sets++ == 0;
  if (e->sets) step_back(e);
  for (;;) {
    e->ticks++;
    const bool hopeless = e->chosen + e->rest[e->at] < e->excess ||
                          e->from_cost + e->chosen_cost >= e->ceiling;
    if (!hopeless && e->chosen >= e->excess) {
      e->sets++;
      return true;
    }
    if (!hopeless && e->firsts[e->at] & ~e->chosen_set) {
      e->at++;
    } else if (!hopeless) {
      choose(e);
    } else {
      if (e->depth == 0) return false;
      step_back(e);
    }
  }
}

/* The chosen ones go, or come back. */
static void put_out(traffic_expansion *e, bool gone) {
  for (uint32_t i = 0; i < e->depth; i++) {
    const uint32_t at = e->stack[i], b = e->candidates[at];
    const bool written = e->candidate_cost[at] > e->core->bytes[b];
    if (gone)
      bits_add(e->to.out, b);
    else
      bits_remove(e->to.out, b);
    if (written && gone) bits_remove(e->to.dirty, b);
    if (written && !gone) bits_add(e->to.dirty, b);
  }
}

/* ---- Steps that only help ------------------------------------------------ */

/*
 * Is there a way on that begins with this operator and costs least?  Nothing
 * has to go for it, nothing comes back that stays, and it writes into nothing
 * that stays.  Then running it now instead of later costs at most the room for
 * what it begins.  It is had for nothing if it begins nothing that lives, or
 * one buffer only that moves in where another one dies: one that is no smaller
 * and no cheaper to put out, so that whoever puts out that one later puts out
 * this one instead.
 *
 * Why: take the best way on, which runs the operator later, and run it now
 * instead.  Nobody else touches what it lets die, so until its old turn that
 * was on chip, and `born` lies in its place, or it was put out, and then `born`
 * is, for no more; others that touch `born` meanwhile find it there or bring it
 * back, which is paid.  From the old turn on both ways are the same.  What runs
 * in between needs as much as before, or less where an input is free sooner.
 * There are two exceptions.  Less may be enough to fit instead of streaming,
 * which takes room: see list_unlockers.  And nobody may have written `born`
 * over something, which is no longer fresh then: if the operator makes it,
 * everybody else has to touch it later in any order.
 */
static bool is_born_well(const traffic_expansion *e, uint32_t b) {
  const traffic_core *core = e->core;
  if (bits_has(core->inputs, b))
    return !bits_has(traffic_core_buffers(core, core->writes, e->op), b);
  const uint64_t *touchers = traffic_core_ops(core, core->touchers, b);
  for (uint32_t w = 0; w < core->op_words; w++)
    for (uint64_t rest = touchers[w]; rest; rest &= rest - 1) {
      const uint32_t v = w * 64 + bits_lowest(rest);
      if (v != e->op &&
          !bits_has(traffic_core_ops(core, core->preds, v), e->op))
        return false;
    }
  return true;
}

static uint64_t cost_out(const traffic_core *core, const traffic_sets *sets,
                         uint32_t b) {
  return core->bytes[b] * (1 + bits_has(sets->dirty, b));
}

/* Some buffer dies whose place `born` can take.  (It has a gap, as all buffers
   here, so somebody else has touched it before.) */
static bool takes_place(const traffic_expansion *e, uint32_t born) {
  const traffic_core *core = e->core;
  const uint64_t *uses = traffic_core_buffers(core, core->uses, e->op);
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = uses[w]; rest; rest &= rest - 1) {
      const uint32_t b = w * 64 + bits_lowest(rest);
      const uint64_t *touchers = traffic_core_ops(core, core->touchers, b);
      if (bits_within(touchers, e->to.done, core->op_words) &&
          !bits_has(e->from.out, b) && core->bytes[b] >= core->bytes[born] &&
          cost_out(core, &e->from, b) >= cost_out(core, &e->to, born))
        return true;
    }
  return false;
}

static bool only_helps(const traffic_expansion *e) {
  const traffic_core *core = e->core;
  const uint64_t *uses = traffic_core_buffers(core, core->uses, e->op);
  const uint64_t *writes = traffic_core_buffers(core, core->writes, e->op);
  uint32_t born = CALM_NONE;
  if (e->excess || e->streams || bits_has(e->unlockers, e->op)) return false;
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = uses[w]; rest; rest &= rest - 1) {
      const uint32_t b = w * 64 + bits_lowest(rest);
      const uint64_t *touchers = traffic_core_ops(core, core->touchers, b);
      if (bits_within(touchers, e->to.done, core->op_words)) continue;
      if (bits_meet(touchers, e->from.done, core->op_words)) {
        if (bits_has(e->from.out, b) || bits_has(writes, b)) return false;
      } else {
        if (born != CALM_NONE || !is_born_well(e, b)) return false;
        born = b;
      }
    }
  return born == CALM_NONE || takes_place(e, born);
}

/* ---- Steps --------------------------------------------------------------- */

static bool is_ready(const traffic_expansion *e, uint32_t u) {
  const traffic_core *core = e->core;
  return !bits_has(e->from.done, u) &&
         bits_within(traffic_core_ops(core, core->preds, u), e->from.done,
                     core->op_words);
}

/* The first ready operator from u on is tried. */
static bool begin_next(traffic_expansion *e, uint32_t u) {
  while (u < e->core->op_count && !is_ready(e, u)) u++;
  if (u == e->core->op_count) return false;
  begin_op(e, u);
  return true;
}

static bool find_sole(traffic_expansion *e) {
  for (uint32_t u = 0; begin_next(e, u); u = e->op + 1)
    if (only_helps(e)) return true;
  return false;
}

void traffic_expand(traffic_expansion *e, const traffic_sets *from,
                    uint64_t cost, uint64_t ceiling) {
  memcpy(e->from_row, from->done,
         traffic_row_words(e->core) * sizeof *e->from_row);
  e->from_cost = cost;
  e->ceiling = ceiling;
  e->ticks = 1;
  e->cut = false;
  e->sole = e->commit && find_sole(e);
  e->more = e->sole || begin_next(e, 0);
}

bool traffic_expand_next(traffic_expansion *e) {
  while (e->more) {
    if (e->sets) put_out(e, false);
    const bool all = e->sets >= e->most_sets;
    if (!all && next_set(e)) {
      put_out(e, true);
      e->cost = e->from_cost + e->chosen_cost;
      return true;
    }
    e->cut |= all && e->excess;
    e->more = !e->sole && begin_next(e, e->op + 1);
  }
  return false;
}
