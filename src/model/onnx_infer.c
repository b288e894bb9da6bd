#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vector.h"
#include "model/onnx_infer.h"

/*
 * The walk.  Nodes are visited in topological order; a node that runs graphs is
 * first asked which one, with which inputs (infer_next_body), and that graph is
 * walked before the node's own rule runs: again and again for a loop, until the
 * values it carries no longer change.  The stack of graphs is explicit, because
 * a file decides how deep they nest.
 *
 * What the file stated is put aside first: a second run of a body starts from
 * it anew, and at the end it is compared with what was inferred.
 */
typedef struct frame {
  uint32_t graph, next; /* the next node of `order` */
  uint32_t runs;        /* graphs that this node has run */
} frame;

/* Every level of loops multiplies the runs of the innermost body, so that from
   here on one run has to do. */
enum { DEEP_FRAMES = 3 };

typedef struct walk {
  onnx_reader *r;
  onnx_value **stated; /* [graph][value] */
  onnx_value *outputs; /* room for those of any node */
  VECTOR(frame) stack;
} walk;

/* ---- Rules --------------------------------------------------------------- */

#define ONNX ""
#define MICROSOFT "com.microsoft"
#define ML "ai.onnx.ml"
#define PREVIEW "ai.onnx.preview"
#define TRAINING "ai.onnx.preview.training"
#define fold_none NULL
static const infer_rule rules[] = {
#define RULE(domain, op, inputs, shape, fold, argument) \
  {domain, #op, inputs, infer_##shape, fold_##fold, argument},
#include "model/onnx_rules.def"
#undef RULE
};
#undef fold_none

const infer_rule *infer_find_rule(const onnx_node *node) {
  const char *domain = node->domain ? node->domain : "";
  if (!strcmp(domain, "ai.onnx")) domain = "";
  if (node->function != CALM_NONE) return NULL;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (!strcmp(rules[i].op, node->op_type) && !strcmp(rules[i].domain, domain))
      return &rules[i];
  return NULL;
}

/* ---- Reasons ------------------------------------------------------------- */

static calm_status keep(const char **out, onnx_reader *r, const char *text) {
  *out = arena_string(&r->scratch, text, strlen(text));
  return *out ? CALM_OK : context_no_memory(r->context);
}

/* A graph input that is not known is where the search for a reason ends. */
static calm_status explain_input(onnx_reader *r, onnx_value *value) {
  char text[256];
  const char *name = value->name ? value->name : "";
  if (value->why || infer_complete(&value->shape)) return CALM_OK;
  snprintf(text, sizeof text, "input '%.100s' has no shape", name);
  if (value->shape.rank != ONNX_NO_RANK) {
    uint32_t i = 0;
    while (value->shape.dims[i] != ONNX_UNKNOWN) i++;
    const char *symbol = infer_symbol(&value->shape, i);
    if (symbol)
      snprintf(text, sizeof text, "dimension '%.100s' of '%.100s' is not given",
               symbol, name);
    else
      snprintf(text, sizeof text,
               "dimension %" PRIu32 " of '%.100s' is not given", i, name);
  }
  return keep(&value->why, r, text);
}

static bool has_unknown(const onnx_contents *c) {
  for (uint32_t i = 0; i < c->count && c->integers; i++)
    if (c->integers[i] == ONNX_UNKNOWN) return true;
  for (uint32_t i = 0; i < c->count && c->reals; i++)
    if (c->reals[i] != c->reals[i]) return true;
  return false;
}

static bool has_known(const onnx_contents *c) {
  for (uint32_t i = 0; i < c->count; i++)
    if (c->reals[i] == c->reals[i]) return true;
  return c->count == 0;
}

static bool known(const onnx_value *value) {
  return infer_complete(&value->shape) && !has_unknown(&value->contents);
}

static calm_status explain(infer_node *n) {
  if (n->why) return CALM_OK;
  for (uint32_t i = 0; i < n->node->input_count; i++) {
    const onnx_value *value = infer_input(n, i);
    if (value && !known(value) && value->why) {
      n->why = value->why;
      return CALM_OK;
    }
  }
  return infer_explain(n, "has an output whose size depends on data");
}

static calm_status explain_missing_rule(infer_node *n) {
  char text[256];
  const char *domain = n->node->domain ? n->node->domain : "";
  snprintf(text, sizeof text, "operator '%.80s%s%.80s' has no rule", domain,
           *domain ? "::" : "", n->node->op_type);
  return keep(&n->why, n->r, text);
}

/* ---- One node ------------------------------------------------------------ */

static infer_node open_node(const walk *w, uint32_t graph, uint32_t index) {
  onnx_graph *g = &w->r->graphs.data[graph];
  infer_node n = {.r = w->r, .graph = g, .node = &g->nodes.data[index]};
  n.outputs = w->outputs;
  uint32_t count = n.node->output_count + INFER_SPARE_OUTPUTS;
  for (uint32_t o = 0; o < count; o++)
    n.outputs[o] = (onnx_value){.shape.rank = ONNX_NO_RANK};
  return n;
}

static calm_status check_operands(infer_node *n, const infer_rule *rule) {
  for (uint32_t i = 0; i < rule->inputs; i++)
    if (!infer_input(n, i))
      return infer_conflict(n, "has no operand %" PRIu32 ", it needs %" PRIu32,
                            i, rule->inputs);
  return CALM_OK;
}

static calm_status apply_rule(infer_node *n) {
  const infer_rule *rule = infer_find_rule(n->node);
  if (!rule) return explain_missing_rule(n);
  n->argument = rule->argument;
  TRY(check_operands(n, rule));
  TRY(rule->shape(n));
  return rule->fold ? rule->fold(n) : CALM_OK;
}

/* A contradiction in the entry graph stops everything.  In a body it need not
   matter: it may be a branch that is never taken. */
static calm_status judge(infer_node *n, calm_status status) {
  if (status != CALM_BAD_INPUT) return status;
  if (n->graph->parent == CALM_NONE)
    return context_fail(n->r->context, CALM_BAD_INPUT, "%s: byte %zu: %s",
                        n->r->model->path, n->node->position, n->why);
  n->graph->unreachable = true;
  for (uint32_t o = 0; o < n->node->output_count; o++)
    n->outputs[o] = (onnx_value){.shape.rank = ONNX_NO_RANK};
  return CALM_OK;
}

static calm_status store_output(infer_node *n, onnx_value *value,
                                const onnx_value *made) {
  onnx_shape shape;
  TRY(infer_refine(&shape, n->r, &made->shape, &value->shape));
  value->shape = shape;
  if (made->type != ONNX_UNDEFINED) value->type = made->type;
  value->most = made->most;
  value->contents = made->contents;
  if (value->contents.reals && !has_known(&value->contents))
    value->contents = (onnx_contents){0};
  value->flags |= made->flags & ONNX_VALUE_OPAQUE;
  if (value->flags & ONNX_VALUE_OPAQUE) return CALM_OK;
  value->why = NULL;
  if (known(value)) return CALM_OK;
  TRY(explain(n));
  value->why = n->why;
  return CALM_OK;
}

static calm_status visit(infer_node *n) {
  TRY(judge(n, apply_rule(n)));
  for (uint32_t o = 0; o < n->node->output_count; o++)
    if (n->node->outputs[o] != CALM_NONE)
      TRY(store_output(n, &n->graph->values.data[n->node->outputs[o]],
                       &n->outputs[o]));
  return CALM_OK;
}

/* ---- Graphs -------------------------------------------------------------- */

/* What rules cannot bear is taken out: sizes below 0, which some writers mean
   as "not known", too many dimensions; and the least number among the elements
   of weights, which means "to the very first", is not to look unknown. */
static void tame(onnx_value *value) {
  onnx_shape *shape = &value->shape;
  if (shape->rank != ONNX_NO_RANK && shape->rank > INFER_MAX_RANK)
    shape->rank = ONNX_NO_RANK;
  for (uint32_t i = 0; shape->rank != ONNX_NO_RANK && i < shape->rank; i++)
    if (shape->dims[i] < 0) shape->dims[i] = ONNX_UNKNOWN;
  onnx_contents *contents = &value->contents;
  if (value->flags & ONNX_VALUE_WEIGHT && contents->integers)
    for (uint32_t i = 0; i < contents->count; i++)
      if (contents->integers[i] == ONNX_UNKNOWN) contents->integers[i]++;
}

static calm_status put_aside(walk *w) {
  onnx_reader *r = w->r;
  uint32_t outputs = 0;
  ARENA_ARRAY(&r->scratch, w->stated, r->graphs.count);
  for (uint32_t g = 0; g < r->graphs.count; g++) {
    onnx_graph *graph = &r->graphs.data[g];
    ARENA_ARRAY(&r->scratch, w->stated[g], graph->values.count);
    for (uint32_t v = 0; v < graph->values.count; v++) {
      tame(&graph->values.data[v]);
      w->stated[g][v] = graph->values.data[v];
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++)
      if (graph->nodes.data[i].output_count > outputs)
        outputs = graph->nodes.data[i].output_count;
  }
  ARENA_ARRAY(&r->scratch, w->outputs, (size_t)outputs + INFER_SPARE_OUTPUTS);
  return CALM_OK;
}

/* Start a body: what it sees of the graph around it is known by now. */
static void enter(walk *w, uint32_t graph) {
  onnx_graph *g = &w->r->graphs.data[graph];
  onnx_graph *around = &w->r->graphs.data[g->parent];
  g->unreachable = false;
  for (uint32_t v = 0; v < g->values.count; v++) {
    onnx_value *value = &g->values.data[v];
    if (!(value->flags & ONNX_VALUE_OUTER)) continue;
    const onnx_value *outer = &around->values.data[value->outer];
    value->type = outer->type;
    value->shape = outer->shape;
    value->most = outer->most;
    value->contents = outer->contents;
    value->why = outer->why;
    value->flags |= outer->flags & ONNX_VALUE_OPAQUE;
  }
}

static calm_status push(walk *w, uint32_t graph) {
  onnx_graph *g = &w->r->graphs.data[graph];
  for (uint32_t i = 0; i < g->input_count; i++)
    TRY(explain_input(w->r, &g->values.data[g->inputs[i]]));
  VECTOR_PUSH(w->r->context, &w->stack, (frame){.graph = graph});
  return CALM_OK;
}

static bool may_run(const walk *w, uint32_t graph, uint32_t body) {
  return body < w->r->graphs.count && body != graph &&
         w->r->graphs.data[body].parent == graph;
}

static calm_status step(walk *w) {
  frame *f = &w->stack.data[w->stack.count - 1];
  onnx_graph *g = &w->r->graphs.data[f->graph];
  if (f->next == g->nodes.count) {
    w->stack.count--;
    return CALM_OK;
  }
  uint32_t index = g->order ? g->order[f->next] : f->next, body;
  infer_node n = open_node(w, f->graph, index);
  TRY(infer_next_body(&body, &n, f->runs, w->stack.count > DEEP_FRAMES,
                      w->stated));
  if (body != CALM_NONE && may_run(w, f->graph, body)) {
    f->runs++;
    enter(w, body);
    return push(w, body);
  }
  f->next++;
  f->runs = 0;
  return visit(&n);
}

/* ---- What the file says otherwise ---------------------------------------- */

static bool contradicts(const onnx_shape *stated, const onnx_shape *inferred) {
  if (stated->rank == ONNX_NO_RANK || inferred->rank == ONNX_NO_RANK)
    return false;
  if (stated->rank != inferred->rank) return true;
  for (uint32_t i = 0; i < stated->rank; i++)
    if (stated->dims[i] != ONNX_UNKNOWN && inferred->dims[i] != ONNX_UNKNOWN &&
        stated->dims[i] != inferred->dims[i])
      return true;
  return false;
}

static void print_shape(char *out, size_t size, const onnx_shape *shape) {
  size_t length = 0;
  for (uint32_t i = 0; i < shape->rank && length + 24 < size; i++) {
    const char *comma = i ? "," : "";
    int more = shape->dims[i] == ONNX_UNKNOWN
                   ? snprintf(out + length, size - length, "%s?", comma)
                   : snprintf(out + length, size - length, "%s%" PRId64, comma,
                              shape->dims[i]);
    length += (size_t)more;
  }
  out[length] = '\0';
}

static void warn(const walk *w) {
  const onnx_value *first = NULL, *made = NULL;
  uint32_t count = 0;
  for (uint32_t g = 0; g < w->r->graphs.count; g++)
    for (uint32_t v = 0; v < w->r->graphs.data[g].values.count; v++) {
      const onnx_value *value = &w->r->graphs.data[g].values.data[v];
      if (value->flags & ONNX_VALUE_OUTER || w->r->graphs.data[g].unreachable ||
          !contradicts(&w->stated[g][v].shape, &value->shape))
        continue;
      if (!count++) first = &w->stated[g][v], made = value;
    }
  if (!count) return;
  char before[128], after[128];
  print_shape(before, sizeof before, &first->shape);
  print_shape(after, sizeof after, &made->shape);
  context_log(w->r->context, CALM_LOG_WARNING,
              "%s: '%.100s' is stated as [%s], but its operator makes [%s], "
              "which is what counts%s",
              w->r->model->path, first->name ? first->name : "", before, after,
              count > 1 ? "; others likewise" : "");
}

/* What lies inside a branch that is never taken is never run either. */
static void spread_unreachable(onnx_reader *r) {
  for (uint32_t g = 0; g < r->graphs.count; g++) {
    uint32_t parent = r->graphs.data[g].parent;
    if (parent != CALM_NONE && r->graphs.data[parent].unreachable)
      r->graphs.data[g].unreachable = true;
  }
}

calm_status onnx_infer(onnx_reader *r) {
  walk w = {.r = r};
  if (r->graphs.count == 0) return CALM_OK;
  TRY(put_aside(&w));
  calm_status status = push(&w, 0);
  while (status == CALM_OK && w.stack.count) status = step(&w);
  VECTOR_FREE(r->context, &w.stack);
  TRY(status);
  spread_unreachable(r);
  warn(&w);
  return CALM_OK;
}
