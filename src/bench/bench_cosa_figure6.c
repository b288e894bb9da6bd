/*
 * Figure 6: the delay of every layer by every mapper, and once more with what
 * the array's network makes of it, as the paper simulates that network and we
 * do not.
 */
#include <math.h>

#include "bench/bench_cosa_compare.h"
#include "bench/bench_cosa_paper.h"
#include "bench/bench_cosa_timeloop.h"
#include "bench/bench_sections.h"

/* ---- Notes --------------------------------------------------------------- */

static void note_mappers(bench *b, bench_table *t) {
  const uint64_t seed = b->options->seed;
  bench_note(
      b, t,
      "All nests are for the same machine, keep the same tensors at the same "
      "levels, and are costed by the same evaluator, model `exact`. random: "
      "the best of the first 5 valid nests drawn. hybrid: tilings are drawn, "
      "and of each all loop orders that matter are tried, until 500 valid "
      "nests in a row were no better. 32 x 500: until 16,000 were, since the "
      "authors ran 32 threads, each of which gave up by itself. cosa: the "
      "authors' released program, solved to the end. exact: the optimum. "
      "random and hybrid are geometric means over seeds %llu to %llu. Not "
      "mapped: pairs of a mapper and a layer for which it found no nest.",
      (unsigned long long)seed, (unsigned long long)(seed + BENCH_SEEDS - 1));
}

/* What a claim can come to here at most, and where cosa fails. */
static void note_limits(bench *b, bench_table *t, const bench_comparison *c) {
  const bench_series *exact = &c->series[c->exact], *cosa = &c->series[c->cosa];
  const double most = bench_gain(NULL, &c->layers, c->series, exact, CALM_NONE);
  uint32_t worst = CALM_NONE;
  for (uint32_t i = 0; i < c->layers.count; i++)
    if (cosa->values[i] > 0 &&
        (worst == CALM_NONE || cosa->values[i] / exact->values[i] >
                                   cosa->values[worst] / exact->values[worst]))
      worst = i;
  if (worst == CALM_NONE) return;
  bench_note(
      b, t,
      "The optimum is %.3g times faster than our random, so that no mapper can "
      "be more; cosa is %.3g times faster. The paper reports %g over a random "
      "of its own, which drew %g nests until 5 were valid.",
      most, bench_gain(NULL, &c->layers, c->series, cosa, CALM_NONE),
      c->over_random, bench_claimed(BENCH_CLAIM_RANDOM_SAMPLES));
  bench_note(
      b, t, "cosa is furthest from the optimum, %.3g times, on %s of %s.",
      cosa->values[worst] / exact->values[worst], c->layers.data[worst].name,
      bench_cosa_networks[c->layers.data[worst].network]);
}

/* ---- Delay --------------------------------------------------------------- */

static void add_delays(bench_comparison *c, const bench_mappers *m,
                       bench_member member) {
  static const struct {
    const char *name, *title;
    bench_mapper mapper;
  } rows[] = {{"random", "random", BENCH_RANDOM},
              {"hybrid", "hybrid", BENCH_HYBRID},
              {"hybrid_32", "hybrid, 32 x 500", BENCH_HYBRID_32},
              {"cosa", "cosa", BENCH_COSA},
              {"exact", "exact", BENCH_EXACT}};
  enum { ROWS = sizeof rows / sizeof *rows };
  for (uint32_t i = 0; i < ROWS; i++) {
    c->series[i].name = rows[i].name;
    c->series[i].title = rows[i].title;
    bench_series_fill(&c->series[i], m, rows[i].mapper, member);
  }
  c->count = c->ours = ROWS;
  c->hybrid = 1;
  c->hybrid_32 = 2;
  c->cosa = 3;
  c->exact = 4;
}

static calm_status show_delay(bench *b, bench_comparison *c,
                              const bench_mappers *m) {
  bool there;
  add_delays(c, m, BENCH_CYCLES);
  TRY(bench_timeloop_add(c, &there, b, MAPPER_DELAY));
  bench_table *gains = bench_compare_gains(b, c);
  note_mappers(b, gains);
  if (bench_mappers_proved(m) == m->layers.count) note_limits(b, gains, c);
  bench_table *t = bench_compare_optimum(b, c);
  bench_compare_note_proofs(b, t, m);
  bench_timeloop_note(b, t, there);
  bench_compare_totals(b, c);
  bench_compare_note_padding(b, bench_compare_layers(b, c));
  TRY(bench_compare_draw(b, c));
  return bench_compare_draw_layers(b, c);
}

static calm_status show_links(bench *b, bench_comparison *c,
                              const bench_mappers *m) {
  add_delays(c, m, BENCH_LINK_CYCLES);
  c->name = "figure6-links";
  c->title = "Delay, link-bound";
  c->over_random = c->over_hybrid = NAN;
  bench_table *t = bench_compare_gains(b, c);
  bench_note(b, t,
             "The same nests, found without regard to links. Cycles are at "
             "least what the most loaded link of the array needs, at %d words "
             "(64 bits) a cycle and direction: multicasts go along the row of "
             "processing elements, which are placed as in the authors' file, "
             "and partial sums come back the same way. The paper simulates a "
             "network of routers instead, and finds cosa %g times faster than "
             "hybrid there; that simulation is not reproduced.",
             BENCH_LINK_WORDS, bench_claimed(BENCH_CLAIM_HYBRID_NETWORK));
  bench_compare_layers(b, c);
  return bench_compare_draw(b, c);
}

calm_status bench_cosa_figure6(bench *b) {
  const bench_mappers *m;
  bench_comparison c = {.name = "figure6",
                        .title = "Delay",
                        .unit = "cycles",
                        .kind = BENCH_COUNT,
                        .over_random = bench_claimed(BENCH_CLAIM_RANDOM_DELAY),
                        .over_hybrid = bench_claimed(BENCH_CLAIM_HYBRID_DELAY)};
  ARENA_ARRAY(&b->arena, c.series, BENCH_MOST_SERIES);
  TRY(bench_mappers_run(&m, b, "simba.yaml", MAPPER_DELAY));
  c.layers = m->layers;
  TRY(show_delay(b, &c, m));
  return show_links(b, &c, m);
}
