/*
 * A tensor is given bytes at the node that makes it and loses them at the node
 * after which nobody reads it; inputs and variables have theirs from the first
 * node on.  What counts as being read is decided before anything is placed, so
 * a tensor that may be written over belongs to its *root*, whose bytes it has,
 * and every reader of one is a reader of the other.
 *
 * Placed is by size, those first that are there all the time.  Among the gaps
 * between tensors that are in use at the same time the tightest is taken:
 *
 *     offset 0 |####|  gap  |###|    gap    |########|  end
 *                   ^ the start is moved up to a multiple of 64; how well a
 *                     gap fits is remembered from where it begins
 */
#include "memory/memory_litert.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { LITERT_ALIGN = 64, NEVER = INT32_MAX };

/* When a tensor has its bytes, in nodes, both inclusive; last NEVER: to the
   end.  Before they are known, both are NEVER. */
typedef struct usage {
  uint32_t first, last;
} usage;

typedef struct placed {
  uint64_t offset, end;
  usage use;
} placed;

typedef struct planner {
  const graph *g;
  const op_id *sequence;
  const memory_model *model; /* what the kernels allow */
  uint32_t *references;      /* per tensor: operands that are it, and pins */
  tensor_id *root;           /* per tensor: itself, or whose bytes it has */
  usage *uses;               /* per tensor */
  placed *active;            /* by offset */
  uint32_t active_count;
  litert_arena result;
} planner;

static const graph_tensor *tensor_of(const planner *p, tensor_id t) {
  return &p->g->tensors.data[t];
}

static bool has(const planner *p, tensor_id t, unsigned flags) {
  return tensor_of(p, t)->flags & flags;
}

static bool in_main_arena(const planner *p, tensor_id t) {
  return !has(p, t, CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE) &&
         tensor_of(p, t)->type != ELEMENT_str;
}

/* ---- Who shares bytes ---------------------------------------------------- */

static void count_references(planner *p) {
  static const unsigned pins[] = {CALM_TENSOR_OUTPUT, CALM_TENSOR_VARIABLE,
                                  CALM_TENSOR_INPUT};
  for (tensor_id t = 0; t < p->g->tensors.count; t++) {
    p->references[t] = p->g->reader_begin[t + 1] - p->g->reader_begin[t];
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++)
      if (has(p, t, pins[i])) p->references[t]++;
  }
}

static bool may_share(const planner *p, const graph_op *op, uint32_t slot,
                      bool changes) {
  const tensor_id in = op->inputs[slot], out = op->outputs[0];
  if (in == CALM_NONE || has(p, in, CALM_TENSOR_INPUT) ||
      has(p, out, CALM_TENSOR_OUTPUT) || !in_main_arena(p, in) ||
      p->g->producer[in] == CALM_NONE)
    return false;
  return !changes ||
         (tensor_of(p, in)->bytes == tensor_of(p, out)->bytes &&
          tensor_of(p, in)->bytes > p->model->inplace_above &&
          p->references[in] <= 1 && memory_slot_inplace(op->kind, slot));
}

/* The first operand that may be shared is taken, and if its root may not, none
   is. */
static void find_root(planner *p, const graph_op *op) {
  const bool changes = bits_has(p->model->inplace, op->kind);
  if (!changes && !bits_has(p->model->views, op->kind)) return;
  if (op->output_count != 1 || op->outputs[0] == CALM_NONE) return;
  const uint32_t slots = changes ? 2 : 1;
  uint32_t slot = 0;
  while (slot < slots && slot < op->input_count &&
         !may_share(p, op, slot, changes))
    slot++;
  if (slot == slots || slot == op->input_count) return;
  const tensor_id root = p->root[op->inputs[slot]];
  if (!changes || p->references[root] <= 1) p->root[op->outputs[0]] = root;
}

static void find_roots(planner *p) {
  for (tensor_id t = 0; t < p->g->tensors.count; t++) p->root[t] = t;
  for (uint32_t i = 0; i < p->g->ops.count; i++)
    find_root(p, &p->g->ops.data[p->sequence[i]]);
}

/* ---- A fault of the runtime ---------------------------------------------- */

/* Per tensor the last node that reads it, plus 1. */
static void find_last_reads(const planner *p, uint32_t *last_read) {
  for (uint32_t node = 0; node < p->g->ops.count; node++) {
    const graph_op *op = &p->g->ops.data[p->sequence[node]];
    for (uint32_t i = 0; i < op->input_count; i++)
      if (op->inputs[i] != CALM_NONE) last_read[op->inputs[i]] = node + 1;
  }
}

/*
 * Of the readers of a tensor that is written over, the runtime counts those of
 * the operand and those of its root, but not those of other tensors with the
 * same bytes in between:
 *
 *     y = add(a, b) on a;  r = reshape(y);  z = mul(r, c) on a;  w = sub(y, d)
 *
 * Here sub reads z in place of y.  Per root, the last read of what its bytes
 * mean so far is kept.
 */
static calm_status find_corruption(planner *p, arena *scratch) {
  uint32_t *last_read, *needed;
  ARENA_ARRAY(scratch, last_read, p->g->tensors.count);
  ARENA_ARRAY(scratch, needed, p->g->tensors.count);
  find_last_reads(p, last_read);
  p->result.corrupts = CALM_NONE;
  for (uint32_t node = 0; node < p->g->ops.count; node++) {
    const graph_op *op = &p->g->ops.data[p->sequence[node]];
    if (op->output_count == 0 || op->outputs[0] == CALM_NONE) continue;
    const tensor_id out = op->outputs[0], root = p->root[out];
    const bool changes = root != out && bits_has(p->model->inplace, op->kind);
    if (changes && needed[root] > node + 1)
      p->result.corrupts = p->sequence[node];
    if (changes || root == out || last_read[out] > needed[root])
      needed[root] = last_read[out];
  }
  return CALM_OK;
}

/* ---- From when to when --------------------------------------------------- */

/* From here on a reference is one to a root; pins stay with the tensor. */
static void move_references(planner *p) {
  for (op_id op = 0; op < p->g->ops.count; op++) {
    const graph_op *o = &p->g->ops.data[op];
    for (uint32_t i = 0; i < o->input_count; i++) {
      if (o->inputs[i] == CALM_NONE) continue;
      p->references[o->inputs[i]]--;
      p->references[p->root[o->inputs[i]]]++;
    }
  }
}

static void begin_uses(planner *p) {
  for (tensor_id t = 0; t < p->g->tensors.count; t++) {
    p->uses[t] = (usage){NEVER, NEVER};
    if (has(p, t, CALM_TENSOR_INPUT | CALM_TENSOR_VARIABLE))
      p->uses[t].first = 0;
  }
}

static void run_node(planner *p, uint32_t node, const graph_op *op) {
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE && p->uses[op->outputs[i]].first == NEVER)
      p->uses[op->outputs[i]].first = node;
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) continue;
    const tensor_id root = p->root[op->inputs[i]];
    if (--p->references[root] == 0 && p->uses[root].first != NEVER)
      p->uses[root].last = node;
  }
}

static void find_uses(planner *p) {
  move_references(p);
  begin_uses(p);
  for (uint32_t node = 0; node < p->g->ops.count; node++)
    run_node(p, node, &p->g->ops.data[p->sequence[node]]);
}

/* ---- Placing ------------------------------------------------------------- */

typedef struct turn {
  bool whole_life;
  uint64_t bytes;
  uint32_t node;
  tensor_id tensor;
} turn;

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_turns(const void *left, const void *right) {
  const turn *a = left, *b = right;
  int order = compare(b->whole_life, a->whole_life);
  if (!order && !a->whole_life) order = compare(b->bytes, a->bytes);
  if (!order && !a->whole_life) order = compare(a->node, b->node);
  return order ? order : compare(a->tensor, b->tensor);
}

/* Has it bytes of its own, or those of a tensor of another size? */
static bool has_turn(const planner *p, tensor_id t) {
  return p->uses[t].first != NEVER && tensor_of(p, t)->bytes > 0 &&
         in_main_arena(p, t) &&
         (p->root[t] == t ||
          tensor_of(p, p->root[t])->bytes != tensor_of(p, t)->bytes);
}

static uint32_t list_turns(const planner *p, turn *out) {
  uint32_t count = 0;
  for (tensor_id t = 0; t < p->g->tensors.count; t++)
    if (has_turn(p, t))
      out[count++] = (turn){p->uses[t].first == 0 && p->uses[t].last == NEVER,
                            tensor_of(p, t)->bytes, p->uses[t].first, t};
  if (count) qsort(out, count, sizeof *out, compare_turns);
  return count;
}

static uint64_t find_offset(const planner *p, uint64_t bytes, usage use) {
  uint64_t best = UINT64_MAX, best_fit = UINT64_MAX, end = 0;
  for (uint32_t i = 0; i < p->active_count && best_fit > 0; i++) {
    const placed *other = &p->active[i];
    if (other->use.last < use.first || other->use.first > use.last) continue;
    const uint64_t start = number_round_up(end, LITERT_ALIGN);
    if (start + bytes <= other->offset && other->offset - start < best_fit) {
      best = start;
      best_fit = other->offset - end;
    }
    if (other->end > end) end = other->end;
  }
  return best == UINT64_MAX ? number_round_up(end, LITERT_ALIGN) : best;
}

/* Behind those at the same offset. */
static void insert(planner *p, placed item) {
  uint32_t at = p->active_count++;
  for (; at > 0 && p->active[at - 1].offset > item.offset; at--)
    p->active[at] = p->active[at - 1];
  p->active[at] = item;
}

static void place(planner *p, tensor_id t) {
  const uint64_t bytes = tensor_of(p, t)->bytes;
  const uint64_t offset = find_offset(p, bytes, p->uses[t]);
  insert(p, (placed){offset, offset + bytes, p->uses[t]});
  p->result.offsets[t] = offset;
  if (offset + bytes > p->result.bytes) p->result.bytes = offset + bytes;
}

static void place_variables(planner *p) {
  uint64_t *end = &p->result.persistent_bytes;
  for (tensor_id t = 0; t < p->g->tensors.count; t++)
    if (has(p, t, CALM_TENSOR_VARIABLE))
      *end = number_round_up(*end, LITERT_ALIGN) + tensor_of(p, t)->bytes;
}

static calm_status place_all(planner *p, arena *scratch) {
  const uint32_t tensors = p->g->tensors.count;
  turn *turns;
  ARENA_ARRAY(scratch, turns, tensors);
  ARENA_ARRAY(scratch, p->active, tensors);
  for (tensor_id t = 0; t < tensors; t++) p->result.offsets[t] = UINT64_MAX;
  const uint32_t count = list_turns(p, turns);
  for (uint32_t i = 0; i < count; i++) place(p, turns[i].tensor);
  for (tensor_id t = 0; t < tensors; t++)
    if (p->result.offsets[t] == UINT64_MAX)
      p->result.offsets[t] = p->result.offsets[p->root[t]];
  place_variables(p);
  return CALM_OK;
}

static calm_status predict(planner *p, arena *scratch, arena *a) {
  const uint32_t tensors = p->g->tensors.count;
  ARENA_ARRAY(a, p->result.offsets, tensors);
  ARENA_ARRAY(scratch, p->references, tensors);
  ARENA_ARRAY(scratch, p->root, tensors);
  ARENA_ARRAY(scratch, p->uses, tensors);
  count_references(p);
  find_roots(p);
  TRY(find_corruption(p, scratch));
  find_uses(p);
  return place_all(p, scratch);
}

calm_status litert_predict(litert_arena *out, const graph *g,
                           const op_id *sequence, arena *a) {
  planner p = {
      .g = g, .sequence = sequence, .model = memory_model_find("litert")};
  arena scratch;
  arena_init(&scratch, a->context);
  calm_status status = predict(&p, &scratch, a);
  arena_free(&scratch);
  if (status == CALM_OK) *out = p.result;
  return status;
}
