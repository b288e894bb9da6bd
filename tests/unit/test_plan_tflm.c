/*
 * Plans for TensorFlow Lite Micro: the heads that it reported itself for public
 * models, as they are and as calm wrote them (tests/tflm_heads.csv), the tails
 * beside them (tests/tflm_tails.csv), and the
 * promise that no model gets worse, at random.  Every plan is judged by
 * tflm_check before calm_plan_make returns it.
 */
#include "memory_graphs.h"

#include "plan.h"
#include "tflite_builder.h"

/* ---- Public models ------------------------------------------------------- */

typedef struct measured {
  char model[128];
  uint64_t as_it_is, planned[2]; /* auto, reference; 0: not measured */
} measured;

/* MODEL,NUMBER,NUMBER,NUMBER with numbers that may be missing. */
static void read_row(measured *out, const char *line) {
  const size_t length = strcspn(line, ",\n");
  uint64_t numbers[3] = {0};
  assert_true(length < sizeof out->model);
  memcpy(out->model, line, length);
  out->model[length] = '\0';
  line += length;
  for (int i = 0; i < 3 && *line == ','; i++) {
    char *end;
    numbers[i] = strtoull(line + 1, &end, 10);
    line = end;
  }
  out->as_it_is = numbers[0];
  out->planned[0] = numbers[1];
  out->planned[1] = numbers[2];
}

/* The row of a model in the table of tails. */
static void find_tail(measured *out, const char *model) {
  FILE *table = fopen(CALM_SOURCE_DIR "/tests/tflm_tails.csv", "r");
  char line[256];
  assert_non_null(table);
  do {
    if (!fgets(line, sizeof line, table)) fail_msg("no tail of %s", model);
    read_row(out, line);
  } while (strcmp(out->model, model) != 0);
  fclose(table);
}

static void compare_tails(const measured *e, const plan_runtime *r,
                          int choice) {
  assert_true(r->tail.exact && r->default_tail.exact);
  if (r->default_tail.bytes != e->as_it_is)
    fail_msg("%s: a tail of %" PRIu64 ", measured %" PRIu64, e->model,
             r->default_tail.bytes, e->as_it_is);
  if (e->planned[choice] && r->tail.bytes != e->planned[choice])
    fail_msg("%s: a tail of %" PRIu64 " when planned, measured %" PRIu64,
             e->model, r->tail.bytes, e->planned[choice]);
}

static uint64_t lower(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void compare_model(const measured *e, const measured *tail,
                          const char *path, int choice) {
  static const char *const kernels[] = {"auto", "reference"};
  calm_context *context = calm_context_new(NULL);
  calm_options *options;
  calm_model *model;
  calm_plan *plan = NULL;
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  calm_options_set(options, "kernels", kernels[choice]);
  if (calm_model_open(&model, context, path, NULL) ||
      calm_plan_make(&plan, model, options))
    fail_msg("%s: %s", e->model, calm_context_message(context));
  const plan_runtime *r = &plan->runtime;
  const uint64_t as_it_is = r->carried_head_bytes == UINT64_MAX
                                ? r->default_head_bytes
                                : r->carried_head_bytes;
  if (as_it_is != e->as_it_is)
    fail_msg("%s: %" PRIu64 " as it is, measured %" PRIu64, e->model, as_it_is,
             e->as_it_is);
  if (e->planned[choice] && r->head_bytes != e->planned[choice])
    fail_msg("%s: %" PRIu64 " with --kernels %s, measured %" PRIu64, e->model,
             r->head_bytes, kernels[choice], e->planned[choice]);
  compare_tails(tail, r, choice);
  assert_true(r->head_bytes <= lower(as_it_is, r->default_head_bytes));
  assert_true(r->carried_holds == (r->carried_head_bytes != UINT64_MAX));
  assert_int_equal(plan->summary.baseline_arena_bytes, as_it_is);
  assert_int_equal(plan->summary.arena_bytes, r->head_bytes);
  calm_plan_free(plan);
  calm_model_free(model);
  calm_options_free(options);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static void heads_are_those_of_the_runtime(void **state) {
  (void)state;
  CASES_OR_SKIP();
  FILE *table = fopen(CALM_SOURCE_DIR "/tests/tflm_heads.csv", "r");
  char line[256], name[256], path[1024];
  int models = 0, absent = 0;
  assert_non_null(table);
  assert_non_null(fgets(line, sizeof line, table)); /* the names of columns */
  while (fgets(line, sizeof line, table)) {
    measured e, tail;
    read_row(&e, line);
    find_tail(&tail, e.model);
    snprintf(name, sizeof name, "models/%s.tflite", e.model);
    if (!cases_path(path, sizeof path, name)) {
      absent++;
      continue;
    }
    for (int choice = 0; choice < 2; choice++)
      compare_model(&e, &tail, path, choice);
    models++;
  }
  fclose(table);
  print_message("%d models, %d of the table are not there\n", models, absent);
  assert_true(models > 30);
}

/* ---- A plan in the file -------------------------------------------------- */

/* x -> h -> y, each of 16 bytes, with these offsets in the file. */
static build_file *file_with_offsets(int32_t x, int32_t h, int32_t y) {
  static const int32_t ids[] = {0, 1, 2}, shape[] = {16};
  static const build_code codes[] = {{0, NULL}};
  static const build_tensor tensors[] = {
      {.name = "x", .shape = {shape, 1}, .type = 9},
      {.name = "h", .shape = {shape, 1}, .type = 9},
      {.name = "y", .shape = {shape, 1}, .type = 9}};
  static const build_op ops[] = {
      {.inputs = {ids, 1}, .outputs = {ids + 1, 1}},
      {.inputs = {ids + 1, 1}, .outputs = {ids + 2, 1}}};
  static const build_subgraph subgraph = {"main", tensors,  3,           ops,
                                          2,      {ids, 1}, {ids + 2, 1}};
  const int32_t words[] = {1, 0, 3, x, h, y};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {words, 24, 0, 0}};
  const build_metadata metadata[] = {{"OfflineMemoryAllocation", 1}};
  const build_model model = {.codes = codes,
                             .code_count = 1,
                             .subgraphs = &subgraph,
                             .subgraph_count = 1,
                             .buffers = buffers,
                             .buffer_count = 2,
                             .metadata = metadata,
                             .metadata_count = 1};
  return build_tflite(&model, false);
}

/* What the file takes today is what can be saved: a plan that wastes bytes
   counts, one that would compute something else does not. */
static void the_baseline_is_the_file_as_it_is(void **state) {
  (void)state;
  static const struct {
    int32_t x, h, y;
    bool holds;
    uint64_t carried, baseline;
    const char *words;
  } cases[] = {{0, 16, 0, true, 32, 32, "in the file head 32;"},
               {0, 16, 48, true, 64, 64, "in the file head 64;"},
               {0, 0, 16, false, 32, 32, "head 32, but that plan does not"},
               {0, 0, 48, false, 64, 32, "head 64, but that plan does not"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    build_file *f = file_with_offsets(cases[i].x, cases[i].h, cases[i].y);
    calm_context *context = calm_context_new(NULL);
    calm_model *model = NULL;
    calm_plan *plan = NULL;
    char *table = NULL;
    if (calm_model_parse(&model, context, f->bytes, f->length, "built", NULL) ||
        calm_plan_make(&plan, model, NULL) ||
        calm_plan_render(&table, plan, CALM_FORMAT_TABLE, false))
      fail_msg("%s", calm_context_message(context));
    for (char *c = table; *c; c++) /* lines are broken anywhere */
      if (!strncmp(c, "\n          ", 11))
        memmove(c, c + 10, strlen(c + 10) + 1);
    assert_int_equal(plan->runtime.default_head_bytes, 32);
    assert_int_equal(plan->runtime.carried_head_bytes, cases[i].carried);
    assert_int_equal(plan->runtime.carried_holds, cases[i].holds);
    assert_int_equal(plan->summary.baseline_arena_bytes, cases[i].baseline);
    assert_true(plan->summary.baseline_peak_bytes <= cases[i].baseline);
    if (!strstr(table, cases[i].words)) fail_msg("%s", table);
    calm_text_free(context, table);
    calm_plan_free(plan);
    calm_model_free(model);
    calm_context_free(context);
    free(f);
  }
}

/* ---- Small ones ---------------------------------------------------------- */

typedef struct planned {
  calm_context *context;
  calm_options *options;
  calm_model *model;
  calm_plan *plan;
} planned;

static calm_status make_plan(planned *p, const char *text,
                             const char *kernels) {
  memset(p, 0, sizeof *p);
  p->context = calm_context_new(NULL);
  assert_int_equal(calm_options_new(&p->options, p->context), CALM_OK);
  calm_options_set(p->options, "memory", "tflm");
  calm_options_set(p->options, "kernels", kernels);
  if (calm_model_parse(&p->model, p->context, text, strlen(text), "test", NULL))
    fail_msg("%s\n%s", calm_context_message(p->context), text);
  return calm_plan_make(&p->plan, p->model, p->options);
}

static void drop_plan(planned *p) {
  calm_plan_free(p->plan);
  calm_model_free(p->model);
  calm_options_free(p->options);
  assert_int_equal(calm_context_bytes(p->context), 0);
  calm_context_free(p->context);
}

static void assert_heads(const char *text, const char *kernels,
                         uint64_t default_bytes, uint64_t head_bytes) {
  planned p;
  if (make_plan(&p, text, kernels))
    fail_msg("%s", calm_context_message(p.context));
  assert_int_equal(p.plan->runtime.default_head_bytes, default_bytes);
  assert_int_equal(p.plan->runtime.head_bytes, head_bytes);
  drop_plan(&p);
}

/* An IF and a WHILE that were built as files and run: the runtime reported
   these heads, as they are and planned with --kernels reference. */
static void bodies_lie_where_their_callers_leave_room(void **state) {
  (void)state;
  static const char with_if[] =
      "calm-graph 1\ngraph main\n"
      "tensor c bool[1] input\ntensor x f32[64] input\n"
      "tensor y f32[64]\ntensor z f32[64]\ntensor o f32[64]\n"
      "tensor r f32[64] output\n"
      "op a add ( x x ) -> ( y )\nop b add ( y x ) -> ( z )\n"
      "op f if ( c z ) -> ( o ) body=then body=else\n"
      "op d add ( o y ) -> ( r )\n"
      "graph then\ntensor i f32[64] input\ntensor j f32[64]\n"
      "tensor k f32[64]\ntensor l f32[64] output\n"
      "op a add ( i i ) -> ( j )\nop b add ( j i ) -> ( k )\n"
      "op c add ( k k ) -> ( l )\n"
      "graph else\ntensor i f32[64] input\ntensor j f32[64]\n"
      "tensor k f32[64] output\n"
      "op a add ( i i ) -> ( j )\nop b add ( j i ) -> ( k )\n";
  assert_heads(with_if, "auto", 1552, 1552);
  assert_heads(with_if, "reference", 1552, 1296);
  static const char with_while[] =
      "calm-graph 1\ngraph main\n"
      "tensor i i32[1] input\ntensor x f32[64] input\n"
      "tensor w f32[64] input\ntensor y f32[64]\ntensor q f32[64]\n"
      "tensor oi i32[1]\ntensor ox f32[64]\ntensor r f32[64] output\n"
      "op a add ( x w ) -> ( y )\nop b add ( w w ) -> ( q )\n"
      "op l while ( i y ) -> ( oi ox ) body=cond body=body\n"
      "op d add ( ox q ) -> ( r )\n"
      "graph cond\ntensor ci i32[1] input\ntensor cx f32[64] input\n"
      "tensor lim i32[1] const\ntensor co bool[1] output\n"
      "op less less ( ci lim ) -> ( co )\n"
      "graph body\ntensor bi i32[1] input\ntensor bx f32[64] input\n"
      "tensor one i32[1] const\ntensor k f32[64] const\n"
      "tensor bo i32[1] output\ntensor a f32[64]\ntensor a2 f32[64]\n"
      "tensor a3 f32[64] output\n"
      "op inc add ( bi one ) -> ( bo )\nop m mul ( bx k ) -> ( a )\n"
      "op s add ( a bx ) -> ( a2 )\nop t add ( a2 a ) -> ( a3 )\n";
  assert_heads(with_while, "auto", 1584, 1584);
  assert_heads(with_while, "reference", 1584, 1328);
}

/* What no operator touches and graphs that nobody runs are all in use at once
   for the runtime; a plan lets them overlay everything. */
static void what_is_not_run_costs_nothing_more(void **state) {
  (void)state;
  assert_heads(
      "calm-graph 1\ngraph main\n"
      "tensor x 160 input\ntensor y 160 output\ntensor never 48 input\n"
      "op a conv2d ( x ) -> ( y )\n"
      "graph other\ntensor x 160 input\ntensor y 160 output\n"
      "op a conv2d ( x ) -> ( y )\n",
      "auto", 320, 320);
  assert_heads(
      "calm-graph 1\ngraph main\n"
      "tensor x 16 input\ntensor y 16 output\n"
      "op a conv2d ( x ) -> ( y )\n"
      "graph other\ntensor x 160 input\ntensor y 160 output\n"
      "op a conv2d ( x ) -> ( y )\n",
      "auto", 320, 320);
  assert_heads(
      "calm-graph 1\ngraph main\n"
      "tensor x 160 input\ntensor y 160 output\n"
      "op a conv2d ( x ) -> ( y )\n"
      "graph other\ntensor x 160 input\ntensor m 16\n"
      "tensor y 160 output\n"
      "op a conv2d ( x ) -> ( m )\nop b conv2d ( m ) -> ( y )\n",
      "auto", 336, 320);
}

/* A broadcast operand is read again after it would have been overwritten. */
static void broadcasts_are_not_done_in_place(void **state) {
  (void)state;
  assert_heads(
      "calm-graph 1\ngraph main\ntensor x i8[10] input\n"
      "tensor s i8[1]\ntensor y i8[10] output\n"
      "op a conv2d ( x ) -> ( s )\nop b add ( s x ) -> ( y )\n",
      "reference", 48, 32);
  assert_heads(
      "calm-graph 1\ngraph main\ntensor w i8[4] input\n"
      "tensor s i8[1]\ntensor y i8[10] output\n"
      "tensor c i8[10] const\n"
      "op a conv2d ( w ) -> ( s )\nop b add ( s c ) -> ( y )\n",
      "reference", 32, 32);
}

/* ---- At random ----------------------------------------------------------- */

static const char *const kinds[] = {"conv2d", "add",     "relu",
                                    "concat", "reshape", "opaque"};

/* One graph of a random chain with branches; operators may run the graphs
   after it. */
static void add_graph(char *text, size_t size, random_state *r, int number,
                      int graphs) {
  char *at = text + strlen(text);
  size_t left = size - strlen(text);
#define ADD(...)                                    \
  do {                                              \
    const int n_ = snprintf(at, left, __VA_ARGS__); \
    at += n_;                                       \
    left -= (size_t)n_;                             \
  } while (0)
  const uint32_t tensors = 3 + random_below(r, 9);
  ADD("graph g%d\n", number);
  for (uint32_t t = 0; t < tensors; t++) {
    const uint32_t blocks = 1 + random_below(r, 5);
    ADD("tensor t%u %u%s", t, 16 * blocks - chance(r, 20),
        t < 2 ? " input" : "");
    ADD("%s\n", t + 1 == tensors || chance(r, 10) ? " output" : "");
  }
  for (uint32_t t = 2; t < tensors; t++) {
    const uint32_t back = t == 2 ? 2 : 1 + random_below(r, t > 4 ? 3 : 1);
    ADD("op o%u %s ( t%u t0 ) -> ( t%u )", t,
        kinds[random_below(r, sizeof kinds / sizeof *kinds)], t - back, t);
    if (chance(r, 20)) ADD(" workspace=%u", 1 + random_below(r, 60));
    if (number + 1 < graphs && chance(r, 25))
      ADD(" body=g%u", (unsigned)number + 1 +
                           random_below(r, (uint32_t)(graphs - number - 1)));
    ADD("\n");
  }
#undef ADD
}

static void no_random_model_gets_worse(void **state) {
  enum { MODELS = CALM_SANITIZED ? 100 : 400 };
  (void)state;
  random_state r = random_from_seed(4);
  uint32_t better = 0;
  for (int i = 0; i < MODELS; i++) {
    static char text[1 << 14];
    planned p;
    const int graphs = 1 + (int)random_below(&r, 4);
    strcpy(text, "calm-graph 1\n");
    for (int g = 0; g < graphs; g++)
      add_graph(text, sizeof text, &r, g, graphs);
    if (make_plan(&p, text, i % 2 ? "auto" : "reference"))
      fail_msg("%s\n%s", calm_context_message(p.context), text);
    const plan_runtime *run = &p.plan->runtime;
    if (run->head_bytes > run->default_head_bytes)
      fail_msg("%" PRIu64 " instead of %" PRIu64 "\n%s", run->head_bytes,
               run->default_head_bytes, text);
    if (p.plan->summary.arena_bytes < p.plan->summary.arena_bound_bytes)
      fail_msg("below its bound\n%s", text);
    better += run->head_bytes < run->default_head_bytes;
    drop_plan(&p);
  }
  print_message("%u of %d models are better\n", better, MODELS);
  assert_true(better > MODELS / 4);
}

/* What the runtime cannot do is said, and refused where it was insisted on. */
static void foreign_columns_end_the_common_plan(void **state) {
  (void)state;
  static const char text[] =
      "calm-graph 1\ngraph main\ntensor x 5 input\ntensor y 5 output\n"
      "op a relu ( x ) -> ( y )\n";
  planned p;
  assert_int_equal(make_plan(&p, text, "auto"), CALM_OK);
  calm_plan_free(p.plan);
  calm_options_set(p.options, "inputs", "external");
  assert_int_equal(calm_plan_make(&p.plan, p.model, p.options), CALM_OK);
  assert_null(p.plan->runtime.name);
  assert_int_equal(p.plan->summary.arena_bytes, 16);
  calm_plan_free(p.plan);
  p.plan = NULL;
  calm_options_set(p.options, "subgraphs", "tflm");
  assert_int_equal(calm_plan_make(&p.plan, p.model, p.options), CALM_MISUSE);
  assert_non_null(strstr(calm_context_message(p.context), "--inputs"));
  drop_plan(&p);
}

/* Planning and checking take nothing that they do not give back. */
static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  static const char text[] =
      "calm-graph 1\ngraph main\ntensor x 32 input\ntensor y 32\n"
      "tensor v 32\ntensor z 32 output\ntensor s 16 variable\n"
      "op a if ( x ) -> ( y ) body=then\n"
      "op b reshape ( y ) -> ( v )\n"
      "op c relu ( v ) -> ( z ) workspace=24\n"
      "graph then\ntensor i 32 input\ntensor o 32 output\n"
      "op d opaque ( i ) -> ( o )\n"
      "graph alone\ntensor i 32 input\n";
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t n = 0; status == CALM_NO_MEMORY; n++) {
    uint64_t left = n;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    calm_options *options = NULL;
    calm_model *model = NULL;
    calm_plan *plan = NULL;
    if (!context) continue;
    status = calm_options_new(&options, context);
    if (!status) status = calm_options_set(options, "memory", "tflm");
    if (!status)
      status = calm_model_parse(&model, context, text, strlen(text), "t", NULL);
    if (!status) status = calm_plan_make(&plan, model, options);
    if (plan) calm_plan_free(plan);
    if (model) calm_model_free(model);
    if (options) calm_options_free(options);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heads_are_those_of_the_runtime),
      cmocka_unit_test(the_baseline_is_the_file_as_it_is),
      cmocka_unit_test(bodies_lie_where_their_callers_leave_room),
      cmocka_unit_test(what_is_not_run_costs_nothing_more),
      cmocka_unit_test(broadcasts_are_not_done_in_place),
      cmocka_unit_test(no_random_model_gets_worse),
      cmocka_unit_test(foreign_columns_end_the_common_plan),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
