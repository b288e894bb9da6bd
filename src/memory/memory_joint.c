/*
 * memory_placement.c for many graphs at once: lives are spans of scopes instead
 * of steps, buffers of all graphs are numbered through, and a pair in place, or
 * a chain of such pairs, shares a body.
 */

#include "base/number.h"
#include "memory/memory_joint_rows.h"

/* Is the entry looked at row by row?  Not where an operator runs it, for then
   its tensors live in several runs at once. */
static bool wants_rows(const joiner *j) {
  return (j->model->overlap || memory_alias_asked(j->model)) &&
         !graphs_run_entry(j->graphs, j->count);
}

/* The first graph whose tensors live in buffers of its order problem. */
static uint32_t first_buffered(const joiner *j) { return j->rows ? 1 : 0; }

static uint32_t buffer_count(const joiner *j) {
  return j->buffer_begin[j->count];
}

/* ---- Buffers ------------------------------------------------------------- */

static calm_status number_buffers(joiner *j) {
  uint64_t total = 0;
  ARENA_ARRAY(j->temporary, j->buffer_begin, (size_t)j->count + 1);
  for (uint32_t i = 0; i < j->count; i++) {
    if (i >= first_buffered(j))
      total += j->problems[i].order.buffer_count; /* no more than tensors */
    j->buffer_begin[i + 1] = (uint32_t)total;
  }
  ARENA_ARRAY(j->temporary, j->spans, total);
  ARENA_ARRAY(j->temporary, j->bytes, total);
  ARENA_ARRAY(j->temporary, j->chain, total);
  ARENA_ARRAY(j->temporary, j->body, total);
  for (uint32_t b = 0; b < total; b++) {
    j->spans[b] = (memory_span){INT64_MAX, SCOPE_NEVER};
    j->chain[b] = b;
  }
  return CALM_OK;
}

/* The number of the one buffer that a tensor lives in, or CALM_NONE. */
static uint32_t buffer_of(const joiner *j, uint32_t graph, tensor_id t) {
  const memory_problem *p = &j->problems[graph];
  const uint32_t first = p->buffer_begin[t];
  if (p->buffer_begin[t + 1] - first != 1) return CALM_NONE;
  return j->buffer_begin[graph] + p->buffers[first];
}

static void measure_buffers(joiner *j, uint32_t graph) {
  for (tensor_id t = 0; t < j->graphs[graph].tensors.count; t++) {
    const uint32_t b = buffer_of(j, graph, t);
    if (b == CALM_NONE) continue;
    const memory_span s = j->scopes.tensors[j->scopes.tensor_begin[graph] + t];
    const uint64_t bytes = number_round_up(
        tflm_tensor_bytes(&j->graphs[graph].tensors.data[t]), TFLM_ALIGN);
    if (s.first < j->spans[b].first) j->spans[b].first = s.first;
    if (s.last > j->spans[b].last) j->spans[b].last = s.last;
    if (bytes > j->bytes[b]) j->bytes[b] = bytes;
  }
}

/* ---- In place ------------------------------------------------------------ */

/* Does the input die at the scope at which the output begins, and neither of
   them live longer, or earlier, than the order problem says? */
static bool applies(const joiner *j, uint32_t graph, const order_reuse *r) {
  const order_buffer *buffers = j->problems[graph].order.buffers;
  const uint32_t in = j->buffer_begin[graph] + r->input;
  const uint32_t out = j->buffer_begin[graph] + r->output;
  return !buffers[r->input].pinned_end && !buffers[r->output].pinned_start &&
         j->spans[in].last == j->spans[out].first &&
         j->spans[in].first < j->spans[out].first &&
         j->bytes[in] == j->bytes[out];
}

/* Tie each output to the largest input it may overwrite, the first of equal
   ones, as order_replay counts it. */
static void tie_chains(joiner *j, uint32_t graph) {
  const memory_problem *p = &j->problems[graph];
  for (uint32_t step = 0; step < j->graphs[graph].ops.count; step++) {
    const uint32_t u = p->order_op_of[j->sequences[graph][step]];
    const order_reuse *best = NULL;
    if (u == CALM_NONE) continue;
    for (uint32_t i = p->order.reuse_begin[u]; i < p->order.reuse_begin[u + 1];
         i++) {
      const order_reuse *r = &p->order.reuses[i];
      if (applies(j, graph, r) && (!best || r->bytes > best->bytes)) best = r;
    }
    if (best)
      j->chain[j->buffer_begin[graph] + best->output] =
          j->chain[j->buffer_begin[graph] + best->input];
  }
}

/* ---- Bodies -------------------------------------------------------------- */

calm_status joint_add_piece(joiner *j, uint32_t body, memory_span span,
                            uint64_t low, uint64_t high) {
  const layout_piece piece = {.body = body,
                              .lower = span.first + 1,
                              .upper = span.last + 2,
                              .low = low,
                              .high = high};
  if (body == j->out.layout.body_count) j->out.layout.body_count++;
  VECTOR_PUSH(j->a->context, &j->pieces, piece);
  return CALM_OK;
}

static calm_status add_piece(joiner *j, uint32_t body, memory_span span,
                             uint64_t bytes) {
  return joint_add_piece(j, body, span, 0, bytes);
}

/* The first of a chain may have a higher number than those that follow it. */
static calm_status add_buffers(joiner *j) {
  for (uint32_t b = 0; b < buffer_count(j); b++)
    if (j->chain[b] == b) j->body[b] = j->out.layout.body_count++;
  for (uint32_t b = 0; b < buffer_count(j); b++)
    TRY(add_piece(j, j->body[j->chain[b]], j->spans[b], j->bytes[b]));
  return CALM_OK;
}

/* What the order problem leaves out but the runtime does not: inputs that
   nobody reads, tensors that nobody makes.  Those that no operator touches at
   all may lie anywhere. */
static calm_status add_loose_tensor(joiner *j, uint32_t number,
                                    const graph_tensor *tensor) {
  const memory_span span = j->scopes.tensors[number];
  if (span.last == SCOPE_NEVER || !tflm_places(tensor, UINT64_MAX))
    return CALM_OK;
  j->out.body_of[number] = j->out.layout.body_count;
  return add_piece(j, j->out.body_of[number], span,
                   number_round_up(tflm_tensor_bytes(tensor), TFLM_ALIGN));
}

static calm_status add_tensors(joiner *j) {
  for (uint32_t i = first_buffered(j); i < j->count; i++)
    for (tensor_id t = 0; t < j->graphs[i].tensors.count; t++) {
      const uint32_t b = buffer_of(j, i, t);
      const uint32_t number = j->scopes.tensor_begin[i] + t;
      j->out.body_of[number] =
          b == CALM_NONE ? CALM_NONE : j->body[j->chain[b]];
      if (b == CALM_NONE)
        TRY(add_loose_tensor(j, number, &j->graphs[i].tensors.data[t]));
    }
  return CALM_OK;
}

static calm_status add_scratch(joiner *j) {
  for (uint32_t op = 0; op < j->scopes.op_begin[j->count]; op++) {
    uint64_t bytes;
    TRY(memory_scratch_sum(&bytes, j->scratch, op, TFLM_ALIGN, j->a->context));
    if (bytes && j->scopes.ops[op].last != SCOPE_NEVER)
      TRY(add_piece(j, j->out.layout.body_count, j->scopes.ops[op], bytes));
  }
  return CALM_OK;
}

/* `place` says where each piece went. */
static calm_status finish_reliefs(joiner *j, const uint32_t *place) {
  layout_relief *reliefs;
  ARENA_ARRAY(j->a, reliefs, j->reliefs.count);
  for (uint32_t i = 0; i < j->reliefs.count; i++) {
    const layout_relief *r = &j->reliefs.data[i];
    reliefs[i] =
        (layout_relief){place[r->input], place[r->output], r->distance};
  }
  j->out.layout.reliefs = reliefs;
  j->out.layout.relief_count = j->reliefs.count;
  return CALM_OK;
}

/* Pieces ascend by body: counting sort. */
static calm_status finish_layout(joiner *j) {
  layout_problem *l = &j->out.layout;
  uint32_t *next, *place;
  ARENA_ARRAY(j->a, l->bodies, l->body_count);
  ARENA_ARRAY(j->a, l->pieces, j->pieces.count);
  ARENA_ARRAY(j->temporary, next, (size_t)l->body_count + 1);
  ARENA_ARRAY(j->temporary, place, j->pieces.count);
  for (uint32_t i = 0; i < l->body_count; i++)
    l->bodies[i].align = j->model->align;
  for (uint32_t i = 0; i < j->pieces.count; i++)
    next[j->pieces.data[i].body + 1]++;
  for (uint32_t i = 0; i < l->body_count; i++) next[i + 1] += next[i];
  for (uint32_t i = 0; i < j->pieces.count; i++) {
    place[i] = next[j->pieces.data[i].body]++;
    l->pieces[place[i]] = j->pieces.data[i];
  }
  l->piece_count = j->pieces.count;
  TRY(finish_reliefs(j, place));
  return layout_problem_finish(l, j->a);
}

static calm_status join(joiner *j) {
  TRY(memory_scopes_build(&j->scopes, j->graphs, j->count, j->sequences,
                          ROOTS_ALL, j->a));
  j->rows = wants_rows(j);
  j->out.tensor_begin = j->scopes.tensor_begin;
  ARENA_ARRAY(j->a, j->out.body_of, j->scopes.tensor_begin[j->count]);
  ARENA_ARRAY(j->a, j->out.place_of, j->scopes.tensor_begin[j->count]);
  TRY(number_buffers(j));
  for (uint32_t i = first_buffered(j); i < j->count; i++) {
    measure_buffers(j, i);
    tie_chains(j, i);
  }
  if (j->rows) TRY(joint_add_rows(j));
  TRY(add_buffers(j));
  TRY(add_tensors(j));
  TRY(add_scratch(j));
  return finish_layout(j);
}

calm_status memory_joint_build(memory_joint *out, const graph *graphs,
                               uint32_t count, const memory_problem *problems,
                               const op_id *const *sequences,
                               const memory_model *model,
                               const memory_scratch *scratch, arena *a) {
  arena temporary;
  joiner j = {.graphs = graphs,
              .count = count,
              .problems = problems,
              .sequences = sequences,
              .model = model,
              .scratch = scratch,
              .a = a,
              .temporary = &temporary};
  arena_init(&temporary, a->context);
  calm_status status = join(&j);
  VECTOR_FREE(a->context, &j.pieces);
  VECTOR_FREE(a->context, &j.reliefs);
  arena_free(&temporary);
  if (status == CALM_OK) *out = j.out;
  return status;
}
