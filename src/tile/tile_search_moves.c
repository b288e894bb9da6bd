/*
 * The moves from a set of regions.  The head can only fall where its bound is
 * set, so most of them change what happens at that operator: a new region
 * around it, other ends, other tiles or another mode of the one it is in, that
 * one cut in two or joined with the next.  What the other regions need not do
 * is looked at as well, for tiles cost operators and multiply-accumulates.
 * Moves come in the order of what they are guessed to come to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "tile/tile_search_parts.h"

enum {
  REACH = 9,           /* how far from the operator a new region ends */
  SHIFT = 4,           /* how far ends move */
  OPERATOR_BYTES = 110 /* of tail, about, for each operator */
};

/* Tiles that a new region begins with. */
static const uint32_t first_tiles[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20};
static const uint32_t first_grids[] = {2, 3, 4, 6};

typedef tile_listing listing;

/* ---- What stands still --------------------------------------------------- */

static const tile_region *region_at(const tile_state *state, uint32_t position,
                                    uint32_t *index) {
  for (uint32_t i = 0; i < state->count; i++)
    if (position <= state->regions[i].last) {
      *index = i;
      return position >= state->regions[i].first ? &state->regions[i] : NULL;
    }
  *index = state->count;
  return NULL;
}

static uint64_t outside_bytes(const tile_searcher *s, const tile_state *state,
                              uint32_t position) {
  uint32_t index;
  return region_at(state, position, &index) ? 0 : s->working_bytes[position];
}

/* reach[i]: outside of regions, up to position i - 1; behind it, from i on. */
static void measure_outside(listing *l) {
  tile_searcher *s = l->s;
  uint64_t *before = s->reach, *behind = s->reach + s->op_count + 1;
  before[0] = behind[s->op_count] = 0;
  for (uint32_t i = 0; i < s->op_count; i++)
    before[i + 1] = number_larger(before[i], outside_bytes(s, l->from, i));
  for (uint32_t i = s->op_count; i-- > 0;)
    behind[i] = number_larger(behind[i + 1], outside_bytes(s, l->from, i));
}

static calm_status measure_regions(listing *l) {
  const uint32_t count = l->from->count;
  ARENA_ARRAY(l->s->a, l->others, count);
  for (uint32_t i = 0; i < count; i++)
    l->others[i] = tile_search_guess(l->s, &l->from->regions[i]).bytes;
  return CALM_OK;
}

/* A working set counts an operator's input and output in full, which overlap
   may make less: by as much as for the graph as it is. */
static void measure_scale(listing *l) {
  const tile_searcher *s = l->s;
  uint64_t most = 1;
  for (uint32_t i = 0; i < s->op_count; i++)
    most = number_larger(most, s->working_bytes[i]);
  const uint64_t head = s->nodes.data[0].state.score.head_bytes;
  l->scale =
      head < most ? (uint64_t)((double)head / (double)most * 1024) : 1024;
}

static uint64_t scaled(const listing *l, uint64_t bytes) {
  return bytes / 1024 * l->scale + bytes % 1024 * l->scale / 1024;
}

/* The most that is needed where a move changes nothing. */
static uint64_t rest_bytes(const listing *l, const tile_move *m) {
  const tile_searcher *s = l->s;
  const uint64_t *before = s->reach, *behind = s->reach + s->op_count + 1;
  uint32_t first = s->op_count, last = 0;
  for (uint32_t i = 0; i < m->made_count; i++) {
    if (m->made[i].first < first) first = m->made[i].first;
    if (m->made[i].last > last) last = m->made[i].last;
  }
  if (m->made_count == 0) return behind[0];
  uint64_t most = number_larger(before[first], behind[last + 1]);
  most = scaled(l, most);
  for (uint32_t i = 0; i < l->from->count; i++)
    if (i < m->at || i >= m->at + m->removed)
      most = number_larger(most, l->others[i]);
  return most;
}

/* Operators between regions that a move leaves without one. */
static uint64_t bared_bytes(const listing *l, const tile_move *m) {
  uint64_t most = 0;
  for (uint32_t i = m->at; i < m->at + m->removed; i++)
    for (uint32_t p = l->from->regions[i].first; p <= l->from->regions[i].last;
         p++) {
      bool covered = false;
      for (uint32_t k = 0; k < m->made_count; k++)
        covered |= p >= m->made[k].first && p <= m->made[k].last;
      if (!covered) most = number_larger(most, l->s->working_bytes[p]);
    }
  return scaled(l, most);
}

/* ---- Guesses ------------------------------------------------------------- */

/* Tiles beyond what may be computed go to the end of the list. */
static uint64_t price(const listing *l, uint64_t bytes, uint64_t extra_macs,
                      uint64_t operators) {
  const tile_searcher *s = l->s;
  const uint64_t macs = s->nodes.data[0].state.score.macs;
  const bool tail = !s->goal->head && s->nodes.data[0].state.score.tail_bytes;
  uint64_t out = bytes + operators * (tail ? OPERATOR_BYTES : 1);
  if (macs)
    out += (uint64_t)((double)bytes * (double)extra_macs / (double)macs);
  if (s->goal->most_macs != UINT64_MAX &&
      macs + extra_macs > s->goal->most_macs)
    out += UINT64_C(1) << 60;
  return out;
}

static uint64_t guess_move(const listing *l, const tile_move *m) {
  uint64_t bytes = number_larger(rest_bytes(l, m), bared_bytes(l, m));
  uint64_t extra = 0, operators = 0;
  for (uint32_t i = 0; i < m->made_count; i++) {
    const tile_guess g = tile_search_guess(l->s, &m->made[i]);
    bytes = number_larger(bytes, g.bytes);
    extra += g.extra_macs;
    operators += g.operators;
  }
  return price(l, bytes, extra, operators);
}

/* ---- Which are moves at all ---------------------------------------------- */

static bool is_possible(listing *l, const tile_region *r) {
  const tile_span *span = tile_search_span(l->s, r->first, r->last);
  if (!span || r->rows < 1 || r->columns < 1 || r->rows * r->columns < 2 ||
      r->rows > span->rows || r->columns > span->columns)
    return false;
  return r->mode == TILE_PAD || r->columns == 1;
}

/* Positions that regions of a move may have. */
static bool has_room(const listing *l, const tile_move *m) {
  const tile_state *from = l->from;
  const uint32_t lowest = m->at ? from->regions[m->at - 1].last + 1 : 0;
  const uint32_t behind = m->at + m->removed;
  const uint32_t past =
      behind < from->count ? from->regions[behind].first : l->s->op_count;
  uint32_t next = lowest;
  for (uint32_t i = 0; i < m->made_count; i++) {
    if (m->made[i].first < next || m->made[i].last < m->made[i].first)
      return false;
    next = m->made[i].last + 1;
  }
  return next <= past;
}

calm_status tile_search_offer(tile_listing *l, tile_move m) {
  if (!has_room(l, &m)) return CALM_OK;
  for (uint32_t i = 0; i < m.made_count; i++)
    if (!is_possible(l, &m.made[i])) return CALM_OK;
  m.guess = guess_move(l, &m);
  VECTOR_PUSH(l->s->a->context, &l->s->moves, m);
  return CALM_OK;
}

static calm_status replace(listing *l, uint32_t at, uint32_t removed,
                           tile_region made) {
  return tile_search_offer(
      l, (tile_move){
             .at = at, .removed = removed, .made = {made}, .made_count = 1});
}

/* ---- A new region -------------------------------------------------------- */

void tile_search_keep_best(tile_listing *l, uint32_t begin, uint32_t most) {
  tile_move *moves = l->s->moves.data;
  const uint32_t count = l->s->moves.count - begin;
  for (uint32_t i = 0; i < most && i < count; i++)
    for (uint32_t k = i + 1; k < count; k++)
      if (moves[begin + k].guess < moves[begin + i].guess) {
        const tile_move m = moves[begin + i];
        moves[begin + i] = moves[begin + k];
        moves[begin + k] = m;
      }
  if (count > most) l->s->moves.count = begin + most;
}

/* In place of all regions that it meets. */
static calm_status put(listing *l, tile_region made) {
  const tile_state *from = l->from;
  uint32_t at = 0, removed = 0;
  while (at < from->count && from->regions[at].last < made.first) at++;
  while (at + removed < from->count &&
         from->regions[at + removed].first <= made.last)
    removed++;
  return replace(l, at, removed, made);
}

static calm_status add_strips(listing *l, tile_region r) {
  const uint32_t begin = l->s->moves.count;
  r.columns = 1;
  for (size_t i = 0; i < sizeof first_tiles / sizeof *first_tiles; i++) {
    r.rows = first_tiles[i];
    TRY(put(l, r));
  }
  tile_search_keep_best(l, begin, 3);
  return CALM_OK;
}

static calm_status add_grids(listing *l, tile_region r) {
  const uint32_t begin = l->s->moves.count;
  r.mode = TILE_PAD;
  for (size_t i = 0; i < sizeof first_grids / sizeof *first_grids; i++) {
    r.rows = r.columns = first_grids[i];
    TRY(put(l, r));
  }
  tile_search_keep_best(l, begin, 1);
  return CALM_OK;
}

static calm_status add_span(listing *l, uint32_t first, uint32_t last) {
  tile_region r = {.first = first, .last = last};
  if (!tile_search_span(l->s, first, last)) return CALM_OK;
  for (int mode = 0; mode < TILE_MODES; mode++) {
    r.mode = (tile_mode)mode;
    TRY(add_strips(l, r));
  }
  return add_grids(l, r);
}

static calm_status list_new(listing *l, uint32_t position) {
  for (uint32_t back = 0; back <= REACH && back <= position; back++)
    for (uint32_t on = 0; on <= REACH && position + on < l->s->op_count; on++)
      TRY(add_span(l, position - back, position + on));
  return CALM_OK;
}

/* The neighbours reach out for the operator. */
static calm_status stretch_neighbours(listing *l, uint32_t at,
                                      uint32_t position) {
  for (uint32_t by = 0; by <= SHIFT; by++) {
    if (at > 0) {
      tile_region r = l->from->regions[at - 1];
      r.last = position + by;
      TRY(put(l, r));
    }
    if (at < l->from->count && position >= by) {
      tile_region r = l->from->regions[at];
      r.first = position - by;
      TRY(put(l, r));
    }
  }
  return CALM_OK;
}

/* ---- A region that is there ---------------------------------------------- */

static calm_status change_tiles(listing *l, uint32_t at) {
  const tile_region was = l->from->regions[at];
  static const int steps[] = {-4, -2, -1, 1, 2, 4};
  tile_region r = was;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    r.rows = (uint32_t)((int64_t)was.rows + steps[i] > 0
                            ? (int64_t)was.rows + steps[i]
                            : 0);
    TRY(replace(l, at, 1, r));
    r.rows = was.rows;
    r.columns = (uint32_t)((int64_t)was.columns + steps[i] > 0
                               ? (int64_t)was.columns + steps[i]
                               : 0);
    if (i % 5) TRY(replace(l, at, 1, r));
    r.columns = was.columns;
  }
  r.rows = 2 * was.rows;
  TRY(replace(l, at, 1, r));
  r.rows = was.rows / 2;
  return replace(l, at, 1, r);
}

static calm_status change_mode(listing *l, uint32_t at) {
  tile_region r = l->from->regions[at];
  for (int mode = 0; mode < TILE_MODES; mode++) {
    if (r.mode == (tile_mode)mode) continue;
    tile_region other = r;
    other.mode = (tile_mode)mode;
    if (mode != TILE_PAD) other.columns = 1;
    TRY(replace(l, at, 1, other));
  }
  return CALM_OK;
}

/* In place of the region, and of those that it meets now. */
static calm_status reshape(listing *l, uint32_t at, tile_region made) {
  const tile_state *from = l->from;
  uint32_t first = at, last = at;
  while (first > 0 && from->regions[first - 1].last >= made.first) first--;
  while (last + 1 < from->count && from->regions[last + 1].first <= made.last)
    last++;
  return replace(l, first, last - first + 1, made);
}

/* One end moves, or both; tiles may become one more or one less with it. */
static calm_status change_ends(listing *l, uint32_t at, int most) {
  const tile_region was = l->from->regions[at];
  for (int from = -most; from <= most; from++)
    for (int to = -most; to <= most; to++) {
      if ((from == 0 && to == 0) || abs(from) + abs(to) > most) continue;
      tile_region r = was;
      if ((int64_t)was.first + from < 0 || (int64_t)was.last + to < 0) continue;
      r.first = (uint32_t)((int64_t)was.first + from);
      r.last = (uint32_t)((int64_t)was.last + to);
      TRY(reshape(l, at, r));
      r.rows = was.rows + 1;
      TRY(reshape(l, at, r));
      r.rows = was.rows - 1;
      TRY(reshape(l, at, r));
    }
  return CALM_OK;
}

static calm_status join(listing *l, uint32_t at) {
  if (at + 1 >= l->from->count) return CALM_OK;
  const tile_region *a = &l->from->regions[at], *b = a + 1;
  const tile_region *pair[] = {a, b};
  for (int i = 0; i < 2; i++) {
    tile_region r = *pair[i];
    r.first = a->first;
    r.last = b->last;
    TRY(replace(l, at, 2, r));
  }
  return CALM_OK;
}

static calm_status list_changes(listing *l, uint32_t at) {
  TRY(change_tiles(l, at));
  TRY(change_mode(l, at));
  TRY(change_ends(l, at, SHIFT));
  TRY(tile_search_split(l, at));
  TRY(join(l, at));
  return at ? join(l, at - 1) : CALM_OK;
}

/* What is not critical may do with less. */
static calm_status relax(listing *l, uint32_t at) {
  tile_region r = l->from->regions[at];
  TRY(tile_search_offer(l, (tile_move){.at = at, .removed = 1}));
  TRY(change_mode(l, at));
  TRY(change_ends(l, at, 1));
  r.rows--;
  TRY(replace(l, at, 1, r));
  r.rows = (r.rows + 1) / 2;
  return replace(l, at, 1, r);
}

/* ---- In order ------------------------------------------------------------ */

static int compare(const void *a, const void *b) {
  const tile_move *x = a, *y = b;
  if (x->guess != y->guess) return x->guess < y->guess ? -1 : 1;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  if (x->removed != y->removed) return x->removed < y->removed ? -1 : 1;
  if (x->made_count != y->made_count)
    return x->made_count < y->made_count ? -1 : 1;
  for (uint32_t i = 0; i < x->made_count; i++) {
    const tile_region *p = &x->made[i], *q = &y->made[i];
    if (p->first != q->first) return p->first < q->first ? -1 : 1;
    if (p->last != q->last) return p->last < q->last ? -1 : 1;
    if (p->rows != q->rows) return p->rows < q->rows ? -1 : 1;
    if (p->columns != q->columns) return p->columns < q->columns ? -1 : 1;
    if (p->mode != q->mode) return p->mode < q->mode ? -1 : 1;
  }
  return 0;
}

static calm_status take(tile_searcher *s, uint32_t node) {
  tile_move *moves = s->moves.data;
  const uint32_t most = node == 0 ? MOST_FIRST : MOST_MOVES;
  const uint32_t count = (uint32_t)number_smaller(s->moves.count, most);
  if (s->moves.count) qsort(moves, s->moves.count, sizeof *moves, compare);
  ARENA_ARRAY(s->a, s->nodes.data[node].moves, count);
  if (count) memcpy(s->nodes.data[node].moves, moves, count * sizeof *moves);
  s->nodes.data[node].move_count = count;
  return CALM_OK;
}

calm_status tile_search_list_moves(tile_searcher *s, uint32_t node) {
  listing l = {.s = s, .from = &s->nodes.data[node].state};
  const uint32_t position = l.from->score.critical;
  uint32_t at;
  s->moves.count = 0;
  measure_outside(&l);
  TRY(measure_regions(&l));
  measure_scale(&l);
  const tile_region *there = region_at(l.from, position, &at);
  if (position < s->op_count) TRY(list_new(&l, position));
  if (there)
    TRY(list_changes(&l, at));
  else
    TRY(stretch_neighbours(&l, at, position));
  if (l.from->count == 0) TRY(tile_search_pairs(&l, position));
  for (uint32_t i = 0; i < l.from->count; i++)
    if (!there || i != at) TRY(relax(&l, i));
  if (there) TRY(tile_search_offer(&l, (tile_move){.at = at, .removed = 1}));
  return take(s, node);
}

uint32_t tile_search_move(tile_region *out, const tile_state *from,
                          const tile_move *move) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < move->at; i++) out[count++] = from->regions[i];
  for (uint32_t i = 0; i < move->made_count; i++) out[count++] = move->made[i];
  for (uint32_t i = move->at + move->removed; i < from->count; i++)
    out[count++] = from->regions[i];
  return count;
}
