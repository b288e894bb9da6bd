#include "base/select.h"

/* Divide ids[low .. high] in two, none before the pivot behind one that is
   not; the last index of the first half (Hoare). */
static uint32_t divide(uint32_t *ids, uint32_t low, uint32_t high,
                       select_before *before, const void *payload) {
  const uint32_t pivot = ids[low + (high - low) / 2];
  uint32_t i = low, j = high;
  for (;;) {
    while (before(payload, ids[i], pivot)) i++;
    while (before(payload, pivot, ids[j])) j--;
    if (i >= j) return j;
    const uint32_t held = ids[i];
    ids[i++] = ids[j];
    ids[j--] = held;
  }
}

void select_best(uint32_t *ids, uint32_t count, uint32_t wanted,
                 select_before *before, const void *payload) {
  uint32_t low = 0, high = count - 1;
  while (low < high && low < wanted) {
    const uint32_t last = divide(ids, low, high, before, payload);
    if (wanted <= last)
      high = last;
    else
      low = last + 1;
  }
}
