/*
 * One part of an order problem by itself.  The parts run one after the other
 * (plan_rewrite_parts.c), so in any order what a part needs depends on the
 * order inside it alone: buffers that others touch before it are there from its
 * beginning, those that others touch behind it to its end, and those that it
 * does not touch at all are a constant.
 */
#include "plan/plan_rewrite_judge.h"

typedef struct focus {
  const order_problem *p;
  const uint32_t *part_of; /* per operator */
  uint32_t part;
  order_problem out;
  uint32_t *op;     /* per operator of `p`: in `out`, CALM_NONE */
  uint32_t *buffer; /* likewise per buffer */
  uint64_t constant;
  arena *a;
} focus;

static calm_status number_ops(focus *f) {
  ARENA_ARRAY(f->a, f->op, f->p->op_count);
  for (uint32_t u = 0; u < f->p->op_count; u++)
    f->op[u] = f->part_of[u] == f->part ? f->out.op_count++ : CALM_NONE;
  return CALM_OK;
}

/* Who touches a buffer: somebody before the part, in it, behind it? */
typedef struct touched {
  bool before, within, behind;
} touched;

static touched who_touches(const focus *f, uint32_t b) {
  touched t = {f->p->buffers[b].pinned_start, false,
               f->p->buffers[b].pinned_end};
  for (uint32_t i = f->p->touch_begin[b]; i < f->p->touch_begin[b + 1]; i++) {
    const uint32_t part = f->part_of[f->p->touch[i]];
    if (part < f->part) t.before = true;
    if (part == f->part) t.within = true;
    if (part > f->part) t.behind = true;
  }
  return t;
}

static void take_buffer(focus *f, uint32_t b) {
  const touched t = who_touches(f, b);
  f->buffer[b] = CALM_NONE;
  if (t.within) {
    f->buffer[b] = f->out.buffer_count;
    f->out.buffers[f->out.buffer_count++] =
        (order_buffer){f->p->buffers[b].bytes, t.before, t.behind};
  } else if (t.before && t.behind) {
    f->constant += f->p->buffers[b].bytes;
  }
}

static calm_status take_buffers(focus *f) {
  ARENA_ARRAY(f->a, f->buffer, f->p->buffer_count);
  ARENA_ARRAY(f->a, f->out.buffers, (size_t)f->p->buffer_count + 1);
  for (uint32_t b = 0; b < f->p->buffer_count; b++) take_buffer(f, b);
  f->out.buffers[f->out.buffer_count++] =
      (order_buffer){f->constant, true, true};
  return CALM_OK;
}

static calm_status take_touches(focus *f) {
  const order_problem *p = f->p;
  uint32_t count = 0;
  ARENA_ARRAY(f->a, f->out.touch_begin, (size_t)f->out.buffer_count + 1);
  ARENA_ARRAY(f->a, f->out.touch, p->touch_begin[p->buffer_count]);
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    if (f->buffer[b] == CALM_NONE) continue;
    for (uint32_t i = p->touch_begin[b]; i < p->touch_begin[b + 1]; i++)
      if (f->op[p->touch[i]] != CALM_NONE)
        f->out.touch[count++] = f->op[p->touch[i]];
    f->out.touch_begin[f->buffer[b] + 1] = count;
  }
  f->out.touch_begin[f->out.buffer_count] = count;
  return CALM_OK;
}

static calm_status take_ops(focus *f) {
  const order_problem *p = f->p;
  uint32_t count = 0;
  ARENA_ARRAY(f->a, f->out.workspace, f->out.op_count);
  ARENA_ARRAY(f->a, f->out.pred_begin, (size_t)f->out.op_count + 1);
  ARENA_ARRAY(f->a, f->out.preds, p->pred_begin[p->op_count]);
  for (uint32_t u = 0; u < p->op_count; u++) {
    if (f->op[u] == CALM_NONE) continue;
    f->out.workspace[f->op[u]] = p->workspace[u];
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
      if (f->op[p->preds[i]] != CALM_NONE)
        f->out.preds[count++] = f->op[p->preds[i]];
    f->out.pred_begin[f->op[u] + 1] = count;
  }
  return CALM_OK;
}

/* What is needed behind the part is not overwritten in it. */
static calm_status take_reuses(focus *f) {
  ARENA_ARRAY(f->a, f->out.reuses, f->p->reuse_count);
  for (uint32_t i = 0; i < f->p->reuse_count; i++) {
    const order_reuse *r = &f->p->reuses[i];
    if (f->op[r->op] == CALM_NONE) continue;
    const uint32_t input = f->buffer[r->input], output = f->buffer[r->output];
    if (f->out.buffers[input].pinned_end || f->out.buffers[output].pinned_start)
      continue;
    f->out.reuses[f->out.reuse_count++] =
        (order_reuse){f->op[r->op], input, output, r->bytes};
  }
  return CALM_OK;
}

calm_status plan_focus(order_problem *out, const order_problem *p,
                       const uint32_t *part_of, uint32_t part, arena *a) {
  focus f = {.p = p, .part_of = part_of, .part = part, .a = a};
  TRY(number_ops(&f));
  TRY(take_buffers(&f));
  TRY(take_touches(&f));
  TRY(take_ops(&f));
  TRY(take_reuses(&f));
  TRY(order_problem_finish(&f.out, a));
  *out = f.out;
  return CALM_OK;
}
