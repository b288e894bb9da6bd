/*
 * Where regions are cut, against all ways to cut them: the room that the
 * largest tile needs is counted here once more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "context_fixture.h"
#include "tile/tile_work.h"
#include "tile_random.h"

static uint64_t room_of(const tile_part *part, tile_area *needs, uint32_t t) {
  const tile_area *area = &needs[t];
  if ((t == 0 || t == part->output) && part->step_count > 1) return 0;
  return part->tensors[t].pixel_bytes *
         (uint64_t)(tile_length(area->axes[0]) * tile_length(area->axes[1]));
}

static uint64_t measure(const tile_part *part, tile_area *needs, int64_t begin,
                        int64_t end) {
  const tile_area area = {
      {{begin, end}, {0, part->tensors[part->output].sizes[1]}}};
  uint64_t most = 0;
  if (tile_find_needs(needs, part, &area)) return UINT64_MAX;
  for (uint32_t i = 0; i < part->step_count; i++) {
    const tile_step *s = &part->steps[i];
    uint64_t bytes = room_of(part, needs, s->output);
    for (uint32_t j = 0; j < part->g->ops.data[s->op].input_count; j++)
      if (s->slots[j] != CALM_NONE) bytes += room_of(part, needs, s->slots[j]);
    if (bytes > most) most = bytes;
  }
  return most;
}

/* The least room of all ways to cut rows [begin, size) into `count` tiles. */
static uint64_t least(const tile_part *part, tile_area *needs, int64_t begin,
                      uint32_t count) {
  const int64_t size = part->tensors[part->output].sizes[TILE_ROWS];
  uint64_t best = UINT64_MAX;
  if (count == 1) return measure(part, needs, begin, size);
  for (int64_t end = begin + 1; end + (int64_t)count - 1 <= size; end++) {
    const uint64_t rest = least(part, needs, end, count - 1);
    const uint64_t here = measure(part, needs, begin, end);
    const uint64_t most = here > rest ? here : rest;
    if (most < best) best = most;
  }
  return best;
}

typedef struct tally {
  uint32_t all, best;
  double worst;
} tally;

static void try_count(tally *t, const tile_part *part, uint32_t count,
                      arena *a) {
  const int64_t size = part->tensors[part->output].sizes[TILE_ROWS];
  tile_area *needs = arena_calloc(a, part->tensor_count, sizeof *needs);
  const uint64_t optimum = least(part, needs, 0, count);
  int64_t *borders;
  uint64_t most = 0;
  if (tile_split(&borders, part, TILE_ROWS, count, 1, a)) return;
  assert_true(borders[0] == 0 && borders[count] == size);
  for (uint32_t i = 0; i < count; i++) {
    assert_true(borders[i] < borders[i + 1]);
    const uint64_t bytes = measure(part, needs, borders[i], borders[i + 1]);
    if (bytes > most) most = bytes;
  }
  assert_true(most >= optimum);
  t->all++;
  t->best += most == optimum;
  if (optimum && (double)most / (double)optimum > t->worst)
    t->worst = (double)most / (double)optimum;
}

static void borders_are_nearly_the_best(void **state) {
  (void)state;
  tally t = {0};
  for (uint64_t seed = 1; seed <= (CALM_SANITIZED ? 60 : 300); seed++) {
    random_state random = random_from_seed(seed);
    tile_region region = {.columns = 1};
    tile_part part;
    arena a;
    graph g;
    arena_init(&a, context);
    graph_init(&g, &a, "net");
    tile_net_draw(&g, &random, seed % 2, &region.first, &region.last);
    assert_int_equal(tile_part_of(&part, &g, &region, &a), CALM_OK);
    for (uint32_t count = 2; count <= 4; count++)
      if (part.tensors[part.output].sizes[TILE_ROWS] >= count)
        try_count(&t, &part, count, &a);
    graph_free(&g);
    arena_free(&a);
  }
  print_message("%u cut, %u as well as can be, at worst %.2f times\n", t.all,
                t.best, t.worst);
  assert_true(t.best > t.all * 9 / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(borders_are_nearly_the_best),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
