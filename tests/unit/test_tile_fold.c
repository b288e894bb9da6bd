/* What was tiled is folded, and is then what it was before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "cases.h"
#include "context_fixture.h"
#include "graph/graph_window.h"
#include "tile/tile.h"
#include "tile_random.h"
#include "tile_run.h"
#include "same_graph.h"
#include "scarce.h"
#include "tflite_builder.h"

typedef struct tally {
  uint32_t tiled, folded, back;
} tally;

static void expect_equal(const graph *was, const graph *is, uint64_t seed) {
  tile_run before, after;
  tile_run_graph(&before, was);
  tile_run_graph(&after, is);
  assert_false(before.unknown || after.unknown);
  const char *wrong = tile_run_compare(&before, &after);
  if (wrong)
    fail_msg("seed %llu: output %s differs", (unsigned long long)seed, wrong);
  tile_run_free(&before);
  tile_run_free(&after);
}

static bool same_shape(const graph_tensor *a, const graph_tensor *b) {
  return a->rank == b->rank && a->type == b->type &&
         !memcmp(a->dimensions, b->dimensions, a->rank * sizeof *a->dimensions);
}

/* Operands of what works element by element have the shape of its output, and
   windows that of theirs. */
static void expect_shapes(const graph *g, uint64_t seed) {
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    const graph_tensor *y = &g->tensors.data[op->outputs[0]];
    graph_window w;
    const bool window = op->kind == OP_conv2d || op->kind == OP_max_pool2d ||
                        op->kind == OP_average_pool2d ||
                        op->kind == OP_depthwise_conv2d;
    if (window && !graph_window_of(&w, g, u))
      fail_msg("seed %llu: %s has no window", (unsigned long long)seed,
               op->name);
    for (uint32_t i = 0; !window && i < op->input_count; i++) {
      const graph_tensor *x = &g->tensors.data[op->inputs[i]];
      if (op_kind_flags(op->kind) & OP_ELEMENTWISE && x->rank == 4 &&
          !same_shape(x, y))
        fail_msg("seed %llu: %s has operands of other shapes",
                 (unsigned long long)seed, op->name);
    }
  }
}

static bool same_axis(const window_axis *a, const window_axis *b) {
  return a->input == b->input && a->output == b->output && a->taps == b->taps &&
         a->stride == b->stride && a->dilation == b->dilation &&
         a->before == b->before;
}

/* The same operators with the same windows, in the same order. */
static bool is_back(const graph *was, const graph *is) {
  if (was->ops.count != is->ops.count ||
      was->tensors.count != is->tensors.count)
    return false;
  for (op_id u = 0; u < was->ops.count; u++) {
    const graph_op *a = &was->ops.data[u], *b = &is->ops.data[u];
    graph_window v, w;
    if (a->kind != b->kind || !same_shape(&was->tensors.data[a->outputs[0]],
                                          &is->tensors.data[b->outputs[0]]))
      return false;
    const bool window = graph_window_of(&v, was, u);
    if (window != graph_window_of(&w, is, u)) return false;
    if (window &&
        (!same_axis(&v.rows, &w.rows) || !same_axis(&v.columns, &w.columns)))
      return false;
  }
  return true;
}

/* Tiles that each need all of the picture do not show that they are tiles. */
static bool is_sliced(const graph_edit *edit) {
  const graph *g = &edit->after;
  for (op_id u = 0; u < g->ops.count; u++)
    if (edit->ops.data[u].role == EDIT_CROP &&
        edit->tensors.data[g->ops.data[u].inputs[0]].contents == EDIT_SAME)
      return true;
  return false;
}

static void try_fold(tally *t, const graph *g, const tile_region *region,
                     const tile_options *options, arena *a, uint64_t seed) {
  graph_edit tiled, folded;
  uint32_t found;
  if (tile_apply(&tiled, g, region, 1, options, a)) return;
  t->tiled += is_sliced(&tiled);
  if (tile_fold(&folded, &found, &tiled.after, options, a))
    fail_msg("%s", calm_context_message(context));
  if (found) {
    const bool back = is_back(g, &folded.after);
    expect_equal(g, &folded.after, seed);
    expect_shapes(&folded.after, seed);
    t->folded += is_sliced(&tiled);
    t->back += is_sliced(&tiled) && back;
    graph_edit_free(&folded);
  }
  graph_edit_free(&tiled);
}

static bool has_pads(const graph *g) {
  for (op_id u = 0; u < g->ops.count; u++)
    if (g->ops.data[u].kind == OP_pad) return true;
  return false;
}

/* tallies[mode]; the last one: grids. */
static void try_seed(tally *tallies, uint64_t seed) {
  random_state random = random_from_seed(seed);
  const bool pads = random_below(&random, 4) == 0;
  tile_options options = {.most_operands = 10, .pads = pads, .row_align = 1};
  tile_region region = {.columns = 1};
  uint32_t rows, columns;
  tally other = {0};
  arena a;
  graph g;
  arena_init(&a, context);
  graph_init(&g, &a, "net");
  tile_net_draw(&g, &random, pads, &region.first, &region.last);
  if (random_below(&random, 3) == 0) options.most_operands = 3;
  assert_null(tile_refuse(&g, region.first, region.last, &rows, &columns));
  region.rows = 2 + random_below(&random, rows < 13 ? rows : 12);
  const bool plain = !has_pads(&g);
  for (int mode = 0; mode < TILE_MODES; mode++) {
    region.mode = (tile_mode)mode;
    try_fold(plain ? &tallies[mode] : &other, &g, &region, &options, &a, seed);
  }
  region.mode = TILE_PAD;
  region.columns = 1 + random_below(&random, columns < 5 ? columns : 5);
  region.rows = 1 + random_below(&random, rows < 5 ? rows : 5);
  if (region.rows * region.columns > 1)
    try_fold(plain ? &tallies[TILE_MODES] : &other, &g, &region, &options, &a,
             seed);
  graph_free(&g);
  arena_free(&a);
}

/* $CALM_TILE_NETS: how many. */
static void tiles_of_random_nets_are_folded(void **state) {
  (void)state;
  const char *wanted = getenv("CALM_TILE_NETS");
  const char *first = getenv("CALM_TILE_FIRST");
  const uint64_t begin = first ? strtoull(first, NULL, 10) : 1;
  const uint64_t count = wanted           ? strtoull(wanted, NULL, 10)
                         : CALM_SANITIZED ? 200
                                          : 1000;
  tally t[TILE_MODES + 1] = {{0}};
  for (uint64_t seed = begin; seed < begin + count; seed++) try_seed(t, seed);
  for (int mode = 0; mode <= TILE_MODES; mode++) {
    print_message("%s: %u tiled, %u folded, %u as they were\n",
                  mode < TILE_MODES ? tile_mode_name((tile_mode)mode) : "grid",
                  t[mode].tiled, t[mode].folded, t[mode].back);
    assert_true(t[mode].tiled > count / 3);
    assert_true(t[mode].folded >= t[mode].tiled / 100 * 99);
    assert_true(t[mode].back > t[mode].tiled / 10 * 9);
  }
}

/* ---- Tiles that are wrong ------------------------------------------------ */

static void set_numbers(graph_op *op, const char *key, const int64_t *four,
                        arena *a) {
  char value[96];
  const int length = snprintf(value, sizeof value, "%d,%d,%d,%d", (int)four[0],
                              (int)four[1], (int)four[2], (int)four[3]);
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (!strcmp(op->attributes[i].key, key))
      op->attributes[i].value = arena_string(a, value, (size_t)length);
}

/* A slice begins a row or a column elsewhere; false: it cannot. */
static bool shift_slice(const graph *g, graph_op *op, uint32_t at, int64_t by,
                        arena *a) {
  const graph_tensor *x = &g->tensors.data[op->inputs[0]];
  const graph_tensor *y = &g->tensors.data[op->outputs[0]];
  int64_t begin[GRAPH_MAX_RANK];
  assert_int_equal(graph_op_numbers(begin, op, "begin"), 4);
  begin[at] += by;
  if (begin[at] < 0 || begin[at] + y->dimensions[at] > x->dimensions[at])
    return false;
  set_numbers(op, "begin", begin, a);
  return true;
}

/* A pad has a row or a column on the other side. */
static bool shift_pad(graph_op *op, uint32_t at, int64_t by, arena *a) {
  int64_t before[GRAPH_MAX_RANK], after[GRAPH_MAX_RANK];
  assert_int_equal(graph_op_numbers(before, op, "before"), 4);
  assert_int_equal(graph_op_numbers(after, op, "after"), 4);
  before[at] += by;
  after[at] -= by;
  if (before[at] < 0 || after[at] < 0) return false;
  set_numbers(op, "before", before, a);
  set_numbers(op, "after", after, a);
  return true;
}

/* Parts that a concat puts together change places. */
static bool swap_parts(const graph *g, graph_op *op, random_state *random) {
  const uint32_t i = random_below(random, op->input_count);
  const uint32_t j = random_below(random, op->input_count);
  const tensor_id x = op->inputs[i], y = op->inputs[j];
  if (x == y || !same_shape(&g->tensors.data[x], &g->tensors.data[y]))
    return false;
  op->inputs[i] = y;
  op->inputs[j] = x;
  return true;
}

/* One tile has the bias of another operator. */
static bool change_bias(const graph *g, graph_op *op, random_state *random) {
  const graph_op *other = &g->ops.data[random_below(random, g->ops.count)];
  if (op->input_count < 3 || other->input_count < 3 ||
      op->inputs[2] == other->inputs[2] ||
      !same_shape(&g->tensors.data[op->inputs[2]],
                  &g->tensors.data[other->inputs[2]]))
    return false;
  op->inputs[2] = other->inputs[2];
  return true;
}

static bool spoil(graph *g, random_state *random, arena *a) {
  graph_op *op = &g->ops.data[random_below(random, g->ops.count)];
  const uint32_t at = (g->channels_first ? 2 : 1) + random_below(random, 2);
  const int64_t by = random_below(random, 2) ? 1 : -1;
  if (op->kind == OP_slice) return shift_slice(g, op, at, by, a);
  if (op->kind == OP_pad) return shift_pad(op, at, by, a);
  if (op->kind == OP_concat) return swap_parts(g, op, random);
  return (op->kind == OP_conv2d || op->kind == OP_depthwise_conv2d) &&
         random_below(random, 8) == 0 && change_bias(g, op, random);
}

/* One or two errors, which may make up for each other. */
static bool spoil_some(graph *g, random_state *random, arena *a) {
  uint32_t left = 1 + random_below(random, 2);
  for (uint32_t i = 0; left && i < 100; i++) left -= spoil(g, random, a);
  return left == 0;
}

/* Whatever the graph computes, it computes that when it is folded. */
static void spoil_seed(tally *t, uint64_t seed) {
  random_state random = random_from_seed(seed);
  tile_options options = {.most_operands = 10, .row_align = 1};
  tile_region region = {.columns = 1,
                        .mode = (tile_mode)random_below(&random, TILE_MODES)};
  graph_edit tiled, folded;
  uint32_t found;
  arena a;
  graph g;
  arena_init(&a, context);
  graph_init(&g, &a, "net");
  options.pads = random_below(&random, 4) == 0;
  tile_net_draw(&g, &random, options.pads, &region.first, &region.last);
  region.rows = 2 + random_below(&random, 4);
  if (region.mode == TILE_PAD) region.columns += random_below(&random, 2);
  if (tile_apply(&tiled, &g, &region, 1, &options, &a) == CALM_OK) {
    if (spoil_some(&tiled.after, &random, &a)) {
      t->tiled++;
      assert_int_equal(tile_fold(&folded, &found, &tiled.after, &options, &a),
                       CALM_OK);
      if (found) {
        t->folded++;
        expect_equal(&tiled.after, &folded.after, seed);
        expect_shapes(&folded.after, seed);
        graph_edit_free(&folded);
      }
    }
    graph_edit_free(&tiled);
  }
  graph_free(&g);
  arena_free(&a);
}

static void what_is_wrong_stays_as_wrong_as_it_is(void **state) {
  (void)state;
  const char *wanted = getenv("CALM_TILE_NETS");
  const uint64_t count = wanted           ? strtoull(wanted, NULL, 10)
                         : CALM_SANITIZED ? 300
                                          : 2000;
  tally t = {0};
  for (uint64_t seed = 1; seed <= count; seed++) spoil_seed(&t, seed);
  print_message("%u spoilt, %u folded in parts\n", t.tiled, t.folded);
  assert_true(t.tiled > count / 4);
  assert_true(t.folded < t.tiled / 2);
}

/* ---- What others made ---------------------------------------------------- */

/* Five strips, then three, and pads in front of all convolutions. */
static void hand_made_tiles_are_folded(void **state) {
  static const char *const files[] = {"cfu_hps_74ops.tflite",
                                      "cfu_hps_2021_tiled.tflite",
                                      "cfu_hps_shared_tiled.tflite"};
  const tile_options options = {.most_operands = 10, .row_align = 1};
  (void)state;
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[512], name[64];
    file_map map;
    snprintf(name, sizeof name, "models/%s", files[i]);
    assert_non_null(cases_path(path, sizeof path, name));
    assert_int_equal(file_map_open(&map, context, path), CALM_OK);
    reading *r = reading_of_bytes(map.bytes, map.length);
    graph_edit edit;
    const uint8_t *bytes;
    size_t length;
    uint32_t found;
    arena a;
    arena_init(&a, r->context);
    assert_int_equal(
        tile_fold(&edit, &found, &r->model.graphs.data[0], &options, &a),
        CALM_OK);
    assert_int_equal(found, 5);
    assert_int_equal(edit.after.ops.count, 17);
    for (op_id u = 0; u < edit.after.ops.count; u++)
      if (edit.after.ops.data[u].kind == OP_conv2d)
        assert_string_equal(graph_op_attribute(&edit.after.ops.data[u], "pad"),
                            "same");
    assert_int_equal(model_rebuild(&bytes, &length, &r->model, &edit, &a),
                     CALM_OK);
    reading *again = reading_of_bytes(bytes, length);
    assert_int_equal(again->status, CALM_OK);
    assert_null(graph_difference(&edit.after, &again->model.graphs.data[0]));
    assert_int_equal(reading_end(again), 0);
    graph_edit_free(&edit);
    arena_free(&a);
    assert_int_equal(reading_end(r), 0);
    file_map_close(&map);
  }
}

/* ---- Memory -------------------------------------------------------------- */

static calm_status tile_and_fold(calm_context *c) {
  random_state random = random_from_seed(4);
  const tile_options options = {.most_operands = 10, .row_align = 1};
  tile_region region = {.rows = 3, .columns = 1};
  graph_edit tiled, folded;
  uint32_t found = 0;
  arena a, own;
  graph g;
  arena_init(&own, context);
  arena_init(&a, c);
  graph_init(&g, &own, "net");
  tile_net_draw(&g, &random, false, &region.first, &region.last);
  assert_int_equal(tile_apply(&tiled, &g, &region, 1, &options, &own), CALM_OK);
  const calm_status status =
      tile_fold(&folded, &found, &tiled.after, &options, &a);
  if (status == CALM_OK) {
    assert_int_equal(found, 1);
    graph_edit_free(&folded);
  }
  graph_edit_free(&tiled);
  graph_free(&g);
  arena_free(&own);
  arena_free(&a);
  return status;
}

static void every_failed_allocation_is_reported(void **state) {
  (void)state;
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t most = 1; status == CALM_NO_MEMORY; most++) {
    uint64_t left = most;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *c = calm_context_new(&allocator);
    if (!c) continue;
    status = tile_and_fold(c);
    assert_int_equal(calm_context_bytes(c), 0);
    calm_context_free(c);
  }
  assert_int_equal(status, CALM_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_wrong_stays_as_wrong_as_it_is),
      cmocka_unit_test(hand_made_tiles_are_folded),
      cmocka_unit_test(every_failed_allocation_is_reported),
      cmocka_unit_test(tiles_of_random_nets_are_folded)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
