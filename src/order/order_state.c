#include "order/order_state.h"

#include <assert.h>

#include "base/bits.h"
#include "base/select.h"

#if CALM_HOSTILE
enum { FIRST_SLOTS = 2 };
#else
enum { FIRST_SLOTS = 16 };
#endif

calm_status order_store_init(order_store *out, calm_context *context,
                             uint32_t op_count) {
  order_store s = {.context = context,
                   .words = bits_words(op_count),
                   .layer_count = op_count + 1,
                   .free = CALM_NONE};
  const size_t bytes = s.layer_count * sizeof *s.layers;
  s.layers = context_reallocate(context, NULL, 0, bytes);
  if (!s.layers) return context_no_memory(context);
  memset(s.layers, 0, bytes);
  *out = s;
  return CALM_OK;
}

static void free_slots(order_store *s, order_layer *layer) {
  const size_t bytes = layer->capacity * sizeof *layer->slots;
  context_reallocate(s->context, layer->slots, bytes, 0);
  s->slot_bytes -= bytes;
  *layer = (order_layer){NULL, 0, 0};
}

static void free_layers(order_store *s) {
  for (uint32_t i = 0; i < s->layer_count; i++)
    if (s->layers[i].slots) free_slots(s, &s->layers[i]);
}

void order_store_free(order_store *s) {
  if (!s->layers) return;
  free_layers(s);
  context_reallocate(s->context, s->layers, s->layer_count * sizeof *s->layers,
                     0);
  context_reallocate(s->context, s->states,
                     s->state_capacity * sizeof *s->states, 0);
  context_reallocate(s->context, s->sets,
                     s->set_capacity * s->words * sizeof *s->sets, 0);
  VECTOR_FREE(s->context, &s->path);
  VECTOR_FREE(s->context, &s->open);
  VECTOR_FREE(s->context, &s->ranked);
  s->layers = NULL;
}

uint64_t order_store_bytes(const order_store *s) {
  return s->layer_count * sizeof *s->layers + s->slot_bytes +
         s->state_capacity * (uint64_t)sizeof *s->states +
         s->set_capacity * (uint64_t)s->words * sizeof *s->sets +
         s->path.capacity * (uint64_t)sizeof *s->path.data +
         (s->open.capacity + (uint64_t)s->ranked.capacity) * sizeof(uint32_t);
}

void order_store_clear(order_store *s, uint32_t width) {
  assert(width > 0);
  free_layers(s);
  s->used = 0;
  s->free = CALM_NONE;
  s->path.count = s->open.count = 0;
  s->width = width;
  s->dropped = 0;
}

/* ---- The pool of states -------------------------------------------------- */

static calm_status grow_pool(order_store *s) {
  const size_t set_bytes = s->words * sizeof *s->sets;
  const uint64_t needed = s->used + UINT64_C(1);
  if (needed > s->state_capacity) {
    order_state *states = vector_grown(
        s->context, s->states, &s->state_capacity, sizeof *states, needed);
    if (!states) return context_no_memory(s->context);
    s->states = states;
  }
  if (needed > s->set_capacity) {
    uint64_t *sets =
        vector_grown(s->context, s->sets, &s->set_capacity, set_bytes, needed);
    if (!sets) return context_no_memory(s->context);
    s->sets = sets;
  }
  return CALM_OK;
}

static calm_status take_state(uint32_t *out, order_store *s) {
  if (s->free != CALM_NONE) {
    *out = s->free;
    s->free = s->states[s->free].parent;
    return CALM_OK;
  }
  TRY(grow_pool(s));
  *out = s->used++;
  return CALM_OK;
}

static void release_state(order_store *s, uint32_t state) {
  s->states[state].parent = s->free;
  s->free = state;
}

void order_store_release(order_store *s) {
  for (uint32_t i = s->open.count; i-- > 0;) release_state(s, s->open.data[i]);
  s->open.count = 0;
}

/* ---- The table of a layer ------------------------------------------------ */

/* Linear probing; there is always a free slot. */
static uint32_t *find_slot(const order_store *s, const order_layer *layer,
                           uint64_t hash, const uint64_t *set) {
  const uint32_t mask = layer->capacity - 1;
  uint32_t i = (uint32_t)(hash >> 32) & mask;
  while (layer->slots[i]) {
    const uint32_t state = layer->slots[i] - 1;
    if (s->states[state].hash == hash &&
        bits_equal(order_store_set(s, state), set, s->words))
      break;
    i = (i + 1) & mask;
  }
  return &layer->slots[i];
}

/* A state that is known not to be in the layer. */
static void place_state(const order_store *s, order_layer *layer,
                        uint32_t state) {
  const uint32_t mask = layer->capacity - 1;
  uint32_t i = (uint32_t)(s->states[state].hash >> 32) & mask;
  while (layer->slots[i]) i = (i + 1) & mask;
  layer->slots[i] = state + 1;
}

static calm_status double_slots(order_store *s, order_layer *layer) {
  order_layer wider = {
      .count = layer->count,
      .capacity = layer->capacity ? layer->capacity * 2 : FIRST_SLOTS};
  if (wider.capacity < layer->capacity) return context_no_memory(s->context);
  const size_t bytes = wider.capacity * sizeof *wider.slots;
  wider.slots = context_reallocate(s->context, NULL, 0, bytes);
  if (!wider.slots) return context_no_memory(s->context);
  memset(wider.slots, 0, bytes);
  for (uint32_t i = 0; i < layer->capacity; i++)
    if (layer->slots[i]) place_state(s, &wider, layer->slots[i] - 1);
  free_slots(s, layer);
  s->slot_bytes += bytes;
  *layer = wider;
  return CALM_OK;
}

/* ---- Choosing the best --------------------------------------------------- */

/* Less memory first, then the lower path, then a hash of the set: a total order
   that knows nothing of addresses or of who came first. */
static bool ranks_before(const void *store, uint32_t a, uint32_t b) {
  const order_store *s = store;
  const order_state *x = &s->states[a], *y = &s->states[b];
  if (x->mem != y->mem) return x->mem < y->mem;
  if (x->peak != y->peak) return x->peak < y->peak;
  if (x->hash != y->hash) return x->hash < y->hash;
  return memcmp(order_store_set(s, a), order_store_set(s, b),
                s->words * sizeof *s->sets) < 0;
}

/* All states of a layer into `ranked`. */
static calm_status list_layer(order_store *s, const order_layer *layer) {
  s->ranked.count = 0;
  VECTOR_RESERVE(s->context, &s->ranked, layer->count);
  for (uint32_t i = 0; i < layer->capacity; i++)
    if (layer->slots[i])
      s->ranked.data[s->ranked.count++] = layer->slots[i] - 1;
  assert(s->ranked.count == layer->count);
  return CALM_OK;
}

/* List a layer and release all but its `width` best states. */
static calm_status list_best(order_store *s, const order_layer *layer) {
  TRY(list_layer(s, layer));
  if (layer->count <= s->width) return CALM_OK;
  select_best(s->ranked.data, s->ranked.count, s->width, ranks_before, s);
  for (uint32_t i = s->width; i < s->ranked.count; i++)
    release_state(s, s->ranked.data[i]);
  s->dropped += s->ranked.count - s->width;
  s->ranked.count = s->width;
  return CALM_OK;
}

/* A layer far beyond its width is cut while it fills, so that a narrow search
   never holds much; the best of the best are the best. */
static calm_status trim_layer(order_store *s, order_layer *layer) {
  TRY(list_best(s, layer));
  memset(layer->slots, 0, layer->capacity * sizeof *layer->slots);
  layer->count = s->ranked.count;
  for (uint32_t i = 0; i < layer->count; i++)
    place_state(s, layer, s->ranked.data[i]);
  return CALM_OK;
}

calm_status order_store_add(order_store *s, const order_state *state,
                            const uint64_t *set, uint32_t size) {
  assert(size < s->layer_count);
  order_layer *layer = &s->layers[size];
  if (layer->count / 4 >= s->width) TRY(trim_layer(s, layer));
  if (layer->count * UINT64_C(2) >= layer->capacity)
    TRY(double_slots(s, layer));
  uint32_t *slot = find_slot(s, layer, state->hash, set);
  if (*slot) {
    order_state *old = &s->states[*slot - 1];
    assert(old->mem == state->mem);
    if (state->peak < old->peak) *old = *state;
    return CALM_OK;
  }
  uint32_t added;
  TRY(take_state(&added, s));
  s->states[added] = *state;
  memcpy(s->sets + (size_t)added * s->words, set, s->words * sizeof *set);
  *slot = added + 1;
  layer->count++;
  s->stored++;
  return CALM_OK;
}

calm_status order_store_open(order_store *s, uint32_t size) {
  assert(s->open.count == 0);
  order_layer *layer = &s->layers[size];
  TRY(list_best(s, layer));
  VECTOR_RESERVE(s->context, &s->open, s->ranked.count);
  if (s->ranked.count)
    memcpy(s->open.data, s->ranked.data,
           s->ranked.count * sizeof *s->open.data);
  s->open.count = s->ranked.count;
  free_slots(s, layer);
  return CALM_OK;
}

calm_status order_store_record(uint32_t *out, order_store *s,
                               const order_state *state) {
  *out = s->path.count;
  VECTOR_PUSH(s->context, &s->path,
              (order_path_record){state->parent, state->cause});
  return CALM_OK;
}
