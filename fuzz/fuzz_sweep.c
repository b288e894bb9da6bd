/*
 * Whatever the file of a sweep holds, it is refused in one line, or its points
 * are tasks that can be solved: the first one is, under a small limit, and what
 * comes back can be stored once.
 */
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "demand.h"
#include "sweep/sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_POINTS = 2000 };

static const char machine[] =
    "arch:\n"
    "  arithmetic: {name: MAC, instances: 1, word-bits: 8, energy: 1}\n"
    "  storage:\n"
    "  - {name: Buffer, entries: 64, instances: 1, word-bits: 8,\n"
    "     vector-access-energy: 1}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8,\n"
    "     vector-access-energy: 100}\n";
static const char layer[] =
    "problem: {version: 0.3, shape: gemm_ABZ, instance: {M: 2, N: 2, K: 2}}\n";

static void solve_first(calm_sweep *s, calm_context *context) {
  char *task, *result;
  const uint32_t point = calm_sweep_next(s, 0);
  demand(point == 0);
  demand(calm_sweep_task(&task, s, point) == CALM_OK);
  if (!calm_sweep_solve(&result, context, task)) {
    demand(calm_sweep_store(s, point, result) == CALM_OK);
    demand(calm_sweep_store(s, point, result) == CALM_MISUSE);
    calm_text_free(context, result);
  }
  calm_text_free(context, task);
}

static void show(calm_sweep *s, calm_context *context) {
  char *words;
  demand(calm_sweep_render(&words, s, CALM_FORMAT_JSON, false) == CALM_OK);
  calm_text_free(context, words);
  demand(calm_sweep_render(&words, s, CALM_FORMAT_TABLE, false) == CALM_OK);
  calm_text_free(context, words);
}

/* Other mappers, and searches without an end, have their own targets. */
static bool is_quick(const calm_sweep *s) {
  return s->point_count <= MOST_POINTS && s->option_count == 0 &&
         !strcmp(s->mappers[0], "exact");
}

static void try_sweep(const uint8_t *data, size_t size) {
  calm_sweep *s;
  calm_context *context = calm_context_new(NULL);
  if (!context) return;
  demand(!calm_context_lend(context, "a.yaml", machine, sizeof machine - 1));
  demand(!calm_context_lend(context, "l.yaml", layer, sizeof layer - 1));
  demand(!calm_context_lend(context, "s.yaml", data, size));
  const calm_status status = calm_sweep_open(&s, context, "s.yaml", NULL, NULL);
  if (status) {
    demand(status != CALM_INTERNAL);
    demand(!strchr(calm_context_message(context), '\n'));
  } else {
    if (is_quick(s)) solve_first(s, context);
    if (s->point_count <= MOST_POINTS) show(s, context);
    calm_sweep_free(s);
  }
  calm_context_free(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size <= 1 << 14) try_sweep(data, size ? size : 0);
  return 0;
}
