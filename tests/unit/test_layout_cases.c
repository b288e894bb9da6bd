/* Public layout problems with known optima: all of them proved. */
#include "test_layout.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/file.h"
#include "cases.h"
#include "layout/layout_csv.h"

/* About a second of a release build: enough for every case by far. */
enum { TICKS = 100000000 };

static void solve_csv(const char *path, uint64_t most, bool proved) {
  calm_context *context = calm_context_new(NULL);
  file_map file;
  arena a;
  layout_csv csv;
  layout_fault fault;
  layout_result r;
  limits l;
  arena_init(&a, context);
  limits_init(&l, context);
  l.max_ticks = TICKS;
  layout_options o = layout_options_default();
  assert_int_equal(file_map_open(&file, context, path), CALM_OK);
  if (layout_csv_read(&csv, &a, path, (const char *)file.bytes, file.length) ||
      layout_solve(&r, &csv.problem, &o, &a, &l))
    fail_msg("%s", calm_context_message(context));
  assert_false(is_faulty(&fault, &csv.problem, r.offsets, r.arena_bytes));
  if (r.arena_bytes > most || (proved && r.outcome != CALM_OPTIMAL))
    fail_msg("%s: arena %" PRIu64 ", bound %" PRIu64, path, r.arena_bytes,
             r.bound_bytes);
  file_map_close(&file);
  arena_free(&a);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* The number behind `mark` in a name. */
static uint64_t number_behind(const char *name, const char *mark) {
  const char *at = strstr(name, mark);
  return at ? strtoull(at + strlen(mark), NULL, 10) : 0;
}

/* Every CSV of a directory; returns how many there were. */
static int solve_directory(const char *directory, const char *mark) {
  char path[4096];
  int count = 0;
  if (!cases_path(path, sizeof path, directory)) skip();
  DIR *d = opendir(path);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    char file[8192];
    if (!strstr(e->d_name, ".csv")) continue;
    snprintf(file, sizeof file, "%s/%s", path, e->d_name);
    solve_csv(file, number_behind(e->d_name, mark), true);
    count++;
  }
  closedir(d);
  return count;
}

static void example_of_twelve(void **state) {
  (void)state;
  CASES_OR_SKIP();
  assert_true(solve_directory("minimalloc/examples", "input.") >= 1);
}

static void synthetic_ones_fit_their_capacity(void **state) {
  (void)state;
  CASES_OR_SKIP();
  assert_int_equal(solve_directory("minimalloc/synthetic_pt", ".cap"), 29);
}

static void challenging_ones_fit_their_capacity(void **state) {
  (void)state;
  CASES_OR_SKIP();
  assert_true(solve_directory("minimalloc/challenging", ".") >= 8);
}

/* ---- alloc_cases.json ---------------------------------------------------- */

static uint64_t number_of(const json_t *object, const char *key,
                          uint64_t otherwise) {
  const json_t *value = json_object_get(object, key);
  return json_is_integer(value) ? (uint64_t)json_integer_value(value)
                                : otherwise;
}

/* Buffers that must share an offset are one body, named by the first. */
static const char *group_of(const json_t *known, const char *id) {
  const json_t *groups = json_object_get(known, "must_share_offset");
  for (size_t g = 0; g < json_array_size(groups); g++) {
    const json_t *ids = json_array_get(groups, g);
    for (size_t i = 0; i < json_array_size(ids); i++)
      if (!strcmp(json_string_value(json_array_get(ids, i)), id))
        return json_string_value(json_array_get(ids, 0));
  }
  return "";
}

/* A case as CSV, so that the reader is tried as well. */
static char *csv_of(calm_context *context, const json_t *one) {
  text t;
  char *out;
  const json_t *buffers = json_object_get(one, "buffers"), *b;
  const json_t *known = json_object_get(one, "known");
  size_t i;
  text_init(&t, context);
  text_format(&t, "id,lower,upper,size,alignment,group\r\n");
  json_array_foreach(buffers, i, b) {
    const char *id = json_string_value(json_object_get(b, "id"));
    text_format(&t, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\r\n",
                id, number_of(b, "lower", 0), number_of(b, "upper", 0),
                number_of(b, "size", 0), number_of(b, "alignment", 1),
                group_of(known, id));
  }
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  return out;
}

static layout_result solve_rows(calm_context *context, arena *a,
                                layout_csv *csv, const char *rows,
                                layout_method method) {
  layout_result r;
  layout_fault fault;
  limits l;
  layout_options o = layout_options_default();
  o.method = method;
  limits_init(&l, context);
  l.max_ticks = TICKS;
  if (layout_csv_read(csv, a, "case", rows, strlen(rows)) ||
      layout_solve(&r, &csv->problem, &o, a, &l))
    fail_msg("%s", calm_context_message(context));
  assert_false(is_faulty(&fault, &csv->problem, r.offsets, r.arena_bytes));
  return r;
}

/* What greedy by size gives, where it is stated.  Only TensorFlow Lite Micro
   breaks ties and picks gaps as we do, so offsets are compared for it alone. */
static bool check_greedy(calm_context *context, const char *rows,
                         const json_t *known, bool micro) {
  arena a;
  layout_csv csv;
  arena_init(&a, context);
  uint64_t total = number_of(known, "greedy_by_size_total", UINT64_MAX);
  const json_t *offsets = json_object_get(known, "greedy_offsets");
  layout_result r = solve_rows(context, &a, &csv, rows, LAYOUT_SIZE);
  bool as_stated = total == UINT64_MAX || r.arena_bytes == total;
  for (size_t i = 0; micro && i < json_array_size(offsets); i++) {
    json_int_t offset = json_integer_value(json_array_get(offsets, i));
    as_stated = as_stated && r.offsets[csv.body_of[i]] == (uint64_t)offset;
  }
  arena_free(&a);
  return as_stated;
}

/* Returns 1 if the case states an optimum. */
static int check_case(const json_t *one) {
  calm_context *context = calm_context_new(NULL);
  arena a;
  layout_csv csv;
  arena_init(&a, context);
  const char *id = json_string_value(json_object_get(one, "id"));
  const json_t *known = json_object_get(one, "known");
  uint64_t best = number_of(known, "optimal_total_exact", UINT64_MAX), live;
  uint64_t live_stated = number_of(known, "lower_bound_max_live", UINT64_MAX);
  char *rows = csv_of(context, one);
  layout_result r = solve_rows(context, &a, &csv, rows, LAYOUT_EXACT);
  if (r.outcome != CALM_OPTIMAL ||
      (best != UINT64_MAX && r.arena_bytes != best))
    fail_msg("%s: outcome %d, arena %" PRIu64 ", known %" PRIu64, id, r.outcome,
             r.arena_bytes, best);
  live = brute_live(&csv.problem, context);
  if (live_stated != UINT64_MAX) assert_int_equal(live, live_stated);
  if (!check_greedy(context, rows, known, !strncmp(id, "tflm_", 5)))
    fail_msg("%s: greedy by size differs from what is stated", id);
  calm_text_free(context, rows);
  arena_free(&a);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return best != UINT64_MAX;
}

static void small_cases_reach_the_known_optimum(void **state) {
  (void)state;
  char path[4096];
  CASES_OR_SKIP();
  if (!cases_path(path, sizeof path, "alloc/alloc_cases.json")) skip();
  json_t *root = json_load_file(path, 0, NULL), *one;
  assert_non_null(root);
  size_t i;
  int known = 0;
  json_array_foreach(json_object_get(root, "cases"), i, one) known +=
      check_case(one);
  print_message("%u cases, %d with a known optimum\n", (unsigned)i, known);
  assert_int_equal(i, 33);
  assert_true(known >= 32);
  json_decref(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_of_twelve),
      cmocka_unit_test(synthetic_ones_fit_their_capacity),
      cmocka_unit_test(challenging_ones_fit_their_capacity),
      cmocka_unit_test(small_cases_reach_the_known_optimum)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
