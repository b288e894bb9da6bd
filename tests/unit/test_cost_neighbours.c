/*
 * Links between neighbours: where a mapping forbids them there are none, and
 * where the cheap test says that no neighbour can hand anything on, a
 * replay with links finds what the closed form does.
 */
#include "cost_case.h"

#include <stdio.h>

#include "cost/cost_stream.h"
#include "cost_random.h"

typedef struct tally {
  uint32_t ruled_out, linked, possible;
} tally;

static void compare(const cost_stream *a, const cost_stream *b) {
  assert_int_equal(a->group_count, b->group_count);
  assert_int_equal(a->fanout, b->fanout);
  assert_true(a->links == b->links);
  for (uint32_t i = 0; i < a->group_count; i++) {
    assert_int_equal(a->groups[i].multicast, b->groups[i].multicast);
    assert_int_equal(a->groups[i].scatter, b->groups[i].scatter);
    assert_true(a->groups[i].accesses == b->groups[i].accesses);
  }
}

static void check_stream(const cost_problem *p, const accel_nest *nest,
                         uint32_t tensor, uint32_t level, tally *t, arena *a) {
  enum { ROOM = 256 };
  cost_group rooms[2][ROOM];
  const cost_question question = {p, nest, tensor, level, COST_VISIT_TWO, true};
  cost_stream replayed = {.groups = rooms[0], .group_capacity = ROOM};
  cost_stream closed = {.groups = rooms[1], .group_capacity = ROOM};
  assert_int_equal(cost_replay(&replayed, NULL, &question, a), CALM_OK);
  cost_closed(&closed, &question);
  const bool possible = cost_stream_may_link(p->scratch, tensor, level);
  if (!possible) compare(&replayed, &closed);
  t->ruled_out += !possible && closed.fanout > 1;
  t->possible += possible;
  t->linked += replayed.links > 0;
}

static void check_case(const cost_random_case *c, tally *t, arena *a) {
  const cost_options options = {COST_TIMELOOP, COST_FANOUT_CUMULATIVE, true};
  cost_problem p;
  cost_verdict verdict;
  assert_int_equal(cost_problem_init(&p, &c->arch, &c->layer, &options, a),
                   CALM_OK);
  cost_judge(&verdict, &p, &c->nest);
  if (verdict.fault != COST_VALID || !p.scratch->frame.perfect) return;
  for (uint32_t level = 0; level < c->arch.level_count; level++)
    for (uint32_t i = 0; i < c->layer.tensor_count; i++)
      check_stream(&p, &c->nest, i, level, t, a);
}

static void nothing_is_ruled_out_wrongly(void **state) {
  (void)state;
  const cost_random_options options = {.most_macs = 1 << 14, .valid = true};
  calm_context *context = calm_context_new(NULL);
  assert_non_null(context);
  random_state random = random_from_seed(11);
  tally t = {0};
  for (uint32_t i = 0; i < 2000; i++) {
    arena a;
    arena_init(&a, context);
    cost_random_case c;
    cost_random_make(&c, &random, &options, &a);
    check_case(&c, &t, &a);
    arena_free(&a);
  }
  printf("fan-outs: %u ruled out, %u possible, %u linked\n", t.ruled_out,
         t.possible, t.linked);
  assert_true(t.ruled_out > 500 && t.linked > 50);
  assert_true(t.possible < 2 * t.linked);
  calm_context_free(context);
}

/* Each of four buffers needs at every R what its right neighbour had at the
   last: 4 + 1 + 1 words and 6 handed on, or 12 words; 8 times. */
static void neighbours_hand_on_unless_told_otherwise(void **state) {
  (void)state;
  static const char loops[] = "1xP4 1tR3 2tP2 2tK4";
  uint32_t unlinked[CASE_LEVELS] = {0, 1u << WEIGHTS, 0};
  cost_case c;
  case_open(&c, 1);
  case_run(&c, COST_TIMELOOP, loops);
  assert_close(case_flow(&c, 1, INPUTS)->links, 48.0);
  c.nest.unlinked = unlinked;
  assert_int_equal(cost_evaluate(&c.result, &c.problem, &c.nest), CALM_OK);
  assert_close(case_flow(&c, 1, INPUTS)->links, 48.0);
  assert_close(case_flow(&c, 1, INPUTS)->ingresses, 48.0);
  assert_int_equal(case_tensor(&c, 1, INPUTS)->reads, 48);
  assert_int_equal(case_tensor(&c, 0, INPUTS)->reads, 96 / 4 + 48 / 4);
  unlinked[1] |= 1u << INPUTS;
  assert_int_equal(cost_evaluate(&c.result, &c.problem, &c.nest), CALM_OK);
  assert_true(case_flow(&c, 1, INPUTS)->links == 0);
  assert_close(case_flow(&c, 1, INPUTS)->ingresses, 96.0);
  assert_int_equal(case_tensor(&c, 1, INPUTS)->reads, 96);
  assert_int_equal(case_tensor(&c, 0, INPUTS)->reads, 96 / 4);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(neighbours_hand_on_unless_told_otherwise),
      cmocka_unit_test(nothing_is_ruled_out_wrongly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
