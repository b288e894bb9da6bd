/* Plans as traces: what viewers rely on, and what the plan says. */
#include "planned.h"

static bool has_phase(json_t *event, const char *phase) {
  return !strcmp(string_at(event, "ph"), phase);
}

static json_t *events_of(json_t *root) { return json_at(root, "traceEvents"); }

/* The event `name` of a phase, from event number *from on. */
static json_t *next_event(json_t *root, size_t *from, const char *phase,
                          const char *name) {
  for (; *from < json_array_size(events_of(root)); ++*from) {
    json_t *event = json_array_get(events_of(root), *from);
    if (has_phase(event, phase) && !strcmp(string_at(event, "name"), name)) {
      ++*from;
      return event;
    }
  }
  fail_msg("no more events '%s' of phase %s", name, phase);
  return NULL;
}

static json_t *event_of(json_t *root, const char *phase, const char *name) {
  size_t from = 0;
  return next_event(root, &from, phase, name);
}

/* One slice per step and one per buffer; "odd\xff" is spelled as in JSON. */
static void slices_are_operators_and_buffers(void **state) {
  const fixture *f = *state;
  char *out;
  assert_int_equal(calm_plan_render(&out, &f->plan, CALM_FORMAT_TRACE, false),
                   CALM_OK);
  json_t *root = parse_json(out);
  json_t *split = event_of(root, "X", "split");
  assert_int_equal(integer_at(split, "ts"), 0);
  assert_int_equal(integer_at(split, "dur"), 1);
  assert_int_equal(integer_at(split, "tid"), 1);
  assert_int_equal(integer_at(split, "args.alive_bytes"), 64);
  json_t *odd = event_of(root, "X", "odd\\xff");
  assert_string_equal(string_at(odd, "cat"), "tensor");
  assert_int_equal(integer_at(odd, "ts"), 1);
  assert_int_equal(integer_at(odd, "dur"), 2);
  assert_int_equal(integer_at(odd, "args.offset"), 0);
  assert_int_equal(integer_at(odd, "args.bytes"), 16);
  json_t *x = event_of(root, "X", "x");
  assert_int_equal(integer_at(x, "tid"), integer_at(odd, "tid"));
  size_t from = 0;
  assert_int_equal(integer_at(next_event(root, &from, "X", "copy"), "tid"), 1);
  json_t *scratch = next_event(root, &from, "X", "copy");
  assert_string_equal(string_at(scratch, "cat"), "scratch");
  assert_int_equal(integer_at(scratch, "args.offset"), 16);
  json_decref(root);
  calm_text_free(f->context, out);
}

/* x 0..32, a 32..48, b 48..64; then odd 0..16, copy 16..32, a, b; then odd, y,
   a. */
static void counters_follow_the_steps(void **state) {
  const fixture *f = *state;
  char *out;
  const json_int_t alive[] = {64, 64, 48, 0}, reach[] = {64, 64, 48, 0};
  assert_int_equal(calm_plan_render(&out, &f->plan, CALM_FORMAT_TRACE, false),
                   CALM_OK);
  json_t *root = parse_json(out);
  size_t from_alive = 0, from_reach = 0;
  for (int step = 0; step < 4; step++) {
    json_t *a = next_event(root, &from_alive, "C", "bytes alive");
    json_t *b = next_event(root, &from_reach, "C", "arena in use");
    assert_int_equal(integer_at(a, "ts"), step);
    assert_int_equal(integer_at(b, "ts"), step);
    assert_int_equal(integer_at(a, "args.bytes"), alive[step]);
    assert_int_equal(integer_at(b, "args.bytes"), reach[step]);
  }
  assert_string_equal(string_at(root, "otherData.time_unit"),
                      "1 step of the order is 1 microsecond");
  assert_string_equal(string_at(root, "otherData.model"), "sample.cg");
  json_decref(root);
  calm_text_free(f->context, out);
}

/* Slices of one track must not cross: each pair is apart. */
static void assert_tracks_hold(json_t *root) {
  json_t *events = events_of(root), *a, *b;
  size_t i, j;
  json_array_foreach(events, i, a) {
    json_array_foreach(events, j, b) {
      if (i >= j || !has_phase(a, "X") || !has_phase(b, "X") ||
          integer_at(a, "tid") != integer_at(b, "tid"))
        continue;
      const json_int_t a_end = integer_at(a, "ts") + integer_at(a, "dur");
      const json_int_t b_end = integer_at(b, "ts") + integer_at(b, "dur");
      assert_true(a_end <= integer_at(b, "ts") || b_end <= integer_at(a, "ts"));
    }
  }
}

/* a, b and c take each other's place, so that two of them share each step. */
static void in_place_slices_do_not_cross(void **state) {
  planned p;
  const char *const options[] = {"inplace", "relu", NULL};
  (void)state;
  planned_open(&p,
               "calm-graph 1\n"
               "graph g\n"
               "tensor x i8[4] input\n"
               "tensor a i8[4]\n"
               "tensor b i8[4]\n"
               "tensor y i8[4] output\n"
               "op one relu ( x ) -> ( a )\n"
               "op two relu ( a ) -> ( b )\n"
               "op three relu ( b ) -> ( y )\n",
               "net.cg", options);
  assert_int_equal(calm_plan_summary_of(p.plan)->arena_bytes, 4);
  json_t *root = planned_json(&p, CALM_FORMAT_TRACE);
  assert_tracks_hold(root);
  json_t *a = event_of(root, "X", "a"), *b = event_of(root, "X", "b");
  assert_int_equal(integer_at(a, "args.offset"), integer_at(b, "args.offset"));
  assert_true(integer_at(a, "tid") != integer_at(b, "tid"));
  json_decref(root);
  planned_close(&p);
}

static void what_is_not_shown_is_listed(void **state) {
  planned p;
  (void)state;
  planned_open(&p, planned_two_graphs, "two.cg", planned_for_tflm);
  json_t *root = planned_json(&p, CALM_FORMAT_TRACE);
  assert_tracks_hold(root);
  assert_string_equal(string_at(root, "otherData.not_shown.0.name"), "state");
  assert_string_equal(string_at(root, "otherData.not_shown.1.name"), "nothing");
  assert_string_equal(string_at(root, "otherData.not_shown.1.why"),
                      "needs no bytes");
  assert_int_equal(json_array_size(json_at(root, "otherData.not_shown")), 2);
  assert_string_equal(string_at(root, "otherData.graphs"),
                      "the first one; the others run within its operators");
  json_decref(root);
  planned_close(&p);
}

static void a_graph_of_nothing_is_a_trace(void **state) {
  planned p;
  (void)state;
  planned_open(&p, "calm-graph 1\ngraph g\n", "none.cg", NULL);
  json_t *root = planned_json(&p, CALM_FORMAT_TRACE);
  assert_int_equal(json_array_size(events_of(root)), 3);
  json_decref(root);
  planned_close(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(slices_are_operators_and_buffers),
      TEST(counters_follow_the_steps),
      cmocka_unit_test(in_place_slices_do_not_cross),
      cmocka_unit_test(what_is_not_shown_is_listed),
      cmocka_unit_test(a_graph_of_nothing_is_a_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
