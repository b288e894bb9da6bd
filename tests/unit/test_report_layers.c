/* Graphs in layers: nothing overlaps, edges lead down, the same each time. */
#include "report/report_layers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

enum { MOST_NODES = 40, MOST_EDGES = 120 };

typedef struct drawing {
  report_node nodes[MOST_NODES];
  report_edge edges[MOST_EDGES];
  report_layers layers;
  calm_context *context;
  arena arena;
} drawing;

static void begin(drawing *d, uint32_t nodes) {
  memset(d, 0, sizeof *d);
  d->context = calm_context_new(NULL);
  arena_init(&d->arena, d->context);
  d->layers = (report_layers){
      .nodes = d->nodes, .edges = d->edges, .node_count = nodes};
  for (uint32_t n = 0; n < nodes; n++) d->nodes[n].width = 40 + 13 * (n % 7);
}

static void join(drawing *d, uint32_t from, uint32_t to) {
  d->edges[d->layers.edge_count++] = (report_edge){.from = from, .to = to};
}

static void place(drawing *d) {
  assert_int_equal(report_layers_place(&d->layers, &d->arena), CALM_OK);
}

static void end(drawing *d) {
  arena_free(&d->arena);
  assert_int_equal(calm_context_bytes(d->context), 0);
  calm_context_free(d->context);
}

static bool overlap(const report_node *a, const report_node *b) {
  return a->corner.x < b->corner.x + b->width &&
         b->corner.x < a->corner.x + a->width &&
         a->corner.y < b->corner.y + REPORT_NODE_HEIGHT &&
         b->corner.y < a->corner.y + REPORT_NODE_HEIGHT;
}

static void expect_good(const drawing *d) {
  const report_layers *l = &d->layers;
  for (uint32_t i = 0; i < l->node_count; i++) {
    const report_node *n = &l->nodes[i];
    assert_true(n->corner.x >= 0 && n->corner.y >= 0);
    assert_true(n->corner.x + n->width <= l->width);
    assert_true(n->corner.y + REPORT_NODE_HEIGHT <= l->height);
    for (uint32_t j = 0; j < i; j++) assert_false(overlap(n, &l->nodes[j]));
  }
  for (uint32_t e = 0; e < l->edge_count; e++) {
    const report_edge *edge = &l->edges[e];
    assert_true(edge->point_count >= 2);
    for (uint32_t i = 1; i < edge->point_count; i++)
      assert_true(edge->points[i].y > edge->points[i - 1].y);
  }
}

static void a_chain_is_straight(void **state) {
  (void)state;
  drawing d;
  begin(&d, 4);
  for (uint32_t n = 0; n < 3; n++) join(&d, n, n + 1);
  place(&d);
  expect_good(&d);
  for (uint32_t n = 0; n < 4; n++) {
    assert_int_equal(d.nodes[n].layer, n);
    const double center = d.nodes[n].corner.x + d.nodes[n].width / 2;
    assert_true(center - d.layers.width / 2 < 1 &&
                d.layers.width / 2 - center < 1);
  }
  end(&d);
}

static void a_long_edge_goes_around(void **state) {
  (void)state;
  drawing d;
  begin(&d, 3);
  join(&d, 0, 1);
  join(&d, 1, 2);
  join(&d, 0, 2);
  place(&d);
  expect_good(&d);
  assert_int_equal(d.edges[2].point_count, 4);
  const report_node *between = &d.nodes[1];
  const double x = d.edges[2].points[1].x;
  assert_true(x < between->corner.x || x > between->corner.x + between->width);
  end(&d);
}

static void random_graphs_are_drawn_well(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed < 300; seed++) {
    drawing d, again;
    random_state random = random_from_seed(seed);
    begin(&d, 1 + random_below(&random, MOST_NODES));
    const uint32_t edges = random_below(&random, MOST_EDGES);
    for (uint32_t e = 0; e < edges && d.layers.node_count > 1; e++) {
      const uint32_t to = 1 + random_below(&random, d.layers.node_count - 1);
      join(&d, random_below(&random, to), to);
    }
    begin(&again, d.layers.node_count);
    for (uint32_t e = 0; e < d.layers.edge_count; e++)
      join(&again, d.edges[e].from, d.edges[e].to);
    place(&d);
    place(&again);
    expect_good(&d);
    assert_memory_equal(d.nodes, again.nodes, sizeof d.nodes);
    end(&d);
    end(&again);
  }
}

static void circles_and_nothing_do_no_harm(void **state) {
  (void)state;
  drawing d;
  begin(&d, 0);
  place(&d);
  end(&d);
  begin(&d, 4);
  join(&d, 0, 1);
  join(&d, 1, 2);
  join(&d, 2, 1);
  join(&d, 3, 3);
  place(&d);
  for (uint32_t i = 0; i < 4; i++)
    for (uint32_t j = 0; j < i; j++)
      assert_false(overlap(&d.nodes[i], &d.nodes[j]));
  end(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_is_straight),
      cmocka_unit_test(a_long_edge_goes_around),
      cmocka_unit_test(random_graphs_are_drawn_well),
      cmocka_unit_test(circles_and_nothing_do_no_harm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
