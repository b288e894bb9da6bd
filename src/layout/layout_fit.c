#include "layout/layout_fit.h"

#include <stdlib.h>
#include <string.h>

/* ---- One body ------------------------------------------------------------ */

static int by_after(const void *left, const void *right) {
  const fit_taken *a = left, *b = right;
  if (a->after != b->after) return a->after < b->after ? -1 : 1;
  return (a->before > b->before) - (a->before < b->before);
}

enum { FEW_TAKEN = 24 };

static void sort_taken(fit_taken *taken, uint32_t count) {
  if (count > FEW_TAKEN) {
    qsort(taken, count, sizeof *taken, by_after);
    return;
  }
  for (uint32_t i = 1; i < count; i++) {
    const fit_taken one = taken[i];
    uint32_t at = i;
    for (; at > 0 && taken[at - 1].after > one.after; at--)
      taken[at] = taken[at - 1];
    taken[at] = one;
  }
}

static uint32_t collect_taken(layout_fit *f, uint32_t body) {
  const layout_bars *b = f->bars;
  const uint32_t rank = f->rank[body];
  uint32_t count = 0;
  for (uint32_t i = b->bar_begin[body]; i < b->bar_begin[body + 1]; i++) {
    const layout_bar *bar = &b->bars[i];
    if (f->rank[bar->other] >= rank) continue;
    const int64_t at = f->offset[bar->other];
    if (at + bar->before > 0)
      f->taken[count++] = (fit_taken){at + bar->after, at + bar->before};
  }
  limits_spend(
      f->l, 1 + (b->bar_begin[body + 1] - b->bar_begin[body]) / BARS_PER_TICK);
  return count;
}

static int64_t lowest_offset(layout_fit *f, uint32_t body) {
  const int64_t align = f->bars->align[body];
  const uint32_t count = collect_taken(f, body);
  int64_t offset = 0;
  sort_taken(f->taken, count);
  for (uint32_t i = 0; i < count && f->taken[i].after < offset; i++)
    if (f->taken[i].before > offset)
      offset = layout_round_up(f->taken[i].before, align);
  return offset;
}

/* ---- What follows -------------------------------------------------------- */

/* Those that come later may have to move, or may come down. */
static void mark_later(layout_fit *f, uint32_t body) {
  const layout_bars *b = f->bars;
  for (uint32_t i = b->bar_begin[body]; i < b->bar_begin[body + 1]; i++)
    if (f->rank[b->bars[i].other] > f->rank[body])
      f->stale[b->bars[i].other] = true;
}

/* Beyond `most` it is given up, with bodies left stale. */
static bool place_stale(layout_fit *f, uint32_t from, int64_t most) {
  for (uint32_t i = from; i < f->bars->count; i++) {
    const uint32_t body = f->order[i];
    if (!f->stale[body]) continue;
    f->stale[body] = false;
    const int64_t offset = lowest_offset(f, body);
    if (offset == f->offset[body]) continue;
    if (offset + f->bars->span[body] > most) return false;
    f->changes[f->change_count++] = (fit_change){body, f->offset[body]};
    f->offset[body] = offset;
    mark_later(f, body);
  }
  f->arena = layout_bars_arena(f->bars, f->offset);
  return f->arena <= most;
}

static void shift_order(layout_fit *f, uint32_t body, uint32_t place) {
  uint32_t at = f->rank[body];
  for (; at > place; at--) {
    f->order[at] = f->order[at - 1];
    f->rank[f->order[at]] = at;
  }
  for (; at < place; at++) {
    f->order[at] = f->order[at + 1];
    f->rank[f->order[at]] = at;
  }
  f->order[place] = body;
  f->rank[body] = place;
}

/* The body itself, and those that it has passed or that have passed it. */
static void mark_passed(layout_fit *f, uint32_t body, uint32_t old) {
  const layout_bars *b = f->bars;
  const uint32_t now = f->rank[body];
  const uint32_t low = old < now ? old : now, high = old < now ? now : old;
  for (uint32_t i = b->bar_begin[body]; i < b->bar_begin[body + 1]; i++) {
    const uint32_t rank = f->rank[b->bars[i].other];
    if (low <= rank && rank <= high) f->stale[b->bars[i].other] = true;
  }
  f->stale[body] = true;
}

bool layout_fit_move(layout_fit *f, uint32_t body, uint32_t place,
                     int64_t most) {
  const uint32_t old = f->rank[body];
  const int64_t arena = f->arena;
  f->change_count = 0;
  shift_order(f, body, place);
  mark_passed(f, body, old);
  limits_spend(f->l, 1);
  if (place_stale(f, old < place ? old : place, most)) return true;
  memset(f->stale, 0, f->bars->count * sizeof *f->stale);
  while (f->change_count > 0) {
    const fit_change *c = &f->changes[--f->change_count];
    f->offset[c->body] = c->offset;
  }
  shift_order(f, body, old);
  f->arena = arena;
  return false;
}

/* ---- Whole orders -------------------------------------------------------- */

typedef struct keyed {
  int64_t key;
  uint32_t body;
} keyed;

static int by_key(const void *left, const void *right) {
  const keyed *a = left, *b = right;
  if (a->key != b->key) return a->key > b->key ? -1 : 1;
  return (a->body < b->body) - (a->body > b->body);
}

/* The keys are sorted where changes are kept otherwise. */
_Static_assert(sizeof(keyed) == sizeof(fit_change), "they share their place");

void layout_fit_sorted(layout_fit *f, const int64_t *keys) {
  const layout_bars *b = f->bars;
  keyed *sorted = (void *)f->changes;
  uint32_t count = 0, next = 0;
  for (uint32_t i = 0; i < b->count; i++)
    if (b->fixed[i] < 0)
      sorted[count++] = (keyed){keys[i], i};
    else
      f->order[next++] = i;
  qsort(sorted, count, sizeof *sorted, by_key);
  for (uint32_t i = 0; i < count; i++) f->order[next++] = sorted[i].body;
  for (uint32_t i = 0; i < b->count; i++) f->rank[f->order[i]] = i;
  for (uint32_t i = f->first; i < b->count; i++)
    f->offset[f->order[i]] = lowest_offset(f, f->order[i]);
  f->arena = layout_bars_arena(b, f->offset);
}

calm_status layout_fit_make(layout_fit *out, const layout_bars *bars, arena *a,
                            limits *l) {
  uint32_t most = 0;
  layout_fit f = {.bars = bars, .l = l};
  for (uint32_t b = 0; b < bars->count; b++)
    if (bars->bar_begin[b + 1] - bars->bar_begin[b] > most)
      most = bars->bar_begin[b + 1] - bars->bar_begin[b];
  ARENA_ARRAY(a, f.order, bars->count);
  ARENA_ARRAY(a, f.rank, bars->count);
  ARENA_ARRAY(a, f.offset, bars->count);
  ARENA_ARRAY(a, f.stale, bars->count);
  ARENA_ARRAY(a, f.changes, bars->count);
  ARENA_ARRAY(a, f.taken, most);
  for (uint32_t b = 0; b < bars->count; b++)
    if (bars->fixed[b] >= 0) {
      f.offset[b] = bars->fixed[b];
      f.first++;
    }
  *out = f;
  return CALM_OK;
}

/* ---- What holds a body up ------------------------------------------------ */

uint32_t layout_fit_support(const layout_fit *f, uint32_t body, uint32_t pick) {
  const layout_bars *b = f->bars;
  uint32_t found = 0, first = CALM_NONE, chosen = CALM_NONE;
  if (f->offset[body] == 0) return CALM_NONE;
  for (int round = 0; round < 2; round++) {
    uint32_t seen = 0;
    for (uint32_t i = b->bar_begin[body]; i < b->bar_begin[body + 1]; i++) {
      const layout_bar *bar = &b->bars[i];
      const int64_t end = f->offset[bar->other] + bar->before;
      if (f->rank[bar->other] > f->rank[body] || end > f->offset[body] ||
          end + b->align[body] <= f->offset[body])
        continue;
      if (round == 0) {
        found++;
        if (first == CALM_NONE) first = bar->other;
      } else if (seen++ == pick % found) {
        chosen = bar->other;
      }
    }
    if (found < 2) return first;
  }
  return chosen;
}
