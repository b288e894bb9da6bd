#include "traffic/traffic_improve.h"

enum {
  LEAST_RUN = 4, /* operators of a run, fewest and most */
  MOST_RUN = 16,
  LEAST_DRAWN = 2, /* operators from all over the order */
  MOST_DRAWN = 6
};

static void draw_run(uint64_t *loose, const traffic_core *core,
                     const uint32_t *sequence, random_state *r) {
  const uint32_t n = core->op_count;
  const uint32_t wanted = LEAST_RUN + random_below(r, MOST_RUN - LEAST_RUN + 1);
  const uint32_t length = wanted < n ? wanted : n;
  const uint32_t begin = random_below(r, n - length + 1);
  for (uint32_t i = begin; i < begin + length; i++)
    bits_add(loose, sequence[i]);
}

static void draw_anywhere(uint64_t *loose, const traffic_core *core,
                          random_state *r) {
  const uint32_t count =
      LEAST_DRAWN + random_below(r, MOST_DRAWN - LEAST_DRAWN + 1);
  for (uint32_t i = 0; i < count; i++)
    bits_add(loose, random_below(r, core->op_count));
}

/* An operator and all that touch what it touches. */
static void draw_neighbours(uint64_t *loose, const traffic_core *core,
                            random_state *r) {
  const uint32_t u = random_below(r, core->op_count);
  bits_add(loose, u);
  for (uint32_t b = 0; b < core->buffer_count; b++)
    if (bits_has(traffic_core_buffers(core, core->uses, u), b))
      for (uint32_t w = 0; w < core->op_words; w++)
        loose[w] |= traffic_core_ops(core, core->touchers, b)[w];
}

static calm_status hold_others(traffic_part *p, const traffic_core *whole,
                               const uint32_t *sequence, random_state *r) {
  const size_t words = whole->op_words;
  uint64_t *loose;
  ARENA_ARRAY(&p->scratch, loose, words);
  const uint32_t kind = random_below(r, 4);
  if (kind < 2)
    draw_run(loose, whole, sequence, r);
  else if (kind == 2)
    draw_anywhere(loose, whole, r);
  else
    draw_neighbours(loose, whole, r);
  ARENA_ARRAY(&p->scratch, p->core.preds, whole->op_count * words);
  memcpy(p->core.preds, whole->preds,
         whole->op_count * words * sizeof *p->core.preds);
  traffic_core_hold(&p->core, sequence, loose);
  return traffic_core_close(&p->core, sequence, &p->scratch);
}

calm_status traffic_part_draw(traffic_part *out, const traffic_core *whole,
                              const uint32_t *sequence, random_state *r,
                              calm_context *context) {
  traffic_part p = {.core = *whole};
  arena_init(&p.scratch, context);
  const calm_status status = hold_others(&p, whole, sequence, r);
  if (status != CALM_OK)
    arena_free(&p.scratch);
  else
    *out = p;
  return status;
}

calm_status traffic_part_search(traffic_part *p, uint64_t ceiling,
                                uint32_t width, const traffic_options *options,
                                limits *l) {
  traffic_verdict verdict;
  TRY(traffic_search_init(&p->search, &p->core, options, &p->scratch));
  const uint64_t points = p->search.bound.point_count;
  limits_spend(l, p->core.op_count + points * points);
  return traffic_search_beam(&verdict, &p->search, ceiling, width, l);
}

void traffic_part_free(traffic_part *p) {
  if (p->search.core) traffic_search_free(&p->search);
  arena_free(&p->scratch);
}
