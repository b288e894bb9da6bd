/*
 * States are left one move at a time, always from the one that looks best just
 * then.  What is best depends on how dear multiply-accumulates are, so several
 * prices take turns, the goal's own having most of them; and a state that was
 * often left without success falls behind others that are about as good.  So
 * the whole front grows, the part that the goal is about the fastest.
 */
#include "tile/tile_search.h"

#include <string.h>

#include "base/number.h"
#include "tile/tile_search_parts.h"

enum {
  PATIENCE = 256, /* a state that was left so often looks twice as bad */
  CHANCE = 4,     /* every so many moves, one is drawn by lot */
  NEGLECTED = 4   /* a state that was left no more often */
};

/* How many times its share of multiply-accumulates an extra one costs in bytes;
   in turns. */
static const uint32_t prices[] = {0, 2, 0, 16, 0, 4, 0, 64};
enum { PRICES = sizeof prices / sizeof *prices };

/* ---- Which state is best ------------------------------------------------- */

static const tile_score *untiled(const tile_searcher *s) {
  return &s->nodes.data[0].state.score;
}

static uint64_t extra_macs(const tile_searcher *s, const tile_score *score) {
  const uint64_t macs = untiled(s)->macs;
  return score->macs > macs ? score->macs - macs : 0;
}

/* bytes * part / whole, or as good as. */
static uint64_t share(uint64_t bytes, uint64_t part, uint64_t whole) {
  if (part == 0 || whole == 0) return 0;
  return (uint64_t)((double)bytes * ((double)part / (double)whole));
}

static bool is_allowed(const tile_searcher *s, const tile_score *score) {
  return score->macs <= s->goal->most_macs || score->macs <= untiled(s)->macs;
}

static uint64_t weigh(const tile_searcher *s, const tile_score *score,
                      uint32_t turn) {
  const uint64_t arena = tile_search_arena(s, score);
  const uint64_t extra = share(arena, extra_macs(s, score), untiled(s)->macs);
  if (s->goal->budget_bytes != UINT64_MAX && turn % 2 == 0)
    return arena <= s->goal->budget_bytes ? arena / 4 + 16 * extra : 2 * arena;
  return arena + prices[turn % PRICES] * extra;
}

/* May the state be left at all? */
static bool is_open(const tile_searcher *s, uint32_t index) {
  const tile_node *node = &s->nodes.data[index];
  if (!node->possible || (node->moves && node->move_count == 0)) return false;
  return index == 0 || is_allowed(s, &node->state.score);
}

/* The best state that was left `most_tries` times or less; CALM_NONE if all
   have been left in all ways. */
static uint32_t choose_best(const tile_searcher *s, uint32_t turn,
                            uint32_t most_tries) {
  uint64_t least = UINT64_MAX;
  uint32_t out = CALM_NONE;
  for (uint32_t i = 0; i < s->nodes.count; i++) {
    const tile_node *node = &s->nodes.data[i];
    if (node->tries > most_tries || !is_open(s, i)) continue;
    const uint64_t weight = weigh(s, &node->state.score, turn);
    const uint64_t value = weight + weight / PATIENCE * node->tries;
    if (value >= least) continue;
    least = value;
    out = i;
  }
  return out;
}

/* Around one good state there are hundreds about as good.  So that they do not
   keep all others from their turn, now and then it is the untiled graph's, or
   that of a state which was hardly ever left. */
static uint32_t choose(const tile_searcher *s, uint32_t turn) {
  uint32_t out = CALM_NONE;
  if (turn % 8 == 5 && is_open(s, 0)) return 0;
  if (turn % 8 == 7) out = choose_best(s, turn / 8, NEGLECTED);
  return out == CALM_NONE ? choose_best(s, turn, UINT32_MAX) : out;
}

/* ---- One move ------------------------------------------------------------ */

/* The next one of the list, or now and then any of it. */
static tile_move draw(tile_searcher *s, tile_node *node) {
  uint32_t index = 0;
  if (node->tries % CHANCE == CHANCE - 1)
    index = random_below(&s->random, node->move_count);
  const tile_move move = node->moves[index];
  node->move_count--;
  memmove(node->moves + index, node->moves + index + 1,
          (node->move_count - index) * sizeof *node->moves);
  node->tries++;
  return move;
}

static calm_status leave(tile_searcher *s, uint32_t index) {
  tile_region *regions;
  bool fresh = false;
  uint32_t made;
  if (!s->nodes.data[index].moves) TRY(tile_search_list_moves(s, index));
  while (!fresh && s->nodes.data[index].move_count) {
    tile_node *node = &s->nodes.data[index];
    const tile_move move = draw(s, node);
    ARENA_ARRAY(s->a, regions, node->state.count + MOST_MADE);
    const uint32_t count = tile_search_move(regions, &node->state, &move);
    TRY(tile_search_ask(&made, &fresh, s, regions, count));
  }
  return CALM_OK;
}

/* ---- The front ----------------------------------------------------------- */

/* Is `a` no worse than `b` in anything, and better in something or earlier? */
static bool dominates(const tile_searcher *s, uint32_t a, uint32_t b) {
  const tile_score *x = &s->nodes.data[a].state.score;
  const tile_score *y = &s->nodes.data[b].state.score;
  const uint64_t p = tile_search_arena(s, x), q = tile_search_arena(s, y);
  if (a == b || p > q || x->macs > y->macs || x->op_count > y->op_count)
    return false;
  return p < q || x->macs < y->macs || x->op_count < y->op_count || a < b;
}

static bool is_dominated(const tile_searcher *s, uint32_t node) {
  for (uint32_t i = 0; i < s->nodes.count; i++)
    if (s->nodes.data[i].possible && dominates(s, i, node)) return true;
  return false;
}

/* Ascending by arena, then by what it costs. */
static bool comes_before(const tile_searcher *s, const tile_state *a,
                         const tile_state *b) {
  const uint64_t p = tile_search_arena(s, &a->score);
  const uint64_t q = tile_search_arena(s, &b->score);
  if (p != q) return p < q;
  if (a->score.macs != b->score.macs) return a->score.macs < b->score.macs;
  return a->score.op_count < b->score.op_count;
}

static void insert(tile_choice *out, const tile_searcher *s,
                   const tile_state *state) {
  uint32_t at = out->front_count++;
  for (; at > 0 && comes_before(s, state, &out->front[at - 1]); at--)
    out->front[at] = out->front[at - 1];
  out->front[at] = *state;
}

static calm_status fill_front(tile_choice *out, const tile_searcher *s) {
  uint32_t count = 1;
  for (uint32_t i = 1; i < s->nodes.count; i++)
    count += s->nodes.data[i].possible && !is_dominated(s, i);
  ARENA_ARRAY(s->a, out->front, count);
  insert(out, s, &s->nodes.data[0].state);
  for (uint32_t i = 1; i < s->nodes.count; i++)
    if (s->nodes.data[i].possible && !is_dominated(s, i))
      insert(out, s, &s->nodes.data[i].state);
  return CALM_OK;
}

/* Is `a` what the goal asks for rather than `b`? */
static bool is_better(const tile_searcher *s, const tile_score *a,
                      const tile_score *b) {
  const uint64_t p = tile_search_arena(s, a), q = tile_search_arena(s, b);
  const uint64_t budget = s->goal->budget_bytes;
  if (is_allowed(s, a) != is_allowed(s, b)) return is_allowed(s, a);
  if (budget != UINT64_MAX && (p <= budget) != (q <= budget))
    return p <= budget;
  if (budget != UINT64_MAX && p <= budget && a->macs != b->macs)
    return a->macs < b->macs;
  if (p != q) return p < q;
  if (a->macs != b->macs) return a->macs < b->macs;
  return a->op_count < b->op_count;
}

static void choose_from_front(tile_choice *out, const tile_searcher *s) {
  for (uint32_t i = 1; i < out->front_count; i++)
    if (is_better(s, &out->front[i].score, &out->front[out->chosen].score))
      out->chosen = i;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status search(tile_choice *out, tile_searcher *s) {
  uint32_t start;
  bool fresh;
  TRY(tile_search_ask(&start, &fresh, s, NULL, 0));
  s->nodes.data[0].possible = true;
  for (uint32_t turn = 0; !limits_spend(s->l, 1); turn++) {
    const uint32_t node = choose(s, turn);
    if (node == CALM_NONE) break;
    TRY(leave(s, node));
  }
  TRY(fill_front(out, s));
  choose_from_front(out, s);
  out->judged = s->judged;
  out->stopped = s->l->reason;
  return CALM_OK;
}

calm_status tile_search(tile_choice *out, const graph *g,
                        const tile_judge *judge, const tile_goal *goal,
                        uint64_t seed, limits *l, arena *a) {
  tile_searcher s;
  tile_choice choice = {0};
  calm_status status = tile_search_init(&s, g, judge, goal, seed, l, a);
  if (status == CALM_OK) status = search(&choice, &s);
  tile_search_free(&s);
  if (status == CALM_OK) *out = choice;
  return status;
}
