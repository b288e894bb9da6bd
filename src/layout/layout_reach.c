#include "layout/layout_reach.h"

#include <stdlib.h>
#include <string.h>

/* ---- The trail ----------------------------------------------------------- */

static void set(layout_reach *r, int64_t *where, int64_t value) {
  if (r->trail.count == r->trail.capacity) {
    void *grown =
        vector_grown(r->l->context, r->trail.data, &r->trail.capacity,
                     sizeof *r->trail.data, (uint64_t)r->trail.count + 1);
    if (!grown) {
      r->without_memory = true;
      return;
    }
    r->trail.data = grown;
  }
  r->trail.data[r->trail.count++] = (reach_change){where, *where};
  *where = value;
}

void layout_reach_undo(layout_reach *r, uint32_t mark) {
  while (r->trail.count > mark) {
    const reach_change *c = &r->trail.data[--r->trail.count];
    *c->where = c->old;
  }
}

/* ---- Queues -------------------------------------------------------------- */

static void push_body(layout_reach *r, uint32_t body) {
  if (r->queued[body]) return;
  r->queued[body] = true;
  uint32_t at = r->queue_head + r->queue_count++;
  if (at >= r->bars->count) at -= r->bars->count;
  r->queue[at] = body;
}

static uint32_t pop_body(layout_reach *r) {
  const uint32_t body = r->queue[r->queue_head];
  if (++r->queue_head == r->bars->count) r->queue_head = 0;
  r->queue_count--;
  r->queued[body] = false;
  return body;
}

static void push_steps(layout_reach *r, uint32_t body) {
  const layout_steps *s = r->steps;
  for (uint32_t i = s->step_begin[body]; i < s->step_begin[body + 1]; i++) {
    const uint32_t step = s->steps_of[i];
    if (r->step_queued[step]) continue;
    r->step_queued[step] = true;
    r->step_queue[r->step_count++] = step;
  }
}

static void clear_queues(layout_reach *r) {
  while (r->queue_count) pop_body(r);
  while (r->step_count) r->step_queued[r->step_queue[--r->step_count]] = false;
}

/* ---- Ranges -------------------------------------------------------------- */

static bool fail(layout_reach *r, uint32_t body) {
  r->weight[body]++;
  return false;
}

static bool raise_low(layout_reach *r, uint32_t body, int64_t low) {
  if (low <= r->low[body]) return true;
  low = layout_round_up(low, r->bars->align[body]);
  if (low > r->high[body]) return fail(r, body);
  set(r, &r->low[body], low);
  push_body(r, body);
  push_steps(r, body);
  return !r->without_memory;
}

static bool reduce_high(layout_reach *r, uint32_t body, int64_t high) {
  if (high >= r->high[body]) return true;
  high = layout_round_down(high, r->bars->align[body]);
  if (high < r->low[body]) return fail(r, body);
  set(r, &r->high[body], high);
  push_body(r, body);
  push_steps(r, body);
  return !r->without_memory;
}

/* A body cannot lie strictly between the two. */
static bool avoid(layout_reach *r, uint32_t body, int64_t above,
                  int64_t below) {
  if (above >= below) return true;
  if (r->low[body] > above && !raise_low(r, body, below)) return false;
  return r->high[body] >= below || reduce_high(r, body, above);
}

/*
 * What the ranges of two bodies mean to each other.  With neither side chosen,
 * one cannot lie where it would be neither far enough above nor below the
 * other, wherever in its range that is.  This holds for the body itself, too:
 * its range may have come to end in between.
 */
static bool apply_bar(layout_reach *r, uint32_t body, uint32_t at) {
  const layout_bar *bar = &r->bars->bars[at];
  const uint32_t other = bar->other;
  const int64_t above = r->high[body] - bar->before;
  const int64_t below = r->low[body] - bar->after;
  if (r->side[at] > 0) return reduce_high(r, other, above);
  if (r->side[at] < 0) return raise_low(r, other, below);
  return avoid(r, other, above, below) &&
         avoid(r, body, r->high[other] + bar->after,
               r->low[other] + bar->before);
}

static bool apply_bars(layout_reach *r, uint32_t body) {
  const uint32_t begin = r->bars->bar_begin[body];
  const uint32_t end = r->bars->bar_begin[body + 1];
  limits_spend(r->l, 1 + (end - begin) / BARS_PER_TICK);
  for (uint32_t i = begin; i < end; i++)
    if (!apply_bar(r, body, i)) return fail(r, body);
  return true;
}

/* ---- Sums ---------------------------------------------------------------- */

static void list_spans(layout_reach *r, const layout_step *step) {
  const int64_t granule = r->steps->granule;
  for (uint32_t i = step->member_begin; i < step->member_end; i++) {
    const step_member *m = &r->steps->members[i];
    const reach_span s = {r->low[m->body] + m->low,
                          layout_round_up(r->high[m->body] + m->high, granule),
                          m->bytes, i - step->member_begin};
    uint32_t at = i - step->member_begin;
    for (; at > 0 && r->spans[at - 1].high > s.high; at--)
      r->spans[at] = r->spans[at - 1];
    r->spans[at] = s;
  }
}

/* What the first `count` spans that begin at `low` or above may share. */
static int64_t sum_shares(const layout_reach *r, const layout_step *step,
                          uint32_t count, int64_t low) {
  int64_t bytes = 0;
  for (uint32_t i = step->share_begin; i < step->share_end; i++) {
    const step_share *share = &r->steps->shares[i];
    int inside = 0;
    for (uint32_t k = 0; k < count; k++)
      if (r->spans[k].low >= low && (r->spans[k].member == share->input ||
                                     r->spans[k].member == share->output))
        inside++;
    if (inside == 2) bytes += share->bytes;
  }
  return bytes;
}

/* Do those fit that have to lie between two bytes? */
static bool check_step(layout_reach *r, const layout_step *step) {
  const uint32_t count = step->member_end - step->member_begin;
  list_spans(r, step);
  limits_spend(r->l, count * count / 16 + 1);
  for (uint32_t i = 0; i < count; i++) {
    const int64_t low = r->spans[i].low;
    int64_t bytes = 0;
    for (uint32_t k = 0; k < count; k++) {
      if (r->spans[k].low < low) continue;
      bytes += r->spans[k].bytes;
      const int64_t room = r->spans[k].high - low;
      if (bytes > room && bytes - sum_shares(r, step, k + 1, low) > room)
        return fail(
            r, r->steps->members[step->member_begin + r->spans[k].member].body);
    }
  }
  return true;
}

bool layout_reach_settle(layout_reach *r) {
  bool possible = true;
  while (possible && (r->queue_count || r->step_count)) {
    if (r->queue_count) {
      possible = apply_bars(r, pop_body(r));
    } else {
      const uint32_t step = r->step_queue[--r->step_count];
      r->step_queued[step] = false;
      possible = check_step(r, &r->steps->steps[step]);
    }
  }
  if (!possible) clear_queues(r);
  return possible;
}

/* ---- From the start ------------------------------------------------------ */

void layout_reach_choose(layout_reach *r, uint32_t body, uint32_t bar,
                         int64_t side) {
  const uint32_t other = r->bars->bars[bar].other;
  set(r, &r->side[bar], side);
  set(r, &r->side[r->twin[bar]], -side);
  push_body(r, body);
  push_body(r, other);
}

bool layout_reach_reset(layout_reach *r, int64_t arena_bytes) {
  const layout_bars *b = r->bars;
  layout_reach_undo(r, 0);
  for (uint32_t i = 0; i < b->count; i++) {
    const int64_t top =
        layout_round_down(arena_bytes - b->span[i], b->align[i]);
    r->low[i] = b->fixed[i] >= 0 ? b->fixed[i] : 0;
    r->high[i] = b->fixed[i] >= 0 ? b->fixed[i] : top;
    if (r->low[i] > top) return false;
  }
  for (uint32_t i = 0; i < b->count; i++) {
    push_body(r, i);
    push_steps(r, i);
  }
  return layout_reach_settle(r);
}

/* Bars of a pair stand in opposite orders at its two bodies. */
static void match_twins(layout_reach *r) {
  const layout_bars *b = r->bars;
  for (uint32_t body = 0; body < b->count; body++)
    for (uint32_t i = b->bar_begin[body]; i < b->bar_begin[body + 1]; i++) {
      const layout_bar *bar = &b->bars[i];
      uint32_t low = b->bar_begin[bar->other];
      uint32_t high = b->bar_begin[bar->other + 1];
      while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const layout_bar *m = &b->bars[middle];
        if (m->other < body || (m->other == body && m->after < -bar->before))
          low = middle + 1;
        else
          high = middle;
      }
      r->twin[i] = low;
    }
}

calm_status layout_reach_make(layout_reach *out, const layout_bars *bars,
                              const layout_steps *steps, arena *a, limits *l) {
  layout_reach r = {.bars = bars, .steps = steps, .l = l};
  const uint32_t count = bars->count, bar_count = bars->bar_begin[count];
  uint32_t most = 0;
  for (uint32_t i = 0; i < steps->count; i++)
    if (steps->steps[i].member_end - steps->steps[i].member_begin > most)
      most = steps->steps[i].member_end - steps->steps[i].member_begin;
  ARENA_ARRAY(a, r.low, count);
  ARENA_ARRAY(a, r.high, count);
  ARENA_ARRAY(a, r.side, bar_count);
  ARENA_ARRAY(a, r.twin, bar_count);
  ARENA_ARRAY(a, r.queue, count);
  ARENA_ARRAY(a, r.queued, count);
  ARENA_ARRAY(a, r.step_queued, steps->count);
  ARENA_ARRAY(a, r.step_queue, steps->count);
  ARENA_ARRAY(a, r.spans, most);
  ARENA_ARRAY(a, r.weight, count);
  match_twins(&r);
  *out = r;
  return CALM_OK;
}

void layout_reach_free(layout_reach *r) {
  if (r->l) VECTOR_FREE(r->l->context, &r->trail);
}
