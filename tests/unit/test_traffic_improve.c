/* Networks: what they cost at least, and parts of orders searched again. */

#include "memory/memory_traffic.h"
#include "memory_graphs.h"
#include "traffic/traffic_improve.h"

typedef struct network {
  fixture f;
  memory_problem memory;
  traffic_problem traffic;
  uint32_t *file;
} network;

/* A graph of tests/graph in memory model serenity. */
static void open_network(network *n, const char *name) {
  char path[512], text[1 << 16];
  snprintf(path, sizeof path, "%s/tests/graph/%s.cg", CALM_SOURCE_DIR, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t length = fread(text, 1, sizeof text, file);
  assert_true(length < sizeof text);
  fclose(file);
  fixture_begin(&n->f, NULL);
  arena *a = &n->f.arena;
  assert_int_equal(graph_text_read(&n->f.graphs, a, name, text, length),
                   CALM_OK);
  n->f.g = n->f.graphs.data;
  assert_int_equal(memory_problem_build(&n->memory, n->f.g,
                                        memory_model_find("serenity"), NULL, a),
                   CALM_OK);
  assert_int_equal(memory_traffic_build(&n->traffic, n->f.g, &n->memory, a),
                   CALM_OK);
  n->file = arena_calloc(a, n->memory.order.op_count, sizeof *n->file);
  for (uint32_t u = 0; u < n->memory.order.op_count; u++) n->file[u] = u;
}

/* Found and proved, and the same without the rules that need a proof most. */
static void check_least(const char *name, uint64_t memory_bytes,
                        uint64_t spills) {
  network n;
  open_network(&n, name);
  const traffic_memory memory = {memory_bytes, 0};
  traffic_options options = traffic_options_default();
  for (int plain = 0; plain < 2; plain++) {
    traffic_order best;
    limits l;
    limits_init(&l, n.f.context);
    if (plain) options = (traffic_options){.dominance = true};
    assert_int_equal(traffic_minimize(&best, &n.traffic, &memory, n.file,
                                      &options, &n.f.arena, &l),
                     CALM_OK);
    assert_int_equal(best.outcome, CALM_OPTIMAL);
    assert_int_equal(traffic_spills(&best.result.total), spills);
    const char *fault;
    assert_int_equal(traffic_check(&fault, &n.traffic, best.sequence, &memory,
                                   &best.result, &n.f.arena),
                     CALM_OK);
    assert_null(fault);
  }
  fixture_close(&n.f);
}

static void networks_are_solved(void **state) {
  (void)state;
  check_least("swiftnet_cell_a", 32 << 10, 978432);
  check_least("swiftnet_cell_a", 64 << 10, 627200);
  check_least("swiftnet_cell_a", 128 << 10, 225792);
  check_least("swiftnet_cell_a", 200704, 0); /* its least peak */
  check_least("swiftnet_cell_b", 32 << 10, 153664);
  check_least("swiftnet_cell_b", 64 << 10, 18816);
  check_least("swiftnet_cell_c", 32 << 10, 0);
  check_least("darts_v2_normal", 256 << 10, 1956864);
}

/* What a part finds is below its ceiling and never below what is possible. */
static void parts_improve(void **state) {
  (void)state;
  network n;
  open_network(&n, "swiftnet_cell_a");
  const traffic_memory memory = {64 << 10, 0};
  const traffic_options options = traffic_options_default();
  arena *a = &n.f.arena;
  traffic_result belady;
  assert_int_equal(traffic_belady(&belady, &n.traffic, n.file, &memory, a),
                   CALM_OK);
  traffic_core core;
  assert_int_equal(traffic_core_build(&core, &n.traffic, memory.bytes, a),
                   CALM_OK);
  random_state r = random_from_seed(1);
  uint64_t cost = traffic_spills(&belady.total);
  uint32_t found = 0;
  for (uint32_t i = 0; i < 50; i++) {
    traffic_part part;
    limits l;
    limits_init(&l, n.f.context);
    assert_int_equal(traffic_part_draw(&part, &core, n.file, &r, n.f.context),
                     CALM_OK);
    assert_int_equal(traffic_part_search(&part, cost, 16, &options, &l),
                     CALM_OK);
    if (part.search.found) {
      assert_true(part.search.cost < cost && part.search.cost >= 627200);
      cost = part.search.cost;
      memcpy(n.file, part.search.sequence, core.op_count * sizeof *n.file);
      found++;
    }
    traffic_part_free(&part);
  }
  assert_true(found > 2);
  fixture_close(&n.f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(networks_are_solved),
      cmocka_unit_test(parts_improve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
