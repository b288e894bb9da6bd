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

static void print_graph(const graph *g, calm_context *context) {
  text t;
  char *out;
  text_init(&t, context);
  graph_text_write(&t, g, 1);
  if (text_finish(&t, &out)) return;
  fprintf(stderr, "%s\n", out);
  calm_text_free(context, out);
}

static void is_right(const graph_edit *edit, calm_context *context,
                     uint64_t seed) {
  if (!rewrite_check(edit, context)) return;
  print_graph(edit->before, context);
  print_graph(&edit->after, context);
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

/* ---- Edits that the rules make ------------------------------------------- */

static rewrite_options random_options(random_state *r, bool abstract) {
  rewrite_options options = {.partials = (rewrite_partials)random_below(r, 3),
                             .abstract = abstract || random_below(r, 3) == 0,
                             .accumulator_factor = 1};
  for (uint32_t i = 0; i < REWRITE_RULES; i++)
    options.rules[i] = random_below(r, 5) > 0;
  return options;
}

static void apply_random(subject *s, random_state *r, uint64_t seed) {
  const net_options net = {random_below(r, 4) == 0, random_below(r, 2),
                           NET_OPS};
  rewrite_sites sites;
  random_net(&s->g, &s->f.arena, r, net);
  const rewrite_options options = random_options(r, net.abstract);
  assert_int_equal(rewrite_find_sites(&sites, &s->g, &options, &s->f.arena),
                   CALM_OK);
  bool *taken = arena_calloc(&s->f.arena, sites.count, sizeof *taken);
  const bool all = random_below(r, 3) == 0;
  for (uint32_t i = 0; i < sites.count; i++)
    taken[i] = !sites.sites[i].refusal && (all || random_below(r, 2));
  if (rewrite_apply(&s->abstract, &sites, taken, &s->f.arena))
    fail_msg("seed %u: %s", (unsigned)seed, calm_context_message(s->f.context));
}

static void rules_make_right_edits(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    subject s = {.chained = false};
    random_state r = random_from_seed(seed);
    fixture_open(&s.f, NULL);
    apply_random(&s, &r, seed);
    is_right(&s.abstract, s.f.context, seed);
    chain_subject(&s, &r);
    is_right(&s.concrete, s.f.context, seed);
    close_subject(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_edits_pass),
      cmocka_unit_test(rules_make_right_edits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
