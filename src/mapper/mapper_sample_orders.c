/*
 * A level that keeps a tensor is filled as often as loops outside of it move
 * its tile (cost_closed.c).  Loops that do not move it are free as long as they
 * are inside of all that do: until then the tile is open.  If the first loop
 * that moves it slides a window, those to come may continue it: the tile is
 * alive.  A loop that never lets tiles overlap ends that; from then on order
 * means nothing.  So whether two neighbours can be exchanged depends on what
 * has come before, and for whole blocks on nothing but which loops they have.
 *
 * Of all orders that exchanges lead to, the first in the alphabet stands for
 * them: no letter could be moved inwards past a greater one.  Letters are the
 * loops in the order given, which is random, so that whoever does not go
 * through all orders has seen a fair part of them.
 */
#include "mapper/mapper_sample_orders.h"

/* Steps of a search for the next order of a block.  Seven loops never need so
   many; of very many loops some orders may be left out. */
enum { MOST_STEPS = 20000 };

calm_status mapper_orders_init(mapper_orders *out, const cost_tables *t,
                               const accel_constraints *c, arena *a) {
  mapper_orders o = {.tables = t, .constraints = c};
  ARENA_ARRAY(a, o.blocks, t->level_count);
  ARENA_ARRAY(a, o.moving, t->dimension_count);
  ARENA_ARRAY(a, o.alone, t->dimension_count);
  for (uint32_t l = 0; l < t->level_count; l++)
    ARENA_ARRAY(a, o.blocks[l].loops, t->dimension_count);
  for (uint32_t d = 0; d < t->dimension_count; d++)
    for (uint32_t i = 0; i < t->tensor_count; i++) {
      const cost_shape *s = &t->shapes[i];
      if (s->moving >> d & 1) o.moving[d] |= UINT32_C(1) << i;
      if (s->moving & s->alone & UINT32_C(1) << d)
        o.alone[d] |= UINT32_C(1) << i;
    }
  *out = o;
  return CALM_OK;
}

/* ---- Exchanging neighbours ----------------------------------------------- */

static mapper_waiting pass(const mapper_orders *o, mapper_waiting w,
                           uint32_t dimension) {
  const uint32_t moving = o->moving[dimension], alone = o->alone[dimension];
  return (mapper_waiting){w.open & ~moving,
                          (w.alive & ~alone) | (w.open & moving & ~alone)};
}

/* Does it matter which of two dimensions is the inner one? */
static bool matters(const mapper_orders *o, mapper_waiting w, uint32_t x,
                    uint32_t y) {
  const uint32_t slides =
      (o->moving[x] & ~o->alone[x]) | (o->moving[y] & ~o->alone[y]);
  return (w.open & ((o->moving[x] ^ o->moving[y]) | slides)) ||
         (w.alive & slides);
}

/* Is the word, one letter longer, still the first of its kind? */
static bool is_first(const mapper_orders *o, const mapper_order *b,
                     uint32_t length, uint32_t letter) {
  for (uint32_t i = length; i-- > 0;) {
    const uint32_t before = b->word[i];
    if (matters(o, b->waiting[i], b->loops[before].dimension,
                b->loops[letter].dimension))
      return true;
    if (before > letter) return false;
  }
  return true;
}

/* ---- Words of a block ---------------------------------------------------- */

static void append(const mapper_orders *o, mapper_order *b, uint32_t length,
                   uint32_t letter) {
  b->word[length] = (uint8_t)letter;
  b->waiting[length + 1] =
      pass(o, b->waiting[length], b->loops[letter].dimension);
}

static void write_word(const mapper_orders *o, const mapper_order *b) {
  for (uint32_t i = 0; i < b->count; i++)
    o->nest->loops[b->first + i] = b->loops[b->word[i]];
}

static void reset_word(const mapper_orders *o, mapper_order *b) {
  for (uint32_t i = 0; i < b->count; i++) append(o, b, i, i);
}

/* The least letter from `letter` on that can follow; `count` if none can. */
static uint32_t find_letter(const mapper_orders *o, const mapper_order *b,
                            uint32_t length, uint32_t used, uint32_t letter) {
  while (letter < b->count &&
         (used >> letter & 1 || !is_first(o, b, length, letter)))
    letter++;
  return letter;
}

/* Depth first, from the present word on. */
static bool next_word(const mapper_orders *o, mapper_order *b) {
  uint32_t length = b->count, used = 0, letter = b->count;
  for (uint32_t i = 0; i < b->count; i++) used |= UINT32_C(1) << i;
  for (uint32_t steps = 0; steps < MOST_STEPS; steps++) {
    if (letter == b->count) {
      if (length == 0) return false;
      letter = b->word[--length];
      used &= ~(UINT32_C(1) << letter++);
    } else {
      append(o, b, length++, letter);
      used |= UINT32_C(1) << letter;
      letter = 0;
    }
    if (length == b->count) return true;
    letter = find_letter(o, b, length, used, letter);
  }
  return false;
}

/* ---- All blocks ---------------------------------------------------------- */

static bool is_in(const uint32_t *list, uint32_t count, uint32_t dimension) {
  for (uint32_t i = 0; i < count; i++)
    if (list[i] == dimension) return true;
  return false;
}

/* Loops that are listed begin and end a block. */
static void leave_listed(const mapper_orders *o, uint32_t level,
                         uint32_t *first, uint32_t *last) {
  if (!o->constraints) return;
  const accel_block_rules *b = &o->constraints->levels[level].temporal;
  const accel_loop *loops = o->nest->loops;
  while (*first < *last &&
         is_in(b->inner, b->inner_count, loops[*first].dimension))
    ++*first;
  while (*first < *last &&
         is_in(b->outer, b->outer_count, loops[*last - 1].dimension))
    --*last;
}

/* A block, from the loop `first` of the nest on, that is found as `w`; what it
   leaves behind.  The loops end at `*last`. */
static mapper_waiting begin_block(mapper_orders *o, uint32_t level,
                                  uint32_t first, uint32_t *last,
                                  mapper_waiting w) {
  mapper_order *b = &o->blocks[level];
  const accel_nest *n = o->nest;
  uint32_t end = first;
  while (end < n->loop_count && n->loops[end].level == level) end++;
  *last = end;
  b->first = first;
  leave_listed(o, level, &b->first, &end);
  b->count = end - b->first;
  for (uint32_t i = first; i < *last; i++) {
    if (i == b->first) b->waiting[0] = w;
    if (i >= b->first && i < end) b->loops[i - b->first] = n->loops[i];
    w = pass(o, w, n->loops[i].dimension);
  }
  reset_word(o, b);
  return w;
}

/* The tensors whose tile at a level counts how often it moves: those that are
   kept there, and, if hops cost, also those that only pass through, as their
   hops are counted like those of a tile that is kept. */
static uint32_t find_waiting(const mapper_orders *o, uint32_t level) {
  const uint32_t levels = o->tables->level_count;
  uint32_t outer = 0;
  for (uint32_t l = level + 1; l < levels; l++) outer |= o->nest->kept[l];
  if (level + 1 < levels && o->tables->stores[level + 1].needs_hops)
    return outer;
  return outer & o->nest->kept[level];
}

void mapper_orders_begin(mapper_orders *o, accel_nest *n) {
  mapper_waiting w = {0, 0};
  uint32_t at = 0;
  o->nest = n;
  for (uint32_t l = 0; l < o->tables->level_count; l++) {
    while (at < n->loop_count && n->loops[at].level == l &&
           n->loops[at].kind != ACCEL_TEMPORAL)
      at++;
    w = begin_block(o, l, at, &at, w);
    w.open |= find_waiting(o, l);
  }
}

/* From outside in: what is fetched from there costs most. */
bool mapper_orders_next(mapper_orders *o) {
  for (uint32_t l = o->tables->level_count; l-- > 0;) {
    mapper_order *b = &o->blocks[l];
    const bool more = next_word(o, b);
    if (!more) reset_word(o, b);
    write_word(o, b);
    if (more) return true;
  }
  return false;
}
