#include "memory/memory_check.h"
#include "memory_graphs.h"

typedef struct placed {
  memory_problem p;
  memory_placement layout;
} placed;

static placed place(const fixture *f, const memory_model *model,
                    const op_id *sequence) {
  placed out;
  arena *a = (arena *)&f->arena;
  assert_int_equal(
      memory_problem_build(&out.p, f->g, model, random_body_arena, a), CALM_OK);
  assert_int_equal(
      memory_placement_build(&out.layout, f->g, model, &out.p, sequence, a),
      CALM_OK);
  return out;
}

static uint32_t body_of(const fixture *f, const placed *l, const char *name) {
  const tensor_id t = tensor_named(f->g, name);
  assert_int_equal(l->p.buffer_begin[t + 1] - l->p.buffer_begin[t], 1);
  return l->layout.body_of[l->p.buffers[l->p.buffer_begin[t]]];
}

/* The pieces of a body: "0..2:8 2..3:8", upper exclusive. */
static const char *pieces_of(const placed *l, uint32_t body) {
  static char text[256];
  const layout_problem *layout = &l->layout.layout;
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t i = layout->piece_begin[body];
       i < layout->piece_begin[body + 1]; i++) {
    const layout_piece *piece = &layout->pieces[i];
    assert_int_equal(piece->low, 0);
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "%s%" PRId64 "..%" PRId64 ":%" PRIu64,
                               length ? " " : "", piece->lower, piece->upper,
                               piece->high);
  }
  return text;
}

static const char chain[] =
    "tensor x 8 input\ntensor y 8\ntensor z 8\ntensor o 8 output\n"
    "tensor q 3 output\ntensor v 8\n"
    "op a relu ( x ) -> ( y )\n"
    "op s reshape ( y ) -> ( v )\n"
    "op b conv2d ( v ) -> ( q ) workspace=5\n"
    "op c relu ( v ) -> ( z )\n"
    "op d relu ( z ) -> ( o )\n";

static void a_buffer_is_a_body(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const memory_model m = model_of(f.context, "tflm-default");
  const placed l = place(&f, &m, f.g->order);
  assert_false(l.layout.merged);
  assert_int_equal(l.layout.layout.body_count, 7);
  assert_string_equal(pieces_of(&l, body_of(&f, &l, "x")), "0..1:16");
  assert_string_equal(pieces_of(&l, body_of(&f, &l, "y")), "0..2:16");
  assert_string_equal(pieces_of(&l, body_of(&f, &l, "q")), "2..5:16");
  assert_string_equal(pieces_of(&l, l.layout.workspace_body[2]), "2..3:16");
  assert_int_equal(l.layout.workspace_body[0], CALM_NONE);
  for (uint32_t i = 0; i < l.layout.layout.body_count; i++)
    assert_int_equal(l.layout.layout.bodies[i].align, 16);
  fixture_close(&f);
}

static void views_lie_in_their_inputs_body(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const memory_model m = model_of(f.context, "plain views=identity");
  const placed l = place(&f, &m, f.g->order);
  assert_int_equal(body_of(&f, &l, "y"), body_of(&f, &l, "v"));
  assert_string_equal(pieces_of(&l, body_of(&f, &l, "y")), "0..4:8");
  assert_false(l.layout.merged);
  fixture_close(&f);
}

static void chains_in_place_are_one_body(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const memory_model m =
      model_of(f.context, "plain views=identity inplace=relu");
  const placed l = place(&f, &m, f.g->order);
  assert_true(l.layout.merged);
  const uint32_t body = body_of(&f, &l, "x");
  assert_int_equal(body_of(&f, &l, "o"), body);
  assert_string_equal(pieces_of(&l, body), "0..1:8 0..4:8 3..5:8 4..5:8");
  assert_int_equal(l.layout.layout.body_count, 3);
  fixture_close(&f);
}

/* Of two inputs that die the first is overwritten; one that another operator
   still needs is not. */
static void pairs_depend_on_the_order(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 8 input\ntensor y 8 input\ntensor z 8\n"
               "tensor o 8 output\ntensor q 1 output\n"
               "op a add ( x y ) -> ( z )\n"
               "op b conv2d ( x ) -> ( q )\n"
               "op c relu ( z ) -> ( o )\n");
  const memory_model m = model_of(f.context, "plain inplace=elementwise");
  placed l = place(&f, &m, f.g->order);
  assert_int_equal(body_of(&f, &l, "z"), body_of(&f, &l, "y"));
  const op_id late[] = {1, 0, 2};
  l = place(&f, &m, late);
  assert_int_equal(body_of(&f, &l, "z"), body_of(&f, &l, "x"));
  assert_int_not_equal(body_of(&f, &l, "z"), body_of(&f, &l, "y"));
  fixture_close(&f);
}

static void a_graph_without_operators(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "tensor x 8 input output\n");
  const placed l = place(&f, memory_model_find("plain"), f.g->order);
  assert_int_equal(l.layout.layout.body_count, 0);
  fixture_close(&f);
}

/* The bytes of a body that are in use at a step. */
static uint64_t used_at(const layout_problem *l, uint32_t body, int64_t step) {
  uint64_t used = 0;
  for (uint32_t i = l->piece_begin[body]; i < l->piece_begin[body + 1]; i++)
    if (l->pieces[i].lower <= step && step < l->pieces[i].upper &&
        l->pieces[i].high > used)
      used = l->pieces[i].high;
  return used;
}

/* At every step the bodies in use add up to what the simulation counts. */
static void random_placements_hold_what_is_alive(void **state) {
  (void)state;
  random_state r = random_from_seed(5);
  uint32_t merged = 0;
  for (int round = 0; round < 6000; round++) {
    fixture f;
    fixture_random(&f, &r);
    const memory_model m = random_model(&r, f.context);
    op_id full[RANDOM_MAX_OPS];
    random_order(full, f.g, &r);
    const placed l = place(&f, &m, full);
    memory_profile profile;
    assert_int_equal(
        memory_simulate(&profile, f.g, &m, random_body_arena, full, &f.arena),
        CALM_OK);
    for (uint32_t step = 0; step < f.g->ops.count; step++) {
      uint64_t bytes = 0;
      for (uint32_t body = 0; body < l.layout.layout.body_count; body++)
        bytes += used_at(&l.layout.layout, body, step);
      assert_int_equal(bytes, profile.step_bytes[step]);
    }
    merged += l.layout.merged;
    fixture_close(&f);
  }
  assert_true(merged > 100);
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  fixture f;
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  fixture_open(&f, chain);
  const memory_model m = model_of(f.context, "serenity inplace=relu");
  memory_problem p;
  assert_int_equal(memory_problem_build(&p, f.g, &m, NULL, &f.arena), CALM_OK);
  for (uint64_t granted = 0;; granted++) {
    left = SCARCE_NEVER;
    fixture other;
    fixture_begin(&other, &allocator);
    left = granted;
    memory_placement l;
    const calm_status status =
        memory_placement_build(&l, f.g, &m, &p, f.g->order, &other.arena);
    fixture_close(&other);
    if (status == CALM_OK) {
      assert_true(granted >= 2);
      break;
    }
    assert_int_equal(status, CALM_NO_MEMORY);
  }
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_buffer_is_a_body),
      cmocka_unit_test(views_lie_in_their_inputs_body),
      cmocka_unit_test(chains_in_place_are_one_body),
      cmocka_unit_test(pairs_depend_on_the_order),
      cmocka_unit_test(a_graph_without_operators),
      cmocka_unit_test(random_placements_hold_what_is_alive),
      cmocka_unit_test(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
