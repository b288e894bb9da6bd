/* The orders that look at the shape of the problem alone. */
#include "order/order_greedy.h"

void order_file(uint32_t *out_sequence, const order_problem *p) {
  for (uint32_t u = 0; u < p->op_count; u++) out_sequence[u] = u;
}

/* A counting sort of the operators by depth. */
static calm_status sort_by_level(uint32_t *sequence, const order_problem *p,
                                 arena *scratch) {
  uint32_t *place;
  ARENA_ARRAY(scratch, place, p->op_count + 1);
  for (uint32_t u = 0; u < p->op_count; u++) place[p->level[u] + 1]++;
  for (uint32_t d = 0; d < p->op_count; d++) place[d + 1] += place[d];
  for (uint32_t u = 0; u < p->op_count; u++) sequence[place[p->level[u]]++] = u;
  return CALM_OK;
}

calm_status order_level(uint32_t *out_sequence, const order_problem *p,
                        calm_context *context) {
  arena scratch;
  arena_init(&scratch, context);
  const calm_status status = sort_by_level(out_sequence, p, &scratch);
  arena_free(&scratch);
  return status;
}
