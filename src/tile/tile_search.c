/*
 * States are left one move at a time, always from the one that looks best just
 * then.  What is best depends on how dear multiply-accumulates are, so several
 * prices take turns, the goal's own having most of them; and a state that was
 * often left without success falls behind others that are about as good.  So
 * the whole front grows, the part that the goal is about the fastest.
 */
#include "tile/tile_search.h"

#include <string.h>

#include "base/select.h"
#include "tile/tile_search_parts.h"

enum {
  MOST_OPEN = 2048, /* states that may be left */
  KEPT = 160,       /* of these for each price, when there are too many */
  PATIENCE = 256,   /* a state that was left so often looks twice as bad */
  CHANCE = 4,       /* every so many moves, one is drawn by lot */
  NEGLECTED = 4     /* a state that was left no more often */
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
  return index == 0 || tile_search_allows(s, &node->state.score);
}

static uint64_t value_of(const tile_searcher *s, uint32_t index,
                         uint32_t turn) {
  const tile_node *node = &s->nodes.data[index];
  const uint64_t weight = weigh(s, &node->state.score, turn);
  return weight + weight / PATIENCE * node->tries;
}

/* The best state that was left `most_tries` times or less; CALM_NONE if all
   have been left in all ways. */
static uint32_t choose_best(const tile_searcher *s, uint32_t turn,
                            uint32_t most_tries) {
  uint64_t least = UINT64_MAX;
  uint32_t out = CALM_NONE;
  for (uint32_t i = 0; i < s->open.count; i++) {
    const uint32_t node = s->open.data[i];
    if (s->nodes.data[node].tries > most_tries || !is_open(s, node)) continue;
    const uint64_t value = value_of(s, node, turn);
    if (value >= least) continue;
    least = value;
    out = node;
  }
  return out;
}

/* A view of the searcher at the prices of one turn. */
typedef struct ranking {
  const tile_searcher *s;
  uint32_t turn;
} ranking;

static bool ranks_before(const void *payload, uint32_t a, uint32_t b) {
  const ranking *r = payload;
  const uint64_t x = value_of(r->s, a, r->turn), y = value_of(r->s, b, r->turn);
  return x != y ? x < y : a < b;
}

static void drop_closed(tile_searcher *s) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->open.count; i++)
    if (is_open(s, s->open.data[i])) s->open.data[kept++] = s->open.data[i];
  s->open.count = kept;
}

/* Of very many states only those have a chance that are good at some price; the
   untiled graph always has. */
static void forget_hopeless(tile_searcher *s) {
  uint32_t kept = 0;
  if (s->open.count < MOST_OPEN) return;
  drop_closed(s);
  if (s->open.count < MOST_OPEN / 2) return;
  for (uint32_t i = 0; i < s->open.count; i++)
    s->nodes.data[s->open.data[i]].kept = s->open.data[i] == 0;
  for (uint32_t turn = 0; turn < PRICES; turn++) {
    const ranking r = {s, turn};
    select_best(s->open.data, s->open.count, KEPT, ranks_before, &r);
    for (uint32_t i = 0; i < KEPT; i++)
      s->nodes.data[s->open.data[i]].kept = true;
  }
  for (uint32_t i = 0; i < s->open.count; i++)
    if (s->nodes.data[s->open.data[i]].kept)
      s->open.data[kept++] = s->open.data[i];
  s->open.count = kept;
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
    if (fresh) VECTOR_PUSH(s->a->context, &s->open, made);
  }
  forget_hopeless(s);
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status search(tile_choice *out, tile_searcher *s) {
  uint32_t start;
  bool fresh;
  TRY(tile_search_ask(&start, &fresh, s, NULL, 0));
  VECTOR_PUSH(s->a->context, &s->open, start);
  for (uint32_t turn = 0; !limits_spend(s->l, 1); turn++) {
    const uint32_t node = choose(s, turn);
    if (node == CALM_NONE) break;
    TRY(leave(s, node));
  }
  TRY(tile_search_front(out, s));
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
