/* The search in windows of an order: see order_window.h. */
#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "order/order_exact.h"
#include "order/order_window.h"

#if CALM_HOSTILE
enum { FIRST_SIZE = 3 };
#else
enum { FIRST_SIZE = 48 }; /* operators of a window; it doubles */
#endif

enum {
  TICKS_PER_OP = 8192, /* what a window may cost at first per operator of it */
  SIZES = 3,           /* 48, 96, 192 */
  PLACES = 3,          /* of the peak in it: the middle, early, late */
  MORE_TICKS = 4       /* a factor, when no window helps */
};

typedef struct windows {
  const order_problem *p;
  const order_options *options;
  limits *l;
  uint64_t enough;     /* ticks */
  uint64_t held_bytes; /* elsewhere */
  uint32_t *sequence;
  uint64_t *step_bytes, peak, bound; /* bytes */
} windows;

/* Solve one window, for an order below the peak or a proof that there is none,
   within `ticks`.  Only what ends the whole search, too, is handed on. */
static calm_status solve_window(order_result *out, windows *w,
                                const order_problem *window, uint64_t ticks,
                                arena *a) {
  order_options options = *w->options;
  options.windows = false;
  options.target_bytes = w->peak - 1;
  options.ceiling_bytes = w->peak;
  limits l = *w->l;
  l.max_ticks = number_smaller(l.max_ticks, l.ticks + ticks);
  l.next_look = l.ticks;
  if (l.max_bytes != UINT64_MAX)
    l.max_bytes -= number_smaller(w->held_bytes, l.max_bytes);
  TRY(order_exact(out, window, &options, a, &l));
  w->l->ticks = l.ticks;
  w->l->next_look = l.ticks;
  if (l.reason != LIMITS_NONE && l.reason != LIMITS_TICKS &&
      l.reason != LIMITS_MEMORY)
    w->l->reason = l.reason;
  limits_spend(w->l, number_larger(w->p->op_count / 16, 1));
  return CALM_OK;
}

/* A window of `size` operators with position `at` in the middle of it, or after
   a quarter or three. */
static void place_window(const windows *w, uint32_t at, uint32_t size,
                         uint32_t place, uint32_t *out_from, uint32_t *out_to) {
  static const uint32_t quarters[PLACES] = {2, 1, 3};
  const uint32_t n = w->p->op_count, before = size / 4 * quarters[place];
  const uint32_t from = at > before ? at - before : 0;
  *out_from = n - from < size ? n - size : from;
  *out_to = *out_from + size;
}

static calm_status replay(windows *w) {
  return order_replay(&w->peak, w->p, w->sequence, w->step_bytes,
                      w->l->context);
}

/* Put the order of a window into the whole. */
static calm_status adopt_window(windows *w, uint32_t from,
                                const uint32_t *order, uint32_t size,
                                arena *a) {
  uint32_t *old;
  ARENA_ARRAY(a, old, size);
  memcpy(old, w->sequence + from, size * sizeof *old);
  for (uint32_t i = 0; i < size; i++) w->sequence[from + i] = old[order[i]];
  const uint64_t peak = w->peak;
  TRY(replay(w));
  assert(w->peak <= peak);
  (void)peak;
  return CALM_OK;
}

/* One window around a peak: is there something better? */
static calm_status repair_window(bool *out_better, windows *w, uint32_t from,
                                 uint32_t to, uint64_t ticks, arena *a) {
  order_problem window;
  order_result r;
  TRY(order_window_cut(&window, w->p, w->sequence, from, to, a));
  TRY(solve_window(&r, w, &window, ticks, a));
  *out_better = r.peak_bytes < w->peak;
  return *out_better ? adopt_window(w, from, r.sequence, to - from, a)
                     : CALM_OK;
}

static uint32_t find_peak(const windows *w) {
  for (uint32_t i = 0; i < w->p->op_count; i++)
    if (w->step_bytes[i] == w->peak) return i;
  return CALM_NONE;
}

static bool is_done(const windows *w) {
  return w->l->reason != LIMITS_NONE || w->l->ticks >= w->enough ||
         find_peak(w) == CALM_NONE || w->peak <= w->bound ||
         w->peak <= w->options->target_bytes;
}

/* Windows of growing size around the first peak, until one lowers it. */
static calm_status repair_peak(bool *out_better, windows *w,
                               uint64_t ticks_per_op) {
  const uint32_t at = find_peak(w);
  *out_better = false;
  for (uint32_t i = 0; i < SIZES * PLACES && !*out_better && !is_done(w); i++) {
    const uint32_t size = (uint32_t)FIRST_SIZE << i / PLACES;
    if (size >= w->p->op_count) break;
    uint32_t from, to;
    place_window(w, at, size, i % PLACES, &from, &to);
    const uint64_t ticks =
        number_smaller(size * ticks_per_op, w->enough - w->l->ticks);
    arena scratch;
    arena_init(&scratch, w->l->context);
    const calm_status status =
        repair_window(out_better, w, from, to, ticks, &scratch);
    arena_free(&scratch);
    TRY(status);
  }
  return CALM_OK;
}

/* Nothing helps where a window costs next to nothing?  Let it cost more, up to
   all there is. */
static calm_status search(windows *w) {
  for (uint64_t ticks = TICKS_PER_OP; !is_done(w);) {
    bool better;
    TRY(repair_peak(&better, w, ticks));
    if (!better && ticks < w->enough) ticks *= MORE_TICKS;
  }
  return CALM_OK;
}

static calm_status begin(windows *w, arena *a) {
  ARENA_ARRAY(a, w->step_bytes, w->p->op_count);
  return replay(w);
}

calm_status order_windows_search(uint32_t *sequence, uint64_t bound_bytes,
                                 const order_problem *p,
                                 const order_options *options, uint64_t ticks,
                                 uint64_t held_bytes, limits *l) {
  arena scratch;
  arena_init(&scratch, l->context);
  windows w = {.p = p,
               .options = options,
               .l = l,
               .enough = l->ticks + ticks,
               .held_bytes = held_bytes,
               .sequence = sequence,
               .bound = bound_bytes};
  calm_status status = begin(&w, &scratch);
  if (status == CALM_OK) status = search(&w);
  arena_free(&scratch);
  return status;
}
