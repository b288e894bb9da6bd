/*
 * Why a nest moves what it moves.  At each level that keeps a tensor: the words
 * that no nest can do without, those that this one has, and what keeps it from
 * having fewer or from being faster.
 */
#include "report/report_map.h"

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

/* ---- Larger tiles -------------------------------------------------------- */

/* How far each dimension goes within a tile of a level. */
static void find_extents(uint64_t *extents, const calm_evaluation *e,
                         const accel_nest *nest, uint32_t level) {
  const accel_layer *layer = &e->layer;
  for (uint32_t d = 0; d < layer->dimension_count; d++) extents[d] = 1;
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    const accel_loop *l = &nest->loops[i];
    uint64_t *extent = &extents[l->dimension];
    if (l->level <= level) *extent = accel_count_multiply(*extent, l->bound);
  }
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    if (extents[d] > layer->dimensions[d].bound)
      extents[d] = layer->dimensions[d].bound;
}

static uint64_t smallest_factor(uint64_t n) {
  for (uint64_t f = 2; f <= n / f; f++)
    if (n % f == 0) return f;
  return n;
}

/* The next larger extent of a dimension: a factor of a loop outside of the
   level moves into it, or, if factors need not divide their bounds, a step.
   The extent itself if no loop is left outside that runs over time. */
static uint64_t next_extent(uint64_t extent, const calm_evaluation *e,
                            const accel_nest *nest, uint32_t level,
                            uint32_t dimension) {
  const bool perfect = accel_nest_is_perfect(nest);
  const uint64_t bound = e->layer.dimensions[dimension].bound;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    const accel_loop *l = &nest->loops[i];
    if (l->dimension != dimension || l->level <= level ||
        l->kind != ACCEL_TEMPORAL)
      continue;
    const uint64_t next =
        perfect ? accel_count_multiply(extent, smallest_factor(l->bound))
                : extent + 1;
    if (next < least) least = next;
  }
  if (least == UINT64_MAX) return extent;
  return least < bound ? least : bound;
}

static bool fits(const calm_evaluation *e, const accel_nest *nest,
                 uint32_t level, const uint64_t *extents) {
  uint64_t words = 0;
  for (uint32_t t = 0; t < e->layer.tensor_count; t++)
    if (nest->kept[level] >> t & 1)
      words = accel_count_add(
          words, accel_tensor_words(&e->layer.tensors[t], extents));
  return words <= e->arch.levels[level].capacity_words;
}

static bool is_full(const calm_evaluation *e, const accel_nest *nest,
                    uint32_t level, uint32_t tensor) {
  uint64_t extents[ACCEL_MAX_DIMENSIONS];
  bool wanted = false;
  if (e->arch.levels[level].capacity_words == ACCEL_UNLIMITED) return false;
  find_extents(extents, e, nest, level);
  for (uint32_t d = 0; d < e->layer.dimension_count; d++) {
    if (!(e->layer.tensors[tensor].dimensions >> d & 1)) continue;
    const uint64_t extent = extents[d];
    extents[d] = next_extent(extent, e, nest, level, d);
    if (extents[d] == extent) continue;
    if (fits(e, nest, level, extents)) return false;
    extents[d] = extent;
    wanted = true;
  }
  return wanted;
}

/* ---- Loads --------------------------------------------------------------- */

static bool is_slow(const cost_result *r, uint32_t level) {
  if (r->levels[level].slowdown >= 1) return false;
  for (uint32_t i = 0; i < r->level_count; i++)
    if (r->levels[i].cycles > r->levels[level].cycles) return false;
  return true;
}

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

static map_load load_of(const calm_evaluation *e, const eval_nest *n,
                        uint32_t level, uint32_t tensor, bool outermost) {
  const cost_result *r = &n->result;
  const cost_tensor *c = report_eval_tensor(r, level, tensor);
  const double words = (double)c->reads + (double)c->fills + (double)c->updates;
  return (map_load){.level = level,
                    .tensor = tensor,
                    .least = least_words(e, tensor, outermost),
                    .carried = words * (double)r->levels[level].instances,
                    .full = is_full(e, &n->nest, level, tensor),
                    .slow = words > 0 && is_slow(r, level)};
}

calm_status report_map_loads(map_loads *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch) {
  const cost_result *r = &n->result;
  map_loads loads = {0};
  uint32_t seen = 0;
  ARENA_ARRAY(scratch, loads.data, (size_t)r->level_count * r->tensor_count);
  for (uint32_t level = r->level_count; level-- > 0;)
    for (uint32_t t = 0; t < r->tensor_count; t++) {
      if (!report_eval_tensor(r, level, t)->kept) continue;
      loads.data[loads.count++] = load_of(e, n, level, t, !(seen >> t & 1));
      seen |= UINT32_C(1) << t;
    }
  *out = loads;
  return CALM_OK;
}

/* ---- Table --------------------------------------------------------------- */

static const char *restraint_of(const map_load *l) {
  if (l->full && l->slow) return "capacity, bandwidth";
  if (l->full) return "capacity";
  return l->slow ? "bandwidth" : "";
}

/* How full the level is, once per level. */
static void add_fullness(report_table *t, const eval_view *v, uint32_t level,
                         bool first) {
  const uint64_t capacity = v->evaluation->arch.levels[level].capacity_words;
  const uint64_t used = v->nest->result.levels[level].used_words;
  if (first && capacity != ACCEL_UNLIMITED)
    report_table_cell(t, "%s",
                      report_share((double)used, (double)capacity).text);
  else
    report_table_cell(t, "%s", "");
}

static void add_load(report_table *t, const eval_view *v, const map_load *l,
                     bool first) {
  const calm_evaluation *e = v->evaluation;
  const char *name =
      report_eval_times(&t->scratch, report_eval_level_name(e, l->level),
                        v->nest->result.levels[l->level].instances);
  if (!name) t->failed = true;
  report_table_name(t, first && name ? name : "");
  report_table_name(t, e->layer.tensors[l->tensor].name);
  report_table_cell(t, "%s", report_real(l->least).text);
  report_table_cell(t, "%s", report_real(l->carried).text);
  report_table_cell(t, "%s", report_four(l->carried / l->least).text);
  add_fullness(t, v, l->level, first);
  report_table_cell(t, "%s", restraint_of(l));
}

calm_status report_map_explain(text *out, const eval_view *v, arena *scratch) {
  static const report_column columns[] = {
      {"level", COLUMN_NAME},        {"tensor", COLUMN_NAME},
      {"at least", COLUMN_NUMBER},   {"carried", COLUMN_NUMBER},
      {"times", COLUMN_NUMBER},      {"full", COLUMN_NUMBER},
      {"held back by", COLUMN_WORDS}};
  map_loads loads;
  report_table t;
  TRY(report_map_loads(&loads, v->evaluation, v->nest, scratch));
  text_format(out,
              "\n  words over all instances: what no nest can do without, and "
              "what this one has\n");
  report_table_init(&t, out->context, columns, 7);
  for (uint32_t i = 0; i < loads.count; i++)
    add_load(&t, v, &loads.data[i],
             i == 0 || loads.data[i].level != loads.data[i - 1].level);
  return report_table_finish(&t, out, v->color);
}
