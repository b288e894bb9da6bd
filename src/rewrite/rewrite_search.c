/*
 * Where kernels add into their output, a concat that disappears altogether is
 * never a loss: its operands stand in for it until its readers run, and the
 * moment at which both lie there is gone.  So all such concats are taken, and
 * one question tells what that comes to.
 *
 * Where additions need bytes of their own it can be a loss, by a lot, and no
 * site tells by itself: so sets are searched, from all sites and from none,
 * and where there are few sites, all sets.  Each question comes with the least
 * peak so far as its ceiling, which lets most answers be short.
 *
 * Equal peaks may have arenas that differ by a third, the smaller set often the
 * larger one.  So a few sets of least peak are planned to the end, those with
 * as many and with as few sites as possible among them, and none as well.
 */
#include <assert.h>
#include <string.h>

#include "rewrite/rewrite_search_sets.h"

enum {
  MOST_SITES_OF_ALL_SETS = 12, /* for all sets to be looked at */
  MOST_SITES_AT_ONCE = 64,     /* to be planned for their own sake */
  SURE_SCORES = 4,             /* sets planned to the end, whatever it takes */
  MOST_SCORES = 16
};

typedef struct selection {
  rewrite_searcher *s;
  uint64_t *none, *all, *closed; /* sets */
  uint32_t none_index;
  const char *proof;
  uint32_t scored[MOST_SCORES]; /* sets, and what they come to */
  rewrite_score scores[MOST_SCORES];
  uint32_t score_count;
  uint32_t winner; /* of the scores */
} selection;

static const search_set *best_of(const rewrite_searcher *s) {
  return &s->sets.data[s->best];
}

static uint64_t least_peak(const rewrite_searcher *s) {
  return best_of(s)->peak.peak_bytes;
}

/* ---- The ends ------------------------------------------------------------ */

static calm_status fill_ends(selection *c) {
  rewrite_searcher *s = c->s;
  TRY(search_empty_set(&c->none, s));
  TRY(search_empty_set(&c->all, s));
  TRY(search_empty_set(&c->closed, s));
  for (uint32_t i = 0; i < s->sites->count; i++) {
    const uint32_t group = s->sites->sites[i].group;
    if (!bits_has(s->choosable, i)) continue;
    bits_add(c->all, i);
    if (group != CALM_NONE && s->sites->closed[group]) bits_add(c->closed, i);
  }
  return CALM_OK;
}

/* Are all sites at once too much to plan, and not needed either? */
static bool is_large(const rewrite_searcher *s) {
  return bits_count(s->choosable, s->words) > MOST_SITES_AT_ONCE &&
         s->judge->critical && !s->judge->monotone;
}

static calm_status ask_ends(selection *c) {
  uint32_t set;
  TRY(search_ask(&c->none_index, c->s, c->none, UINT64_MAX));
  if (is_large(c->s)) return CALM_OK;
  TRY(search_ask(&set, c->s, c->all, UINT64_MAX));
  return search_ask(&set, c->s, c->closed, UINT64_MAX);
}

static bool is_exact(const search_set *set) {
  return set->peak.peak_bytes == set->peak.bound_bytes;
}

/* What is argued above, where it was computed. */
static void prove_monotone(selection *c) {
  const rewrite_searcher *s = c->s;
  if (!s->judge->monotone || !bits_equal(c->all, c->closed, s->words)) return;
  assert(!is_exact(&s->sets.data[c->none_index]) ||
         least_peak(s) <= s->sets.data[c->none_index].peak.peak_bytes);
  if (is_exact(best_of(s)))
    c->proof = "with all sites no concat is left, and kernels accumulate";
}

static void prove_floor(selection *c) {
  if (!c->proof && least_peak(c->s) <= c->s->judge->floor_bytes)
    c->proof = "an operator that no site changes needs as much";
}

/* ---- All sets ------------------------------------------------------------ */

static uint32_t count_scope(const rewrite_searcher *s) {
  return bits_count(s->scope, s->words);
}

/* The best set, but of the sites in scope those whose bits are set in `number`.
 */
static void spread(const rewrite_searcher *s, uint64_t *bits, uint32_t number) {
  memcpy(bits, best_of(s)->bits, s->words * sizeof *bits);
  for (uint32_t i = 0, k = 0; i < s->sites->count; i++) {
    if (!bits_has(s->scope, i)) continue;
    bits_remove(bits, i);
    if (number >> k++ & 1) bits_add(bits, i);
  }
}

/* Whatever is chosen outside the scope, inside it is one of these sets. */
static calm_status try_all_sets(selection *c) {
  rewrite_searcher *s = c->s;
  const uint64_t before = least_peak(s);
  uint64_t *bits;
  bool known = true;
  ARENA_ARRAY(s->a, bits, s->words);
  for (uint32_t i = 0; i < UINT32_C(1) << count_scope(s); i++) {
    uint32_t set;
    if (limits_spend(s->l, 1)) return CALM_OK;
    spread(s, bits, i);
    TRY(search_ask(&set, s, bits, least_peak(s)));
    if (s->sets.data[set].peak.bound_bytes < least_peak(s)) known = false;
  }
  if (known && least_peak(s) == before)
    c->proof = "all sets of the sites that matter to it were looked at";
  return CALM_OK;
}

/* ---- The least peak ------------------------------------------------------ */

/* Sites where the peak is now; *alone: nothing else decides it. */
static calm_status find_scope(bool *alone, selection *c) {
  rewrite_searcher *s = c->s;
  bool *scope;
  uint32_t set;
  *alone = true;
  if (!s->judge->critical) return CALM_OK;
  TRY(search_ask(&set, s, best_of(s)->bits, UINT64_MAX));
  ARENA_ARRAY(s->a, scope, s->sites->count);
  search_unpack(s->taken, s, best_of(s)->bits);
  TRY(s->judge->critical(scope, alone, s->judge->payload, s->taken,
                         least_peak(s)));
  search_set_scope(s, scope);
  return CALM_OK;
}

/* Take all sites where the peak is, as long as that lowers it. */
static calm_status grow(selection *c) {
  rewrite_searcher *s = c->s;
  uint64_t *grown, before;
  uint32_t set;
  bool alone;
  TRY(search_empty_set(&grown, s));
  do {
    before = least_peak(s);
    TRY(find_scope(&alone, c));
    for (uint32_t w = 0; w < s->words; w++)
      grown[w] = best_of(s)->bits[w] | s->scope[w];
    TRY(search_ask(&set, s, grown, before));
  } while (least_peak(s) < before && !limits_spend(s->l, 1));
  return CALM_OK;
}

/* The best set with all sites in scope, or with none of them. */
static calm_status walk_from_end(selection *c, const uint64_t *end,
                                 bool pairs) {
  rewrite_searcher *s = c->s;
  uint64_t *start;
  ARENA_ARRAY(s->a, start, s->words);
  for (uint32_t w = 0; w < s->words; w++)
    start[w] = (best_of(s)->bits[w] & ~s->scope[w]) | (end[w] & s->scope[w]);
  return search_walk(s, start, pairs);
}

/* The sites where the peak is, until it cannot be lowered there. */
static calm_status lower_peak(bool *again, selection *c) {
  rewrite_searcher *s = c->s;
  const uint64_t before = least_peak(s);
  bool alone;
  TRY(find_scope(&alone, c));
  const bool few = count_scope(s) <= MOST_SITES_OF_ALL_SETS;
  TRY(walk_from_end(c, c->all, !few));
  TRY(walk_from_end(c, c->none, !few));
  TRY(walk_from_end(c, c->closed, !few));
  *again = least_peak(s) < before;
  prove_floor(c);
  if (*again || !few || !alone || c->proof) return CALM_OK;
  TRY(try_all_sets(c));
  *again = least_peak(s) < before;
  return CALM_OK;
}

static calm_status find_least_peak(selection *c) {
  rewrite_searcher *s = c->s;
  TRY(ask_ends(c));
  if (count_scope(s) == 0 && is_exact(best_of(s)))
    c->proof = "there is nothing to choose";
  prove_monotone(c);
  prove_floor(c);
  if (is_large(s)) TRY(grow(c));
  for (bool again = true; again && !c->proof && !limits_spend(s->l, 1);)
    TRY(lower_peak(&again, c));
  search_set_scope(s, NULL);
  return CALM_OK;
}

/* ---- Planned to the end -------------------------------------------------- */

static bool is_less(const rewrite_score *a, const rewrite_score *b) {
  if (a->arena_bytes != b->arena_bytes) return a->arena_bytes < b->arena_bytes;
  if (a->peak_bytes != b->peak_bytes) return a->peak_bytes < b->peak_bytes;
  return a->op_count < b->op_count;
}

/* Plan a set to the end; *out is its score's index, MOST_SCORES if there were
   enough of them. */
static calm_status score_set(uint32_t *out, selection *c, uint32_t set) {
  rewrite_searcher *s = c->s;
  for (uint32_t i = 0; i < c->score_count; i++)
    if (c->scored[i] == set) {
      *out = i;
      return CALM_OK;
    }
  *out = MOST_SCORES;
  if (c->score_count == MOST_SCORES ||
      (c->score_count >= SURE_SCORES && limits_spend(s->l, 1)))
    return CALM_OK;
  search_unpack(s->taken, s, s->sets.data[set].bits);
  TRY(s->judge->score(&c->scores[c->score_count], s->judge->payload, s->taken));
  c->scored[c->score_count] = set;
  *out = c->score_count++;
  if (is_less(&c->scores[*out], &c->scores[c->winner])) c->winner = *out;
  return CALM_OK;
}

/* The set that the bits mean, and whether its peak is the least. */
static calm_status find_tie(uint32_t *out, bool *ties, rewrite_searcher *s,
                            const uint64_t *bits) {
  TRY(search_ask(out, s, bits, least_peak(s) + 1));
  *ties = s->sets.data[*out].peak.peak_bytes <= least_peak(s);
  return CALM_OK;
}

static calm_status keeps_peak(bool *out, rewrite_searcher *s,
                              const uint64_t *bits, void *payload) {
  uint32_t set;
  (void)payload;
  return find_tie(&set, out, s, bits);
}

static calm_status keeps_score(bool *out, rewrite_searcher *s,
                               const uint64_t *bits, void *payload) {
  selection *c = payload;
  uint32_t set, index;
  const rewrite_score least = c->scores[c->winner];
  TRY(find_tie(&set, out, s, bits));
  if (!*out) return CALM_OK;
  TRY(score_set(&index, c, set));
  *out = index < MOST_SCORES && !is_less(&least, &c->scores[index]);
  return CALM_OK;
}

static calm_status copy_set(uint64_t **out, const rewrite_searcher *s,
                            const uint64_t *bits) {
  ARENA_ARRAY(s->a, *out, s->words);
  memcpy(*out, bits, s->words * sizeof *bits);
  return CALM_OK;
}

/* Most often the sites that do not matter to the peak can go all at once. */
static calm_status drop_uncritical(selection *c, uint64_t *bits,
                                   search_test *keeps) {
  rewrite_searcher *s = c->s;
  uint64_t *rest;
  bool alone, holds;
  TRY(find_scope(&alone, c));
  TRY(copy_set(&rest, s, bits));
  for (uint32_t w = 0; w < s->words; w++) rest[w] &= s->scope[w] | s->always[w];
  search_set_scope(s, NULL);
  search_normalize(s, rest);
  if (bits_equal(rest, bits, s->words)) return CALM_OK;
  TRY(keeps(&holds, s, rest, c));
  if (holds) memcpy(bits, rest, s->words * sizeof *bits);
  return CALM_OK;
}

/* Fewer sites, as long as the peak stays the least, or the score. */
static calm_status score_smaller(selection *c, const uint64_t *bits,
                                 search_test *keeps) {
  rewrite_searcher *s = c->s;
  uint64_t *smaller;
  uint32_t set, index;
  if (limits_spend(s->l, 1)) return CALM_OK;
  TRY(copy_set(&smaller, s, bits));
  TRY(drop_uncritical(c, smaller, keeps));
  TRY(search_shrink(s, smaller, keeps, c));
  TRY(search_ask(&set, s, smaller, least_peak(s) + 1));
  return score_set(&index, c, set);
}

/* None comes first, so that nothing worse is ever chosen. */
static calm_status score_ends(selection *c) {
  const uint64_t *ends[] = {c->none, c->all, c->closed};
  const int count = is_large(c->s) ? 1 : 3;
  uint32_t set, index;
  for (int i = 0; i < count; i++) {
    TRY(search_ask(&set, c->s, ends[i], 0));
    TRY(score_set(&index, c, set));
  }
  return score_set(&index, c, c->s->best);
}

static calm_status find_least_score(selection *c) {
  rewrite_searcher *s = c->s;
  TRY(score_ends(c));
  TRY(score_smaller(c, best_of(s)->bits, keeps_peak));
  return score_smaller(c, s->sets.data[c->scored[c->winner]].bits, keeps_score);
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status select_sites(rewrite_choice *out, selection *c) {
  rewrite_searcher *s = c->s;
  TRY(fill_ends(c));
  TRY(search_list_moves(s));
  TRY(find_least_peak(c));
  TRY(find_least_score(c));
  const search_set *chosen = &s->sets.data[c->scored[c->winner]];
  search_unpack(out->taken, s, chosen->bits);
  out->score = c->scores[c->winner];
  out->proved = c->proof && out->score.peak_bytes <= least_peak(s);
  out->proof = out->proved ? c->proof : NULL;
  out->judged = s->judged;
  return CALM_OK;
}

calm_status rewrite_leave_effective(bool *taken, const rewrite_sites *sites,
                                    arena *a) {
  rewrite_searcher s;
  TRY(search_init(&s, sites, NULL, NULL, a));
  search_leave_effective(taken, &s);
  search_free(&s);
  return CALM_OK;
}

calm_status rewrite_search(rewrite_choice *out, const rewrite_sites *sites,
                           const rewrite_judge *judge, limits *l, arena *a) {
  rewrite_choice choice = {0};
  rewrite_searcher s;
  selection c = {.s = &s};
  arena scratch;
  ARENA_ARRAY(a, choice.taken, sites->count);
  arena_init(&scratch, a->context);
  calm_status status = search_init(&s, sites, judge, l, &scratch);
  if (status == CALM_OK) status = select_sites(&choice, &c);
  search_free(&s);
  arena_free(&scratch);
  if (status == CALM_OK) *out = choice;
  return status;
}
