#include "layout/layout_decide.h"

calm_status layout_decide_make(layout_decide *out, const layout_bars *bars,
                               const layout_steps *steps, arena *a, limits *l) {
  *out = (layout_decide){0};
  return layout_reach_make(&out->reach, bars, steps, a, l);
}

void layout_decide_free(layout_decide *d) {
  if (d->reach.l) VECTOR_FREE(d->reach.l->context, &d->frames);
  layout_reach_free(&d->reach);
}

static calm_status check_memory(const layout_decide *d) {
  return d->reach.without_memory ? context_no_memory(d->reach.l->context)
                                 : CALM_OK;
}

/* ---- Probing ------------------------------------------------------------- */

static bool try_side(layout_reach *r, uint32_t body, uint32_t bar,
                     int64_t side) {
  const uint32_t mark = layout_reach_mark(r);
  layout_reach_choose(r, body, bar, side);
  const bool possible = layout_reach_settle(r);
  layout_reach_undo(r, mark);
  return possible;
}

/* A side that cannot be leaves the other.  False: neither can. */
static bool probe_bar(layout_reach *r, uint32_t body, uint32_t bar,
                      bool *changed) {
  for (int64_t side = -1; side <= 1; side += 2) {
    if (try_side(r, body, bar, side)) continue;
    layout_reach_choose(r, body, bar, -side);
    *changed = true;
    return layout_reach_settle(r);
  }
  return true;
}

static bool probe_all(layout_reach *r, uint64_t until) {
  const layout_bars *b = r->bars;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t body = 0; body < b->count; body++)
      for (uint32_t i = b->bar_begin[body]; i < b->bar_begin[body + 1]; i++) {
        if (b->bars[i].other < body || !layout_reach_open(r, body, i)) continue;
        if (r->l->ticks >= until || limits_spend(r->l, 0)) return true;
        if (!probe_bar(r, body, i, &changed)) return false;
      }
  }
  return true;
}

/* ---- Branching ----------------------------------------------------------- */

/* Contradictions, by the room that is left, on the tighter side above all. */
static uint64_t score_of(const layout_reach *r, uint32_t body,
                         const layout_bar *bar) {
  const uint64_t above = (uint64_t)layout_reach_above(r, body, bar);
  const uint64_t below = (uint64_t)layout_reach_below(r, body, bar);
  const uint64_t less = above < below ? above : below;
  const uint64_t weight = 1 + (uint64_t)r->weight[body] + r->weight[bar->other];
  return (weight << 24) / (1 + less + above / 8 + below / 8);
}

/* To the side of the placement that is known, or where more room is. */
static int64_t first_side(const layout_decide *d, uint32_t body,
                          const layout_bar *bar) {
  if (d->guide)
    return d->guide[body] - d->guide[bar->other] >= bar->before ? 1 : -1;
  return layout_reach_above(&d->reach, body, bar) >
                 layout_reach_below(&d->reach, body, bar)
             ? 1
             : -1;
}

static bool choose_bar(const layout_decide *d, decide_frame *out) {
  const layout_reach *r = &d->reach;
  const layout_bars *b = r->bars;
  uint64_t best = 0;
  *out = (decide_frame){.bar = CALM_NONE};
  for (uint32_t body = 0; body < b->count; body++)
    for (uint32_t i = b->bar_begin[body]; i < b->bar_begin[body + 1]; i++) {
      const layout_bar *bar = &b->bars[i];
      if (bar->other < body || !layout_reach_open(r, body, i)) continue;
      const uint64_t score = score_of(r, body, bar);
      if (out->bar != CALM_NONE && score <= best) continue;
      best = score;
      out->body = body;
      out->bar = i;
    }
  if (out->bar == CALM_NONE) return false;
  out->side = first_side(d, out->body, &b->bars[out->bar]);
  return true;
}

static bool enter_frame(layout_decide *d, const decide_frame *f) {
  d->nodes++;
  layout_reach_choose(&d->reach, f->body, f->bar, f->side);
  return layout_reach_settle(&d->reach);
}

/* The latest choice whose other side is still to be tried, and possible. */
static bool backtrack(layout_decide *d) {
  while (d->frames.count) {
    decide_frame *f = &d->frames.data[d->frames.count - 1];
    layout_reach_undo(&d->reach, f->mark);
    if (f->turned) {
      d->frames.count--;
      continue;
    }
    f->turned = true;
    f->side = -f->side;
    if (enter_frame(d, f)) return true;
  }
  return false;
}

static calm_status search(layout_answer *out, layout_decide *d,
                          uint64_t until) {
  decide_frame f;
  limits *l = d->reach.l;
  while (choose_bar(d, &f)) {
    TRY(check_memory(d));
    if (l->ticks >= until ||
        limits_spend(l, d->reach.bars->bar_begin[d->reach.bars->count] / 16)) {
      *out = LAYOUT_UNDECIDED;
      return CALM_OK;
    }
    f.mark = layout_reach_mark(&d->reach);
    VECTOR_PUSH(l->context, &d->frames, f);
    if (!enter_frame(d, &f) && !backtrack(d)) {
      TRY(check_memory(d));
      *out = LAYOUT_FITS_NOT;
      return CALM_OK;
    }
  }
  *out = LAYOUT_FITS;
  return check_memory(d);
}

calm_status layout_decide_refutes(bool *out, layout_decide *d,
                                  int64_t arena_bytes) {
  *out = !layout_reach_reset(&d->reach, arena_bytes);
  return check_memory(d);
}

calm_status layout_decide_fits(layout_answer *out, layout_decide *d,
                               int64_t arena_bytes, uint64_t ticks) {
  const uint64_t start = d->reach.l->ticks;
  d->frames.count = 0;
  *out = LAYOUT_FITS_NOT;
  const bool possible = layout_reach_reset(&d->reach, arena_bytes) &&
                        probe_all(&d->reach, start + ticks / 2);
  TRY(check_memory(d));
  return possible ? search(out, d, start + ticks) : CALM_OK;
}
