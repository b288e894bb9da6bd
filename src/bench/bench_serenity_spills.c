/* The spills of one cell: which bytes go off chip in which order. */
#include "bench/bench_serenity_traffic.h"
#include "memory/memory_traffic.h"

const uint64_t bench_onchip_bytes[BENCH_ALL_SIZES] = {
    32 << 10, 64 << 10, 128 << 10, 256 << 10, 32000, 64000, 128000, 256000};

/* An order, and where its spills are to be put. */
typedef struct run {
  const traffic_problem *problem;
  const uint32_t *sequence;
  uint64_t page_bytes;
} run;

static calm_status count_spills(uint64_t *out, const run *r, uint32_t size,
                                arena *a) {
  const traffic_memory memory = {bench_onchip_bytes[size], r->page_bytes};
  traffic_result result;
  TRY(traffic_belady(&result, r->problem, r->sequence, &memory, a));
  *out = traffic_spills(&result.total);
  return CALM_OK;
}

/* ---- One plan ------------------------------------------------------------ */

/* What is asked of a plan's graph, per size; NULL: not asked. */
typedef struct wanted {
  uint64_t *file, *best, *file_pages, *best_pages;
} wanted;

static calm_status count_at(const wanted *out, uint32_t size,
                            const traffic_problem *t, const uint32_t *file,
                            const uint32_t *best, arena *a) {
  const struct {
    uint64_t *out;
    run run;
  } asked[] = {{out->file, {t, file, 0}},
               {out->best, {t, best, 0}},
               {out->file_pages, {t, file, BENCH_PAGE_BYTES}},
               {out->best_pages, {t, best, BENCH_PAGE_BYTES}}};
  for (int i = 0; i < 4; i++)
    if (asked[i].out)
      TRY(count_spills(&asked[i].out[size], &asked[i].run, size, a));
  return CALM_OK;
}

static calm_status count_plan(const wanted *out, const calm_plan *plan,
                              arena *a) {
  bench_problem p;
  traffic_problem t;
  uint32_t *file;
  TRY(bench_problem_of(&p, plan, a));
  TRY(memory_traffic_build(&t, p.g, &p.memory, a));
  ARENA_ARRAY(a, file, p.memory.order.op_count);
  for (uint32_t u = 0; u < p.memory.order.op_count; u++) file[u] = u;
  for (uint32_t size = 0; size < BENCH_ALL_SIZES; size++)
    TRY(count_at(out, size, &t, file, p.sequence, a));
  return CALM_OK;
}

static calm_status count_way(const wanted *out, const bench *b,
                             calm_model *model, const bench_way *way) {
  calm_plan *plan;
  arena scratch;
  TRY(bench_serenity_plan(&plan, b, model, way));
  arena_init(&scratch, b->context);
  calm_status status = count_plan(out, plan, &scratch);
  arena_free(&scratch);
  calm_plan_free(plan);
  return status;
}

/* ---- One cell ------------------------------------------------------------ */

typedef uint64_t sizes[BENCH_ALL_SIZES];

static calm_status measure(bench_spills *out, const bench *b,
                           calm_model *model) {
  sizes copied, file, best, rewritten, file_pages, best_pages;
  const wanted of_stock = {.file = copied};
  const wanted of_best = {file, best, file_pages, best_pages};
  const wanted of_rewritten = {.best = rewritten};
  TRY(count_way(&of_stock, b, model, &bench_way_stock));
  TRY(count_way(&of_best, b, model, &bench_way_best));
  TRY(count_way(&of_rewritten, b, model, &bench_way_paper));
  for (uint32_t i = 0; i < BENCH_ALL_SIZES; i++)
    out[i] = (bench_spills){copied[i],    file[i],       best[i],
                            rewritten[i], file_pages[i], best_pages[i]};
  return CALM_OK;
}

calm_status bench_measure_spills(bench_spills *out, const bench *b,
                                 bench_network_id id, uint64_t seed) {
  calm_model *model;
  TRY(bench_network_open(&model, b->context, id, seed, BENCH_NODES));
  calm_status status = measure(out, b, model);
  calm_model_free(model);
  return status;
}

bench_reduction bench_reduce(const uint64_t *file, const uint64_t *best,
                             uint32_t count) {
  bench_reduction r = {.geomean = NAN};
  double logarithms = 0;
  for (uint32_t i = 0; i < count; i++) {
    r.both += file[i] && best[i];
    r.freed += file[i] && !best[i];
    r.never += !file[i] && !best[i];
    r.burdened += !file[i] && best[i];
    r.file_bytes += file[i];
    r.best_bytes += best[i];
    if (file[i] && best[i])
      logarithms += log((double)file[i] / (double)best[i]);
  }
  if (r.both) r.geomean = exp(logarithms / r.both);
  return r;
}
