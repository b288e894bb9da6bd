#include "rewrite/rewrite_search_sets.h"

#include <string.h>

#include "base/hash.h"

/* ---- Which sites depend on which ----------------------------------------- */

static bool can_be_chosen(const rewrite_site *site) {
  return !site->refusal && !site->harmless;
}

static void sort_sites(rewrite_searcher *s) {
  for (uint32_t i = 0; i < s->sites->count; i++) {
    const rewrite_site *site = &s->sites->sites[i];
    if (can_be_chosen(site))
      bits_add(s->choosable, i);
    else if (!site->refusal)
      bits_add(s->always, i);
  }
}

/* Does a site's operator read a concat of the graph, and not an operator that
   becomes one when another site is taken?  A nested concat is taken to do so:
   some of its operands are always there. */
static bool stands_alone(const rewrite_sites *all, const rewrite_site *site) {
  const graph *g = all->g;
  return site->concat == CALM_NONE || g->ops.data[site->op].kind == OP_concat ||
         g->ops.data[site->concat].kind == OP_concat;
}

static bool reads_from(const graph *g, op_id reader, op_id writer) {
  const graph_op *op = &g->ops.data[reader];
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE && g->producer[op->inputs[i]] == writer)
      return true;
  return false;
}

/* Openers of site `i`; counted only while `out` is NULL. */
static uint32_t find_openers(const rewrite_sites *all, uint32_t i,
                             uint32_t *out) {
  uint32_t count = 0;
  if (stands_alone(all, &all->sites[i])) return 0;
  for (uint32_t k = 0; k < all->count; k++) {
    if (k == i || all->sites[k].refusal ||
        all->sites[k].op == all->sites[i].op ||
        !reads_from(all->g, all->sites[i].op, all->sites[k].op))
      continue;
    if (out) out[count] = k;
    count++;
  }
  return count;
}

static calm_status list_openers(rewrite_searcher *s) {
  uint32_t total = 0;
  ARENA_ARRAY(s->a, s->opener_begin, (size_t)s->sites->count + 1);
  for (uint32_t i = 0; i < s->sites->count; i++) {
    total += find_openers(s->sites, i, NULL);
    s->opener_begin[i + 1] = total;
  }
  ARENA_ARRAY(s->a, s->openers, total);
  for (uint32_t i = 0; i < s->sites->count; i++)
    find_openers(s->sites, i, s->openers + s->opener_begin[i]);
  return CALM_OK;
}

calm_status search_init(rewrite_searcher *s, const rewrite_sites *sites,
                        const rewrite_judge *judge, limits *l, arena *a) {
  *s = (rewrite_searcher){.sites = sites,
                          .judge = judge,
                          .l = l,
                          .a = a,
                          .words = bits_words(sites->count),
                          .slot_count = 64};
  ARENA_ARRAY(a, s->always, s->words);
  ARENA_ARRAY(a, s->choosable, s->words);
  ARENA_ARRAY(a, s->scope, s->words);
  ARENA_ARRAY(a, s->room, s->words);
  ARENA_ARRAY(a, s->taken, sites->count);
  ARENA_ARRAY(a, s->slots, s->slot_count);
  sort_sites(s);
  search_set_scope(s, NULL);
  return list_openers(s);
}

void search_set_scope(rewrite_searcher *s, const bool *scope) {
  for (uint32_t i = 0; i < s->sites->count; i++) {
    bits_remove(s->scope, i);
    if (bits_has(s->choosable, i) && (!scope || scope[i]))
      bits_add(s->scope, i);
  }
}

void search_free(rewrite_searcher *s) {
  VECTOR_FREE(s->a->context, &s->sets);
  VECTOR_FREE(s->a->context, &s->moves);
}

/* ---- Sets ---------------------------------------------------------------- */

calm_status search_empty_set(uint64_t **out, const rewrite_searcher *s) {
  ARENA_ARRAY(s->a, *out, s->words);
  for (uint32_t w = 0; w < s->words; w++) (*out)[w] = s->always[w];
  return CALM_OK;
}

static bool is_open(const rewrite_searcher *s, const uint64_t *bits,
                    uint32_t site) {
  const uint32_t begin = s->opener_begin[site], end = s->opener_begin[site + 1];
  for (uint32_t i = begin; i < end; i++)
    if (bits_has(bits, s->openers[i])) return true;
  return begin == end;
}

/* Sites stand in topological order, so those that open one come before it. */
void search_normalize(const rewrite_searcher *s, uint64_t *bits) {
  for (uint32_t w = 0; w < s->words; w++)
    bits[w] = (bits[w] & s->choosable[w]) | s->always[w];
  for (uint32_t i = 0; i < s->sites->count; i++)
    if (bits_has(bits, i) && bits_has(s->choosable, i) && !is_open(s, bits, i))
      bits_remove(bits, i);
}

void search_leave_effective(bool *taken, const rewrite_searcher *s) {
  for (uint32_t w = 0; w < s->words; w++) s->room[w] = 0;
  for (uint32_t i = 0; i < s->sites->count; i++)
    if (taken[i]) bits_add(s->room, i);
  for (uint32_t i = 0; i < s->sites->count; i++)
    if (taken[i] && !is_open(s, s->room, i)) {
      bits_remove(s->room, i);
      taken[i] = false;
    }
}

void search_unpack(bool *taken, const rewrite_searcher *s,
                   const uint64_t *bits) {
  for (uint32_t i = 0; i < s->sites->count; i++) taken[i] = bits_has(bits, i);
}

/* ---- What was asked ------------------------------------------------------ */

static uint32_t *find_slot(const rewrite_searcher *s, const uint64_t *bits,
                           uint64_t hash) {
  uint32_t at = (uint32_t)hash & (s->slot_count - 1);
  for (;; at = (at + 1) & (s->slot_count - 1)) {
    const uint32_t set = s->slots[at];
    if (set == 0) return &s->slots[at];
    if (s->sets.data[set - 1].hash == hash &&
        bits_equal(s->sets.data[set - 1].bits, bits, s->words))
      return &s->slots[at];
  }
}

static calm_status grow_slots(rewrite_searcher *s) {
  if ((uint64_t)s->sets.count * 2 < s->slot_count) return CALM_OK;
  s->slot_count *= 2;
  ARENA_ARRAY(s->a, s->slots, s->slot_count);
  for (uint32_t i = 0; i < s->sets.count; i++)
    *find_slot(s, s->sets.data[i].bits, s->sets.data[i].hash) = i + 1;
  return CALM_OK;
}

static calm_status find_set(uint32_t *out, rewrite_searcher *s,
                            const uint64_t *bits) {
  const uint64_t hash = hash_bytes(bits, s->words * sizeof *bits);
  TRY(grow_slots(s));
  uint32_t *slot = find_slot(s, bits, hash);
  if (*slot == 0) {
    search_set set = {.hash = hash, .peak = {UINT64_MAX, 0}};
    ARENA_ARRAY(s->a, set.bits, s->words);
    memcpy(set.bits, bits, s->words * sizeof *bits);
    VECTOR_PUSH(s->a->context, &s->sets, set);
    *slot = s->sets.count;
  }
  *out = *slot - 1;
  return CALM_OK;
}

/* Is there nothing more to be learned of a set below the ceiling? */
static bool is_known(const search_set *set, uint64_t ceiling) {
  return set->ceiling == ceiling || set->peak.bound_bytes >= ceiling ||
         set->peak.peak_bytes <= set->peak.bound_bytes;
}

static void remember(rewrite_searcher *s, uint32_t index, rewrite_peak peak,
                     uint64_t ceiling) {
  search_set *set = &s->sets.data[index];
  if (peak.peak_bytes < set->peak.peak_bytes)
    set->peak.peak_bytes = peak.peak_bytes;
  if (peak.bound_bytes > set->peak.bound_bytes)
    set->peak.bound_bytes = peak.bound_bytes;
  set->ceiling = ceiling;
  if (set->peak.peak_bytes >= s->sets.data[s->best].peak.peak_bytes) return;
  s->best = index;
  context_log(s->l->context, CALM_LOG_PROGRESS,
              "rewrite: peak %llu bytes with %u of %u sites (%u sets planned)",
              (unsigned long long)set->peak.peak_bytes,
              bits_count(set->bits, s->words), s->sites->count, s->judged);
}

calm_status search_ask(uint32_t *out, rewrite_searcher *s, const uint64_t *bits,
                       uint64_t ceiling) {
  rewrite_peak peak;
  memmove(s->room, bits, s->words * sizeof *bits);
  search_normalize(s, s->room);
  TRY(find_set(out, s, s->room));
  if (is_known(&s->sets.data[*out], ceiling)) return CALM_OK;
  search_unpack(s->taken, s, s->room);
  TRY(s->judge->peak(&peak, s->judge->payload, s->taken, ceiling));
  s->judged++;
  remember(s, *out, peak, ceiling);
  return CALM_OK;
}
