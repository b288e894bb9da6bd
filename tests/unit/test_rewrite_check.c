#include "rewrite_parted.h"

/* ---- Edits that are right ------------------------------------------------ */

typedef struct subject {
  fixture f;
  graph g;
  graph_edit abstract, concrete;
  bool chained;
} subject;

static void part_subject(subject *s, random_state *r) {
  bool parted[2 * NET_OPS];
  for (op_id u = 0; u < s->g.ops.count; u++)
    parted[u] = parted_site(&s->g, u) && random_below(r, 4);
  part_edit(&s->abstract, &s->g, parted, (rewrite_partials)random_below(r, 3),
            &s->f.arena);
}

static void chain_subject(subject *s, random_state *r) {
  op_id *sequence = calloc(s->abstract.after.ops.count + 1, sizeof *sequence);
  assert_non_null(sequence);
  random_sequence(sequence, &s->abstract.after, r);
  if (rewrite_chain(&s->concrete, &s->abstract, sequence,
                    s->g.channels_first && random_below(r, 2), &s->f.arena))
    fail_msg("%s", calm_context_message(s->f.context));
  s->chained = true;
  free(sequence);
}

static void open_subject(subject *s, uint64_t seed) {
  random_state r = random_from_seed(seed);
  memset(s, 0, sizeof *s);
  fixture_open(&s->f, NULL);
  const net_options options = {random_below(&r, 4) == 0, random_below(&r, 2),
                               NET_OPS};
  random_net(&s->g, &s->f.arena, &r, options);
  part_subject(s, &r);
  chain_subject(s, &r);
}

static void close_subject(subject *s) {
  graph_edit_free(&s->concrete);
  graph_edit_free(&s->abstract);
  graph_free(&s->g);
  fixture_close(&s->f);
}

static void is_right(const graph_edit *edit, calm_context *context,
                     uint64_t seed) {
  if (rewrite_check(edit, context))
    fail_msg("seed %u: %s", (unsigned)seed, calm_context_message(context));
}

static void right_edits_pass(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    subject s;
    open_subject(&s, seed);
    is_right(&s.abstract, s.f.context, seed);
    is_right(&s.concrete, s.f.context, seed);
    close_subject(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_edits_pass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
