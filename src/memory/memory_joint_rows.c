/*
 * The entry row by row.  A tensor is there from the scope at which it is made,
 * and then all of it, whoever wants it: what nobody reads is written, too.
 * After that it is what its readers still want, the hull of their ranges, so
 * the rows of a picture that is read in strips die one by one, and those of a
 * concat, whose strips are tensors at fixed places in the same body, come to
 * life one by one:
 *
 *      bytes ^  +---+---+---+             strips a, b, c are read at
 *            |  |###|###|###| c           scopes 2, 4 and 6
 *            |  |###|###+---+ b
 *            |  |###+---+ a
 *            +--1---2---4---6--> scope
 *
 * What is read at a scope for the last time ends there; what is wanted later
 * is a piece of its own that covers the same scope, so an output may be let
 * into the former and not into the latter.
 */
#include <stdlib.h>

#include "base/number.h"
#include "memory/memory_joint_rows.h"
#include "memory/memory_relief.h"

/* Somebody wants bytes [low, high) of a tensor at a scope. */
typedef struct reading {
  int64_t scope;
  uint64_t low, high;
} reading;

typedef struct row_joiner {
  joiner *j;
  const graph *g;
  memory_alias *alias;
  bool *shared;          /* base -> others lie in it: sizes are not rounded */
  uint32_t *body;        /* base -> body, plus 1 */
  uint32_t *first_piece; /* tensor -> pieces [first_piece[t], end_piece[t]) */
  uint32_t *end_piece;
  VECTOR(reading) readings; /* of the tensor at hand */
} row_joiner;

bool graphs_run_entry(const graph *graphs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    for (op_id op = 0; op < graphs[i].ops.count; op++)
      for (uint32_t k = 0; k < graphs[i].ops.data[op].body_count; k++)
        if (graphs[i].ops.data[op].bodies[k] == 0) return true;
  return false;
}

static const graph_tensor *tensor_at(const row_joiner *r, tensor_id t) {
  return &r->g->tensors.data[t];
}

/* ---- Who wants what, when ------------------------------------------------ */

static calm_status add_reading(row_joiner *r, int64_t scope, uint64_t low,
                               uint64_t high) {
  const reading one = {scope, low, high};
  VECTOR_PUSH(r->j->a->context, &r->readings, one);
  return CALM_OK;
}

static calm_status add_readers(row_joiner *r, tensor_id t) {
  for (uint32_t i = r->g->reader_begin[t]; i < r->g->reader_begin[t + 1]; i++) {
    const op_id op = r->g->readers[i];
    const memory_span when = r->j->scopes.ops[r->j->scopes.op_begin[0] + op];
    for (uint32_t slot = 0; slot < r->g->ops.data[op].input_count; slot++) {
      uint64_t low, high;
      if (r->g->ops.data[op].inputs[slot] != t) continue;
      memory_read_bytes(&low, &high, r->g, op, slot);
      TRY(add_reading(r, when.last, low, high));
    }
  }
  return CALM_OK;
}

static int compare_readings(const void *left, const void *right) {
  const reading *a = left, *b = right;
  return (a->scope > b->scope) - (a->scope < b->scope);
}

/* All readings of a tensor in running order; each becomes the hull of itself
   and all that follow. */
static calm_status list_readings(row_joiner *r, tensor_id t) {
  const graph_tensor *tensor = tensor_at(r, t);
  const op_id maker = r->g->producer[t];
  const memory_scopes *s = &r->j->scopes;
  r->readings.count = 0;
  TRY(add_readers(r, t));
  if (tensor->flags & CALM_TENSOR_OUTPUT)
    TRY(add_reading(r, s->tensors[t].last, 0, tensor->bytes));
  if (maker != CALM_NONE)
    TRY(add_reading(r, s->ops[maker].last, 0, tensor->bytes));
  reading *list = r->readings.data;
  if (r->readings.count)
    qsort(list, r->readings.count, sizeof *list, compare_readings);
  for (uint32_t i = r->readings.count; i-- > 1;) {
    list[i - 1].low = number_smaller(list[i - 1].low, list[i].low);
    list[i - 1].high = number_larger(list[i - 1].high, list[i].high);
  }
  return CALM_OK;
}

/* ---- Pieces -------------------------------------------------------------- */

/* The end of a tensor of which all is wanted, alone in its body, is rounded as
   the runtime rounds it. */
static calm_status add_range(row_joiner *r, tensor_id t, memory_span span,
                             const reading *range) {
  const memory_alias at = r->alias[t];
  const uint64_t bytes = tflm_tensor_bytes(tensor_at(r, t));
  const bool to_end = range->high == tensor_at(r, t)->bytes;
  uint64_t high = to_end ? bytes : range->high;
  if (to_end && !r->shared[at.base]) high = number_round_up(bytes, TFLM_ALIGN);
  return joint_add_piece(r->j, r->body[at.base] - 1, span,
                         at.place + range->low, at.place + high);
}

/* From scope to scope; equal ranges one after the other are one piece. */
static calm_status add_life(row_joiner *r, tensor_id t, int64_t first) {
  reading now = {first, 0, tensor_at(r, t)->bytes};
  memory_span span = {first, first};
  for (uint32_t i = 0; i < r->readings.count; i++) {
    const reading *next = &r->readings.data[i];
    if (next->scope <= span.last && next->scope <= first) continue;
    if (next->low != now.low || next->high != now.high) {
      TRY(add_range(r, t, span, &now));
      span.first = span.last > first ? span.last : first + 1;
      now = *next;
    }
    span.last = next->scope;
  }
  return add_range(r, t, span, &now);
}

static calm_status add_tensor(row_joiner *r, tensor_id t) {
  joiner *j = r->j;
  const memory_span span = j->scopes.tensors[t];
  j->out.body_of[t] = CALM_NONE;
  if (span.last == SCOPE_NEVER || !tflm_places(tensor_at(r, t), UINT64_MAX))
    return CALM_OK;
  uint32_t *body = &r->body[r->alias[t].base];
  if (!*body) *body = ++j->out.layout.body_count;
  j->out.body_of[t] = *body - 1;
  j->out.place_of[t] = r->alias[t].place;
  TRY(list_readings(r, t));
  r->first_piece[t] = j->pieces.count;
  TRY(add_life(r, t, span.first));
  r->end_piece[t] = j->pieces.count;
  return CALM_OK;
}

/* ---- Reliefs ------------------------------------------------------------- */

/* The piece of a tensor that ends at a scope, or CALM_NONE. */
static uint32_t dying_piece(const row_joiner *r, tensor_id t, int64_t scope) {
  for (uint32_t i = r->first_piece[t]; i < r->end_piece[t]; i++)
    if (r->j->pieces.data[i].upper == scope + 2) return i;
  return CALM_NONE;
}

static calm_status add_relief(row_joiner *r, const memory_relief *relief,
                              tensor_id out, int64_t scope) {
  const tensor_id in = relief->input;
  const uint32_t output = r->first_piece[out];
  const uint32_t input = dying_piece(r, in, scope);
  if (input == CALM_NONE || output == r->end_piece[out] ||
      r->j->out.body_of[in] == r->j->out.body_of[out])
    return CALM_OK;
  const layout_piece *p = &r->j->pieces.data[input];
  const layout_piece *q = &r->j->pieces.data[output];
  const int64_t distance =
      relief->distance + (int64_t)(p->low - r->alias[in].place);
  if (p->lower == q->lower || q->lower != scope + 1 ||
      distance >= (int64_t)(q->high - q->low))
    return CALM_OK;
  const layout_relief one = {input, output, distance};
  VECTOR_PUSH(r->j->a->context, &r->j->reliefs, one);
  return CALM_OK;
}

static calm_status add_reliefs(row_joiner *r, op_id op) {
  memory_relief reliefs[RELIEFS_MOST];
  const memory_span when = r->j->scopes.ops[op];
  const uint32_t count = memory_reliefs_of(reliefs, r->g, r->j->model, op);
  if (when.first == SCOPE_NEVER || when.first != when.last) return CALM_OK;
  for (uint32_t i = 0; i < count; i++)
    TRY(add_relief(r, &reliefs[i], r->g->ops.data[op].outputs[0], when.first));
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status add_all(row_joiner *r) {
  joiner *j = r->j;
  const uint32_t tensors = r->g->tensors.count;
  TRY(memory_alias_find(&r->alias, r->g, j->model, j->temporary));
  ARENA_ARRAY(j->temporary, r->shared, tensors);
  ARENA_ARRAY(j->temporary, r->body, tensors);
  ARENA_ARRAY(j->temporary, r->first_piece, tensors);
  ARENA_ARRAY(j->temporary, r->end_piece, tensors);
  for (tensor_id t = 0; t < tensors; t++) {
    const memory_alias at = r->alias[t];
    if (tensor_at(r, t)->bytes != tensor_at(r, at.base)->bytes)
      r->shared[at.base] = true;
  }
  for (tensor_id t = 0; t < tensors; t++) TRY(add_tensor(r, t));
  for (op_id op = 0; op < r->g->ops.count; op++) TRY(add_reliefs(r, op));
  return CALM_OK;
}

calm_status joint_add_rows(joiner *j) {
  row_joiner r = {.j = j, .g = &j->graphs[0]};
  calm_status status = add_all(&r);
  VECTOR_FREE(j->a->context, &r.readings);
  return status;
}
