/*
 * A plan, judged tensor by tensor.  First the order; only a valid one can be
 * lived through.  Then every stored tensor becomes an item: bytes [low, high)
 * during steps [first, last].  Items are checked one by one (placed? aligned?
 * inside?) and, by memory_overlap.c, against each other.
 */
#include <inttypes.h>

#include "base/number.h"
#include "memory/memory_faults.h"
#include "memory/memory_overlap.h"

/* Offsets that are multiples of this suit every runtime for microcontrollers.
 */
enum { COMMON_ALIGN = 16 };

typedef struct checker {
  const graph *g;
  const memory_model *model;
  const memory_plan *plan;
  arena scratch;
  const op_id *sequence;
  uint32_t *step_of; /* operator -> step, CALM_NONE: does not run */
  memory_profile profile;
  memory_faults faults;
} checker;

static const char *tensor_name(const checker *c, tensor_id t) {
  return c->g->tensors.data[t].name;
}

static const char *op_name(const checker *c, op_id op) {
  return c->g->ops.data[op].name;
}

/* ---- One tensor ---------------------------------------------------------- */

static uint64_t offset_of(const checker *c, tensor_id t) {
  return c->plan->offsets[t];
}

/* State that the memory model leaves to the runtime, but the plan places: the
   runtime obeys, and the bytes must keep from run to run. */
static bool is_placed_state(const checker *c, tensor_id t) {
  const graph_tensor *tensor = &c->g->tensors.data[t];
  return tensor->flags & CALM_TENSOR_VARIABLE && tensor->bytes > 0 &&
         !c->profile.lives[t].counted && offset_of(c, t) != UINT64_MAX;
}

static bool any_placed(const checker *c) {
  for (tensor_id t = 0; t < c->g->tensors.count; t++)
    if (offset_of(c, t) != UINT64_MAX) return true;
  return false;
}

static calm_status report_unplaced(checker *c, tensor_id t) {
  text words;
  text_init(&words, c->faults.a->context);
  text_format(&words,
              "tensor '%s' (%" PRIu64 " bytes, alive at steps %" PRIu32
              "..%" PRIu32 ") has no offset%s",
              tensor_name(c, t), c->g->tensors.data[t].bytes,
              c->profile.lives[t].first, c->profile.lives[t].last,
              c->plan->unplaced_allowed ? ": the runtime will place it" : "");
  return faults_report(&c->faults, !c->plan->unplaced_allowed, "unplaced", t,
                       CALM_NONE, &words);
}

/* Bytes of one element that is addressed as a whole; 1 if unknown or packed. */
static uint64_t element_bytes(const checker *c, tensor_id t) {
  const element_type type = c->g->tensors.data[t].type;
  const uint32_t bits = type == ELEMENT_ABSTRACT ? 8 : element_type_bits(type);
  return bits < 8 ? 1 : bits / 8;
}

/* A processor may trap on an element across its natural border; that an offset
   is only less round than the runtime likes is worth a warning. */
static calm_status check_alignment(checker *c, tensor_id t) {
  const uint64_t element = element_bytes(c, t), align = c->model->align;
  const uint64_t offset = offset_of(c, t);
  const bool fault = offset % element != 0;
  if (!fault && offset % align == 0) return CALM_OK;
  text words;
  text_init(&words, c->faults.a->context);
  text_format(&words,
              "tensor '%s' at offset %" PRIu64 " is not aligned to %s%" PRIu64
              " bytes",
              tensor_name(c, t), offset, fault ? "its elements of " : "",
              fault ? element : align);
  return faults_report(&c->faults, fault, "misaligned", t, CALM_NONE, &words);
}

/* Where bytes that begin at `offset` end; a sum that cannot be is infinite. */
static uint64_t end_of(uint64_t offset, uint64_t bytes) {
  uint64_t end;
  return number_add(&end, offset, bytes) ? end : UINT64_MAX;
}

static calm_status check_inside(checker *c, tensor_id t) {
  const uint64_t bytes = c->g->tensors.data[t].bytes;
  const uint64_t end = end_of(offset_of(c, t), bytes);
  if (end != UINT64_MAX && end <= c->faults.verdict.arena_bytes) return CALM_OK;
  text words;
  text_init(&words, c->faults.a->context);
  text_format(&words,
              "tensor '%s' (%" PRIu64 " bytes at offset %" PRIu64
              ") ends outside the arena",
              tensor_name(c, t), bytes, offset_of(c, t));
  if (end != UINT64_MAX)
    text_format(&words, " of %" PRIu64 " bytes", c->faults.verdict.arena_bytes);
  return faults_report(&c->faults, true, "outside", t, CALM_NONE, &words);
}

static calm_status check_tensor(checker *c, tensor_id t, bool others_placed) {
  if (!c->profile.lives[t].counted && !is_placed_state(c, t)) return CALM_OK;
  if (offset_of(c, t) == UINT64_MAX)
    return others_placed ? report_unplaced(c, t) : CALM_OK;
  TRY(check_alignment(c, t));
  return check_inside(c, t);
}

/* A view, or a part of a sum, may be listed, but only where the tensor lies
   whose bytes it has. */
static calm_status check_view(checker *c, tensor_id t) {
  const memory_life *life = &c->profile.lives[t];
  const tensor_id base = life->storage;
  if (life->counted || base == t || offset_of(c, t) == UINT64_MAX ||
      !c->profile.lives[base].counted || offset_of(c, t) == offset_of(c, base))
    return CALM_OK;
  text words;
  text_init(&words, c->faults.a->context);
  text_format(&words,
              "tensor '%s' at offset %" PRIu64
              " is a %s of '%s' and must "
              "lie where that lies",
              tensor_name(c, t), offset_of(c, t),
              graph_goes_into_sum(c->g, t) ? "part" : "view",
              tensor_name(c, base));
  return faults_report(&c->faults, true, "view", t, base, &words);
}

/* ---- Workspaces ---------------------------------------------------------- */

static uint64_t workspace_bytes(const checker *c, op_id op) {
  return c->plan->workspace_bytes ? c->plan->workspace_bytes[op]
                                  : c->g->ops.data[op].workspace_bytes;
}

static uint64_t workspace_offset(const checker *c, op_id op) {
  return c->plan->workspace_offsets ? c->plan->workspace_offsets[op]
                                    : UINT64_MAX;
}

/* An add_into that comes first needs no workspace if what it is given lies
   where the sum is to be, and nobody needs that any more. */
static bool hands_over(const checker *c, op_id id) {
  const graph_op *op = &c->g->ops.data[id];
  if (op->kind != OP_add_into) return false;
  const memory_life *lives = c->profile.lives;
  const tensor_id given = lives[op->inputs[0]].storage;
  const tensor_id sum = lives[op->outputs[0]].storage;
  const uint32_t step = c->step_of[id];
  return lives[given].counted && lives[given].last == step &&
         !lives[given].kept && lives[sum].counted && lives[sum].first == step &&
         lives[given].bytes == lives[sum].bytes &&
         offset_of(c, given) == offset_of(c, sum);
}

static calm_status check_workspace(checker *c, op_id op) {
  const uint64_t bytes = workspace_bytes(c, op);
  const uint64_t offset = workspace_offset(c, op);
  if (!c->plan->workspace_offsets || bytes == 0 || hands_over(c, op))
    return CALM_OK;
  const uint64_t end = end_of(offset, bytes);
  const bool unplaced = offset == UINT64_MAX;
  if (end != UINT64_MAX && end <= c->faults.verdict.arena_bytes) return CALM_OK;
  text words;
  text_init(&words, c->faults.a->context);
  text_format(&words, "the workspace of operator '%s' (%" PRIu64 " bytes) %s",
              op_name(c, op), bytes,
              unplaced ? "has no offset" : "ends outside the arena");
  return faults_report(&c->faults, !unplaced || !c->plan->unplaced_allowed,
                       unplaced ? "unplaced" : "outside", CALM_NONE, CALM_NONE,
                       &words);
}

/* ---- Against each other -------------------------------------------------- */

static bool placed(const checker *c, tensor_id t) {
  return c->profile.lives[t].counted && offset_of(c, t) != UINT64_MAX;
}

static bool workspace_placed(const checker *c, op_id op) {
  return workspace_bytes(c, op) > 0 && workspace_offset(c, op) != UINT64_MAX &&
         !hands_over(c, op);
}

/* The real bytes, not the rounded ones: only those can be overwritten. */
static calm_status list_items(checker *c, overlap_item **out,
                              uint32_t *out_count) {
  const graph *g = c->g;
  overlap_item *items;
  uint32_t count = 0;
  ARENA_ARRAY(&c->scratch, items, (size_t)g->tensors.count + g->ops.count);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (placed(c, t))
      items[count++] = (overlap_item){
          .low = offset_of(c, t),
          .high = end_of(offset_of(c, t), g->tensors.data[t].bytes),
          .first = c->profile.lives[t].first,
          .last = c->profile.lives[t].last,
          .tensor = t,
          .op = CALM_NONE};
    else if (is_placed_state(c, t))
      items[count++] = (overlap_item){
          .low = offset_of(c, t),
          .high = end_of(offset_of(c, t), g->tensors.data[t].bytes),
          .last = g->ops.count ? g->ops.count - 1 : 0,
          .tensor = t,
          .op = CALM_NONE};
  for (op_id op = 0; op < g->ops.count; op++)
    if (workspace_placed(c, op))
      items[count++] = (overlap_item){
          .low = workspace_offset(c, op),
          .high = end_of(workspace_offset(c, op), workspace_bytes(c, op)),
          .first = c->step_of[op],
          .last = c->step_of[op],
          .tensor = CALM_NONE,
          .op = op};
  *out = items;
  *out_count = count;
  return CALM_OK;
}

/* What an operator writes in a slot: the output, or the sum that this is a part
   of. */
static tensor_id written(const checker *c, const graph_op *op, uint32_t slot) {
  const tensor_id t = op->outputs[slot];
  if (t == CALM_NONE || !graph_goes_into_sum(c->g, t)) return t;
  return c->profile.lives[t].storage;
}

static bool writes(const checker *c, const graph_op *op, tensor_id t) {
  for (uint32_t i = 0; i < op->output_count; i++)
    if (written(c, op, i) == t) return true;
  return false;
}

/* The operator at whose step `in` ends and `out` begins as its result, if that
   is the only step at which they meet; else NULL. */
static const graph_op *meeting_op(const checker *c, const overlap_item *in,
                                  const overlap_item *out) {
  if (in->tensor == CALM_NONE || out->tensor == CALM_NONE ||
      in->last != out->first)
    return NULL;
  const graph_op *op = &c->g->ops.data[c->sequence[out->first]];
  return writes(c, op, out->tensor) ? op : NULL;
}

/* The stored tensor that an operand is, or is a view of. */
static bool reads(const checker *c, const graph_op *op, tensor_id t) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        c->profile.lives[op->inputs[i]].storage == t)
      return true;
  return false;
}

/* Does the operator read a stored tensor as an operand that its kind can write
   over, and whose elements are those of its first output? */
static bool reads_alike(const checker *c, const graph_op *op, tensor_id t) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        c->profile.lives[op->inputs[i]].storage == t &&
        memory_slot_inplace(op->kind, i) &&
        memory_same_elements(&c->g->tensors.data[op->inputs[i]],
                             &c->g->tensors.data[op->outputs[0]]))
      return true;
  return false;
}

/* Does a kernel that changes one operand while it reads the others find a
   stored tensor in one of these? */
static bool needs_unchanged(const checker *c, const graph_op *op, tensor_id t) {
  const uint32_t changed = memory_changed_slot(op->kind);
  for (uint32_t i = 0; i < op->input_count && changed != CALM_NONE; i++)
    if (i != changed && op->inputs[i] != CALM_NONE &&
        c->profile.lives[op->inputs[i]].storage == t)
      return true;
  return false;
}

/* The in-place rule: a kind that may, its first output, an input that dies
   there and need not survive, equal elements, equal offset.  An add_into always
   may. */
static bool overwrites(const checker *c, const overlap_item *in,
                       const overlap_item *out) {
  const graph_op *op = meeting_op(c, in, out);
  if (!op) return false;
  if (op->kind == OP_add_into)
    return hands_over(c, c->sequence[out->first]) && reads(c, op, in->tensor);
  if (!bits_has(c->model->inplace, op->kind)) return false;
  const memory_life *lives = c->profile.lives;
  return written(c, op, 0) == out->tensor && reads_alike(c, op, in->tensor) &&
         !needs_unchanged(c, op, in->tensor) && !lives[in->tensor].kept &&
         in->low == out->low &&
         lives[in->tensor].bytes == lives[out->tensor].bytes;
}

static bool manages_itself(const checker *c, const overlap_item *in,
                           const overlap_item *out) {
  const graph_op *op = meeting_op(c, in, out);
  return op && op->kind == OP_OPAQUE && reads(c, op, in->tensor) &&
         !c->profile.lives[in->tensor].kept;
}

static void describe_item(const checker *c, text *words,
                          const overlap_item *item) {
  if (item->tensor != CALM_NONE)
    text_format(words,
                "tensor '%s' (bytes %" PRIu64 "..%" PRIu64
                ", alive at steps %" PRIu32 "..%" PRIu32 ")",
                tensor_name(c, item->tensor), item->low, item->high - 1,
                item->first, item->last);
  else
    text_format(words,
                "the workspace of operator '%s' (bytes %" PRIu64 "..%" PRIu64
                ", step %" PRIu32 ")",
                op_name(c, item->op), item->low, item->high - 1, item->first);
}

/* Called for every two items that share bytes at some step. */
static calm_status judge_overlap(void *payload, const overlap_item *a,
                                 const overlap_item *b, bool *stop) {
  checker *c = payload;
  if (overwrites(c, a, b) || overwrites(c, b, a)) return CALM_OK;
  const bool own = manages_itself(c, a, b) || manages_itself(c, b, a);
  const uint32_t step = a->first > b->first ? a->first : b->first;
  text words;
  text_init(&words, c->faults.a->context);
  describe_item(c, &words, a);
  text_format(&words, " and ");
  describe_item(c, &words, b);
  text_format(
      &words, " share bytes %" PRIu64 "..%" PRIu64 " at step %" PRIu32 " (%s)",
      number_larger(a->low, b->low), number_smaller(a->high, b->high) - 1, step,
      op_name(c, c->sequence[step]));
  if (own) text_format(&words, "; the operator may manage its own memory");
  TRY(faults_report(&c->faults, !own, "overlap", a->tensor, b->tensor, &words));
  *stop = faults_full(&c->faults);
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static void extend_arena(checker *c, uint64_t offset, uint64_t bytes) {
  const uint64_t end = end_of(offset, bytes);
  if (end != UINT64_MAX && end > c->faults.verdict.arena_bytes)
    c->faults.verdict.arena_bytes = end;
}

/* The arena as a runtime reserves it: with rounded sizes, and with whatever the
   plan places, be it a scratch tensor that only its operator knows how to use.
 */
static void derive_arena(checker *c) {
  for (tensor_id t = 0; t < c->g->tensors.count; t++)
    if (offset_of(c, t) != UINT64_MAX &&
        !(c->g->tensors.data[t].flags & CALM_TENSOR_CONST))
      extend_arena(c, offset_of(c, t), c->profile.lives[t].bytes);
  for (op_id op = 0; op < c->g->ops.count; op++)
    if (workspace_placed(c, op))
      extend_arena(c, workspace_offset(c, op), workspace_bytes(c, op));
}

/* Where the memory model asks for less than the common alignment, one line for
   all tensors says what a runtime may not like. */
static calm_status warn_common_align(checker *c) {
  tensor_id first = CALM_NONE;
  uint32_t count = 0;
  for (tensor_id t = 0; t < c->g->tensors.count; t++)
    if (placed(c, t) && offset_of(c, t) % COMMON_ALIGN &&
        offset_of(c, t) % c->model->align == 0 && count++ == 0)
      first = t;
  if (count == 0) return CALM_OK;
  text words;
  text_init(&words, c->faults.a->context);
  text_format(&words,
              "%" PRIu32
              " tensor%s at an offset that is no multiple of %d, "
              "such as '%s' at %" PRIu64,
              count, count == 1 ? " lies" : "s lie", COMMON_ALIGN,
              tensor_name(c, first), offset_of(c, first));
  return faults_report(&c->faults, false, "misaligned", first, CALM_NONE,
                       &words);
}

static calm_status check_placement(checker *c) {
  const bool others_placed = any_placed(c) || !c->plan->unplaced_allowed;
  overlap_item *items = NULL;
  uint32_t count = 0;
  if (c->plan->arena_bytes != UINT64_MAX)
    c->faults.verdict.arena_bytes = c->plan->arena_bytes;
  else
    derive_arena(c);
  for (tensor_id t = 0; t < c->g->tensors.count; t++) {
    TRY(check_tensor(c, t, others_placed));
    TRY(check_view(c, t));
  }
  for (op_id op = 0; op < c->g->ops.count; op++) TRY(check_workspace(c, op));
  TRY(warn_common_align(c));
  TRY(list_items(c, &items, &count));
  return overlap_find(items, count, judge_overlap, c, &c->scratch);
}

static calm_status set_sequence(checker *c) {
  op_id *file_order;
  c->sequence = c->plan->sequence;
  ARENA_ARRAY(&c->scratch, c->step_of, c->g->ops.count);
  if (c->sequence) return CALM_OK;
  ARENA_ARRAY(&c->scratch, file_order, c->g->ops.count);
  for (op_id op = 0; op < c->g->ops.count; op++) file_order[op] = op;
  c->sequence = file_order;
  return CALM_OK;
}

/* The rest of the check needs an order that can be lived through. */
static calm_status check(checker *c) {
  TRY(set_sequence(c));
  TRY(faults_check_order(&c->faults, c->g, c->sequence, c->step_of));
  if (c->faults.verdict.faults.count) return CALM_OK;
  TRY(memory_simulate_workspaces(&c->profile, c->g, c->model,
                                 c->plan->workspace_bytes, c->sequence,
                                 &c->scratch));
  return check_placement(c);
}

calm_status memory_check(memory_verdict *out, const graph *g,
                         const memory_model *model, const memory_plan *plan,
                         arena *a) {
  checker c = {.g = g, .model = model, .plan = plan, .faults.a = a};
  arena_init(&c.scratch, a->context);
  calm_status status = check(&c);
  arena_free(&c.scratch);
  return faults_deliver(out, &c.faults, status);
}

void memory_verdict_free(memory_verdict *verdict, calm_context *context) {
  VECTOR_FREE(context, &verdict->faults);
  VECTOR_FREE(context, &verdict->warnings);
}
