/*
 * A plan for TensorFlow Lite Micro, judged for all graphs of a model at once.
 * Whatever lies in the head becomes an item: bytes [low, high) during scopes
 * [first, last], numbered from 1 because inputs that nobody makes are in use
 * before the first.  State is in use all the time, whatever the runtime thinks:
 * it has to survive from run to run.
 */
#include <inttypes.h>

#include "base/number.h"
#include "memory/memory_alias.h"
#include "memory/memory_overlap.h"
#include "memory/memory_tflm_checker.h"

static const graph_tensor *tensor_at(const tflm_checker *c, uint32_t number) {
  const tflm_located at = c->where[number];
  return &c->model->graphs[at.graph].tensors.data[at.tensor];
}

static uint64_t given_offset(const tflm_checker *c, uint32_t number) {
  const tflm_located at = c->where[number];
  return c->model->offsets ? c->model->offsets[at.graph][at.tensor]
                           : UINT64_MAX;
}

static bool is_state(const tflm_checker *c, uint32_t number) {
  return tensor_at(c, number)->flags & CALM_TENSOR_VARIABLE;
}

/* ---- Words --------------------------------------------------------------- */

static tensor_id named_in_verdict(const tflm_checker *c, uint32_t number) {
  return number != CALM_NONE && c->where[number].graph == 0
             ? c->where[number].tensor
             : CALM_NONE;
}

/* "tensor 'x'", with its graph where that is not the first. */
static void add_tensor(const tflm_checker *c, text *words, uint32_t number) {
  text_format(words, "tensor '%s'", tensor_at(c, number)->name);
  if (c->where[number].graph)
    text_format(words, " of the graph '%s'",
                c->model->graphs[c->where[number].graph].name);
}

static const graph_op *op_by_number(const tflm_checker *c, uint32_t number,
                                    uint32_t *out_graph) {
  uint32_t graph = 0;
  while (c->scopes.op_begin[graph + 1] <= number) graph++;
  *out_graph = graph;
  return &c->model->graphs[graph].ops.data[number - c->scopes.op_begin[graph]];
}

static void add_moment(const tflm_checker *c, text *words, int64_t scope) {
  uint32_t graph;
  const uint32_t number =
      scope < 0 || scope >= c->scope_count ? CALM_NONE : c->op_at[scope];
  if (number == CALM_NONE)
    text_format(words, " before the first operator");
  else
    text_format(words, " while '%s' runs",
                op_by_number(c, number, &graph)->name);
}

static calm_status report(tflm_checker *c, bool fault, const char *kind,
                          uint32_t a, uint32_t b, text *words) {
  return faults_report(&c->faults, fault, kind, named_in_verdict(c, a),
                       named_in_verdict(c, b), words);
}

/* ---- One tensor ---------------------------------------------------------- */

/* The runtime's offsets are 32-bit numbers with a sign. */
static calm_status check_end(tflm_checker *c, uint32_t number) {
  const uint64_t offset = given_offset(c, number);
  const uint64_t bytes = tensor_at(c, number)->bytes;
  if (offset <= INT32_MAX && bytes <= INT32_MAX - offset) return CALM_OK;
  text words;
  text_init(&words, c->faults.a->context);
  add_tensor(c, &words, number);
  text_format(&words,
              " (%" PRIu64 " bytes at offset %" PRIu64
              ") ends beyond 2^31, outside any arena",
              bytes, offset);
  return report(c, true, "outside", number, CALM_NONE, &words);
}

static calm_status check_alignment(tflm_checker *c, uint32_t number) {
  const graph_tensor *tensor = tensor_at(c, number);
  const uint64_t offset = given_offset(c, number);
  const uint32_t bits =
      tensor->type == ELEMENT_ABSTRACT ? 8 : element_type_bits(tensor->type);
  const uint64_t element = bits < 8 ? 1 : bits / 8;
  const bool fault = offset % element != 0;
  if (offset % TFLM_ALIGN == 0) return CALM_OK;
  text words;
  text_init(&words, c->faults.a->context);
  add_tensor(c, &words, number);
  text_format(
      &words, " at offset %" PRIu64 " is not aligned to %s%" PRIu64 " bytes",
      offset, fault ? "its elements of " : "", fault ? element : TFLM_ALIGN);
  return report(c, fault, "misaligned", number, CALM_NONE, &words);
}

static calm_status warn_state(tflm_checker *c, uint32_t number) {
  text words;
  text_init(&words, c->faults.a->context);
  add_tensor(c, &words, number);
  text_format(&words,
              " is state, but has an offset: the runtime keeps its bytes only "
              "from its first to its last use in one run; -1 keeps it safe");
  return report(c, false, "state", number, CALM_NONE, &words);
}

static calm_status warn_unplaced(tflm_checker *c, uint32_t number) {
  text words;
  text_init(&words, c->faults.a->context);
  add_tensor(c, &words, number);
  text_format(&words,
              " (%" PRIu64 " bytes) has no offset: the runtime will place it",
              tensor_at(c, number)->bytes);
  return report(c, false, "unplaced", number, CALM_NONE, &words);
}

static calm_status check_tensor(tflm_checker *c, uint32_t number,
                                bool any_given) {
  const uint64_t offset = given_offset(c, number);
  if (!tflm_places(tensor_at(c, number), offset)) return CALM_OK;
  if (offset == UINT64_MAX) {
    const bool used = c->scopes.tensors[number].last != SCOPE_NEVER;
    return any_given && used ? warn_unplaced(c, number) : CALM_OK;
  }
  TRY(check_alignment(c, number));
  if (is_state(c, number)) TRY(warn_state(c, number));
  return check_end(c, number);
}

/* ---- Two tensors --------------------------------------------------------- */

/* The operator at whose scope `in` ends and `out` begins as its first output,
   if that is the only one at which they meet; else NULL. */
static const graph_op *meeting_op(const tflm_checker *c, const overlap_item *in,
                                  const overlap_item *out) {
  uint32_t graph;
  if (in->tensor == CALM_NONE || out->tensor == CALM_NONE || out->first == 0 ||
      in->last != out->first || c->op_at[out->first - 1] == CALM_NONE)
    return NULL;
  const graph_op *op = op_by_number(c, c->op_at[out->first - 1], &graph);
  const tflm_located target = c->where[out->tensor];
  const bool makes = graph == target.graph && op->output_count > 0 &&
                     op->outputs[0] == target.tensor;
  return makes ? op : NULL;
}

/* Does it read the tensor, or a view of it, as an operand whose elements are
   those of its first output? */
static bool reads(const tflm_checker *c, const graph_op *op, uint32_t owner,
                  uint32_t number, bool alike) {
  const graph *g = &c->model->graphs[owner];
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t == CALM_NONE ||
        c->storage[c->scopes.tensor_begin[owner] + t] != c->storage[number])
      continue;
    if (!alike || memory_same_elements(&g->tensors.data[t],
                                       &g->tensors.data[op->outputs[0]]))
      return true;
  }
  return false;
}

static bool overwrites(const tflm_checker *c, const overlap_item *in,
                       const overlap_item *out) {
  const graph_op *op = meeting_op(c, in, out);
  return op && bits_has(c->memory->inplace, op->kind) && in->low == out->low &&
         reads(c, op, c->where[out->tensor].graph, in->tensor, true);
}

static bool manages_itself(const tflm_checker *c, const overlap_item *in,
                           const overlap_item *out) {
  const graph_op *op = meeting_op(c, in, out);
  return op && op->kind == OP_OPAQUE &&
         reads(c, op, c->where[out->tensor].graph, in->tensor, false);
}

static bool same_storage(const tflm_checker *c, const overlap_item *a,
                         const overlap_item *b) {
  return a->tensor != CALM_NONE && b->tensor != CALM_NONE && a->low == b->low &&
         c->storage[a->tensor] == c->storage[b->tensor];
}

/* Two tensors of the entry that have the same bytes where they meet: parts of
   each other, or of what both are copied from. */
static bool same_bytes(const tflm_checker *c, const overlap_item *a,
                       const overlap_item *b) {
  if (!c->origins || a->tensor == CALM_NONE || b->tensor == CALM_NONE ||
      c->where[a->tensor].graph || c->where[b->tensor].graph)
    return false;
  if (a->tensor == b->tensor) return true;
  const uint64_t low = number_larger(a->low, b->low);
  const uint64_t high = number_smaller(a->high, b->high);
  return tflm_same_bytes(
      &c->origins[a->tensor], low - c->head.offsets[a->tensor],
      &c->origins[b->tensor], low - c->head.offsets[b->tensor], high - low);
}

/* The output is far enough below an input that dies there. */
static bool keeps_distance(const tflm_checker *c, const overlap_item *in,
                           const overlap_item *out) {
  const graph_op *op = meeting_op(c, in, out);
  if (!op || !c->origins || !c->memory->overlap || c->where[in->tensor].graph ||
      c->where[out->tensor].graph)
    return false;
  const graph *g = &c->model->graphs[0];
  return tflm_keeps_distance(c->memory->kernels, g, (op_id)(op - g->ops.data),
                             in->tensor, c->head.offsets[in->tensor],
                             c->head.offsets[out->tensor]);
}

static void describe_item(const tflm_checker *c, text *words,
                          const overlap_item *item) {
  uint32_t graph;
  if (item->tensor != CALM_NONE)
    add_tensor(c, words, item->tensor);
  else
    text_format(words, "the scratch of operator '%s'",
                op_by_number(c, item->op, &graph)->name);
  text_format(words, " (bytes %" PRIu64 "..%" PRIu64 ")", item->low,
              item->high - 1);
}

/* All kernel libraries add floats of equal shapes by the reference kernel,
   element by element; rewritten files rely on it. */
static bool adds_in_place(const tflm_checker *c, const overlap_item *in,
                          const overlap_item *out) {
  memory_model adding = *c->memory;
  tflm_checker other = *c;
  if (in->tensor == CALM_NONE || tensor_at(c, in->tensor)->type != ELEMENT_f32)
    return false;
  bits_add(adding.inplace, OP_add);
  other.memory = &adding;
  return overwrites(&other, in, out);
}

/* Would --kernels reference allow it? */
static bool would_overwrite(const tflm_checker *c, const overlap_item *in,
                            const overlap_item *out) {
  memory_model reference = *c->memory;
  tflm_checker other = *c;
  memory_model_use_kernels(&reference, KERNELS_REFERENCE);
  other.memory = &reference;
  return overwrites(&other, in, out);
}

static calm_status judge_overlap(void *payload, const overlap_item *a,
                                 const overlap_item *b, bool *stop) {
  tflm_checker *c = payload;
  if (same_storage(c, a, b) || overwrites(c, a, b) || overwrites(c, b, a) ||
      same_bytes(c, a, b) || keeps_distance(c, a, b) || keeps_distance(c, b, a))
    return CALM_OK;
  if (adds_in_place(c, a, b) || adds_in_place(c, b, a)) {
    c->additions++;
    return CALM_OK;
  }
  const bool own = manages_itself(c, a, b) || manages_itself(c, b, a);
  text words;
  text_init(&words, c->faults.a->context);
  describe_item(c, &words, a);
  text_format(&words, " and ");
  describe_item(c, &words, b);
  text_format(&words, " share bytes %" PRIu64 "..%" PRIu64,
              number_larger(a->low, b->low),
              number_smaller(a->high, b->high) - 1);
  add_moment(c, &words, (int64_t)number_larger(a->first, b->first) - 1);
  if (own)
    text_format(&words, "; the operator may manage its own memory");
  else if (would_overwrite(c, a, b) || would_overwrite(c, b, a))
    text_format(&words, "; only --kernels reference can do that in place");
  TRY(report(c, !own, "overlap", a->tensor, b->tensor, &words));
  *stop = faults_full(&c->faults);
  return CALM_OK;
}

/* ---- Items --------------------------------------------------------------- */

static overlap_item item_of(uint64_t offset, uint64_t bytes, memory_span span) {
  return (overlap_item){.low = offset,
                        .high = offset + bytes,
                        .first = (uint32_t)(span.first + 1),
                        .last = (uint32_t)(span.last + 1),
                        .tensor = CALM_NONE,
                        .op = CALM_NONE};
}

/* The scopes of a tensor in the arena; false if it holds nothing: nobody makes
   it, unless somebody knows what it is there for. */
static bool find_span(const tflm_checker *c, uint32_t n, memory_span *out) {
  *out = c->scopes.tensors[n];
  if (c->head.offsets[n] == UINT64_MAX) return false;
  if (!is_state(c, n)) return out->first != SCOPE_NEVER;
  *out = (memory_span){SCOPE_NEVER, c->scope_count};
  return true;
}

static bool has_rows(const tflm_checker *c, uint32_t n) {
  return c->origins && c->where[n].graph == 0 && !is_state(c, n);
}

/* Of tensors whose rows come and go, when which of their bytes are wanted;
   wanted.data[begin[n] .. begin[n + 1]). */
static calm_status find_wants(tflm_checker *c, uint32_t **out_begin) {
  const uint32_t tensors = c->scopes.tensor_begin[c->model->count];
  uint32_t *begin;
  memory_span span;
  ARENA_ARRAY(&c->scratch, begin, (size_t)tensors + 1);
  for (uint32_t n = 0; n < tensors; n++) {
    if (has_rows(c, n) && find_span(c, n, &span))
      TRY(tflm_find_wants(&c->wants, &c->model->graphs[0], &c->scopes, n,
                          c->faults.a->context));
    begin[n + 1] = c->wants.count;
  }
  *out_begin = begin;
  return CALM_OK;
}

/* The real bytes, not the rounded ones: only those can be overwritten. */
static uint32_t list_tensors(const tflm_checker *c, const uint32_t *begin,
                             overlap_item *items) {
  uint32_t count = 0;
  memory_span span;
  for (uint32_t n = 0; n < c->scopes.tensor_begin[c->model->count]; n++) {
    if (!find_span(c, n, &span)) continue;
    for (uint32_t i = begin[n]; i < begin[n + 1]; i++) {
      const tflm_want *want = &c->wants.data[i];
      items[count] =
          item_of(c->head.offsets[n] + want->low, want->high - want->low,
                  (memory_span){want->first, want->last});
      items[count++].tensor = n;
    }
    if (has_rows(c, n)) continue;
    items[count] = item_of(c->head.offsets[n], tensor_at(c, n)->bytes, span);
    items[count++].tensor = n;
  }
  return count;
}

static uint32_t list_scratch(const tflm_checker *c, overlap_item *items) {
  const memory_scratch *s = c->model->scratch;
  uint32_t count = 0;
  for (uint32_t op = 0; op < c->scopes.op_begin[c->model->count]; op++)
    for (uint32_t i = s->begin[op]; i < s->begin[op + 1]; i++) {
      if (c->scopes.ops[op].last == SCOPE_NEVER) continue;
      items[count] =
          item_of(c->head.scratch_offsets[i], s->bytes[i], c->scopes.ops[op]);
      items[count++].op = op;
    }
  return count;
}

static calm_status report_additions(tflm_checker *c) {
  text words;
  text_init(&words, c->faults.a->context);
  text_format(&words,
              "additions of floats that overwrite a summand, as the kernels of "
              "all libraries can: %" PRIu32,
              c->additions);
  return report(c, false, "in-place", CALM_NONE, CALM_NONE, &words);
}

static calm_status check_overlaps(tflm_checker *c) {
  overlap_item *items;
  uint32_t *begin;
  const uint32_t ops = c->scopes.op_begin[c->model->count];
  TRY(find_wants(c, &begin));
  const size_t most = (size_t)c->scopes.tensor_begin[c->model->count] +
                      c->wants.count + c->model->scratch->begin[ops];
  ARENA_ARRAY(&c->scratch, items, most);
  uint32_t count = list_tensors(c, begin, items);
  count += list_scratch(c, items + count);
  TRY(overlap_find(items, count, judge_overlap, c, &c->scratch));
  return c->additions ? report_additions(c) : CALM_OK;
}

/* ---- Before anything is judged ------------------------------------------- */

static calm_status check_orders(tflm_checker *c) {
  for (uint32_t i = 0; i < c->model->count; i++) {
    uint32_t *step_of;
    ARENA_ARRAY(&c->scratch, step_of, c->model->graphs[i].ops.count);
    TRY(faults_check_order(&c->faults, &c->model->graphs[i],
                           c->model->sequences[i], step_of));
  }
  return CALM_OK;
}

static bool any_given(const tflm_checker *c) {
  for (uint32_t n = 0; n < c->scopes.tensor_begin[c->model->count]; n++)
    if (!(tensor_at(c, n)->flags & CALM_TENSOR_CONST) &&
        given_offset(c, n) != UINT64_MAX)
      return true;
  return false;
}

static calm_status check(tflm_checker *c) {
  const tflm_model *m = c->model;
  TRY(check_orders(c));
  if (c->faults.verdict.faults.count) return CALM_OK;
  TRY(memory_scopes_build(&c->scopes, m->graphs, m->count, m->sequences,
                          ROOTS_ALL, &c->scratch));
  TRY(tflm_checker_prepare(c));
  TRY(tflm_predict(&c->head, m, &c->scratch));
  c->faults.verdict.arena_bytes = c->head.bytes;
  const bool given = any_given(c);
  for (uint32_t n = 0; n < c->scopes.tensor_begin[m->count]; n++)
    TRY(check_tensor(c, n, given));
  return check_overlaps(c);
}

calm_status tflm_check(memory_verdict *out, const tflm_model *model,
                       const memory_model *memory, arena *a) {
  tflm_checker c = {.model = model, .memory = memory, .faults.a = a};
  arena_init(&c.scratch, a->context);
  calm_status status = check(&c);
  VECTOR_FREE(a->context, &c.wants);
  arena_free(&c.scratch);
  return faults_deliver(out, &c.faults, status);
}
