/*
 * Walking a nest with sets of words in every buffer.
 *
 * One instance of a level is looked at.  The temporal loops of this level and
 * of all outer ones run like an odometer; at each position, each element of the
 * fan-out below needs a tile: the box of words that its inner loops touch. What
 * the element does not hold already is delivered, if the tile moved as it moved
 * the last time (or moves for the first time, or since it was loaded whole);
 * else it is loaded whole.  Elements that get equal sets get them together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost_referee_odometer.h"

enum { MOST_RANKS = 16 };

/* ---- Buffers ------------------------------------------------------------- */

/* A box of words: per rank the first coordinate and how many. */
typedef struct box {
  uint64_t low[MOST_RANKS], size[MOST_RANKS];
} box;

typedef struct words {
  uint32_t *at; /* numbers of words, ascending */
  uint32_t count;
} words;

/* What is below one element of the fan-out: a buffer or a multiplier. */
typedef struct element {
  uint64_t id;
  words held, wanted, delivered;
  box tile;
  bool loaded, moved; /* held is something; the last translation is known */
  int64_t translation[MOST_RANKS];
  bool counted;
} element;

typedef struct walk {
  const accel_arch *arch;
  const accel_layer *layer;
  const accel_nest *nest;
  const accel_tensor *tensor;
  uint32_t level, first, temporal; /* loops [first, temporal) are the fan-out */
  uint64_t shape[MOST_RANKS];
  referee_odometer o;
  bool perfect;
  uint64_t columns, rows; /* of the mesh below */
  element *elements;
  uint32_t element_count;
  uint8_t *mark; /* per word of the tensor */
  referee_stream *stream;
  referee_watcher *watcher; /* NULL: nobody watches */
  void *data;
  referee_given *given;
  arena *arena;
} walk;

/* The words of the tile at the odometer's position.  Below the
   innermost level are multipliers: a single word. */
static void find_box(box *out, const walk *w) {
  for (uint32_t i = 0; i < w->tensor->rank_count; i++) {
    const accel_rank *rank = &w->tensor->ranks[i];
    out->low[i] = 0;
    out->size[i] = 1;
    for (uint32_t j = 0; j < rank->term_count; j++) {
      const accel_term *term = &rank->terms[j];
      const uint64_t steps =
          w->level == 0 ? 1
                        : referee_extent(w->nest, w->first, term->dimension,
                                         referee_is_last(&w->o, term->dimension,
                                                         w->first));
      out->low[i] +=
          term->coefficient * referee_position(&w->o, term->dimension);
      out->size[i] += term->coefficient * (steps - 1);
    }
  }
}

/* Every word of a box, in ascending order. */
static void list_words(words *out, const walk *w, const box *b) {
  uint64_t at[MOST_RANKS] = {0};
  const uint32_t ranks = w->tensor->rank_count;
  out->count = 0;
  for (;;) {
    uint64_t number = 0;
    for (uint32_t i = 0; i < ranks; i++) {
      if (b->low[i] + at[i] >= w->shape[i]) abort();
      number = number * w->shape[i] + b->low[i] + at[i];
    }
    out->at[out->count++] = (uint32_t)number;
    uint32_t i = ranks;
    while (i > 0 && ++at[i - 1] == b->size[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

/* delivered = wanted without held. */
static void subtract(element *e, uint8_t *mark) {
  for (uint32_t i = 0; i < e->held.count; i++) mark[e->held.at[i]] = 1;
  e->delivered.count = 0;
  for (uint32_t i = 0; i < e->wanted.count; i++)
    if (!mark[e->wanted.at[i]])
      e->delivered.at[e->delivered.count++] = e->wanted.at[i];
  for (uint32_t i = 0; i < e->held.count; i++) mark[e->held.at[i]] = 0;
}

static void deliver_all(element *e) {
  memcpy(e->delivered.at, e->wanted.at, e->wanted.count * sizeof *e->wanted.at);
  e->delivered.count = e->wanted.count;
}

/* How far the centre of a tile moved, to the nearest word (halves away from
   zero), per rank: true if it moved at all. */
static bool find_translation(int64_t *out, const box *from, const box *to,
                             uint32_t ranks) {
  bool any = false;
  for (uint32_t i = 0; i < ranks; i++) {
    const double a = (double)from->low[i] + (double)(from->size[i] - 1) / 2;
    const double b = (double)to->low[i] + (double)(to->size[i] - 1) / 2;
    out[i] = llround(b - a);
    any = any || out[i] != 0;
  }
  return any;
}

/* What an element is given so that it holds the tile `b`. */
static void load(element *e, const walk *w, const box *b) {
  const uint32_t ranks = w->tensor->rank_count;
  int64_t translation[MOST_RANKS];
  list_words(&e->wanted, w, b);
  if (!e->loaded || w->level == 0) {
    deliver_all(e);
  } else if (!find_translation(translation, &e->tile, b, ranks)) {
    subtract(e, w->mark);
  } else if (!e->moved || !memcmp(translation, e->translation,
                                  ranks * sizeof *translation)) {
    subtract(e, w->mark);
    e->moved = true;
    memcpy(e->translation, translation, ranks * sizeof *translation);
  } else {
    deliver_all(e);
    e->moved = false;
  }
  const words old = e->held;
  e->held = e->wanted;
  e->wanted = old;
  e->tile = *b;
  e->loaded = true;
}

/* ---- Multicast ----------------------------------------------------------- */

static cost_group *find_group(referee_stream *s, uint64_t multicast,
                              uint64_t scatter, arena *a) {
  uint32_t i = 0;
  while (i < s->group_count && (s->groups[i].multicast < multicast ||
                                (s->groups[i].multicast == multicast &&
                                 s->groups[i].scatter < scatter)))
    i++;
  if (i < s->group_count && s->groups[i].multicast == multicast &&
      s->groups[i].scatter == scatter)
    return &s->groups[i];
  if (s->group_count == s->group_capacity) {
    cost_group *old = s->groups;
    s->group_capacity = s->group_capacity ? 2 * s->group_capacity : 8;
    s->groups = referee_memory(a, s->group_capacity, sizeof *old);
    if (old) memcpy(s->groups, old, s->group_count * sizeof *old);
  }
  memmove(&s->groups[i + 1], &s->groups[i],
          (s->group_count++ - i) * sizeof *s->groups);
  s->groups[i] = (cost_group){multicast, scatter, 0, 0};
  return &s->groups[i];
}

/* Instances that take the same words at once. */
typedef struct class {
  uint64_t members, words;
  double hops;
} class;

/* A word enters the mesh in the middle of the first column, goes along to the
   farthest column that wants it, and in each column up and down as far as it is
   wanted. */
static double count_hops(const walk *w, const uint64_t *ids, uint64_t count) {
  const double middle = (double)(w->rows - 1) / 2;
  double along = 0, across = 0;
  for (uint64_t column = 0; column < w->columns; column++) {
    double up = 0, down = 0;
    for (uint64_t i = 0; i < count; i++) {
      if (ids[i] % w->columns != column) continue;
      const double row = (double)(ids[i] / w->columns);
      along = (double)column;
      up = fmax(up, middle - row);
      down = fmax(down, row - middle);
    }
    across += up + down;
  }
  return along + across;
}

static bool same_words(const words *a, const words *b) {
  return a->count == b->count &&
         !memcmp(a->at, b->at, a->count * sizeof *a->at);
}

/* All elements that are given what element i is given. */
static class take_class(const walk *w, uint32_t i, uint64_t *ids) {
  class out = {0, w->elements[i].delivered.count, 0};
  for (uint32_t j = i; j < w->element_count; j++) {
    element *e = &w->elements[j];
    if (e->counted || !same_words(&e->delivered, &w->elements[i].delivered))
      continue;
    e->counted = true;
    ids[out.members++] = e->id;
  }
  if (w->temporal > w->first) out.hops = count_hops(w, ids, out.members);
  return out;
}

/* What is delivered at one position, into the stream. */
static void count_deliveries(const walk *w, class *classes, uint64_t *ids) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < w->element_count; i++)
    w->elements[i].counted = w->elements[i].delivered.count == 0;
  for (uint32_t i = 0; i < w->element_count; i++)
    if (!w->elements[i].counted) classes[count++] = take_class(w, i, ids);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t scatter = 0;
    for (uint32_t j = 0; j < count; j++)
      scatter += classes[j].members == classes[i].members;
    cost_group *g =
        find_group(w->stream, classes[i].members, scatter, w->arena);
    g->accesses += (double)classes[i].words;
    g->hops += (double)classes[i].words * classes[i].hops;
  }
}

/* ---- The walk ------------------------------------------------------------ */

/* Coordinates of a rank that the loops below position `end` reach in full
   passes. */
static uint64_t reach(const walk *w, uint32_t rank, uint32_t end) {
  const accel_rank *r = &w->tensor->ranks[rank];
  uint64_t size = 1;
  for (uint32_t j = 0; j < r->term_count; j++)
    size += r->terms[j].coefficient *
            (referee_extent(w->nest, end, r->terms[j].dimension, false) - 1);
  return size;
}

/* Words of the largest tile. */
static uint64_t box_words(const walk *w) {
  uint64_t out = 1;
  for (uint32_t i = 0; i < w->tensor->rank_count; i++)
    out *= reach(w, i, w->first);
  return out;
}

/* Words of the tensor, which are numbered by its shape. */
static uint64_t shape_words(walk *w) {
  uint64_t out = 1;
  for (uint32_t i = 0; i < w->tensor->rank_count; i++) {
    w->shape[i] = reach(w, i, w->nest->loop_count);
    out *= w->shape[i];
  }
  return out;
}

static uint64_t used(const walk *w, accel_loop_kind kind) {
  uint64_t out = 1;
  for (uint32_t k = w->first; k < w->temporal; k++)
    if (w->nest->loops[k].kind == kind) out *= w->nest->loops[k].bound;
  return out;
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void find_mesh(walk *w) {
  const accel_arch *arch = w->arch;
  const accel_level *here = &arch->levels[w->level];
  const uint64_t x = w->level ? here[-1].mesh_x : arch->compute.mesh_x;
  const uint64_t y = w->level ? here[-1].mesh_y : arch->compute.mesh_y;
  w->columns = most(used(w, ACCEL_SPATIAL_X), x / here->mesh_x);
  w->rows = most(used(w, ACCEL_SPATIAL_Y), y / here->mesh_y);
}

/* Element `number` of the fan-out, into the odometer. */
static void set_element(walk *w, uint64_t number) {
  for (uint32_t k = w->first; k < w->temporal; k++) {
    w->o.index[k] = number % w->nest->loops[k].bound;
    number /= w->nest->loops[k].bound;
  }
}

/* Is the element there in this pass?  Its index in each loop of the fan-out has
   to be below that loop's bound in this pass.  Elements are numbered as they
   are packed: those of this pass, without gaps. */
static bool number_element(element *e, const walk *w) {
  uint64_t scale = 1;
  e->id = 0;
  for (uint32_t k = w->first; k < w->temporal; k++) {
    const accel_loop *l = &w->nest->loops[k];
    const bool last = referee_is_last(&w->o, l->dimension, w->temporal);
    const uint64_t bound = last ? l->residual : l->bound;
    if (w->o.index[k] >= bound) return false;
    e->id += w->o.index[k] * scale;
    scale *= bound;
  }
  return true;
}

/* In an imperfect nest all elements that are present are given what the first
   one is, at their own places: that is the accounting's convention. */
static void follow(element *e, const element *first, const walk *w,
                   const box *own) {
  e->delivered.count = first->delivered.count;
  for (uint32_t i = 0; i < e->delivered.count; i++) {
    uint64_t rest = first->delivered.at[i], number = 0, scale = 1;
    for (uint32_t r = w->tensor->rank_count; r-- > 0;) {
      const uint64_t at = rest % w->shape[r] + own->low[r] - first->tile.low[r];
      rest /= w->shape[r];
      number += at * scale;
      scale *= w->shape[r];
    }
    e->delivered.at[i] = (uint32_t)number;
  }
}

static void tell(const walk *w) {
  for (uint32_t i = 0; i < w->element_count; i++)
    w->given[i] = (referee_given){w->elements[i].delivered.at,
                                  w->elements[i].delivered.count};
  w->watcher(w->data, w->given, w->element_count);
}

static void visit(walk *w, class *classes, uint64_t *ids) {
  for (uint32_t i = 0; i < w->element_count; i++) {
    element *e = &w->elements[i];
    box b;
    set_element(w, i);
    e->delivered.count = 0;
    if (!number_element(e, w)) continue;
    find_box(&b, w);
    if (w->perfect || i == 0)
      load(e, w, &b);
    else
      follow(e, &w->elements[0], w, &b);
  }
  set_element(w, 0);
  if (w->watcher) tell(w);
  count_deliveries(w, classes, ids);
}

static void make_elements(walk *w, uint64_t words_each) {
  w->element_count =
      (uint32_t)(used(w, ACCEL_SPATIAL_X) * used(w, ACCEL_SPATIAL_Y));
  w->elements = referee_memory(w->arena, w->element_count, sizeof *w->elements);
  for (uint32_t i = 0; i < w->element_count; i++) {
    element *e = &w->elements[i];
    e->held.at = referee_memory(w->arena, words_each, sizeof *e->held.at);
    e->wanted.at = referee_memory(w->arena, words_each, sizeof *e->held.at);
    e->delivered.at = referee_memory(w->arena, words_each, sizeof *e->held.at);
  }
}

/* Freeze what does not turn: all that is inside the level, and which instance
   of the level it is. */
static void set_odometer(walk *w) {
  const accel_nest *nest = w->nest;
  bool *frozen = referee_memory(w->arena, nest->loop_count, sizeof *frozen);
  for (uint32_t k = 0; k < nest->loop_count; k++)
    frozen[k] = k < w->temporal || nest->loops[k].kind != ACCEL_TEMPORAL;
  w->o = (referee_odometer){nest, w->temporal, NULL, frozen};
  w->o.index = referee_memory(w->arena, nest->loop_count, sizeof *w->o.index);
}

/* The next instance of the level; false after the last one. */
static bool next_instance(walk *w) {
  for (uint32_t k = w->temporal; k < w->nest->loop_count; k++) {
    if (w->nest->loops[k].kind == ACCEL_TEMPORAL) continue;
    if (++w->o.index[k] < w->nest->loops[k].bound) return true;
    w->o.index[k] = 0;
  }
  return false;
}

static bool same_stream(const referee_stream *a, const referee_stream *b) {
  if (a->group_count != b->group_count) return false;
  for (uint32_t i = 0; i < a->group_count; i++)
    if (a->groups[i].multicast != b->groups[i].multicast ||
        a->groups[i].scatter != b->groups[i].scatter ||
        a->groups[i].accesses != b->groups[i].accesses)
      return false;
  return true;
}

static void walk_instance(referee_stream *out, walk *w) {
  class *classes = referee_memory(w->arena, w->element_count, sizeof *classes);
  uint64_t *ids = referee_memory(w->arena, w->element_count, sizeof *ids);
  *out = (referee_stream){.fanout = w->element_count};
  w->stream = out;
  for (uint32_t i = 0; i < w->element_count; i++)
    w->elements[i].loaded = w->elements[i].moved = false;
  do visit(w, classes, ids);
  while (referee_turn(&w->o));
}

static void start(walk *w, const cost_pieces *c, uint32_t tensor,
                  uint32_t level, arena *a) {
  const accel_nest *nest = &c->nest;
  *w = (walk){.arch = &c->arch,
              .layer = &c->layer,
              .nest = nest,
              .tensor = &c->layer.tensors[tensor],
              .level = level,
              .first = referee_begin(nest, level),
              .temporal = referee_temporal(nest, level),
              .perfect = true,
              .arena = a};
  for (uint32_t k = 0; k < nest->loop_count; k++)
    w->perfect = w->perfect && nest->loops[k].bound == nest->loops[k].residual;
  w->mark = referee_memory(a, shape_words(w), 1);
  find_mesh(w);
  make_elements(w, level ? box_words(w) : 1);
  set_odometer(w);
}

/* Every instance of the level is walked, and in a perfect nest all have to come
   to the same. */
void referee_walk(referee_stream *out, const cost_pieces *c, uint32_t tensor,
                  uint32_t level, arena *a) {
  walk w;
  start(&w, c, tensor, level, a);
  walk_instance(out, &w);
  while (w.perfect && next_instance(&w)) {
    referee_stream other;
    walk_instance(&other, &w);
    if (!same_stream(out, &other)) abort();
  }
}

void referee_watch(const cost_pieces *c, uint32_t tensor, uint32_t level,
                   referee_watcher *watcher, void *data, arena *a) {
  walk w;
  referee_stream stream;
  start(&w, c, tensor, level, a);
  w.watcher = watcher, w.data = data;
  w.given = referee_memory(a, w.element_count, sizeof *w.given);
  walk_instance(&stream, &w);
}
