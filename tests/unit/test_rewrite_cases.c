/* Real networks, all sites at once: the judge agrees with the rules, on paper
   and as chains. */
#include "cases.h"
#include "model/model.h"
#include "rewrite_random.h"
#include "rewrite/rewrite.h"

#include <dirent.h>

typedef struct tally {
  uint32_t models, taken;
} tally;

static void must(calm_context *context, const char *name, calm_status status) {
  if (status) fail_msg("%s: %s", name, calm_context_message(context));
}

static void chain_graph(const char *name, const graph_edit *abstract, arena *a,
                        random_state *r, bool fused) {
  graph_edit concrete;
  const graph *g = &abstract->after;
  op_id *sequence = arena_calloc(a, g->ops.count, sizeof *sequence);
  assert_non_null(sequence);
  random_sequence(sequence, g, r);
  must(a->context, name,
       rewrite_chain(&concrete, abstract, sequence, fused, a));
  must(a->context, name, rewrite_check(&concrete, a->context));
  assert_true(concrete.after.file_order_valid);
  graph_edit_free(&concrete);
}

static void rewrite_graph(const char *name, const graph *g,
                          rewrite_partials partials, bool abstract,
                          calm_context *context, tally *count) {
  rewrite_options options = {
      .partials = partials, .abstract = abstract, .accumulator_factor = 1};
  rewrite_sites sites;
  graph_edit edit;
  arena a;
  random_state r = random_from_seed(1);
  memset(options.rules, 1, sizeof options.rules);
  arena_init(&a, context);
  must(context, name, rewrite_find_sites(&sites, g, &options, &a));
  bool *taken = arena_calloc(&a, sites.count, sizeof *taken);
  assert_non_null(taken);
  for (uint32_t i = 0; i < sites.count; i++) {
    taken[i] = !sites.sites[i].refusal;
    count->taken += taken[i];
  }
  must(context, name, rewrite_apply(&edit, &sites, taken, &a));
  must(context, name, rewrite_check(&edit, context));
  if (!abstract) {
    chain_graph(name, &edit, &a, &r, false);
    if (g->channels_first) chain_graph(name, &edit, &a, &r, true);
  }
  graph_edit_free(&edit);
  arena_free(&a);
}

static void rewrite_model(const char *name, const char *path, tally *count) {
  calm_context *context = calm_context_new(NULL);
  calm_model *model;
  assert_non_null(context);
  if (calm_model_open(&model, context, path, NULL) == CALM_OK) {
    const graph *g = &model->graphs.data[0];
    count->models++;
    for (int partials = 0; partials < 3; partials++) {
      rewrite_graph(name, g, (rewrite_partials)partials, false, context, count);
      rewrite_graph(name, g, (rewrite_partials)partials, true, context, count);
    }
    calm_model_free(model);
  }
  calm_context_free(context);
}

static void rewrite_folder(const char *folder, tally *count) {
  char path[1024];
  DIR *list = opendir(folder);
  if (!list) return;
  for (struct dirent *entry; (entry = readdir(list));) {
    const char *end = strrchr(entry->d_name, '.');
    if (!end ||
        (strcmp(end, ".cg") && strcmp(end, ".tflite") && strcmp(end, ".onnx")))
      continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    rewrite_model(entry->d_name, path, count);
  }
  closedir(list);
}

static void cases_are_rewritten(void **state) {
  (void)state;
  char folder[1024];
  tally count = {0, 0};
  CASES_OR_SKIP();
  snprintf(folder, sizeof folder, "%s/graphs", cases_root());
  rewrite_folder(folder, &count);
  snprintf(folder, sizeof folder, "%s/models", cases_root());
  rewrite_folder(folder, &count);
  print_message("%u models, %u sites\n", (unsigned)count.models,
                (unsigned)count.taken);
  assert_true(count.models > 50 && count.taken > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cases_are_rewritten)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
