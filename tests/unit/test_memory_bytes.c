#include "memory/memory_bytes.h"
#include "memory_graphs.h"

/* Run the first graph with tensors at "name=offset ..."; what was found. */
static bytes_fault run_at(const fixture *f, const char *places,
                          kernel_library library) {
  const op_id *sequences[] = {f->g->order};
  uint64_t offsets[64], scratch_offsets[64];
  memory_scratch scratch;
  bytes_fault fault;
  arena a;
  char words[256];
  arena_init(&a, f->context);
  for (int i = 0; i < 64; i++) offsets[i] = scratch_offsets[i] = UINT64_MAX;
  snprintf(words, sizeof words, "%s", places);
  char *rest, *word = strtok_r(words, " ", &rest);
  for (; word; word = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(word, '=');
    *equals = '\0';
    if (!strcmp(word, "scratch"))
      scratch_offsets[0] = strtoull(equals + 1, NULL, 10);
    else
      offsets[tensor_named(f->g, word)] = strtoull(equals + 1, NULL, 10);
  }
  assert_int_equal(
      memory_scratch_build(&scratch, f->g, 1, KERNELS_REFERENCE, NULL, &a),
      CALM_OK);
  const tflm_model model = {
      .graphs = f->g, .count = 1, .sequences = sequences, .scratch = &scratch};
  const tflm_head head = {.offsets = offsets,
                          .scratch_offsets = scratch_offsets};
  assert_int_equal(memory_bytes_run(&fault, &model, &head, library, f->context),
                   CALM_OK);
  arena_free(&a);
  return fault;
}

/* 8 x 8 x 4 under a 3 x 3 window: a row and a pixel, 9 x 4 bytes, must stay
   between the first byte of the output and that of the input. */
static const char depthwise[] =
    "tensor x i8[1,8,8,4] input\ntensor w i8[1,3,3,4] const\n"
    "tensor y i8[1,8,8,4] output\n"
    "op c depthwise_conv2d ( x w ) -> ( y ) stride=1,1 pad=same multiplier=1\n";

static void an_output_may_come_so_near_and_no_nearer(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, depthwise);
  assert_false(run_at(&f, "x=36 y=0", KERNELS_REFERENCE).found);
  assert_false(run_at(&f, "x=40 y=0", KERNELS_REFERENCE).found);
  assert_false(run_at(&f, "x=0 y=256", KERNELS_REFERENCE).found);
  const bytes_fault fault = run_at(&f, "x=35 y=0", KERNELS_REFERENCE);
  assert_true(fault.found);
  assert_int_equal(fault.step, 0);
  assert_int_equal(fault.tensor, tensor_named(f.g, "x"));
  assert_int_equal(fault.instead, tensor_named(f.g, "y"));
  assert_true(run_at(&f, "x=0 y=0", KERNELS_REFERENCE).found);
  assert_true(run_at(&f, "x=0 y=36", KERNELS_REFERENCE).found);
  fixture_close(&f);
}

/* Strips: rows of x as views, results where they belong. */
static const char strips[] =
    "tensor x i8[1,4,4,2] input\ntensor at i32[4] const\n"
    "tensor n i32[4] const\ntensor x0 i8[1,2,4,2]\ntensor x1 i8[1,2,4,2]\n"
    "tensor y0 i8[1,2,4,2]\ntensor y1 i8[1,2,4,2]\n"
    "tensor y i8[1,4,4,2]\ntensor z i8[1,4,4,2] output\n"
    "op s0 slice ( x at n ) -> ( x0 ) begin=0,0,0,0 size=1,2,4,2\n"
    "op s1 slice ( x at n ) -> ( x1 ) begin=0,2,0,0 size=1,2,4,2\n"
    "op r0 relu ( x0 ) -> ( y0 )\nop r1 relu ( x1 ) -> ( y1 )\n"
    "op y concat ( y0 y1 ) -> ( y ) axis=1\nop z relu ( y ) -> ( z )\n";

static void copies_onto_themselves_change_nothing(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, strips);
  assert_false(
      run_at(&f, "x=0 x0=0 x1=16 y0=32 y1=48 y=32 z=64", KERNELS_REFERENCE)
          .found);
  /* the second strip where the first belongs */
  assert_true(
      run_at(&f, "x=0 x0=0 x1=16 y0=48 y1=32 y=32 z=64", KERNELS_REFERENCE)
          .found);
  /* rows that are still to be read are overwritten */
  const bytes_fault fault =
      run_at(&f, "x=0 x0=0 x1=16 y0=16 y1=48 y=32 z=64", KERNELS_REFERENCE);
  assert_true(fault.found);
  assert_int_equal(fault.instead, tensor_named(f.g, "y0"));
  fixture_close(&f);
}

static void scratch_is_nobody_elses(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x i8[1,16] input\ntensor y i8[1,16] output\n"
               "op r relu ( x ) -> ( y ) workspace=16\n");
  assert_false(run_at(&f, "x=0 y=16 scratch=32", KERNELS_REFERENCE).found);
  assert_true(run_at(&f, "x=0 y=16 scratch=8", KERNELS_REFERENCE).found);
  assert_true(run_at(&f, "x=0 y=16 scratch=24", KERNELS_REFERENCE).found);
  fixture_close(&f);
}

static void outputs_are_read_at_the_end(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x i8[1,16] input\ntensor y i8[1,16] output\n"
               "tensor z i8[1,16] output\n"
               "op r relu ( x ) -> ( y )\nop s relu ( y ) -> ( z )\n");
  assert_false(run_at(&f, "x=0 y=0 z=16", KERNELS_REFERENCE).found);
  assert_true(run_at(&f, "x=16 y=0 z=0", KERNELS_REFERENCE).found);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_output_may_come_so_near_and_no_nearer),
      cmocka_unit_test(copies_onto_themselves_change_nothing),
      cmocka_unit_test(scratch_is_nobody_elses),
      cmocka_unit_test(outputs_are_read_at_the_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
