/*
 * The search among tilings, in parts: states that were judged
 * (tile_search_states.c), the front (tile_search_front.c), what a region is
 * likely to come to before anybody is asked (tile_search_guess.c), the moves
 * from a state (tile_search_moves.c), and who of the states comes next
 * (tile_search.c).  Private to the search.
 */
#ifndef CALM_TILE_TILE_SEARCH_PARTS_H
#define CALM_TILE_TILE_SEARCH_PARTS_H

#include "base/random.h"
#include "graph/graph_window.h"
#include "tile/tile_search.h"

enum {
  MOST_SPAN = 24,   /* operators of a region that the search makes */
  MOST_MOVES = 64,  /* that a state keeps, the most promising ones */
  MOST_FIRST = 384, /* likewise, of the untiled graph */
  MOST_MADE = 2     /* regions that a move makes */
};

/* Regions [at, at + removed) of a state make way for others. */
typedef struct tile_move {
  uint32_t at, removed;
  tile_region made[MOST_MADE];
  uint32_t made_count;
  uint64_t guess; /* bytes, with what else counts as bytes: less is better */
} tile_move;

/* A set of regions that was put to the judge. */
typedef struct tile_node {
  tile_state state;
  uint64_t hash;
  bool possible;
  bool kept;        /* among those that may be left */
  uint32_t tries;   /* moves made from here */
  tile_move *moves; /* NULL: not listed yet */
  uint32_t move_count;
} tile_node;

/* What is known of operators [first, last] as a region. */
typedef struct tile_span {
  bool looked, valid;
  uint32_t rows, columns;         /* of what it makes */
  uint64_t from_bytes, bytes;     /* of what it reads and makes */
  uint32_t best_rows[TILE_MODES]; /* of strips alone; 0: not looked at */
  uint64_t beside_bytes;          /* that live as long as it runs, and longer */
} tile_span;

/* The window of an operator, if it slides one. */
typedef struct tile_window {
  bool slides;
  graph_window window;
} tile_window;

typedef struct tile_searcher {
  const graph *g;
  const tile_judge *judge;
  const tile_goal *goal;
  limits *l;
  arena *a;
  random_state random;
  VECTOR(tile_node) nodes; /* the untiled graph is the first */
  uint32_t *slots;         /* open addressing: node + 1, or 0 */
  uint32_t slot_count, judged;
  VECTOR(uint32_t) open;  /* nodes that may be left */
  VECTOR(uint32_t) front; /* nodes that no other is better than in all */
  /* Of the graph: */
  uint32_t op_count;
  tile_span *spans;         /* [first * MOST_SPAN + last - first] */
  uint32_t *born, *dies;    /* per tensor: positions of its writer and of its
                               last reader, an output's is behind the last */
  uint64_t *working_bytes;  /* per position: what lives while it runs */
  uint64_t *macs;           /* per position */
  tile_window *windows;     /* per position */
  uint64_t *rows, *columns; /* room, per tensor: what a tile needs of it */
  uint64_t *reach; /* room, per position: the largest outside of all regions up
                      to here, and from here on */
  VECTOR(tile_move) moves; /* room */
} tile_searcher;

/* ---- tile_search_states.c ------------------------------------------------ */

calm_status tile_search_init(tile_searcher *s, const graph *g,
                             const tile_judge *judge, const tile_goal *goal,
                             uint64_t seed, limits *l, arena *a);
void tile_search_free(tile_searcher *s);

/* The node of a set of regions; *fresh: it was judged just now. */
calm_status tile_search_ask(uint32_t *out, bool *fresh, tile_searcher *s,
                            const tile_region *regions, uint32_t count);

/* The bytes that the goal is about. */
uint64_t tile_search_arena(const tile_searcher *s, const tile_score *score);

/* ---- tile_search_front.c ------------------------------------------------- */

/* Are so many multiply-accumulates allowed? */
bool tile_search_allows(const tile_searcher *s, const tile_score *score);

/* A node that was judged just now; the untiled graph always stays. */
calm_status tile_search_keep(tile_searcher *s, uint32_t node);

/* The front as a result, and its state that the goal asks for. */
calm_status tile_search_front(tile_choice *out, const tile_searcher *s);

/* ---- tile_search_guess.c ------------------------------------------------- */

/* Look at the graph once. */
calm_status tile_search_measure(tile_searcher *s);

/* NULL: no region is there. */
const tile_span *tile_search_span(tile_searcher *s, uint32_t first,
                                  uint32_t last);

/* What a region is likely to come to. */
typedef struct tile_guess {
  uint64_t bytes; /* of head, while it runs */
  uint64_t extra_macs;
  uint32_t operators; /* of all tiles */
} tile_guess;
tile_guess tile_search_guess(tile_searcher *s, const tile_region *region);

/* ---- tile_search_pairs.c ------------------------------------------------- */

/* Where moves are being listed. */
typedef struct tile_listing {
  tile_searcher *s;
  const tile_state *from;
  uint64_t *others; /* per region: what it is likely to need */
  uint64_t scale;   /* of working sets to what the judge finds, in 1/1024 */
} tile_listing;

/* A region of a state cut in two anywhere, each half with tiles of its own. */
calm_status tile_search_split(tile_listing *l, uint32_t at);

/* Two regions side by side around a position of the untiled graph. */
calm_status tile_search_pairs(tile_listing *l, uint32_t position);

/* ---- tile_search_moves.c ------------------------------------------------- */

/* The moves from a node, the most promising first, into its list. */
calm_status tile_search_list_moves(tile_searcher *s, uint32_t node);

/* A move for the list, if it is one at all. */
calm_status tile_search_offer(tile_listing *l, tile_move m);

/* Of the moves from number `begin` on the most promising few, or the list would
   be full of moves that are much alike. */
void tile_search_keep_best(tile_listing *l, uint32_t begin, uint32_t most);

/* The regions of a node after a move; `out` has room for MOST_MADE more. */
uint32_t tile_search_move(tile_region *out, const tile_state *from,
                          const tile_move *move);

#endif
