#include "graph_random.h"

/* ---- The same from first principles -------------------------------------- */

typedef struct truth {
  bool edge[RANDOM_OPS][RANDOM_OPS]; /* [from][to] */
  op_id order[RANDOM_OPS];
  uint32_t ordered; /* fewer than all: there is a cycle */
} truth;

static bool touches(const graph_op *op, tensor_id t) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] == t) return true;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] == t) return true;
  return false;
}

static bool writes_for(const graph *g, const graph_op *from,
                       const graph_op *to) {
  for (uint32_t i = 0; i < from->output_count; i++)
    for (uint32_t j = 0; j < to->input_count; j++) {
      tensor_id t = from->outputs[i];
      if (t == CALM_NONE || t != to->inputs[j]) continue;
      if (!(g->tensors.data[t].flags & CALM_TENSOR_VARIABLE)) return true;
    }
  return false;
}

static bool stateful_next(const graph *g, op_id from, op_id to) {
  if (from >= to) return false;
  for (op_id u = from; u <= to; u++)
    if (graph_op_stateful(&g->ops.data[u]) != (u == from || u == to))
      return false;
  return true;
}

static bool next_at_variable(const graph *g, op_id from, op_id to) {
  for (tensor_id t = 0; from < to && t < g->tensors.count; t++) {
    if (!(g->tensors.data[t].flags & CALM_TENSOR_VARIABLE)) continue;
    bool next = true;
    for (op_id u = from; u <= to; u++)
      if (touches(&g->ops.data[u], t) != (u == from || u == to)) next = false;
    if (next) return true;
  }
  return false;
}

static bool named_after(const graph_op *op, op_id other) {
  for (uint32_t i = 0; i < op->after_count; i++)
    if (op->after[i] == other) return true;
  return false;
}

static bool can_run(const truth *t, uint32_t ops, const bool *done, op_id to) {
  if (done[to]) return false;
  for (op_id from = 0; from < ops; from++)
    if (t->edge[from][to] && !done[from]) return false;
  return true;
}

static truth find_truth(const graph *g) {
  truth t = {.ordered = 0};
  bool done[RANDOM_OPS] = {false};
  uint32_t ops = g->ops.count;
  for (op_id from = 0; from < ops; from++)
    for (op_id to = 0; to < ops; to++)
      t.edge[from][to] = writes_for(g, &g->ops.data[from], &g->ops.data[to]) ||
                         stateful_next(g, from, to) ||
                         next_at_variable(g, from, to) ||
                         named_after(&g->ops.data[to], from);
  for (op_id u = 0; u < ops;) {
    if (can_run(&t, ops, done, u)) {
      done[u] = true;
      t.order[t.ordered++] = u;
      u = 0;
    } else {
      u++;
    }
  }
  return t;
}

static void compare_edges(const graph *g, const truth *t) {
  for (op_id u = 0; u < g->ops.count; u++) {
    uint32_t pred = g->pred_begin[u], succ = g->succ_begin[u];
    for (op_id v = 0; v < g->ops.count; v++) {
      if (t->edge[v][u]) assert_int_equal(g->preds[pred++], v);
      if (t->edge[u][v]) assert_int_equal(g->succs[succ++], v);
    }
    assert_int_equal(pred, g->pred_begin[u + 1]);
    assert_int_equal(succ, g->succ_begin[u + 1]);
  }
}

static void compare_order(const graph *g, const truth *t) {
  bool sorted = true;
  for (op_id u = 0; u < g->ops.count; u++) {
    assert_int_equal(g->order[u], t->order[u]);
    if (t->order[u] != u) sorted = false;
  }
  assert_int_equal(g->file_order_valid, sorted);
}

static void compare_tensors(const graph *g) {
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    uint32_t reader = g->reader_begin[t];
    op_id producer = CALM_NONE;
    for (op_id u = 0; u < g->ops.count; u++) {
      const graph_op *op = &g->ops.data[u];
      for (uint32_t i = 0; i < op->input_count; i++)
        if (op->inputs[i] == t) assert_int_equal(g->readers[reader++], u);
      for (uint32_t i = 0; i < op->output_count; i++)
        if (op->outputs[i] == t) producer = u;
    }
    assert_int_equal(reader, g->reader_begin[t + 1]);
    assert_int_equal(g->producer[t], producer);
  }
}

static void random_graphs_agree_with_brute_force(void **state) {
  (void)state;
  uint32_t cyclic = 0, unsorted = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    random_state r = random_from_seed(seed);
    fixture f;
    graph g;
    fixture_open(&f, NULL);
    random_graph(&g, &f.arena, &r, "g");
    truth t = find_truth(&g);
    calm_status status = graph_finish(&g, "net");
    assert_int_equal(status == CALM_OK, t.ordered == g.ops.count);
    if (status) {
      assert_non_null(strstr(calm_context_message(f.context), "wait for each"));
      cyclic++;
    } else {
      compare_edges(&g, &t);
      compare_order(&g, &t);
      compare_tensors(&g);
      if (!g.file_order_valid) unsorted++;
    }
    graph_free(&g);
    fixture_close(&f);
  }
  assert_in_range(cyclic, 100, 2000);
  assert_in_range(unsorted, 100, 2000);
}

/* ---- Cycles by name ------------------------------------------------------ */

static void expect_cycle(const char *lines, const char *message) {
  fixture f;
  char source[2048];
  fixture_open(&f, NULL);
  snprintf(source, sizeof source, "calm-graph 1\ngraph g\n%s", lines);
  assert_int_equal(fixture_read(&f, source, strlen(source)), CALM_BAD_INPUT);
  assert_string_equal(calm_context_message(f.context), message);
  fixture_close(&f);
}

static void cycles_are_named_in_running_order(void **state) {
  (void)state;
  expect_cycle("tensor x 1\nop u add ( x ) -> ( x )\n",
               "t.cg:4:4: operators wait for each other: 'u' -> 'u'");
  expect_cycle(
      "tensor x 1\ntensor y 1\ntensor z 1\n"
      "op w relu ( z ) -> ( )\nop a relu ( z ) -> ( x )\n"
      "op c relu ( y ) -> ( z )\nop b relu ( x ) -> ( y )\n",
      "t.cg:7:4: operators wait for each other: 'a' -> 'b' -> 'c' -> 'a'");
  expect_cycle(
      "op u relu ( ) -> ( ) after ( v )\nop v relu ( ) -> ( ) after ( u )\n",
      "t.cg:3:4: operators wait for each other: 'u' -> 'v' -> 'u'");
  expect_cycle(
      "tensor x 1\nop get read_variable ( x ) -> ( )\n"
      "op set var_handle ( ) -> ( x )\n",
      "t.cg:4:4: operators wait for each other: 'get' -> 'set' -> 'get' "
      "(operators with state keep the order of the file)");
}

static void long_cycles_are_abridged(void **state) {
  (void)state;
  char lines[1024];
  size_t used = 0;
  for (int i = 0; i < 20; i++)
    used += (size_t)snprintf(lines + used, sizeof lines - used,
                             "op u%d add ( ) -> ( ) after ( u%d )\n", i,
                             (i + 19) % 20);
  expect_cycle(lines,
               "t.cg:3:4: operators wait for each other: 'u0' -> 'u1' -> 'u2' "
               "-> 'u3' -> 'u4' -> 'u5' -> 'u6' -> 'u7' -> 'u8' -> 'u9' -> "
               "'u10' -> 'u11' -> 8 more -> 'u0'");
}

/* ---- Variables ----------------------------------------------------------- */

/* Read the old state, then write the new one: no cycle, and no other order. */
static void variables_keep_the_order_of_the_file(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(
      &f,
      "calm-graph 1\ngraph g\ntensor s 8 variable\ntensor x 8\n"
      "op read copy ( s ) -> ( x )\nop write copy ( x ) -> ( s )\n"
      "op peek copy ( s ) -> ( )\n");
  const graph *g = f.graphs.data;
  assert_true(g->file_order_valid);
  assert_int_equal(g->pred_begin[1], 0);
  assert_int_equal(g->preds[g->pred_begin[1]], 0);
  assert_int_equal(g->preds[g->pred_begin[2]], 1);
  assert_int_equal(g->pred_begin[3], 2);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_graphs_agree_with_brute_force),
      cmocka_unit_test(cycles_are_named_in_running_order),
      cmocka_unit_test(long_cycles_are_abridged),
      cmocka_unit_test(variables_keep_the_order_of_the_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
