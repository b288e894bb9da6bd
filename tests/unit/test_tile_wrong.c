/*
 * The judge against tilings written by hand.  `after` is text, too: an operator
 * NAME/... is made for the operator NAME; a slice, a pad and a concat are those
 * of tiles; constants that are not in `before` have the bytes that the
 * attributes of who reads them say.
 */
#include "graph_fixture.h"
#include "graph/graph_window.h"
#include "tile/tile.h"

#define HEAD "calm-graph 1\ngraph g\n"

static uint32_t tensor_named(const graph *g, const char *name, size_t length) {
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (strlen(g->tensors.data[t].name) == length &&
        !strncmp(g->tensors.data[t].name, name, length))
      return t;
  return CALM_NONE;
}

static uint32_t op_named(const graph *g, const char *name, size_t length) {
  for (op_id u = 0; u < g->ops.count; u++)
    if (strlen(g->ops.data[u].name) == length &&
        !strncmp(g->ops.data[u].name, name, length))
      return u;
  return CALM_NONE;
}

static void add_tensor(graph_edit *edit, const graph_tensor *t) {
  const tensor_id whole = tensor_named(edit->before, t->name, strlen(t->name));
  const tensor_id part =
      tensor_named(edit->before, t->name, strcspn(t->name, "/"));
  edit_tensor descent = {.from = whole, .contents = EDIT_SAME};
  tensor_id id;
  if (whole == CALM_NONE) descent = (edit_tensor){part, EDIT_MADE, 0, 0};
  if (part == CALM_NONE) descent = (edit_tensor){0, EDIT_NUMBERS, 0, 0};
  assert_int_equal(graph_edit_add_tensor(&id, edit, t, &descent), CALM_OK);
}

static void add_op(graph_edit *edit, const graph_op *op) {
  edit_op descent = {
      .from = op_named(edit->before, op->name, strcspn(op->name, "/")),
      .role = EDIT_WINDOW,
      .activation = true};
  op_id id;
  assert_int_not_equal(descent.from, CALM_NONE);
  if (!strchr(op->name, '/'))
    descent.role = EDIT_KEEP;
  else if (op->kind == OP_slice)
    descent.role = EDIT_CROP;
  else if (op->kind == OP_pad)
    descent.role = EDIT_PAD;
  else if (op->kind == OP_concat)
    descent.role = EDIT_JOIN;
  assert_int_equal(graph_edit_add_op(&id, edit, op, &descent), CALM_OK);
}

static void put_number(graph_edit *edit, tensor_id t, uint32_t i,
                       int64_t value) {
  uint8_t *bytes = (uint8_t *)edit->tensors.data[t].bytes;
  if (!bytes) bytes = arena_calloc(edit->after.arena, 32, 1);
  edit->tensors.data[t].bytes = bytes;
  bytes[4 * i] = (uint8_t)value;
}

static void fill_numbers(graph_edit *edit, const graph_op *op) {
  int64_t x[GRAPH_MAX_RANK], y[GRAPH_MAX_RANK];
  const bool crop = op->kind == OP_slice, pad = op->kind == OP_pad;
  if ((!crop && !pad) ||
      graph_op_numbers(x, op, crop ? "begin" : "before") != 4 ||
      graph_op_numbers(y, op, crop ? "size" : "after") != 4)
    return;
  for (uint32_t i = 0; i < 4; i++) {
    put_number(edit, op->inputs[1], crop ? i : 2 * i, x[i]);
    put_number(edit, op->inputs[crop ? 2 : 1], crop ? i : 2 * i + 1, y[i]);
  }
}

typedef struct hand_made {
  fixture before, after;
  graph_edit edit;
} hand_made;

static void open_hand_made(hand_made *h, const char *before,
                           const char *after) {
  char text[4096];
  fixture_open(&h->before, NULL);
  fixture_open(&h->after, NULL);
  snprintf(text, sizeof text, HEAD "%s", before);
  fixture_must_read(&h->before, text);
  snprintf(text, sizeof text, HEAD "%s", after);
  fixture_must_read(&h->after, text);
  const graph *g = &h->after.graphs.data[0];
  graph_edit_init(&h->edit, &h->before.graphs.data[0], &h->before.arena);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    add_tensor(&h->edit, &g->tensors.data[t]);
  for (op_id u = 0; u < g->ops.count; u++) add_op(&h->edit, &g->ops.data[u]);
  for (op_id u = 0; u < g->ops.count; u++)
    fill_numbers(&h->edit, &g->ops.data[u]);
  assert_int_equal(graph_edit_finish(&h->edit, "after"), CALM_OK);
}

static void close_hand_made(hand_made *h) {
  graph_edit_free(&h->edit);
  fixture_close(&h->after);
  fixture_close(&h->before);
}

/* `fault` NULL: it is right. */
static void expect(const char *before, const char *after, const char *fault) {
  hand_made h;
  open_hand_made(&h, before, after);
  const calm_status status = tile_check(&h.edit, h.before.context);
  const char *message = calm_context_message(h.before.context);
  if (!fault && status) fail_msg("%s", message);
  if (fault) {
    assert_int_equal(status, CALM_INTERNAL);
    assert_string_equal(message, fault);
  }
  close_hand_made(&h);
}

/* ---- A convolution of three rows ----------------------------------------- */

#define OUTER                    \
  "tensor x i8[1,8,4,1] input\n" \
  "tensor w i8[1,3,1,1] const\n" \
  "tensor v i8[1,3,1,1] const\n" \
  "tensor y i8[1,8,4,1] output\n"
#define CONV "op c conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n"
#define NUMBERS                                        \
  "tensor b1 i32[4] const\ntensor s1 i32[4] const\n"   \
  "tensor p1 i32[4,2] const\ntensor b2 i32[4] const\n" \
  "tensor s2 i32[4] const\ntensor p2 i32[4,2] const\n"
#define SLICE(n, begin, rows)                                            \
  "tensor x/s" n " i8[1," rows                                           \
  ",4,1]\n"                                                              \
  "op c/s" n " slice ( x b" n " s" n " ) -> ( x/s" n " ) begin=0," begin \
  ",0,0 size=1," rows ",4,1\n"
#define PAD(n, before, after, rows)                                      \
  "tensor x/p" n " i8[1," rows                                           \
  ",4,1]\n"                                                              \
  "op c/p" n " pad ( x/s" n " p" n " ) -> ( x/p" n " ) before=0," before \
  ",0,0 after=0," after ",0,0\n"
#define RUN(n, x, rows, rest) \
  "tensor y/" n " i8[1," rows \
  ",4,1]\n"                   \
  "op c/" n " conv2d ( x/" x n " w ) -> ( y/" n " ) stride=1,1 " rest "\n"
#define JOIN "op c/j concat ( y/1 y/2 ) -> ( y ) axis=1\n"
#define NOT_ALL \
  "tiles: operator 'c/j': it does not make all of a tensor of the old graph"

static void halo_and_padding_are_told_apart(void **state) {
  (void)state;
  expect(OUTER CONV,
         OUTER NUMBERS SLICE("1", "0", "5") PAD("1", "1", "0", "6")
             RUN("1", "p", "4", "pad=valid") SLICE("2", "3", "5")
                 PAD("2", "0", "1", "6") RUN("2", "p", "4", "pad=valid") JOIN,
         NULL);
  expect(OUTER CONV,
         OUTER NUMBERS SLICE("1", "0", "4") PAD("1", "1", "1", "6")
             RUN("1", "p", "4", "pad=valid") SLICE("2", "3", "5")
                 PAD("2", "0", "1", "6") RUN("2", "p", "4", "pad=valid") JOIN,
         NOT_ALL);
  expect(OUTER CONV,
         OUTER NUMBERS SLICE("1", "0", "4") RUN("1", "s", "4", "pad=same")
             SLICE("2", "4", "4") RUN("2", "s", "4", "pad=same") JOIN,
         NOT_ALL);
  expect(OUTER CONV,
         OUTER NUMBERS SLICE("1", "0", "5") PAD("1", "1", "0", "6")
             RUN("1", "p", "4", "pad=valid") SLICE("2", "2", "5")
                 PAD("2", "0", "1", "6") RUN("2", "p", "4", "pad=valid") JOIN,
         NOT_ALL);
}

static void garbage_must_be_cut_off(void **state) {
  (void)state;
#define CUT(begin1, begin2)                                 \
  "tensor b3 i32[4] const\ntensor s3 i32[4] const\n"        \
  "tensor b4 i32[4] const\ntensor s4 i32[4] const\n"        \
  "tensor y/t1 i8[1,4,4,1]\ntensor y/t2 i8[1,4,4,1]\n"      \
  "op c/t1 slice ( y/1 b3 s3 ) -> ( y/t1 ) begin=0," begin1 \
  ",0,0 size=1,4,4,1\n"                                     \
  "op c/t2 slice ( y/2 b4 s4 ) -> ( y/t2 ) begin=0," begin2 \
  ",0,0 size=1,4,4,1\n"                                     \
  "op c/j concat ( y/t1 y/t2 ) -> ( y ) axis=1\n"
#define STRIPS                                                      \
  OUTER NUMBERS SLICE("1", "0", "5") RUN("1", "s", "5", "pad=same") \
      SLICE("2", "3", "5") RUN("2", "s", "5", "pad=same")
  expect(OUTER CONV, STRIPS CUT("0", "1"), NULL);
  expect(OUTER CONV, STRIPS CUT("1", "1"), NOT_ALL);
  expect(OUTER CONV, STRIPS CUT("0", "0"), NOT_ALL);
}

static void order_axis_and_size_of_a_join(void **state) {
  (void)state;
  const char *strips =
      OUTER NUMBERS SLICE("1", "0", "5") PAD("1", "1", "0", "6")
          RUN("1", "p", "4", "pad=valid") SLICE("2", "3", "5")
              PAD("2", "0", "1", "6") RUN("2", "p", "4", "pad=valid");
  char text[2048];
  snprintf(text, sizeof text, "%sop c/j concat ( y/2 y/1 ) -> ( y ) axis=1\n",
           strips);
  expect(OUTER CONV, text, NOT_ALL);
  snprintf(text, sizeof text, "%sop c/j concat ( y/1 y/2 ) -> ( y ) axis=2\n",
           strips);
  expect(OUTER CONV, text,
         "tiles: operator 'c/j': its parts do not lie beside each other");
  snprintf(text, sizeof text, "%sop c/j concat ( y/1 y/2 ) -> ( y ) axis=3\n",
           strips);
  expect(OUTER CONV, text,
         "tiles: operator 'c/j': it joins neither rows nor columns");
  snprintf(text, sizeof text, "%sop c/j concat ( y/1 ) -> ( y ) axis=1\n",
           strips);
  expect(OUTER CONV, text,
         "tiles: operator 'c/j': what it makes has another size");
  snprintf(text, sizeof text, "%sop c/j concat ( y/1 x/s2 ) -> ( y ) axis=1\n",
           strips);
  expect(OUTER CONV, text,
         "tiles: operator 'c/j': it joins parts of several tensors");
}

static void kernels_stay_what_they_are(void **state) {
  (void)state;
#define ONE(kind, operands, rest) \
  OUTER "op c/1 " kind " ( " operands " ) -> ( y ) stride=" rest "\n"
  expect(OUTER CONV, ONE("conv2d", "x w", "1,1 pad=same"), NULL);
  expect(OUTER CONV, ONE("conv2d", "x v", "1,1 pad=same"),
         "tiles: operator 'c/1': it reads something else than the one it is "
         "made for");
  expect(OUTER CONV, ONE("conv2d", "x w", "1,1 pad=same activation=relu"),
         "tiles: operator 'c/1': it is another operator than the one it is "
         "made for");
  expect(OUTER CONV, ONE("depthwise_conv2d", "x w", "1,1 pad=same"),
         "tiles: operator 'c/1': it is another operator than the one it is "
         "made for");
  expect(OUTER CONV, ONE("conv2d", "x w", "1,1 pad=same dilation=2,1"),
         "tiles: operator 'c/1': its window is another one");
}

/* ---- Poolings ------------------------------------------------------------ */

#define POOL_OUTER "tensor x i8[1,6,4,1] input\ntensor y i8[1,3,4,1] output\n"
#define POOL(kind) \
  "op c " kind " ( x ) -> ( y ) filter=3,1 stride=2,1 pad=same\n"
#define POOL_RUN(kind, n, x, rows, word)        \
  "tensor y/" n " i8[1," rows                   \
  ",4,1]\n"                                     \
  "op c/" n " " kind " ( x/" x n " ) -> ( y/" n \
  " ) filter=3,1 stride=2,1 pad=" word "\n"

/* Six rows, windows of three in steps of two: one row of padding behind. */
static void poolings_see_padding(void **state) {
  (void)state;
#define POOLS(kind)                                                      \
  expect(POOL_OUTER POOL(kind),                                          \
         POOL_OUTER NUMBERS SLICE("1", "0", "5")                         \
             POOL_RUN(kind, "1", "s", "2", "valid") SLICE("2", "4", "2") \
                 POOL_RUN(kind, "2", "s", "1", "same") JOIN,             \
         NULL);                                                          \
  expect(POOL_OUTER POOL(kind),                                          \
         POOL_OUTER NUMBERS SLICE("1", "0", "5")                         \
             POOL_RUN(kind, "1", "s", "2", "valid") SLICE("2", "4", "2") \
                 PAD("2", "0", "1", "3")                                 \
                     POOL_RUN(kind, "2", "p", "1", "valid") JOIN,        \
         NOT_ALL);                                                       \
  expect(POOL_OUTER POOL(kind),                                          \
         POOL_OUTER NUMBERS SLICE("1", "0", "4")                         \
             POOL_RUN(kind, "1", "s", "2", "same") SLICE("2", "4", "2")  \
                 POOL_RUN(kind, "2", "s", "1", "same") JOIN,             \
         NOT_ALL)
  POOLS("max_pool2d");
  POOLS("average_pool2d");
}

/* The same of a convolution, whose padding is zeros. */
static void convolutions_do_not_see_padding(void **state) {
  (void)state;
  expect(POOL_OUTER "tensor w i8[1,3,1,1] const\n"
                    "op c conv2d ( x w ) -> ( y ) stride=2,1 pad=same\n",
         POOL_OUTER "tensor w i8[1,3,1,1] const\n" NUMBERS
             SLICE("1", "0", "5") "tensor y/1 i8[1,2,4,1]\n"
             "op c/1 conv2d ( x/s1 w ) -> ( y/1 ) stride=2,1 pad=valid\n"
             SLICE("2", "4", "2") PAD("2", "0", "1", "3")
             "tensor y/2 i8[1,1,4,1]\n"
             "op c/2 conv2d ( x/p2 w ) -> ( y/2 ) stride=2,1 pad=valid\n" JOIN,
         NULL);
}

/* Five rows from the second on, under SAME: another phase. */
static void phases_are_seen(void **state) {
  (void)state;
  expect(POOL_OUTER
         "tensor w i8[1,3,1,1] const\n"
         "op c conv2d ( x w ) -> ( y ) stride=2,1 pad=same\n",
         POOL_OUTER
         "tensor w i8[1,3,1,1] const\n"
         "tensor b1 i32[4] const\ntensor s1 i32[4] const\n" SLICE(
             "1", "1",
             "5") "op c/1 conv2d ( x/s1 w ) -> ( y ) stride=2,1 pad=same\n",
         "tiles: operator 'c/1': it does not make all of a tensor of the old "
         "graph");
}

/* ---- Two ways ------------------------------------------------------------ */

static void sums_are_of_the_same_rows(void **state) {
  (void)state;
#define TWO                                            \
  "tensor x i8[1,8,4,1] input\ntensor m i8[1,8,4,1]\n" \
  "tensor y i8[1,8,4,1] output\n"
#define SUM(begin) \
  "tensor x i8[1,8,4,1] input\ntensor y i8[1,8,4,1] output\n" NUMBERS        \
  SLICE("1", "0", "4") SLICE("2", begin, "4")                                \
  "tensor m/1 i8[1,4,4,1]\ntensor y/1 i8[1,4,4,1]\n"                         \
  "tensor m/2 i8[1,4,4,1]\ntensor y/2 i8[1,4,4,1]\n"                         \
  "tensor b3 i32[4] const\ntensor s3 i32[4] const\ntensor x/s3 i8[1,4,4,1]\n" \
  "op c/s3 slice ( x b3 s3 ) -> ( x/s3 ) begin=0,4,0,0 size=1,4,4,1\n"       \
  "op r/1 relu ( x/s1 ) -> ( m/1 )\n"                                        \
  "op c/1 add ( x/s1 m/1 ) -> ( y/1 )\n"                                     \
  "op r/2 relu ( x/s2 ) -> ( m/2 )\n"                                        \
  "op c/2 add ( x/s3 m/2 ) -> ( y/2 )\n" JOIN
  const char *before =
      TWO "op r relu ( x ) -> ( m )\nop c add ( x m ) -> ( y )\n";
  expect(before, SUM("4"), NULL);
  expect(before, SUM("3"), NOT_ALL);
}

/* ---- What runtimes read -------------------------------------------------- */

static void constants_say_what_attributes_say(void **state) {
  (void)state;
  const char *after = OUTER NUMBERS SLICE("1", "0", "5") PAD("1", "1", "0", "6")
      RUN("1", "p", "4", "pad=valid") SLICE("2", "3", "5")
          PAD("2", "0", "1", "6") RUN("2", "p", "4", "pad=valid") JOIN;
  static const char *const constants[] = {"b1", "s1", "p1", "b2", "s2", "p2"};
  for (size_t i = 0; i < 6; i++)
    for (uint32_t byte = 0; byte < 16; byte++) {
      hand_made h;
      open_hand_made(&h, OUTER CONV, after);
      const tensor_id t = tensor_named(&h.edit.after, constants[i], 2);
      ((uint8_t *)h.edit.tensors.data[t].bytes)[byte]++;
      assert_int_equal(tile_check(&h.edit, h.before.context), CALM_INTERNAL);
      const char *message = calm_context_message(h.before.context);
      assert_non_null(strstr(message, "its constants say something else than"));
      close_hand_made(&h);
    }
}

static void kept_operators_are_kept(void **state) {
  (void)state;
  expect(OUTER CONV, OUTER CONV, NULL);
  expect(OUTER CONV,
         OUTER
         "op c conv2d ( x w ) -> ( y ) stride=1,1 pad=same "
         "activation=relu\n",
         "tiles: operator 'c': it is kept, and is another operator");
  expect(OUTER CONV, OUTER "op c conv2d ( x v ) -> ( y ) stride=1,1 pad=same\n",
         "tiles: operator 'c': it is kept, and reads something else");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halo_and_padding_are_told_apart),
      cmocka_unit_test(garbage_must_be_cut_off),
      cmocka_unit_test(order_axis_and_size_of_a_join),
      cmocka_unit_test(kernels_stay_what_they_are),
      cmocka_unit_test(poolings_see_padding),
      cmocka_unit_test(convolutions_do_not_see_padding),
      cmocka_unit_test(phases_are_seen),
      cmocka_unit_test(sums_are_of_the_same_rows),
      cmocka_unit_test(constants_say_what_attributes_say),
      cmocka_unit_test(kept_operators_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
