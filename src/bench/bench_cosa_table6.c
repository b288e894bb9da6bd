/*
 * Table 6: how many nests each mapper draws and costs for a layer, and how long
 * it takes.
 */
#include <math.h>

#include "bench/bench_cosa_mappers.h"
#include "bench/bench_cosa_paper.h"
#include "bench/bench_sections.h"

typedef struct effort {
  bench_mapper mapper;
  int samples, valid, seconds; /* claims of the paper, or NONE */
} effort;

enum { NONE = -1 };

static const effort efforts[] = {
    {BENCH_RANDOM, BENCH_CLAIM_RANDOM_SAMPLES, BENCH_CLAIM_RANDOM_VALID,
     BENCH_CLAIM_RANDOM_SECONDS},
    {BENCH_HYBRID, NONE, NONE, NONE},
    {BENCH_HYBRID_32, BENCH_CLAIM_HYBRID_SAMPLES, BENCH_CLAIM_HYBRID_VALID,
     BENCH_CLAIM_HYBRID_SECONDS},
    {BENCH_COSA, BENCH_CLAIM_COSA_SAMPLES, BENCH_CLAIM_COSA_VALID,
     BENCH_CLAIM_COSA_SECONDS},
    {BENCH_EXACT, NONE, NONE, NONE}};
enum { EFFORTS = sizeof efforts / sizeof *efforts };

static const bench_column columns[] = {
    {"mapper", "mapper", BENCH_WORDS},
    {"samples", "samples: median", BENCH_COUNT},
    {"samples_mean", "samples: mean", BENCH_COUNT},
    {"valid", "valid: median", BENCH_COUNT},
    {"valid_mean", "valid: mean", BENCH_COUNT},
    {"seconds", "seconds: median", BENCH_SECONDS},
    {"seconds_mean", "seconds: mean", BENCH_SECONDS},
    {"seconds_worst", "seconds: max", BENCH_SECONDS},
    {"paper_samples", "paper: samples", BENCH_COUNT},
    {"paper_valid", "paper: valid", BENCH_COUNT},
    {"paper_seconds", "paper: seconds", BENCH_REAL}};

/* ---- Statistics ---------------------------------------------------------- */

enum { MOST_TRIES = BENCH_MOST_LAYERS * BENCH_SEEDS };

typedef struct values {
  double data[MOST_TRIES];
  uint32_t count;
} values;

typedef enum member { SAMPLES, VALID, SECONDS } member;

/* One solution is what CoSA draws, and the one that it costs. */
static double member_of(const bench_try *t, bench_mapper mapper, member which) {
  if (which == SECONDS) return t->seconds;
  if (mapper == BENCH_COSA) return 1;
  if (mapper == BENCH_EXACT) return NAN;
  return (double)(which == SAMPLES ? t->samples : t->valid);
}

/* Of all layers and seeds. */
static void collect(values *out, const bench_mappers *m, bench_mapper mapper,
                    member which) {
  out->count = 0;
  for (uint32_t i = 0; i < m->layers.count; i++) {
    const bench_tries tries = bench_mappers_tries(m, i, mapper);
    for (uint32_t k = 0; k < tries.count; k++)
      if (tries.data[k].mapped)
        out->data[out->count++] = member_of(&tries.data[k], mapper, which);
  }
}

/* ---- The table ----------------------------------------------------------- */

static double claimed(int claim) {
  return claim == NONE ? NAN : bench_claimed((bench_claim)claim);
}

/* Returns the mean of seconds. */
static double add_effort(bench *b, bench_table *t, const bench_mappers *m,
                         const effort *e) {
  values v;
  bench_words(b, t, "%s", bench_mapper_names[e->mapper]);
  for (int which = SAMPLES; which <= VALID; which++) {
    collect(&v, m, e->mapper, (member)which);
    bench_number(b, t, round(bench_median(v.data, v.count)));
    bench_number(b, t, round(bench_mean(v.data, v.count)));
  }
  collect(&v, m, e->mapper, SECONDS);
  const bench_spread spread = bench_spread_of(v.data, v.count);
  bench_number(b, t, bench_median(v.data, v.count));
  bench_number(b, t, spread.mean);
  bench_number(b, t, spread.most);
  bench_number(b, t, claimed(e->samples));
  bench_number(b, t, claimed(e->valid));
  bench_number(b, t, claimed(e->seconds));
  return spread.mean;
}

static void note_ratios(bench *b, bench_table *t, const double *seconds) {
  if (!b->timing || isnan(seconds[3])) return;
  bench_note(
      b, t,
      "On average hybrid, 32 x 500, takes %.3g times as long as cosa, and %.3g "
      "times as long as exact; in the paper hybrid takes %.3g times as long as "
      "cosa. Seconds are processor time of one layer, in one process.",
      seconds[2] / seconds[3], seconds[2] / seconds[4],
      bench_claimed(BENCH_CLAIM_HYBRID_SECONDS) /
          bench_claimed(BENCH_CLAIM_COSA_SECONDS));
}

calm_status bench_cosa_table6(bench *b) {
  const bench_mappers *m;
  double seconds[EFFORTS];
  TRY(bench_mappers_run(&m, b, "simba.yaml", MAPPER_DELAY));
  bench_table *t =
      bench_table_begin(b, "table6", "Samples and time to solution of a layer",
                        BENCH_COLUMNS(columns));
  for (uint32_t i = 0; i < EFFORTS; i++)
    seconds[i] = add_effort(b, t, m, &efforts[i]);
  bench_note(
      b, t,
      "Over all layers and seeds, for delay on Simba. Here nests are drawn and "
      "costed within calm; in the paper by Timeloop, whose model ran as a "
      "process of its own, so that its seconds are not comparable with ours, "
      "only with each other. exact draws no samples.");
  note_ratios(b, t, seconds);
  return CALM_OK;
}
