#include "graph_fixture.h"

/* ---- What is accepted ---------------------------------------------------- */

static void all_parts_are_read(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(
      &f,
      "\xEF\xBB\xBF\n# a comment\r\n"
      "calm-graph 1 # and one behind\r\n"
      "graph \"the net\"\r\n"
      "tensor x 64K input\n"
      "\ttensor \"odd \\\"\\\\\\n\\x0a\\xFF name\" i4[1, 3] output\n"
      "tensor s f32[] const\ntensor v str[2] variable\n"
      "op u conv2d(x - s)->(\"odd \\\"\\\\\\n\\n\\xff name\" -)"
      " after(w) stride=2,2 after=\"x y\" workspace=4K e=\"\"\n"
      "op w \"my kind\" ( ) -> ( )");
  assert_int_equal(f.graphs.count, 1);
  const graph *g = f.graphs.data;
  assert_string_equal(g->name, "the net");
  assert_int_equal(g->tensors.count, 4);
  const graph_tensor *t = g->tensors.data;
  assert_int_equal(t[0].bytes, 65536);
  assert_int_equal(t[0].type, ELEMENT_ABSTRACT);
  assert_int_equal(t[0].flags, CALM_TENSOR_INPUT);
  assert_string_equal(t[1].name, "odd \"\\\n\n\xFF name");
  assert_int_equal(t[1].bytes, 2);
  assert_int_equal(t[1].rank, 2);
  assert_int_equal(t[1].dimensions[1], 3);
  assert_int_equal(t[1].file_index, 1);
  assert_int_equal(t[1].place.line, 6);
  assert_int_equal(t[1].place.column, 9);
  assert_int_equal(t[2].bytes, 4);
  assert_int_equal(t[2].flags, CALM_TENSOR_CONST);
  assert_int_equal(t[3].flags, CALM_TENSOR_VARIABLE);
  const graph_op *op = g->ops.data;
  assert_int_equal(op[0].kind, OP_conv2d);
  assert_int_equal(op[0].input_count, 3);
  assert_int_equal(op[0].inputs[1], CALM_NONE);
  assert_int_equal(op[0].output_count, 2);
  assert_int_equal(op[0].outputs[0], 1);
  assert_int_equal(op[0].outputs[1], CALM_NONE);
  assert_int_equal(op[0].after_count, 1);
  assert_int_equal(op[0].after[0], 1);
  assert_int_equal(op[0].workspace_bytes, 4096);
  assert_int_equal(op[0].attribute_count, 3);
  assert_string_equal(op[0].attributes[0].value, "2,2");
  assert_string_equal(op[0].attributes[1].key, "after");
  assert_string_equal(op[0].attributes[2].value, "");
  assert_int_equal(op[1].kind, OP_OPAQUE);
  assert_string_equal(op[1].kind_name, "my kind");
  assert_int_equal(f.warnings, 1);
  fixture_close(&f);
}

static void an_unsorted_file_is_a_warning(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f,
                    "calm-graph 1\ngraph g\ntensor x 1\n"
                    "op late add ( x ) -> ( )\nop early add ( ) -> ( x )\n");
  assert_false(f.graphs.data->file_order_valid);
  assert_int_equal(f.graphs.data->order[0], 1);
  assert_string_equal(f.warning,
                      "t.cg:4:4: operator 'late' stands before 'early', which "
                      "must run first; the file order is replaced by its "
                      "stable topological sort");
  fixture_close(&f);
}

static void graphs_are_appended(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f, "calm-graph 1\ngraph a\n");
  fixture_must_read(&f,
                    "calm-graph 1\ngraph a\nop w while ( ) -> ( ) body=b\n"
                    "graph b\n");
  assert_int_equal(f.graphs.count, 3);
  assert_int_equal(f.graphs.data[1].ops.data->bodies[0], 2);
  fixture_close(&f);
}

static void untouched_tensors_are_fine(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f,
                    "calm-graph 1\ngraph g\ntensor orphan 9\n"
                    "tensor both 9 input output\ntensor idle 9 input\n");
  fixture_close(&f);
}

/* Opaque operators of a text have no state, known kinds have. */
static void state_comes_from_the_kind(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f,
                    "calm-graph 1\ngraph g\nop a print ( ) -> ( )\n"
                    "op b random_uniform ( ) -> ( )\nop c print ( ) -> ( )\n"
                    "op d random_uniform ( ) -> ( )\n");
  const graph *g = f.graphs.data;
  assert_int_equal(g->pred_begin[4], 1);
  assert_int_equal(g->preds[0], 1);
  assert_int_equal(g->succs[0], 3);
  fixture_close(&f);
}

static void texts_are_recognised(void **state) {
  (void)state;
  static const char *const yes[] = {"calm-graph 1", "calm-graph 99\n",
                                    "# hello\n\n  calm-graph 1",
                                    "\xEF\xBB\xBF#\r\n\t\r\ncalm-graph"};
  static const char *const no[] = {
      "",  "calm-grap", "# calm-graph 1", "TFL3",
      "#", "graph g\n", "\xEF\xBB",       "x calm-graph 1"};
  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
    assert_true(graph_text_recognise(yes[i], strlen(yes[i])));
  for (size_t i = 0; i < sizeof no / sizeof *no; i++)
    assert_false(graph_text_recognise(no[i], strlen(no[i])));
  assert_false(graph_text_recognise("\0calm-graph 1", 13));
}

/* ---- What is refused ----------------------------------------------------- */

#define G "calm-graph 1\ngraph g\n"
#define SIZE_REMEDY "not a size; write bytes such as"

static const struct malformed {
  const char *source, *message;
} malformed[] = {
    {"",
     "t.cg:1:1: expected the header 'calm-graph 1', found the end of the "
     "text"},
    {"graph g\n",
     "t.cg:1:1: expected the header 'calm-graph 1', found 'graph'"},
    {"\"calm-graph\" 1\n",
     "t.cg:1:1: expected the header 'calm-graph 1', found 'calm-graph'"},
    {"calm-graph\n",
     "t.cg:1:11: expected the version 1, found the end of the line"},
    {"calm-graph 1 2\n", "t.cg:1:14: expected the end of the line, found '2'"},
    {"calm-graph 1\n\n",
     "t.cg:3:1: expected a graph; write 'graph NAME' below the header, found "
     "the end of the text"},
    {"calm-graph 1\ntensor x 1\n",
     "t.cg:2:1: expected 'graph NAME' before the first tensor or operator, "
     "found 'tensor'"},
    {"calm-graph 1\nop u add ( ) -> ( )\n",
     "t.cg:2:1: expected 'graph NAME' before the first tensor or operator, "
     "found 'op'"},
    {"calm-graph 1\ngraph\n",
     "t.cg:2:6: expected the name of a graph, found the end of the line"},
    {"calm-graph 1\ngraph a b\n",
     "t.cg:2:9: expected layout=nchw or the end of the line, found 'b'"},
    {"calm-graph 1\ngraph a layout nchw\n",
     "t.cg:2:16: expected '=' after a key, found 'nchw'"},
    {"calm-graph 1\ngraph a layout=hwc\n",
     "t.cg:2:16: expected nhwc or nchw, found 'hwc'"},
    {"calm-graph 1\ngraph a layout=\n",
     "t.cg:2:16: expected nhwc or nchw, found the end of the line"},
    {"calm-graph 1\ngraph a layout=nchw layout=nhwc\n",
     "t.cg:2:21: expected the end of the line, found 'layout'"},
    {G "graph h\ngraph g\n",
     "t.cg:4:7: there is already a graph 'g'; names must differ"},
    {G "node x\n",
     "t.cg:3:1: expected graph, tensor, op or a # comment, found 'node'"},
    {G "( x )\n",
     "t.cg:3:1: expected graph, tensor, op or a # comment, found '('"},
    {G "\"op\" u add ( ) -> ( )\n",
     "t.cg:3:1: expected graph, tensor, op or a # comment, found 'op'"},
    /* bytes and quotes */
    {G "tensor caf\xC3\xA9 1\n",
     "t.cg:3:11: byte 0xC3 cannot stand here; names with such characters are "
     "written in double quotes"},
    {G "tensor x\r1\n",
     "t.cg:3:9: byte 0x0D cannot stand here; names with such characters are "
     "written in double quotes"},
    {G "tensor a>b 1\n",
     "t.cg:3:9: byte 0x3E cannot stand here; names with such characters are "
     "written in double quotes"},
    {G "tensor \"x 1\ntensor y 1\n",
     "t.cg:3:8: a quote is not closed on its line; add \" (a line break inside "
     "is written \\n)"},
    {G "tensor \"x\\t\" 1\n",
     "t.cg:3:10: unknown escape; there are \\\" \\\\ \\n and \\xHH"},
    {G "tensor \"x\\",
     "t.cg:3:10: unknown escape; there are \\\" \\\\ \\n and \\xHH"},
    {G "tensor \"\\x4g\" 1\n",
     "t.cg:3:9: \\x needs two hexadecimal digits, as in \\x09"},
    {G "tensor \"\\x4",
     "t.cg:3:9: \\x needs two hexadecimal digits, as in "
     "\\x09"},
    {G "tensor \"a\\x00\" 1\n", "t.cg:3:10: a name cannot hold a zero byte"},
    /* tensors */
    {G "tensor\n",
     "t.cg:3:7: expected the name of a tensor, found the end of the line"},
    {G "tensor - 1\n", "t.cg:3:8: expected the name of a tensor, found '-'"},
    {G "tensor x\n",
     "t.cg:3:9: expected a byte count or a type with a shape, found the end of "
     "the line"},
    {G "tensor x \"1\"\n",
     "t.cg:3:10: expected a byte count or a type with a shape, found '1'"},
    {G "tensor x 64kb\n",
     "t.cg:3:10: '64kb' is " SIZE_REMEDY " 65536 or 64K, at most 2^62"},
    {G "tensor x 4611686018427387905\n",
     "t.cg:3:10: '4611686018427387905' is " SIZE_REMEDY
     " 65536 or 64K, at most 2^62"},
    {G "tensor x 18446744073709551616\n",
     "t.cg:3:10: '18446744073709551616' is " SIZE_REMEDY
     " 65536 or 64K, at most 2^62"},
    {G "tensor x float[1]\n",
     "t.cg:3:10: unknown element type 'float'; there are f64 f32 f16 bf16 i64 "
     "i32 i16 i8 i4 i2 u64 u32 u16 u8 u4 u2 bool c64 c128 str float8e4m3fn "
     "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float4e2m1 resource "
     "variant"},
    {G "tensor x f32\n",
     "t.cg:3:13: expected '[' and a shape after the type ([] for a scalar), "
     "found the end of the line"},
    {G "tensor x f32[\n",
     "t.cg:3:14: expected a dimension, found the end of the line"},
    {G "tensor x f32[1,,2]\n", "t.cg:3:16: expected a dimension, found ','"},
    {G "tensor x f32[1,]\n", "t.cg:3:16: expected a dimension, found ']'"},
    {G "tensor x f32[1 2]\n", "t.cg:3:16: expected ',' or ']', found '2'"},
    {G "tensor x f32[-1]\n",
     "t.cg:3:14: '-1' is not a dimension; write a whole number from 0 to "
     "2^63-1"},
    {G "tensor x f32[9223372036854775808]\n",
     "t.cg:3:14: '9223372036854775808' is not a dimension; write a whole "
     "number "
     "from 0 to 2^63-1"},
    {G "tensor x f32[4611686018427387904]\n",
     "t.cg:3:10: the shape needs more than 2^62 bytes"},
    {G "tensor x "
       "u8[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
       "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n",
     "t.cg:3:10: 65 dimensions, at most 64 work"},
    {G "tensor x 1 inptu\n",
     "t.cg:3:12: expected input, output, const, variable, unwritten or the "
     "end of the line, found 'inptu'"},
    {G "tensor x 1\n\ntensor x 2\n",
     "t.cg:5:8: tensor 'x' is already declared on line 3; names must differ"},
    {G "tensor x 4611686018427387904\ntensor y 1\n",
     "t.cg: the tensors of graph 'g' need more than 2^62 bytes"},
    /* operators */
    {G "op\n",
     "t.cg:3:3: expected the name of an operator, found the end of the line"},
    {G "op u\n",
     "t.cg:3:5: expected the kind of the operator, found the end of the line"},
    {G "op u add\n",
     "t.cg:3:9: expected '(' and the inputs, found the end of the line"},
    {G "op u add ( y ) -> ( )\n",
     "t.cg:3:12: tensor 'y' is not declared; declare it on a line above"},
    {G "op u add ( y ) -> ( )\ntensor y 1 input\n",
     "t.cg:3:12: tensor 'y' is not declared; declare it on a line above"},
    {G "op u add ( -> ( )\n",
     "t.cg:3:12: expected the name of a tensor, - or ')', found '->'"},
    {G "op u add ( )\n", "t.cg:3:13: expected '->', found the end of the line"},
    {G "op u add ( ) ->\n",
     "t.cg:3:16: expected '(' and the outputs, found the end of the line"},
    {G "op u add ( ) -> (",
     "t.cg:3:18: expected the name of a tensor, - or ')', found the end of the "
     "text"},
    {G "op u add ( ) -> ( ) )\n",
     "t.cg:3:21: expected after ( ... ), key=value or the end, found ')'"},
    {G "op u add ( ) -> ( ) after\n",
     "t.cg:3:26: expected '(' after 'after', found the end of the line"},
    {G "op u add ( ) -> ( ) after ( - )\n",
     "t.cg:3:29: expected the name of an operator or ')', found '-'"},
    {G "op u add ( ) -> ( ) after ( v )\n",
     "t.cg:3:29: there is no operator 'v' in this graph"},
    {G "op u add ( ) -> ( ) after ( v )\ngraph h\nop v add ( ) -> ( )\n",
     "t.cg:3:29: there is no operator 'v' in this graph"},
    {G "op u add ( ) -> ( ) stride\n",
     "t.cg:3:27: expected '=' after a key, found the end of the line"},
    {G "op u add ( ) -> ( ) stride=\n",
     "t.cg:3:28: expected a value (\"\" if empty), found the end of the line"},
    {G "op u add ( ) -> ( ) a=1 a=2\n",
     "t.cg:3:25: attribute 'a' is given twice"},
    {G "op u add ( ) -> ( ) workspace=1,2\n",
     "t.cg:3:31: workspace: '1,2' is " SIZE_REMEDY " 4096 or 4K, at most 2^62"},
    {G "op u add ( ) -> ( ) workspace=1 workspace=1\n",
     "t.cg:3:33: workspace is given twice"},
    {G "op u if ( ) -> ( ) body=a,b\n",
     "t.cg:3:25: body: 'a,b' is not a name; write one body=GRAPH per graph, or "
     "quotes"},
    {G "op u if ( ) -> ( ) body=h\n",
     "t.cg:3:25: there is no graph 'h' in this text"},
    {G "op u if ( ) -> ( ) body=g\n",
     "t.cg:3:4: operator 'u' of graph 'g' runs graph 'g', which is already "
     "running: bodies must not recur"},
    {G "op u add ( ) -> ( )\nop u add ( ) -> ( )\n",
     "t.cg:4:4: operator 'u' is already declared on line 3; names must differ"},
    /* graphs */
    {G "tensor x 1\nop u add ( x ) -> ( )\n",
     "t.cg:4:4: operator 'u' reads tensor 'x', which no operator writes; mark "
     "it input, const, variable or unwritten"},
    {G "tensor x 1 output\n",
     "t.cg:3:8: no operator writes the output 'x'; mark it unwritten if that "
     "is "
     "meant"},
    {G "tensor x 1 unwritten\nop u add ( ) -> ( x )\n",
     "t.cg:3:8: tensor 'x' is marked unwritten, but operator 'u' writes it"},
    {G "tensor x 1 unwritten input\n",
     "t.cg:3:8: tensor 'x' is unwritten, and yet input, const or variable; it "
     "can only be one of them"},
    {G "tensor x 1\nop u add ( ) -> ( x )\nop v add ( ) -> ( x )\n",
     "t.cg:5:4: tensor 'x' is written by the operators 'u' and 'v'; a tensor "
     "has one producer"},
    {G "tensor x 1\nop u add ( ) -> ( x x )\n",
     "t.cg:4:4: operator 'u' writes tensor 'x' twice"},
    {G "tensor x 1 input\nop u add ( ) -> ( x )\n",
     "t.cg:4:4: operator 'u' writes tensor 'x', which is a graph input; only "
     "other tensors can be outputs of an operator"},
    {G "tensor x 1 const\nop u add ( ) -> ( x )\n",
     "t.cg:4:4: operator 'u' writes tensor 'x', which is a constant; only "
     "other "
     "tensors can be outputs of an operator"},
    {G "tensor x 1\nop u add ( x ) -> ( x )\n",
     "t.cg:4:4: operators wait for each other: 'u' -> 'u'"},
};

static void expect_failure(const char *bytes, size_t length,
                           calm_status expected, const char *message) {
  fixture f;
  fixture_open(&f, NULL);
  calm_status status = fixture_read(&f, bytes, length);
  if (status != expected || strcmp(calm_context_message(f.context), message))
    fail_msg("status %d: %s\nexpected: %s", status,
             calm_context_message(f.context), message);
  fixture_close(&f);
}

static void malformed_texts_name_the_place(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
    expect_failure(malformed[i].source, strlen(malformed[i].source),
                   CALM_BAD_INPUT, malformed[i].message);
}

static void zero_bytes_and_versions(void **state) {
  (void)state;
  static const char zero[] = G "tensor \"a\0b\" 1\n", bare[] = G "tensor \0\n";
  expect_failure(zero, sizeof zero - 1, CALM_BAD_INPUT,
                 "t.cg:3:10: a name cannot hold a zero byte");
  expect_failure(bare, sizeof bare - 1, CALM_BAD_INPUT,
                 "t.cg:3:8: byte 0x00 cannot stand here; names with such "
                 "characters are written in double quotes");
  expect_failure("calm-graph 2\n", 13, CALM_UNSUPPORTED,
                 "t.cg:1:12: version '2' of the text form is not known; this "
                 "calm reads version 1");
}

/* ---- Memory -------------------------------------------------------------- */

typedef struct meagre {
  unsigned left; /* allocations until one fails */
  bool failed;
} meagre;

static void *allocate_meagrely(void *payload, void *old, size_t old_size,
                               size_t new_size) {
  meagre *m = payload;
  (void)old_size;
  if (new_size == 0) {
    free(old);
    return NULL;
  }
  if (m->left-- == 0) {
    m->failed = true;
    return NULL;
  }
  return realloc(old, new_size);
}

static const char rich[] =
    "calm-graph 1\ngraph main\n"
    "tensor a_long_name_of_a_tensor f32[1,2,3] input\n"
    "tensor \"quoted\\n\" u8[4]\ntensor z 1 output\ntensor v 1 variable\n"
    "op late conv2d ( \"quoted\\n\" v - ) -> ( z ) after ( early ) pad=same\n"
    "op early \"strange kind\" ( a_long_name_of_a_tensor - ) -> "
    "( \"quoted\\n\" ) workspace=1K body=other body=third\n"
    "graph other\nop r random_uniform ( ) -> ( )\n"
    "op s random_uniform ( ) -> ( )\n"
    "graph third\nop w while ( ) -> ( ) body=other\n";

/* Enough graphs, tensors and operators that every table grows. */
static char *long_text(calm_context *context) {
  text t;
  char *out;
  text_init(&t, context);
  text_format(&t, "%s", rich);
  for (int g = 0; g < 50; g++) text_format(&t, "graph g%d\n", g);
  text_format(&t, "graph large\n");
  for (int i = 0; i < 50; i++)
    text_format(&t,
                "tensor tensor_number_%d 9 input\n"
                "op operator_number_%d kind ( tensor_number_%d ) -> ( ) "
                "after ( operator_number_%d ) an_attribute=%d\n",
                i, i, i, i + 1, i);
  text_format(&t, "op operator_number_50 add ( ) -> ( )\n");
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  return out;
}

/* One try with the n-th allocation failing.  True once none failed. */
static bool survive(unsigned n, const char *source) {
  meagre m = {UINT32_MAX, false};
  const calm_allocator allocator = {allocate_meagrely, &m};
  fixture f;
  fixture_open(&f, &allocator);
  m.left = n;
  calm_status status = fixture_read(&f, source, strlen(source));
  assert_int_equal(status, m.failed ? CALM_NO_MEMORY : CALM_OK);
  if (m.failed)
    assert_string_equal(calm_context_message(f.context), "out of memory");
  bool done = !m.failed;
  fixture_close(&f);
  return done;
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  char *source = long_text(context);
  unsigned n = 0;
  while (!survive(n, source)) n++;
  assert_true(n > 60);
  calm_text_free(context, source);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* Naming a cycle allocates, too. */
static void a_cycle_without_memory(void **state) {
  (void)state;
  static const char source[] =
      G "op u u ( ) -> ( ) after ( v )\nop v v ( ) -> ( ) after ( u )\n";
  for (unsigned n = 0;; n++) {
    meagre m = {UINT32_MAX, false};
    const calm_allocator allocator = {allocate_meagrely, &m};
    fixture f;
    fixture_open(&f, &allocator);
    m.left = n;
    calm_status status = fixture_read(&f, source, strlen(source));
    assert_int_equal(status, m.failed ? CALM_NO_MEMORY : CALM_BAD_INPUT);
    fixture_close(&f);
    if (!m.failed) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_parts_are_read),
      cmocka_unit_test(an_unsorted_file_is_a_warning),
      cmocka_unit_test(graphs_are_appended),
      cmocka_unit_test(untouched_tensors_are_fine),
      cmocka_unit_test(state_comes_from_the_kind),
      cmocka_unit_test(texts_are_recognised),
      cmocka_unit_test(malformed_texts_name_the_place),
      cmocka_unit_test(zero_bytes_and_versions),
      cmocka_unit_test(every_failed_allocation_is_survived),
      cmocka_unit_test(a_cycle_without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
