/* The spills of one cell: which bytes go off chip in which order. */
#include "bench/bench_serenity_figure11.h"
#include "memory/memory_traffic.h"
#include "pipeline.h"

const uint64_t bench_onchip_bytes[BENCH_ALL_SIZES] = {
    32 << 10, 64 << 10, 128 << 10, 256 << 10, 32000, 64000, 128000, 256000};

calm_status bench_check_traffic(const traffic_problem *p,
                                const uint32_t *sequence,
                                const traffic_memory *memory,
                                const traffic_result *result, arena *a) {
  const char *fault;
  TRY(traffic_check(&fault, p, sequence, memory, result, a));
  return fault ? context_fail(a->context, CALM_INTERNAL, "traffic: %s", fault)
               : CALM_OK;
}

calm_status bench_count_spills(uint64_t *out, uint32_t *streams,
                               const traffic_problem *p,
                               const uint32_t *sequence,
                               const traffic_memory *memory, arena *a) {
  traffic_result result;
  TRY(traffic_belady(&result, p, sequence, memory, a));
  TRY(bench_check_traffic(p, sequence, memory, &result, a));
  *out = traffic_spills(&result.total);
  if (streams) *streams = 0;
  for (uint32_t i = 0; streams && i < p->order->op_count; i++)
    *streams += result.streams[i];
  return CALM_OK;
}

/* ---- One plan ------------------------------------------------------------ */

/* What is asked of a plan's graph, per size; NULL: not asked. */
typedef struct wanted {
  uint64_t *file, *best, *file_pages, *best_pages;
  uint32_t *streams, *op_count;
} wanted;

static calm_status count_at(const wanted *out, uint32_t size,
                            const bench_traffic *t, arena *a) {
  const struct {
    uint64_t *out;
    const uint32_t *sequence;
    uint64_t page_bytes;
  } asked[] = {{out->file, t->file, 0},
               {out->best, t->best, 0},
               {out->file_pages, t->file, BENCH_PAGE_BYTES},
               {out->best_pages, t->best, BENCH_PAGE_BYTES}};
  for (int i = 0; i < 4; i++) {
    const traffic_memory memory = {bench_onchip_bytes[size],
                                   asked[i].page_bytes};
    if (asked[i].out)
      TRY(bench_count_spills(
          &asked[i].out[size],
          i == 1 && out->streams ? &out->streams[size] : NULL, &t->problem,
          asked[i].sequence, &memory, a));
  }
  if (out->op_count) *out->op_count = t->problem.order->op_count;
  return CALM_OK;
}

calm_status bench_traffic_of(bench_traffic *out, const calm_plan *plan,
                             arena *a) {
  const memory_problem *m = &out->graph.memory;
  TRY(bench_problem_of(&out->graph, plan, a));
  TRY(memory_traffic_build(&out->problem, out->graph.g, m, a));
  TRY(pipeline_identity(&out->file, m->order.op_count, a));
  out->best = out->graph.sequence;
  return CALM_OK;
}

static calm_status count_plan(void *out, bench *b, const calm_plan *plan,
                              arena *a) {
  bench_traffic t;
  (void)b;
  TRY(bench_traffic_of(&t, plan, a));
  for (uint32_t size = 0; size < BENCH_ALL_SIZES; size++)
    TRY(count_at(out, size, &t, a));
  return CALM_OK;
}

/* ---- One cell ------------------------------------------------------------ */

typedef uint64_t sizes[BENCH_ALL_SIZES];

calm_status bench_measure_spills(bench_spills *out, bench *b,
                                 bench_network_id id, uint64_t seed) {
  sizes copied, file, best, rewritten, file_pages, best_pages;
  wanted of_stock = {.file = copied}, of_rewritten = {.best = rewritten};
  uint32_t streams[BENCH_ALL_SIZES], op_count;
  wanted of_best = {file, best, file_pages, best_pages, streams, &op_count};
  TRY(bench_with_plan(&of_stock, b, &(bench_task){id, seed, &bench_way_stock},
                      count_plan));
  TRY(bench_with_plan(&of_best, b, &(bench_task){id, seed, &bench_way_best},
                      count_plan));
  TRY(bench_with_plan(&of_rewritten, b,
                      &(bench_task){id, seed, &bench_way_paper}, count_plan));
  for (uint32_t i = 0; i < BENCH_ALL_SIZES; i++)
    out[i] = (bench_spills){.copied = copied[i],
                            .file = file[i],
                            .best = best[i],
                            .rewritten = rewritten[i],
                            .file_pages = file_pages[i],
                            .best_pages = best_pages[i],
                            .op_count = op_count,
                            .streams = streams[i]};
  return CALM_OK;
}

/* ---- Many cells ---------------------------------------------------------- */

bench_reduction bench_reduce(const uint64_t *file, const uint64_t *best,
                             uint32_t count) {
  bench_reduction r = {.both = 0};
  double ratios[BENCH_SEED_COUNT];
  for (uint32_t i = 0; i < count; i++) {
    r.both += file[i] && best[i];
    r.freed += file[i] && !best[i];
    r.never += !file[i] && !best[i];
    r.burdened += !file[i] && best[i];
    r.file_bytes += file[i];
    r.best_bytes += best[i];
    ratios[i] = bench_ratio((double)file[i], (double)best[i]);
  }
  r.geomean = bench_geomean(ratios, count);
  return r;
}
