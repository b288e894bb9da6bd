/*
 * Layers that look the same when turned: which have a mirror, and that a label
 * and its twin cost the same and turn into each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cost_fixture.h"
#include "mapper/mapper_bound.h"
#include "mapper/mapper_mirror.h"

enum { LEVELS = 2 };

typedef struct machine {
  accel_arch arch;
  accel_level levels[LEVELS];
  uint32_t kept[LEVELS];
  accel_layer layer;
} machine;

static void make(machine *m, const accel_convolution *k, double hop_pj,
                 arena *a) {
  memset(m, 0, sizeof *m);
  for (uint32_t i = 0; i < LEVELS; i++) {
    m->levels[i] =
        (accel_level){.name = "L",
                      .class_name = "",
                      .capacity_words = ACCEL_UNLIMITED,
                      .entries = ACCEL_UNLIMITED,
                      .multiple_buffering = 1,
                      .word_bits = 8,
                      .block_words = 1,
                      .cluster = 1,
                      .instances = i ? 1 : 4,
                      .mesh_x = i ? 1 : 4,
                      .mesh_y = 1,
                      .reduction_supported = true,
                      .network = {.word_bits = 8, .hop_pj = hop_pj},
                      .energy = {2 + i, 3, 4, 0, -1, true, 0, 0, {0}}};
    m->kept[i] = 7;
  }
  m->arch = (accel_arch){.name = "two",
                         .levels = m->levels,
                         .level_count = LEVELS,
                         .compute = {.name = "MAC",
                                     .word_bits = 8,
                                     .instances = 4,
                                     .mesh_x = 4,
                                     .mesh_y = 1,
                                     .energy_pj = 1,
                                     .energy_known = true}};
  assert_int_equal(accel_layer_convolution(&m->layer, "square", k, a), CALM_OK);
}

static void open_space(mapper_space *s, mapper_problem *p, const machine *m,
                       limits *l, fixture *f) {
  *p = (mapper_problem){.arch = &m->arch,
                        .layer = &m->layer,
                        .must_keep = m->kept,
                        .may_keep = m->kept,
                        .objective = MAPPER_EDP};
  limits_init(l, f->context);
  assert_int_equal(mapper_space_init(s, p, true, true, l, &f->arena), CALM_OK);
}

static bool has_mirror(fixture *f, const accel_convolution *k, double hop_pj) {
  machine m;
  mapper_space s;
  mapper_problem p;
  limits l;
  make(&m, k, hop_pj, &f->arena);
  open_space(&s, &p, &m, &l, f);
  return s.mirror;
}

/* R S P Q C K N groups strides dilations */
static void test_which(void **state) {
  fixture *f = *state;
  const accel_convolution square = {3, 3, 4, 4, 2, 2, 1, 1, 1, 1, 1, 1};
  const accel_convolution plain = {1, 1, 4, 4, 2, 3, 1, 1, 2, 2, 1, 1};
  const accel_convolution wide = {3, 3, 4, 8, 2, 2, 1, 1, 1, 1, 1, 1};
  const accel_convolution tall = {3, 2, 4, 4, 2, 2, 1, 1, 1, 1, 1, 1};
  const accel_convolution stride = {3, 3, 4, 4, 2, 2, 1, 1, 1, 2, 1, 1};
  const accel_convolution dilation = {3, 3, 4, 4, 2, 2, 1, 1, 1, 1, 2, 1};
  const accel_convolution other = {3, 3, 4, 4, 2, 2, 1, 1, 2, 1, 1, 2};
  assert_true(has_mirror(f, &square, 0));
  assert_true(has_mirror(f, &plain, 0));
  assert_false(has_mirror(f, &wide, 0));
  assert_false(has_mirror(f, &tall, 0));
  assert_false(has_mirror(f, &stride, 0));
  assert_false(has_mirror(f, &dilation, 0));
  assert_false(has_mirror(f, &other, 0));
  assert_false(has_mirror(f, &square, 0.5));
}

static uint32_t axis_of(const mapper_space *s, const char *name) {
  const accel_layer *layer = s->problem->layer;
  for (uint32_t a = 0; a < s->axis_count; a++)
    if (s->axes[a].dimension == accel_layer_dimension(layer, name)) return a;
  fail();
  return 0;
}

/* Loops of the first primes of these dimensions, innermost first; a bar is the
   end of the inner level. */
static mapper_label *walk(const mapper_space *s, const char *dimensions,
                          fixture *f) {
  mapper_label *l = arena_calloc(&f->arena, 1, mapper_label_bytes(s));
  mapper_label_begin(l, s);
  for (; *dimensions; dimensions++) {
    const char name[] = {*dimensions, 0};
    if (*dimensions == '|') {
      mapper_label_level(l, s, 0);
      continue;
    }
    const uint32_t a = axis_of(s, name);
    mapper_label_step(l, s, a, s->axes[a].primes[0], false);
    l->locked = UINT32_C(1) << s->axes[a].dimension;
  }
  return l;
}

static void check_windows(const mapper_chain *c, const mapper_chain *d) {
  assert_int_equal(c->touched, d->touched);
  assert_int_equal(c->seen, d->seen);
  assert_int_equal(c->tied, d->tied);
  assert_true(c->ahead == d->ahead && c->back == d->back);
}

static void check_twins(const mapper_space *s, const char *one,
                        const char *other, fixture *f) {
  mapper_label *a = walk(s, one, f), *b = walk(s, other, f);
  const mapper_floor x = mapper_bound_label(s, a, 1);
  const mapper_floor y = mapper_bound_label(s, b, 1);
  assert_true(fabs(x.energy_pj / y.energy_pj - 1) < 1e-12);
  assert_true(x.cycles == y.cycles);
  const bool turned = mapper_mirror_turn(a, s);
  assert_false(mapper_mirror_turn(b, s) && turned);
  assert_false(mapper_mirror_turn(a, s) || mapper_mirror_turn(b, s));
  assert_int_equal(a->node, b->node);
  assert_int_equal(a->locked, b->locked);
  assert_int_equal(a->block, b->block);
  assert_int_equal(a->chain_count, b->chain_count);
  for (uint32_t i = 0; i < a->chain_count; i++) {
    const mapper_chain *c = &mapper_chains(s, a)[i];
    const mapper_chain *d = &mapper_chains(s, b)[i];
    assert_int_equal(c->tile, d->tile);
    assert_int_equal(c->state, d->state);
    assert_true(c->words == d->words && c->sent == d->sent);
    if (c->state == MAPPER_ALIVE) check_windows(c, d);
  }
}

static void test_twins(void **state) {
  fixture *f = *state;
  const accel_convolution k = {2, 2, 4, 4, 2, 2, 1, 1, 2, 2, 1, 1};
  machine m;
  mapper_space s;
  mapper_problem p;
  limits l;
  make(&m, &k, 0, &f->arena);
  open_space(&s, &p, &m, &l, f);
  assert_non_null(s.mirror);
  for (uint32_t i = 0; i < s.node_count; i++)
    assert_int_equal(s.mirror->nodes[s.mirror->nodes[i]], i);
  check_twins(&s, "|P", "|Q", f);
  check_twins(&s, "|PR", "|QS", f);
  check_twins(&s, "|RPKP", "|SQKQ", f);
  check_twins(&s, "|KPR", "|KQS", f);
  check_twins(&s, "|PQP", "|QPQ", f);
  check_twins(&s, "P|PR", "Q|QS", f);
  check_twins(&s, "PKR|P", "QKS|Q", f);
  check_twins(&s, "RQ|PC", "SP|QC", f);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_which),
                                     COST_TEST(test_twins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
