/* Files for the default order of ONNX Runtime: the search against all files
   that a small graph can have. */
#include "memory/memory_check.h"
#include "memory/memory_ort.h"
#include "memory_graphs.h"
#include "plan.h"

enum { MOST_OPS = 7 };

/* A graph as text: every operator reads some of the last tensors. */
static void write_random(char *out, size_t size, random_state *r) {
  const uint32_t ops = 4 + random_below(r, MOST_OPS - 3);
  bool read[MOST_OPS + 1] = {false};
  char body[1024] = "";
  for (uint32_t i = 0; i < ops; i++) {
    snprintf(body + strlen(body), sizeof body - strlen(body), "op n%u conv2d (",
             i);
    for (uint32_t k = 1 + random_below(r, 2); k; k--) {
      const uint32_t back = random_below(r, i < 4 ? i + 1 : 4);
      if (back == i)
        snprintf(body + strlen(body), sizeof body - strlen(body), " x");
      else
        snprintf(body + strlen(body), sizeof body - strlen(body), " v%u",
                 i - 1 - back);
      if (back != i) read[i - 1 - back] = true;
    }
    snprintf(body + strlen(body), sizeof body - strlen(body), " ) -> ( v%u )\n",
             i);
  }
  snprintf(out, size, "calm-graph 1\ngraph g\ntensor x 8 input\n");
  for (uint32_t i = 0; i < ops; i++)
    snprintf(out + strlen(out), size - strlen(out), "tensor v%u %u%s\n", i,
             1 + random_below(r, 30), read[i] ? "" : " output");
  snprintf(out + strlen(out), size - strlen(out), "%s", body);
}

static calm_plan *plan_text(calm_model **model, calm_context *context,
                            const char *words, const char *memory) {
  calm_options *options;
  calm_plan *plan = NULL;
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  assert_int_equal(calm_options_set(options, "memory", memory), CALM_OK);
  assert_int_equal(calm_options_set(options, "for", "ort-default"), CALM_OK);
  assert_int_equal(
      calm_model_parse(model, context, words, strlen(words), "g", options),
      CALM_OK);
  calm_plan_make(&plan, *model, options);
  calm_options_free(options);
  return plan;
}

/* The least peak over every file, by going through all topological orders. */
typedef struct enumeration {
  const graph *g;
  const memory_model *m;
  ort_nodes nodes;
  op_id file[MOST_OPS];
  uint64_t best;
  uint32_t files;
  arena *a;
} enumeration;

static void try_file(enumeration *e) {
  op_id run[MOST_OPS];
  memory_profile profile;
  arena a;
  arena_init(&a, e->a->context);
  ort_default_order(run, &e->nodes, e->file);
  assert_int_equal(memory_simulate(&profile, e->g, e->m, NULL, run, &a),
                   CALM_OK);
  if (profile.peak_bytes < e->best) e->best = profile.peak_bytes;
  e->files++;
  arena_free(&a);
}

static void extend_file(enumeration *e, uint32_t count, uint32_t done) {
  if (count == e->g->ops.count) {
    try_file(e);
    return;
  }
  for (op_id op = 0; op < e->g->ops.count; op++) {
    bool ready = !(done >> op & 1);
    for (uint32_t i = e->g->pred_begin[op]; i < e->g->pred_begin[op + 1]; i++)
      if (!(done >> e->g->preds[i] & 1)) ready = false;
    if (!ready) continue;
    e->file[count] = op;
    extend_file(e, count + 1, done | 1u << op);
  }
}

/* What the plan says of its file is true, and the peak is that of the file. */
static void check_plan(const calm_plan *plan, enumeration *e) {
  op_id run[MOST_OPS];
  ort_default_order(run, &e->nodes, plan->graphs[0].sequence);
  assert_memory_equal(run, plan->sequence, e->g->ops.count * sizeof *run);
  assert_memory_equal(run, plan->runtime.default_sequence,
                      e->g->ops.count * sizeof *run);
  assert_int_equal(plan->runtime.planned_peaks.default_bytes,
                   plan->summary.peak_bytes);
  assert_true(plan->summary.peak_bytes <=
              plan->runtime.file_peaks.default_bytes);
  assert_true(plan->summary.peak_bytes >= e->best);
  assert_true(e->best >= plan->summary.peak_bound_bytes);
}

static void no_file_is_better(void **state) {
  (void)state;
  random_state r = random_from_seed(3);
  uint32_t equal = 0, total = 120;
  for (uint32_t i = 0; i < total; i++) {
    char words[4096];
    arena a;
    calm_model *model;
    calm_context *context = calm_context_new(NULL);
    write_random(words, sizeof words, &r);
    calm_plan *plan = plan_text(&model, context, words, "ort");
    if (!plan) fail_msg("%s", calm_context_message(context));
    arena_init(&a, context);
    enumeration e = {
        .g = plan->graph, .m = &plan->memory, .best = UINT64_MAX, .a = &a};
    assert_int_equal(ort_nodes_init(&e.nodes, e.g, &a), CALM_OK);
    extend_file(&e, 0, 0);
    check_plan(plan, &e);
    equal += e.best == plan->summary.peak_bytes;
    arena_free(&a);
    calm_plan_free(plan);
    calm_model_free(model);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
  print_message("%" PRIu32 " of %" PRIu32 " as good as the best file\n", equal,
                total);
  assert_int_equal(equal, total);
}

static void others_are_refused(void **state) {
  (void)state;
  static const char chained[] =
      "calm-graph 1\ngraph g\ntensor x 1 input\ntensor a 1\ntensor b 1\n"
      "tensor y 1 output\nop pa conv2d ( x ) -> ( a )\n"
      "op pb conv2d ( a ) -> ( b ) after ( pa )\n"
      "op py conv2d ( b ) -> ( y )\n";
  static const char torn[] =
      "calm-graph 1\ngraph g\ntensor x 1 input\ntensor a 1\ntensor b 1\n"
      "tensor y 1 output\ntensor z 1 output\n"
      "op pa conv2d ( x ) -> ( a )\nop pb conv2d ( x ) -> ( b ) after ( pa )\n"
      "op py conv2d ( a ) -> ( y ) after ( pb )\n"
      "op pz conv2d ( b ) -> ( z )\n";
  const struct {
    const char *words, *memory, *message;
  } cases[] = {{chained, "plain", "--memory ort would be right"},
               {chained, "ort", NULL},
               {torn, "ort", "an order of their own"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    calm_model *model;
    calm_context *context = calm_context_new(NULL);
    calm_plan *plan =
        plan_text(&model, context, cases[i].words, cases[i].memory);
    assert_int_equal(plan == NULL, cases[i].message != NULL);
    if (!plan)
      assert_non_null(strstr(calm_context_message(context), cases[i].message));
    calm_plan_free(plan);
    calm_model_free(model);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_file_is_better),
                                     cmocka_unit_test(others_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
