#include "traffic/traffic_exact_core.h"

#include "base/number.h"

static calm_status take_rows(traffic_core *core, arena *a) {
  const size_t ops = core->op_words, buffers = core->buffer_words;
  ARENA_ARRAY(a, core->name, core->buffer_count);
  ARENA_ARRAY(a, core->bytes, core->buffer_count);
  ARENA_ARRAY(a, core->need, core->op_count);
  ARENA_ARRAY(a, core->preds, core->op_count * ops);
  ARENA_ARRAY(a, core->uses, core->op_count * buffers);
  ARENA_ARRAY(a, core->writes, core->op_count * buffers);
  ARENA_ARRAY(a, core->touchers, core->buffer_count * ops);
  ARENA_ARRAY(a, core->writers, core->buffer_count * ops);
  ARENA_ARRAY(a, core->inputs, buffers);
  ARENA_ARRAY(a, core->outputs, buffers);
  ARENA_ARRAY(a, core->reuse_sole, core->problem->order->reuse_count * ops);
  ARENA_ARRAY(a, core->reuse_fresh, core->problem->order->reuse_count * ops);
  return CALM_OK;
}

static bool has_gap(const order_problem *p, uint32_t b) {
  return p->buffers[b].bytes && p->touch_begin[b] + 1 < p->touch_begin[b + 1];
}

/* Larger ones first, then as the problem numbers them. */
static void name_buffers(traffic_core *core) {
  const order_buffer *buffers = core->problem->order->buffers;
  uint32_t count = 0;
  for (uint32_t b = 0; b < core->problem->order->buffer_count; b++) {
    if (!has_gap(core->problem->order, b)) continue;
    uint32_t i = count++;
    for (; i && buffers[core->name[i - 1]].bytes < buffers[b].bytes; i--)
      core->name[i] = core->name[i - 1];
    core->name[i] = b;
  }
}

static void fill_buffer(traffic_core *core, uint32_t b) {
  const order_problem *p = core->problem->order;
  const uint32_t name = core->name[b];
  core->bytes[b] = p->buffers[name].bytes;
  if (p->buffers[name].pinned_start) bits_add(core->inputs, b);
  if (p->buffers[name].pinned_end) bits_add(core->outputs, b);
  for (uint32_t i = p->touch_begin[name]; i < p->touch_begin[name + 1]; i++) {
    const uint32_t u = p->touch[i];
    bits_add(traffic_core_ops(core, core->touchers, b), u);
    bits_add(traffic_core_buffers(core, core->uses, u), b);
    if (!core->problem->writes[i]) continue;
    bits_add(traffic_core_ops(core, core->writers, b), u);
    bits_add(traffic_core_buffers(core, core->writes, u), b);
  }
}

static void fill_op(traffic_core *core, uint32_t u) {
  const order_problem *p = core->problem->order;
  core->need[u] = p->workspace[u];
  for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++)
    core->need[u] += p->buffers[p->uses[i]].bytes;
  for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
    bits_add(traffic_core_ops(core, core->preds, u), p->preds[i]);
}

static void add_touchers(const order_problem *p, uint64_t *set, uint32_t b) {
  for (uint32_t i = p->touch_begin[b]; i < p->touch_begin[b + 1]; i++)
    bits_add(set, p->touch[i]);
}

/* A permission that cannot hold waits for its own operator. */
static void fill_reuse(traffic_core *core, uint32_t i) {
  const order_problem *p = core->problem->order;
  const order_reuse *r = &p->reuses[i];
  uint64_t *sole = traffic_core_ops(core, core->reuse_sole, i);
  add_touchers(p, sole, r->input);
  bits_remove(sole, r->op);
  add_touchers(p, traffic_core_ops(core, core->reuse_fresh, i), r->output);
  if (p->buffers[r->input].pinned_end || p->buffers[r->output].pinned_start)
    bits_add(sole, r->op);
}

calm_status traffic_core_build(traffic_core *out, const traffic_problem *p,
                               uint64_t capacity, arena *a) {
  const order_problem *o = p->order;
  traffic_core core = {.problem = p,
                       .capacity = capacity,
                       .op_count = o->op_count,
                       .op_words = bits_words(o->op_count)};
  for (uint32_t b = 0; b < o->buffer_count; b++)
    core.buffer_count += has_gap(o, b);
  core.buffer_words = bits_words(core.buffer_count);
  TRY(take_rows(&core, a));
  name_buffers(&core);
  for (uint32_t b = 0; b < core.buffer_count; b++) fill_buffer(&core, b);
  for (uint32_t u = 0; u < o->op_count; u++) fill_op(&core, u);
  for (uint32_t i = 0; i < o->reuse_count; i++) fill_reuse(&core, i);
  *out = core;
  return CALM_OK;
}

void traffic_core_hold(traffic_core *core, const uint32_t *sequence,
                       const uint64_t *loose) {
  for (uint32_t i = 0; i < core->op_count; i++) {
    const uint32_t u = sequence[i];
    if (loose && bits_has(loose, u)) continue;
    uint64_t *preds = traffic_core_ops(core, core->preds, u);
    for (uint32_t j = 0; j < i; j++)
      if (!loose || !bits_has(loose, sequence[j])) bits_add(preds, sequence[j]);
  }
}

uint64_t traffic_core_need(const traffic_core *core, uint32_t u,
                           const uint64_t *done) {
  const order_problem *p = core->problem->order;
  uint64_t saved = 0;
  for (uint32_t i = p->reuse_begin[u]; i < p->reuse_begin[u + 1]; i++)
    if (bits_within(traffic_core_ops(core, core->reuse_sole, i), done,
                    core->op_words) &&
        !bits_meet(traffic_core_ops(core, core->reuse_fresh, i), done,
                   core->op_words))
      saved = number_larger(saved, p->reuses[i].bytes);
  return core->need[u] - saved;
}

void traffic_core_live(const traffic_core *core, uint64_t *live,
                       const uint64_t *done) {
  memset(live, 0, core->buffer_words * sizeof *live);
  for (uint32_t b = 0; b < core->buffer_count; b++) {
    const uint64_t *touchers = traffic_core_ops(core, core->touchers, b);
    if (bits_meet(touchers, done, core->op_words) &&
        !bits_within(touchers, done, core->op_words))
      bits_add(live, b);
  }
}

bool traffic_core_writes(const traffic_core *core, uint32_t u, uint32_t b,
                         const uint64_t *before) {
  if (bits_has(traffic_core_buffers(core, core->writes, u), b)) return true;
  return !bits_has(core->inputs, b) &&
         !bits_meet(traffic_core_ops(core, core->touchers, b), before,
                    core->op_words);
}

bool traffic_core_spills(const traffic_core *core, uint32_t b,
                         const uint64_t *done) {
  return !bits_has(core->outputs, b) ||
         !bits_within(traffic_core_ops(core, core->writers, b), done,
                      core->op_words);
}

/* ---- Who certainly runs before whom -------------------------------------- */

static void add_all(uint64_t *to, const uint64_t *set, uint32_t words) {
  for (uint32_t w = 0; w < words; w++) to[w] |= set[w];
}

/* What runs before u are its preds and what runs before them.  Late ones first:
   they mostly have the early ones with them. */
static void close_op(traffic_core *core, uint32_t u) {
  const uint32_t words = core->op_words;
  const uint64_t *preds = traffic_core_ops(core, core->preds, u);
  uint64_t *before = traffic_core_ops(core, core->before, u);
  memset(before, 0, words * sizeof *before);
  for (uint32_t v = core->op_count; v-- > 0;)
    if (bits_has(preds, v) && !bits_has(before, v)) {
      add_all(before, traffic_core_ops(core, core->before, v), words);
      bits_add(before, v);
    }
  for (uint32_t v = 0; v < core->op_count; v++)
    if (bits_has(before, v))
      bits_add(traffic_core_ops(core, core->after, v), u);
}

calm_status traffic_core_close(traffic_core *core, const uint32_t *sequence,
                               arena *a) {
  const size_t words = core->op_words;
  ARENA_ARRAY(a, core->before, core->op_count * words);
  ARENA_ARRAY(a, core->after, core->op_count * words);
  for (uint32_t i = 0; i < core->op_count; i++) close_op(core, sequence[i]);
  return CALM_OK;
}
