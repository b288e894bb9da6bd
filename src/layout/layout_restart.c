/* Four orders of bodies, with and without weights of sections: eight streams
   that take turns, each with a Luby sequence of its own. */
#include "layout/layout_restart.h"

#include "layout/layout_logarithm.h"

enum { ORDERS = 4, STREAMS = 2 * ORDERS };

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...: Luby, Sinclair and Zuckerman 1993. */
static uint64_t luby(uint64_t i) {
  uint64_t size = 1, level = 0;
  for (; size < i + 1; size = 2 * size + 1) level++;
  while (size - 1 != i) {
    size = (size - 1) / 2;
    level--;
    i %= size;
  }
  return UINT64_C(1) << level;
}

/* What an order prefers, as a logarithm: the area, the length, the size, or
   mostly the size. */
static int64_t preference(const strip_body *body, uint32_t order) {
  int64_t length =
      layout_logarithm((uint64_t)(body->cell_end - body->cell_begin));
  int64_t size = layout_logarithm((uint64_t)body->size);
  switch (order) {
    case 0: return layout_logarithm((uint64_t)body->total);
    case 1: return length;
    case 2: return size;
    default: return length / 2 + size;
  }
}

/* 16 random bits as a fraction of 65536. */
static int64_t draw(layout_search *s) {
  return (int64_t)random_below(&s->random, 65536);
}

/* Noise of a strength that is drawn anew for each restart: 0.14 + 1.7 u^2. */
static void score_bodies(layout_search *s, uint32_t order, bool noisy) {
  int64_t u = draw(s), strength = 9455 + 113459 * (u * u / 65536) / 65536;
  for (uint32_t b = 0; b < s->strip->body_count; b++) {
    s->score[b] = preference(&s->strip->bodies[b], order);
    int64_t noise = draw(s) + draw(s) + draw(s) - 98304;
    if (noisy) s->score[b] += noise * strength / 65536;
  }
}

/* The base is more than one dive takes. */
uint64_t layout_restart_begin(layout_search *s) {
  uint32_t stream = s->restarts % STREAMS, turn = s->restarts / STREAMS;
  s->weighted = stream >= ORDERS;
  score_bodies(s, stream % ORDERS, turn > 0 || stream > 0);
  s->restarts++;
  return (2 * (uint64_t)s->strip->body_count + 10) * luby(turn);
}
