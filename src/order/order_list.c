/* A list scheduler over blocks: two heaps of prices. */
#include "order/order_list.h"

#include <assert.h>

#include "base/random.h"
#include "order/order_offers.h"

/*
 * `low` holds blocks by what they leave, `high` those that go beyond the target
 * by their hill.  The room under the target changes with every operator; blocks
 * change sides only when they come to the top of the wrong heap.  Operators
 * that free nothing are always `high`, behind all others.
 */
typedef enum side { LOW, HIGH } side;

typedef struct heap {
  uint32_t *blocks, count;
} heap;

typedef struct schedule {
  order_offers offers;
  order_rule rule;
  heap heaps[2];
  uint8_t *side;   /* per block */
  uint32_t *place; /* per block: where in its heap, CALM_NONE if in none */
  uint64_t *tie;   /* per block */
} schedule;

static calm_status schedule_begin(schedule *s, const order_problem *p,
                                  arena *a) {
  const uint32_t block_count = p->buffer_count + p->op_count;
  random_state random = random_from_seed(s->rule.seed);
  TRY(order_offers_begin(&s->offers, p, a));
  ARENA_ARRAY(a, s->heaps[LOW].blocks, block_count);
  ARENA_ARRAY(a, s->heaps[HIGH].blocks, block_count);
  ARENA_ARRAY(a, s->side, block_count);
  ARENA_ARRAY(a, s->place, block_count);
  ARENA_ARRAY(a, s->tie, block_count);
  for (uint32_t i = 0; i < block_count; i++) {
    s->place[i] = CALM_NONE;
    s->tie[i] = s->rule.seed ? random_next(&random) : i;
  }
  return CALM_OK;
}

/* An operator alone that lowers nothing is not a way to anything. */
static bool frees(const schedule *s, uint32_t block) {
  return block < s->offers.walk.p->buffer_count ||
         s->offers.blocks[block].net <= 0;
}

static bool better(const schedule *s, side at, uint32_t a, uint32_t b) {
  const order_offer *x = &s->offers.blocks[a], *y = &s->offers.blocks[b];
  if (frees(s, a) != frees(s, b)) return frees(s, a);
  if (at == LOW && x->net != y->net) return x->net < y->net;
  if (x->hill != y->hill) return x->hill < y->hill;
  if (x->net != y->net) return x->net < y->net;
  return s->tie[a] < s->tie[b];
}

static void put(schedule *s, side where, uint32_t at, uint32_t block) {
  s->heaps[where].blocks[at] = block;
  s->place[block] = at;
}

static void sift_up(schedule *s, side where, uint32_t at) {
  const uint32_t *blocks = s->heaps[where].blocks;
  const uint32_t block = blocks[at];
  while (at > 0 && better(s, where, block, blocks[(at - 1) / 2])) {
    put(s, where, at, blocks[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  put(s, where, at, block);
}

static void sift_down(schedule *s, side where, uint32_t at) {
  const heap *h = &s->heaps[where];
  const uint32_t block = h->blocks[at];
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= h->count) break;
    if (child + 1 < h->count &&
        better(s, where, h->blocks[child + 1], h->blocks[child]))
      child++;
    if (!better(s, where, h->blocks[child], block)) break;
    put(s, where, at, h->blocks[child]);
    at = child;
  }
  put(s, where, at, block);
}

/* Take a block out while its price is still the one it was sorted by. */
static void take_out(schedule *s, uint32_t block) {
  const uint32_t at = s->place[block];
  if (at == CALM_NONE) return;
  const side where = s->side[block];
  heap *h = &s->heaps[where];
  const uint32_t last = h->blocks[--h->count];
  s->place[block] = CALM_NONE;
  if (last == block) return;
  put(s, where, at, last);
  sift_up(s, where, at);
  sift_down(s, where, s->place[last]);
}

static uint64_t room(const schedule *s) {
  const uint64_t live = s->offers.walk.live_bytes;
  return s->rule.target_bytes > live ? s->rule.target_bytes - live : 0;
}

static side side_of(const schedule *s, uint32_t block) {
  const bool low = frees(s, block) && s->offers.blocks[block].hill <= room(s);
  return low ? LOW : HIGH;
}

static void offer(schedule *s, uint32_t block) {
  if (s->offers.blocks[block].count == 0) return;
  const side where = side_of(s, block);
  s->side[block] = (uint8_t)where;
  put(s, where, s->heaps[where].count++, block);
  sift_up(s, where, s->place[block]);
}

static void price_stale(schedule *s) {
  order_offers *b = &s->offers;
  while (b->stale_count) {
    const uint32_t block = b->stale[--b->stale_count];
    b->is_stale[block] = false;
    take_out(s, block);
    order_offers_price(b, block);
    offer(s, block);
  }
}

/* The best block, after those on top of the wrong heap have changed over. */
static uint32_t choose(schedule *s) {
  for (side where = LOW; where <= HIGH; where++)
    while (s->heaps[where].count) {
      const uint32_t block = s->heaps[where].blocks[0];
      if (side_of(s, block) == where) break;
      take_out(s, block);
      offer(s, block);
    }
  const side where = s->heaps[LOW].count ? LOW : HIGH;
  assert(s->heaps[where].count); /* some operator is always ready */
  return s->heaps[where].blocks[0];
}

static void run_schedule(uint32_t *sequence, bool *finished, schedule *s,
                         limits *l) {
  uint32_t count = 0, members[OFFER_OPS];
  while (count < s->offers.walk.p->op_count) {
    const uint64_t work = s->offers.work;
    price_stale(s);
    if (limits_spend(l, 1 + s->offers.work - work)) return;
    const uint32_t added = order_offers_members(&s->offers, choose(s), members);
    for (uint32_t i = 0; i < added; i++) {
      order_offers_run(&s->offers, members[i]);
      sequence[count++] = members[i];
    }
  }
  *finished = true;
}

calm_status order_list_schedule(uint32_t *out_sequence, bool *out_finished,
                                const order_problem *p, order_rule rule,
                                limits *l) {
  arena scratch;
  arena_init(&scratch, l->context);
  schedule s = {.rule = rule};
  *out_finished = false;
  const calm_status status = schedule_begin(&s, p, &scratch);
  if (status == CALM_OK) run_schedule(out_sequence, out_finished, &s, l);
  arena_free(&scratch);
  return status;
}
