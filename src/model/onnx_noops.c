/*
 * Nodes of the entry graph that only hand on their input, taken out of an .onnx
 * file: Identity, Dropout at inference, Split with one output, Concat of one
 * operand, Reshape to the shape that is there.  Who reads the output is given
 * the name of the input.  Names have different lengths, and messages tell
 * theirs, so the graph is written anew around what stays; the result lies in
 * memory.
 */
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "model/onnx_schema.h"
#include "model/protobuf_write.h"

enum {
  INFERENCE_ONLY = 7 /* from this version on Dropout does nothing unless told */
};

typedef struct node {
  proto_span content;
  const char *kind, *domain;
  const char **inputs, **outputs; /* "": absent */
  uint32_t input_count, output_count;
  bool removed;
  const char *head; /* of a removed one: whose value it hands on */
} node;

typedef struct remover {
  const calm_model *model;
  arena a;
  proto_file file;
  proto_field graph;
  uint64_t version; /* of the default operators */
  VECTOR(node) nodes;
  op_id *op_of;              /* node -> operator of the model's entry */
  VECTOR(proto_span) bodies; /* graphs inside attributes */
  name_table outputs;        /* of the graph */
  name_table reads;          /* what some node reads */
  name_table said;           /* what bodies read or hand out */
  name_table handed_on;      /* outputs of removed nodes -> node */
  uint32_t removed;
} remover;

/* ---- Reading ------------------------------------------------------------- */

static calm_status read_name(const char **out, remover *r, proto_span span) {
  return proto_string(out, &r->a, &r->file, span);
}

static calm_status add_once(name_table *table, const char *name) {
  return name_table_find(table, name) == CALM_NONE
             ? name_table_add(table, name, 0)
             : CALM_OK;
}

static calm_status read_opset(remover *r, proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  const char *domain = "";
  uint64_t version = 0;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_OPSET_DOMAIN) TRY(read_name(&domain, r, f.span));
    if (f.key == KEY_OPSET_VERSION) version = f.value;
  }
  if (!*domain || !strcmp(domain, "ai.onnx")) r->version = version;
  return CALM_OK;
}

/* Graphs that run inside are looked through later, for names only. */
static calm_status read_attribute(remover *r, proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_ATTRIBUTE_GRAPH || f.key == KEY_ATTRIBUTE_GRAPHS)
      VECTOR_PUSH(r->model->context, &r->bodies, f.span);
  }
  return CALM_OK;
}

static calm_status count_operands(node *n, remover *r) {
  proto_cursor c = proto_open(&r->file, n->content);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    n->input_count += f.key == KEY_NODE_INPUT;
    n->output_count += f.key == KEY_NODE_OUTPUT;
  }
  ARENA_ARRAY(&r->a, n->inputs, n->input_count);
  ARENA_ARRAY(&r->a, n->outputs, n->output_count);
  return CALM_OK;
}

static calm_status read_node(remover *r, proto_span span) {
  node n = {.content = span, .kind = "", .domain = ""};
  uint32_t in = 0, out = 0;
  TRY(count_operands(&n, r));
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    switch (f.key) {
      case KEY_NODE_INPUT:
        TRY(read_name(&n.inputs[in], r, f.span));
        TRY(add_once(&r->reads, n.inputs[in++]));
        break;
      case KEY_NODE_OUTPUT: TRY(read_name(&n.outputs[out++], r, f.span)); break;
      case KEY_NODE_OP_TYPE: TRY(read_name(&n.kind, r, f.span)); break;
      case KEY_NODE_DOMAIN: TRY(read_name(&n.domain, r, f.span)); break;
      case KEY_NODE_ATTRIBUTE: TRY(read_attribute(r, f.span)); break;
      default: break;
    }
  }
  VECTOR_PUSH(r->model->context, &r->nodes, n);
  return CALM_OK;
}

static calm_status read_output(name_table *names, remover *r, proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    const char *name;
    TRY(proto_next(&f, &c));
    if (f.key != KEY_VALUE_NAME) continue;
    TRY(read_name(&name, r, f.span));
    TRY(add_once(names, name));
  }
  return CALM_OK;
}

static calm_status read_body_node(remover *r, proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    const char *name;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_NODE_ATTRIBUTE) TRY(read_attribute(r, f.span));
    if (f.key != KEY_NODE_INPUT) continue;
    TRY(read_name(&name, r, f.span));
    TRY(add_once(&r->said, name));
  }
  return CALM_OK;
}

/* Bodies read names from outside; those of their own do no harm here. */
static calm_status read_body(remover *r, proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_GRAPH_NODE) TRY(read_body_node(r, f.span));
    if (f.key == KEY_GRAPH_OUTPUT) TRY(read_output(&r->said, r, f.span));
  }
  return CALM_OK;
}

static calm_status read_graph(remover *r) {
  proto_cursor c = proto_open(&r->file, r->graph.span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_GRAPH_NODE) TRY(read_node(r, f.span));
    if (f.key == KEY_GRAPH_OUTPUT) TRY(read_output(&r->outputs, r, f.span));
  }
  for (uint32_t i = 0; i < r->bodies.count; i++) /* grows meanwhile */
    TRY(read_body(r, r->bodies.data[i]));
  return CALM_OK;
}

static calm_status read_all(remover *r) {
  proto_cursor c = proto_open(&r->file, (proto_span){0, r->file.length});
  uint32_t graphs = 0;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_MODEL_OPSET) TRY(read_opset(r, f.span));
    if (f.key != KEY_MODEL_GRAPH) continue;
    r->graph = f;
    graphs++;
  }
  if (graphs != 1)
    return context_fail(r->model->context, CALM_UNSUPPORTED,
                        "%s: --remove-noops: a model in several parts",
                        r->model->path);
  return read_graph(r);
}

/* ---- What is a no-op ----------------------------------------------------- */

static bool names(const char *const *list, uint32_t count, uint32_t i) {
  return i < count && *list[i];
}

static bool contains(const name_table *table, const char *name) {
  return name_table_find(table, name) != CALM_NONE;
}

/* Is there an output `i` that anybody looks at? */
static bool is_wanted(const remover *r, const node *n, uint32_t i) {
  if (!names(n->outputs, n->output_count, i)) return false;
  const char *name = n->outputs[i];
  return contains(&r->reads, name) || contains(&r->outputs, name) ||
         contains(&r->said, name);
}

static calm_status find_operators(remover *r) {
  const graph *g = &r->model->graphs.data[0];
  ARENA_ARRAY(&r->a, r->op_of, r->nodes.count);
  for (uint32_t i = 0; i < r->nodes.count; i++) r->op_of[i] = CALM_NONE;
  for (op_id op = 0; op < g->ops.count; op++)
    r->op_of[g->ops.data[op].file_index] = op;
  return CALM_OK;
}

/* Whatever is fed to the file as it is, not only with sizes given by --dim. */
static bool keeps_shape(const remover *r, const node *n) {
  const graph *g = &r->model->graphs.data[0];
  const op_id op = r->op_of[n - r->nodes.data];
  if (op == CALM_NONE || r->model->dims) return false;
  const tensor_id in = g->ops.data[op].inputs[0];
  const tensor_id out = g->ops.data[op].outputs[0];
  if (in == CALM_NONE || out == CALM_NONE) return false;
  const graph_tensor *a = &g->tensors.data[in], *b = &g->tensors.data[out];
  return a->type == b->type && a->rank == b->rank &&
         (a->rank == 0 || !memcmp(a->dimensions, b->dimensions,
                                  a->rank * sizeof *a->dimensions));
}

static bool only_hands_on(const remover *r, const node *n) {
  if (*n->domain && strcmp(n->domain, "ai.onnx")) return false;
  if (!names(n->inputs, n->input_count, 0) || n->output_count == 0 ||
      !*n->outputs[0])
    return false;
  if (!strcmp(n->kind, "Identity"))
    return n->input_count == 1 && n->output_count == 1;
  if (!strcmp(n->kind, "Concat"))
    return n->input_count == 1 && n->output_count == 1;
  if (!strcmp(n->kind, "Split")) return n->output_count == 1;
  if (!strcmp(n->kind, "Reshape")) return keeps_shape(r, n);
  /* The mask is another output; training is asked for by a third operand. */
  return !strcmp(n->kind, "Dropout") && r->version >= INFERENCE_ONLY &&
         !is_wanted(r, n, 1) && !names(n->inputs, n->input_count, 2);
}

/* A chain of no-ops leads to the first of them.  Each node of the chain is
   told, so that it is walked once. */
static void find_head(remover *r, node *n) {
  const char *head = n->inputs[0];
  for (uint32_t i; (i = name_table_find(&r->handed_on, head)) != CALM_NONE;) {
    const node *before = &r->nodes.data[i];
    head = before->head ? before->head : before->inputs[0];
  }
  while (!n->head) {
    const uint32_t i = name_table_find(&r->handed_on, n->inputs[0]);
    n->head = head;
    if (i == CALM_NONE) break;
    n = &r->nodes.data[i];
  }
}

static calm_status find_noops(remover *r) {
  TRY(find_operators(r));
  for (uint32_t i = 0; i < r->nodes.count; i++) {
    node *n = &r->nodes.data[i];
    if (!only_hands_on(r, n)) continue;
    const char *out = n->outputs[0];
    if (contains(&r->outputs, out) || contains(&r->said, out)) continue;
    TRY(name_table_add(&r->handed_on, out, i));
    n->removed = true;
    r->removed++;
  }
  for (uint32_t i = 0; i < r->nodes.count; i++)
    if (r->nodes.data[i].removed) find_head(r, &r->nodes.data[i]);
  return CALM_OK;
}

/* The name to be read in place of `name`. */
static const char *head_of(const remover *r, const char *name) {
  const uint32_t i = name_table_find(&r->handed_on, name);
  return i == CALM_NONE ? name : r->nodes.data[i].head;
}

/* ---- Writing ------------------------------------------------------------- */

static void add_span(text *out, const remover *r, size_t begin, size_t end) {
  text_add(out, (const char *)r->file.bytes + begin, end - begin);
}

static calm_status write_node(text *out, const remover *r, const node *n) {
  proto_cursor c = proto_open(&r->file, n->content);
  uint32_t in = 0;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_NODE_INPUT) {
      const char *name = head_of(r, n->inputs[in++]);
      proto_put_bytes(out, f.key, name, strlen(name));
    } else {
      add_span(out, r, f.all.begin, f.all.end);
    }
  }
  return CALM_OK;
}

static calm_status write_nodes(text *out, const remover *r) {
  proto_cursor c = proto_open(&r->file, r->graph.span);
  uint32_t i = 0;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key != KEY_GRAPH_NODE) {
      add_span(out, r, f.all.begin, f.all.end);
      continue;
    }
    const node *n = &r->nodes.data[i++];
    text content;
    if (n->removed) continue;
    text_init(&content, r->model->context);
    calm_status status = write_node(&content, r, n);
    if (status == CALM_OK && content.failed)
      status = context_no_memory(r->model->context);
    if (status == CALM_OK)
      proto_put_bytes(out, KEY_GRAPH_NODE, content.data, content.length);
    text_free(&content);
    TRY(status);
  }
  return CALM_OK;
}

static calm_status write_all(text *out, const remover *r) {
  text graph;
  text_init(&graph, r->model->context);
  calm_status status = write_nodes(&graph, r);
  if (status == CALM_OK && graph.failed)
    status = context_no_memory(r->model->context);
  if (status == CALM_OK) {
    add_span(out, r, 0, r->graph.all.begin);
    proto_put_bytes(out, KEY_MODEL_GRAPH, graph.data, graph.length);
    add_span(out, r, r->graph.all.end, r->file.length);
  }
  text_free(&graph);
  if (status == CALM_OK && out->failed)
    status = context_no_memory(r->model->context);
  return status;
}

/* ---- What was meant ------------------------------------------------------ */

static bool same_name(const graph *before, tensor_id a, const remover *heads,
                      const graph *after, tensor_id b) {
  if (a == CALM_NONE || b == CALM_NONE) return a == b;
  const char *name = before->tensors.data[a].name;
  if (heads) name = head_of(heads, name);
  return !strcmp(name, after->tensors.data[b].name);
}

/* Operands, and behind them what bodies read.  There each name stands once, and
   not at all if it is an operand, too, as it may be now. */
static calm_status same_inputs(bool *same, const remover *r,
                               const graph *before, const graph_op *a,
                               const graph *after, const graph_op *b) {
  const uint32_t own = r->nodes.data[a->file_index].input_count;
  name_table names;
  name_table_init(&names, r->model->context);
  calm_status status = CALM_OK;
  *same = a->input_count >= own && b->input_count >= own;
  for (uint32_t i = 0; *same && i < own; i++)
    *same = same_name(before, a->inputs[i], r, after, b->inputs[i]);
  for (uint32_t i = 0; *same && i < a->input_count && status == CALM_OK; i++)
    if (a->inputs[i] != CALM_NONE)
      status =
          add_once(&names, head_of(r, before->tensors.data[a->inputs[i]].name));
  for (uint32_t i = own; *same && i < b->input_count && status == CALM_OK; i++)
    *same = contains(&names, after->tensors.data[b->inputs[i]].name);
  name_table_free(&names);
  return status;
}

static bool same_outputs(const graph *before, const graph_op *a,
                         const graph *after, const graph_op *b) {
  if (a->output_count != b->output_count) return false;
  for (uint32_t i = 0; i < a->output_count; i++)
    if (!same_name(before, a->outputs[i], NULL, after, b->outputs[i]))
      return false;
  return true;
}

/* The operators that stay do as they did. */
static calm_status same_graph(bool *same, const remover *r, const graph *before,
                              const graph *after) {
  uint32_t step = 0;
  *same = true;
  for (op_id u = 0; *same && u < before->ops.count; u++) {
    const graph_op *a = &before->ops.data[u];
    if (r->nodes.data[a->file_index].removed) continue;
    if (step == after->ops.count) break;
    const graph_op *b = &after->ops.data[step++];
    TRY(same_inputs(same, r, before, a, after, b));
    *same = *same && !strcmp(a->kind_name, b->kind_name) &&
            same_outputs(before, a, after, b);
  }
  *same = *same && step == after->ops.count;
  return CALM_OK;
}

static calm_status copy_dims(calm_model *next, const calm_model *model) {
  option_LIST *to = &next->dims;
  next->fixed_weights = model->fixed_weights;
  for (option_LIST from = model->dims; from; from = from->next) {
    option_item *item;
    ARENA_ARRAY(&next->arena, item, 1);
    item->text = arena_string(&next->arena, from->text, strlen(from->text));
    if (!item->text) return context_no_memory(model->context);
    *to = item;
    to = &item->next;
  }
  return CALM_OK;
}

static calm_status read_again(calm_model *next, const remover *r,
                              const text *written) {
  const calm_model *model = r->model;
  next->path = arena_string(&next->arena, model->path, strlen(model->path));
  const char *bytes =
      arena_string(&next->arena, written->data, written->length);
  if (!next->path || !bytes) return context_no_memory(model->context);
  next->map = (file_map){(const uint8_t *)bytes, written->length};
  next->altered = true;
  TRY(copy_dims(next, model));
  context_mute(model->context, true);
  calm_status status = model_read(next);
  context_mute(model->context, false);
  TRY(status);
  bool same;
  TRY(same_graph(&same, r, &model->graphs.data[0], &next->graphs.data[0]));
  if (same) return CALM_OK;
  return context_fail(model->context, CALM_UNSUPPORTED,
                      "%s: --remove-noops: the graph would become another",
                      model->path);
}

static void take_place(calm_model *model, calm_model *next) {
  if (model->mapped) file_map_close(&model->map);
  model_clear(model);
  *model = *next;
  for (uint32_t i = 0; i < model->graphs.count; i++)
    model->graphs.data[i].arena = &model->arena;
}

static calm_status rewrite(calm_model *model, const remover *r) {
  text written;
  calm_model next;
  text_init(&written, model->context);
  model_init(&next, model->context, NULL);
  calm_status status = write_all(&written, r);
  if (status == CALM_OK) status = read_again(&next, r, &written);
  text_free(&written);
  if (status == CALM_OK)
    take_place(model, &next);
  else
    model_clear(&next);
  return status;
}

calm_status onnx_remove_noops(calm_model *model) {
  remover r = {.model = model,
               .file = {model->context, model->path, model->map.bytes,
                        model->map.length}};
  arena_init(&r.a, model->context);
  name_table_init(&r.outputs, model->context);
  name_table_init(&r.reads, model->context);
  name_table_init(&r.said, model->context);
  name_table_init(&r.handed_on, model->context);
  calm_status status = read_all(&r);
  if (status == CALM_OK) status = find_noops(&r);
  if (status == CALM_OK && r.removed) status = rewrite(model, &r);
  name_table_free(&r.outputs);
  name_table_free(&r.reads);
  name_table_free(&r.said);
  name_table_free(&r.handed_on);
  VECTOR_FREE(model->context, &r.nodes);
  VECTOR_FREE(model->context, &r.bodies);
  arena_free(&r.a);
  return status;
}
