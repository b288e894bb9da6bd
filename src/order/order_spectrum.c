/*
 * All orders at once.  Two partial orders that have run the same set S have the
 * same continuations, at the same cost (order.h); they differ in the peak so
 * far alone.  So beside S it is enough to know how many partial orders have
 * which peak: a short list, as there are few peaks.  Running u from S lifts the
 * peaks below its cost to that cost, and adds the list to the one of S + u:
 *
 *     S      peak 3: 2 orders, peak 5: 1, peak 9: 4      u costs 6
 *     S + u  peak 6: 3 orders, peak 9: 4                 and what others bring
 *
 * Kahn's algorithm at random leaves S by each operator that is ready with the
 * same chance, so the same sums with shares, divided by how many are ready.
 *
 * Layer by layer, the sets of i operators after those of i - 1.  No partial
 * count exceeds the number of all orders, as each can be continued somehow: if
 * one does not fit, the result does not either.
 */
#include "order/order_spectrum.h"

#include "base/bits.h"
#include "base/hash.h"
#include "base/vector.h"
#include "order/order_walk.h"

#if CALM_HOSTILE
enum { FIRST_SLOTS = 2 };
#else
enum { FIRST_SLOTS = 64 };
#endif

/* Partial orders of one set with the same peak; the next one's is higher. */
typedef struct spectrum_mass {
  uint64_t peak_bytes, orders;
  double kahn_share;
  uint32_t next; /* in the layer, CALM_NONE: the last one */
} spectrum_mass;

typedef struct spectrum_layer {
  VECTOR(uint64_t) sets;  /* `words` per state */
  VECTOR(uint32_t) first; /* mass of each state */
  VECTOR(spectrum_mass) masses;
} spectrum_layer;

typedef struct spectrum_search {
  const order_problem *p;
  calm_context *context;
  limits *l;
  uint32_t words; /* of one set */
  spectrum_layer now, next;
  VECTOR(uint32_t) slots; /* of the next layer: state + 1, or 0 */
  uint32_t mask;
  order_walk walk;
  uint64_t *grown; /* scratch: the set that is looked for */
  uint64_t downsets;
  bool overflow; /* more orders than fit */
} spectrum_search;

static uint64_t *set_of(const spectrum_search *s, const spectrum_layer *layer,
                        uint32_t state) {
  return layer->sets.data + (size_t)state * s->words;
}

/* ---- Memory -------------------------------------------------------------- */

static uint64_t layer_bytes(const spectrum_layer *layer) {
  return (uint64_t)layer->sets.capacity * sizeof *layer->sets.data +
         (uint64_t)layer->first.capacity * sizeof *layer->first.data +
         (uint64_t)layer->masses.capacity * sizeof *layer->masses.data;
}

/* Is there none for what one more state leads to?  Vectors double. */
static bool memory_is_short(spectrum_search *s) {
  const uint32_t most = UINT32_MAX / 4; /* counts have 32 bits */
  if (s->next.sets.count >= most || s->next.masses.count >= most)
    s->l->reason = LIMITS_MEMORY;
  return limits_memory(s->l,
                       layer_bytes(&s->now) + 2 * layer_bytes(&s->next) +
                           (uint64_t)s->slots.capacity * sizeof *s->slots.data);
}

static void free_layer(spectrum_search *s, spectrum_layer *layer) {
  VECTOR_FREE(s->context, &layer->sets);
  VECTOR_FREE(s->context, &layer->first);
  VECTOR_FREE(s->context, &layer->masses);
}

/* ---- The sets of the next layer ------------------------------------------ */

static calm_status clear_slots(spectrum_search *s, uint32_t count) {
  s->slots.count = 0;
  VECTOR_RESERVE(s->context, &s->slots, count);
  memset(s->slots.data, 0, count * sizeof *s->slots.data);
  s->mask = count - 1;
  return CALM_OK;
}

/* Where a set is, or where it belongs. */
static uint32_t *find_slot(const spectrum_search *s, const uint64_t *set) {
  uint32_t i = (uint32_t)hash_bytes(set, s->words * sizeof *set) & s->mask;
  for (; s->slots.data[i]; i = (i + 1) & s->mask)
    if (bits_equal(set_of(s, &s->next, s->slots.data[i] - 1), set, s->words))
      break;
  return &s->slots.data[i];
}

static calm_status double_slots(spectrum_search *s) {
  TRY(clear_slots(s, (s->mask + 1) * 2));
  for (uint32_t i = 0; i < s->next.first.count; i++)
    *find_slot(s, set_of(s, &s->next, i)) = i + 1;
  return CALM_OK;
}

/* The state of the set `grown` in the next layer. */
static calm_status find_state(uint32_t *out, spectrum_search *s) {
  uint32_t *slot = find_slot(s, s->grown);
  *out = *slot - 1;
  if (*slot) return CALM_OK;
  *out = s->next.first.count;
  *slot = *out + 1;
  for (uint32_t w = 0; w < s->words; w++)
    VECTOR_PUSH(s->context, &s->next.sets, s->grown[w]);
  VECTOR_PUSH(s->context, &s->next.first, CALM_NONE);
  s->downsets++;
  return *out + UINT64_C(1) > s->mask / 2 ? double_slots(s) : CALM_OK;
}

/* ---- Lists of peaks ------------------------------------------------------ */

static void add_orders(spectrum_search *s, uint64_t *sum, uint64_t more) {
  if (more > UINT64_MAX - *sum) s->overflow = true;
  *sum += more;
}

/*
 * Add a mass to the list of a state, behind the mass `behind` (CALM_NONE: from
 * its beginning), whose peak is not higher.  Yields the mass that it went into,
 * behind which the next, higher one goes.
 */
static calm_status add_mass(uint32_t *out, spectrum_search *s, uint32_t state,
                            uint32_t behind, const spectrum_mass *mass) {
  spectrum_layer *layer = &s->next;
  uint32_t at = behind == CALM_NONE ? layer->first.data[state] : behind;
  while (at != CALM_NONE &&
         layer->masses.data[at].peak_bytes < mass->peak_bytes) {
    behind = at;
    at = layer->masses.data[at].next;
  }
  if (at == CALM_NONE || layer->masses.data[at].peak_bytes > mass->peak_bytes) {
    const uint32_t made = layer->masses.count;
    VECTOR_PUSH(s->context, &layer->masses,
                (spectrum_mass){mass->peak_bytes, 0, 0, at});
    *(behind == CALM_NONE ? &layer->first.data[state]
                          : &layer->masses.data[behind].next) = made;
    at = made;
  }
  add_orders(s, &layer->masses.data[at].orders, mass->orders);
  layer->masses.data[at].kahn_share += mass->kahn_share;
  *out = at;
  return CALM_OK;
}

/* ---- Layers -------------------------------------------------------------- */

static bool is_ready(const order_problem *p, uint32_t u, const uint64_t *set) {
  if (bits_has(set, u)) return false;
  for (uint32_t i = p->pred_begin[u + 1]; i-- > p->pred_begin[u];)
    if (!bits_has(set, p->preds[i])) return false;
  return true;
}

/* Run u, which costs `cost`, after all that lead to state `from`. */
static calm_status extend(spectrum_search *s, uint32_t from, uint32_t u,
                          uint64_t cost, double chance) {
  uint32_t to, behind = CALM_NONE;
  memcpy(s->grown, set_of(s, &s->now, from), s->words * sizeof *s->grown);
  bits_add(s->grown, u);
  TRY(find_state(&to, s));
  for (uint32_t i = s->now.first.data[from]; i != CALM_NONE;
       i = s->now.masses.data[i].next) {
    spectrum_mass lifted = s->now.masses.data[i];
    if (lifted.peak_bytes < cost) lifted.peak_bytes = cost;
    lifted.kahn_share *= chance;
    limits_spend(s->l, 1);
    TRY(add_mass(&behind, s, to, behind, &lifted));
  }
  return CALM_OK;
}

/* The walk stands behind the operators of `from` when this is called. */
static calm_status extend_all(spectrum_search *s, uint32_t from) {
  uint32_t ready = 0;
  for (uint32_t u = 0; u < s->p->op_count; u++)
    ready += is_ready(s->p, u, set_of(s, &s->now, from));
  for (uint32_t u = 0; u < s->p->op_count; u++) {
    if (!is_ready(s->p, u, set_of(s, &s->now, from))) continue;
    const uint64_t cost = order_walk_run(&s->walk, u);
    order_walk_undo(&s->walk, u);
    TRY(extend(s, from, u, cost, 1.0 / ready));
  }
  return CALM_OK;
}

/* What it costs to leave a set does not depend on the way there: operators in
   the order of their numbers are one. */
static calm_status expand_state(spectrum_search *s, uint32_t from) {
  for (uint32_t u = 0; u < s->p->op_count; u++)
    if (bits_has(set_of(s, &s->now, from), u)) order_walk_run(&s->walk, u);
  const calm_status status = extend_all(s, from);
  for (uint32_t u = s->p->op_count; u-- > 0;)
    if (bits_has(set_of(s, &s->now, from), u)) order_walk_undo(&s->walk, u);
  return status;
}

/* False in *out_done if a limit stopped it. */
static calm_status expand_layer(bool *out_done, spectrum_search *s) {
  *out_done = false;
  TRY(clear_slots(s, FIRST_SLOTS));
  for (uint32_t from = 0; from < s->now.first.count; from++) {
    if (memory_is_short(s) || limits_spend(s->l, 1) || s->overflow)
      return CALM_OK;
    TRY(expand_state(s, from));
  }
  *out_done = !s->overflow;
  return CALM_OK;
}

/* What was next is now; its memory serves the layer after it. */
static void turn_over(spectrum_search *s) {
  const spectrum_layer old = s->now;
  s->now = s->next;
  s->next = old;
  s->next.sets.count = s->next.first.count = s->next.masses.count = 0;
}

/* ---- From end to end ----------------------------------------------------- */

/* Layer 0: nothing has run, in one way. */
static calm_status begin(spectrum_search *s, arena *scratch) {
  TRY(order_walk_begin(&s->walk, s->p, scratch));
  ARENA_ARRAY(scratch, s->grown, s->words);
  for (uint32_t w = 0; w < s->words; w++)
    VECTOR_PUSH(s->context, &s->now.sets, 0);
  VECTOR_PUSH(s->context, &s->now.first, 0);
  VECTOR_PUSH(s->context, &s->now.masses,
              (spectrum_mass){s->walk.live_bytes, 1, 1, CALM_NONE});
  s->downsets = 1;
  return CALM_OK;
}

/* The one state of the last layer: everything has run. */
static calm_status collect(order_spectrum *out, spectrum_search *s, arena *a) {
  order_spectrum found = {.downsets = s->downsets};
  ARENA_ARRAY(a, found.lines, s->now.masses.count);
  for (uint32_t i = s->now.first.data[0]; i != CALM_NONE;
       i = s->now.masses.data[i].next) {
    const spectrum_mass *m = &s->now.masses.data[i];
    found.lines[found.count++] =
        (order_spectrum_line){m->peak_bytes, m->orders, m->kahn_share};
    add_orders(s, &found.orders, m->orders);
  }
  if (!s->overflow) *out = found;
  return CALM_OK;
}

static calm_status search(order_spectrum *out, spectrum_search *s, arena *a) {
  bool done = true;
  for (uint32_t i = 0; done && i < s->p->op_count; i++) {
    TRY(expand_layer(&done, s));
    turn_over(s);
  }
  return done ? collect(out, s, a) : CALM_OK;
}

calm_status order_spectrum_find(order_spectrum *out, calm_outcome *out_outcome,
                                const order_problem *p, arena *a, limits *l) {
  arena scratch;
  arena_init(&scratch, l->context);
  spectrum_search s = {.p = p,
                       .context = l->context,
                       .l = l,
                       .words = p->op_count ? bits_words(p->op_count) : 1};
  order_spectrum found = {0};
  calm_status status = begin(&s, &scratch);
  if (status == CALM_OK) status = search(&found, &s, a);
  free_layer(&s, &s.now);
  free_layer(&s, &s.next);
  VECTOR_FREE(s.context, &s.slots);
  arena_free(&scratch);
  if (status != CALM_OK) return status;
  *out = found;
  *out_outcome = found.count ? CALM_OPTIMAL : CALM_LIMIT;
  return CALM_OK;
}
