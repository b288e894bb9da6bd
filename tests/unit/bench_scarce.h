/*
 * Sections of papers, wherever memory runs out: nothing is left behind, and
 * that is what they say.
 */
#ifndef CALM_TESTS_BENCH_SCARCE_H
#define CALM_TESTS_BENCH_SCARCE_H

#include "bench/bench_output.h"
#include "scarce.h"

/* With so many allocations granted; into the folder, unless it is NULL. */
static inline calm_status bench_scarce_once(const bench_paper *paper,
                                            const char *only,
                                            const char *folder,
                                            uint64_t *left) {
  const calm_allocator allocator = {scarce_reallocate, left};
  calm_context *context = calm_context_new(&allocator);
  calm_options *options = NULL;
  if (!context) return CALM_NO_MEMORY;
  calm_status status = calm_options_new(&options, context);
  if (status == CALM_OK) {
    calm_benchmark m = {.context = context, .paper = paper};
    options->jobs = paper->jobs; /* 1: all in this process */
    bench_init(&m.run, context, options);
    m.run.timing = false;
    status = bench_run(&m.run, paper, only);
    if (status == CALM_OK && folder) status = calm_benchmark_write(&m, folder);
    bench_free(&m.run);
  }
  calm_options_free(options);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return status;
}

/* After the first one, after each of the next few, and then less and less
   often: some hundred times in all. */
static inline void bench_scarce(const bench_paper *paper, const char *only,
                                const char *folder) {
  uint64_t count = 0;
  for (uint64_t step = 1;; count += step, step += step / 8 + (count > 50)) {
    uint64_t left = count;
    const calm_status status = bench_scarce_once(paper, only, folder, &left);
    if (status == CALM_OK) break;
    assert_int_equal(status, CALM_NO_MEMORY);
  }
  assert_true(count > 100);
}

#endif
