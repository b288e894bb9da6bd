/* What becomes of whole graphs, and what they then need. */
#include "unit/rewrite_peaks.h"

#include "base/random.h"
#include "scarce.h"

/* ---- Peaks --------------------------------------------------------------- */

typedef struct golden {
  const char *file;
  uint64_t peak_bytes;
} golden;

static uint64_t peak_of_all(const char *path) {
  rewrite_fixture x;
  rewrite_open_file(&x, path);
  rewrite_do_all(&x);
  const uint64_t peak = rewrite_peak(&x);
  rewrite_close(&x);
  return peak;
}

static void test_the_papers_cells(void **state) {
  (void)state;
  static const golden cells[] = {
      {CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_a.cg", 188160},
      {CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_b.cg", 53312},
      {CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_c.cg", 16856},
      {CALM_SOURCE_DIR "/tests/graph/darts_v2_normal.cg", 752640}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    assert_int_equal(peak_of_all(cells[i].file), cells[i].peak_bytes);
}

static void test_stacks(void **state) {
  (void)state;
  static const golden stacks[] = {
      {"graphs/stack3_nasnet.cg", 131072},
      {"graphs/stack3_darts_v1.cg", 139264},
      {"graphs/stack3_darts_v2.cg", 122880},
      {"graphs/swiftnet_vwwc19.cg", 200704},
      {"graphs/swiftnet_vwwc19_split_elided.cg", 200704}};
  char path[4096];
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
    assert_int_equal(peak_of_all(cases_path(path, sizeof path, stacks[i].file)),
                     stacks[i].peak_bytes);
}

/* The collection says what remains when every concat in front of a convolution
   is gone; of no-ops it knows nothing. */
static void check_expectation(const char *path) {
  rewrite_fixture x;
  char *text = rewrite_read_text(path);
  const char *said = strstr(text, "# expect peak-best-rewritten ");
  if (said) {
    rewrite_open(&x, text);
    x.options.rules[REWRITE_noops] = false;
    rewrite_do_all(&x);
    assert_int_equal(rewrite_peak(&x), strtoull(said + 29, NULL, 10));
    rewrite_close(&x);
  }
  free(text);
}

static void test_expectations(void **state) {
  (void)state;
  static const char *const names[] = {"cell_amoebanet_normal",
                                      "cell_amoebanet_reduce",
                                      "cell_darts_v1_normal",
                                      "cell_darts_v1_reduce",
                                      "cell_darts_v2_normal",
                                      "cell_darts_v2_reduce",
                                      "cell_nasnet_normal",
                                      "cell_nasnet_reduce",
                                      "cell_pnas_normal",
                                      "cell_pnas_reduce",
                                      "stack3_darts_v1",
                                      "stack3_darts_v2",
                                      "stack3_nasnet",
                                      "swiftnet_vwwc19",
                                      "swiftnet_vwwc19_split_elided"};
  char path[4096], name[128];
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(name, sizeof name, "graphs/%s.cg", names[i]);
    check_expectation(cases_path(path, sizeof path, name));
  }
}

/* Every choice of sites of a small graph. */
static uint64_t best_choice(const char *path, rewrite_partials partials,
                            uint32_t factor) {
  rewrite_fixture x;
  uint64_t best = UINT64_MAX;
  rewrite_open_file(&x, path);
  x.options.partials = partials;
  x.options.accumulator_factor = factor;
  rewrite_find(&x);
  for (uint32_t choice = 0; choice < 1u << x.sites.count; choice++) {
    for (uint32_t i = 0; i < x.sites.count; i++) x.taken[i] = choice >> i & 1;
    rewrite_do(&x);
    const uint64_t peak = rewrite_peak(&x);
    if (peak < best) best = peak;
  }
  rewrite_close(&x);
  return best;
}

static void test_kernels_that_do_not_accumulate(void **state) {
  (void)state;
  const char *b = CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_b.cg";
  const char *c = CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_c.cg";
  assert_int_equal(best_choice(b, PARTIALS_ACCUMULATE, 1), 53312);
  assert_int_equal(best_choice(b, PARTIALS_ADD_INPLACE, 1), 68992);
  assert_int_equal(best_choice(b, PARTIALS_ADD_COPY, 1), 75264);
  assert_int_equal(best_choice(c, PARTIALS_ADD_INPLACE, 1), 19404);
  assert_int_equal(best_choice(c, PARTIALS_ADD_COPY, 1), 19404);
}

static void test_wide_accumulators(void **state) {
  (void)state;
  const char *b = CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_b.cg";
  const char *c = CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_c.cg";
  assert_int_equal(best_choice(b, PARTIALS_ACCUMULATE, 2), 78400);
  assert_int_equal(best_choice(b, PARTIALS_ACCUMULATE, 4), 109760);
  assert_int_equal(best_choice(c, PARTIALS_ACCUMULATE, 2), 20580);
  assert_int_equal(best_choice(c, PARTIALS_ACCUMULATE, 4), 28028);
}

/* Nodes as the paper counts them: graph inputs and what computes something; a
   concat is none, and partial results need nobody to add them. */
static uint32_t count_nodes(const graph *g) {
  uint32_t count = 0;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    count += (g->tensors.data[t].flags & CALM_TENSOR_INPUT) != 0;
  for (op_id u = 0; u < g->ops.count; u++)
    count += g->ops.data[u].kind != OP_concat &&
             g->ops.data[u].kind != OP_partial_sum;
  return count;
}

static void check_nodes(const char *path, uint32_t none, uint32_t paper,
                        uint32_t all) {
  rewrite_fixture x;
  rewrite_open_file(&x, path);
  assert_int_equal(count_nodes(x.g), none);
  rewrite_find(&x);
  rewrite_take_paper(x.taken, &x.sites);
  rewrite_do(&x);
  assert_int_equal(count_nodes(&x.edit.after), paper);
  rewrite_do_all(&x);
  assert_int_equal(count_nodes(&x.edit.after), all);
  rewrite_close(&x);
}

static void test_the_papers_nodes(void **state) {
  (void)state;
  check_nodes(CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_a.cg", 21, 33, 38);
  check_nodes(CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_b.cg", 19, 28, 31);
  check_nodes(CALM_SOURCE_DIR "/tests/graph/swiftnet_cell_c.cg", 22, 30, 32);
}

/* ---- Graphs -------------------------------------------------------------- */

static void becomes(const char *lines, const char *expected) {
  rewrite_fixture x;
  rewrite_open_lines(&x, lines);
  rewrite_do_all(&x);
  rewrite_gives(&x, expected);
  rewrite_close(&x);
}

/* An operand twice, a concat in a concat, graph inputs as operands, a
   multiplier, dilation, stride and an activation. */
static const char everything[] =
    "tensor x f32[1,8,8,2] input\n"
    "tensor a f32[1,8,8,3]\n"
    "tensor wd f32[1,3,3,10] const\ntensor bd f32[10] const\n"
    "tensor w f32[4,5,5,10] const\ntensor b f32[4] const\n"
    "tensor w2 f32[2,1,1,8] const\n"
    "tensor c1 f32[1,8,8,5]\ntensor c2 f32[1,8,8,8]\n"
    "tensor d f32[1,8,8,10]\ntensor r f32[1,8,8,10]\n"
    "tensor y f32[1,4,4,4] output\ntensor z f32[1,8,8,2] output\n"
    "op a conv2d ( x ) -> ( a )\n"
    "op in concat ( x a ) -> ( c1 ) axis=-1\n"
    "op out concat ( c1 a ) -> ( c2 ) axis=3\n"
    "op dw depthwise_conv2d ( c1 wd bd ) -> ( d ) multiplier=2 dilation=2,2\n"
    "op relu relu6 ( d ) -> ( r )\n"
    "op conv conv2d ( r w b ) -> ( y ) stride=2,2 activation=relu6\n"
    "op last conv2d ( c2 w2 ) -> ( z )\n";

static void test_everything_at_once(void **state) {
  (void)state;
  becomes(everything,
          "tensor x f32[1,8,8,2] input\n"
          "tensor a f32[1,8,8,3]\n"
          "tensor y f32[1,4,4,4] output\n"
          "tensor z f32[1,8,8,2] output\n"
          "tensor wd/p1 f32[1,3,3,4] const\n"
          "tensor bd/p1 f32[4] const\n"
          "tensor d/p1 f32[1,8,8,4]\n"
          "tensor wd/p2 f32[1,3,3,6] const\n"
          "tensor bd/p2 f32[6] const\n"
          "tensor d/p2 f32[1,8,8,6]\n"
          "tensor r/p1 f32[1,8,8,4]\n"
          "tensor r/p2 f32[1,8,8,6]\n"
          "tensor w/p1 f32[4,5,5,4] const\n"
          "tensor y/p1 f32[1,4,4,4]\n"
          "tensor w/p2 f32[4,5,5,6] const\n"
          "tensor y/p2 f32[1,4,4,4]\n"
          "tensor w2/p1 f32[2,1,1,2] const\n"
          "tensor z/p1 f32[1,8,8,2]\n"
          "tensor w2/p2 f32[2,1,1,3] const\n"
          "tensor z/p2 f32[1,8,8,2]\n"
          "tensor w2/p3 f32[2,1,1,3] const\n"
          "tensor z/p3 f32[1,8,8,2]\n"
          "op a conv2d ( x ) -> ( a )\n"
          "op dw/p1 depthwise_conv2d ( x wd/p1 bd/p1 ) -> ( d/p1 ) "
          "multiplier=2 dilation=2,2\n"
          "op dw/p2 depthwise_conv2d ( a wd/p2 bd/p2 ) -> ( d/p2 ) "
          "multiplier=2 dilation=2,2\n"
          "op relu/p1 relu6 ( d/p1 ) -> ( r/p1 )\n"
          "op relu/p2 relu6 ( d/p2 ) -> ( r/p2 )\n"
          "op conv/p1 conv2d ( r/p1 w/p1 ) -> ( y/p1 ) stride=2,2\n"
          "op conv/p2 conv2d ( r/p2 w/p2 ) -> ( y/p2 ) stride=2,2\n"
          "op conv partial_sum ( y/p1 y/p2 ) -> ( y )\n"
          "op last/p1 conv2d ( x w2/p1 ) -> ( z/p1 )\n"
          "op last/p2 conv2d ( a w2/p2 ) -> ( z/p2 )\n"
          "op last/p3 conv2d ( a w2/p3 ) -> ( z/p3 )\n"
          "op last partial_sum ( z/p1 z/p2 z/p3 ) -> ( z )\n");
}

static void test_descent(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, everything);
  rewrite_do_all(&x);
  const graph *g = &x.edit.after;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const edit_tensor *d = &x.edit.tensors.data[t];
    const graph_tensor *from = &x.g->tensors.data[d->from];
    const char *name = g->tensors.data[t].name;
    assert_memory_equal(name, from->name, strlen(from->name));
    assert_int_equal(d->contents == EDIT_SAME, !strcmp(name, from->name));
    if (!strcmp(name, "w2/p3")) {
      assert_int_equal(d->contents, EDIT_SLICE);
      assert_int_equal(d->axis, 3);
      assert_int_equal(d->begin, 5);
    }
    if (!strcmp(name, "bd/p2")) {
      assert_int_equal(d->axis, 0);
      assert_int_equal(d->begin, 4);
    }
  }
  for (op_id u = 0; u < g->ops.count; u++) {
    const edit_op *d = &x.edit.ops.data[u];
    const char *from = x.g->ops.data[d->from].name;
    assert_memory_equal(g->ops.data[u].name, from, strlen(from));
    assert_int_equal(
        d->role, g->ops.data[u].kind == OP_partial_sum ? EDIT_SUM : EDIT_KEEP);
    assert_int_equal(d->activation,
                     strncmp(from, "conv", 4) && strcmp(from, "last")
                         ? true
                         : d->role == EDIT_SUM);
  }
  rewrite_close(&x);
}

/* A concat that somebody needs in one piece is made where it stood, also one
   that only rewriting made; others read its operands nevertheless. */
static void test_concats_that_are_needed(void **state) {
  (void)state;
  becomes(
      "tensor x f32[1,8,8,2] input\ntensor a f32[1,8,8,2]\n"
      "tensor c f32[1,8,8,4]\ntensor d f32[1,8,8,6]\n"
      "tensor r f32[1,8,8,6]\ntensor s f32[1,8,8,6] output\n"
      "tensor y f32[1,8,8,1] output\ntensor t f32[1,8,8,4] output\n"
      "op a tanh ( x ) -> ( a )\n"
      "op in concat ( x a ) -> ( c ) axis=-1\n"
      "op out concat ( c x ) -> ( d ) axis=-1\n"
      "op relu relu ( d ) -> ( r )\n"
      "op soft softmax ( r ) -> ( s )\n"
      "op conv conv2d ( r ) -> ( y )\n"
      "op softer softmax ( c ) -> ( t )\n",
      "tensor x f32[1,8,8,2] input\n"
      "tensor a f32[1,8,8,2]\n"
      "tensor c f32[1,8,8,4]\n"
      "tensor r f32[1,8,8,6]\n"
      "tensor s f32[1,8,8,6] output\n"
      "tensor y f32[1,8,8,1] output\n"
      "tensor t f32[1,8,8,4] output\n"
      "tensor r/p1 f32[1,8,8,2]\n"
      "tensor r/p2 f32[1,8,8,2]\n"
      "tensor r/p3 f32[1,8,8,2]\n"
      "tensor y/p1 f32[1,8,8,1]\n"
      "tensor y/p2 f32[1,8,8,1]\n"
      "tensor y/p3 f32[1,8,8,1]\n"
      "op a tanh ( x ) -> ( a )\n"
      "op in concat ( x a ) -> ( c ) axis=-1\n"
      "op relu/p1 relu ( x ) -> ( r/p1 )\n"
      "op relu/p2 relu ( a ) -> ( r/p2 )\n"
      "op relu/p3 relu ( x ) -> ( r/p3 )\n"
      "op relu concat ( r/p1 r/p2 r/p3 ) -> ( r ) axis=-1\n"
      "op soft softmax ( r ) -> ( s )\n"
      "op conv/p1 conv2d ( r/p1 ) -> ( y/p1 )\n"
      "op conv/p2 conv2d ( r/p2 ) -> ( y/p2 )\n"
      "op conv/p3 conv2d ( r/p3 ) -> ( y/p3 )\n"
      "op conv partial_sum ( y/p1 y/p2 y/p3 ) -> ( y )\n"
      "op softer softmax ( c ) -> ( t )\n");
}

/* The outer concat is an output, and yet has the operands of the inner one. */
static void test_flattened_output(void **state) {
  (void)state;
  becomes(
      "tensor x 2 input\ntensor c 4\ntensor d 6 output\n"
      "op in concat ( x x ) -> ( c )\n"
      "op out concat ( c x ) -> ( d )\n",
      "tensor x 2 input\n"
      "tensor d 6 output\n"
      "op out concat ( x x x ) -> ( d )\n");
}

/* A site behind one that is not taken waits in vain. */
static void test_untaken(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, everything);
  rewrite_find(&x);
  for (uint32_t i = 0; i < x.sites.count; i++)
    x.taken[i] = strcmp(x.sites.sites[i].name, "in>dw") != 0;
  rewrite_do(&x);
  const graph *g = &x.edit.after;
  assert_int_equal(g->ops.count, 9);
  assert_int_equal(g->ops.data[1].kind, OP_concat);
  assert_int_equal(g->ops.data[4].kind, OP_conv2d);
  assert_int_equal(g->ops.data[4].input_count, 3);
  assert_int_equal(x.edit.ops.data[4].role, EDIT_KEEP);
  assert_true(x.edit.ops.data[4].activation);
  rewrite_close(&x);
}

static void test_nothing_taken_nothing_changed(void **state) {
  (void)state;
  rewrite_fixture x;
  text before, after;
  char *a, *b;
  rewrite_open_lines(&x, everything);
  rewrite_find(&x);
  rewrite_do(&x);
  text_init(&before, x.context);
  text_init(&after, x.context);
  graph_text_write(&before, x.g, 1);
  graph_text_write(&after, &x.edit.after, 1);
  assert_int_equal(text_finish(&before, &a), CALM_OK);
  assert_int_equal(text_finish(&after, &b), CALM_OK);
  assert_string_equal(a, b);
  calm_text_free(x.context, a);
  calm_text_free(x.context, b);
  rewrite_close(&x);
}

/* Control edges lead from and to what is there. */
static void test_control_edges(void **state) {
  (void)state;
  becomes(
      "tensor x 2 input\ntensor a 2\ntensor b 2\ntensor c 4\n"
      "tensor y 1 output\ntensor z 2 output\n"
      "op f relu ( x ) -> ( a )\n"
      "op g tanh ( x ) -> ( b )\n"
      "op cat concat ( a b ) -> ( c )\n"
      "op conv conv2d ( c ) -> ( y )\n"
      "op last relu ( x ) -> ( z ) after ( g f )\n",
      "tensor x 2 input\n"
      "tensor a 2\n"
      "tensor b 2\n"
      "tensor y 1 output\n"
      "tensor z 2 output\n"
      "tensor y/p1 1\n"
      "tensor y/p2 1\n"
      "op f relu ( x ) -> ( a )\n"
      "op g tanh ( x ) -> ( b )\n"
      "op conv/p1 conv2d ( a ) -> ( y/p1 )\n"
      "op conv/p2 conv2d ( b ) -> ( y/p2 )\n"
      "op conv partial_sum ( y/p1 y/p2 ) -> ( y )\n"
      "op last relu ( x ) -> ( z ) after ( g f )\n");
}

/* What nobody touched before is kept; what only the concat touched is not. */
static void test_tensors_that_nobody_touches(void **state) {
  (void)state;
  becomes(
      "tensor x 2 input\ntensor lonely 5 const\ntensor spare 3 input\n"
      "tensor c 4\ntensor y 1 output\n"
      "op cat concat ( x x ) -> ( c )\n"
      "op conv conv2d ( c ) -> ( y )\n",
      "tensor x 2 input\n"
      "tensor lonely 5 const\n"
      "tensor spare 3 input\n"
      "tensor y 1 output\n"
      "tensor y/p1 1\n"
      "tensor y/p2 1\n"
      "op conv/p1 conv2d ( x ) -> ( y/p1 )\n"
      "op conv/p2 conv2d ( x ) -> ( y/p2 )\n"
      "op conv partial_sum ( y/p1 y/p2 ) -> ( y )\n");
}

/* ---- Theorems ------------------------------------------------------------ */

/* Tensors of few bytes, operators that read tensors before them. */
static void draw_graph(char *out, size_t size, random_state *random) {
  uint32_t bytes[16] = {4, 2};
  size_t used = (size_t)snprintf(out, size,
                                 "calm-graph 1\ngraph g\n"
                                 "tensor t0 4 input\n"
                                 "tensor t1 2 input\n");
  char ops[4096];
  size_t ops_used = 0;
  ops[0] = 0;
  for (uint32_t i = 2; i < 14; i++) {
    const uint32_t near = i < 4 ? i : 4;
    const uint32_t a = i - 1 - random_below(random, near);
    const uint32_t b = random_below(random, i);
    const char *kind = "conv2d";
    char operands[32];
    snprintf(operands, sizeof operands, "t%u", a);
    bytes[i] = 1 + random_below(random, 6);
    switch (random_below(random, 5)) {
      case 0:
      case 1:
        kind = "concat";
        snprintf(operands, sizeof operands, "t%u t%u", a, b);
        bytes[i] = bytes[a] + bytes[b];
        break;
      case 2:
        kind = "relu";
        bytes[i] = bytes[a];
        break;
      case 3:
        kind = "add";
        snprintf(operands, sizeof operands, "t%u t%u", a, b);
        break;
      default: break;
    }
    used += (size_t)snprintf(out + used, size - used, "tensor t%u %u%s\n", i,
                             bytes[i], i >= 13 ? " output" : "");
    ops_used +=
        (size_t)snprintf(ops + ops_used, sizeof ops - ops_used,
                         "op o%u %s ( %s ) -> ( t%u )\n", i, kind, operands, i);
  }
  snprintf(out + used, size - used, "%s", ops);
}

/* With kernels that accumulate, whole groups never need more; and whatever is
   taken, the graph is one that can be run. */
static void test_closed_groups_never_need_more(void **state) {
  (void)state;
  random_state random = random_from_seed(5);
  uint32_t groups = 0;
  for (int round = 0; round < 600; round++) {
    rewrite_fixture x;
    char text[8192];
    draw_graph(text, sizeof text, &random);
    rewrite_open(&x, text);
    x.options.rules[REWRITE_sums] = x.options.rules[REWRITE_affine] = false;
    rewrite_find(&x);
    rewrite_do(&x);
    const uint64_t before = rewrite_peak(&x);
    for (uint32_t i = 0; i < x.sites.count; i++) {
      const uint32_t group = x.sites.sites[i].group;
      x.taken[i] = group != CALM_NONE && x.sites.closed[group];
      groups += x.taken[i];
    }
    rewrite_do(&x);
    if (rewrite_peak(&x) > before) fail_msg("more is needed:\n%s", text);
    for (uint32_t i = 0; i < x.sites.count; i++)
      x.taken[i] = random_below(&random, 2);
    rewrite_do(&x);
    rewrite_peak(&x);
    rewrite_close(&x);
  }
  assert_true(groups > 100);
}

/* ---- Without memory ------------------------------------------------------ */

static calm_status rewrite_everything(arena *a, graph_vector *graphs) {
  static const char head[] = "calm-graph 1\ngraph g\n";
  rewrite_options options = {
      .abstract = true, .partials = PARTIALS_ADD_COPY, .accumulator_factor = 1};
  char text[2048];
  rewrite_sites sites;
  graph_edit edit;
  bool taken[16];
  snprintf(text, sizeof text, "%s%s", head, everything);
  TRY(graph_text_read(graphs, a, "test", text, strlen(text)));
  memset(options.rules, true, sizeof options.rules);
  memset(taken, true, sizeof taken);
  TRY(rewrite_find_sites(&sites, &graphs->data[0], &options, a));
  assert_true(sites.count <= 16);
  TRY(rewrite_apply(&edit, &sites, taken, a));
  assert_int_equal(edit.after.ops.count, 17);
  graph_edit_free(&edit);
  return CALM_OK;
}

/* Whichever request is refused, that is told and nothing is left behind. */
static void test_without_memory(void **state) {
  (void)state;
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 1; status != CALM_OK; granted++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    graph_vector graphs = {0};
    arena a;
    arena_init(&a, context);
    left = granted;
    status = rewrite_everything(&a, &graphs);
    left = SCARCE_NEVER;
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    for (uint32_t i = 0; i < graphs.count; i++) graph_free(&graphs.data[i]);
    VECTOR_FREE(context, &graphs);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_papers_cells),
      cmocka_unit_test(test_stacks),
      cmocka_unit_test(test_expectations),
      cmocka_unit_test(test_kernels_that_do_not_accumulate),
      cmocka_unit_test(test_wide_accumulators),
      cmocka_unit_test(test_the_papers_nodes),
      cmocka_unit_test(test_everything_at_once),
      cmocka_unit_test(test_descent),
      cmocka_unit_test(test_concats_that_are_needed),
      cmocka_unit_test(test_flattened_output),
      cmocka_unit_test(test_untaken),
      cmocka_unit_test(test_nothing_taken_nothing_changed),
      cmocka_unit_test(test_control_edges),
      cmocka_unit_test(test_tensors_that_nobody_touches),
      cmocka_unit_test(test_closed_groups_never_need_more),
      cmocka_unit_test(test_without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
