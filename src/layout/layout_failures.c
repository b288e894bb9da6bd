#include "layout/layout_failures.h"

#include <string.h>

#if CALM_HOSTILE
enum { FIRST_SLOTS = 4, FIRST_POOL = 16 };
#else
enum { FIRST_SLOTS = 256, FIRST_POOL = 1 << 12 };
#endif
enum {
  MAX_SLOTS = 1 << 22,
  MAX_POOL = 1 << 22,
  PROBES = 4,
  SKYLINES = 4 /* per set */
};

typedef struct failure_set {
  failure_key key;
  uint64_t skylines[SKYLINES]; /* positions in the pool, plus one; 0: none */
  uint32_t next;
} failure_set;

void failures_init(failures *f, calm_context *context, uint64_t max_bytes) {
  *f = (failures){.context = context, .max_bytes = max_bytes};
}

void failures_free(failures *f) {
  calm_context *c = f->context;
  context_reallocate(c, f->states, f->state_slots * sizeof *f->states, 0);
  context_reallocate(c, f->sets, f->set_slots * sizeof *f->sets, 0);
  context_reallocate(c, f->pool, f->pool_size * sizeof *f->pool, 0);
  failures_init(f, c, f->max_bytes);
}

/* ---- Keys ---------------------------------------------------------------- */

static uint64_t mix(uint64_t z, uint64_t factor) {
  z = (z ^ z >> 30) * factor;
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void absorb(failure_key *key, uint64_t word) {
  key->a = mix(key->a ^ word, UINT64_C(0xbf58476d1ce4e5b9));
  key->b = mix(key->b + word, UINT64_C(0xd6e8feb86659fd93));
}

/* Obstacles below the floor are history. */
static void absorb_obstacles(failure_key *key, const skyline *s,
                             uint32_t section) {
  const skyline_obstacle *o = &s->obstacles[s->obstacle_begin[section]];
  failure_key sum = {0, 0};
  bool any = false;
  for (int64_t i = 0; i < s->obstacle_count[section]; i++) {
    if (o[i].high <= s->floor[section]) continue;
    failure_key one = {section, 1};
    absorb(&one, (uint64_t)o[i].low);
    absorb(&one, (uint64_t)o[i].high);
    sum.a += one.a; /* in whatever order they were put there */
    sum.b += one.b;
    any = true;
  }
  if (!any) return;
  absorb(key, sum.a);
  absorb(key, sum.b);
}

failure_keys failures_key(const skyline *s, search_part part) {
  failure_keys keys;
  failure_key bodies = {0, 0}, key = {part.first, part.last};
  absorb(&key, s->capacity_bytes);
  absorb(&key, (uint64_t)part.first << 32 | part.last);
  for (uint32_t i = part.first; i <= part.last; i++) {
    bodies.a ^= (uint64_t)s->set_hash[2 * i];
    bodies.b ^= (uint64_t)s->set_hash[2 * i + 1];
    if (s->count[i] && s->obstacle_count[i]) absorb_obstacles(&key, s, i);
  }
  absorb(&key, bodies.a);
  absorb(&key, bodies.b);
  keys.set = key;
  for (uint32_t i = part.first; i <= part.last; i++)
    if (s->count[i]) absorb(&key, (uint64_t)s->floor[i]);
  keys.state = key;
  return keys;
}

static bool same_key(const failure_key *k, const failure_key *l) {
  return k->a == l->a && k->b == l->b;
}

static bool is_free(const failure_key *k) { return k->a == 0 && k->b == 0; }

#if CALM_HOSTILE
static uint32_t slot_of(const failure_key *k, uint32_t probe, uint32_t slots) {
  (void)k;
  return probe & (slots - 1);
}
#else
static uint32_t slot_of(const failure_key *k, uint32_t probe, uint32_t slots) {
  return ((uint32_t)k->a + probe) & (slots - 1);
}
#endif

/* ---- States -------------------------------------------------------------- */

static bool has_state(const failures *f, const failure_key *key) {
  if (f->state_slots == 0) return false;
  for (uint32_t i = 0; i < PROBES; i++)
    if (same_key(&f->states[slot_of(key, i, f->state_slots)], key)) return true;
  return false;
}

/* In a free slot nearby, or else over the first one. */
static void add_state(failures *f, const failure_key *key) {
  failure_key *at = &f->states[slot_of(key, 0, f->state_slots)];
  for (uint32_t i = 0; i < PROBES; i++) {
    failure_key *slot = &f->states[slot_of(key, i, f->state_slots)];
    if (!is_free(slot)) continue;
    at = slot;
    f->state_count++;
    break;
  }
  *at = *key;
}

/* ---- Skylines per set ---------------------------------------------------- */

static failure_set *find_set(const failures *f, const failure_key *key) {
  if (f->set_slots == 0) return NULL;
  for (uint32_t i = 0; i < PROBES; i++) {
    failure_set *set = &f->sets[slot_of(key, i, f->set_slots)];
    if (same_key(&set->key, key)) return set;
  }
  return NULL;
}

static failure_set *add_set(failures *f, const failure_key *key) {
  failure_set *at = find_set(f, key);
  if (at) return at;
  at = &f->sets[slot_of(key, 0, f->set_slots)];
  for (uint32_t i = 0; i < PROBES; i++) {
    failure_set *set = &f->sets[slot_of(key, i, f->set_slots)];
    if (!is_free(&set->key)) continue;
    at = set;
    f->set_count++;
    break;
  }
  *at = (failure_set){.key = *key};
  return at;
}

/* Skylines do not wrap around the ring's end, and the ring overwrites. */
static const int64_t *find_skyline(const failures *f, uint64_t position,
                                   uint32_t length) {
  if (position == 0 || f->pool_head - (position - 1) > f->pool_size)
    return NULL;
  uint64_t at = (position - 1) % f->pool_size;
  return at + length <= f->pool_size ? f->pool + at : NULL;
}

static bool is_above(const skyline *s, search_part part,
                     const int64_t *stored) {
  for (uint32_t i = part.first; i <= part.last; i++)
    if (s->count[i] && s->floor[i] < *stored++) return false;
  return true;
}

static uint32_t skyline_length(const skyline *s, search_part part) {
  uint32_t length = 0;
  for (uint32_t i = part.first; i <= part.last; i++) length += s->count[i] > 0;
  return length;
}

static void add_skyline(failures *f, failure_set *set, const skyline *s,
                        search_part part) {
  uint32_t length = skyline_length(s, part);
  uint64_t at = f->pool_head % f->pool_size;
  if (length > f->pool_size / 4) return;
  if (at + length > f->pool_size) f->pool_head += f->pool_size - at;
  int64_t *out = f->pool + f->pool_head % f->pool_size;
  set->skylines[set->next++ % SKYLINES] = f->pool_head + 1;
  for (uint32_t i = part.first; i <= part.last; i++)
    if (s->count[i]) *out++ = s->floor[i];
  f->pool_head += length;
}

bool failures_has(const failures *f, const failure_keys *keys, const skyline *s,
                  search_part part) {
  if (has_state(f, &keys->state)) return true;
  const failure_set *stored = find_set(f, &keys->set);
  if (!stored) return false;
  uint32_t length = skyline_length(s, part);
  for (uint32_t i = 0; i < SKYLINES; i++) {
    const int64_t *floors = find_skyline(f, stored->skylines[i], length);
    if (floors && is_above(s, part, floors)) return true;
  }
  return false;
}

void failures_add(failures *f, const failure_keys *keys, const skyline *s,
                  search_part part) {
  if (f->state_slots == 0) return;
  add_state(f, &keys->state);
  add_skyline(f, add_set(f, &keys->set), s, part);
}

/* ---- Growth -------------------------------------------------------------- */

static uint64_t bytes_of(const failures *f) {
  return f->state_slots * sizeof *f->states + f->set_slots * sizeof *f->sets +
         f->pool_size * sizeof *f->pool;
}

static bool may_take(const failures *f, uint64_t more) {
  return more <= f->max_bytes && bytes_of(f) <= f->max_bytes - more;
}

static calm_status new_slots(failures *f, void **out, size_t bytes) {
  *out = context_reallocate(f->context, NULL, 0, bytes);
  if (!*out) return context_no_memory(f->context);
  memset(*out, 0, bytes);
  return CALM_OK;
}

static calm_status grow_states(failures *f) {
  uint32_t slots = f->state_slots ? f->state_slots * 2 : FIRST_SLOTS;
  void *bigger;
  failures old = *f;
  if (slots > MAX_SLOTS || !may_take(f, slots * sizeof *f->states))
    return CALM_OK;
  TRY(new_slots(f, &bigger, slots * sizeof *f->states));
  f->states = bigger;
  f->state_slots = slots;
  f->state_count = 0;
  for (uint32_t i = 0; i < old.state_slots; i++)
    if (!is_free(&old.states[i])) add_state(f, &old.states[i]);
  context_reallocate(f->context, old.states,
                     old.state_slots * sizeof *old.states, 0);
  return CALM_OK;
}

static calm_status grow_sets(failures *f) {
  uint32_t slots = f->set_slots ? f->set_slots * 2 : FIRST_SLOTS;
  void *bigger;
  failures old = *f;
  if (slots > MAX_SLOTS / 4 || !may_take(f, slots * sizeof *f->sets))
    return CALM_OK;
  TRY(new_slots(f, &bigger, slots * sizeof *f->sets));
  f->sets = bigger;
  f->set_slots = slots;
  f->set_count = 0;
  for (uint32_t i = 0; i < old.set_slots; i++)
    if (!is_free(&old.sets[i].key)) *add_set(f, &old.sets[i].key) = old.sets[i];
  context_reallocate(f->context, old.sets, old.set_slots * sizeof *old.sets, 0);
  return CALM_OK;
}

/* Positions change with the ring's size: a bigger ring starts empty. */
static calm_status grow_pool(failures *f) {
  uint32_t size = f->pool_size ? f->pool_size * 4 : FIRST_POOL;
  void *bigger;
  if (size > MAX_POOL || !may_take(f, size * sizeof *f->pool)) return CALM_OK;
  TRY(new_slots(f, &bigger, size * sizeof *f->pool));
  context_reallocate(f->context, f->pool, f->pool_size * sizeof *f->pool, 0);
  f->pool = bigger;
  f->pool_size = size;
  f->pool_head = 0;
  for (uint32_t i = 0; i < f->set_slots; i++)
    memset(f->sets[i].skylines, 0, sizeof f->sets[i].skylines);
  return CALM_OK;
}

/* The pool first: without it, or without sets, nothing is stored at all. */
calm_status failures_grow(failures *f) {
  if (f->pool_head >= f->pool_size) TRY(grow_pool(f));
  if (f->set_count >= f->set_slots / 2) TRY(grow_sets(f));
  if (f->pool_size && f->set_slots && f->state_count >= f->state_slots / 2)
    TRY(grow_states(f));
  return CALM_OK;
}
