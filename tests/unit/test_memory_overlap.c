#include "memory/memory_overlap.h"
#include "memory_graphs.h"

enum { MAX_ITEMS = 24 };

/* Which pairs were reported, by the tensor of each item. */
typedef struct meeting_list {
  bool met[MAX_ITEMS][MAX_ITEMS];
  uint32_t count, stop_after, last_step;
} meeting_list;

static calm_status note_meeting(void *payload, const overlap_item *a,
                                const overlap_item *b, bool *stop) {
  meeting_list *list = payload;
  const uint32_t step = a->first > b->first ? a->first : b->first;
  assert_true(a->low <= b->low);
  assert_true(step >= list->last_step);
  assert_false(list->met[a->tensor][b->tensor]);
  list->met[a->tensor][b->tensor] = list->met[b->tensor][a->tensor] = true;
  list->last_step = step;
  *stop = ++list->count == list->stop_after;
  return CALM_OK;
}

static bool meet(const overlap_item *a, const overlap_item *b) {
  return a->low < b->high && b->low < a->high && a->first <= b->last &&
         b->first <= a->last;
}

static void sweep_agrees_with_every_pair(void **state) {
  (void)state;
  random_state r = random_from_seed(6);
  fixture f;
  fixture_begin(&f, NULL);
  for (int round = 0; round < 20000; round++) {
    overlap_item items[MAX_ITEMS], before[MAX_ITEMS];
    const uint32_t count = random_below(&r, MAX_ITEMS + 1);
    const uint32_t spread = 1 + random_below(&r, 40);
    for (uint32_t i = 0; i < count; i++) {
      overlap_item *item = &items[i];
      *item = (overlap_item){.tensor = i, .op = CALM_NONE};
      item->low = random_below(&r, spread);
      item->first = random_below(&r, spread);
      item->high = item->low + 1 + random_below(&r, 8);
      item->last = item->first + random_below(&r, 6);
    }
    memcpy(before, items, sizeof items);
    meeting_list list = {0};
    assert_int_equal(overlap_find(items, count, note_meeting, &list, &f.arena),
                     CALM_OK);
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = 0; k < count; k++)
        assert_int_equal(list.met[i][k],
                         i != k && meet(&before[i], &before[k]));
    if (round % 100 == 0) arena_free(&f.arena);
  }
  fixture_close(&f);
}

static void the_judge_may_stop_the_sweep(void **state) {
  (void)state;
  fixture f;
  fixture_begin(&f, NULL);
  overlap_item items[8];
  for (uint32_t i = 0; i < 8; i++)
    items[i] = (overlap_item){0, 4, 0, i, i, CALM_NONE};
  meeting_list list = {.stop_after = 5};
  assert_int_equal(overlap_find(items, 8, note_meeting, &list, &f.arena),
                   CALM_OK);
  assert_int_equal(list.count, 5);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sweep_agrees_with_every_pair),
      cmocka_unit_test(the_judge_may_stop_the_sweep)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
