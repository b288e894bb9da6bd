#include "graph_fixture.h"

static void expect_refusal(const char *source, const char *message) {
  fixture f;
  fixture_open(&f, NULL);
  assert_int_equal(fixture_read(&f, source, strlen(source)), CALM_BAD_INPUT);
  assert_string_equal(calm_context_message(f.context), message);
  fixture_close(&f);
}

static void bodies_may_come_earlier_or_later(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f,
                    "calm-graph 1\ngraph main\n"
                    "op i if ( ) -> ( ) body=then body=\"else, or\"\n"
                    "graph then\n"
                    "graph \"else, or\"\n"
                    "op w while ( ) -> ( ) body=then body=then\n");
  const graph_op *branch = f.graphs.data[0].ops.data;
  assert_int_equal(branch->body_count, 2);
  assert_int_equal(branch->bodies[0], 1);
  assert_int_equal(branch->bodies[1], 2);
  assert_int_equal(f.graphs.data[2].ops.data->bodies[1], 1);
  fixture_close(&f);
}

static void recursion_is_refused(void **state) {
  (void)state;
  expect_refusal("calm-graph 1\ngraph main\nop u while ( ) -> ( ) body=main\n",
                 "t.cg:3:4: operator 'u' of graph 'main' runs graph 'main', "
                 "which is already running: bodies must not recur");
  expect_refusal(
      "calm-graph 1\ngraph main\nop u if ( ) -> ( ) body=leaf body=b\n"
      "graph leaf\ngraph b\nop v if ( ) -> ( ) body=leaf body=c\n"
      "graph c\nop w if ( ) -> ( ) body=leaf body=b\n",
      "t.cg:8:4: operator 'w' of graph 'c' runs graph 'b', which is already "
      "running: bodies must not recur");
}

static void a_body_must_exist(void **state) {
  (void)state;
  fixture f;
  graph g;
  uint32_t body = 1;
  op_id id;
  fixture_open(&f, NULL);
  graph_init(&g, &f.arena, "g");
  graph_op op = {
      .name = "u", .kind = OP_while, .bodies = &body, .body_count = 1};
  assert_int_equal(graph_add_op(&id, &g, &op), CALM_OK);
  assert_int_equal(graph_link_bodies(&g, 1, "net"), CALM_BAD_INPUT);
  assert_string_equal(
      calm_context_message(f.context),
      "net: operator 'u' runs graph number 1, but there are only 1");
  graph_free(&g);
  fixture_close(&f);
}

/* Through two levels, the body being declared after and before its caller. */
static void state_shines_through(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f,
                    "calm-graph 1\ngraph main\n"
                    "op a while ( ) -> ( ) body=middle\n"
                    "op b add ( ) -> ( )\n"
                    "op c while ( ) -> ( ) body=pure\n"
                    "op d random_uniform ( ) -> ( )\n"
                    "graph pure\nop p add ( ) -> ( )\n"
                    "graph deep\nop q random_uniform ( ) -> ( )\n"
                    "graph middle\nop r if ( ) -> ( ) body=pure body=deep\n");
  const graph *g = f.graphs.data;
  static const bool stateful[] = {true, false, false, true};
  for (op_id u = 0; u < 4; u++)
    assert_int_equal(graph_op_stateful(&g->ops.data[u]), stateful[u]);
  assert_int_equal(g->pred_begin[4], 1);
  assert_int_equal(g->preds[0], 0);
  assert_int_equal(g->succs[0], 3);
  fixture_close(&f);
}

/* Nesting is walked with a stack of its own, not with the machine's. */
static void deep_nesting_needs_no_stack(void **state) {
  (void)state;
  enum { DEPTH = 5000 };
  fixture f;
  text t;
  char *source;
  fixture_open(&f, NULL);
  text_init(&t, f.context);
  text_format(&t, "calm-graph 1\n");
  for (int i = 0; i < DEPTH; i++)
    text_format(&t, "graph g%d\nop u while ( ) -> ( ) body=g%d\n", i, i + 1);
  text_format(&t, "graph g%d\nop u random_uniform ( ) -> ( )\n", DEPTH);
  assert_int_equal(text_finish(&t, &source), CALM_OK);
  fixture_must_read(&f, source);
  assert_true(f.graphs.data[0].ops.data->stateful);
  calm_text_free(f.context, source);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_may_come_earlier_or_later),
      cmocka_unit_test(recursion_is_refused),
      cmocka_unit_test(a_body_must_exist),
      cmocka_unit_test(state_shines_through),
      cmocka_unit_test(deep_nesting_needs_no_stack)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
