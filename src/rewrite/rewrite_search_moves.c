/*
 * Walking over sets of sites.  One site at a time does not get far: a concat is
 * only gone when all its readers are rewritten, and what lies behind an
 * operator above a concat helps only together with it.  So sites are also
 * switched in bunches that belong together, and where that is not enough, two
 * bunches at once (measured against all subsets of random graphs, this finds
 * the least peak of each).
 */
#include <string.h>

#include "rewrite/rewrite_search_sets.h"

enum { MOST_PAIRED_MOVES = 48 };

/* ---- Moves --------------------------------------------------------------- */

static calm_status add_move(rewrite_searcher *s, const uint64_t *bits) {
  uint64_t *copy, any = 0;
  for (uint32_t w = 0; w < s->words; w++) any |= bits[w] & s->choosable[w];
  if (!any) return CALM_OK;
  ARENA_ARRAY(s->a, copy, s->words);
  for (uint32_t w = 0; w < s->words; w++) copy[w] = bits[w] & s->choosable[w];
  for (uint32_t i = 0; i < s->moves.count; i++)
    if (bits_equal(s->moves.data[i], copy, s->words)) return CALM_OK;
  VECTOR_PUSH(s->a->context, &s->moves, copy);
  return CALM_OK;
}

/* Add to a set all that its members open; sites come after their openers. */
static void add_opened(const rewrite_searcher *s, uint64_t *bits) {
  for (uint32_t i = 0; i < s->sites->count; i++)
    for (uint32_t k = s->opener_begin[i]; k < s->opener_begin[i + 1]; k++)
      if (bits_has(bits, s->openers[k])) bits_add(bits, i);
}

static void add_openers(const rewrite_searcher *s, uint64_t *bits) {
  for (uint32_t i = s->sites->count; i-- > 0;)
    for (uint32_t k = s->opener_begin[i];
         bits_has(bits, i) && k < s->opener_begin[i + 1]; k++)
      bits_add(bits, s->openers[k]);
}

static calm_status add_moves_of(rewrite_searcher *s, uint32_t site) {
  const rewrite_site *sites = s->sites->sites;
  const size_t bytes = s->words * sizeof *s->room;
  memset(s->room, 0, bytes);
  bits_add(s->room, site);
  TRY(add_move(s, s->room));
  add_opened(s, s->room);
  TRY(add_move(s, s->room));
  add_openers(s, s->room);
  TRY(add_move(s, s->room));
  memset(s->room, 0, bytes);
  for (uint32_t i = 0; i < s->sites->count; i++)
    if (i == site || (sites[i].concat == sites[site].concat &&
                      sites[site].concat != CALM_NONE))
      bits_add(s->room, i);
  TRY(add_move(s, s->room));
  add_opened(s, s->room);
  return add_move(s, s->room);
}

static calm_status add_group(rewrite_searcher *s, uint32_t group) {
  memset(s->room, 0, s->words * sizeof *s->room);
  for (uint32_t i = 0; i < s->sites->count; i++)
    if (s->sites->sites[i].group == group) bits_add(s->room, i);
  return add_move(s, s->room);
}

calm_status search_list_moves(rewrite_searcher *s) {
  for (uint32_t group = 0; group < s->sites->group_count; group++)
    TRY(add_group(s, group));
  for (uint32_t i = 0; i < s->sites->count; i++)
    if (bits_has(s->choosable, i)) TRY(add_moves_of(s, i));
  return CALM_OK;
}

/* ---- Walking ------------------------------------------------------------- */

/* Move m, on or off: 2 m and 2 m + 1. */
static void switch_sites(const rewrite_searcher *s, uint64_t *bits,
                         uint32_t step) {
  for (uint32_t w = 0; w < s->words; w++) {
    const uint64_t move = s->moves.data[step / 2][w] & s->scope[w];
    bits[w] = step % 2 ? bits[w] & ~move : bits[w] | move;
  }
}

typedef struct walk {
  rewrite_searcher *s;
  uint64_t *now, *next; /* sets */
  uint64_t peak;        /* of `now` */
} walk;

/* Go to `next` if its peak is lower. */
static calm_status try_next(bool *out, walk *w) {
  rewrite_searcher *s = w->s;
  uint32_t set;
  *out = false;
  search_normalize(s, w->next);
  if (bits_equal(w->next, w->now, s->words)) return CALM_OK;
  TRY(search_ask(&set, s, w->next, w->peak));
  if (s->sets.data[set].peak.peak_bytes >= w->peak) return CALM_OK;
  w->peak = s->sets.data[set].peak.peak_bytes;
  memcpy(w->now, s->sets.data[set].bits, s->words * sizeof *w->now);
  *out = true;
  return CALM_OK;
}

static bool is_spent(rewrite_searcher *s) { return limits_spend(s->l, 1); }

/* Steps until a whole round of them has not helped. */
static calm_status walk_singly(walk *w) {
  rewrite_searcher *s = w->s;
  const uint32_t steps = 2 * s->moves.count;
  uint32_t idle = 0;
  for (uint32_t step = 0; idle < steps && !is_spent(s);
       step = (step + 1) % steps) {
    bool moved;
    memcpy(w->next, w->now, s->words * sizeof *w->now);
    switch_sites(s, w->next, step);
    TRY(try_next(&moved, w));
    idle = moved ? 0 : idle + 1;
  }
  return CALM_OK;
}

static calm_status try_pairs(bool *out, walk *w) {
  rewrite_searcher *s = w->s;
  const uint32_t steps = 2 * s->moves.count;
  *out = false;
  for (uint32_t a = 0; a < steps; a++)
    for (uint32_t b = a + 1; b < steps; b++) {
      if (is_spent(s)) return CALM_OK;
      memcpy(w->next, w->now, s->words * sizeof *w->now);
      switch_sites(s, w->next, a);
      switch_sites(s, w->next, b);
      TRY(try_next(out, w));
      if (*out) return CALM_OK;
    }
  return CALM_OK;
}

calm_status search_walk(rewrite_searcher *s, const uint64_t *start,
                        bool pairs) {
  walk w = {.s = s};
  uint32_t set;
  bool moved = true;
  ARENA_ARRAY(s->a, w.now, s->words);
  ARENA_ARRAY(s->a, w.next, s->words);
  TRY(search_ask(&set, s, start, UINT64_MAX));
  memcpy(w.now, s->sets.data[set].bits, s->words * sizeof *w.now);
  w.peak = s->sets.data[set].peak.peak_bytes;
  while (moved && s->moves.count) {
    TRY(walk_singly(&w));
    moved = false;
    if (pairs && s->moves.count <= MOST_PAIRED_MOVES)
      TRY(try_pairs(&moved, &w));
  }
  return CALM_OK;
}

/* ---- Shrinking ----------------------------------------------------------- */

static uint32_t count_common(const rewrite_searcher *s, const uint64_t *a,
                             const uint64_t *b) {
  uint32_t count = 0;
  for (uint32_t w = 0; w < s->words; w++) count += bits_count_word(a[w] & b[w]);
  return count;
}

/* Take `chunk` out of the set if the test holds of the rest. */
static calm_status drop(rewrite_searcher *s, uint64_t *bits,
                        const uint64_t *chunk, uint64_t *rest,
                        search_test *keeps, void *payload) {
  bool holds;
  for (uint32_t w = 0; w < s->words; w++) rest[w] = bits[w] & ~chunk[w];
  search_normalize(s, rest);
  if (bits_equal(rest, bits, s->words)) return CALM_OK;
  TRY(keeps(&holds, s, rest, payload));
  if (holds) memcpy(bits, rest, s->words * sizeof *bits);
  return CALM_OK;
}

/* Sites `from` to `past`, in the order of the graph. */
static void fill_range(const rewrite_searcher *s, uint64_t *chunk,
                       uint32_t from, uint32_t past) {
  memset(chunk, 0, s->words * sizeof *chunk);
  for (uint32_t i = from; i < past && i < s->sites->count; i++)
    bits_add(chunk, i);
}

/* Halves, quarters, ... of all sites first: where few sites matter among many,
   that takes few questions. */
static calm_status drop_ranges(rewrite_searcher *s, uint64_t *bits,
                               uint64_t *chunk, uint64_t *rest,
                               search_test *keeps, void *payload) {
  for (uint32_t size = (s->sites->count + 1) / 2; size > 4;
       size = (size + 1) / 2)
    for (uint32_t from = 0; from < s->sites->count; from += size) {
      if (is_spent(s)) return CALM_OK;
      fill_range(s, chunk, from, from + size);
      if (count_common(s, chunk, bits))
        TRY(drop(s, bits, chunk, rest, keeps, payload));
    }
  return CALM_OK;
}

calm_status search_shrink(rewrite_searcher *s, uint64_t *bits,
                          search_test *keeps, void *payload) {
  uint64_t *rest, *chunk;
  ARENA_ARRAY(s->a, rest, s->words);
  ARENA_ARRAY(s->a, chunk, s->words);
  TRY(drop_ranges(s, bits, chunk, rest, keeps, payload));
  for (uint32_t i = 0; i < s->moves.count; i++) {
    if (is_spent(s)) return CALM_OK;
    if (count_common(s, s->moves.data[i], bits))
      TRY(drop(s, bits, s->moves.data[i], rest, keeps, payload));
  }
  return CALM_OK;
}
