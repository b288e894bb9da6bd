/*
 * Where the cheap test says that no neighbour can hand anything on, a replay
 * with links finds what the closed form does.
 */
#include "cost_case.h"
#include "cost_check.h"
#include "cost_closed_stream.h"
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

static void check_stream(const cost_question *q, tally *t, arena *a) {
  enum { ROOM = 256 };
  cost_group room[ROOM];
  cost_stream replayed = {.groups = NULL};
  assert_int_equal(cost_replay(&replayed, NULL, q, a), CALM_OK);
  const cost_stream closed = cost_closed_stream(q, room, ROOM);
  const bool possible =
      cost_stream_may_link(q->problem->scratch, q->tensor, q->level);
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
  cost_question q = {
      .problem = &p, .nest = &c->nest, .visits = COST_VISIT_TWO, .links = true};
  for (q.level = 0; q.level < c->arch.level_count; q.level++)
    for (q.tensor = 0; q.tensor < c->layer.tensor_count; q.tensor++)
      check_stream(&q, t, a);
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
  assert_true(t.possible < 2 * t.linked);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(nothing_is_ruled_out_wrongly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
