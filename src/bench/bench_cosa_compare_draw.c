/* Comparisons as bars: the improvement over random, by a logarithmic scale, as
   in the paper. */
#include <math.h>
#include <stdio.h>

#include "bench/bench_cosa_compare.h"

typedef struct picture {
  const char *categories[BENCH_MOST_LAYERS];
  double values[BENCH_MOST_SERIES][BENCH_MOST_LAYERS];
  uint32_t count; /* of categories */
} picture;

static calm_status draw(bench *b, const bench_comparison *c, const picture *p,
                        const char *suffix, const char *what, bool marked) {
  char name[64], title[128];
  chart_series series[BENCH_MOST_SERIES];
  const chart_mark mark = {"the paper: cosa", c->over_random};
  for (uint32_t i = 1; i < c->ours; i++)
    series[i - 1] = chart_bars(c->series[i].title, p->values[i], p->count);
  snprintf(name, sizeof name, "%s%s", c->name, suffix);
  snprintf(title, sizeof title, "%s: %s", c->title, what);
  const report_chart chart = {.title = title,
                              .x_title = "",
                              .y_title = "improvement over random",
                              .categories = p->categories,
                              .category_count = p->count,
                              .series = series,
                              .series_count = c->ours - 1,
                              .marks = &mark,
                              .mark_count = marked && !isnan(mark.y),
                              .log_y = true,
                              .base = 1};
  return bench_draw(b, name, &chart);
}

static void fill_networks(picture *p, const bench_comparison *c) {
  p->count = BENCH_COSA_NETWORKS + 1;
  for (uint32_t n = 0; n < p->count; n++) {
    const bool all = n == BENCH_COSA_NETWORKS;
    p->categories[n] = all ? "all" : bench_cosa_networks[n];
    for (uint32_t i = 1; i < c->ours; i++)
      p->values[i][n] = bench_gain(NULL, &c->layers, c->series, &c->series[i],
                                   all ? CALM_NONE : n);
  }
}

static void fill_layers(picture *p, const bench_comparison *c,
                        uint32_t network) {
  p->count = 0;
  for (uint32_t l = 0; l < c->layers.count; l++) {
    if (c->layers.data[l].network != network) continue;
    p->categories[p->count] = c->layers.data[l].name;
    for (uint32_t i = 1; i < c->ours; i++)
      p->values[i][p->count] = c->series[0].values[l] / c->series[i].values[l];
    p->count++;
  }
}

calm_status bench_compare_draw(bench *b, const bench_comparison *c) {
  picture *p;
  ARENA_ARRAY(&b->arena, p, 1);
  fill_networks(p, c);
  return draw(b, c, p, "", "geometric means over layers", true);
}

calm_status bench_compare_draw_layers(bench *b, const bench_comparison *c) {
  static const char *const suffixes[BENCH_COSA_NETWORKS] = {
      "-alexnet", "-resnet50", "-resnext50", "-deepbench"};
  picture *p;
  ARENA_ARRAY(&b->arena, p, 1);
  for (uint32_t n = 0; n < BENCH_COSA_NETWORKS; n++) {
    fill_layers(p, c, n);
    TRY(draw(b, c, p, suffixes[n], bench_cosa_networks[n], false));
  }
  return CALM_OK;
}
