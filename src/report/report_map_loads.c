/*
 * What each level carries of each tensor, beside what no nest can do without.
 */
#include "report/report_map_explain.h"

/* ---- Words that are used ------------------------------------------------- */

typedef struct map_term {
  uint32_t dimension;
  uint64_t steps, width; /* bound, coefficient */
} map_term;

/* The dimensions that move a rank, without those that moved one before. */
static uint32_t gather_terms(map_term *out, const accel_layer *layer,
                             const accel_rank *rank, uint32_t taken) {
  uint64_t width[ACCEL_MAX_DIMENSIONS] = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < rank->term_count; i++)
    width[rank->terms[i].dimension] += rank->terms[i].coefficient;
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    if (width[d] && layer->dimensions[d].bound > 1 && !(taken >> d & 1))
      out[count++] = (map_term){d, layer->dimensions[d].bound, width[d]};
  return count;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Pairs of steps, less those whose offset another pair has already: so many
   steps of one dimension lead as far as so many of the other. */
static uint64_t distinct_sums(const map_term *a, const map_term *b) {
  const uint64_t common = greatest_divisor(a->width, b->width);
  const uint64_t apart_a = b->width / common, apart_b = a->width / common;
  const uint64_t pairs = a->steps * b->steps;
  if (a->steps <= apart_a || b->steps <= apart_b) return pairs;
  return pairs - (a->steps - apart_a) * (b->steps - apart_b);
}

/* Each further dimension adds all but one of its steps at least. */
static uint64_t distinct_offsets(const map_term *terms, uint32_t count) {
  if (count == 0) return 1;
  uint64_t offsets =
      count > 1 ? distinct_sums(&terms[0], &terms[1]) : terms[0].steps;
  for (uint32_t i = 2; i < count; i++) offsets += terms[i].steps - 1;
  return offsets;
}

uint64_t report_map_used_words(const accel_layer *layer, uint32_t tensor) {
  const accel_tensor *t = &layer->tensors[tensor];
  map_term terms[ACCEL_MAX_DIMENSIONS];
  uint32_t taken = 0;
  uint64_t words = 1;
  for (uint32_t r = 0; r < t->rank_count; r++) {
    const uint32_t count = gather_terms(terms, layer, &t->ranks[r], taken);
    words = accel_count_multiply(words, distinct_offsets(terms, count));
    for (uint32_t i = 0; i < count; i++)
      taken |= UINT32_C(1) << terms[i].dimension;
  }
  return words;
}

/* ---- Loads --------------------------------------------------------------- */

/* Each word that is used leaves every level that keeps it once at least, and
   comes to all but the outermost of these; one that is written comes back, and
   that is all: what is first touched is not read.  docs/cost-model.md, Counts.
 */
static double least_words(const calm_evaluation *e, uint32_t tensor,
                          bool outermost) {
  const double used = (double)report_map_used_words(&e->layer, tensor);
  const bool once = outermost || e->layer.tensors[tensor].read_write;
  return once ? used : 2 * used;
}

static map_load load_of(const calm_evaluation *e, const cost_result *r,
                        uint32_t level, uint32_t tensor, bool outermost) {
  const cost_tensor *c = report_eval_tensor(r, level, tensor);
  const double all = (double)r->levels[level].instances;
  return (map_load){.level = level,
                    .tensor = tensor,
                    .least = least_words(e, tensor, outermost),
                    .reads = (double)c->reads * all,
                    .fills = (double)c->fills * all,
                    .updates = (double)c->updates * all,
                    .energy_pj = c->energy_pj};
}

calm_status report_map_loads(map_explanation *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch) {
  const cost_result *r = &n->result;
  uint32_t seen = 0;
  ARENA_ARRAY(scratch, out->loads, (size_t)r->level_count * r->tensor_count);
  for (uint32_t level = r->level_count; level-- > 0;)
    for (uint32_t t = 0; t < r->tensor_count; t++) {
      if (!report_eval_tensor(r, level, t)->kept) continue;
      out->loads[out->load_count++] = load_of(e, r, level, t, !(seen >> t & 1));
      seen |= UINT32_C(1) << t;
    }
  return CALM_OK;
}
