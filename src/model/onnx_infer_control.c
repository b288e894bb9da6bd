#include <string.h>

#include "model/onnx_infer.h"

/*
 * If, Loop and Scan.  The state of a loop lies in the inputs of its body: they
 * start as what the node is given and become, after each run, what the given
 * and the returned values have in common, until nothing changes.  A carried
 * value loses its elements at once (a counter counts), but for the condition,
 * whose being always true says that all rounds take place.
 */

enum { LOOP_RUNS = 3 }; /* then all that is carried is taken as unknown */

static uint32_t body_of(const infer_node *n, const char *name) {
  const onnx_attribute *a = onnx_find(n->node, name);
  if (!a || a->type != ONNX_ATTRIBUTE_GRAPH || !a->graphs) return CALM_NONE;
  return a->graphs[0] < n->r->graphs.count ? a->graphs[0] : CALM_NONE;
}

static onnx_value *body_value(infer_node *n, uint32_t graph, value_id id) {
  return id == CALM_NONE ? NULL : &n->r->graphs.data[graph].values.data[id];
}

static onnx_value *body_input(infer_node *n, uint32_t graph, uint32_t i) {
  const onnx_graph *g = &n->r->graphs.data[graph];
  return i < g->input_count ? body_value(n, graph, g->inputs[i]) : NULL;
}

static onnx_value *body_output(infer_node *n, uint32_t graph, uint32_t i) {
  const onnx_graph *g = &n->r->graphs.data[graph];
  return i < g->output_count ? body_value(n, graph, g->outputs[i]) : NULL;
}

static void reset(infer_node *n, uint32_t graph, onnx_value *const *stated) {
  onnx_graph *g = &n->r->graphs.data[graph];
  if (g->values.count)
    memcpy(g->values.data, stated[graph],
           g->values.count * sizeof *g->values.data);
}

/* Give a body's input what is known of it, beside what the body states. */
static calm_status give(infer_node *n, onnx_value *input,
                        const onnx_value *value, bool elements) {
  if (!input) return CALM_OK;
  if (!value) return CALM_OK;
  onnx_shape shape;
  TRY(infer_refine(&shape, n->r, &value->shape, &input->shape));
  input->shape = shape;
  if (value->type != ONNX_UNDEFINED) input->type = value->type;
  input->contents = elements ? value->contents : (onnx_contents){0};
  input->flags |= value->flags & ONNX_VALUE_OPAQUE;
  input->why = value->why;
  return CALM_OK;
}

static void take(infer_node *n, uint32_t o, const onnx_value *value) {
  n->outputs[o].type = value->type;
  n->outputs[o].shape = value->shape;
  n->outputs[o].contents = value->contents;
  n->outputs[o].flags = value->flags & ONNX_VALUE_OPAQUE;
  if (!n->why && !infer_complete(&value->shape)) n->why = value->why;
}

static const onnx_value unknown_value = {.shape.rank = ONNX_NO_RANK};

/* ---- If ------------------------------------------------------------------ */

static int64_t condition(const infer_node *n, uint32_t i) {
  const onnx_contents *c = infer_input_contents(n, i);
  return c && c->integers && c->count == 1 ? c->integers[0] : ONNX_UNKNOWN;
}

/* A branch that no runtime could execute was not taken, if the node has run. */
static calm_status choose_branches(uint32_t *one, uint32_t *other,
                                   infer_node *n) {
  onnx_graph *graphs = n->r->graphs.data;
  int64_t taken = condition(n, 0);
  *one = body_of(n, "then_branch");
  *other = body_of(n, "else_branch");
  if (*one == CALM_NONE || *other == CALM_NONE) return CALM_OK;
  if (taken != ONNX_UNKNOWN) graphs[taken ? *other : *one].unreachable = true;
  if (graphs[*one].unreachable && graphs[*other].unreachable)
    return infer_conflict(n, "has no branch that can be executed");
  if (graphs[*one].unreachable)
    *one = *other;
  else if (graphs[*other].unreachable)
    *other = *one;
  return CALM_OK;
}

/* A shape that the value does not exceed, NULL if there is none. */
static const onnx_shape *most_of(const onnx_value *value) {
  return infer_complete(&value->shape) ? &value->shape : value->most;
}

/* Whichever branch is taken, what it gives is no larger than the larger one. */
static calm_status bound_branches(infer_node *n, uint32_t o,
                                  const onnx_value *a, const onnx_value *b) {
  const onnx_shape *one = most_of(a), *other = most_of(b);
  onnx_shape *most;
  if (!one || !other || a->type != b->type ||
      (a->flags | b->flags) & ONNX_VALUE_OPAQUE)
    return CALM_OK;
  const int64_t here = infer_product(one, 0, one->rank);
  const int64_t there = infer_product(other, 0, other->rank);
  if (here == ONNX_UNKNOWN || there == ONNX_UNKNOWN) return CALM_OK;
  ARENA_ARRAY(&n->r->scratch, most, 1);
  *most = here < there ? *other : *one;
  n->outputs[o].most = most;
  return CALM_OK;
}

static calm_status join_branches(infer_node *n, uint32_t o, const onnx_value *a,
                                 const onnx_value *b) {
  take(n, o, a);
  if (a == b) {
    n->outputs[o].most = a->most;
    return CALM_OK;
  }
  TRY(infer_join(&n->outputs[o], n->r, a, b));
  TRY(bound_branches(n, o, a, b));
  if (n->why || infer_complete(&n->outputs[o].shape)) return CALM_OK;
  if (!infer_complete(&b->shape))
    n->why = b->why;
  else
    TRY(infer_explain(n, "has branches whose results differ in shape"));
  return CALM_OK;
}

calm_status infer_if(infer_node *n) {
  uint32_t one, other;
  TRY(choose_branches(&one, &other, n));
  if (one == CALM_NONE || other == CALM_NONE) return CALM_OK;
  for (uint32_t o = 0; o < n->node->output_count; o++) {
    const onnx_value *a = body_output(n, one, o);
    const onnx_value *b = body_output(n, other, o);
    if (a && b) TRY(join_branches(n, o, a, b));
  }
  return CALM_OK;
}

/* Both are walked, whatever the condition: they are to be planned. */
static calm_status next_branch(uint32_t *out, infer_node *n, uint32_t runs,
                               onnx_value *const *stated) {
  static const char *const names[] = {"then_branch", "else_branch"};
  *out = runs < 2 ? body_of(n, names[runs]) : CALM_NONE;
  if (*out != CALM_NONE) reset(n, *out, stated);
  return CALM_OK;
}

/* ---- Loop ---------------------------------------------------------------- */

/* The condition is true unless an operand says otherwise. */
static calm_status give_condition(infer_node *n, onnx_value *flag) {
  const onnx_value *given = infer_input(n, 1);
  int64_t value = given ? condition(n, 1) : 1;
  if (!flag) return CALM_OK;
  onnx_value test = {.type = ONNX_BOOL};
  TRY(give(n, flag, &test, false));
  if (value == ONNX_UNKNOWN) return CALM_OK;
  ARENA_ARRAY(&n->r->scratch, flag->contents.integers, 1);
  flag->contents.integers[0] = value;
  flag->contents.count = 1;
  return CALM_OK;
}

static calm_status start_loop(infer_node *n, uint32_t body, bool deep,
                              onnx_value *const *stated) {
  onnx_value round = {.type = ONNX_INT64};
  reset(n, body, stated);
  TRY(give(n, body_input(n, body, 0), &round, false));
  if (!deep) TRY(give_condition(n, body_input(n, body, 1)));
  for (uint32_t i = 2; i < n->node->input_count; i++) {
    onnx_value *input = body_input(n, body, i);
    TRY(give(n, input, infer_input(n, i), false));
    if (deep && input) input->shape.rank = ONNX_NO_RANK;
  }
  return CALM_OK;
}

static bool same_shape(const onnx_shape *a, const onnx_shape *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t i = 0; a->rank != ONNX_NO_RANK && i < a->rank; i++)
    if (!infer_same_dim(a, i, b, i) &&
        (a->dims[i] != ONNX_UNKNOWN || b->dims[i] != ONNX_UNKNOWN ||
         infer_symbol(a, i) || infer_symbol(b, i)))
      return false;
  return true;
}

static bool changed(const onnx_value *before, const onnx_value *after) {
  return !same_shape(&before->shape, &after->shape) ||
         before->type != after->type ||
         (before->contents.integers && !after->contents.integers);
}

/* After a run: join each carried input with the output that becomes it.  The
   body's own statements are kept, they hold for all rounds. */
static calm_status join_carried(bool *again, onnx_value *joined, infer_node *n,
                                uint32_t body, bool give_up) {
  *again = false;
  uint32_t count = n->r->graphs.data[body].input_count;
  for (uint32_t i = 1; i < count; i++) {
    const onnx_value *in = body_input(n, body, i);
    const onnx_value *out = body_output(n, body, i - 1);
    joined[i] = *in;
    if (!out) continue;
    TRY(infer_join(&joined[i], n->r, in, out));
    bool differs = changed(in, &joined[i]);
    if (differs && !joined[i].why) joined[i].why = out->why;
    *again |= differs;
  }
  for (uint32_t i = 1; give_up && i < count; i++) {
    joined[i].shape.rank = ONNX_NO_RANK;
    joined[i].contents = (onnx_contents){0};
  }
  return CALM_OK;
}

static void explain_carried(onnx_value *value) {
  if (!value->why && !infer_complete(&value->shape))
    value->why = "a value that a Loop carries changes its shape";
}

static calm_status next_round(uint32_t *out, infer_node *n, uint32_t runs,
                              bool deep, onnx_value *const *stated) {
  uint32_t body = body_of(n, "body");
  *out = body;
  if (body == CALM_NONE) return CALM_OK;
  if (runs == 0) return start_loop(n, body, deep, stated);
  if (deep) {
    *out = CALM_NONE;
    return CALM_OK;
  }
  uint32_t count = n->r->graphs.data[body].input_count;
  onnx_value *joined;
  bool again;
  ARENA_ARRAY(&n->r->scratch, joined, count);
  TRY(join_carried(&again, joined, n, body, runs >= LOOP_RUNS));
  if (!again || runs > LOOP_RUNS) {
    *out = CALM_NONE;
    return CALM_OK;
  }
  onnx_value round = *body_input(n, body, 0);
  reset(n, body, stated);
  *body_input(n, body, 0) = round;
  for (uint32_t i = 1; i < count; i++) {
    explain_carried(&joined[i]);
    *body_input(n, body, i) = joined[i];
  }
  return CALM_OK;
}

/* How many rounds, if the condition is always true. */
static int64_t rounds_of(infer_node *n, uint32_t body) {
  const onnx_value *test = body_output(n, body, 0);
  const onnx_contents *most = infer_input_contents(n, 0);
  if (!test || !test->contents.integers || test->contents.count != 1 ||
      test->contents.integers[0] != 1)
    return ONNX_UNKNOWN;
  if (infer_input(n, 1) && condition(n, 1) != 1) return ONNX_UNKNOWN;
  if (!most || !most->integers || most->count != 1) return ONNX_UNKNOWN;
  int64_t count = most->integers[0];
  return count < 0 && count != ONNX_UNKNOWN ? 0 : count;
}

/* Output `o`: one `element` per round, along `axis`. */
static calm_status stack_up(infer_node *n, uint32_t o,
                            const onnx_value *element, int64_t axis,
                            int64_t rounds, const char *symbol) {
  n->outputs[o].type = element->type;
  if (!n->why) n->why = element->why;
  if (element->shape.rank == ONNX_NO_RANK) return CALM_OK;
  uint32_t rank = element->shape.rank + 1, at;
  onnx_shape *out;
  TRY(infer_make(&out, n, o, rank));
  TRY(infer_axis(&at, n, axis, rank));
  for (uint32_t i = 0, j = 0; i < rank; i++)
    if (i == at)
      infer_set(out, i, rounds, symbol);
    else
      infer_copy(out, i, &element->shape, j++);
  return CALM_OK;
}

calm_status infer_loop(infer_node *n) {
  uint32_t body = body_of(n, "body");
  uint32_t carried = n->node->input_count > 2 ? n->node->input_count - 2 : 0;
  if (body == CALM_NONE) return CALM_OK;
  n->r->graphs.data[body].unreachable = false;
  for (uint32_t o = 0; o < n->node->output_count; o++) {
    const onnx_value *value = body_output(n, body, o + 1);
    const onnx_value *initial = body_input(n, body, o + 2);
    if (!value) continue;
    if (o >= carried) {
      TRY(stack_up(n, o, value, 0, rounds_of(n, body), NULL));
    } else if (initial) {
      take(n, o, initial);
      TRY(infer_join(&n->outputs[o], n->r, initial, value));
    }
  }
  return CALM_OK;
}

/* ---- Scan ---------------------------------------------------------------- */

/* Up to opset 8 there is a batch dimension in front of everything and a list
   of lengths as first operand. */
typedef struct scan {
  uint32_t body, first, states, scanned, batch;
} scan;

static bool read_scan(scan *s, const infer_node *n) {
  s->body = body_of(n, "body");
  s->batch = n->node->opset > 0 && n->node->opset < 9;
  s->first = s->batch;
  int64_t scanned = onnx_find_int(n->node, "num_scan_inputs", -1);
  uint32_t inputs = n->node->input_count;
  if (s->body == CALM_NONE || inputs < s->first || scanned < 0 ||
      scanned > inputs - s->first)
    return false;
  s->scanned = (uint32_t)scanned;
  s->states = inputs - s->first - s->scanned;
  return true;
}

static uint32_t scan_axis(const scan *s, infer_node *n, uint32_t k,
                          const onnx_shape *shape) {
  if (s->batch) return 1;
  int64_t axis = infer_attribute_at(n->node, "scan_input_axes", k, 0);
  if (axis < 0) axis += shape->rank;
  return axis < 0 || axis >= (int64_t)shape->rank ? CALM_NONE : (uint32_t)axis;
}

/* `value` without dimension `at` and, with a batch, dimension 0. */
static calm_status slice_value(onnx_value *out, infer_node *n,
                               const onnx_value *value, uint32_t at,
                               uint32_t batch) {
  *out = unknown_value;
  out->type = value->type;
  out->why = value->why;
  uint32_t gone = batch + (at != CALM_NONE), rank = value->shape.rank;
  if (rank == ONNX_NO_RANK || rank < gone) return CALM_OK;
  onnx_shape *shape;
  TRY(infer_make(&shape, n, 0, rank - gone));
  for (uint32_t i = 0, j = 0; i < rank; i++)
    if (i != at && (!batch || i != 0)) infer_copy(shape, j++, &value->shape, i);
  out->shape = *shape;
  return CALM_OK;
}

static calm_status next_scan(uint32_t *out, infer_node *n, uint32_t runs,
                             onnx_value *const *stated) {
  scan s;
  *out = CALM_NONE;
  if (runs > 0 || !read_scan(&s, n)) return CALM_OK;
  *out = s.body;
  reset(n, s.body, stated);
  for (uint32_t i = 0; i < s.states + s.scanned; i++) {
    const onnx_value *value = infer_input(n, s.first + i);
    onnx_value part;
    uint32_t at = CALM_NONE;
    if (!value) continue;
    if (i >= s.states && value->shape.rank != ONNX_NO_RANK)
      at = scan_axis(&s, n, i - s.states, &value->shape);
    TRY(slice_value(&part, n, value, at, s.batch));
    if (i >= s.states && at == CALM_NONE) part.shape.rank = ONNX_NO_RANK;
    TRY(give(n, body_input(n, s.body, i), &part, false));
  }
  n->outputs[0] = unknown_value;
  return CALM_OK;
}

/* The dimension that is scanned, of the first operand that shows it. */
static void find_rounds(int64_t *rounds, const char **symbol, const scan *s,
                        infer_node *n) {
  *rounds = ONNX_UNKNOWN;
  *symbol = NULL;
  for (uint32_t k = 0; k < s->scanned && *rounds == ONNX_UNKNOWN; k++) {
    const onnx_shape *shape = infer_input_shape(n, s->first + s->states + k);
    uint32_t at = shape ? scan_axis(s, n, k, shape) : CALM_NONE;
    if (at == CALM_NONE || at >= shape->rank) continue;
    *rounds = shape->dims[at];
    *symbol = infer_symbol(shape, at);
  }
}

/* Put the batch of the first operand that has one in front again. */
static calm_status add_batch(infer_node *n, uint32_t o, const scan *s) {
  onnx_shape element = n->outputs[o].shape, *out;
  const onnx_shape *from = infer_input_shape(n, s->first);
  if (!s->batch || element.rank == ONNX_NO_RANK) return CALM_OK;
  TRY(infer_make(&out, n, o, element.rank + 1));
  if (from && from->rank) infer_copy(out, 0, from, 0);
  for (uint32_t i = 0; i < element.rank; i++)
    infer_copy(out, i + 1, &element, i);
  return CALM_OK;
}

calm_status infer_scan(infer_node *n) {
  scan s;
  int64_t rounds;
  const char *symbol;
  if (!read_scan(&s, n)) return CALM_OK;
  n->r->graphs.data[s.body].unreachable = false;
  find_rounds(&rounds, &symbol, &s, n);
  for (uint32_t o = 0; o < n->node->output_count; o++) {
    const onnx_value *value = body_output(n, s.body, o);
    if (!value) continue;
    if (o < s.states) {
      onnx_value *state = body_input(n, s.body, o);
      take(n, o, value);
      n->outputs[o].contents = (onnx_contents){0};
      if (state) TRY(infer_join(&n->outputs[o], n->r, state, value));
    } else {
      int64_t axis =
          infer_attribute_at(n->node, "scan_output_axes", o - s.states, 0);
      TRY(stack_up(n, o, value, s.batch ? 0 : axis, rounds, symbol));
    }
    TRY(add_batch(n, o, &s));
  }
  return CALM_OK;
}

/* ---- All of them --------------------------------------------------------- */

/* The graphs of a node that calm does not know, one after the other. */
static calm_status next_unknown(uint32_t *out, infer_node *n, uint32_t runs,
                                onnx_value *const *stated) {
  uint32_t seen = 0;
  *out = CALM_NONE;
  for (uint32_t i = 0; i < n->node->attribute_count; i++) {
    const onnx_attribute *a = &n->node->attributes[i];
    bool graphs =
        a->type == ONNX_ATTRIBUTE_GRAPH || a->type == ONNX_ATTRIBUTE_GRAPHS;
    if (!graphs || !a->graphs) continue;
    for (uint32_t k = 0; k < a->count; k++)
      if (seen++ == runs && a->graphs[k] < n->r->graphs.count)
        *out = a->graphs[k];
  }
  if (*out != CALM_NONE) reset(n, *out, stated);
  return CALM_OK;
}

static bool is(const infer_node *n, const char *op) {
  const char *domain = n->node->domain;
  return !strcmp(n->node->op_type, op) &&
         (!domain || !*domain || !strcmp(domain, "ai.onnx"));
}

calm_status infer_next_body(uint32_t *out, infer_node *n, uint32_t runs,
                            bool deep, onnx_value *const *stated) {
  if (is(n, "If")) return next_branch(out, n, runs, stated);
  if (is(n, "Loop")) return next_round(out, n, runs, deep, stated);
  if (is(n, "Scan")) return next_scan(out, n, runs, stated);
  return next_unknown(out, n, runs, stated);
}
