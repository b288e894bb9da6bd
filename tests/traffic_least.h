/*
 * The least bytes of spills of a sequence, whole buffers only, for problems too
 * large to try every choice.  The walk through the steps remembers every
 * different situation: what is on chip, what of it has a copy off chip, and the
 * cheapest way to get there.  It lets go as late as possible and no more than
 * it has to; keeping more is never worse, as it can be let go later.
 */
#ifndef CALM_TESTS_TRAFFIC_LEAST_H
#define CALM_TESTS_TRAFFIC_LEAST_H

#include "traffic_random.h"

enum { TRAFFIC_LEAST_BUFFERS = 64 };

typedef struct traffic_situation {
  uint64_t on_chip, copied; /* sets of buffers that are needed again */
  uint64_t spills;
} traffic_situation;

typedef struct traffic_least {
  traffic_referee *f; /* needs, sizes and gaps */
  traffic_situation *now, *next;
  size_t now_count, next_count, room, most;
  bool too_many;
} traffic_least;

static inline void traffic_least_push(traffic_least *l, traffic_situation x) {
  if (l->next_count == l->room) {
    l->room = l->room ? 2 * l->room : 64;
    l->next = realloc(l->next, l->room * sizeof *l->next);
    l->now = realloc(l->now, l->room * sizeof *l->now);
    if (!l->next || !l->now) abort();
  }
  l->next[l->next_count++] = x;
}

static inline int traffic_least_compare(const void *left, const void *right) {
  const traffic_situation *a = left, *b = right;
  if (a->on_chip != b->on_chip) return a->on_chip < b->on_chip ? -1 : 1;
  if (a->copied != b->copied) return a->copied < b->copied ? -1 : 1;
  return (a->spills > b->spills) - (a->spills < b->spills);
}

/* The next situations become those of now, each once, the cheapest one. */
static inline void traffic_least_turn(traffic_least *l) {
  traffic_situation *old = l->now;
  if (l->next_count)
    qsort(l->next, l->next_count, sizeof *l->next, traffic_least_compare);
  size_t kept = 0;
  for (size_t i = 0; i < l->next_count; i++)
    if (!kept || l->next[kept - 1].on_chip != l->next[i].on_chip ||
        l->next[kept - 1].copied != l->next[i].copied)
      l->next[kept++] = l->next[i];
  l->now = l->next;
  l->now_count = kept;
  l->next = old;
  l->next_count = 0;
  if (kept > l->most) l->too_many = true;
}

/* Every set that fits and to which nothing can be added. */
static inline void traffic_least_stay(traffic_least *l, traffic_situation x,
                                      uint64_t room) {
  uint32_t members[TRAFFIC_LEAST_BUFFERS], count = 0;
  for (uint32_t b = 0; b < l->f->c->order.buffer_count; b++)
    if (x.on_chip >> b & 1) members[count++] = b;
  uint64_t total = 0;
  for (uint32_t i = 0; i < count; i++) total += l->f->bytes[members[i]];
  if (total <= room) {
    traffic_least_push(l, x);
    return;
  }
  if (count > 20) {
    l->too_many = true;
    return;
  }
  for (uint32_t set = 0; set < UINT32_C(1) << count; set++) {
    uint64_t sum = 0, smallest = UINT64_MAX;
    traffic_situation y = {0, x.copied, x.spills};
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t b = members[i];
      const uint64_t bytes = l->f->bytes[b];
      if (set >> i & 1) {
        sum += bytes;
        y.on_chip |= UINT64_C(1) << b;
      } else {
        if (bytes < smallest) smallest = bytes;
        y.spills += bytes; /* it will be read */
        if (!(y.copied >> b & 1)) y.spills += bytes;
        y.copied |= UINT64_C(1) << b;
      }
    }
    if (sum <= room && smallest > room - sum) traffic_least_push(l, y);
  }
}

/* What the touch of a buffer at this step leaves behind. */
static inline void traffic_least_touch(const traffic_least *l,
                                       traffic_situation *x, uint32_t b,
                                       uint32_t step) {
  const traffic_referee *f = l->f;
  const order_buffer *buffer = &f->c->order.buffers[b];
  const uint32_t n = f->c->order.op_count;
  const uint64_t bit = UINT64_C(1) << b;
  const bool first = !traffic_referee_used(f, b, 0, step);
  if (first && buffer->pinned_start) x->copied |= bit;
  if (traffic_referee_writes(f, b, step, first)) {
    bool later = false;
    for (uint32_t s = step + 1; s < n; s++)
      later = later || (traffic_referee_touches(f, b, s) &&
                        traffic_referee_writes(f, b, s, false));
    x->copied &= ~bit;
    if (buffer->pinned_end && !later) x->copied |= bit;
  }
  x->on_chip |= bit;
  if (traffic_referee_used(f, b, step + 1, n)) return;
  x->on_chip &= ~bit;
  x->copied &= ~bit;
}

static inline void traffic_least_step(traffic_least *l, uint32_t step) {
  const traffic_referee *f = l->f;
  const uint32_t buffers = f->c->order.buffer_count;
  const bool streams = f->need[step] > f->memory;
  uint64_t touched = 0;
  for (uint32_t b = 0; b < buffers; b++)
    if (traffic_referee_touches(f, b, step)) touched |= UINT64_C(1) << b;
  for (size_t i = 0; i < l->now_count && !streams; i++) {
    traffic_situation x = l->now[i];
    x.on_chip &= ~touched;
    traffic_least_stay(l, x, f->memory - f->need[step]);
  }
  if (!streams) traffic_least_turn(l);
  for (size_t i = 0; i < l->now_count; i++) {
    traffic_situation x = l->now[i];
    for (uint32_t b = 0; b < buffers; b++)
      if (touched >> b & 1) traffic_least_touch(l, &x, b, step);
    if (streams)
      traffic_least_stay(l, x, f->memory);
    else
      traffic_least_push(l, x);
  }
  traffic_least_turn(l);
}

/* UINT64_MAX if there are more than `most` situations at any step, or more
   buffers than a set holds. */
static inline uint64_t traffic_least_spills(const traffic_case *c,
                                            const traffic_memory *memory,
                                            size_t most) {
  static traffic_referee f;
  traffic_least l = {.f = &f, .most = most};
  if (c->order.buffer_count > TRAFFIC_LEAST_BUFFERS) return UINT64_MAX;
  traffic_referee_begin(&f, c, memory);
  traffic_least_push(&l, (traffic_situation){0});
  traffic_least_turn(&l);
  for (uint32_t s = 0; s < c->order.op_count && !l.too_many; s++)
    traffic_least_step(&l, s);
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < l.now_count && !l.too_many; i++)
    if (l.now[i].spills < least) least = l.now[i].spills;
  free(l.now);
  free(l.next);
  return least;
}

#endif
