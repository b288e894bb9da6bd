/* Blocks and their prices, kept up to date. */
#include "order/order_offers.h"

#include <assert.h>

/*
 * A block on offer watches its members: whatever changes one of them makes its
 * price stale.  A block out of reach watches operators without which it stays
 * out of reach.  The watches of an operator form two double lists of indices,
 * one of each kind, so that a change of price does not wake thousands that wait
 * behind a hub; those of a block are its row.
 */
typedef enum offer_watching { FOR_PRICE, FOR_REACH } offer_watching;

typedef struct offer_watch {
  uint32_t op, next, previous; /* op CALM_NONE: unused */
  offer_watching what;
} offer_watch;

enum { ROW = OFFER_OPS + 1, HUB_BUFFERS = 256 };

static calm_status allocate(order_offers *b, const order_problem *p, arena *a) {
  const size_t block_count = (size_t)p->buffer_count + p->op_count;
  TRY(order_walk_begin(&b->walk, p, a));
  ARENA_ARRAY(a, b->preds_left, p->op_count);
  ARENA_ARRAY(a, b->blocks, block_count);
  ARENA_ARRAY(a, b->watches, (size_t)p->buffer_count * ROW);
  ARENA_ARRAY(a, b->watched[FOR_PRICE], p->op_count);
  ARENA_ARRAY(a, b->watched[FOR_REACH], p->op_count);
  ARENA_ARRAY(a, b->stale, block_count);
  ARENA_ARRAY(a, b->is_stale, block_count);
  ARENA_ARRAY(a, b->seen, p->op_count);
  return CALM_OK;
}

static void make_stale(order_offers *b, uint32_t block) {
  if (b->is_stale[block]) return;
  b->is_stale[block] = true;
  b->stale[b->stale_count++] = block;
}

calm_status order_offers_begin(order_offers *out, const order_problem *p,
                               arena *a) {
  order_offers b = {.stamp = 0};
  TRY(allocate(&b, p, a));
  for (uint32_t u = 0; u < p->op_count; u++) {
    b.preds_left[u] = p->pred_begin[u + 1] - p->pred_begin[u];
    b.watched[FOR_PRICE][u] = b.watched[FOR_REACH][u] = CALM_NONE;
  }
  for (size_t i = 0; i < (size_t)p->buffer_count * ROW; i++)
    b.watches[i].op = CALM_NONE;
  for (uint32_t i = 0; i < p->buffer_count + p->op_count; i++)
    make_stale(&b, i);
  *out = b;
  return CALM_OK;
}

static void unwatch(order_offers *b, uint32_t block) {
  for (size_t i = (size_t)block * ROW; i < (size_t)(block + 1) * ROW; i++) {
    offer_watch *watch = &b->watches[i];
    if (watch->op == CALM_NONE) return;
    if (watch->previous == CALM_NONE)
      b->watched[watch->what][watch->op] = watch->next;
    else
      b->watches[watch->previous].next = watch->next;
    if (watch->next != CALM_NONE)
      b->watches[watch->next].previous = watch->previous;
    watch->op = CALM_NONE;
  }
}

static void watch_all(order_offers *b, uint32_t block, offer_watching what,
                      const uint32_t *ops, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t at = block * ROW + i, next = b->watched[what][ops[i]];
    b->watches[at] = (offer_watch){ops[i], next, CALM_NONE, what};
    if (next != CALM_NONE) b->watches[next].previous = at;
    b->watched[what][ops[i]] = at;
  }
}

/* An operator with so many buffers is priced alone and in no block: as many
   blocks would hold it, and each would look at all of its buffers. */
static bool is_hub(const order_problem *p, uint32_t u) {
  return p->uses_begin[u + 1] - p->uses_begin[u] > HUB_BUFFERS;
}

/* A search for the operators missing to free a buffer. */
typedef struct missing {
  uint32_t ops[ROW], count;
  bool too_many;
} missing;

static void find(order_offers *b, missing *m, uint32_t u) {
  if (b->preds_left[u] == CALM_NONE || b->seen[u] == b->stamp) return;
  b->seen[u] = b->stamp;
  m->ops[m->count++] = u;
  if (m->count > OFFER_OPS) m->too_many = true;
}

/*
 * Collect what is missing, or too many.  In the second case as well ops[] holds
 * what to watch: the block cannot come within reach before one of those has run
 * or lost enough predecessors.  A hub that waits for many is watched alone, so
 * that not every operator it waits for wakes up all the blocks behind the hub.
 */
static void find_missing(order_offers *b, missing *m, uint32_t buffer) {
  const order_problem *p = b->walk.p;
  *m = (missing){.count = 0};
  b->stamp++;
  if (b->walk.touchers_left[buffer] > OFFER_OPS) {
    m->too_many = true;
    return;
  }
  for (uint32_t i = p->touch_begin[buffer + 1];
       i-- > p->touch_begin[buffer] && !m->too_many;)
    find(b, m, p->touch[i]);
  for (uint32_t done = 0; done < m->count && !m->too_many; done++) {
    const uint32_t u = m->ops[done];
    if (b->preds_left[u] > OFFER_OPS || is_hub(p, u)) {
      *m = (missing){.ops = {u}, .count = 1, .too_many = true};
      return;
    }
    for (uint32_t i = p->pred_begin[u];
         i < p->pred_begin[u + 1] && !m->too_many; i++)
      find(b, m, p->preds[i]);
  }
}

static void sort(uint32_t *ops, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    const uint32_t moved = ops[i];
    uint32_t at = i;
    for (; at > 0 && ops[at - 1] > moved; at--) ops[at] = ops[at - 1];
    ops[at] = moved;
  }
}

/* Run the operators in order of their numbers, look, and take them back. */
static order_offer price(order_offers *b, const uint32_t *ops, uint32_t count) {
  order_walk *w = &b->walk;
  const uint64_t before = w->live_bytes;
  order_offer block = {.count = count};
  b->work += count;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t bytes = order_walk_run(w, ops[i]);
    if (bytes > before && bytes - before > block.hill)
      block.hill = bytes - before;
  }
  block.net = (int64_t)w->live_bytes - (int64_t)before;
  for (uint32_t i = count; i-- > 0;) order_walk_undo(w, ops[i]);
  return block;
}

static void price_buffer(order_offers *b, uint32_t buffer) {
  missing m;
  unwatch(b, buffer);
  b->work++;
  b->blocks[buffer] = (order_offer){.count = 0};
  if (b->walk.p->buffers[buffer].pinned_end) return;
  find_missing(b, &m, buffer);
  if (m.too_many) {
    watch_all(b, buffer, FOR_REACH, m.ops, m.count);
    return;
  }
  sort(m.ops, m.count);
  watch_all(b, buffer, FOR_PRICE, m.ops, m.count);
  if (m.count) b->blocks[buffer] = price(b, m.ops, m.count);
}

void order_offers_price(order_offers *b, uint32_t block) {
  const uint32_t buffer_count = b->walk.p->buffer_count;
  if (block < buffer_count) {
    price_buffer(b, block);
    return;
  }
  const uint32_t u = block - buffer_count;
  b->blocks[block] =
      b->preds_left[u] == 0 ? price(b, &u, 1) : (order_offer){.count = 0};
}

uint32_t order_offers_members(const order_offers *b, uint32_t block,
                              uint32_t members[OFFER_OPS]) {
  const uint32_t buffer_count = b->walk.p->buffer_count;
  members[0] = block - buffer_count;
  if (block >= buffer_count) return 1;
  for (uint32_t i = 0; i < b->blocks[block].count; i++)
    members[i] = b->watches[(size_t)block * ROW + i].op;
  return b->blocks[block].count;
}

static void wake(order_offers *b, uint32_t u, offer_watching what) {
  uint32_t i = b->watched[what][u];
  for (; i != CALM_NONE; i = b->watches[i].next) make_stale(b, i / ROW);
  make_stale(b, b->walk.p->buffer_count + u);
}

/*
 * What can change a price?  A member that has run; a buffer that began (it is
 * no longer new to its other touchers); a buffer with so few touchers left that
 * a block may hold them all.  Everything else leaves it alone, so a buffer
 * that many operators read costs nothing most of the time.
 */
void order_offers_run(order_offers *b, uint32_t u) {
  const order_problem *p = b->walk.p;
  assert(b->preds_left[u] == 0);
  order_walk_run(&b->walk, u);
  b->preds_left[u] = CALM_NONE;
  wake(b, u, FOR_PRICE);
  wake(b, u, FOR_REACH);
  for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++) {
    const uint32_t buffer = p->uses[i], left = b->walk.touchers_left[buffer];
    const uint32_t first = p->touch_begin[buffer];
    const uint32_t end = p->touch_begin[buffer + 1];
    if (left > OFFER_OPS && left + 1 < end - first) continue;
    make_stale(b, buffer);
    for (uint32_t k = first; k < end; k++)
      if (b->preds_left[p->touch[k]] != CALM_NONE)
        wake(b, p->touch[k], FOR_PRICE);
  }
  for (uint32_t i = p->succ_begin[u]; i < p->succ_begin[u + 1]; i++) {
    const uint32_t s = p->succs[i], left = --b->preds_left[s];
    if (left == 0 || left == OFFER_OPS) wake(b, s, FOR_REACH);
  }
}
