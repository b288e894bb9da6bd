/*
 * An order to its layout problem.  A buffer is a body with one piece, from the
 * step of its first toucher to that of its last.  An output that is written
 * over a dying input begins at the step where the input ends, and both are of
 * equal size: they become pieces of one body, and so do longer chains.
 *
 *        bytes ^   +-------+
 *              |   |   x   |-------+          x dies where y = relu(x) begins:
 *              |   |       |   y   |          one body, two pieces that share
 *              |   +-------+-------+          step 3
 *              +---1---2---3---4---5---> step
 *
 * A permission that saves more than the output saves workspace, too: what is
 * left of that is placed, if anything is.
 */
#include "memory/memory.h"

#include <assert.h>

#include "base/number.h"

typedef struct placer {
  const graph *g;
  const memory_model *model;
  const memory_problem *p;
  const op_id *sequence;
  arena *a;
  uint32_t *step_of;      /* graph operator -> step */
  uint32_t *first, *last; /* buffer -> steps of its touchers */
  uint32_t *chain;     /* buffer -> the first of those it shares bytes with */
  uint64_t *workspace; /* order operator -> what it needs in this order */
  memory_placement out;
} placer;

static calm_status find_touch_steps(placer *r, arena *scratch) {
  const order_problem *o = &r->p->order;
  ARENA_ARRAY(scratch, r->step_of, r->g->ops.count);
  ARENA_ARRAY(scratch, r->first, o->buffer_count);
  ARENA_ARRAY(scratch, r->last, o->buffer_count);
  for (uint32_t step = 0; step < r->g->ops.count; step++)
    r->step_of[r->sequence[step]] = step;
  for (uint32_t b = 0; b < o->buffer_count; b++) {
    r->first[b] = UINT32_MAX;
    for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++) {
      const uint32_t step = r->step_of[r->p->op_of[o->touch[i]]];
      if (step < r->first[b]) r->first[b] = step;
      if (step > r->last[b]) r->last[b] = step;
    }
  }
  return CALM_OK;
}

/* In this order, does the input die where the output begins? */
static bool applies(const placer *r, const order_reuse *reuse, uint32_t step) {
  const order_buffer *buffers = r->p->order.buffers;
  return r->last[reuse->input] == step && !buffers[reuse->input].pinned_end &&
         r->first[reuse->output] == step &&
         !buffers[reuse->output].pinned_start;
}

/* The largest permission of u that applies, the first of equal ones, as
   order_replay counts it; NULL if there is none. */
static const order_reuse *best_reuse(const placer *r, uint32_t u,
                                     uint32_t step) {
  const order_problem *o = &r->p->order;
  const order_reuse *best = NULL;
  for (uint32_t i = o->reuse_begin[u]; i < o->reuse_begin[u + 1]; i++)
    if (applies(r, &o->reuses[i], step) &&
        (!best || o->reuses[i].bytes > best->bytes))
      best = &o->reuses[i];
  return best;
}

/* Tie each output to the input it overwrites.  Operators are visited as they
   run, so an input already knows the head of its own chain. */
static calm_status tie_chains(placer *r, arena *scratch) {
  const order_problem *o = &r->p->order;
  ARENA_ARRAY(scratch, r->chain, o->buffer_count);
  ARENA_ARRAY(scratch, r->workspace, o->op_count);
  for (uint32_t b = 0; b < o->buffer_count; b++) r->chain[b] = b;
  for (uint32_t u = 0; u < o->op_count; u++) r->workspace[u] = o->workspace[u];
  for (uint32_t step = 0; step < r->g->ops.count; step++) {
    const uint32_t u = r->p->order_op_of[r->sequence[step]];
    const order_reuse *reuse = u == CALM_NONE ? NULL : best_reuse(r, u, step);
    if (!reuse) continue;
    assert(o->buffers[reuse->input].bytes == o->buffers[reuse->output].bytes);
    r->chain[reuse->output] = r->chain[reuse->input];
    if (reuse->bytes > o->buffers[reuse->output].bytes)
      r->workspace[u] -= reuse->bytes - o->buffers[reuse->output].bytes;
    r->out.merged = true;
  }
  return CALM_OK;
}

/* Bodies of buffers first, then those of workspaces in running order. */
static calm_status number_bodies(placer *r) {
  const order_problem *o = &r->p->order;
  uint32_t count = 0;
  ARENA_ARRAY(r->a, r->out.body_of, o->buffer_count);
  ARENA_ARRAY(r->a, r->out.workspace_body, r->g->ops.count);
  for (uint32_t b = 0; b < o->buffer_count; b++)
    if (r->chain[b] == b) r->out.body_of[b] = count++;
  for (uint32_t b = 0; b < o->buffer_count; b++)
    r->out.body_of[b] = r->out.body_of[r->chain[b]];
  for (uint32_t step = 0; step < r->g->ops.count; step++) {
    const op_id op = r->sequence[step];
    const uint32_t u = r->p->order_op_of[op];
    const bool needs = u != CALM_NONE && r->workspace[u] > 0;
    r->out.workspace_body[op] = needs ? count++ : CALM_NONE;
  }
  r->out.layout.body_count = count;
  ARENA_ARRAY(r->a, r->out.layout.bodies, count);
  for (uint32_t i = 0; i < count; i++)
    r->out.layout.bodies[i].align = r->model->align;
  return CALM_OK;
}

/* Whatever the model asks for, the elements of a typed tensor lie at multiples
   of their size. */
static void align_elements(placer *r) {
  for (tensor_id t = 0; t < r->g->tensors.count; t++) {
    const element_type type = r->g->tensors.data[t].type;
    const uint64_t element =
        type == ELEMENT_ABSTRACT ? 0 : element_type_bits(type) / 8;
    if (element <= 1) continue;
    for (uint32_t i = r->p->buffer_begin[t]; i < r->p->buffer_begin[t + 1];
         i++) {
      layout_body *body =
          &r->out.layout.bodies[r->out.body_of[r->p->buffers[i]]];
      body->align *= element / number_gcd(body->align, element);
    }
  }
}

/* A body without operators is there for a moment all the same. */
static layout_piece buffer_piece(const placer *r, uint32_t b) {
  const order_buffer *buffer = &r->p->order.buffers[b];
  const uint32_t first = buffer->pinned_start ? 0 : r->first[b];
  const uint32_t end = r->g->ops.count ? r->g->ops.count : 1;
  const uint32_t upper = buffer->pinned_end ? end : r->last[b] + 1;
  return (layout_piece){.body = r->out.body_of[b],
                        .lower = first,
                        .upper = upper,
                        .high = buffer->bytes};
}

static layout_piece workspace_piece(const placer *r, op_id op) {
  const int64_t step = r->step_of[op];
  return (layout_piece){.body = r->out.workspace_body[op],
                        .lower = step,
                        .upper = step + 1,
                        .high = r->workspace[r->p->order_op_of[op]]};
}

/* Pieces ascend by body, those of one body by buffer: counting sort. */
static calm_status list_pieces(placer *r, arena *scratch) {
  layout_problem *l = &r->out.layout;
  const uint32_t buffers = r->p->order.buffer_count;
  uint32_t *next;
  ARENA_ARRAY(scratch, next, (size_t)l->body_count + 1);
  for (uint32_t b = 0; b < buffers; b++) next[r->out.body_of[b] + 1]++;
  for (op_id op = 0; op < r->g->ops.count; op++)
    if (r->out.workspace_body[op] != CALM_NONE)
      next[r->out.workspace_body[op] + 1]++;
  for (uint32_t i = 0; i < l->body_count; i++) next[i + 1] += next[i];
  l->piece_count = next[l->body_count];
  ARENA_ARRAY(r->a, l->pieces, l->piece_count);
  for (uint32_t b = 0; b < buffers; b++)
    l->pieces[next[r->out.body_of[b]]++] = buffer_piece(r, b);
  for (op_id op = 0; op < r->g->ops.count; op++)
    if (r->out.workspace_body[op] != CALM_NONE)
      l->pieces[next[r->out.workspace_body[op]]++] = workspace_piece(r, op);
  return CALM_OK;
}

static calm_status place(placer *r, arena *scratch) {
  TRY(find_touch_steps(r, scratch));
  TRY(tie_chains(r, scratch));
  TRY(number_bodies(r));
  align_elements(r);
  TRY(list_pieces(r, scratch));
  return layout_problem_finish(&r->out.layout, r->a);
}

calm_status memory_placement_build(memory_placement *out, const graph *g,
                                   const memory_model *model,
                                   const memory_problem *p,
                                   const op_id *sequence, arena *a) {
  placer r = {.g = g, .model = model, .p = p, .sequence = sequence, .a = a};
  arena scratch;
  arena_init(&scratch, a->context);
  calm_status status = place(&r, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) *out = r.out;
  return status;
}
