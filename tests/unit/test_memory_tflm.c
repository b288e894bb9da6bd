/*
 * The planner against a plain restatement of its rule, scopes of bodies, and
 * faults of plans over all graphs.
 */
#include "memory_graphs.h"

#include "memory/memory_tflm.h"

/* ---- The planner --------------------------------------------------------- */

static bool meet(const tflm_buffer *a, const tflm_buffer *b) {
  return memory_spans_meet(a->span, b->span);
}

/* The lowest offset at which the next buffer above does not begin too early,
   among those placed that are in use at the same time. */
static uint64_t lowest_gap(const tflm_buffer *all, const bool *placed,
                           uint32_t count, uint32_t wanted) {
  uint64_t candidate = 0;
  bool seen[64] = {false};
  for (;;) {
    uint32_t next = count;
    for (uint32_t i = 0; i < count; i++)
      if (placed[i] && !seen[i] && meet(&all[i], &all[wanted]) &&
          (next == count || all[i].offset < all[next].offset))
        next = i;
    if (next == count || (all[next].offset >= candidate &&
                          all[next].offset - candidate >= all[wanted].bytes))
      return candidate;
    seen[next] = true;
    if (all[next].offset + all[next].bytes > candidate)
      candidate = all[next].offset + all[next].bytes;
  }
}

/* One buffer after the other, chosen by looking at all. */
static uint64_t place_plainly(tflm_buffer *all, uint32_t count) {
  bool placed[64] = {false};
  uint64_t head = 0;
  for (uint32_t i = 0; i < count; i++) placed[i] = all[i].offset != UINT64_MAX;
  for (;;) {
    uint32_t next = count;
    for (uint32_t i = 0; i < count; i++)
      if (!placed[i] && (next == count || all[i].bytes >= all[next].bytes))
        next = i;
    if (next == count) break;
    all[next].offset = lowest_gap(all, placed, count, next);
    placed[next] = true;
  }
  for (uint32_t i = 0; i < count; i++)
    if (all[i].offset + all[i].bytes > head)
      head = all[i].offset + all[i].bytes;
  return head;
}

static void the_planner_is_first_fit_by_size(void **state) {
  (void)state;
  random_state r = random_from_seed(11);
  calm_context *context = calm_context_new(NULL);
  for (int i = 0; i < 3000; i++) {
    tflm_buffer a[40], b[40];
    uint64_t head;
    const uint32_t count = random_below(&r, 40);
    for (uint32_t k = 0; k < count; k++) {
      const int64_t first = (int64_t)random_below(&r, 12) - 1;
      const int64_t last = first + (int64_t)random_below(&r, 5);
      a[k] = (tflm_buffer){.span = {first, last}, .offset = UINT64_MAX};
      a[k].bytes = 16 * (uint64_t)random_below(&r, 6);
      if (chance(&r, 20)) a[k].offset = 8 * (uint64_t)random_below(&r, 30);
      b[k] = a[k];
    }
    const uint64_t expected = place_plainly(b, count);
    assert_int_equal(tflm_place(&head, a, count, context), CALM_OK);
    assert_int_equal(head, expected);
    for (uint32_t k = 0; k < count; k++)
      assert_int_equal(a[k].offset, b[k].offset);
  }
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* ---- Scopes -------------------------------------------------------------- */

typedef struct file_orders {
  const op_id *orders[8];
} file_orders;

static file_orders orders_of(const fixture *f) {
  file_orders o = {{NULL}};
  assert_true(f->graphs.count <= 8);
  for (uint32_t i = 0; i < f->graphs.count; i++)
    o.orders[i] = f->graphs.data[i].order;
  return o;
}

/* "x:0-3 ..." of all tensors of all graphs. */
static const char *spans_of(fixture *f, memory_roots roots) {
  static char words[512];
  memory_scopes s;
  const file_orders o = orders_of(f);
  size_t length = 0;
  words[0] = '\0';
  assert_int_equal(memory_scopes_build(&s, f->graphs.data, f->graphs.count,
                                       o.orders, roots, &f->arena),
                   CALM_OK);
  for (uint32_t i = 0; i < f->graphs.count; i++)
    for (tensor_id t = 0; t < f->graphs.data[i].tensors.count; t++) {
      const memory_span span = s.tensors[s.tensor_begin[i] + t];
      length += (size_t)snprintf(words + length, sizeof words - length,
                                 "%s%s:%" PRId64 "-%" PRId64, *words ? " " : "",
                                 f->graphs.data[i].tensors.data[t].name,
                                 span.first, span.last);
    }
  return words;
}

static void bodies_are_walked_at_their_caller(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 1 input\ntensor u 1 input\ntensor y 1\n"
               "tensor z 1 output\ntensor n 1 const\n"
               "op a if ( x ) -> ( y ) body=then body=else\n"
               "op b relu ( y ) -> ( z )\n"
               "graph then\ntensor p 1 input\ntensor q 1 output\n"
               "op c relu ( p ) -> ( q )\n"
               "graph else\ntensor r 1 input output\n"
               "graph alone\ntensor s 1 input\ntensor t 1 output\n"
               "op d relu ( s ) -> ( t )\n");
  assert_string_equal(spans_of(&f, ROOTS_ENTRY),
                      "x:0-4 u:0-0 y:1-5 z:5-5 n:-1--1 p:2-3 q:3-3 r:4-4 "
                      "s:-1--1 t:-1--1");
  assert_string_equal(spans_of(&f, ROOTS_ALL),
                      "x:0-4 u:0-0 y:1-5 z:5-5 n:-1--1 p:2-3 q:3-3 r:4-4 "
                      "s:6-7 t:7-7");
  fixture_close(&f);
}

/* 2^20 walks of the innermost of twenty graphs. */
static void absurd_unfolding_is_refused(void **state) {
  (void)state;
  char text[2048] = "";
  size_t length = 0;
  fixture f;
  for (int i = 0; i < 24; i++)
    length += (size_t)snprintf(
        text + length, sizeof text - length,
        "tensor x 1 input\nop a while ( x ) -> ( ) body=g%d body=g%d\n"
        "graph g%d\n",
        i, i, i);
  snprintf(text + length, sizeof text - length, "tensor x 1 input\n");
  memory_scopes s;
  const op_id *orders[32];
  fixture_open(&f, text);
  for (uint32_t i = 0; i < f.graphs.count; i++)
    orders[i] = f.graphs.data[i].order;
  assert_int_equal(memory_scopes_build(&s, f.graphs.data, f.graphs.count,
                                       orders, ROOTS_ENTRY, &f.arena),
                   CALM_UNSUPPORTED);
  assert_non_null(strstr(calm_context_message(f.context), "unfold"));
  fixture_close(&f);
}

/* ---- Faults -------------------------------------------------------------- */

/* The kinds of all faults, and of all warnings behind a bar. */
static const char *judge(fixture *f, const char *memory,
                         const uint64_t *const *offsets) {
  static char words[512];
  const memory_model model = model_of(f->context, memory);
  memory_scratch scratch;
  memory_verdict v;
  const file_orders o = orders_of(f);
  assert_int_equal(
      memory_scratch_build(&scratch, f->graphs.data, f->graphs.count,
                           KERNELS_AUTO, NULL, &f->arena),
      CALM_OK);
  const tflm_model m = {.graphs = f->graphs.data,
                        .count = f->graphs.count,
                        .sequences = o.orders,
                        .offsets = offsets,
                        .scratch = &scratch};
  assert_int_equal(tflm_check(&v, &m, &model, &f->arena), CALM_OK);
  snprintf(words, sizeof words, "%" PRIu64, v.arena_bytes);
  for (uint32_t i = 0; i < v.faults.count; i++) {
    strcat(words, " ");
    strcat(words, v.faults.data[i].kind);
  }
  for (uint32_t i = 0; i < v.warnings.count; i++) {
    strcat(words, i ? " " : " | ");
    strcat(words, v.warnings.data[i].kind);
  }
  memory_verdict_free(&v, f->context);
  return words;
}

#define NONE UINT64_MAX
#define PLAN(...) ((const uint64_t *const[]){__VA_ARGS__})
#define AT(...) ((const uint64_t[]){__VA_ARGS__})

static void faults_of_one_graph(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x f32[8] input\ntensor v f32[2,4]\ntensor y f32[2,4]\n"
               "tensor s f32[4] variable\ntensor z f32[2,4] output\n"
               "op a reshape ( x ) -> ( v )\n"
               "op b relu ( v ) -> ( y )\n"
               "op c opaque ( y s ) -> ( z )\n");
  assert_string_equal(judge(&f, "tflm", NULL), "64");
  assert_string_equal(judge(&f, "tflm", PLAN(AT(0, 0, 32, NONE, 0))), "64");
  assert_string_equal(judge(&f, "tflm-default", PLAN(AT(0, 0, 32, NONE, 0))),
                      "64 overlap");
  assert_string_equal(judge(&f, "tflm", PLAN(AT(0, 0, 0, NONE, 32))),
                      "64 overlap");
  assert_string_equal(
      judge(&f, "tflm inplace=relu", PLAN(AT(0, 0, 0, NONE, 32))), "64");
  assert_string_equal(
      judge(&f, "tflm inplace=relu", PLAN(AT(0, 0, 4, NONE, 64))),
      "96 overlap | misaligned");
  /* an opaque operator may manage its own */
  assert_string_equal(judge(&f, "tflm", PLAN(AT(0, 0, 32, NONE, 32))),
                      "64 | overlap");
  /* state: an offset is dangerous, and another tensor there is fatal */
  assert_string_equal(judge(&f, "tflm", PLAN(AT(0, 0, 32, 64, 0))),
                      "80 | state");
  assert_string_equal(judge(&f, "tflm", PLAN(AT(0, 0, 32, 0, 0))),
                      "64 overlap overlap overlap | state");
  assert_string_equal(judge(&f, "tflm", PLAN(AT(2, NONE, 32, NONE, 0))),
                      "96 misaligned | unplaced");
  assert_string_equal(
      judge(&f, "tflm", PLAN(AT(0, 0, UINT64_C(1) << 31, NONE, 0))),
      "2147483680 outside");
  fixture_close(&f);
}

/* The body's tensors may lie over each other and over what its caller does not
   need, but not over what is alive across it. */
static void faults_across_graphs(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 16 input\ntensor k 16\ntensor y 16\n"
               "tensor z 16 output\n"
               "op a conv2d ( x ) -> ( k )\n"
               "op l if ( x ) -> ( y ) body=then body=else\n"
               "op c add ( k y ) -> ( z )\n"
               "graph then\ntensor i 16 input\ntensor o 16 output\n"
               "op d conv2d ( i ) -> ( o )\n"
               "graph else\ntensor i 16 input\ntensor o 16 output\n"
               "op d conv2d ( i ) -> ( o )\n");
  assert_string_equal(
      judge(&f, "tflm", PLAN(AT(0, 16, 32, 0), AT(48, 64), AT(64, 48))), "80");
  assert_string_equal(
      judge(&f, "tflm", PLAN(AT(0, 16, 32, 0), AT(16, 64), AT(48, 64))),
      "80 overlap");
  assert_string_equal(
      judge(&f, "tflm", PLAN(AT(0, 16, 32, 0), AT(NONE, 48), AT(NONE, NONE))),
      "80 | unplaced unplaced unplaced");
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_planner_is_first_fit_by_size),
      cmocka_unit_test(bodies_are_walked_at_their_caller),
      cmocka_unit_test(absurd_unfolding_is_refused),
      cmocka_unit_test(faults_of_one_graph),
      cmocka_unit_test(faults_across_graphs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
