#include "rewrite_fixture.h"
#include "rewrite_parted.h"

/* ---- Expectation --------------------------------------------------------- */

/* "conv x w b -> y" per operator, in the order of the ids. */
static char *listed(const graph *g) {
  static char out[4096];
  size_t used = 0;
  out[0] = '\0';
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    const char *active = graph_op_attribute(op, "activation");
    used += (size_t)snprintf(out + used, sizeof out - used, "%s:%s", op->name,
                             op_kind_name(op->kind));
    for (uint32_t i = 0; i < op->input_count; i++)
      used += (size_t)snprintf(out + used, sizeof out - used, " %s",
                               op->inputs[i] == CALM_NONE
                                   ? "-"
                                   : g->tensors.data[op->inputs[i]].name);
    used += (size_t)snprintf(out + used, sizeof out - used, " > %s%s%s\n",
                             g->tensors.data[op->outputs[0]].name,
                             active ? " " : "", active ? active : "");
  }
  return out;
}

/* Ids are those of a file in this order, and nothing is idle. */
static void is_tidy(const graph_edit *edit) {
  const graph *g = &edit->after;
  assert_int_equal(edit->tensors.count, g->tensors.count);
  assert_int_equal(edit->ops.count, g->ops.count);
  assert_true(g->file_order_valid);
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const unsigned flags = g->tensors.data[t].flags;
    const bool read = g->reader_begin[t] < g->reader_begin[t + 1];
    assert_true(read || !(flags & CALM_TENSOR_CONST));
    assert_true(g->producer[t] != CALM_NONE ||
                flags & (CALM_TENSOR_INPUT | CALM_TENSOR_CONST));
  }
  for (op_id u = 0; u < g->ops.count; u++) {
    assert_true(g->ops.data[u].kind != OP_partial_sum);
    assert_true(g->ops.data[u].kind != OP_add_into);
  }
}

/* ---- One convolution ----------------------------------------------------- */

/* p = relu(x), q = relu(x); y = conv(concat(p, q, x)). */
typedef struct site {
  bool channels_first, biased;
  const char *activation;
} site;

static tensor_id add(graph *g, const char *name, const int64_t *dimensions,
                     uint32_t rank, unsigned flags) {
  tensor_id id;
  graph_tensor tensor = {.name = name,
                         .dimensions = dimensions,
                         .rank = rank,
                         .type = ELEMENT_f32,
                         .flags = flags};
  assert_int_equal(graph_add_tensor(&id, g, &tensor), CALM_OK);
  return id;
}

static void add_operator(graph *g, const char *name, op_kind kind,
                         const tensor_id *inputs, uint32_t count,
                         tensor_id output, graph_attribute attribute) {
  op_id id;
  graph_op op = {.name = name,
                 .kind = kind,
                 .inputs = (tensor_id *)inputs,
                 .input_count = count,
                 .outputs = &output,
                 .output_count = 1,
                 .attributes = &attribute,
                 .attribute_count = attribute.value ? 1 : 0};
  assert_int_equal(graph_add_op(&id, g, &op), CALM_OK);
}

static void build_site(graph *g, arena *a, site s) {
  const bool first = s.channels_first;
  const int64_t small[2][4] = {{1, 4, 4, 2}, {1, 2, 4, 4}};
  const int64_t large[2][4] = {{1, 4, 4, 6}, {1, 6, 4, 4}};
  const int64_t kernel[2][4] = {{5, 1, 1, 6}, {5, 6, 1, 1}};
  const int64_t result[2][4] = {{1, 4, 4, 5}, {1, 5, 4, 4}}, width = 5;
  graph_init(g, a, "site");
  g->channels_first = first;
  tensor_id x = add(g, "x", small[first], 4, CALM_TENSOR_INPUT);
  tensor_id p = add(g, "p", small[first], 4, 0);
  tensor_id q = add(g, "q", small[first], 4, 0);
  tensor_id cat = add(g, "cat", large[first], 4, 0);
  tensor_id w = add(g, "W", kernel[first], 4, CALM_TENSOR_CONST);
  tensor_id y = add(g, "Y", result[first], 4, CALM_TENSOR_OUTPUT);
  tensor_id b = s.biased ? add(g, "B", &width, 1, CALM_TENSOR_CONST) : 0;
  const graph_attribute none = {"", NULL}, axis = {"axis", first ? "1" : "3"};
  add_operator(g, "relu1", OP_relu, &x, 1, p, none);
  add_operator(g, "relu2", OP_relu, &x, 1, q, none);
  add_operator(g, "join", OP_concat, (tensor_id[]){p, q, x}, 3, cat, axis);
  add_operator(g, "C", OP_conv2d, (tensor_id[]){cat, w, b}, s.biased ? 3 : 2, y,
               (graph_attribute){"activation", s.activation});
  assert_int_equal(graph_finish(g, "site"), CALM_OK);
}

typedef struct run {
  site site;
  rewrite_partials partials;
  bool fused;
  const char *sequence; /* names of operators of the abstract edit */
  const char *expected;
} run;

static void read_sequence(op_id *out, const graph *g, const char *words) {
  uint32_t count = 0;
  while (*words) {
    size_t length = strcspn(words, " ");
    for (op_id u = 0; u < g->ops.count; u++)
      if (strlen(g->ops.data[u].name) == length &&
          !strncmp(g->ops.data[u].name, words, length))
        out[count++] = u;
    words += length + (words[length] == ' ');
  }
  assert_int_equal(count, g->ops.count);
}

static void chain_site(const run *r, calm_status status) {
  fixture f;
  graph g;
  graph_edit abstract, concrete;
  op_id sequence[32];
  fixture_open(&f, NULL);
  build_site(&g, &f.arena, r->site);
  part_edit(&abstract, &g, (bool[]){false, false, false, true}, r->partials,
            &f.arena);
  read_sequence(sequence, &abstract.after, r->sequence);
  calm_status got =
      rewrite_chain(&concrete, &abstract, sequence, r->fused, &f.arena);
  if (got != status) fail_msg("%s", calm_context_message(f.context));
  if (status) {
    assert_string_equal(calm_context_message(f.context), r->expected);
  } else {
    is_tidy(&concrete);
    assert_string_equal(listed(&concrete.after), r->expected);
    graph_edit_free(&concrete);
  }
  graph_edit_free(&abstract);
  graph_free(&g);
  fixture_close(&f);
}

static void additions_follow_the_sequence(void **state) {
  (void)state;
  const run r = {{false, true, "relu"},
                 PARTIALS_ACCUMULATE,
                 false,
                 "C/p3 relu2 C/p2 relu1 C/p1 C",
                 "C/p3:conv2d x W/p3 B > Y/acc1\n"
                 "relu2:relu x > q\n"
                 "C/p2:conv2d q W/p2 zero_bias/5 > Y/t2\n"
                 "C/a2:add Y/acc1 Y/t2 > Y/acc2\n"
                 "relu1:relu x > p\n"
                 "C/p1:conv2d p W/p1 zero_bias/5 > Y/t3\n"
                 "C/a3:add Y/acc2 Y/t3 > Y relu\n"};
  chain_site(&r, CALM_OK);
}

static void additions_run_where_add_into_did(void **state) {
  (void)state;
  const run r = {{false, false, NULL},
                 PARTIALS_ADD_COPY,
                 false,
                 "relu1 relu2 C/p1 C/p2 C/p3 C/a3 C/a1 C/a2 C",
                 "relu1:relu x > p\n"
                 "relu2:relu x > q\n"
                 "C/p1:conv2d p W/p1 zero_bias/5 > Y/t2\n"
                 "C/p2:conv2d q W/p2 zero_bias/5 > Y/t3\n"
                 "C/p3:conv2d x W/p3 zero_bias/5 > Y/acc1\n"
                 "C/a2:add Y/acc1 Y/t2 > Y/acc2\n"
                 "C/a3:add Y/acc2 Y/t3 > Y\n"};
  chain_site(&r, CALM_OK);
}

static void fused_convolutions_add(void **state) {
  (void)state;
  const run r = {{true, true, NULL},
                 PARTIALS_ACCUMULATE,
                 true,
                 "relu1 C/p1 C/p3 relu2 C/p2 C",
                 "relu1:relu x > p\n"
                 "C/p1:conv2d p W/p1 B > Y/acc1\n"
                 "C/p3:fused_conv x W/p3 - Y/acc1 > Y/acc2\n"
                 "relu2:relu x > q\n"
                 "C/p2:fused_conv q W/p2 - Y/acc2 > Y\n"};
  chain_site(&r, CALM_OK);
}

/* Fused convolutions stand where they can add. */
static void fused_convolutions_wait(void **state) {
  (void)state;
  const run r = {{true, true, NULL},
                 PARTIALS_ADD_INPLACE,
                 true,
                 "relu1 relu2 C/p1 C/p2 C/p3 C/a2 C/a1 C/a3 C",
                 "relu1:relu x > p\n"
                 "relu2:relu x > q\n"
                 "C/p2:conv2d q W/p2 B > Y/acc1\n"
                 "C/p1:fused_conv p W/p1 - Y/acc1 > Y/acc2\n"
                 "C/p3:fused_conv x W/p3 - Y/acc2 > Y\n"};
  chain_site(&r, CALM_OK);
}

static void onnx_additions_need_no_bias(void **state) {
  (void)state;
  const run r = {{true, false, NULL},
                 PARTIALS_ACCUMULATE,
                 false,
                 "relu1 C/p1 C/p3 relu2 C/p2 C",
                 "relu1:relu x > p\n"
                 "C/p1:conv2d p W/p1 > Y/acc1\n"
                 "C/p3:conv2d x W/p3 > Y/t2\n"
                 "C/a2:add Y/acc1 Y/t2 > Y/acc2\n"
                 "relu2:relu x > q\n"
                 "C/p2:conv2d q W/p2 > Y/t3\n"
                 "C/a3:add Y/acc2 Y/t3 > Y\n"};
  chain_site(&r, CALM_OK);
}

/* No addition of ONNX has an activation; a convolution that adds has. */
static void onnx_activations_are_fused(void **state) {
  (void)state;
  const run r = {{true, false, "Relu"},
                 PARTIALS_ACCUMULATE,
                 false,
                 "relu1 C/p1 C/p3 relu2 C/p2 C",
                 "relu1:relu x > p\n"
                 "C/p1:conv2d p W/p1 > Y/acc1\n"
                 "C/p3:conv2d x W/p3 > Y/t2\n"
                 "C/a2:add Y/acc1 Y/t2 > Y/acc2\n"
                 "relu2:relu x > q\n"
                 "C/p2:fused_conv q W/p2 - Y/acc2 > Y Relu\n"};
  chain_site(&r, CALM_OK);
}

static void only_onnx_is_fused(void **state) {
  (void)state;
  const run r = {{false, false, NULL},
                 PARTIALS_ACCUMULATE,
                 true,
                 "relu1 C/p1 C/p3 relu2 C/p2 C",
                 "only .onnx files have convolutions that add"};
  chain_site(&r, CALM_MISUSE);
}

/* ---- Sums of other tensors ----------------------------------------------- */

static void chain_text(rewrite_rule rule, const char *text,
                       const char *sequence, const char *expected) {
  rewriting r;
  graph_edit concrete;
  op_id order[32];
  open_rewriting(&r, rule, text);
  r.options.partials = PARTIALS_ADD_COPY;
  find_sites(&r);
  apply_all(&r);
  read_sequence(order, &r.edit.after, sequence);
  must(&r, rewrite_chain(&concrete, &r.edit, order, false, &r.f.arena));
  is_tidy(&concrete);
  must(&r, rewrite_check(&concrete, r.f.context));
  assert_string_equal(listed(&concrete.after), expected);
  graph_edit_free(&concrete);
  close_rewriting(&r);
}

/* The first two operands meet in one addition; the last addition has the
   activation.  An operand may be there twice, or be an input. */
static void sums_are_added_in_order(void **state) {
  (void)state;
  chain_text(REWRITE_sums,
             "tensor x f32[1,2,2,3] input\n"
             "tensor a f32[1,2,2,3]\n"
             "tensor b f32[1,2,2,3]\n"
             "tensor s f32[1,2,2,3]\n"
             "tensor t f32[1,2,2,3]\n"
             "tensor y f32[1,2,2,3] output\n"
             "op A relu ( x ) -> ( a )\n"
             "op B tanh ( x ) -> ( b )\n"
             "op S add ( a b ) -> ( s )\n"
             "op T add ( s x ) -> ( t )\n"
             "op Y add ( t a ) -> ( y ) activation=relu6\n",
             "B Y/a2 Y/a3 A Y/a4 Y/a1 Y",
             "B:tanh x > b\n"
             "Y/a2:add b x > y/acc2\n"
             "A:relu x > a\n"
             "Y/a3:add y/acc2 a > y/acc3\n"
             "Y/a4:add y/acc3 a > y relu6\n");
}

/* What waited for a sum, or for its operator, still does. */
static void waiting_goes_on(void **state) {
  (void)state;
  const char *text =
      "tensor p f32[1,2,2,3] input\n"
      "tensor q f32[1,2,2,3] input\n"
      "tensor cat f32[1,2,2,6]\n"
      "tensor w f32[4,1,1,6] const\n"
      "tensor y f32[1,2,2,4]\n"
      "tensor z f32[1,2,2,3] output\n"
      "tensor v f32[1,2,2,4] output\n"
      "op Z relu ( p ) -> ( z )\n"
      "op K concat ( p q ) -> ( cat ) axis=3\n"
      "op C conv2d ( cat w ) -> ( y ) stride=1,1 pad=same after ( Z )\n"
      "op V relu ( y ) -> ( v ) after ( C )\n";
  fixture f;
  graph_edit abstract, concrete;
  op_id sequence[16];
  char whole[2048];
  fixture_open(&f, NULL);
  snprintf(whole, sizeof whole, "calm-graph 1\ngraph g\n%s", text);
  fixture_must_read(&f, whole);
  const graph *g = &f.graphs.data[0];
  for (int into = 0; into < 2; into++) {
    part_edit(&abstract, g, (bool[]){false, false, true, false},
              into ? PARTIALS_ADD_INPLACE : PARTIALS_ACCUMULATE, &f.arena);
    read_sequence(sequence, &abstract.after,
                  into ? "Z C/p2 C/p1 C/a2 C/a1 C V" : "Z C/p2 C/p1 C V");
    if (rewrite_chain(&concrete, &abstract, sequence, false, &f.arena) ||
        rewrite_check(&concrete, f.context))
      fail_msg("%s", calm_context_message(f.context));
    const graph_op *ops = concrete.after.ops.data;
    assert_int_equal(concrete.after.ops.count, 5);
    for (op_id u = 1; u < 5; u++) assert_true(ops[u].after_count > 0);
    assert_int_equal(ops[1].after[0], 0);
    assert_int_equal(ops[2].after[0], 0);
    assert_int_equal(ops[3].after[0], 0);
    assert_int_equal(ops[4].after[0], 3);
    graph_edit_free(&concrete);
    graph_edit_free(&abstract);
  }
  fixture_close(&f);
}

/* ---- Random networks ----------------------------------------------------- */

static void chain_random(fixture *f, random_state *r) {
  graph g;
  graph_edit abstract, concrete;
  bool parted[2 * NET_OPS];
  const net_options options = {random_below(r, 4) == 0, random_below(r, 2),
                               NET_OPS};
  random_net(&g, &f->arena, r, options);
  for (op_id u = 0; u < g.ops.count; u++)
    parted[u] = parted_site(&g, u) && random_below(r, 3);
  part_edit(&abstract, &g, parted, (rewrite_partials)random_below(r, 3),
            &f->arena);
  op_id *sequence = calloc(abstract.after.ops.count + 1, sizeof *sequence);
  assert_non_null(sequence);
  random_sequence(sequence, &abstract.after, r);
  if (rewrite_chain(&concrete, &abstract, sequence,
                    g.channels_first && random_below(r, 2), &f->arena))
    fail_msg("%s", calm_context_message(f->context));
  is_tidy(&concrete);
  free(sequence);
  graph_edit_free(&concrete);
  graph_edit_free(&abstract);
  graph_free(&g);
}

static void random_networks_are_chained(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 500; seed++) {
    fixture f;
    random_state r = random_from_seed(seed);
    fixture_open(&f, NULL);
    chain_random(&f, &r);
    fixture_close(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(additions_follow_the_sequence),
      cmocka_unit_test(additions_run_where_add_into_did),
      cmocka_unit_test(fused_convolutions_add),
      cmocka_unit_test(fused_convolutions_wait),
      cmocka_unit_test(onnx_additions_need_no_bias),
      cmocka_unit_test(onnx_activations_are_fused),
      cmocka_unit_test(only_onnx_is_fused),
      cmocka_unit_test(sums_are_added_in_order),
      cmocka_unit_test(waiting_goes_on),
      cmocka_unit_test(random_networks_are_chained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
