#include "memory/memory_traffic.h"
#include "memory_graphs.h"

/* A graph and what moves in it under a memory model. */
typedef struct traffic_fixture {
  fixture f;
  memory_problem p;
  traffic_problem t;
} traffic_fixture;

static void open_traffic(traffic_fixture *t, const char *model,
                         const char *graph_text) {
  fixture_open(&t->f, graph_text);
  const memory_model given = model_of(t->f.context, model);
  const memory_model m = memory_traffic_model(&given);
  const uint64_t body_arena[] = {0, 40, 7};
  if (memory_problem_build(&t->p, t->f.g, &m, body_arena, &t->f.arena) ||
      memory_traffic_build(&t->t, t->f.g, &t->p, &t->f.arena))
    fail_msg("%s", calm_context_message(t->f.context));
  assert_ptr_equal(t->t.order, &t->p.order);
}

/* The operators that touch the buffers of a tensor; writers are marked "!". */
static const char *touchers_of(const traffic_fixture *t, const char *name) {
  static char text[256];
  size_t length = 0;
  const order_problem *o = &t->p.order;
  const tensor_id id = tensor_named(t->f.g, name);
  text[0] = '\0';
  for (uint32_t k = t->p.buffer_begin[id]; k < t->p.buffer_begin[id + 1]; k++) {
    const uint32_t b = t->p.buffers[k];
    for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
      length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%s",
                                 length ? " " : "",
                                 t->f.g->ops.data[t->p.op_of[o->touch[i]]].name,
                                 t->t.writes[i] ? "!" : "");
  }
  return text;
}

static uint64_t weights_of(const traffic_fixture *t, const char *name) {
  for (uint32_t u = 0; u < t->p.order.op_count; u++)
    if (!strcmp(t->f.g->ops.data[t->p.op_of[u]].name, name))
      return t->t.weight_bytes[u];
  return UINT64_MAX;
}

static void makers_write(void **state) {
  (void)state;
  traffic_fixture t;
  open_traffic(&t, "plain",
               "tensor x 10 input\n"
               "tensor y 20\n"
               "tensor z 20\n"
               "tensor o 40 output\n"
               "op a conv2d ( x ) -> ( y )\n"
               "op b relu ( y ) -> ( z )\n"
               "op c concat ( y z ) -> ( o )\n");
  assert_string_equal(touchers_of(&t, "x"), "a");
  assert_string_equal(touchers_of(&t, "y"), "a! b c");
  assert_string_equal(touchers_of(&t, "z"), "b! c");
  assert_string_equal(touchers_of(&t, "o"), "c!");
  fixture_close(&t.f);
}

/* An elided concat and a view have nobody to write them but their makers; a
   view that runs, because it reads a shape, writes nothing. */
static void names_are_not_written(void **state) {
  (void)state;
  traffic_fixture t;
  open_traffic(&t, "serenity",
               "tensor x 10 input\n"
               "tensor y 20\n"
               "tensor z 20\n"
               "tensor o 40\n"
               "tensor s 8\n"
               "tensor v 40\n"
               "tensor w 5 output\n"
               "op a conv2d ( x ) -> ( y )\n"
               "op b relu ( x ) -> ( z )\n"
               "op c concat ( y z ) -> ( o )\n"
               "op shape opaque ( x ) -> ( s )\n"
               "op view reshape ( o s ) -> ( v )\n"
               "op d conv2d ( v ) -> ( w )\n");
  assert_int_equal(t.p.order_op_of[2], CALM_NONE);
  assert_string_equal(touchers_of(&t, "v"), "a! view d b! view d");
  fixture_close(&t.f);
}

/* Whichever partial comes first writes; the others add to what is there. */
static void partials_write(void **state) {
  (void)state;
  traffic_fixture t;
  open_traffic(&t, "plain",
               "tensor x 6 input\n"
               "tensor a 10\ntensor b 10\ntensor u 8\n"
               "tensor p 8\ntensor q 8\ntensor y 8\ntensor z 8 output\n"
               "op ba conv2d ( x ) -> ( a )\n"
               "op bb conv2d ( x ) -> ( b )\n"
               "op y/p1 conv2d ( a ) -> ( p )\n"
               "op y/p2 conv2d ( b ) -> ( u )\n"
               "op y/a2 add_into ( u ) -> ( q ) workspace=8\n"
               "op y partial_sum ( p q ) -> ( y ) workspace=3\n"
               "op end relu ( y ) -> ( z )\n");
  assert_string_equal(touchers_of(&t, "y"), "y/p1! y/a2! y end");
  assert_string_equal(touchers_of(&t, "u"), "y/p2! y/a2");
  fixture_close(&t.f);
}

/* What is not on the runtime's books is off chip all the same. */
static void owners_do_not_matter(void **state) {
  (void)state;
  static const char *const models[] = {
      "ort", "litert", "plain inputs=external outputs=external"};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    traffic_fixture t;
    open_traffic(&t, models[i],
                 "tensor x 10 input\n"
                 "tensor y 20 output\n"
                 "tensor z 20\n"
                 "op a conv2d ( x ) -> ( y z )\n");
    assert_string_equal(touchers_of(&t, "x"), "a");
    assert_string_equal(touchers_of(&t, "y"), "a!");
    uint32_t inputs = 0, outputs = 0;
    for (uint32_t b = 0; b < t.p.order.buffer_count; b++) {
      const order_buffer *buffer = &t.p.order.buffers[b];
      inputs += buffer->pinned_start;
      outputs += buffer->pinned_end && !buffer->pinned_start;
    }
    assert_int_equal(inputs, 1);
    assert_int_equal(outputs, 1);
    fixture_close(&t.f);
  }
}

static void state_may_change(void **state) {
  (void)state;
  traffic_fixture t;
  open_traffic(&t, "plain variables=whole-run",
               "tensor x 10 input\n"
               "tensor s 4 variable\n"
               "tensor y 10 output\n"
               "op a svdf ( x s ) -> ( y )\n");
  assert_string_equal(touchers_of(&t, "s"), "a!");
  fixture_close(&t.f);
}

static void weights_count_once(void **state) {
  (void)state;
  traffic_fixture t;
  open_traffic(&t, "plain",
               "tensor x 10 input\n"
               "tensor w 7 const\ntensor v 5 const\n"
               "tensor y 10\ntensor z 10 output\n"
               "op a conv2d ( x w v w - ) -> ( y )\n"
               "op b conv2d ( y w ) -> ( z )\n");
  assert_int_equal(weights_of(&t, "a"), 12);
  assert_int_equal(weights_of(&t, "b"), 7);
  fixture_close(&t.f);
}

static void constants_may_be_huge(void **state) {
  (void)state;
  fixture f;
  memory_problem p;
  traffic_problem t = {0};
  fixture_open(&f,
               "tensor x 10 input\n"
               "tensor w 2305843009213693952 const\n"
               "tensor y 10 output\n"
               "op a conv2d ( x w ) -> ( y )\n");
  const memory_model m = model_of(f.context, "plain");
  assert_int_equal(memory_problem_build(&p, f.g, &m, NULL, &f.arena), CALM_OK);
  assert_int_equal(memory_traffic_build(&t, f.g, &p, &f.arena), CALM_OK);
  assert_int_equal(t.weight_bytes[0], UINT64_C(1) << 61);
  fixture_close(&f);
}

/* In any order the first to touch what is no input writes it, and a sequence of
   all operators has each of the problem once. */
static void first_touches_write(void **state) {
  (void)state;
  random_state random = random_from_seed(8);
  for (int round = 0; round < 2000; round++) {
    traffic_fixture t;
    op_id order[RANDOM_MAX_OPS];
    uint32_t sequence[RANDOM_MAX_OPS], step[RANDOM_MAX_OPS];
    fixture_random(&t.f, &random);
    memory_model m = random_model(&random, t.f.context);
    if (random_below(&random, 2)) m = memory_traffic_model(&m);
    assert_int_equal(
        memory_problem_build(&t.p, t.f.g, &m, random_body_arena, &t.f.arena),
        CALM_OK);
    assert_int_equal(memory_traffic_build(&t.t, t.f.g, &t.p, &t.f.arena),
                     CALM_OK);
    random_order(order, t.f.g, &random);
    memory_fold_sequence(sequence, t.f.g, &t.p, order);
    const order_problem *o = &t.p.order;
    for (uint32_t s = 0; s < o->op_count; s++) step[s] = CALM_NONE;
    for (uint32_t s = 0; s < o->op_count; s++) {
      assert_int_equal(step[sequence[s]], CALM_NONE);
      step[sequence[s]] = s;
    }
    for (uint32_t b = 0; b < o->buffer_count; b++) {
      uint32_t first = CALM_NONE;
      for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
        if (first == CALM_NONE || step[o->touch[i]] < step[o->touch[first]])
          first = i;
      if (first != CALM_NONE && !o->buffers[b].pinned_start)
        assert_true(t.t.writes[first]);
    }
    fixture_close(&t.f);
  }
}

static void without_memory(void **state) {
  (void)state;
  bool done = false;
  for (uint64_t requests = 0; !done; requests++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    fixture f;
    memory_problem p;
    traffic_problem t;
    static const char text[] =
        "calm-graph 1\ngraph g\n"
        "tensor x 10 input\ntensor y 10 output\n"
        "op a conv2d ( x ) -> ( y )\n";
    fixture_begin(&f, &allocator);
    assert_int_equal(
        graph_text_read(&f.graphs, &f.arena, "t", text, strlen(text)), CALM_OK);
    const memory_model m = *memory_model_find("plain");
    assert_int_equal(
        memory_problem_build(&p, f.graphs.data, &m, NULL, &f.arena), CALM_OK);
    arena a;
    arena_init(&a, f.context);
    left = requests;
    const calm_status status = memory_traffic_build(&t, f.graphs.data, &p, &a);
    left = SCARCE_NEVER;
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    done = status == CALM_OK;
    arena_free(&a);
    fixture_close(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(makers_write),
      cmocka_unit_test(names_are_not_written),
      cmocka_unit_test(partials_write),
      cmocka_unit_test(owners_do_not_matter),
      cmocka_unit_test(state_may_change),
      cmocka_unit_test(weights_count_once),
      cmocka_unit_test(constants_may_be_huge),
      cmocka_unit_test(first_touches_write),
      cmocka_unit_test(without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
