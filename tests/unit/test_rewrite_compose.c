/* Two rounds of rewriting as one: the same graph, and the same bytes as when
   the constants of the first round are there for the second to slice. */
#include "rewrite/rewrite_contents.h"
#include "rewrite_fixture.h"

/* A normalization with a factor behind a concat, and one behind a convolution.
 */
static const char NET[] =
    "tensor a f32[1,2,3,3] input\ntensor b f32[1,2,3,3] input\n"
    "tensor k f32[4,1,1] const\ntensor c f32[4,1,1] const\n"
    "tensor w f32[3,4,1,1] const\ntensor s f32[3,1,1] const\n"
    "tensor p f32[1,2,3,3]\ntensor q f32[1,2,3,3]\n"
    "tensor cat f32[1,4,3,3]\ntensor m f32[1,4,3,3]\ntensor n f32[1,4,3,3]\n"
    "tensor r f32[1,4,3,3]\ntensor v f32[1,3,3,3]\n"
    "tensor y f32[1,3,3,3] output\n"
    "op fa relu ( a ) -> ( p )\nop fb relu ( b ) -> ( q )\n"
    "op join concat ( p q ) -> ( cat ) axis=1\n"
    "op times mul ( cat k ) -> ( m )\nop plus add ( m c ) -> ( n )\n"
    "op f relu ( n ) -> ( r )\n"
    "op conv conv2d ( r w ) -> ( v ) filter=1,1\n"
    "op more mul ( v s ) -> ( y )\n";

typedef struct rounds {
  rewriting r;
  rewrite_sites sites;
  graph_edit second, both;
} rounds;

static bool read_original(void *payload, tensor_id t, const uint8_t **bytes,
                          uint64_t *length) {
  rounds *p = payload;
  *length = p->r.g->tensors.data[t].bytes;
  uint8_t *out = arena_calloc(&p->r.f.arena, *length, 1);
  for (uint64_t i = 0; i < *length / 4; i++) {
    const float value = (float)(3 * i + 7 * t + 1) / 16;
    uint32_t word;
    memcpy(&word, &value, 4);
    for (uint32_t b = 0; b < 4; b++) out[4 * i + b] = (uint8_t)(word >> 8 * b);
  }
  *bytes = out;
  return true;
}

static bool read_first(void *payload, tensor_id t, const uint8_t **bytes,
                       uint64_t *length) {
  rounds *p = payload;
  const edit_tensor *descent = &p->r.edit.tensors.data[t];
  if (descent->contents == EDIT_SAME)
    return read_original(p, descent->from, bytes, length);
  *bytes = descent->bytes;
  *length = p->r.edit.after.tensors.data[t].bytes;
  return *bytes;
}

static void begin_rounds(rounds *p, const char *net) {
  memset(p, 0, sizeof *p);
  open_rewriting(&p->r, REWRITE_affine, net);
  p->r.f.graphs.data[0].channels_first = true;
}

/* All sites of the second round are taken. */
static void end_rounds(rounds *p) {
  must(&p->r, rewrite_find_sites(&p->sites, &p->r.edit.after, &p->r.options,
                                 &p->r.f.arena));
  bool *taken = arena_calloc(&p->r.f.arena, p->sites.count, sizeof *taken);
  memset(taken, 1, p->sites.count * sizeof *taken);
  must(&p->r, rewrite_apply(&p->second, &p->sites, taken, &p->r.f.arena));
  must(&p->r, rewrite_compose(&p->both, &p->r.edit, &p->second, &p->r.f.arena));
}

static void open_rounds(rounds *p) {
  begin_rounds(p, NET);
  expect_sites(&p->r, "plus\nconv<more\n");
  apply_all(&p->r);
  p->r.options.rules[REWRITE_affine] = false;
  p->r.options.rules[REWRITE_channels] = true;
  p->r.options.rules[REWRITE_kernels] = true;
  end_rounds(p);
}

static void close_rounds(rounds *p) {
  graph_edit_free(&p->both);
  graph_edit_free(&p->second);
  close_rewriting(&p->r);
}

static char *text_of(rounds *p, const graph *g) {
  text t;
  char *out;
  text_init(&t, p->r.f.context);
  graph_text_write(&t, g, 1);
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  return out;
}

static void test_it_is_the_second_graph(void **state) {
  (void)state;
  rounds p;
  open_rounds(&p);
  char *second = text_of(&p, &p.second.after),
       *both = text_of(&p, &p.both.after);
  assert_string_equal(both, second);
  assert_non_null(strstr(both, "op plus/p2 batch_normalization ("));
  assert_non_null(strstr(both, "op conv/p2 conv2d ( "));
  assert_null(strstr(both, "concat"));
  assert_ptr_equal(p.both.before, p.r.g);
  calm_text_free(p.r.f.context, second);
  calm_text_free(p.r.f.context, both);
  close_rounds(&p);
}

static void test_operators_come_from_the_original(void **state) {
  (void)state;
  rounds p;
  open_rounds(&p);
  uint32_t affine = 0, kept = 0, sums = 0;
  for (op_id u = 0; u < p.both.ops.count; u++) {
    const edit_op *op = &p.both.ops.data[u];
    affine += op->role == EDIT_AFFINE && op->from == 4; /* plus */
    kept += op->role == EDIT_KEEP && op->from == 6;     /* conv */
    sums += op->role == EDIT_SUM && op->from == 6;
  }
  assert_int_equal(affine, 2);
  assert_int_equal(kept, 2);
  assert_int_equal(sums, 1);
  close_rounds(&p);
}

static void test_bytes_are_those_of_two_rounds(void **state) {
  (void)state;
  rounds p;
  uint32_t given = 0;
  open_rounds(&p);
  must(&p.r, rewrite_fill(&p.r.edit, read_original, &p, &p.r.f.arena));
  must(&p.r, rewrite_fill(&p.second, read_first, &p, &p.r.f.arena));
  must(&p.r, rewrite_fill(&p.both, read_original, &p, &p.r.f.arena));
  for (tensor_id t = 0; t < p.both.tensors.count; t++) {
    const graph_tensor *tensor = &p.both.after.tensors.data[t];
    const edit_tensor *descent = &p.both.tensors.data[t];
    if (!(tensor->flags & CALM_TENSOR_CONST)) continue;
    assert_int_not_equal(descent->contents, EDIT_SAME);
    given += descent->contents == EDIT_GIVEN;
    const uint8_t *second = p.second.tensors.data[t].bytes;
    const uint64_t bytes = tensor->bytes;
    if (second) assert_memory_equal(descent->bytes, second, bytes);
  }
  assert_int_equal(given, 8); /* scale, bias, var, kernels; of two parts */
  close_rounds(&p);
}

/* Behind a no-op that the first round takes away there is more to fold. */
static const char AGAIN[] =
    "tensor x f32[1,2,3,3] input\ntensor w f32[3,2,1,1] const\n"
    "tensor s f32[3,1,1] const\ntensor c f32[3,1,1] const\n"
    "tensor k f32[1] const\ntensor u f32[1,3,3,3]\n"
    "tensor v f32[1,3,3,3]\ntensor o f32[1,3,3,3]\n"
    "tensor n f32[1,3,3,3]\ntensor y f32[1,3,3,3] output\n"
    "op conv conv2d ( x w ) -> ( u ) filter=1,1\n"
    "op times mul ( u s ) -> ( v )\nop plus add ( v c ) -> ( o )\n"
    "op same identity ( o ) -> ( n )\nop more mul ( n k ) -> ( y )\n";

static void test_what_was_folded_is_folded_again(void **state) {
  (void)state;
  rounds p;
  uint32_t given = 0;
  begin_rounds(&p, AGAIN);
  p.r.options.rules[REWRITE_noops] = true;
  find_sites(&p.r);
  apply_all(&p.r);
  assert_int_equal(p.r.edit.after.ops.count, 2);
  end_rounds(&p);
  assert_int_equal(p.both.after.ops.count, 1);
  must(&p.r, rewrite_check(&p.both, p.r.f.context));
  must(&p.r, rewrite_fill(&p.r.edit, read_original, &p, &p.r.f.arena));
  must(&p.r, rewrite_fill(&p.second, read_first, &p, &p.r.f.arena));
  must(&p.r, rewrite_fill(&p.both, read_original, &p, &p.r.f.arena));
  for (tensor_id t = 0; t < p.both.tensors.count; t++) {
    const float *twice = (const float *)p.second.tensors.data[t].bytes;
    const float *once = (const float *)p.both.tensors.data[t].bytes;
    given += p.both.tensors.data[t].contents == EDIT_GIVEN;
    for (uint64_t i = 0; once && i < p.both.after.tensors.data[t].bytes / 4;
         i++)
      assert_float_equal(once[i], twice[i], 1e-6F * twice[i]);
  }
  assert_int_equal(given, 2); /* kernels and bias */
  close_rounds(&p);
}

/* A constant that the first round made is no step of the second. */
static void test_steps_are_with_constants_of_the_original(void **state) {
  (void)state;
  rounds p;
  graph_edit both;
  begin_rounds(&p, AGAIN);
  p.r.options.rules[REWRITE_noops] = true;
  find_sites(&p.r);
  apply_all(&p.r);
  end_rounds(&p);
  edit_tensor *k = NULL;
  for (tensor_id t = 0; t < p.r.edit.tensors.count; t++)
    if (!strcmp(p.r.edit.after.tensors.data[t].name, "k"))
      k = &p.r.edit.tensors.data[t];
  assert_non_null(k);
  k->contents = EDIT_ZERO;
  assert_int_equal(rewrite_compose(&both, &p.r.edit, &p.second, &p.r.f.arena),
                   CALM_UNSUPPORTED);
  assert_non_null(strstr(calm_context_message(p.r.f.context),
                         "was made anew in both rounds"));
  close_rounds(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_is_the_second_graph),
      cmocka_unit_test(test_operators_come_from_the_original),
      cmocka_unit_test(test_bytes_are_those_of_two_rounds),
      cmocka_unit_test(test_what_was_folded_is_folded_again),
      cmocka_unit_test(test_steps_are_with_constants_of_the_original)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
