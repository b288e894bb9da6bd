/* Files that do not hold together, and memory that does not suffice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "cases.h"
#include "tflite_builder.h"

/* A file with one of everything that the reader allocates for. */
static build_file *rich_file(bool misaligned) {
  static const int32_t plan[] = {0, 1, 6, -1, 0, 16, -1, -1, -1};
  static const uint8_t edges[] = {1, 1, 1, 0, 2};
  static const uint8_t weights[16];
  static const build_code codes[] = {{3, NULL}, {118, NULL}, {32, "mine"}};
  static const int32_t ids[] = {0, 1, 2, -1, 3};
  static const int32_t image[] = {1, 4, 4, 2}, batch[] = {-1, 4, 4, 2};
  static const int32_t conv[] = {0, 1, 1, 1}, bodies[] = {1, 2};
  static const build_tensor tensors[] = {
      {.name = "x", .shape = {image, 4}, .signature = {batch, 4}},
      {.name = "w", .shape = {image, 4}, .buffer = 1},
      {.name = "y", .shape = {image, 4}, .type = 5},
      {.shape = {image, 4}, .variable = true}};
  static const build_op ops[] = {{.inputs = {ids, 2},
                                  .outputs = {ids + 2, 1},
                                  .options_type = 1,
                                  .options = {conv, 4},
                                  .byte_options = 9},
                                 {.code = 1,
                                  .inputs = {ids + 2, 3},
                                  .options_type = 92,
                                  .options = {bodies, 2}}};
  static const build_op custom[] = {{.code = 2, .intermediates = {ids, 1}}};
  static const build_subgraph subgraphs[] = {
      {"main", tensors, 4, ops, 2, {ids, 1}, {ids + 2, 1}},
      {NULL, tensors, 1, custom, 1, {ids, 1}, {ids, 1}},
      {"main", tensors, 1, NULL, 0, {ids, 1}, {ids, 1}}};
  static const build_buffer buffers[] = {{NULL, 0, 0, 0},
                                         {weights, 16, 0, 0},
                                         {plan, sizeof plan, 0, 0},
                                         {edges, sizeof edges, 0, 0}};
  static const build_metadata metadata[] = {{"OfflineMemoryAllocation", 2},
                                            {"model_control_dependencies", 3},
                                            {"", 0}};
  static const build_signature signatures[] = {{0, 0}};
  const build_model model = {.codes = codes,
                             .code_count = 3,
                             .subgraphs = subgraphs,
                             .subgraph_count = 3,
                             .buffers = buffers,
                             .buffer_count = 4,
                             .metadata = metadata,
                             .metadata_count = 3,
                             .external_length = 4,
                             .signatures = signatures,
                             .signature_count = 1};
  return build_tflite(&model, misaligned);
}

static void end(reading *r) { assert_int_equal(reading_end(r), 0); }

/* One line that names the file, the byte and the object. */
static void assert_refused(const reading *r, const char *what) {
  const char *message = reading_message(r);
  if (r->status != CALM_BAD_INPUT) fail_msg("not refused: %s", what);
  if (!strstr(message, what)) fail_msg("'%s' is not in: %s", what, message);
  assert_int_equal(strncmp(message, "built: byte ", 12), 0);
  assert_null(strchr(message, '\n'));
  assert_int_equal(r->warning_count, 0);
}

static void refused(build_file *f, const char *what) {
  reading *r = reading_of(f);
  assert_refused(r, what);
  end(r);
  free(f);
}

static void a_rich_file_is_read(void **state) {
  (void)state;
  build_file *f = rich_file(false);
  reading *r = reading_of(f);
  if (r->status) fail_msg("%s", reading_message(r));
  assert_int_equal(r->model.graphs.count, 3);
  assert_int_equal(r->model.weight_bytes, 20);
  end(r);
  free(f);
}

/* The same file with every object at an odd place reads the same. */
static void misaligned_objects_are_read(void **state) {
  (void)state;
  build_file *files[2] = {rich_file(false), rich_file(true)};
  reading *r[2];
  char *text[2];
  for (int i = 0; i < 2; i++) {
    r[i] = reading_of(files[i]);
    assert_int_equal(r[i]->status, CALM_OK);
    text[i] = reading_dump(r[i]);
  }
  assert_int_equal(build_op_at(files[1], 0, 0) % 2, 1);
  assert_string_equal(text[0], text[1]);
  for (int i = 0; i < 2; i++) {
    calm_text_free(r[i]->context, text[i]);
    end(r[i]);
    free(files[i]);
  }
}

static void heads_that_lead_nowhere_are_refused(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[16];
    size_t length;
    const char *what;
  } cases[] = {
      {{0x18, 0, 0, 0, 'T', 'F', 'L', '3'}, 8, "leads to byte 24"},
      {{0xff, 0xff, 0xff, 0xff, 'T', 'F', 'L', '3'},
       8,
       "leads to byte 4294967295"},
      {{0, 0, 0, 0, 'T', 'F', 'L', '3'}, 8, "an offset of 0"},
      {{4, 0, 0, 0, 'T', 'F', 'L', '3'}, 8, "field list is outside"},
      {{8, 0, 0, 0, 'T', 'F', 'L', '3', 0, 0, 0, 0}, 12, "field list"},
      {{8, 0, 0, 0, 'T', 'F', 'L', '3', 0, 0, 0, 0x80}, 12, "field list"},
      {{12, 0, 0, 0, 'T', 'F', 'L', '3', 4, 0, 4, 0, 4, 0, 0, 0},
       16,
       "there is no subgraph"},
      {{12, 0, 0, 0, 'T', 'F', 'L', '3', 2, 0, 4, 0, 4, 0, 0, 0},
       16,
       "a field list of 2 bytes"},
      {{12, 0, 0, 0, 'T', 'F', 'L', '3', 5, 0, 4, 0, 4, 0, 0, 0},
       16,
       "a field list of 5 bytes"},
      {{12, 0, 0, 0, 'T', 'F', 'L', '3', 4, 0, 5, 0, 4, 0, 0, 0},
       16,
       "a table of 5 bytes"},
      {{12, 0, 0, 0, 'T', 'F', 'L', '3', 4, 0, 3, 0, 4, 0, 0, 0},
       16,
       "a table of 3 bytes"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    reading *r = reading_of_bytes(cases[i].bytes, cases[i].length);
    assert_refused(r, cases[i].what);
    end(r);
  }
}

static void messages_name_the_object(void **state) {
  (void)state;
  build_file *f = rich_file(false);
  build_put(f, build_target(f, build_op_at(f, 0, 1), 1), 1 << 20, 4);
  refused(f, "1048576 elements of 4 bytes do not fit before byte");
  f = rich_file(false);
  build_put(f, build_target(f, build_op_at(f, 0, 1), 1), 1 << 20, 4);
  refused(f, "(in subgraph 0, operator 1 'inputs')");
  f = rich_file(false);
  build_set(f, build_tensor_at(f, 0, 2), 3, 0, 4);
  refused(f, "an offset of 0 leads nowhere (in subgraph 0, tensor 2 'name')");
  f = rich_file(false);
  build_set(f, build_root(f), 4, UINT32_MAX, 4);
  refused(f, "(in 'buffers')");
  f = rich_file(false);
  build_put(f, build_target(f, build_child(f, build_root(f), 4, 1), 0),
            UINT32_MAX, 4);
  refused(f, "(in buffer 1 'data')");
  f = rich_file(false);
  build_put(f, build_target(f, build_op_at(f, 0, 0), 4), 1 << 30, 4);
  refused(f, "(in subgraph 0, operator 0, builtin_options)");
}

/* Shared vectors of shared tables: read naively, 8 million tensors. */
static void overlapping_references_end(void **state) {
  (void)state;
  enum { MANY = 3000 };
  static const uint8_t model[] = {4, 0, 4}, subgraph[] = {4}, tensor[] = {0, 1};
  build_file *f = calloc(1, sizeof *f);
  f->length = 8;
  memcpy(f->bytes + 4, "TFL3", 4);
  size_t root = build_table(f, model, sizeof model);
  build_put(f, 0, root, 4);
  size_t subgraphs = build_offsets(f, root, 2, MANY);
  size_t child = build_table(f, subgraph, 1);
  size_t tensors = build_offsets(f, child, 0, MANY);
  size_t leaf = build_table(f, tensor, 2);
  for (uint32_t i = 0; i < MANY; i++) {
    build_element(f, subgraphs, i, child);
    build_element(f, tensors, i, leaf);
  }
  refused(f, "objects overlap too often");
}

/* ---- Truncation ---------------------------------------------------------- */

/* Cut in its own block, so that a sanitizer sees every byte read beyond. */
static reading *reading_of_part(const uint8_t *bytes, size_t length) {
  uint8_t *part = malloc(length ? length : 1);
  assert_non_null(part);
  memcpy(part, bytes, length);
  reading *r = reading_of_bytes(part, length);
  r->model.map = (file_map){NULL, 0};
  free(part);
  return r;
}

static void every_cut_of_a_small_file_is_refused(void **state) {
  (void)state;
  build_file *f = rich_file(false);
  /* the last byte stands behind the last vector */
  for (size_t length = 0; length + 1 < f->length; length++) {
    reading *r = reading_of_part(f->bytes, length);
    assert_refused(r, "");
    end(r);
  }
  free(f);
}

static void cut_case(const char *name, size_t step, size_t spare) {
  char path[1024];
  file_map map;
  calm_context *context = calm_context_new(NULL);
  assert_non_null(cases_path(path, sizeof path, name));
  assert_int_equal(file_map_open(&map, context, path), CALM_OK);
  for (size_t length = 0; length + spare < map.length; length += step) {
    reading *r = reading_of_part(map.bytes, length);
    if (r->status != CALM_BAD_INPUT) fail_msg("%s cut at %zu", name, length);
    assert_refused(r, "");
    end(r);
  }
  file_map_close(&map);
  calm_context_free(context);
}

static void every_cut_of_a_real_file_is_refused(void **state) {
  (void)state;
  CASES_OR_SKIP();
  cut_case("models/swiftnet_vwwc19_uint8.tflite", 1000, 0);
  cut_case("models/tflm_hello_world_int8.tflite", 1, 4);
  cut_case("models/litert_group_norm.tflite", 1, 52); /* padding */
  cut_case("models/tflm_mnist_lstm_int8.tflite", 97, 4);
}

/* ---- Damage -------------------------------------------------------------- */

/* Each byte of a file set to a few values: read or refused, nothing else. */
static void any_single_damage_is_survived(void **state) {
  (void)state;
  static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
  build_file *f = rich_file(false);
  size_t refusals = 0;
  for (size_t i = 8; i < f->length; i++) {
    uint8_t old = f->bytes[i];
    for (size_t v = 0; v < sizeof values; v++) {
      f->bytes[i] = values[v];
      reading *r = reading_of_part(f->bytes, f->length);
      if (r->status) {
        assert_true(*reading_message(r));
        assert_null(strchr(reading_message(r), '\n'));
        refusals++;
      }
      end(r);
    }
    f->bytes[i] = old;
  }
  assert_true(refusals > 0);
  free(f);
}

/* ---- Memory -------------------------------------------------------------- */

typedef struct rationing {
  size_t left; /* allocations that still succeed */
} rationing;

static void *ration(void *payload, void *old, size_t old_size,
                    size_t new_size) {
  rationing *r = payload;
  (void)old_size;
  if (new_size == 0) {
    free(old);
    return NULL;
  }
  if (r->left == 0) return NULL;
  r->left--;
  return realloc(old, new_size);
}

static void drop_line(void *payload, calm_log_level level, const char *line) {
  (void)payload;
  (void)level;
  (void)line;
}

static calm_status read_rationed(const build_file *f, size_t allocations) {
  rationing rest = {SIZE_MAX};
  const calm_allocator allocator = {ration, &rest};
  calm_context *context = calm_context_new(&allocator);
  calm_context_set_log(context, drop_line, NULL);
  calm_model model;
  model_init(&model, context, "built");
  model.map = (file_map){f->bytes, f->length};
  rest.left = allocations;
  calm_status status = model_read(&model);
  model_clear(&model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return status;
}

static void every_failing_allocation_is_survived(void **state) {
  (void)state;
  build_file *f = rich_file(false);
  size_t n = 0;
  calm_status status;
  while ((status = read_rationed(f, n)) != CALM_OK) {
    assert_int_equal(status, CALM_NO_MEMORY);
    n++;
  }
  assert_true(n > 10);
  free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rich_file_is_read),
      cmocka_unit_test(misaligned_objects_are_read),
      cmocka_unit_test(heads_that_lead_nowhere_are_refused),
      cmocka_unit_test(messages_name_the_object),
      cmocka_unit_test(overlapping_references_end),
      cmocka_unit_test(every_cut_of_a_small_file_is_refused),
      cmocka_unit_test(every_cut_of_a_real_file_is_refused),
      cmocka_unit_test(any_single_damage_is_survived),
      cmocka_unit_test(every_failing_allocation_is_survived)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
