/*
 * Where the cheap test says that no neighbour can hand anything on, a replay
 * with links finds what the closed form does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost/cost_stream.h"
#include "cost_check.h"
#include "cost_fixture.h"
#include "cost_random.h"

typedef struct tally {
  uint32_t ruled_out, linked, possible;
} tally;

static void compare(const cost_stream *a, const cost_stream *b) {
  assert_int_equal(a->fanout, b->fanout);
  assert_true(a->links == b->links);
  assert_true(cost_check_groups(a->groups, a->group_count, b->groups,
                                b->group_count, false));
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
  fixture *f = *state;
  const cost_random_options options = {.most_macs = 1 << 14, .valid = true};
  random_state random = random_from_seed(11);
  tally t = {0};
  for (uint32_t i = 0; i < 2000; i++) {
    cost_random_case c;
    cost_random_make(&c, &random, &options, &f->arena);
    check_case(&c, &t, &f->arena);
    arena_free(&f->arena);
  }
  print_message("fan-outs: %u ruled out, %u possible, %u linked\n", t.ruled_out,
                t.possible, t.linked);
  assert_true(t.ruled_out > 500 && t.linked > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(nothing_is_ruled_out_wrongly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
