#include "graph_fixture.h"

/* Of an operator that computes p, one that computes q, and a tensor s. */
#define HEAD                                 \
  "calm-graph 1\ngraph g\n"                  \
  "tensor x 4 input\ntensor p 8\n"           \
  "tensor q 8\ntensor s 8\ntensor other 4\n" \
  "op cp conv2d ( x ) -> ( p )\n"            \
  "op cq conv2d ( x ) -> ( q )\n"

static const struct refusal {
  const char *source, *message;
} refusals[] = {
    {HEAD "op y partial_sum ( ) -> ( s )\n",
     "t.cg:10:4: operator 'y': a partial_sum has at least one operand"},
    {HEAD "op y partial_sum ( p - ) -> ( s )\n",
     "t.cg:10:4: operator 'y': operand 1 of a partial_sum is absent"},
    {HEAD "op y partial_sum ( p ) -> ( s other )\n",
     "t.cg:10:4: operator 'y': one of kind partial_sum has exactly one output"},
    {HEAD "op y partial_sum ( p ) -> ( - )\n",
     "t.cg:10:4: operator 'y': one of kind partial_sum has exactly one output"},
    {HEAD "op y partial_sum ( p x ) -> ( s )\n",
     "t.cg:10:4: operator 'y': tensor 'x' is added up in place, so an operator "
     "has to compute it, and it can be no input, output, const or variable"},
    {"calm-graph 1\ngraph g\ntensor x 4 input\ntensor p 4 output\ntensor s 4\n"
     "op c conv2d ( x ) -> ( p )\nop y partial_sum ( p ) -> ( s )\n",
     "t.cg:7:4: operator 'y': tensor 'p' is added up in place, so an operator "
     "has to compute it, and it can be no input, output, const or variable"},
    {"calm-graph 1\ngraph g\ntensor p 4 unwritten\ntensor s 4\n"
     "op y partial_sum ( p ) -> ( s )\n",
     "t.cg:5:4: operator 'y': tensor 'p' is added up in place, so an operator "
     "has to compute it, and it can be no input, output, const or variable"},
    {HEAD "op y partial_sum ( p ) -> ( s )\nop z relu ( p ) -> ( other )\n",
     "t.cg:10:4: operator 'y': tensor 'p' is added up in place, so nobody else "
     "can read it, nor the sum twice"},
    {HEAD "op y partial_sum ( p p ) -> ( s )\n",
     "t.cg:10:4: operator 'y': tensor 'p' is added up in place, so nobody else "
     "can read it, nor the sum twice"},
    {HEAD "op y partial_sum ( p q ) -> ( other )\n",
     "t.cg:10:4: operator 'y': tensor 'p' does not have the bytes of the sum"},
    {"calm-graph 1\ngraph g\ntensor x 4 input\ntensor p 4\n"
     "tensor s 4 variable\n"
     "op c conv2d ( x ) -> ( p )\nop y partial_sum ( p ) -> ( s )\n",
     "t.cg:7:4: operator 'y': tensor 's' is a variable, and a sum is none"},
    {HEAD "op a add_into ( p q ) -> ( s )\n",
     "t.cg:10:4: operator 'a': an add_into has exactly one operand"},
    {HEAD "op a add_into ( - ) -> ( s )\n",
     "t.cg:10:4: operator 'a': an add_into has exactly one operand"},
    {HEAD "op a add_into ( p ) -> ( )\n",
     "t.cg:10:4: operator 'a': one of kind add_into has exactly one output"},
    {HEAD "op a add_into ( x ) -> ( s )\n",
     "t.cg:10:4: operator 'a': tensor 'x' does not have the bytes of what is "
     "made of it"},
    {HEAD "op a add_into ( p ) -> ( s )\nop z relu ( s ) -> ( other )\n",
     "t.cg:10:4: operator 'a': tensor 's' is the output of an add_into, so a "
     "partial_sum has to read it"},
    {HEAD "op a add_into ( p ) -> ( s )\n",
     "t.cg:10:4: operator 'a': tensor 's' is the output of an add_into, so a "
     "partial_sum has to read it"},
};

static void sums_without_a_meaning_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    fixture f;
    fixture_open(&f, NULL);
    const char *source = refusals[i].source;
    assert_int_equal(fixture_read(&f, source, strlen(source)), CALM_BAD_INPUT);
    assert_string_equal(calm_context_message(f.context), refusals[i].message);
    fixture_close(&f);
  }
}

static void sums_are_read_and_found(void **state) {
  (void)state;
  static const char text[] = HEAD
      "tensor t 8\n"
      "op a add_into ( q ) -> ( t ) workspace=8\n"
      "op y partial_sum ( p t ) -> ( s )\n";
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f, text);
  const graph *g = f.graphs.data;
  assert_true(graph_has_sums(g));
  for (tensor_id t = 0; t < g->tensors.count; t++)
    assert_int_equal(graph_goes_into_sum(g, t),
                     !strcmp(g->tensors.data[t].name, "p") ||
                         !strcmp(g->tensors.data[t].name, "t"));
  fixture_close(&f);
  fixture_open(&f, NULL);
  fixture_must_read(&f, HEAD);
  assert_false(graph_has_sums(f.graphs.data));
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_without_a_meaning_are_refused),
      cmocka_unit_test(sums_are_read_and_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
