#include "traffic/traffic_exact_state.h"

#include <assert.h>

#include "base/hash.h"

#if CALM_HOSTILE
enum { FIRST_SLOTS = 2 };
#else
enum { FIRST_SLOTS = 256 };
#endif

void traffic_store_init(traffic_store *out, const traffic_core *core,
                        bool dominance, calm_context *context) {
  *out = (traffic_store){.context = context,
                         .core = core,
                         .dominance = dominance,
                         .row_words = traffic_row_words(core)};
}

void traffic_store_free(traffic_store *s) {
  context_reallocate(s->context, s->states,
                     s->state_capacity * sizeof *s->states, 0);
  context_reallocate(s->context, s->rows,
                     s->row_capacity * s->row_words * sizeof *s->rows, 0);
  context_reallocate(s->context, s->slots, s->slot_capacity * sizeof *s->slots,
                     0);
  s->states = NULL;
  s->rows = NULL;
  s->slots = NULL;
  s->count = s->state_capacity = s->row_capacity = 0;
  s->slot_count = s->slot_capacity = 0;
}

uint64_t traffic_store_bytes(const traffic_store *s) {
  return s->state_capacity * (uint64_t)sizeof *s->states +
         s->row_capacity * (uint64_t)s->row_words * sizeof *s->rows +
         s->slot_capacity * (uint64_t)sizeof *s->slots;
}

void traffic_store_clear(traffic_store *s) {
  s->count = 0;
  traffic_store_seal(s);
}

void traffic_store_seal(traffic_store *s) {
  if (s->slots) memset(s->slots, 0, s->slot_capacity * sizeof *s->slots);
  s->slot_count = 0;
}

/* ---- The table of sets --------------------------------------------------- */

static uint32_t *find_slot(const traffic_store *s, const uint64_t *done) {
  const uint32_t words = s->core->op_words, mask = s->slot_capacity - 1;
  uint32_t i = (uint32_t)hash_bytes(done, words * sizeof *done) & mask;
  while (s->slots[i] &&
         !bits_equal(traffic_store_sets(s, s->slots[i] - 1).done, done, words))
    i = (i + 1) & mask;
  return &s->slots[i];
}

static calm_status double_slots(traffic_store *s) {
  const uint32_t capacity =
      s->slot_capacity ? s->slot_capacity * 2 : FIRST_SLOTS;
  if (capacity < s->slot_capacity) return context_no_memory(s->context);
  const uint32_t old_capacity = s->slot_capacity;
  uint32_t *old = s->slots;
  const size_t bytes = capacity * sizeof *old;
  uint32_t *slots = context_reallocate(s->context, NULL, 0, bytes);
  if (!slots) return context_no_memory(s->context);
  memset(slots, 0, bytes);
  s->slots = slots;
  s->slot_capacity = capacity;
  for (uint32_t i = 0; i < old_capacity; i++)
    if (old[i]) *find_slot(s, traffic_store_sets(s, old[i] - 1).done) = old[i];
  context_reallocate(s->context, old, old_capacity * sizeof *old, 0);
  return CALM_OK;
}

/* The slot of a set, with room for it if it is new. */
static calm_status reach_slot(uint32_t **out, traffic_store *s,
                              const uint64_t *done) {
  if (s->slot_count * UINT64_C(2) >= s->slot_capacity) TRY(double_slots(s));
  *out = find_slot(s, done);
  return CALM_OK;
}

static calm_status grow_pool(traffic_store *s) {
  const uint64_t needed = s->count + UINT64_C(1);
  if (needed > s->state_capacity) {
    traffic_state *states = vector_grown(
        s->context, s->states, &s->state_capacity, sizeof *states, needed);
    if (!states) return context_no_memory(s->context);
    s->states = states;
  }
  if (needed > s->row_capacity) {
    uint64_t *rows = vector_grown(s->context, s->rows, &s->row_capacity,
                                  s->row_words * sizeof *rows, needed);
    if (!rows) return context_no_memory(s->context);
    s->rows = rows;
  }
  return CALM_OK;
}

/* ---- Dominance ----------------------------------------------------------- */

static uint64_t sum_bytes(const traffic_core *core, uint32_t w, uint64_t set) {
  uint64_t bytes = 0;
  for (; set; set &= set - 1) bytes += core->bytes[w * 64 + bits_lowest(set)];
  return bytes;
}

/* Can `a`, which costs this much, become `b` at no more than b's cost? */
static bool is_as_good(const traffic_core *core, uint64_t cost,
                       const traffic_sets *a, uint64_t most,
                       const traffic_sets *b) {
  for (uint32_t w = 0; w < core->buffer_words && cost <= most; w++) {
    const uint64_t put_out = b->out[w] & ~a->out[w];
    const uint64_t written = a->dirty[w] & ~b->dirty[w];
    cost += sum_bytes(core, w, put_out) + sum_bytes(core, w, written);
  }
  return cost <= most;
}

static bool is_same(const traffic_core *core, const traffic_sets *a,
                    const traffic_sets *b) {
  return bits_equal(a->out, b->out, core->buffer_words) &&
         bits_equal(a->dirty, b->dirty, core->buffer_words);
}

/* Does a stored state make the new one needless? */
static bool makes_needless(const traffic_store *s, uint32_t id, uint64_t cost,
                           const traffic_sets *sets) {
  const traffic_sets other = traffic_store_sets(s, id);
  if (s->states[id].cost > cost) return false;
  return s->dominance
             ? is_as_good(s->core, s->states[id].cost, &other, cost, sets)
             : is_same(s->core, &other, sets);
}

static bool is_needless(const traffic_store *s, uint32_t id, uint64_t cost,
                        const traffic_sets *sets) {
  const traffic_sets other = traffic_store_sets(s, id);
  if (s->states[id].cost < cost) return false;
  return s->dominance
             ? is_as_good(s->core, cost, sets, s->states[id].cost, &other)
             : is_same(s->core, &other, sets);
}

/* Unlink those of a chain that the new state makes needless. */
static uint32_t thin_chain(traffic_store *s, uint32_t head, uint64_t cost,
                           const traffic_sets *sets, uint64_t *out_ticks) {
  uint32_t *link = &head;
  while (*link != CALM_NONE) {
    traffic_state *state = &s->states[*link];
    ++*out_ticks;
    state->dropped = is_needless(s, *link, cost, sets);
    if (state->dropped)
      *link = state->next;
    else
      link = &state->next;
  }
  return head;
}

static bool is_wanted(const traffic_store *s, uint32_t head, uint64_t cost,
                      const traffic_sets *sets, uint64_t *out_ticks) {
  for (uint32_t i = head; i != CALM_NONE; i = s->states[i].next) {
    ++*out_ticks;
    if (makes_needless(s, i, cost, sets)) return false;
  }
  return true;
}

bool traffic_store_wants(const traffic_store *s, uint64_t cost,
                         const traffic_sets *sets, uint64_t *out_ticks) {
  if (s->slot_count == 0) return true;
  const uint32_t slot = *find_slot(s, sets->done);
  return !slot || is_wanted(s, slot - 1, cost, sets, out_ticks);
}

calm_status traffic_store_add(uint32_t *out_id, traffic_store *s,
                              const traffic_state *state,
                              const traffic_sets *sets, uint64_t *out_ticks) {
  uint32_t *slot;
  TRY(reach_slot(&slot, s, sets->done));
  const uint32_t head = *slot ? *slot - 1 : CALM_NONE;
  *out_id = CALM_NONE;
  if (!is_wanted(s, head, state->cost, sets, out_ticks)) return CALM_OK;
  TRY(grow_pool(s));
  const uint32_t id = s->count++;
  s->stored++;
  s->states[id] = *state;
  s->states[id].dropped = false;
  memcpy(s->rows + (size_t)id * s->row_words, sets->done,
         s->row_words * sizeof *s->rows);
  s->states[id].next = thin_chain(s, head, state->cost, sets, out_ticks);
  s->slot_count += *slot == 0;
  *slot = id + 1;
  *out_id = id;
  return CALM_OK;
}

calm_status traffic_store_compact(traffic_store *s, uint32_t first,
                                  const uint32_t *kept, uint32_t count) {
  traffic_store_seal(s);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t to = first + i;
    assert(kept[i] >= to && !s->states[kept[i]].dropped);
    s->states[to] = s->states[kept[i]];
    memmove(s->rows + (size_t)to * s->row_words,
            s->rows + (size_t)kept[i] * s->row_words,
            s->row_words * sizeof *s->rows);
    uint32_t *slot;
    TRY(reach_slot(&slot, s, traffic_store_sets(s, to).done));
    s->states[to].next = *slot ? *slot - 1 : CALM_NONE;
    s->slot_count += *slot == 0;
    *slot = to + 1;
  }
  s->count = first + count;
  return CALM_OK;
}
