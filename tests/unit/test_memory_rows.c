/*
 * Rows told apart: no layout of an order needs less than the order problem says
 * of it, with slices and concats as views and outputs over dying inputs.  The
 * graphs are random networks in tiles.
 */
#include "base/number.h"
#include "memory/memory_joint.h"
#include "memory/memory_relief.h"
#include "memory_graphs.h"
#include "tile/tile.h"
#include "tile_random.h"

/* What two tensors share at most if the input begins at least so many bytes
   above the output, or they do not meet: by trying all. */
static uint64_t shared_bytes(int64_t input, int64_t output, int64_t distance) {
  int64_t most = 0;
  for (int64_t above = -input; above <= output; above++) {
    const int64_t low = above > 0 ? above : 0;
    const int64_t high = above + input < output ? above + input : output;
    if (above >= distance && high - low > most) most = high - low;
  }
  return (uint64_t)most;
}

static void savings_agree_with_all_places(void **state) {
  (void)state;
  for (int64_t input = 1; input < 12; input++)
    for (int64_t output = 1; output < 12; output++)
      for (int64_t distance = -14; distance <= output; distance++)
        assert_int_equal(
            memory_relief_saving((uint64_t)input, (uint64_t)output, distance),
            shared_bytes(input, output, distance));
}

/* A network, in tiles where that works. */
typedef struct tiled {
  fixture f;
  graph drawn;
  graph_edit edit;
  bool is_tiled;
  graph *g;
} tiled;

static void tiled_open(tiled *t, random_state *r) {
  const tile_options options = {.most_operands = 10, .row_align = 1};
  tile_region region = {.columns = 1};
  uint32_t rows, columns;
  *t = (tiled){0};
  fixture_begin(&t->f, NULL);
  graph_init(&t->drawn, &t->f.arena, "net");
  tile_net_draw(&t->drawn, r, false, &region.first, &region.last);
  assert_null(
      tile_refuse(&t->drawn, region.first, region.last, &rows, &columns));
  region.rows = 2 + random_below(r, rows < 6 ? rows : 5);
  region.mode = (tile_mode)random_below(r, TILE_MODES);
  t->is_tiled = tile_apply(&t->edit, &t->drawn, &region, 1, &options,
                           &t->f.arena) == CALM_OK;
  t->g = t->is_tiled ? &t->edit.after : &t->drawn;
}

static void tiled_close(tiled *t) {
  if (t->is_tiled) graph_edit_free(&t->edit);
  graph_free(&t->drawn);
  fixture_close(&t->f);
}

static memory_model draw_model(random_state *r) {
  memory_model model = *memory_model_find("tflm");
  memory_model_use_kernels(&model, KERNELS_REFERENCE);
  if (random_below(r, 4)) bits_add(model.views, OP_slice);
  if (random_below(r, 4)) bits_add(model.views, OP_concat);
  model.overlap = random_below(r, 4) != 0;
  return model;
}

/* Any order, uniformly operator by operator. */
static void draw_sequence(uint32_t *sequence, const order_problem *o,
                          random_state *r, arena *a) {
  bool *done = arena_calloc(a, o->op_count, sizeof *done);
  assert_non_null(done);
  for (uint32_t step = 0; step < o->op_count;) {
    const uint32_t u = random_below(r, o->op_count);
    bool ready = !done[u];
    for (uint32_t i = o->pred_begin[u]; i < o->pred_begin[u + 1]; i++)
      if (!done[o->preds[i]]) ready = false;
    if (!ready) continue;
    sequence[step++] = u;
    done[u] = true;
  }
}

/* Of one order; true if the layout meets the peak. */
static bool compare_order(const tiled *t, const memory_model *model,
                          const memory_problem *p, const uint32_t *sequence,
                          arena *a) {
  const layout_options options = layout_options_default();
  memory_scratch scratch;
  memory_joint joint;
  layout_result layout;
  layout_fault fault;
  uint64_t peak;
  limits l;
  op_id *ops = arena_calloc(a, t->g->ops.count, sizeof *ops);
  const op_id *sequences[] = {ops};
  assert_non_null(ops);
  limits_init(&l, t->f.context);
  l.max_ticks = 20000;
  assert_int_equal(memory_expand_sequence(ops, t->g, p, sequence), CALM_OK);
  assert_int_equal(
      memory_scratch_build(&scratch, t->g, 1, KERNELS_REFERENCE, NULL, a),
      CALM_OK);
  assert_int_equal(
      memory_joint_build(&joint, t->g, 1, p, sequences, model, &scratch, a),
      CALM_OK);
  assert_int_equal(layout_solve(&layout, &joint.layout, &options, a, &l),
                   CALM_OK);
  assert_int_equal(layout_check(&fault, &joint.layout, layout.offsets,
                                layout.arena_bytes, t->f.context),
                   CALM_OK);
  assert_int_equal(fault.kind, LAYOUT_SOUND);
  assert_int_equal(order_replay(&peak, &p->order, sequence, NULL, t->f.context),
                   CALM_OK);
  assert_true(layout.bound_bytes <= layout.arena_bytes);
  assert_true(peak <= layout.arena_bytes);
  return number_round_up(peak, TFLM_ALIGN) == layout.arena_bytes;
}

static void no_layout_is_below_the_peak_of_its_order(void **state) {
  (void)state;
  random_state random = random_from_seed(1);
  int tiled_graphs = 0, met = 0;
  for (int i = 0; i < 400; i++) {
    tiled t;
    memory_problem problem;
    const memory_model model = draw_model(&random);
    tiled_open(&t, &random);
    tiled_graphs += t.is_tiled;
    assert_int_equal(
        memory_problem_build(&problem, t.g, &model, NULL, &t.f.arena), CALM_OK);
    uint32_t *sequence =
        arena_calloc(&t.f.arena, problem.order.op_count + 1, sizeof *sequence);
    assert_non_null(sequence);
    for (int n = 0; n < 4; n++) {
      draw_sequence(sequence, &problem.order, &random, &t.f.arena);
      met += compare_order(&t, &model, &problem, sequence, &t.f.arena);
    }
    tiled_close(&t);
  }
  assert_true(tiled_graphs > 200 && met > 250);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(savings_agree_with_all_places),
      cmocka_unit_test(no_layout_is_below_the_peak_of_its_order),
  };
  return cmocka_run_group_tests_name("memory_rows", tests, NULL, NULL);
}
