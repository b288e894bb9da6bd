/* Tiled networks are run beside the untiled ones: all outputs are equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "context_fixture.h"
#include "graph/graph_text.h"
#include "tile/tile.h"
#include "tile_random.h"
#include "tile_run.h"

typedef struct tally {
  uint32_t tiled[TILE_MODES], refused[TILE_MODES];
} tally;

static void expect_tidy(const graph *g, const tile_options *options) {
  for (tensor_id t = 0; t < g->tensors.count; t++)
    assert_true(g->producer[t] != CALM_NONE ||
                g->reader_begin[t] < g->reader_begin[t + 1]);
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    const tensor_id y = op->outputs[0];
    assert_true(g->reader_begin[y] < g->reader_begin[y + 1] ||
                (g->tensors.data[y].flags & CALM_TENSOR_OUTPUT));
    assert_true(g->order[u] == u);
    if (op->kind == OP_concat && options->most_operands)
      assert_true(op->input_count <= options->most_operands);
  }
}

static void compare(const graph_edit *edit, const tile_region *region,
                    uint64_t seed) {
  tile_run before, after;
  tile_run_graph(&before, edit->before);
  tile_run_graph(&after, &edit->after);
  assert_false(before.unknown || after.unknown);
  const char *wrong = tile_run_compare(&before, &after);
  if (wrong)
    fail_msg("seed %llu, %u-%u:%ux%u:%s: output %s differs",
             (unsigned long long)seed, region->first, region->last,
             region->rows, region->columns, tile_mode_name(region->mode),
             wrong);
  if (region->mode == TILE_CACHE && after.macs > before.macs)
    fail_msg("seed %llu, %u-%u:%u:cache: computed twice",
             (unsigned long long)seed, region->first, region->last,
             region->rows);
  tile_run_free(&before);
  tile_run_free(&after);
}

static void dump(const graph_edit *edit) {
  text t;
  char *whole;
  text_init(&t, context);
  graph_text_write(&t, edit->before, 1);
  graph_text_write(&t, &edit->after, 1);
  assert_int_equal(text_finish(&t, &whole), CALM_OK);
  puts(whole);
  calm_text_free(context, whole);
}

static void try_mode(tally *t, const graph *g, const tile_region *region,
                     const tile_options *options, arena *a, uint64_t seed) {
  graph_edit edit;
  const calm_status status = tile_apply(&edit, g, region, 1, options, a);
  if (status == CALM_UNSUPPORTED) {
    if (getenv("CALM_TILE_REASONS"))
      printf("%s\n", calm_context_message(context));
    t->refused[region->mode]++;
    return;
  }
  if (status) fail_msg("%s", calm_context_message(context));
  if (getenv("CALM_TILE_DUMP")) dump(&edit);
  t->tiled[region->mode]++;
  expect_tidy(&edit.after, options);
  compare(&edit, region, seed);
  if (tile_check(&edit, context))
    fail_msg("seed %llu, %u-%u:%ux%u:%s: %s", (unsigned long long)seed,
             region->first, region->last, region->rows, region->columns,
             tile_mode_name(region->mode), calm_context_message(context));
  graph_edit_free(&edit);
}

static void try_seed(tally *t, uint64_t seed) {
  random_state random = random_from_seed(seed);
  const bool pads = random_below(&random, 4) == 0;
  tile_options options = {.most_operands = 10, .pads = pads, .row_align = 1};
  tile_region region = {.columns = 1};
  uint32_t rows, columns;
  arena a;
  graph g;
  arena_init(&a, context);
  graph_init(&g, &a, "net");
  tile_net_draw(&g, &random, pads, &region.first, &region.last);
  if (random_below(&random, 3) == 0) options.most_operands = 3;
  if (random_below(&random, 3) == 0) options.row_align = 16;
  options.bare_slices = pads && random_below(&random, 3) == 0;
  const char *reason =
      tile_refuse(&g, region.first, region.last, &rows, &columns);
  if (reason) fail_msg("seed %llu: %s", (unsigned long long)seed, reason);
  region.rows = 2 + random_below(&random, rows < 13 ? rows : 12);
  for (int mode = 0; mode < TILE_MODES; mode++) {
    region.mode = (tile_mode)mode;
    try_mode(t, &g, &region, &options, &a, seed);
  }
  region.mode = TILE_PAD;
  region.columns = 1 + random_below(&random, columns < 5 ? columns : 5);
  region.rows = 1 + random_below(&random, rows < 5 ? rows : 5);
  try_mode(t, &g, &region, &options, &a, seed);
  graph_free(&g);
  arena_free(&a);
}

/* $CALM_TILE_NETS: how many. */
static void random_nets_stay_what_they_are(void **state) {
  (void)state;
  const char *wanted = getenv("CALM_TILE_NETS");
  const char *first = getenv("CALM_TILE_FIRST");
  const uint64_t begin = first ? strtoull(first, NULL, 10) : 1;
  const uint64_t count = wanted           ? strtoull(wanted, NULL, 10)
                         : CALM_SANITIZED ? 300
                                          : 2000;
  tally t = {0};
  for (uint64_t seed = begin; seed < begin + count; seed++) try_seed(&t, seed);
  for (int mode = 0; mode < TILE_MODES; mode++)
    print_message("%s: %u tiled, %u refused\n", tile_mode_name((tile_mode)mode),
                  t.tiled[mode], t.refused[mode]);
  assert_true(t.tiled[TILE_PAD] > count / 2);
  assert_true(t.tiled[TILE_SAME] > count / 4);
  assert_true(t.tiled[TILE_CACHE] > count / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_nets_stay_what_they_are),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
