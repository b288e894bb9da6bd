/* The mark of a plan that relies on kernels: written, read, and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "scarce.h"
#include "tflite_builder.h"
#include "written_model.h"

static const char PLAN[] = "OfflineMemoryAllocation";
static const char MARK[] = "calm.overlap";

enum { TENSORS = 4, OPS = 3 };

/* x -> a, x -> b, a -> c: the first two may change places. */
typedef struct network {
  int32_t shape[1], inputs[OPS][1], outputs[OPS][1];
  uint32_t codes[OPS];
  int type;
} network;

static const network plain = {
    {16}, {{0}, {0}, {1}}, {{1}, {2}, {3}}, {0, 1, 0}, 9};

static build_file *file_of(const network *n, const build_metadata *metadata,
                           uint32_t count, const build_buffer *buffers,
                           uint32_t buffer_count) {
  static const build_code codes[] = {{101, NULL}, {109, NULL}, {32, "mine"}};
  build_tensor tensors[TENSORS] = {
      {.name = "x"}, {.name = "a"}, {.name = "b"}, {.name = "c"}};
  build_op ops[OPS] = {{0}};
  for (int i = 0; i < TENSORS; i++) {
    tensors[i].shape = (build_list){n->shape, 1};
    tensors[i].type = n->type;
  }
  for (int i = 0; i < OPS; i++)
    ops[i] = (build_op){.code = n->codes[i],
                        .inputs = {n->inputs[i], 1},
                        .outputs = {n->outputs[i], 1}};
  const build_subgraph subgraph = {.tensors = tensors,
                                   .tensor_count = TENSORS,
                                   .ops = ops,
                                   .op_count = OPS,
                                   .inputs = LIST(0),
                                   .outputs = LIST(3, 2)};
  const build_model m = {.codes = codes,
                         .code_count = 3,
                         .subgraphs = &subgraph,
                         .subgraph_count = 1,
                         .buffers = buffers,
                         .buffer_count = buffer_count,
                         .metadata = metadata,
                         .metadata_count = count};
  return build_tflite(&m, false);
}

static const build_buffer no_buffers[] = {{NULL, 0, 0, 0}};

static build_file *plain_file(void) {
  return file_of(&plain, NULL, 0, no_buffers, 1);
}

static const model_mark wanted = {.kernels = "cmsis-nn-mve",
                                  .views = "reshape,slice",
                                  .tool = "1.2.3",
                                  .edition = 7};

/* The file of `before`, marked, with its first two operators exchanged if
   `swap`. */
static written write_marked(const reading *before, bool swap,
                            const model_mark *mark, model_plan_action action) {
  static const uint64_t places[TENSORS] = {0, 16, 32, 8};
  arena a;
  arena_init(&a, before->context);
  model_patch patch = identity_patch(&before->model, &a, action);
  memcpy((uint64_t *)(uintptr_t)patch.offsets[0], places, sizeof places);
  op_id *sequence = (op_id *)(uintptr_t)patch.sequences[0];
  if (swap) sequence[0] = 1, sequence[1] = 0;
  patch.mark = mark;
  written w = written_model(&before->model, &patch);
  assert_int_equal(w.status, CALM_OK);
  arena_free(&a);
  return w;
}

/* Where a text begins in bytes; NULL: nowhere. */
static const uint8_t *find(const uint8_t *bytes, size_t length,
                           const char *words) {
  const size_t wanted_length = strlen(words);
  for (size_t i = 0; i + wanted_length <= length; i++)
    if (!memcmp(bytes + i, words, wanted_length)) return bytes + i;
  return NULL;
}

static const model_mark *mark_of(const reading *r) {
  return &r->model.offline.mark;
}

static void expect_mark(const reading *r) {
  assert_int_equal(r->status, CALM_OK);
  assert_true(mark_of(r)->present);
  assert_null(mark_of(r)->fault);
  assert_string_equal(mark_of(r)->kernels, wanted.kernels);
  assert_string_equal(mark_of(r)->views, wanted.views);
  assert_string_equal(mark_of(r)->tool, wanted.tool);
  assert_int_equal(mark_of(r)->edition, wanted.edition);
  assert_true(mark_of(r)->same_graphs);
  assert_true(mark_of(r)->same_offsets);
}

static void end(build_file *f, reading *before, written *w, reading *after) {
  if (after) assert_int_equal(reading_end(after), 0);
  free(w->bytes);
  assert_int_equal(reading_end(before), 0);
  free(f);
}

/* ---- Written and read ---------------------------------------------------- */

static void a_mark_stands_beside_its_plan(void **state) {
  (void)state;
  for (int swap = 0; swap < 2; swap++) {
    build_file *f = plain_file();
    reading *before = reading_of(f);
    written w = write_marked(before, swap, &wanted, MODEL_PLAN_WRITE);
    reading *after = reading_of_bytes(w.bytes, w.length);
    expect_mark(after);
    assert_true(after->model.offline.present);
    assert_int_equal(after->model.metadata_count, 2);
    end(f, before, &w, after);
  }
}

static void it_can_be_read_in_a_hex_dump(void **state) {
  (void)state;
  static const char begin[] =
      "version 1\nkernels cmsis-nn-mve\nedition 7\nviews reshape,slice\n"
      "calm 1.2.3\ngraphs ";
  build_file *f = plain_file();
  reading *before = reading_of(f);
  written w = write_marked(before, false, &wanted, MODEL_PLAN_WRITE);
  assert_non_null(find(w.bytes, w.length, begin));
  end(f, before, &w, NULL);
}

/* Written again in the same terms the file keeps its size; without a mark, and
   without a plan, the mark is gone. */
static void a_second_plan_takes_its_place(void **state) {
  (void)state;
  build_file *f = plain_file();
  reading *before = reading_of(f);
  written w = write_marked(before, false, &wanted, MODEL_PLAN_WRITE);
  reading *marked = reading_of_bytes(w.bytes, w.length);
  written again = write_marked(marked, true, &wanted, MODEL_PLAN_WRITE);
  assert_int_equal(again.length, w.length);
  reading *after = reading_of_bytes(again.bytes, again.length);
  expect_mark(after);
  assert_int_equal(reading_end(after), 0);
  free(again.bytes);
  for (int strip = 0; strip < 2; strip++) {
    again = write_marked(marked, false, NULL,
                         strip ? MODEL_PLAN_STRIP : MODEL_PLAN_WRITE);
    after = reading_of_bytes(again.bytes, again.length);
    assert_false(mark_of(after)->present);
    assert_int_equal(after->model.offline.present, !strip);
    assert_int_equal(after->model.metadata_count, !strip);
    assert_int_equal(reading_end(after), 0);
    free(again.bytes);
  }
  end(f, before, &w, marked);
}

static void a_file_without_a_mark_has_none(void **state) {
  (void)state;
  build_file *f = plain_file();
  reading *before = reading_of(f);
  written with = write_marked(before, false, &wanted, MODEL_PLAN_WRITE);
  written without = write_marked(before, false, NULL, MODEL_PLAN_WRITE);
  assert_null(find(without.bytes, without.length, MARK));
  assert_true(without.length < with.length);
  free(with.bytes);
  end(f, before, &without, NULL);
}

/* ---- What was changed since ---------------------------------------------- */

/* The marked file of a network, as text of its mark, put beside another. */
static void expect_others(const network *changed, bool same_graphs,
                          const int32_t *plan, bool same_offsets) {
  build_file *f = plain_file();
  reading *before = reading_of(f);
  written w = write_marked(before, false, &wanted, MODEL_PLAN_WRITE);
  const uint8_t *begin = find(w.bytes, w.length, "version 1\n");
  const uint8_t *last =
      find(begin, w.length - (size_t)(begin - w.bytes), "offsets ");
  const build_buffer buffers[] = {
      {NULL, 0, 0, 0},
      {begin, (uint32_t)(last - begin) + 8 + 16 + 1, 0, 0},
      {plan, (3 + TENSORS) * 4, 0, 0}};
  const build_metadata metadata[] = {{MARK, 1}, {PLAN, 2}};
  build_file *other = file_of(changed, metadata, 2, buffers, 3);
  reading *after = reading_of(other);
  assert_int_equal(after->status, CALM_OK);
  assert_null(mark_of(after)->fault);
  assert_int_equal(mark_of(after)->same_graphs, same_graphs);
  assert_int_equal(mark_of(after)->same_offsets, same_offsets);
  assert_int_equal(reading_end(after), 0);
  free(other);
  end(f, before, &w, NULL);
}

static void what_was_planned_is_bound_to_it(void **state) {
  (void)state;
  static const int32_t plan[] = {0, 1, TENSORS, 0, 16, 32, 8};
  static const int32_t moved[] = {0, 1, TENSORS, 0, 16, 32, 16};
  static const int32_t shorter[] = {0, 1, TENSORS - 1, 0, 16, 32, 8};
  expect_others(&plain, true, plan, true);
  expect_others(&plain, true, moved, false);
  expect_others(&plain, true, shorter, false);
  network n = plain;
  n.shape[0] = 17;
  expect_others(&n, false, plan, true);
  n = plain;
  n.type = 3;
  expect_others(&n, false, plan, true);
  n = plain;
  n.inputs[1][0] = 1;
  expect_others(&n, false, plan, true);
  n = plain;
  n.codes[1] = 0;
  expect_others(&n, false, plan, true);
  n = plain;
  n.codes[1] = 2; /* a custom one */
  expect_others(&n, false, plan, true);
  n = plain; /* the first two exchanged */
  n.codes[0] = 1, n.codes[1] = 0;
  n.outputs[0][0] = 2, n.outputs[1][0] = 1;
  expect_others(&n, false, plan, true);
}

/* ---- Broken ones --------------------------------------------------------- */

#define HASHES "graphs 0123456789abcdef\noffsets 0123456789abcdef\n"
#define TERMS "version 1\nkernels reference\nedition 1\nviews none\n"

static void expect_fault(const void *bytes, uint32_t length, uint32_t buffer,
                         const char *fault) {
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {bytes, length, 0, 0}};
  const build_metadata metadata[] = {{MARK, buffer}};
  build_file *f = file_of(&plain, metadata, 1, buffers, 2);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_true(mark_of(r)->present);
  if (!fault)
    assert_null(mark_of(r)->fault);
  else if (!mark_of(r)->fault)
    fail_msg("no fault, but '%s' was meant", fault);
  else
    assert_string_equal(mark_of(r)->fault, fault);
  assert_false(mark_of(r)->same_graphs);
  assert_false(mark_of(r)->same_offsets);
  assert_int_equal(reading_end(r), 0);
  free(f);
}

static void expect_text(const char *text, const char *fault) {
  expect_fault(text, (uint32_t)strlen(text), 1, fault);
}

static void a_broken_mark_is_recorded(void **state) {
  (void)state;
  static const char no_version[] =
      "it is of a version that this calm does not know";
  static const char no_hashes[] = "it has no hashes";
  static const char no_edition[] = "it has no edition of distances";
  static char huge[5000];
  memset(huge, '\n', sizeof huge);
  memcpy(huge, TERMS HASHES, strlen(TERMS HASHES));
  expect_fault(NULL, 0, 0, "its buffer is empty");
  expect_fault(NULL, 0, 5000, "its buffer does not exist");
  expect_fault(huge, sizeof huge, 1, "its buffer is too long for one");
  expect_fault("\0\0\0\0\xff", 5, 1, no_version);
  expect_text(TERMS HASHES, NULL);
  expect_text("later of no matter\n\n" TERMS "x\n" HASHES, NULL);
  expect_text("version 2\nkernels reference\n" HASHES, no_version);
  expect_text("version 11\n", no_version);
  expect_text("version 1", no_version); /* the line does not end */
  expect_text("version 1\nedition 1\nviews none\n" HASHES,
              "it names no kernels");
  expect_text("version 1\nkernels \nedition 1\nviews none\n" HASHES,
              "it names no kernels");
  expect_text("version 1\nkernels a\tb\nedition 1\nviews none\n" HASHES,
              "it names no kernels");
  expect_text("version 1\nkernels x\xff\nedition 1\nviews none\n" HASHES,
              "it names no kernels");
  expect_text("version 1\nkernels x\nedition 1\n" HASHES, "it names no views");
  expect_text("version 1\nkernels x\nviews none\n" HASHES, no_edition);
  expect_text("version 1\nkernels x\nedition -1\nviews none\n" HASHES,
              no_edition);
  expect_text("version 1\nkernels x\nedition 99999999999999999999\nviews y\n",
              no_edition);
  expect_text(TERMS, no_hashes);
  expect_text(TERMS "graphs 0123456789abcdef\n", no_hashes);
  expect_text(TERMS "graphs 0123456789abcde\noffsets 0123456789abcdef\n",
              no_hashes);
  expect_text(TERMS "graphs 0123456789abcdefg\noffsets 0123456789abcdef\n",
              no_hashes);
  expect_text(TERMS "graphs 0123456789ABCDEF\noffsets 0123456789abcdef\n",
              no_hashes);
  expect_text(TERMS "graphs 0123456789abcdef\noffsets 0123456789abcdef",
              no_hashes);
}

/* ---- Memory -------------------------------------------------------------- */

/* Writing a mark and reading it, where the n-th request fails, for every n. */
static void memory_may_run_out_at_any_time(void **state) {
  (void)state;
  build_file *f = plain_file();
  uint64_t left;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    calm_model model, again;
    arena a;
    left = SCARCE_NEVER;
    calm_context *context = calm_context_new(&allocator);
    model_init(&model, context, "scarce");
    model_init(&again, context, "again");
    model.map = (file_map){f->bytes, f->length};
    assert_int_equal(model_read(&model), CALM_OK);
    arena_init(&a, context);
    model_patch patch = identity_patch(&model, &a, MODEL_PLAN_WRITE);
    patch.mark = &wanted;
    left = granted;
    written w = written_model(&model, &patch);
    status = w.status;
    again.map = (file_map){w.bytes, w.length};
    if (status == CALM_OK) status = model_read(&again);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    free(w.bytes);
    arena_free(&a);
    model_clear(&model);
    model_clear(&again);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
  free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mark_stands_beside_its_plan),
      cmocka_unit_test(it_can_be_read_in_a_hex_dump),
      cmocka_unit_test(a_second_plan_takes_its_place),
      cmocka_unit_test(a_file_without_a_mark_has_none),
      cmocka_unit_test(what_was_planned_is_bound_to_it),
      cmocka_unit_test(a_broken_mark_is_recorded),
      cmocka_unit_test(memory_may_run_out_at_any_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
