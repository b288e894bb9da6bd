/*
 * How far floats may be off.  A sum of n products in any association differs
 * from the exact one by at most g(n) S, where u = 2^-24, g(n) = n u / (1 - n u)
 * and S is the sum of the sizes of the products; two of them by twice that.
 */
#include "rewrite_parted.h"
#include "rewrite_run.h"

typedef struct site {
  fixture f;
  graph g;
  op_id conv;
  graph_edit abstract, concrete;
  uint64_t terms; /* products and sums behind each number of the result */
} site;

/* y = conv(concat(a, b, a)), with a bias. */
static void build(site *s, random_state *r) {
  const int64_t h = 5 + random_below(r, 3), width = 4 + random_below(r, 3);
  net n = {.g = &s->g, .r = r, .options = {false, random_below(r, 2), 4}};
  graph_init(&s->g, &s->f.arena, "site");
  s->g.channels_first = n.options.channels_first;
  for (uint32_t i = 0; i < 2; i++)
    net_add_picture(&n, h, width, 1 + random_below(r, 9), CALM_TENSOR_INPUT);
  const net_picture a = n.pictures.data[0], b = n.pictures.data[1];
  const tensor_id operands[] = {a.id, b.id, a.id};
  const net_picture *cat =
      net_add_picture(&n, h, width, 2 * a.channels + b.channels, 0);
  const graph_attribute axis = {"axis", s->g.channels_first ? "1" : "3"};
  net_op(&n, OP_concat, operands, 3, cat->id, &axis, 1);
  n.pictures.data[0] = *cat;
  n.pictures.count = 1;
  net_conv(&n);
  s->conv = 1;
  const graph_op *conv = &s->g.ops.data[1];
  const graph_tensor *w = &s->g.tensors.data[conv->inputs[1]];
  s->terms = run_count(w) / (uint64_t)w->dimensions[0] + 3 + 1;
  s->g.tensors.data[conv->outputs[0]].flags |= CALM_TENSOR_OUTPUT;
  free(n.pictures.data);
  if (graph_finish(&s->g, "site"))
    fail_msg("%s", calm_context_message(s->f.context));
}

static void rewrite(site *s, random_state *r) {
  const bool parted[] = {false, true};
  op_id sequence[16];
  run_source source = {&s->g, &s->f.arena};
  part_edit(&s->abstract, &s->g, parted, PARTIALS_ACCUMULATE, &s->f.arena);
  random_sequence(sequence, &s->abstract.after, r);
  assert_int_equal(
      rewrite_chain(&s->concrete, &s->abstract, sequence,
                    s->g.channels_first && random_below(r, 2), &s->f.arena),
      CALM_OK);
  assert_int_equal(rewrite_fill(&s->concrete, run_read, &source, &s->f.arena),
                   CALM_OK);
}

/* S of every element: the same with the sizes of all numbers. */
static double *sizes(const site *s) {
  const graph_op *conv = &s->g.ops.data[s->conv];
  const tensor_id y = conv->outputs[0];
  net_run n;
  assert_true(run_net(&n, &s->g, NULL, false));
  for (uint32_t i = 0; i < conv->input_count; i++)
    for (uint64_t k = 0; k < run_count(&s->g.tensors.data[conv->inputs[i]]);
         k++)
      n.value[conv->inputs[i]][k] = run_size(n.value[conv->inputs[i]][k]);
  graph_op bare = *conv;
  bare.attribute_count = 0;
  graph_attribute attributes[8];
  for (uint32_t i = 0; i < conv->attribute_count; i++)
    if (strcmp(conv->attributes[i].key, "activation"))
      attributes[bare.attribute_count++] = conv->attributes[i];
  bare.attributes = attributes;
  free(n.value[y]);
  assert_true(run_op(&n, &bare));
  double *out = n.value[y];
  n.value[y] = NULL;
  run_free(&n);
  return out;
}

static void sums_stay_within_the_bound(void **state) {
  (void)state;
  double worst = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    site s = {.conv = 0};
    random_state r = random_from_seed(seed);
    net_run before, after;
    fixture_open(&s.f, NULL);
    build(&s, &r);
    rewrite(&s, &r);
    assert_true(run_net(&before, &s.g, NULL, true));
    assert_true(run_net(&after, &s.concrete.after, &s.concrete, true));
    double *most = sizes(&s);
    const tensor_id y = s.g.ops.data[s.conv].outputs[0];
    tensor_id made = 0;
    while (s.concrete.tensors.data[made].from != y ||
           s.concrete.tensors.data[made].contents != EDIT_SAME)
      made++;
    const double nu = (double)s.terms / (1 << 24), g = nu / (1 - nu);
    for (uint64_t i = 0; i < run_count(&s.g.tensors.data[y]); i++) {
      const double off = run_size(before.value[y][i] - after.value[made][i]);
      assert_true(off <= 2 * g * most[i]);
      if (most[i] > 0 && off / (2 * g * most[i]) > worst)
        worst = off / (2 * g * most[i]);
    }
    free(most);
    run_free(&before);
    run_free(&after);
    graph_edit_free(&s.concrete);
    graph_edit_free(&s.abstract);
    graph_free(&s.g);
    fixture_close(&s.f);
  }
  assert_true(worst > 0.001); /* floats do differ */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_stay_within_the_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
