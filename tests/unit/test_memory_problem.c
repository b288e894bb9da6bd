#include "memory/memory_check.h"
#include "memory_graphs.h"

/* A graph and what one memory model makes of it. */
typedef struct problem_fixture {
  fixture f;
  memory_model model;
  memory_problem p;
} problem_fixture;

static void open_problem(problem_fixture *t, const char *model,
                         const char *graph_text) {
  fixture_open(&t->f, graph_text);
  t->model = model_of(t->f.context, model);
  const uint64_t body_arena[] = {0, 40, 7};
  if (memory_problem_build(&t->p, t->f.g, &t->model, body_arena, &t->f.arena))
    fail_msg("%s", calm_context_message(t->f.context));
}

static void close_problem(problem_fixture *t) { fixture_close(&t->f); }

/* The buffers of a tensor as text: names, each with its bytes and pins:
   "x:4[" is pinned to the start, "y:4]" to the end. */
static const char *buffers_of(const problem_fixture *t, const char *name) {
  static char text[256];
  size_t length = 0;
  const tensor_id id = tensor_named(t->f.g, name);
  text[0] = '\0';
  for (uint32_t i = t->p.buffer_begin[id]; i < t->p.buffer_begin[id + 1]; i++) {
    const uint32_t b = t->p.buffers[i];
    const order_buffer *buffer = &t->p.order.buffers[b];
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "%s%s:%" PRIu64 "%s%s", length ? " " : "",
                               t->f.g->tensors.data[t->p.tensor_of[b]].name,
                               buffer->bytes, buffer->pinned_start ? "[" : "",
                               buffer->pinned_end ? "]" : "");
  }
  return text;
}

/* The operators that touch the one buffer of a tensor: "a b". */
static const char *touchers_of(const problem_fixture *t, const char *name) {
  static char text[256];
  size_t length = 0;
  const order_problem *o = &t->p.order;
  const tensor_id id = tensor_named(t->f.g, name);
  assert_int_equal(t->p.buffer_begin[id + 1] - t->p.buffer_begin[id], 1);
  const uint32_t b = t->p.buffers[t->p.buffer_begin[id]];
  text[0] = '\0';
  for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                               length ? " " : "",
                               t->f.g->ops.data[t->p.op_of[o->touch[i]]].name);
  return text;
}

static const char *preds_of(const problem_fixture *t, const char *name) {
  static char text[256];
  size_t length = 0;
  const order_problem *o = &t->p.order;
  const uint32_t u = t->p.order_op_of[op_named(t->f.g, name)];
  assert_int_not_equal(u, CALM_NONE);
  text[0] = '\0';
  for (uint32_t i = o->pred_begin[u]; i < o->pred_begin[u + 1]; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                               length ? " " : "",
                               t->f.g->ops.data[t->p.op_of[o->preds[i]]].name);
  return text;
}

static bool is_free(const problem_fixture *t, const char *op) {
  return t->p.order_op_of[op_named(t->f.g, op)] == CALM_NONE;
}

static uint64_t file_peak(const problem_fixture *t) {
  uint32_t *sequence =
      arena_calloc((arena *)&t->f.arena, t->p.order.op_count, sizeof *sequence);
  uint64_t peak;
  for (uint32_t u = 0; u < t->p.order.op_count; u++) sequence[u] = u;
  assert_int_equal(
      order_replay(&peak, &t->p.order, sequence, NULL, t->f.context), CALM_OK);
  return peak;
}

static const char chain[] =
    "tensor x 100 input\n"
    "tensor w 9 const\n"
    "tensor y 50\n"
    "tensor z 20 output\n"
    "op a conv2d ( x w - ) -> ( y )\n"
    "op b conv2d ( y w ) -> ( z )\n";

static void plain_counts_what_is_read_and_written(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "plain", chain);
  assert_string_equal(buffers_of(&t, "x"), "x:100[");
  assert_string_equal(buffers_of(&t, "w"), "");
  assert_string_equal(buffers_of(&t, "y"), "y:50");
  assert_string_equal(buffers_of(&t, "z"), "z:20]");
  assert_string_equal(touchers_of(&t, "x"), "a");
  assert_string_equal(touchers_of(&t, "y"), "a b");
  assert_string_equal(preds_of(&t, "a"), "");
  assert_string_equal(preds_of(&t, "b"), "a");
  assert_int_equal(file_peak(&t), 150);
  close_problem(&t);
}

static void columns_change_pins_and_places(void **state) {
  (void)state;
  static const struct {
    const char *model, *x, *z;
  } cases[] = {
      {"plain inputs=whole-run", "x:100[]", "z:20]"},
      {"plain inputs=external", "", "z:20]"},
      {"plain outputs=external", "x:100[", ""},
      {"tflm-default", "x:112[", "z:32]"},
      {"plain round=7", "x:105[", "z:21]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    problem_fixture t;
    open_problem(&t, cases[i].model, chain);
    assert_string_equal(buffers_of(&t, "x"), cases[i].x);
    assert_string_equal(buffers_of(&t, "z"), cases[i].z);
    close_problem(&t);
  }
}

static void what_costs_nothing(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "plain",
               "tensor unread 10 input\n"
               "tensor passed 10 input output\n"
               "tensor orphan 10\n"
               "tensor weight 10 const output\n"
               "tensor state 10 variable\n"
               "tensor nothing 0\n"
               "tensor x 10 input output\n"
               "tensor y 3\n"
               "op a opaque ( x state weight ) -> ( y nothing )\n");
  assert_string_equal(buffers_of(&t, "unread"), "");
  assert_string_equal(buffers_of(&t, "passed"), "");
  assert_string_equal(buffers_of(&t, "orphan"), "");
  assert_string_equal(buffers_of(&t, "weight"), "");
  assert_string_equal(buffers_of(&t, "state"), "");
  assert_string_equal(buffers_of(&t, "nothing"), "");
  assert_string_equal(buffers_of(&t, "x"), "x:10[]");
  assert_string_equal(buffers_of(&t, "y"), "y:3");
  assert_int_equal(file_peak(&t), 13);
  close_problem(&t);
}

static void state_may_lie_in_the_arena(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "plain variables=whole-run",
               "tensor state 10 variable\n"
               "tensor idle 10 variable\n"
               "tensor x 4 input\n"
               "tensor y 3 output\n"
               "op a opaque ( x state ) -> ( y )\n");
  assert_string_equal(buffers_of(&t, "state"), "state:10[]");
  assert_string_equal(buffers_of(&t, "idle"), "");
  assert_int_equal(file_peak(&t), 17);
  close_problem(&t);
}

static const char views[] =
    "tensor x 12 input\n"
    "tensor w 12 const\n"
    "tensor axis 4 const\n"
    "tensor y 12\n"
    "tensor y1 12\n"
    "tensor y2 12\n"
    "tensor wv 12\n"
    "tensor z 5 output\n"
    "op a conv2d ( x ) -> ( y )\n"
    "op v1 reshape ( y axis ) -> ( y1 )\n"
    "op v2 split ( axis y1 ) -> ( y2 )\n"
    "op v3 reshape ( w ) -> ( wv )\n"
    "op b conv2d ( y2 wv ) -> ( z )\n";

static void views_share_their_inputs_buffer(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "plain views=identity", views);
  assert_int_equal(t.p.order.op_count, 2);
  assert_string_equal(buffers_of(&t, "y2"), "y:12");
  assert_string_equal(touchers_of(&t, "y2"), "a b");
  assert_string_equal(buffers_of(&t, "wv"), "");
  assert_string_equal(preds_of(&t, "b"), "a");
  assert_int_equal(file_peak(&t), 24);
  close_problem(&t);
  open_problem(&t, "plain", views);
  assert_int_equal(t.p.order.op_count, 5);
  assert_string_equal(buffers_of(&t, "wv"), "wv:12");
  assert_int_equal(file_peak(&t), 29);
  close_problem(&t);
}

/* An output that is a view pins what it is a view of. */
static void views_unite_pins(void **state) {
  (void)state;
  static const char text[] =
      "tensor x 12 input\n"
      "tensor y 12 output\n"
      "tensor z 3 output\n"
      "op v reshape ( x ) -> ( y )\n"
      "op a conv2d ( x ) -> ( z )\n";
  problem_fixture t;
  open_problem(&t, "plain views=identity", text);
  assert_string_equal(buffers_of(&t, "y"), "x:12[]");
  assert_string_equal(touchers_of(&t, "y"), "a");
  close_problem(&t);
  open_problem(&t, "plain views=identity outputs=external", text);
  assert_string_equal(buffers_of(&t, "x"), "");
  close_problem(&t);
  open_problem(&t, "plain views=identity",
               "tensor x 12 input\ntensor y 12 output\n"
               "op v reshape ( x ) -> ( y )\n");
  assert_int_equal(t.p.order.op_count, 0);
  assert_string_equal(buffers_of(&t, "y"), "x:12[]");
  assert_int_equal(file_peak(&t), 12);
  close_problem(&t);
}

static void what_is_no_view(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "plain views=identity",
               "tensor x 12 input\n"
               "tensor s 12 variable\n"
               "tensor half 6\n"
               "tensor copy 12\n"
               "tensor p 6\ntensor q 6\n"
               "op shrink reshape ( x ) -> ( half )\n"
               "op load identity ( s ) -> ( copy )\n"
               "op two split ( x ) -> ( p q )\n"
               "op none identity ( - ) -> ( - )\n");
  assert_false(is_free(&t, "shrink"));
  assert_false(is_free(&t, "load"));
  assert_false(is_free(&t, "two"));
  assert_false(is_free(&t, "none"));
  close_problem(&t);
}

/* A view that waits for a computed shape, or needs workspace, does run. */
static void views_that_do_something(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "plain views=identity",
               "tensor x 12 input\n"
               "tensor shape 4\n"
               "tensor y 12\n"
               "tensor z 12 output\n"
               "op s opaque ( x ) -> ( shape )\n"
               "op v reshape ( x shape ) -> ( y )\n"
               "op u reshape ( y ) -> ( z ) workspace=8\n");
  assert_false(is_free(&t, "v"));
  assert_false(is_free(&t, "u"));
  assert_string_equal(buffers_of(&t, "z"), "x:12[]");
  assert_string_equal(touchers_of(&t, "z"), "s v u");
  assert_string_equal(touchers_of(&t, "shape"), "s v");
  assert_int_equal(file_peak(&t), 20);
  close_problem(&t);
}

static const char concats[] =
    "tensor a 1\ntensor b 2\ntensor c 4\n"
    "tensor ab 3\ntensor abc 7\ntensor view 7\n"
    "tensor k 9 const\n"
    "tensor y 10 output\n"
    "op pa conv2d ( ) -> ( a )\n"
    "op pb conv2d ( ) -> ( b )\n"
    "op pc conv2d ( ) -> ( c )\n"
    "op j1 concat ( a b ) -> ( ab )\n"
    "op j2 concat ( ab c k a ) -> ( abc )\n"
    "op v reshape ( abc ) -> ( view )\n"
    "op r conv2d ( view ) -> ( y )\n";

static void elided_concats_are_flattened(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "serenity", concats);
  assert_int_equal(t.p.order.op_count, 4);
  assert_string_equal(buffers_of(&t, "ab"), "a:1 b:2");
  assert_string_equal(buffers_of(&t, "view"), "a:1 b:2 c:4");
  assert_string_equal(touchers_of(&t, "a"), "pa r");
  assert_string_equal(preds_of(&t, "r"), "pa pb pc");
  assert_int_equal(file_peak(&t), 17);
  close_problem(&t);
  open_problem(&t, "plain", concats);
  assert_int_equal(t.p.order.op_count, 7);
  assert_string_equal(buffers_of(&t, "abc"), "abc:7");
  close_problem(&t);
}

static void an_elided_output_keeps_its_operands(void **state) {
  (void)state;
  static const char text[] =
      "tensor x 5 input\ntensor a 1\ntensor b 2\ntensor ab 3 output\n"
      "op pa conv2d ( x ) -> ( a )\n"
      "op pb conv2d ( x ) -> ( b )\n"
      "op j concat ( a b ) -> ( ab )\n";
  problem_fixture t;
  open_problem(&t, "serenity", text);
  assert_string_equal(buffers_of(&t, "ab"), "a:1] b:2]");
  close_problem(&t);
  open_problem(&t, "serenity outputs=external", text);
  assert_string_equal(buffers_of(&t, "ab"), "");
  close_problem(&t);
}

/* Precedence passes through what was folded out, control edges as well. */
static void folding_keeps_precedence(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "serenity",
               "tensor x 5 input\ntensor a 5\ntensor va 5\ntensor y 1\n"
               "tensor z 1 output\n"
               "op first opaque ( ) -> ( )\n"
               "op pa conv2d ( x ) -> ( a )\n"
               "op v reshape ( a ) -> ( va ) after ( first )\n"
               "op w reshape ( va ) -> ( - ) after ( v )\n"
               "op last opaque ( ) -> ( y ) after ( v )\n"
               "op r conv2d ( va ) -> ( z )\n");
  assert_string_equal(preds_of(&t, "last"), "first pa");
  assert_string_equal(preds_of(&t, "r"), "first pa");
  close_problem(&t);
}

static const char in_place[] =
    "tensor x 8 input\ntensor y 8\ntensor z 8\n"
    "tensor s 4 const\ntensor o 8 output\n"
    "tensor q 8 output\n"
    "op a relu ( x ) -> ( y )\n"
    "op b add ( y x y ) -> ( z )\n"
    "op c add ( s z ) -> ( o )\n"
    "op d mul ( o z ) -> ( q )\n";

static const char *reuses_of(const problem_fixture *t) {
  static char text[256];
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < t->p.order.reuse_count; i++) {
    const order_reuse *r = &t->p.order.reuses[i];
    const graph *g = t->f.g;
    length += (size_t)snprintf(
        text + length, sizeof text - length, "%s%s:%s>%s:%" PRIu64,
        length ? " " : "", g->ops.data[t->p.op_of[r->op]].name,
        g->tensors.data[t->p.tensor_of[r->input]].name,
        g->tensors.data[t->p.tensor_of[r->output]].name, r->bytes);
  }
  return text;
}

static void permissions_in_place(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "plain", in_place);
  assert_string_equal(reuses_of(&t), "");
  close_problem(&t);
  open_problem(&t, "plain inplace=elementwise", in_place);
  assert_string_equal(reuses_of(&t), "a:x>y:8 b:y>z:8 b:x>z:8 c:z>o:8 d:z>q:8");
  assert_int_equal(file_peak(&t), 16);
  close_problem(&t);
  open_problem(&t, "plain inplace=add inputs=external", in_place);
  assert_string_equal(reuses_of(&t), "b:y>z:8 c:z>o:8");
  close_problem(&t);
  open_problem(&t, "plain inplace=add inputs=whole-run", in_place);
  assert_string_equal(reuses_of(&t), "b:y>z:8 c:z>o:8");
  close_problem(&t);
}

/* 13 and 15 bytes are equal once rounded, but have not the same elements;
   several buffers are no place. */
static void permissions_need_one_equal_buffer(void **state) {
  (void)state;
  static const char text[] =
      "tensor x 13 input\ntensor y 15\ntensor a 5\ntensor b 10\ntensor ab 15\n"
      "tensor z 15 output\n"
      "op r relu ( x ) -> ( y )\n"
      "op pa conv2d ( y ) -> ( a )\n"
      "op pb conv2d ( y ) -> ( b )\n"
      "op j concat ( a b ) -> ( ab )\n"
      "op s relu ( ab ) -> ( z )\n";
  problem_fixture t;
  open_problem(&t, "plain inplace=relu", text);
  assert_string_equal(reuses_of(&t), "s:ab>z:15");
  close_problem(&t);
  open_problem(&t, "tflm-default inplace=relu concat=elide", text);
  assert_string_equal(reuses_of(&t), "");
  close_problem(&t);
}

/* A kernel that changes a part of its first operand needs the others as they
   were, also behind a view or an elided concat. */
static void what_is_read_again_is_not_changed(void **state) {
  (void)state;
  static const char text[] =
      "tensor x 16 input\ntensor v 16\ntensor u 16 input\ntensor y 16\n"
      "tensor j 32\ntensor z 16 output\n"
      "op r reshape ( x ) -> ( v )\n"
      "op a scatter_elements ( x u v ) -> ( y )\n"
      "op c concat ( u y ) -> ( j )\n"
      "op b scatter_elements ( y - j ) -> ( z )\n";
  problem_fixture t;
  open_problem(&t, "plain inplace=scatter_elements", text);
  assert_string_equal(reuses_of(&t), "a:x>y:16 b:y>z:16");
  close_problem(&t);
  open_problem(&t, "serenity inplace=scatter_elements", text);
  assert_string_equal(reuses_of(&t), "");
  close_problem(&t);
}

static void workspace_is_own_and_of_the_largest_body(void **state) {
  (void)state;
  static const char text[] =
      "tensor x 5 input\ntensor y 5 output\n"
      "op a opaque ( x ) -> ( y ) workspace=3 body=b1\n"
      "graph b1\n"
      "tensor i 1 input\n";
  problem_fixture t;
  open_problem(&t, "plain", text);
  assert_int_equal(t.p.workspace_bytes[0], 43);
  assert_int_equal(t.p.order.workspace[0], 43);
  assert_int_equal(file_peak(&t), 53);
  close_problem(&t);
  open_problem(&t, "plain round=16", text);
  assert_int_equal(t.p.order.workspace[0], 48);
  close_problem(&t);
}

/* The graph itself is within the limit, its rounded sizes are not. */
static void totals_beyond_the_limit_are_refused(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 4611686018427387894 input\n"
               "tensor y 1 output\n"
               "op a conv2d ( x ) -> ( y )\n");
  memory_problem p;
  memory_profile profile;
  const memory_model *m = memory_model_find("tflm-default");
  assert_int_equal(memory_problem_build(&p, f.g, m, NULL, &f.arena),
                   CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(f.context), "2^62"));
  assert_int_equal(
      memory_simulate(&profile, f.g, m, NULL, f.g->order, &f.arena),
      CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(f.context), "2^62"));
  fixture_close(&f);
}

static void a_graph_without_operators(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "serenity", "tensor x 5 input output\n");
  assert_int_equal(t.p.order.op_count, 0);
  assert_int_equal(t.p.order.buffer_count, 0);
  assert_int_equal(file_peak(&t), 0);
  close_problem(&t);
}

/* ---- Sequences ----------------------------------------------------------- */

static void free_operators_run_as_soon_as_they_can(void **state) {
  (void)state;
  problem_fixture t;
  open_problem(&t, "serenity", concats);
  const uint32_t sequence[] = {2, 0, 1, 3}; /* pc pa pb r */
  op_id full[7];
  assert_int_equal(memory_expand_sequence(full, t.f.g, &t.p, sequence),
                   CALM_OK);
  static const char *const expected[] = {"pc", "pa", "pb", "j1",
                                         "j2", "v",  "r"};
  for (uint32_t i = 0; i < 7; i++)
    assert_string_equal(t.f.g->ops.data[full[i]].name, expected[i]);
  close_problem(&t);
}

/* Complete, topological, and no free operator could run any earlier. */
static void assert_expansion(const graph *g, const memory_problem *p,
                             const op_id *full) {
  uint32_t step_of[RANDOM_MAX_OPS];
  memset(step_of, 0xff, sizeof step_of);
  for (uint32_t step = 0; step < g->ops.count; step++) {
    assert_int_equal(step_of[full[step]], UINT32_MAX);
    step_of[full[step]] = step;
  }
  for (op_id op = 0; op < g->ops.count; op++) {
    uint32_t ready = 0;
    for (uint32_t i = g->pred_begin[op]; i < g->pred_begin[op + 1]; i++) {
      assert_true(step_of[g->preds[i]] < step_of[op]);
      if (step_of[g->preds[i]] + 1 > ready) ready = step_of[g->preds[i]] + 1;
    }
    if (p->order_op_of[op] != CALM_NONE) continue;
    for (uint32_t step = ready; step < step_of[op]; step++)
      assert_int_equal(p->order_op_of[full[step]], CALM_NONE);
  }
}

static void random_expansions(void **state) {
  (void)state;
  random_state r = random_from_seed(1);
  for (int round = 0; round < 3000; round++) {
    fixture f;
    fixture_random(&f, &r);
    const memory_model model = random_model(&r, f.context);
    memory_problem p;
    assert_int_equal(
        memory_problem_build(&p, f.g, &model, random_body_arena, &f.arena),
        CALM_OK);
    op_id order[RANDOM_MAX_OPS], full[RANDOM_MAX_OPS];
    uint32_t sequence[RANDOM_MAX_OPS], again[RANDOM_MAX_OPS];
    random_order(order, f.g, &r);
    memory_fold_sequence(sequence, f.g, &p, order);
    assert_int_equal(memory_expand_sequence(full, f.g, &p, sequence), CALM_OK);
    assert_expansion(f.g, &p, full);
    memory_fold_sequence(again, f.g, &p, full);
    assert_memory_equal(again, sequence, p.order.op_count * sizeof *sequence);
    fixture_close(&f);
  }
}

/* Every row of the problem ascends, each entry once, as order.h asks. */
static void assert_ascending(const uint32_t *begin, const uint32_t *list,
                             uint32_t rows, uint32_t values) {
  for (uint32_t row = 0; row < rows; row++)
    for (uint32_t i = begin[row]; i < begin[row + 1]; i++) {
      assert_true(list[i] < values);
      if (i > begin[row]) assert_true(list[i - 1] < list[i]);
    }
}

static void random_problems_are_well_formed(void **state) {
  (void)state;
  random_state r = random_from_seed(2);
  for (int round = 0; round < 3000; round++) {
    fixture f;
    fixture_random(&f, &r);
    const memory_model model = random_model(&r, f.context);
    memory_problem p;
    assert_int_equal(
        memory_problem_build(&p, f.g, &model, random_body_arena, &f.arena),
        CALM_OK);
    const order_problem *o = &p.order;
    assert_ascending(o->touch_begin, o->touch, o->buffer_count, o->op_count);
    assert_ascending(o->pred_begin, o->preds, o->op_count, o->op_count);
    for (uint32_t u = 0; u < o->op_count; u++)
      for (uint32_t i = o->pred_begin[u]; i < o->pred_begin[u + 1]; i++)
        assert_true(o->preds[i] < u);
    for (uint32_t b = 0; b < o->buffer_count; b++) {
      assert_true(o->buffers[b].bytes > 0);
      assert_true(o->touch_begin[b] < o->touch_begin[b + 1] ||
                  (o->buffers[b].pinned_start && o->buffers[b].pinned_end));
    }
    for (uint32_t i = 0; i < o->reuse_count; i++) {
      const order_reuse *reuse = &o->reuses[i];
      assert_true(i == 0 || o->reuses[i - 1].op <= reuse->op);
      assert_int_not_equal(reuse->input, reuse->output);
      uint64_t bytes = o->buffers[reuse->output].bytes;
      assert_int_equal(o->buffers[reuse->input].bytes, bytes);
      if (f.g->ops.data[p.op_of[reuse->op]].kind == OP_add_into)
        bytes += o->workspace[reuse->op];
      assert_int_equal(reuse->bytes, bytes);
    }
    fixture_close(&f);
  }
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  for (uint64_t granted = 0;; granted++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    fixture f;
    fixture_begin(&f, &allocator);
    char text[sizeof concats + 64];
    snprintf(text, sizeof text, "calm-graph 1\ngraph g\n%s", concats);
    assert_int_equal(
        graph_text_read(&f.graphs, &f.arena, "g", text, strlen(text)), CALM_OK);
    const graph *g = f.graphs.data;
    const uint32_t sequence[] = {0, 1, 2, 3};
    op_id full[7];
    arena a;
    arena_init(&a, f.context);
    left = granted;
    memory_problem p;
    calm_status status =
        memory_problem_build(&p, g, memory_model_find("serenity"), NULL, &a);
    if (status == CALM_OK)
      status = memory_expand_sequence(full, g, &p, sequence);
    arena_free(&a);
    fixture_close(&f);
    if (status == CALM_OK) {
      assert_true(granted > 5);
      break;
    }
    assert_int_equal(status, CALM_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_counts_what_is_read_and_written),
      cmocka_unit_test(columns_change_pins_and_places),
      cmocka_unit_test(what_costs_nothing),
      cmocka_unit_test(state_may_lie_in_the_arena),
      cmocka_unit_test(views_share_their_inputs_buffer),
      cmocka_unit_test(views_unite_pins),
      cmocka_unit_test(what_is_no_view),
      cmocka_unit_test(views_that_do_something),
      cmocka_unit_test(elided_concats_are_flattened),
      cmocka_unit_test(an_elided_output_keeps_its_operands),
      cmocka_unit_test(folding_keeps_precedence),
      cmocka_unit_test(permissions_in_place),
      cmocka_unit_test(permissions_need_one_equal_buffer),
      cmocka_unit_test(what_is_read_again_is_not_changed),
      cmocka_unit_test(workspace_is_own_and_of_the_largest_body),
      cmocka_unit_test(totals_beyond_the_limit_are_refused),
      cmocka_unit_test(a_graph_without_operators),
      cmocka_unit_test(free_operators_run_as_soon_as_they_can),
      cmocka_unit_test(random_expansions),
      cmocka_unit_test(random_problems_are_well_formed),
      cmocka_unit_test(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
