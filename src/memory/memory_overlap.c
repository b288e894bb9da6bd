/*
 * A sweep over the steps.  All items stand in a tournament tree, in the order
 * of their lowest byte; a leaf holds the highest byte of its item while that is
 * alive, an inner node the larger of its two children.  An item that begins
 * meets exactly those alive whose low is below its high and whose high is above
 * its low: the first is a prefix of the leaves, the second prunes the descent.
 */
#include "memory/memory_overlap.h"

#include <stdlib.h>

/* Something happens to an item: it begins, or it has ended. */
typedef struct event {
  uint32_t step; /* an end counts for the step after the last */
  bool begins;
  uint32_t item;
} event;

typedef struct sweep {
  const overlap_item *items;
  uint32_t count;
  uint64_t *tree; /* 1 is the root, the leaves begin at `leaves` */
  uint32_t leaves;
  overlap_judge *judge;
  void *payload;
  bool stop;
} sweep;

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_items(const void *left, const void *right) {
  const overlap_item *a = left, *b = right;
  int order = compare_numbers(a->low, b->low);
  if (!order) order = compare_numbers(a->tensor, b->tensor);
  return order ? order : compare_numbers(a->op, b->op);
}

/* Ends before begins, so that neighbours in time do not meet. */
static int compare_events(const void *left, const void *right) {
  const event *a = left, *b = right;
  int order = compare_numbers(a->step, b->step);
  if (!order) order = (int)a->begins - (int)b->begins;
  return order ? order : compare_numbers(a->item, b->item);
}

static void set_leaf(sweep *s, uint32_t item, uint64_t high) {
  uint32_t node = s->leaves + item;
  s->tree[node] = high;
  for (node /= 2; node; node /= 2) {
    const uint64_t left = s->tree[2 * node], right = s->tree[2 * node + 1];
    s->tree[node] = left > right ? left : right;
  }
}

/* The next leaf from `leaf` on that reaches above `low`, or s->leaves. */
static uint32_t next_above(const sweep *s, uint32_t leaf, uint64_t low) {
  uint32_t node = s->leaves + leaf;
  while (s->tree[node] <= low) {
    while (node % 2) node /= 2; /* a right child: go up */
    if (node == 0) return s->leaves;
    node++;
  }
  while (node < s->leaves) {
    node *= 2;
    if (s->tree[node] <= low) node++;
  }
  return node - s->leaves;
}

/* How many items lie, or begin to lie, below `high`. */
static uint32_t count_below(const sweep *s, uint64_t high) {
  uint32_t low = 0, up = s->count;
  while (low < up) {
    const uint32_t middle = low + (up - low) / 2;
    if (s->items[middle].low < high)
      low = middle + 1;
    else
      up = middle;
  }
  return low;
}

static calm_status begin_item(sweep *s, uint32_t index) {
  const overlap_item *item = &s->items[index];
  const uint32_t end = count_below(s, item->high);
  for (uint32_t i = next_above(s, 0, item->low); i < end && !s->stop;
       i = next_above(s, i + 1, item->low)) {
    const overlap_item *other = &s->items[i];
    TRY(i < index ? s->judge(s->payload, other, item, &s->stop)
                  : s->judge(s->payload, item, other, &s->stop));
    if (i + 1 == s->leaves) break;
  }
  set_leaf(s, index, item->high);
  return CALM_OK;
}

static calm_status list_events(event **out, const overlap_item *items,
                               uint32_t count, arena *scratch) {
  event *events;
  ARENA_ARRAY(scratch, events, (size_t)count * 2);
  for (uint32_t i = 0; i < count; i++) {
    events[2 * i] = (event){items[i].first, true, i};
    events[2 * i + 1] = (event){items[i].last + 1, false, i};
  }
  if (count) qsort(events, (size_t)count * 2, sizeof *events, compare_events);
  *out = events;
  return CALM_OK;
}

calm_status overlap_find(overlap_item *items, uint32_t count,
                         overlap_judge *judge, void *payload, arena *scratch) {
  sweep s = {items, count, NULL, 1, judge, payload, false};
  event *events = NULL;
  if (count) qsort(items, count, sizeof *items, compare_items);
  while (s.leaves < count) s.leaves *= 2;
  ARENA_ARRAY(scratch, s.tree, (size_t)s.leaves * 2);
  TRY(list_events(&events, items, count, scratch));
  for (size_t i = 0; i < (size_t)count * 2 && !s.stop; i++)
    if (events[i].begins)
      TRY(begin_item(&s, events[i].item));
    else
      set_leaf(&s, events[i].item, 0);
  return CALM_OK;
}
