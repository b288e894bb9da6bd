#include "traffic/traffic_exact_outlook.h"

#include "base/hash.h"
#include "base/number.h"

enum {
  MOST_SETS = 1 << 18,
  MOST_VALUES = 1 << 25,
  LEAST_LEVELS = 8,
  MOST_LEVELS = 64,
  VALUES_PER_TICK = 16
};

#if CALM_HOSTILE
enum { FIRST_SLOTS = 2 };
#else
enum { FIRST_SLOTS = 1024 };
#endif

void traffic_outlook_free(traffic_outlook *o) {
  if (!o->context) return;
  VECTOR_FREE(o->context, &o->sets);
  context_reallocate(o->context, o->slots, o->slot_capacity * sizeof *o->slots,
                     0);
  context_reallocate(o->context, o->values, o->value_count * sizeof *o->values,
                     0);
  *o = (traffic_outlook){.context = NULL};
}

uint64_t traffic_outlook_bytes(const traffic_outlook *o) {
  return o->sets.capacity * (uint64_t)sizeof *o->sets.data +
         o->slot_capacity * (uint64_t)sizeof *o->slots +
         o->value_count * (uint64_t)sizeof *o->values;
}

/* ---- Sets of operators --------------------------------------------------- */

static const uint64_t *set_of(const traffic_outlook *o, uint32_t i) {
  return o->sets.data + (size_t)i * o->core->op_words;
}

static uint32_t *find_slot(const traffic_outlook *o, const uint64_t *set) {
  const uint32_t words = o->core->op_words, mask = o->slot_capacity - 1;
  uint32_t i = (uint32_t)hash_bytes(set, words * sizeof *set) & mask;
  while (o->slots[i] && !bits_equal(set_of(o, o->slots[i] - 1), set, words))
    i = (i + 1) & mask;
  return &o->slots[i];
}

static calm_status double_slots(traffic_outlook *o) {
  const uint32_t capacity =
      o->slot_capacity ? o->slot_capacity * 2 : FIRST_SLOTS;
  const size_t bytes = capacity * sizeof *o->slots;
  uint32_t *slots = context_reallocate(o->context, NULL, 0, bytes);
  if (!slots) return context_no_memory(o->context);
  context_reallocate(o->context, o->slots, o->slot_capacity * sizeof *slots, 0);
  memset(slots, 0, bytes);
  o->slots = slots;
  o->slot_capacity = capacity;
  for (uint32_t i = 0; i < o->count; i++) *find_slot(o, set_of(o, i)) = i + 1;
  return CALM_OK;
}

static calm_status add_set(traffic_outlook *o, const uint64_t *set) {
  if (o->count * UINT64_C(2) >= o->slot_capacity) TRY(double_slots(o));
  uint32_t *slot = find_slot(o, set);
  if (*slot) return CALM_OK;
  const uint32_t words = o->core->op_words;
  VECTOR_RESERVE(o->context, &o->sets, words);
  memcpy(o->sets.data + o->sets.count, set, words * sizeof *set);
  o->sets.count += words;
  *slot = ++o->count;
  return CALM_OK;
}

static bool is_ready(const traffic_core *core, uint32_t u,
                     const uint64_t *done) {
  return !bits_has(done, u) &&
         bits_within(traffic_core_ops(core, core->preds, u), done,
                     core->op_words);
}

/* All sets that are closed under predecessors, smaller ones first. */
static calm_status list_sets(bool *out_all, traffic_outlook *o, uint64_t *set,
                             limits *l) {
  const traffic_core *core = o->core;
  const size_t bytes = core->op_words * sizeof *set;
  memset(set, 0, bytes);
  TRY(add_set(o, set));
  for (uint32_t i = 0; i < o->count && o->count <= MOST_SETS; i++) {
    memcpy(set, set_of(o, i), bytes);
    for (uint32_t u = 0; u < core->op_count; u++) {
      if (!is_ready(core, u, set)) continue;
      bits_add(set, u);
      TRY(add_set(o, set));
      bits_remove(set, u);
    }
    if (limits_spend(l, core->op_count) ||
        limits_memory(l, traffic_outlook_bytes(o)))
      break;
  }
  *out_all = o->count <= MOST_SETS && l->reason == LIMITS_NONE;
  return CALM_OK;
}

/* ---- Steps --------------------------------------------------------------- */

/* An operator after a set, in bytes. */
typedef struct outlook_step {
  bool streams;
  uint64_t beside; /* live and not touched */
  uint64_t least;  /* off chip at least: while it runs, or behind it */
  uint64_t fresh;  /* becomes clean, or may: first reads, last states */
  uint64_t clean;  /* can be clean behind it, at most */
  uint32_t to;     /* the set behind it */
} outlook_step;

static bool counts(const traffic_core *core, uint32_t b) {
  return core->bytes[b] <= core->capacity; /* else it is counted apart */
}

static uint64_t sum_beside(const traffic_core *core, const uint64_t *live,
                           const uint64_t *uses) {
  uint64_t bytes = 0;
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = live[w] & ~uses[w]; rest; rest &= rest - 1) {
      const uint32_t b = w * 64 + bits_lowest(rest);
      if (counts(core, b)) bytes += core->bytes[b];
    }
  return bytes;
}

/* `done` includes u, `before` does not. */
static outlook_step describe_step(const traffic_outlook *o, uint32_t u,
                                  const uint64_t *before, const uint64_t *done,
                                  const uint64_t *live) {
  const traffic_core *core = o->core;
  const uint64_t *uses = traffic_core_buffers(core, core->uses, u);
  const uint64_t need = traffic_core_need(core, u, before);
  outlook_step s = {.streams = need > core->capacity,
                    .beside = sum_beside(core, live, uses)};
  uint64_t stays = 0, written = 0;
  for (uint32_t w = 0; w < core->buffer_words; w++)
    for (uint64_t rest = uses[w]; rest; rest &= rest - 1) {
      const uint32_t b = w * 64 + bits_lowest(rest);
      const uint64_t *touchers = traffic_core_ops(core, core->touchers, b);
      if (!counts(core, b) || bits_within(touchers, done, core->op_words))
        continue;
      const bool writes = traffic_core_writes(core, u, b, before);
      stays += core->bytes[b];
      if (writes && traffic_core_spills(core, b, done))
        written += core->bytes[b];
      else if (writes || !bits_meet(touchers, before, core->op_words))
        s.fresh += core->bytes[b];
    }
  const uint64_t held = s.beside + (s.streams ? stays : need);
  s.least = held > core->capacity ? held - core->capacity : 0;
  s.least = number_round_up(s.least, o->unit);
  s.clean = s.beside + stays - written;
  s.to = *find_slot(o, done) - 1;
  return s;
}

static uint32_t level_of(const traffic_outlook *o, uint64_t bytes) {
  const uint64_t level = bytes / o->step + (bytes % o->step != 0);
  return level < o->levels ? (uint32_t)level : o->levels - 1;
}

static uint64_t lack(uint64_t wanted, uint64_t there) {
  return wanted > there ? wanted - there : 0;
}

/* Lower the values of a set by one step. */
static void follow_step(const traffic_outlook *o, uint32_t from,
                        const outlook_step *s) {
  const uint32_t levels = o->levels;
  uint32_t *values = o->values + (size_t)from * levels * levels;
  const uint32_t *next = o->values + (size_t)s->to * levels * levels;
  for (uint32_t i = 0; i < levels; i++) {
    uint64_t clean = i * o->step, written;
    if (s->streams) {
      clean = number_smaller(clean + s->fresh, s->clean);
      written = lack(s->least, clean);
      clean += written;
    } else {
      written = lack(s->least, number_smaller(clean, s->beside));
      clean = number_smaller(clean + written + s->fresh, s->clean);
    }
    const uint32_t *row = next + (size_t)level_of(o, clean) * levels;
    for (uint32_t j = 0; j <= i; j++) {
      const uint64_t out = number_smaller(j * o->step, s->beside);
      const uint64_t gone = lack(s->least, out);
      const uint64_t cost =
          (gone + written) / o->unit + row[level_of(o, out + gone)];
      if (cost < values[i * levels + j])
        values[i * levels + j] = (uint32_t)cost;
    }
  }
}

static void value_set(const traffic_outlook *o, uint32_t i, uint64_t *done,
                      uint64_t *live, limits *l) {
  const traffic_core *core = o->core;
  const uint64_t *set = set_of(o, i);
  const size_t levels = o->levels;
  uint64_t ticks = core->op_count;
  traffic_core_live(core, live, set);
  memcpy(done, set, core->op_words * sizeof *done);
  memset(o->values + i * levels * levels, i + 1 < o->count ? 0xff : 0,
         levels * levels * sizeof *o->values);
  for (uint32_t u = 0; u < core->op_count; u++) {
    if (!is_ready(core, u, set)) continue;
    bits_add(done, u);
    const outlook_step s = describe_step(o, u, set, done, live);
    follow_step(o, i, &s);
    bits_remove(done, u);
    ticks += levels * levels / VALUES_PER_TICK;
  }
  limits_spend(l, ticks);
}

/* ---- The table ----------------------------------------------------------- */

/* Fine enough to be exact if there is room; false if it would be too coarse, or
   if values might not fit. */
static bool choose_grid(traffic_outlook *o) {
  const traffic_core *core = o->core;
  uint64_t total = 0, most = 0;
  for (uint32_t b = 0; b < core->buffer_count; b++) {
    if (!counts(core, b)) continue;
    const uint64_t *touchers = traffic_core_ops(core, core->touchers, b);
    o->unit = number_gcd(o->unit, core->bytes[b]);
    total += core->bytes[b];
    most = number_larger(most, bits_count(touchers, core->op_words));
  }
  if (!total || total / o->unit > UINT32_MAX / 4 / (most + 1)) return false;
  uint32_t levels = MOST_LEVELS;
  while (levels >= LEAST_LEVELS &&
         (uint64_t)levels * levels * o->count > MOST_VALUES)
    levels--;
  const uint64_t units = total / o->unit;
  if (units < levels) levels = (uint32_t)units + 1;
  o->levels = levels;
  o->step = (units + levels - 2) / (levels - 1) * o->unit;
  return levels >= LEAST_LEVELS || units < LEAST_LEVELS;
}

static calm_status fill_values(bool *out_ready, traffic_outlook *o,
                               uint64_t *done, uint64_t *live, limits *l) {
  o->value_count = (size_t)o->count * o->levels * o->levels;
  o->values = context_reallocate(o->context, NULL, 0,
                                 o->value_count * sizeof *o->values);
  if (!o->values) {
    o->value_count = 0;
    return context_no_memory(o->context);
  }
  limits_memory(l, traffic_outlook_bytes(o));
  for (uint32_t i = o->count; i-- > 0 && l->reason == LIMITS_NONE;)
    value_set(o, i, done, live, l);
  *out_ready = l->reason == LIMITS_NONE;
  return CALM_OK;
}

static calm_status tabulate(bool *out_ready, traffic_outlook *o, arena *scratch,
                            limits *l) {
  uint64_t *set, *live;
  ARENA_ARRAY(scratch, set, o->core->op_words);
  ARENA_ARRAY(scratch, live, o->core->buffer_words);
  TRY(list_sets(out_ready, o, set, l));
  if (!*out_ready) return CALM_OK;
  *out_ready = choose_grid(o);
  return *out_ready ? fill_values(out_ready, o, set, live, l) : CALM_OK;
}

calm_status traffic_outlook_build(bool *out_ready, traffic_outlook *out,
                                  const traffic_core *core,
                                  calm_context *context, limits *l) {
  traffic_outlook o = {.context = context, .core = core};
  arena scratch;
  bool ready = false;
  arena_init(&scratch, context);
  const calm_status status = tabulate(&ready, &o, &scratch, l);
  arena_free(&scratch);
  if (status != CALM_OK) {
    traffic_outlook_free(&o);
    return status;
  }
  *out = o;
  *out_ready = ready;
  return CALM_OK;
}

uint64_t traffic_outlook_of(const traffic_outlook *o,
                            const traffic_sets *sets) {
  const traffic_core *core = o->core;
  uint64_t out = 0, clean = 0;
  for (uint32_t b = 0; b < core->buffer_count; b++) {
    const uint64_t *touchers = traffic_core_ops(core, core->touchers, b);
    if (!counts(core, b) || !bits_meet(touchers, sets->done, core->op_words) ||
        bits_within(touchers, sets->done, core->op_words))
      continue;
    if (bits_has(sets->out, b)) out += core->bytes[b];
    if (!bits_has(sets->dirty, b)) clean += core->bytes[b];
  }
  const uint32_t set = *find_slot(o, sets->done) - 1;
  const size_t row = (size_t)set * o->levels + level_of(o, clean);
  return o->values[row * o->levels + level_of(o, out)] * o->unit;
}
