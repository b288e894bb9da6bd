/*
 * First fit by descending size.  A buffer only cares for those that are in use
 * when it is, so these are fetched from a tree over the spans, sorted by
 * offset, and searched for a gap from the bottom up:
 *
 *     candidate  0 |####| gap |##########|    gap    |###|
 *                       ^ the first gap that is wide enough
 *
 * Buffers with a given offset stay there, whatever they overlap.
 */
#include "memory/memory_tflm.h"

#include <stdlib.h>

#include "base/number.h"

/* ---- Who is in use at the same time -------------------------------------- */

/* Positions of buffers by the scope at which they begin; over them a tree of
   the latest end of any placed buffer below. */
typedef struct span_tree {
  const tflm_buffer *buffers;
  uint32_t *by_first; /* position -> buffer */
  uint32_t *position; /* buffer -> position */
  int64_t *latest;    /* node -> end; the leaves are nodes size + position */
  uint32_t count, size;
} span_tree;

enum { NOBODY = SCOPE_NEVER - 1 };

typedef struct span_key {
  int64_t first;
  uint32_t buffer;
} span_key;

static int compare_first(const void *left, const void *right) {
  const span_key *a = left, *b = right;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  return a->buffer < b->buffer ? -1 : 1;
}

static calm_status sort_by_first(span_tree *tree, arena *a) {
  span_key *keys;
  ARENA_ARRAY(a, keys, tree->count);
  for (uint32_t i = 0; i < tree->count; i++)
    keys[i] = (span_key){tree->buffers[i].span.first, i};
  if (tree->count) qsort(keys, tree->count, sizeof *keys, compare_first);
  for (uint32_t i = 0; i < tree->count; i++) {
    tree->by_first[i] = keys[i].buffer;
    tree->position[keys[i].buffer] = i;
  }
  return CALM_OK;
}

static calm_status tree_init(span_tree *tree, const tflm_buffer *buffers,
                             uint32_t count, arena *a) {
  *tree = (span_tree){.buffers = buffers, .count = count, .size = 1};
  while (tree->size < count) tree->size *= 2;
  ARENA_ARRAY(a, tree->by_first, count);
  ARENA_ARRAY(a, tree->position, count);
  ARENA_ARRAY(a, tree->latest, 2 * (size_t)tree->size);
  for (size_t i = 0; i < 2 * (size_t)tree->size; i++) tree->latest[i] = NOBODY;
  return sort_by_first(tree, a);
}

static void tree_add(span_tree *tree, uint32_t buffer) {
  const int64_t last = tree->buffers[buffer].span.last;
  for (size_t node = (size_t)tree->size + tree->position[buffer]; node;
       node /= 2)
    if (tree->latest[node] < last) tree->latest[node] = last;
}

/*
 * The placed buffers that share a scope with `span`: leaves in the order of
 * their beginnings, subtrees left out whose ends are all too early, until the
 * beginnings are too late.
 */
static uint32_t tree_find(const span_tree *tree, memory_span span,
                          uint32_t *out) {
  uint32_t found = 0;
  size_t node = 1;
  for (;;) {
    const bool below = tree->latest[node] >= span.first;
    if (below && node < tree->size) {
      node *= 2;
      continue;
    }
    if (below) {
      const uint32_t buffer = tree->by_first[node - tree->size];
      if (tree->buffers[buffer].span.first > span.last) return found;
      out[found++] = buffer;
    }
    while (node % 2) node /= 2; /* up, while this was the right child */
    if (node == 0) return found;
    node++;
  }
}

/* ---- Placing ------------------------------------------------------------- */

typedef struct placer {
  tflm_buffer *buffers;
  uint32_t count;
  uint32_t *order; /* in which they are placed */
  span_tree tree;
  uint32_t *meeting;   /* those that meet the one being placed */
  span_key *by_offset; /* the same, as offsets */
} placer;

typedef struct size_key {
  uint64_t bytes;
  uint32_t buffer;
} size_key;

static int compare_sizes(const void *left, const void *right) {
  const size_key *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return a->buffer > b->buffer ? -1 : 1;
}

/* Those with an offset by number, then the others by size. */
static calm_status choose_order(placer *p, arena *a) {
  size_key *keys;
  uint32_t given = 0, open = 0;
  ARENA_ARRAY(a, keys, p->count);
  ARENA_ARRAY(a, p->order, p->count);
  for (uint32_t i = 0; i < p->count; i++)
    if (p->buffers[i].offset != UINT64_MAX)
      p->order[given++] = i;
    else
      keys[open++] = (size_key){p->buffers[i].bytes, i};
  if (open) qsort(keys, open, sizeof *keys, compare_sizes);
  for (uint32_t i = 0; i < open; i++) p->order[given + i] = keys[i].buffer;
  return CALM_OK;
}

static uint64_t end_of(const tflm_buffer *b) { return b->offset + b->bytes; }

static uint64_t find_gap(placer *p, const tflm_buffer *wanted) {
  const uint32_t count = tree_find(&p->tree, wanted->span, p->meeting);
  uint64_t candidate = 0;
  for (uint32_t i = 0; i < count; i++)
    p->by_offset[i] =
        (span_key){(int64_t)p->buffers[p->meeting[i]].offset, p->meeting[i]};
  if (count) qsort(p->by_offset, count, sizeof *p->by_offset, compare_first);
  for (uint32_t i = 0; i < count; i++) {
    const tflm_buffer *next = &p->buffers[p->by_offset[i].buffer];
    if (next->offset >= candidate && next->offset - candidate >= wanted->bytes)
      break;
    if (end_of(next) > candidate) candidate = end_of(next);
  }
  return candidate;
}

static calm_status place(uint64_t *out_head, placer *p, arena *scratch) {
  uint64_t head = 0;
  TRY(choose_order(p, scratch));
  TRY(tree_init(&p->tree, p->buffers, p->count, scratch));
  ARENA_ARRAY(scratch, p->meeting, p->count);
  ARENA_ARRAY(scratch, p->by_offset, p->count);
  for (uint32_t i = 0; i < p->count; i++) {
    tflm_buffer *b = &p->buffers[p->order[i]];
    if (b->offset == UINT64_MAX) b->offset = find_gap(p, b);
    if (end_of(b) > head) head = end_of(b);
    tree_add(&p->tree, p->order[i]);
  }
  *out_head = head;
  return CALM_OK;
}

/* No sum of offsets and sizes below can wrap. */
static calm_status check_total(const tflm_buffer *buffers, uint32_t count,
                               calm_context *context) {
  uint64_t total = 0, highest = 0;
  bool fits = true;
  for (uint32_t i = 0; i < count && fits; i++) {
    const uint64_t offset = buffers[i].offset;
    fits = number_add(&total, total, buffers[i].bytes);
    if (offset != UINT64_MAX && offset > highest) highest = offset;
  }
  if (fits && number_add(&total, total, highest)) return CALM_OK;
  return context_fail(context, CALM_BAD_INPUT,
                      "tensors and scratch buffers together exceed 2^62 bytes");
}

calm_status tflm_place(uint64_t *out_head, tflm_buffer *buffers, uint32_t count,
                       calm_context *context) {
  placer p = {.buffers = buffers, .count = count};
  arena scratch;
  TRY(check_total(buffers, count, context));
  arena_init(&scratch, context);
  calm_status status = place(out_head, &p, &scratch);
  arena_free(&scratch);
  return status;
}

/* ---- A whole model ------------------------------------------------------- */

/* The type by which the runtime measures.  It does not pack four bits.
   VAR_HANDLE points its output at memory of its own before the arena is
   planned; a graph that is handed such a handle gets a copy of four bytes. */
static element_type measured_type(const graph_tensor *tensor) {
  if (tensor->type == ELEMENT_ABSTRACT) return tensor->type;
  if (tensor->type == ELEMENT_resource && tensor->flags & CALM_TENSOR_INPUT)
    return ELEMENT_i32;
  return element_type_bits(tensor->type) == 4 ? ELEMENT_i8 : tensor->type;
}

uint64_t tflm_tensor_bytes(const graph_tensor *tensor) {
  uint64_t bytes;
  const element_type type = measured_type(tensor);
  const bool other =
      type != tensor->type &&
      graph_bytes_of(&bytes, type, tensor->dimensions, tensor->rank);
  return other ? bytes : tensor->bytes;
}

bool tflm_places(const graph_tensor *tensor, uint64_t offset) {
  if (tflm_tensor_bytes(tensor) == 0 || (tensor->flags & CALM_TENSOR_CONST))
    return false;
  return !(tensor->flags & CALM_TENSOR_VARIABLE) || offset != UINT64_MAX;
}

typedef struct prediction {
  const tflm_model *model;
  memory_scopes scopes;
  tflm_buffer *buffers;
  uint32_t *tensor_of; /* buffer -> number of its tensor or scratch buffer */
  uint32_t count, tensor_buffers;
  tflm_head head;
} prediction;

static uint64_t given_offset(const tflm_model *m, uint32_t graph, tensor_id t) {
  return m->offsets ? m->offsets[graph][t] : UINT64_MAX;
}

static void add_buffer(prediction *p, uint64_t bytes, memory_span span,
                       uint64_t offset, uint32_t number) {
  p->tensor_of[p->count] = number;
  p->buffers[p->count++] =
      (tflm_buffer){.bytes = number_round_up(bytes, TFLM_ALIGN),
                    .span = span,
                    .offset = offset};
}

static void add_tensors(prediction *p, uint32_t graph) {
  const graph_tensor *tensors = p->model->graphs[graph].tensors.data;
  for (tensor_id t = 0; t < p->model->graphs[graph].tensors.count; t++) {
    const uint32_t number = p->scopes.tensor_begin[graph] + t;
    const uint64_t offset = given_offset(p->model, graph, t);
    if (tflm_places(&tensors[t], offset))
      add_buffer(p, tflm_tensor_bytes(&tensors[t]), p->scopes.tensors[number],
                 offset, number);
  }
}

/* Kernels are prepared, and ask for scratch, in running order. */
static void add_scratch(prediction *p, uint32_t graph) {
  const memory_scratch *s = p->model->scratch;
  for (uint32_t step = 0; step < p->model->graphs[graph].ops.count; step++) {
    const uint32_t number =
        p->scopes.op_begin[graph] + p->model->sequences[graph][step];
    for (uint32_t i = s->begin[number]; i < s->begin[number + 1]; i++)
      add_buffer(p, s->bytes[i], p->scopes.ops[number], UINT64_MAX, i);
  }
}

static calm_status list_buffers(prediction *p, arena *scratch) {
  const tflm_model *m = p->model;
  const uint32_t ops = p->scopes.op_begin[m->count];
  const size_t most =
      (size_t)p->scopes.tensor_begin[m->count] + m->scratch->begin[ops];
  ARENA_ARRAY(scratch, p->buffers, most);
  ARENA_ARRAY(scratch, p->tensor_of, most);
  for (uint32_t i = 0; i < m->count; i++) add_tensors(p, i);
  p->tensor_buffers = p->count;
  for (uint32_t i = 0; i < m->count; i++) add_scratch(p, i);
  return CALM_OK;
}

static calm_status record(prediction *p, arena *a) {
  const tflm_model *m = p->model;
  const uint32_t tensors = p->scopes.tensor_begin[m->count];
  const uint32_t ops = p->scopes.op_begin[m->count];
  ARENA_ARRAY(a, p->head.offsets, tensors);
  ARENA_ARRAY(a, p->head.scratch_offsets, m->scratch->begin[ops]);
  for (uint32_t t = 0; t < tensors; t++) p->head.offsets[t] = UINT64_MAX;
  for (uint32_t i = 0; i < p->count; i++) {
    uint64_t *offsets =
        i < p->tensor_buffers ? p->head.offsets : p->head.scratch_offsets;
    offsets[p->tensor_of[i]] = p->buffers[i].offset;
  }
  return CALM_OK;
}

static calm_status predict(prediction *p, arena *scratch, arena *a) {
  const tflm_model *m = p->model;
  TRY(memory_scopes_build(&p->scopes, m->graphs, m->count, m->sequences,
                          ROOTS_ENTRY, scratch));
  TRY(list_buffers(p, scratch));
  TRY(tflm_place(&p->head.bytes, p->buffers, p->count, a->context));
  return record(p, a);
}

calm_status tflm_predict(tflm_head *out, const tflm_model *model, arena *a) {
  prediction p = {.model = model};
  arena scratch;
  arena_init(&scratch, a->context);
  calm_status status = predict(&p, &scratch, a);
  arena_free(&scratch);
  if (status == CALM_OK) *out = p.head;
  return status;
}
