#include "mapper/mapper_heap.h"

static bool comes_before(const mapper_entry *a, const mapper_entry *b) {
  return a->key != b->key ? a->key < b->key : a->number > b->number;
}

static void swap(mapper_entry *a, mapper_entry *b) {
  const mapper_entry was = *a;
  *a = *b, *b = was;
}

calm_status mapper_heap_push(mapper_heap *h, double key, uint32_t number,
                             calm_context *context) {
  VECTOR_PUSH(context, h, (mapper_entry){key, number});
  mapper_entry *all = h->data;
  for (uint32_t at = h->count - 1; at > 0;) {
    const uint32_t above = (at - 1) / 2;
    if (!comes_before(&all[at], &all[above])) break;
    swap(&all[at], &all[above]);
    at = above;
  }
  return CALM_OK;
}

mapper_entry mapper_heap_pop(mapper_heap *h) {
  mapper_entry *all = h->data;
  const mapper_entry first = all[0];
  all[0] = all[--h->count];
  for (uint32_t at = 0;;) {
    uint32_t least = at;
    for (uint32_t below = 2 * at + 1; below <= 2 * at + 2; below++)
      if (below < h->count && comes_before(&all[below], &all[least]))
        least = below;
    if (least == at) return first;
    swap(&all[at], &all[least]);
    at = least;
  }
}
