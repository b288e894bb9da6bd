#include "rewrite_parted.h"
#include "scarce.h"
#include "rewrite_run.h"
#include "rewrite_mutation.h"

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
  for (uint64_t seed = 0; seed < 300; seed++) {
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

static rewrite_options wide_options(random_state *r) {
  rewrite_options options = random_options(r, true);
  options.accumulator_factor = random_below(r, 2) ? 2 : 4;
  options.rules[REWRITE_sums] = false;
  return options;
}

static void apply_sites(subject *s, random_state *r, rewrite_options options,
                        uint64_t seed) {
  rewrite_sites sites;
  assert_int_equal(rewrite_find_sites(&sites, &s->g, &options, &s->f.arena),
                   CALM_OK);
  bool *taken = arena_calloc(&s->f.arena, sites.count, sizeof *taken);
  const bool all = random_below(r, 3) == 0;
  for (uint32_t i = 0; i < sites.count; i++)
    taken[i] = !sites.sites[i].refusal && (all || random_below(r, 2));
  if (rewrite_apply(&s->abstract, &sites, taken, &s->f.arena))
    fail_msg("seed %u: %s", (unsigned)seed, calm_context_message(s->f.context));
}

static void apply_random(subject *s, random_state *r, uint64_t seed) {
  const net_options net = {random_below(r, 4) == 0, random_below(r, 2),
                           NET_OPS};
  random_net(&s->g, &s->f.arena, r, net);
  apply_sites(s, r, random_options(r, net.abstract), seed);
}

static bool is_computed(const graph_edit *edit) {
  for (tensor_id t = 0; t < edit->tensors.count; t++)
    if (edit->tensors.data[t].contents == EDIT_GIVEN) return true;
  return false;
}

/* Before and after yield the same numbers; folded constants were rounded. */
static void runs_alike(subject *s, graph_edit *edit, uint64_t seed) {
  run_source source = {&s->g, &s->f.arena};
  net_run before, after;
  if (rewrite_fill(edit, run_read, &source, &s->f.arena))
    fail_msg("seed %u: %s", (unsigned)seed, calm_context_message(s->f.context));
  assert_true(run_net(&before, &s->g, NULL, false));
  if (!run_net(&after, &edit->after, edit, false)) {
    print_graph(&edit->after, s->f.context);
    fail_msg("seed %u: the rewritten graph cannot be run", (unsigned)seed);
  }
  const double distance = run_distance(&before, &after);
  if (distance > (is_computed(edit) ? 1e-4 : 1e-9)) {
    print_graph(&s->g, s->f.context);
    print_graph(&edit->after, s->f.context);
    fail_msg("seed %u: differs by %g", (unsigned)seed, distance);
  }
  run_free(&before);
  run_free(&after);
}

/* Wide sums are for paper: they can be judged, but not chained. */
static void wide_sums_are_abstract(void **state) {
  (void)state;
  uint32_t wide = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    subject s = {.chained = false};
    random_state r = random_from_seed(seed);
    fixture_open(&s.f, NULL);
    random_net(&s.g, &s.f.arena, &r, (net_options){true, false, NET_OPS});
    apply_sites(&s, &r, wide_options(&r), seed);
    is_right(&s.abstract, s.f.context, seed);
    bool sums = false;
    for (op_id u = 0; u < s.abstract.ops.count; u++)
      sums = sums || s.abstract.ops.data[u].role == EDIT_SUM;
    op_id *sequence = s.abstract.after.order;
    const calm_status status =
        rewrite_chain(&s.concrete, &s.abstract, sequence, false, &s.f.arena);
    assert_int_equal(status, sums ? CALM_UNSUPPORTED : CALM_OK);
    wide += sums;
    if (status == CALM_OK) graph_edit_free(&s.concrete);
    graph_edit_free(&s.abstract);
    graph_free(&s.g);
    fixture_close(&s.f);
  }
  assert_true(wide > 50);
}

static void rules_make_right_edits(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 800; seed++) {
    subject s = {.chained = false};
    random_state r = random_from_seed(seed);
    fixture_open(&s.f, NULL);
    apply_random(&s, &r, seed);
    is_right(&s.abstract, s.f.context, seed);
    chain_subject(&s, &r);
    is_right(&s.concrete, s.f.context, seed);
    if (s.g.tensors.data[0].type != ELEMENT_ABSTRACT) {
      runs_alike(&s, &s.abstract, seed);
      runs_alike(&s, &s.concrete, seed);
    }
    close_subject(&s);
  }
}

/* ---- Edits that are broken ----------------------------------------------- */

typedef struct tally {
  uint32_t refused, harmless, kinds[MUTATIONS];
} tally;

/* Does it still yield the same numbers? */
static bool still_right(subject *s, graph_edit *edit, const net_run *before) {
  run_source source = {&s->g, &s->f.arena};
  net_run after;
  if (rewrite_fill(edit, run_read, &source, &s->f.arena)) return false;
  const bool same = run_net(&after, &edit->after, edit, false) &&
                    run_distance(before, &after) <= 1e-4;
  run_free(&after);
  return same;
}

/* Whoever is let pass must be right. */
static void judge_mutant(subject *s, graph_edit *edit, const net_run *before,
                         uint32_t kind, tally *count, uint64_t seed) {
  if (graph_finish(&edit->after, "mutant")) return;
  if (rewrite_check(edit, s->f.context)) {
    count->refused++;
    count->kinds[kind]++;
    return;
  }
  count->harmless++;
  if (still_right(s, edit, before)) return;
  print_graph(&s->g, s->f.context);
  print_graph(&edit->after, s->f.context);
  fail_msg("seed %u: mutation %u passed", (unsigned)seed, (unsigned)kind);
}

static void mutate(subject *s, graph_edit *edit, random_state *r, tally *count,
                   uint64_t seed) {
  run_source source = {&s->g, &s->f.arena};
  net_run before;
  mutation m;
  assert_int_equal(rewrite_fill(edit, run_read, &source, &s->f.arena), CALM_OK);
  assert_true(run_net(&before, &s->g, NULL, false));
  mutation_open(&m, edit, r);
  for (uint32_t i = 0; i < 40; i++) {
    const uint32_t kind = random_below(r, MUTATIONS);
    mutation_own(&edit->after);
    if (mutations[kind](&m)) judge_mutant(s, edit, &before, kind, count, seed);
    mutation_undo(&m);
  }
  is_right(edit, s->f.context, seed);
  run_free(&before);
}

static void broken_edits_are_refused(void **state) {
  (void)state;
  tally count = {0};
  for (uint64_t seed = 0; seed < 150; seed++) {
    subject s = {.chained = false};
    random_state r = random_from_seed(seed);
    fixture_open(&s.f, NULL);
    apply_random(&s, &r, seed);
    chain_subject(&s, &r);
    if (s.g.tensors.data[0].type != ELEMENT_ABSTRACT && s.g.ops.count > 0) {
      mutate(&s, &s.abstract, &r, &count, seed);
      mutate(&s, &s.concrete, &r, &count, seed);
    }
    close_subject(&s);
  }
  for (uint32_t i = 0; i < MUTATIONS; i++) assert_true(count.kinds[i] > 20);
  assert_true(count.refused > 10 * count.harmless);
}

/* ---- What numbers do not show -------------------------------------------- */

static bool lose_output(graph *g, random_state *r) {
  graph_tensor *t = &g->tensors.data[random_below(r, g->tensors.count)];
  if (!(t->flags & CALM_TENSOR_OUTPUT)) return false;
  t->flags &= ~(unsigned)CALM_TENSOR_OUTPUT;
  return true;
}

static bool lose_name(graph *g, random_state *r) {
  graph_tensor *t = &g->tensors.data[random_below(r, g->tensors.count)];
  if (!(t->flags & (CALM_TENSOR_OUTPUT | CALM_TENSOR_INPUT))) return false;
  t->name = "another";
  return true;
}

static bool lose_wait(graph *g, random_state *r) {
  graph_op *op = &g->ops.data[random_below(r, g->ops.count)];
  if (!op->after_count) return false;
  op->after_count = 0;
  return true;
}

static bool gain_type(graph *g, random_state *r) {
  graph_tensor *t = &g->tensors.data[random_below(r, g->tensors.count)];
  if (t->type == ELEMENT_ABSTRACT || t->flags & CALM_TENSOR_CONST) return false;
  t->type = ELEMENT_i32;
  return true;
}

static bool gain_quantization(graph *g, random_state *r) {
  graph_tensor *t = &g->tensors.data[random_below(r, g->tensors.count)];
  if (t->flags & CALM_TENSOR_CONST) return false;
  t->quantization++;
  return true;
}

static void blemish(subject *s, graph_edit *edit, random_state *r,
                    uint32_t *counts) {
  static bool (*const ways[])(graph *, random_state *) = {
      lose_output, lose_name, lose_wait, gain_type, gain_quantization};
  mutation m;
  mutation_open(&m, edit, r);
  for (uint32_t i = 0; i < 40; i++) {
    const uint32_t kind = random_below(r, 5);
    if (ways[kind](&edit->after, r)) {
      assert_int_equal(graph_finish(&edit->after, "mutant"), CALM_OK);
      assert_int_equal(rewrite_check(edit, s->f.context), CALM_INTERNAL);
      counts[kind]++;
    }
    mutation_undo(&m);
  }
}

static void blemishes_are_refused(void **state) {
  (void)state;
  uint32_t counts[5] = {0};
  for (uint64_t seed = 0; seed < 80; seed++) {
    subject s = {.chained = false};
    random_state r = random_from_seed(seed);
    fixture_open(&s.f, NULL);
    apply_random(&s, &r, seed);
    chain_subject(&s, &r);
    if (s.g.ops.count > 0) {
      blemish(&s, &s.abstract, &r, counts);
      blemish(&s, &s.concrete, &r, counts);
    }
    close_subject(&s);
  }
  for (uint32_t i = 0; i < 5; i++) assert_true(counts[i] > 20);
}

/* ---- Without memory ------------------------------------------------------ */

/* Each allocation in turn fails; nothing is left behind. */
static void memory_may_run_out(void **state) {
  (void)state;
  subject s = {.chained = false};
  random_state r = random_from_seed(5);
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_status status = CALM_NO_MEMORY;
  fixture_open(&s.f, &allocator);
  random_net(&s.g, &s.f.arena, &r, (net_options){false, true, NET_OPS});
  apply_sites(&s, &r, random_options(&r, true), 5);
  for (uint64_t grant = 0; status; grant++) {
    left = grant;
    status = rewrite_chain(&s.concrete, &s.abstract, s.abstract.after.order,
                           true, &s.f.arena);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
  }
  status = CALM_NO_MEMORY;
  for (uint64_t grant = 0; status; grant++) {
    left = grant;
    status = rewrite_check(&s.concrete, s.f.context);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
  }
  left = SCARCE_NEVER;
  close_subject(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_edits_pass),
      cmocka_unit_test(rules_make_right_edits),
      cmocka_unit_test(wide_sums_are_abstract),
      cmocka_unit_test(broken_edits_are_refused),
      cmocka_unit_test(blemishes_are_refused),
      cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
