#include "bench/bench_cosa_variation.h"

#include <math.h>

/* ---- The base ------------------------------------------------------------ */

static calm_status find_base(bench_variation *v, bool *out_found, bench *b) {
  static const mapper_rules all_rules = {0};
  mapper_result r;
  limits l;
  bench_limits(&l, b, UINT64_MAX);
  TRY(mapper_exact(&r, &v->mapping.problem, &all_rules, &l, &b->arena));
  bench_searched(b, l.reason);
  v->base = r.nest;
  *out_found = r.outcome == CALM_OPTIMAL ||
               (r.outcome == CALM_FEASIBLE && l.reason == LIMITS_TIME);
  if (*out_found || l.reason == LIMITS_INTERRUPT) return CALM_OK;
  if (l.reason != LIMITS_TIME)
    return context_fail(b->context, CALM_INTERNAL, "no base is proved best: %s",
                        r.reason ? r.reason : calm_outcome_name(r.outcome));
  bench_miss(b, "%s: there is no nest to begin with within the time limit",
             b->section->name);
  return CALM_OK;
}

calm_status bench_variation_open(bench_variation *out, bool *out_found,
                                 bench *b, const accel_convolution *shape,
                                 const char *rules) {
  arena *a = &b->arena;
  accel_convolution whole = *shape;
  accel_yaml *more;
  out->count = 0;
  whole.n = whole.groups = 1;
  whole.stride_w = whole.stride_h = 1;
  whole.dilation_w = whole.dilation_h = 1;
  TRY(bench_case_parse(&more, rules, a));
  TRY(bench_machine_open(&out->machine, "simba.yaml", a));
  TRY(accel_layer_convolution(&out->layer, rules, &whole, a));
  TRY(bench_mapping_open(&out->mapping, &out->machine, &out->layer,
                         MAPPER_DELAY_ENERGY, more, a));
  return find_base(out, out_found, b);
}

/* ---- Variants ------------------------------------------------------------ */

accel_loop bench_variation_loop(const bench_variation *v, char dimension,
                                uint64_t bound, accel_loop_kind kind) {
  const char name[] = {dimension, '\0'};
  return (accel_loop){.bound = bound,
                      .residual = bound,
                      .dimension = accel_layer_dimension(&v->layer, name),
                      .level = v->machine.global,
                      .kind = kind};
}

/* Levels inside of it, itself, and levels outside, as loops are listed. */
static void put_together(accel_nest *n, const bench_variation *v,
                         const accel_loop *loops, uint32_t count) {
  const accel_nest *base = &v->base;
  const uint32_t global = v->machine.global;
  uint32_t at = 0;
  n->loop_count = 0;
  for (; at < base->loop_count && base->loops[at].level < global; at++)
    n->loops[n->loop_count++] = base->loops[at];
  for (uint32_t i = 0; i < count; i++)
    if (loops[i].bound > 1) n->loops[n->loop_count++] = loops[i];
  for (; at < base->loop_count; at++)
    if (base->loops[at].level > global)
      n->loops[n->loop_count++] = base->loops[at];
}

calm_status bench_variation_add(bench_variation *v, const char *name,
                                const accel_loop *loops, uint32_t count,
                                arena *a) {
  bench_variant *variant = &v->variants[v->count];
  accel_nest n = v->base;
  ARENA_ARRAY(a, n.loops, (size_t)v->base.loop_count + count);
  put_together(&n, v, loops, count);
  variant->name = name;
  TRY(bench_cost_nest(&variant->cost, &v->mapping, &v->layer, &n, a));
  v->count++;
  return CALM_OK;
}

/* ---- What is shown of each ----------------------------------------------- */

enum { FIGURES = 5 };

static double figure_of(const bench_cost *c, uint32_t figure) {
  const double figures[FIGURES] = {c->cycles, c->link_cycles, c->energy_pj,
                                   c->buffer_words, c->array_words};
  return figures[figure];
}

static const char *const figure_names[FIGURES] = {
    "delay", "delay, link-bound", "energy", "accesses of the global buffer",
    "words over the array"};

static const bench_column figure_columns[FIGURES] = {
    {"cycles", "cycles", BENCH_COUNT},
    {"link_cycles", "cycles, link-bound", BENCH_COUNT},
    {"energy_pj", "energy, pJ", BENCH_REAL},
    {"global_buffer_words", "accesses of the global buffer", BENCH_COUNT},
    {"array_words", "words over the array", BENCH_COUNT}};

static double least_of(const bench_variation *v, uint32_t figure) {
  double least = HUGE_VAL;
  for (uint32_t i = 0; i < v->count; i++)
    least = fmin(least, figure_of(&v->variants[i].cost, figure));
  return least;
}

static double most_of(const bench_variation *v, uint32_t figure) {
  double most = 0;
  for (uint32_t i = 0; i < v->count; i++)
    most = fmax(most, figure_of(&v->variants[i].cost, figure));
  return most;
}

static calm_status show_variants(bench *b, const bench_variation *v,
                                 const bench_variation_page *page,
                                 const char *const *notes) {
  bench_column *columns;
  ARENA_ARRAY(&b->arena, columns, 1 + FIGURES);
  columns[0] = page->variant;
  for (uint32_t f = 0; f < FIGURES; f++) columns[1 + f] = figure_columns[f];
  bench_table *t =
      bench_table_begin(b, page->name, page->title, columns, 1 + FIGURES);
  for (uint32_t i = 0; i < v->count; i++) {
    bench_words(b, t, "%s", v->variants[i].name);
    for (uint32_t f = 0; f < FIGURES; f++)
      bench_number(b, t, figure_of(&v->variants[i].cost, f));
  }
  for (; *notes; notes++) bench_note(b, t, "%s", *notes);
  return CALM_OK;
}

static calm_status show_effect(bench *b, const bench_variation *v,
                               const bench_variation_page *page) {
  static const bench_column columns[] = {{"figure", "", BENCH_WORDS},
                                         {"ratio", "worst / best", BENCH_RATIO},
                                         {"paper", "the paper", BENCH_RATIO}};
  text name;
  const char *words;
  text_init(&name, b->context);
  text_format(&name, "%s-effect", page->name);
  TRY(text_keep(&name, &words, &b->arena));
  bench_table *t =
      bench_table_begin(b, words, page->effect, BENCH_COLUMNS(columns));
  for (uint32_t f = 0; f < FIGURES; f++) {
    bench_words(b, t, "%s", figure_names[f]);
    bench_number(b, t, most_of(v, f) / least_of(v, f));
    bench_number(b, t, f == 0 ? bench_claimed(page->claim) : NAN);
  }
  return CALM_OK;
}

static calm_status draw(bench *b, const bench_variation *v,
                        const bench_variation_page *page) {
  double values[FIGURES][BENCH_MOST_VARIANTS];
  chart_series series[FIGURES];
  const char *names[BENCH_MOST_VARIANTS];
  const chart_mark mark = {"the paper's slowest", bench_claimed(page->claim)};
  for (uint32_t f = 0; f < FIGURES; f++) {
    for (uint32_t i = 0; i < v->count; i++)
      values[f][i] = figure_of(&v->variants[i].cost, f) / least_of(v, f);
    series[f] = chart_bars(figure_names[f], values[f], v->count);
  }
  for (uint32_t i = 0; i < v->count; i++) names[i] = v->variants[i].name;
  const report_chart chart = {.title = page->title,
                              .x_title = page->variant.title,
                              .y_title = "times the least",
                              .categories = names,
                              .category_count = v->count,
                              .series = series,
                              .series_count = FIGURES,
                              .marks = &mark,
                              .mark_count = 1};
  return bench_draw(b, page->name, &chart);
}

calm_status bench_variation_show(bench *b, const bench_variation *v,
                                 const bench_variation_page *page,
                                 const char *const *notes) {
  TRY(show_variants(b, v, page, notes));
  TRY(show_effect(b, v, page));
  return draw(b, v, page);
}
