/*
 * The same where rows of tensors are told apart: at each step the bytes of each
 * base that somebody wants, whichever tensors they belong to, are counted once.
 * An output over a dying input saves what the kernel lets it save at best; what
 * others still want of the input saves nothing.
 */
#include <stdlib.h>

#include "memory/memory_alias.h"
#include "memory/memory_relief.h"
#include "memory/memory_simulate.h"

/* Bytes [low, high) of a base are wanted at steps [first, last]. */
typedef struct stay {
  uint32_t first, last;
  tensor_id tensor, base;
  uint64_t low, high;
} stay;

typedef struct row_simulation {
  const simulation *s;
  const op_id *sequence;
  arena *scratch;
  memory_alias *alias;
  bool *shared; /* base -> others of other sizes lie in it */
  uint32_t *step_of;
  VECTOR(stay) stays;
  VECTOR(stay) now; /* those at the step at hand */
} row_simulation;

/* ---- When which bytes are wanted ----------------------------------------- */

static bool counts(const row_simulation *r, tensor_id t) {
  const graph_tensor *tensor = tensor_of(r->s, t);
  const graph *g = r->s->g;
  const bool used = g->reader_begin[t] < g->reader_begin[t + 1];
  if (tensor->bytes == 0 ||
      tensor->flags & (CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE))
    return false;
  return g->producer[t] != CALM_NONE ||
         (tensor->flags & CALM_TENSOR_INPUT && used);
}

/* The hull of what operators after step `after` want of a tensor, and the first
   of them. */
static bool find_next(const row_simulation *r, tensor_id t, int64_t after,
                      stay *out) {
  const graph *g = r->s->g;
  const graph_tensor *tensor = tensor_of(r->s, t);
  bool found = false;
  for (uint32_t i = g->reader_begin[t]; i < g->reader_begin[t + 1]; i++) {
    const op_id op = g->readers[i];
    if (r->step_of[op] <= after) continue;
    for (uint32_t slot = 0; slot < g->ops.data[op].input_count; slot++) {
      uint64_t low, high;
      if (g->ops.data[op].inputs[slot] != t) continue;
      memory_read_bytes(&low, &high, g, op, slot);
      if (!found || low < out->low) out->low = low;
      if (!found || high > out->high) out->high = high;
      if (!found || r->step_of[op] < out->last) out->last = r->step_of[op];
      found = true;
    }
  }
  if (tensor->flags & CALM_TENSOR_OUTPUT) {
    if (!found) out->last = g->ops.count - 1;
    out->low = 0;
    out->high = tensor->bytes;
    found = found || after + 1 < g->ops.count;
  }
  return found;
}

/* A stay in the bytes of the base; one that is all of it is rounded. */
static calm_status add_stay(row_simulation *r, stay one) {
  const memory_alias at = r->alias[one.tensor];
  const uint64_t bytes = tensor_of(r->s, one.tensor)->bytes;
  if (one.high == bytes && !r->shared[at.base])
    one.high = number_round_up(bytes, r->s->model->round);
  one.base = at.base;
  one.low += at.place;
  one.high += at.place;
  VECTOR_PUSH(r->s->context, &r->stays, one);
  return CALM_OK;
}

static calm_status follow_tensor(row_simulation *r, tensor_id t) {
  const op_id maker = r->s->g->producer[t];
  const uint32_t first = maker == CALM_NONE ? 0 : r->step_of[maker];
  stay one = {first, first, t, t, 0, tensor_of(r->s, t)->bytes};
  int64_t last = maker == CALM_NONE ? -1 : (int64_t)first;
  TRY(add_stay(r, one));
  while (find_next(r, t, last, &one)) {
    one.first = last == first ? first + 1 : last < 0 ? 0 : (uint32_t)last;
    if (one.first > one.last) one.first = one.last;
    TRY(add_stay(r, one));
    last = one.last;
  }
  return CALM_OK;
}

static calm_status find_stays(row_simulation *r) {
  const graph *g = r->s->g;
  ARENA_ARRAY(r->scratch, r->shared, g->tensors.count);
  ARENA_ARRAY(r->scratch, r->step_of, g->ops.count);
  TRY(memory_alias_find(&r->alias, g, r->s->model, r->scratch));
  for (uint32_t step = 0; step < g->ops.count; step++)
    r->step_of[r->sequence[step]] = step;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (tensor_of(r->s, t)->bytes != tensor_of(r->s, r->alias[t].base)->bytes)
      r->shared[r->alias[t].base] = true;
  for (tensor_id t = 0; g->ops.count && t < g->tensors.count; t++)
    if (counts(r, t)) TRY(follow_tensor(r, t));
  return CALM_OK;
}

/* ---- Counting ------------------------------------------------------------ */

static int compare_places(const void *left, const void *right) {
  const stay *a = left, *b = right;
  if (a->base != b->base) return a->base < b->base ? -1 : 1;
  return (a->low > b->low) - (a->low < b->low);
}

static int compare_begins(const void *left, const void *right) {
  const stay *a = left, *b = right;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  return (a->tensor > b->tensor) - (a->tensor < b->tensor);
}

/* Bytes in the union of what is wanted now, without what `left_out` has no more
   need for after this step; CALM_NONE: of all. */
static uint64_t count_bytes(const row_simulation *r, uint32_t step,
                            tensor_id left_out) {
  uint64_t sum = 0, end = 0;
  tensor_id base = CALM_NONE;
  for (uint32_t i = 0; i < r->now.count; i++) {
    const stay *one = &r->now.data[i];
    if (one->tensor == left_out && one->last == step) continue;
    if (one->base != base) end = 0;
    base = one->base;
    const uint64_t low = number_larger(one->low, end);
    if (one->high > low) sum += one->high - low;
    end = number_larger(end, one->high);
  }
  return sum;
}

/* What the bytes of a tensor count for. */
static uint64_t counted_bytes(const row_simulation *r, tensor_id t) {
  const uint64_t bytes = tensor_of(r->s, t)->bytes;
  return r->shared[r->alias[t].base]
             ? bytes
             : number_round_up(bytes, r->s->model->round);
}

static uint64_t find_saving(const row_simulation *r, uint32_t step,
                            uint64_t all) {
  memory_relief reliefs[RELIEFS_MOST];
  const op_id op = r->sequence[step];
  uint64_t best = 0;
  const uint32_t count = memory_reliefs_of(reliefs, r->s->g, r->s->model, op);
  for (uint32_t i = 0; i < count; i++) {
    const tensor_id in = reliefs[i].input;
    const tensor_id out = r->s->g->ops.data[op].outputs[0];
    if (r->alias[in].base == r->alias[out].base) continue;
    const uint64_t dying = all - count_bytes(r, step, in);
    const uint64_t saved =
        memory_relief_saving(dying, counted_bytes(r, out), reliefs[i].distance);
    best = number_larger(best, saved);
  }
  return best;
}

/* Those that are wanted at a step: the former ones, without those that are not,
   and those that begin. */
static calm_status move_on(row_simulation *r, uint32_t step, uint32_t *next) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < r->now.count; i++)
    if (r->now.data[i].last >= step) r->now.data[kept++] = r->now.data[i];
  r->now.count = kept;
  for (; *next < r->stays.count && r->stays.data[*next].first <= step; ++*next)
    VECTOR_PUSH(r->s->context, &r->now, r->stays.data[*next]);
  if (r->now.count)
    qsort(r->now.data, r->now.count, sizeof *r->now.data, compare_places);
  return CALM_OK;
}

static calm_status count_steps(row_simulation *r) {
  uint32_t next = 0;
  if (r->stays.count)
    qsort(r->stays.data, r->stays.count, sizeof *r->stays.data, compare_begins);
  for (uint32_t step = 0; step < r->s->g->ops.count; step++) {
    const graph_op *op = &r->s->g->ops.data[r->sequence[step]];
    uint64_t gross;
    TRY(move_on(r, step, &next));
    const uint64_t all = count_bytes(r, step, CALM_NONE);
    if (!number_add(&gross, all, simulation_scratch_of(r->s, op)))
      return context_fail(r->s->context, CALM_BAD_INPUT,
                          "graph '%s': more than 2^62 bytes are alive while "
                          "'%s' runs",
                          r->s->g->name, op->name);
    r->s->profile->step_bytes[step] = gross - find_saving(r, step, all);
  }
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static void describe_lives(row_simulation *r) {
  memory_life *lives = r->s->profile->lives;
  for (tensor_id t = 0; t < r->s->g->tensors.count; t++) {
    lives[t].storage = r->alias[t].base;
    lives[t].bytes = rounded(r->s, t);
    if (tensor_of(r->s, t)->flags & CALM_TENSOR_OUTPUT)
      lives[r->alias[t].base].kept = true;
  }
  for (uint32_t i = 0; i < r->stays.count; i++) {
    const stay *one = &r->stays.data[i];
    memory_life *life = &lives[one->base];
    if (!life->counted || one->first < life->first) life->first = one->first;
    if (!life->counted || one->last > life->last) life->last = one->last;
    life->counted = true;
  }
}

static calm_status run(row_simulation *r) {
  TRY(find_stays(r));
  TRY(count_steps(r));
  describe_lives(r);
  return CALM_OK;
}

calm_status simulation_run_rows(simulation *s, const op_id *sequence,
                                arena *scratch) {
  row_simulation r = {.s = s, .sequence = sequence, .scratch = scratch};
  calm_status status = run(&r);
  VECTOR_FREE(s->context, &r.stays);
  VECTOR_FREE(s->context, &r.now);
  return status;
}
