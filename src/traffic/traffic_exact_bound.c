#include "traffic/traffic_exact_bound.h"

#include "base/number.h"

/* Beyond so many points their pairs are not stored. */
enum { MOST_PAIRED = 256 };

/* ---- Points -------------------------------------------------------------- */

/* What a permission may save at most, in some order. */
static uint64_t most_saved(const traffic_bound *b, uint32_t u) {
  const traffic_core *core = b->core;
  const order_problem *p = core->problem->order;
  uint64_t saved = 0;
  for (uint32_t i = p->reuse_begin[u]; i < p->reuse_begin[u + 1]; i++) {
    const uint64_t *sole = traffic_core_ops(core, core->reuse_sole, i);
    if (!bits_has(sole, u) &&
        !bits_meet(sole, traffic_core_ops(core, core->after, u),
                   core->op_words))
      saved = number_larger(saved, p->reuses[i].bytes);
  }
  return saved;
}

/* Is a buffer live at a point?  In any case, if touched by now, or not for
   sure. */
typedef enum { LIVE_ALWAYS, LIVE_IF_BEGUN, LIVE_UNSURE } liveness;

/* Few touch a buffer; a set of operators may be long. */
static bool is_touched_by(const traffic_core *core, uint32_t buffer,
                          const uint64_t *ops) {
  const order_problem *p = core->problem->order;
  const uint32_t name = core->name[buffer];
  for (uint32_t i = p->touch_begin[name]; i < p->touch_begin[name + 1]; i++)
    if (bits_has(ops, p->touch[i])) return true;
  return false;
}

static liveness find_liveness(const traffic_bound *b, traffic_point point,
                              uint32_t buffer) {
  const traffic_core *core = b->core;
  const uint64_t *before = traffic_core_ops(core, core->before, point.op);
  const uint64_t *after = traffic_core_ops(core, core->after, point.op);
  const bool used =
      bits_has(traffic_core_ops(core, core->touchers, buffer), point.op);
  const bool later = (used && point.place == PLACE_BEFORE) ||
                     is_touched_by(core, buffer, after);
  if (!later || (used && point.place == PLACE_BESIDE)) return LIVE_UNSURE;
  const bool earlier = (used && point.place == PLACE_BEHIND) ||
                       is_touched_by(core, buffer, before);
  return earlier ? LIVE_ALWAYS : LIVE_IF_BEGUN;
}

/* No gap of it is ever kept: it is counted apart. */
static bool is_oversize(const traffic_core *core, uint32_t buffer) {
  return core->bytes[buffer] > core->capacity;
}

/* A point where everything fits in any case is none. */
static void add_point(traffic_bound *b, traffic_point point) {
  const traffic_core *core = b->core;
  uint64_t *always = traffic_core_buffers(core, b->always, b->point_count);
  uint64_t *if_begun = traffic_core_buffers(core, b->if_begun, b->point_count);
  memset(always, 0, core->buffer_words * sizeof *always);
  memset(if_begun, 0, core->buffer_words * sizeof *if_begun);
  uint64_t bytes = point.need;
  for (uint32_t i = 0; i < core->buffer_count; i++) {
    const liveness live = find_liveness(b, point, i);
    if (live == LIVE_UNSURE || is_oversize(core, i)) continue;
    bits_add(live == LIVE_ALWAYS ? always : if_begun, i);
    bytes += core->bytes[i];
  }
  if (bytes > core->capacity) b->points[b->point_count++] = point;
}

/*
 * An operator that fits for sure, even if it may write over nothing, has one
 * point while it runs; any other one has two, before and behind, where what
 * stays has to fit in either case.
 */
static calm_status list_points(traffic_bound *b, arena *a) {
  const traffic_core *core = b->core;
  const uint32_t n = core->op_count, most = 2 * n;
  ARENA_ARRAY(a, b->points, most);
  ARENA_ARRAY(a, b->always, (size_t)most * core->buffer_words);
  ARENA_ARRAY(a, b->if_begun, (size_t)most * core->buffer_words);
  for (uint32_t u = 0; u < n; u++) {
    const uint64_t need = core->need[u];
    if (need <= core->capacity) {
      add_point(b, (traffic_point){u, PLACE_BESIDE, need - most_saved(b, u)});
    } else {
      add_point(b, (traffic_point){u, PLACE_BEFORE, 0});
      add_point(b, (traffic_point){u, PLACE_BEHIND, 0});
    }
  }
  return CALM_OK;
}

/*
 * Who writes a buffer that is larger than the memory, so that it is read again
 * later for sure, and, if it is an output, not in its last state?
 */
static calm_status list_oversize(traffic_bound *b, arena *a) {
  const traffic_core *core = b->core;
  ARENA_ARRAY(a, b->rewriters, (size_t)core->buffer_count * core->op_words);
  for (uint32_t i = 0; i < core->buffer_count; i++) {
    if (!is_oversize(core, i)) break;
    b->oversize_count++;
    uint64_t *rewriters = traffic_core_ops(core, b->rewriters, i);
    const uint64_t *writers = traffic_core_ops(core, core->writers, i);
    const uint64_t *later = bits_has(core->outputs, i)
                                ? writers
                                : traffic_core_ops(core, core->touchers, i);
    for (uint32_t u = 0; u < core->op_count; u++)
      if (bits_has(writers, u) &&
          bits_meet(later, traffic_core_ops(core, core->after, u),
                    core->op_words))
        bits_add(rewriters, u);
  }
  return CALM_OK;
}

/* ---- Pairs of points ----------------------------------------------------- */

static void remove_used(const traffic_core *core, uint64_t *set, uint32_t u) {
  const uint64_t *uses = traffic_core_buffers(core, core->uses, u);
  for (uint32_t w = 0; w < core->buffer_words; w++) set[w] &= ~uses[w];
}

/*
 * Take out of a set what is certainly touched between two points, the first of
 * which certainly comes first: by who runs between them, and by their own
 * operators if these are on the inner side.
 */
static void remove_between(const traffic_core *core, uint64_t *set,
                           const traffic_point *early,
                           const traffic_point *late) {
  const uint64_t *after = traffic_core_ops(core, core->after, early->op);
  const uint64_t *before = traffic_core_ops(core, core->before, late->op);
  if (early->place == PLACE_BEFORE) remove_used(core, set, early->op);
  if (late->place == PLACE_BEHIND) remove_used(core, set, late->op);
  for (uint32_t w = 0; w < core->op_words; w++)
    for (uint64_t rest = after[w] & before[w]; rest; rest &= rest - 1)
      remove_used(core, set, w * 64 + bits_lowest(rest));
}

/* Only one gap of a buffer ends at one operator, and only one begins there. */
static void remove_ends(const traffic_core *core, uint64_t *set,
                        const traffic_point *p, const traffic_point *q) {
  const uint64_t *a = traffic_core_buffers(core, core->uses, p->op);
  const uint64_t *b = traffic_core_buffers(core, core->uses, q->op);
  if (p->place != q->place || p->place == PLACE_BESIDE) return;
  for (uint32_t w = 0; w < core->buffer_words; w++) set[w] &= ~(a[w] & b[w]);
}

static void pair_points(const traffic_core *core, uint64_t *shared,
                        const traffic_point *p, const traffic_point *q) {
  for (uint32_t w = 0; w < core->buffer_words; w++) shared[w] = ~UINT64_C(0);
  if (p->op == q->op) {
    if (p->place != q->place) remove_used(core, shared, p->op);
    return;
  }
  const uint64_t *after = traffic_core_ops(core, core->after, p->op);
  const uint64_t *before = traffic_core_ops(core, core->before, p->op);
  if (bits_has(after, q->op)) remove_between(core, shared, p, q);
  if (bits_has(before, q->op)) remove_between(core, shared, q, p);
  remove_ends(core, shared, p, q);
}

static calm_status pair_all(traffic_bound *b, arena *a) {
  const uint32_t count = b->point_count, words = b->core->buffer_words;
  if (count > MOST_PAIRED) return CALM_OK;
  ARENA_ARRAY(a, b->shared, (size_t)count * count * words);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < count; j++)
      pair_points(b->core, b->shared + ((size_t)i * count + j) * words,
                  &b->points[i], &b->points[j]);
  return CALM_OK;
}

calm_status traffic_bound_build(traffic_bound *out, const traffic_core *core,
                                arena *a) {
  traffic_bound b = {.core = core};
  for (uint32_t i = 0; i < core->buffer_count; i++)
    b.unit = number_gcd(b.unit, core->bytes[i]);
  TRY(list_points(&b, a));
  TRY(list_oversize(&b, a));
  TRY(pair_all(&b, a));
  ARENA_ARRAY(a, b.begun, core->buffer_words);
  ARENA_ARRAY(a, b.twice, core->buffer_words);
  ARENA_ARRAY(a, b.there, (size_t)b.point_count * core->buffer_words);
  ARENA_ARRAY(a, b.open, b.point_count);
  *out = b;
  return CALM_OK;
}

/* ---- One state ----------------------------------------------------------- */

/*
 * A buffer that leaves for the first time from now on is written if it has been
 * changed since it was read, or will be made.  The last state of an output is
 * no spill.
 */
static void sort_buffers(traffic_bound *b, const traffic_sets *sets) {
  const traffic_core *core = b->core;
  memset(b->begun, 0, core->buffer_words * sizeof *b->begun);
  for (uint32_t i = 0; i < core->buffer_count; i++)
    if (bits_meet(traffic_core_ops(core, core->touchers, i), sets->done,
                  core->op_words))
      bits_add(b->begun, i);
  for (uint32_t w = 0; w < core->buffer_words; w++)
    b->twice[w] = (sets->dirty[w] | (~b->begun[w] & ~core->inputs[w])) &
                  ~core->outputs[w];
}

/* Is a buffer that is off chip now certain to be back before the point? */
static bool comes_back(const traffic_bound *b, const traffic_point *point,
                       uint32_t buffer, const uint64_t *done) {
  const traffic_core *core = b->core;
  const uint64_t *touchers = traffic_core_ops(core, core->touchers, buffer);
  const uint64_t *before = traffic_core_ops(core, core->before, point->op);
  if (point->place == PLACE_BEHIND && bits_has(touchers, point->op))
    return true;
  for (uint32_t w = 0; w < core->op_words; w++)
    if (touchers[w] & before[w] & ~done[w]) return true;
  return false;
}

static uint64_t sum_bytes(const traffic_core *core, const uint64_t *set) {
  uint64_t bytes = 0;
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1)
      bytes += core->bytes[w * 64 + bits_lowest(rest)];
  return bytes;
}

/* What is live at a point and not paid for. */
static void gather_there(traffic_bound *b, uint32_t i,
                         const traffic_sets *sets) {
  const traffic_core *core = b->core;
  const uint64_t *always = traffic_core_buffers(core, b->always, i);
  const uint64_t *if_begun = traffic_core_buffers(core, b->if_begun, i);
  uint64_t *there = traffic_core_buffers(core, b->there, i);
  for (uint32_t w = 0; w < core->buffer_words; w++) {
    there[w] = always[w] | (if_begun[w] & b->begun[w]);
    for (uint64_t rest = there[w] & sets->out[w]; rest; rest &= rest - 1) {
      const uint32_t k = w * 64 + bits_lowest(rest);
      if (!comes_back(b, &b->points[i], k, sets->done)) bits_remove(there, k);
    }
  }
}

/*
 * The least cost of putting out `excess` bytes of a set.  Relaxed: parts of
 * buffers may go, the cheap ones first.  But their sizes have a common divisor,
 * and it takes at least so many buffers as it takes when the largest go; so
 * many of the smallest are then a bound, too.
 */
static uint64_t cost_of(const traffic_bound *b, const uint64_t *set,
                        uint64_t excess) {
  const traffic_core *core = b->core;
  uint64_t once = 0, largest = 0, smallest = 0;
  uint32_t spare = 0; /* buffers that need not go when the largest do */
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
      const uint32_t k = w * 64 + bits_lowest(rest);
      if (!bits_has(b->twice, k)) once += core->bytes[k];
      if (largest >= excess) spare++;
      largest += core->bytes[k];
    }
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1)
      if (spare)
        spare--;
      else
        smallest += core->bytes[w * 64 + bits_lowest(rest)];
  excess = number_round_up(number_larger(excess, smallest), b->unit);
  return excess + (excess > once ? excess - once : 0);
}

/* The least cost at a point; 0 if all fits. */
static uint64_t cost_at(const traffic_bound *b, uint32_t i) {
  const traffic_core *core = b->core;
  const uint64_t *there = traffic_core_buffers(core, b->there, i);
  const uint64_t bytes = b->points[i].need + sum_bytes(core, there);
  return bytes > core->capacity ? cost_of(b, there, bytes - core->capacity) : 0;
}

/* The dearest point, taken out of the open ones, with all that fit. */
static uint64_t take_dearest(traffic_bound *b, uint32_t *out_point,
                             uint64_t *out_ticks) {
  uint64_t most = 0;
  uint32_t count = 0, at = 0;
  for (uint32_t i = 0; i < b->open_count; i++) {
    const uint64_t cost = cost_at(b, b->open[i]);
    if (cost == 0) continue;
    if (cost > most) {
      most = cost;
      at = count;
    }
    b->open[count++] = b->open[i];
  }
  *out_ticks += b->open_count;
  b->open_count = count;
  if (count == 0) return 0;
  *out_point = b->open[at];
  b->open[at] = b->open[--b->open_count];
  return most;
}

/* Nothing that may be the same gap at a point counted counts again, and nothing
   is written a second time for sure. */
static void discount(traffic_bound *b, uint32_t counted) {
  const traffic_core *core = b->core;
  const uint32_t words = core->buffer_words;
  const uint64_t *there = traffic_core_buffers(core, b->there, counted);
  for (uint32_t w = 0; w < words; w++) b->twice[w] &= ~there[w];
  for (uint32_t i = 0; i < b->open_count; i++) {
    uint64_t *other = traffic_core_buffers(core, b->there, b->open[i]);
    const uint64_t *shared =
        b->shared + ((size_t)counted * b->point_count + b->open[i]) * words;
    for (uint32_t w = 0; w < words; w++) other[w] &= ~(there[w] & shared[w]);
  }
}

/* Each time somebody touches one of the oversize buffers again it is read, but
   for the next time of one that is out: that is paid. */
uint64_t traffic_bound_oversize(const traffic_bound *b,
                                const traffic_sets *sets) {
  const traffic_core *core = b->core;
  uint64_t cost = 0;
  for (uint32_t i = 0; i < b->oversize_count; i++) {
    const uint64_t *touchers = traffic_core_ops(core, core->touchers, i);
    const uint64_t *rewriters = traffic_core_ops(core, b->rewriters, i);
    uint32_t touches = 0, writes = 0;
    for (uint32_t w = 0; w < core->op_words; w++) {
      touches += bits_count_word(touchers[w] & ~sets->done[w]);
      writes += bits_count_word(rewriters[w] & ~sets->done[w]);
    }
    if (touches > 1) cost += core->bytes[i] * (touches - 1 + writes);
  }
  return cost;
}

uint64_t traffic_bound_of(traffic_bound *b, const traffic_sets *sets,
                          uint64_t *out_ticks) {
  uint64_t total = traffic_bound_oversize(b, sets), cost;
  sort_buffers(b, sets);
  b->open_count = 0;
  for (uint32_t i = 0; i < b->point_count; i++) {
    if (bits_has(sets->done, b->points[i].op)) continue;
    gather_there(b, i, sets);
    b->open[b->open_count++] = i;
  }
  *out_ticks += b->point_count + b->oversize_count;
  uint32_t dearest;
  while ((cost = take_dearest(b, &dearest, out_ticks))) {
    total += cost;
    if (!b->shared) break;
    discount(b, dearest);
  }
  return total;
}
