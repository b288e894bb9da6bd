/*
 * Tensors of equal bytes are one already (memory_storage.h); here such a class
 * gets its place in another, if it has one.  First the operands of concats go
 * into the outputs, then slices into what they are cut from: a strip that
 * somebody has to copy anyway is copied to where it is needed.
 *
 *     x   |   a   |   b   |   c   |     a, b, c: rows cut from x, in x
 *     y   |  f(a) |  f(b) |  f(c) |     strips of a concat, made in y
 *
 * A link to a concat leads forwards, to what is made later, and from a concat
 * there are no others; a link of a slice leads backwards.  So following links
 * comes to an end.
 */
#include "memory/memory_alias.h"

#include "base/number.h"
#include "graph/graph_edit.h"
#include "graph/graph_window.h"
#include "memory/memory_storage.h"

typedef struct finder {
  const graph *g;
  const memory_model *model;
  arena scratch;
  tensor_id *root;   /* tensor -> the first of those with the same bytes */
  bool *returned;    /* root -> some tensor of its class is a graph output */
  tensor_id *parent; /* root -> root in which it lies, or CALM_NONE */
  uint64_t *place;   /* root -> where in its parent */
} finder;

static const graph_tensor *tensor_at(const finder *f, tensor_id t) {
  return &f->g->tensors.data[t];
}

/* ---- Parts --------------------------------------------------------------- */

/* Bytes of an element; 0 where a tensor is not made of whole bytes. */
static uint64_t element_bytes(const graph_tensor *t) {
  const uint32_t bits =
      t->type == ELEMENT_ABSTRACT ? 0 : element_type_bits(t->type);
  return bits % 8 ? 0 : bits / 8;
}

/* Of a slice: its part of the input, element by element from *low to the end of
   the last one.  False if it does not say, or contradicts the shapes. */
static bool find_part(uint64_t *low, uint64_t *high, const graph *g,
                      const graph_op *op) {
  int64_t begin[GRAPH_MAX_RANK], size[GRAPH_MAX_RANK];
  const graph_tensor *in = &g->tensors.data[op->inputs[0]];
  const uint64_t element = element_bytes(in);
  uint64_t first = 0, last = 0, stride = 1;
  if (!element || graph_op_numbers(begin, op, "begin") != in->rank ||
      graph_op_numbers(size, op, "size") != in->rank || in->bytes == 0)
    return false;
  for (uint32_t i = in->rank; i-- > 0;) {
    const int64_t length = in->dimensions[i];
    const int64_t taken = size[i] < 0 ? length - begin[i] : size[i];
    if (begin[i] < 0 || begin[i] > length || taken < 1 ||
        taken > length - begin[i])
      return false;
    first += (uint64_t)begin[i] * stride;
    last += (uint64_t)(begin[i] + taken - 1) * stride;
    stride *= (uint64_t)length;
  }
  *low = first * element;
  *high = (last + 1) * element;
  return true;
}

void memory_read_bytes(uint64_t *low, uint64_t *high, const graph *g, op_id op,
                       uint32_t slot) {
  const graph_op *o = &g->ops.data[op];
  *low = 0;
  *high = g->tensors.data[o->inputs[slot]].bytes;
  if (o->kind == OP_slice && slot == 0) find_part(low, high, g, o);
}

/* ---- Classes ------------------------------------------------------------- */

static void find_classes(finder *f, const memory_storage *s) {
  for (tensor_id t = 0; t < f->g->tensors.count; t++) {
    f->root[t] = memory_rows_count(&s->bases, t) == 1
                     ? *memory_rows_at(&s->bases, t)
                     : t;
    f->parent[t] = CALM_NONE;
  }
  for (tensor_id t = 0; t < f->g->tensors.count; t++)
    if (tensor_at(f, t)->flags & CALM_TENSOR_OUTPUT)
      f->returned[f->root[t]] = true;
}

/* Made by an operator, to be read by others, and by them alone. */
static bool is_made(const finder *f, tensor_id root) {
  return f->g->producer[root] != CALM_NONE &&
         !(tensor_at(f, root)->flags &
           (CALM_TENSOR_CONST | CALM_TENSOR_INPUT | CALM_TENSOR_VARIABLE));
}

/* May a class lie in another at all?  What is handed over has bytes of its own,
   and a class lies in one place only. */
static bool may_move(const finder *f, tensor_id root) {
  return is_made(f, root) && !f->returned[root] &&
         f->parent[root] == CALM_NONE && element_bytes(tensor_at(f, root)) != 0;
}

static void tie(finder *f, tensor_id root, tensor_id parent, uint64_t place) {
  if (place % element_bytes(tensor_at(f, root))) return;
  f->parent[root] = parent;
  f->place[root] = place;
}

/* ---- Concats ------------------------------------------------------------- */

static bool has_axis(uint32_t *out, const graph_op *op, uint32_t rank) {
  int64_t axis[GRAPH_MAX_RANK];
  if (graph_op_numbers(axis, op, "axis") != 1) return false;
  if (axis[0] < 0) axis[0] += rank;
  *out = (uint32_t)axis[0];
  return axis[0] >= 0 && axis[0] < rank;
}

/* Are the parts along an axis contiguous, one after the other? */
static bool joins_runs(const finder *f, const graph_op *op) {
  uint32_t axis;
  uint64_t sum = 0;
  const graph_tensor *out = tensor_at(f, op->outputs[0]);
  if (!element_bytes(out) || !has_axis(&axis, op, out->rank)) return false;
  for (uint32_t i = 0; i < axis; i++)
    if (out->dimensions[i] != 1) return false;
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] == CALM_NONE ||
        !number_add(&sum, sum, tensor_at(f, op->inputs[i])->bytes))
      return false;
  return sum == out->bytes;
}

/* The same numbers mean the same there: nothing is scaled on the way. */
static bool keeps_numbers(const finder *f, tensor_id part, tensor_id whole) {
  const graph_tensor *a = tensor_at(f, part), *b = tensor_at(f, whole);
  return a->type == b->type && a->quantization == b->quantization;
}

static void tie_operands(finder *f, const graph_op *op) {
  const tensor_id target = f->root[op->outputs[0]];
  uint64_t place = 0;
  if (!is_made(f, target) || !joins_runs(f, op) ||
      graph_op_attribute(op, "activation"))
    return;
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id root = f->root[op->inputs[i]];
    if (root != target && may_move(f, root) &&
        keeps_numbers(f, op->inputs[i], op->outputs[0]))
      tie(f, root, target, place);
    place += tensor_at(f, op->inputs[i])->bytes;
  }
}

/* ---- Slices -------------------------------------------------------------- */

/* The part is as long as its elements are many if it has no gaps. */
static void tie_slice(finder *f, const graph_op *op) {
  uint64_t low, high;
  const tensor_id out = op->outputs[0], root = f->root[out];
  const tensor_id source =
      op->inputs[0] == CALM_NONE ? CALM_NONE : f->root[op->inputs[0]];
  if (source == CALM_NONE || source == root || root != out ||
      !may_move(f, root) ||
      tensor_at(f, source)->flags & (CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE))
    return;
  if (find_part(&low, &high, f->g, op) &&
      high - low == tensor_at(f, out)->bytes)
    tie(f, root, source, low);
}

/* ---- All of it ----------------------------------------------------------- */

static bool is_tied_kind(const finder *f, const graph_op *op, op_kind kind) {
  return op->kind == kind && bits_has(f->model->views, kind) &&
         op->output_count == 1 && op->outputs[0] != CALM_NONE &&
         op->input_count > 0;
}

static void tie_all(finder *f) {
  for (uint32_t i = 0; i < f->g->ops.count; i++) {
    const graph_op *op = &f->g->ops.data[f->g->order[i]];
    if (is_tied_kind(f, op, OP_concat)) tie_operands(f, op);
  }
  for (uint32_t i = 0; i < f->g->ops.count; i++) {
    const graph_op *op = &f->g->ops.data[f->g->order[i]];
    if (is_tied_kind(f, op, OP_slice)) tie_slice(f, op);
  }
}

/* Follow links to the end; then let all that were passed point there. */
static memory_alias follow(finder *f, tensor_id root) {
  memory_alias end = {root, 0};
  while (f->parent[end.base] != CALM_NONE) {
    end.place += f->place[end.base];
    end.base = f->parent[end.base];
  }
  for (uint64_t place = end.place; f->parent[root] != CALM_NONE;) {
    const tensor_id next = f->parent[root];
    const uint64_t step = f->place[root];
    f->parent[root] = end.base;
    f->place[root] = place;
    place -= step;
    root = next;
  }
  return end;
}

static calm_status find(finder *f, const memory_storage *s,
                        memory_alias *aliases) {
  const uint32_t tensors = f->g->tensors.count;
  ARENA_ARRAY(&f->scratch, f->root, tensors);
  ARENA_ARRAY(&f->scratch, f->returned, tensors);
  ARENA_ARRAY(&f->scratch, f->parent, tensors);
  ARENA_ARRAY(&f->scratch, f->place, tensors);
  find_classes(f, s);
  tie_all(f);
  for (tensor_id t = 0; t < tensors; t++) aliases[t] = follow(f, f->root[t]);
  return CALM_OK;
}

bool memory_alias_asked(const memory_model *model) {
  return bits_has(model->views, OP_slice) || bits_has(model->views, OP_concat);
}

calm_status memory_alias_find(memory_alias **out, const graph *g,
                              const memory_model *model, arena *a) {
  finder f = {.g = g, .model = model};
  memory_alias *aliases;
  memory_storage storage = {0};
  uint64_t *none;
  ARENA_ARRAY(a, aliases, g->tensors.count);
  arena_init(&f.scratch, a->context);
  none = arena_calloc(&f.scratch, g->ops.count, sizeof *none);
  calm_status status =
      none ? memory_storage_resolve(&storage, g, model, none, &f.scratch)
           : context_no_memory(a->context);
  if (status == CALM_OK) status = find(&f, &storage, aliases);
  memory_storage_free(&storage);
  arena_free(&f.scratch);
  if (status == CALM_OK) *out = aliases;
  return status;
}
