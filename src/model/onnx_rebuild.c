/*
 * The file around the new graph.  It is a list of pieces: spans of the old file
 * and small blocks; at the end they are put together, once.  Fields keep their
 * order; new weights, inputs and types come behind the others.
 */
#include "model/onnx_rebuild.h"

#include <string.h>

#include "model/onnx_schema.h"
#include "model/protobuf_write.h"

/* What is being put together: the graph first, then the model. */
typedef struct pieces {
  calm_context *context;
  arena *a;
  const proto_file *file;
  file_pieces list;
  size_t length;
} pieces;

static calm_status add_bytes(pieces *p, const uint8_t *bytes, size_t length) {
  if (length == 0) return CALM_OK;
  p->length += length;
  if (p->list.count) {
    file_piece *last = &p->list.data[p->list.count - 1];
    if (last->bytes + last->length == bytes) {
      last->length += length;
      return CALM_OK;
    }
  }
  VECTOR_PUSH(p->context, &p->list, (file_piece){bytes, length, false});
  return CALM_OK;
}

static calm_status add_span(pieces *p, proto_span span) {
  return add_bytes(p, p->file->bytes + span.begin, span.end - span.begin);
}

/* The text is freed. */
static calm_status add_text(pieces *p, text *t) {
  const size_t length = t->length;
  const bool failed = t->failed;
  char *copy =
      failed ? NULL : arena_string(p->a, length ? t->data : "", length);
  text_free(t);
  if (!copy) return context_no_memory(p->context);
  return add_bytes(p, (const uint8_t *)copy, length);
}

/* A message as a field. */
static calm_status add_message(pieces *p, uint32_t key, text *message) {
  text field;
  text_init(&field, p->context);
  proto_put_message(&field, key, message);
  return add_text(p, &field);
}

/* ---- Nodes --------------------------------------------------------------- */

static calm_status add_node(pieces *p, onnx_rebuilder *b,
                            const rebuild_place *place) {
  text node;
  if (place->makes_weights)
    return add_span(p, b->g->nodes.data[place->index].entry);
  text_init(&node, p->context);
  const calm_status status = rebuild_node(&node, b, place->index);
  if (status == CALM_OK) return add_message(p, KEY_GRAPH_NODE, &node);
  text_free(&node);
  return status;
}

static calm_status add_nodes(pieces *p, onnx_rebuilder *b) {
  for (uint32_t i = 0; i < b->place_count; i++)
    TRY(add_node(p, b, &b->places[i]));
  return CALM_OK;
}

/* ---- What is said by name ------------------------------------------------ */

/* The name in a message, "" if it has none. */
static calm_status read_name(const char **out, onnx_rebuilder *b,
                             proto_span message, uint32_t key) {
  proto_cursor c = proto_open(&b->r->file, message);
  *out = "";
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == key)
      TRY(proto_string(out, &b->r->scratch, &b->r->file, f.span));
  }
  return CALM_OK;
}

static calm_status read_entry_name(const char **out, onnx_rebuilder *b,
                                   const proto_field *f) {
  onnx_tensor ignored;
  switch (f->key) {
    case KEY_GRAPH_INITIALIZER:
      return read_name(out, b, f->span, KEY_TENSOR_NAME);
    case KEY_GRAPH_SPARSE_INITIALIZER:
      return onnx_read_sparse(&ignored, out, b->r, f->span);
    case KEY_GRAPH_QUANTIZATION:
      return read_name(out, b, f->span, KEY_QUANTIZATION_TENSOR);
    default: return read_name(out, b, f->span, KEY_VALUE_NAME);
  }
}

/* Entries for what is gone go, too. */
static calm_status is_kept(bool *out, onnx_rebuilder *b, const proto_field *f) {
  const char *name;
  *out = true;
  switch (f->key) {
    case KEY_GRAPH_INITIALIZER:
    case KEY_GRAPH_SPARSE_INITIALIZER:
    case KEY_GRAPH_INPUT:
    case KEY_GRAPH_VALUE_INFO:
    case KEY_GRAPH_QUANTIZATION: break;
    default: return CALM_OK;
  }
  TRY(read_entry_name(&name, b, f));
  const value_id v = name_table_find(&b->g->names, name);
  if (v != CALM_NONE)
    *out = !b->gone[v];
  else
    *out = name_table_find(&b->edit->tensor_names, name) == CALM_NONE;
  return CALM_OK;
}

/* ---- New weights and types ----------------------------------------------- */

static bool is_new(const onnx_rebuilder *b, tensor_id t) {
  return b->edit->tensors.data[t].contents != EDIT_SAME;
}

static int32_t onnx_type_of(element_type type) {
  enum { TYPES = 64 };
  for (int32_t i = 1; i < TYPES; i++)
    if (onnx_element_type(i) == type) return i;
  return ONNX_UNDEFINED;
}

/* The raw data comes last and is not copied before everything is joined. */
static calm_status add_weight(pieces *p, onnx_rebuilder *b, tensor_id t) {
  const graph_tensor *tensor = &b->edit->after.tensors.data[t];
  const uint8_t *bytes = b->edit->tensors.data[t].bytes;
  const int32_t type = onnx_type_of(tensor->type);
  text head, field;
  if (!bytes || !type)
    return context_fail(p->context, CALM_UNSUPPORTED,
                        "%s: the new constant '%.100s' has no bytes",
                        b->model->path, tensor->name);
  text_init(&head, p->context);
  text_init(&field, p->context);
  for (uint32_t i = 0; i < tensor->rank; i++)
    proto_put_number(&head, KEY_TENSOR_DIMENSION,
                     (uint64_t)tensor->dimensions[i]);
  proto_put_number(&head, KEY_TENSOR_TYPE, (uint64_t)type);
  proto_put_string(&head, KEY_TENSOR_NAME, tensor->name);
  proto_put_varint(&head, KEY_TENSOR_RAW);
  proto_put_varint(&head, tensor->bytes);
  proto_put_varint(&field, KEY_GRAPH_INITIALIZER);
  proto_put_varint(&field, head.length + tensor->bytes);
  text_add(&field, head.data ? head.data : "", head.length);
  field.failed = field.failed || head.failed;
  text_free(&head);
  TRY(add_text(p, &field));
  return add_bytes(p, bytes, tensor->bytes);
}

static void put_shape(text *out, const graph_tensor *tensor) {
  text shape;
  text_init(&shape, out->context);
  for (uint32_t i = 0; i < tensor->rank; i++) {
    text dimension;
    text_init(&dimension, out->context);
    proto_put_number(&dimension, KEY_DIMENSION_VALUE,
                     (uint64_t)tensor->dimensions[i]);
    proto_put_message(&shape, KEY_SHAPE_DIMENSION, &dimension);
  }
  proto_put_message(out, KEY_TENSOR_SHAPE, &shape);
}

static calm_status add_type(pieces *p, onnx_rebuilder *b, uint32_t key,
                            tensor_id t) {
  const graph_tensor *tensor = &b->edit->after.tensors.data[t];
  text value, type, inner;
  text_init(&value, p->context);
  text_init(&type, p->context);
  text_init(&inner, p->context);
  proto_put_number(&inner, KEY_TENSOR_ELEMENT,
                   (uint64_t)onnx_type_of(tensor->type));
  put_shape(&inner, tensor);
  proto_put_message(&type, KEY_TYPE_TENSOR, &inner);
  proto_put_string(&value, KEY_VALUE_NAME, tensor->name);
  proto_put_message(&value, KEY_VALUE_TYPE, &type);
  return add_message(p, key, &value);
}

static calm_status add_weights(pieces *p, onnx_rebuilder *b) {
  const graph *after = &b->edit->after;
  for (tensor_id t = 0; t < after->tensors.count; t++)
    if (is_new(b, t) && (after->tensors.data[t].flags & CALM_TENSOR_CONST))
      TRY(add_weight(p, b, t));
  return CALM_OK;
}

/* Up to IR 3 every initializer is listed as an input. */
static calm_status add_inputs(pieces *p, onnx_rebuilder *b) {
  enum { LAST_TO_LIST = 3 };
  const graph *after = &b->edit->after;
  for (tensor_id t = 0; t < after->tensors.count; t++)
    if (is_new(b, t) && (after->tensors.data[t].flags & CALM_TENSOR_CONST) &&
        b->r->ir_version <= LAST_TO_LIST)
      TRY(add_type(p, b, KEY_GRAPH_INPUT, t));
  return CALM_OK;
}

/* Sizes that --dim gave are not the file's, so nothing is said of them. */
static calm_status add_types(pieces *p, onnx_rebuilder *b) {
  const graph *after = &b->edit->after;
  for (tensor_id t = 0; t < after->tensors.count; t++)
    if (is_new(b, t) && !(after->tensors.data[t].flags & CALM_TENSOR_CONST) &&
        after->tensors.data[t].type != ELEMENT_ABSTRACT && !b->model->dims)
      TRY(add_type(p, b, KEY_GRAPH_VALUE_INFO, t));
  return CALM_OK;
}

/* ---- The graph ----------------------------------------------------------- */

static calm_status add_entries(pieces *p, onnx_rebuilder *b) {
  proto_cursor c = proto_open(&b->r->file, b->g->span);
  bool nodes = false, kept;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_GRAPH_NODE) {
      if (!nodes) TRY(add_nodes(p, b));
      nodes = true;
      continue;
    }
    TRY(is_kept(&kept, b, &f));
    if (kept) TRY(add_span(p, f.all));
  }
  return nodes ? CALM_OK : add_nodes(p, b);
}

static calm_status add_graph(pieces *p, onnx_rebuilder *b) {
  TRY(add_entries(p, b));
  TRY(add_weights(p, b));
  TRY(add_inputs(p, b));
  return add_types(p, b);
}

/* ---- The model ----------------------------------------------------------- */

static calm_status add_head(pieces *p, uint32_t key, size_t length) {
  text head;
  text_init(&head, p->context);
  proto_put_varint(&head, key);
  proto_put_varint(&head, length);
  return add_text(p, &head);
}

static calm_status add_pieces(pieces *p, const pieces *inner) {
  for (uint32_t i = 0; i < inner->list.count; i++)
    TRY(add_bytes(p, inner->list.data[i].bytes, inner->list.data[i].length));
  return CALM_OK;
}

/* Who uses a domain says so. */
static calm_status add_domain(pieces *p, const onnx_rebuilder *b) {
  static const char microsoft[] = "com.microsoft";
  text opset;
  if (!b->fused || name_table_find(&b->r->opset_names, microsoft) != CALM_NONE)
    return CALM_OK;
  text_init(&opset, p->context);
  proto_put_string(&opset, KEY_OPSET_DOMAIN, microsoft);
  proto_put_number(&opset, KEY_OPSET_VERSION, 1);
  return add_message(p, KEY_MODEL_OPSET, &opset);
}

static calm_status add_model(pieces *p, const pieces *graph,
                             const onnx_rebuilder *b) {
  proto_cursor c = proto_open(&b->r->file, (proto_span){0, b->r->file.length});
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key != KEY_MODEL_GRAPH) {
      TRY(add_span(p, f.all));
      continue;
    }
    TRY(add_head(p, f.key, graph->length));
    TRY(add_pieces(p, graph));
  }
  return add_domain(p, b);
}

/* No protobuf parser takes more. */
static calm_status check_length(const onnx_rebuilder *b, size_t length) {
  if (length <= INT32_MAX || b->r->file.length > INT32_MAX) return CALM_OK;
  return context_fail(b->r->context, CALM_UNSUPPORTED,
                      "%s: the rewritten file would have %zu bytes, an .onnx "
                      "file has less than 2 GiB",
                      b->model->path, length);
}

static calm_status join(const uint8_t **out, size_t *length, const pieces *p,
                        arena *a) {
  uint8_t *bytes;
  size_t at = 0;
  ARENA_ARRAY(a, bytes, p->length);
  for (uint32_t i = 0; i < p->list.count; i++) {
    memcpy(bytes + at, p->list.data[i].bytes, p->list.data[i].length);
    at += p->list.data[i].length;
  }
  *out = bytes;
  *length = at;
  return CALM_OK;
}

static calm_status put_together(const uint8_t **out, size_t *length,
                                onnx_rebuilder *b, arena *a) {
  const pieces empty = {b->r->context, &b->r->scratch, &b->r->file, {0}, 0};
  pieces graph = empty, model = empty;
  calm_status status = add_graph(&graph, b);
  if (status == CALM_OK) status = add_model(&model, &graph, b);
  if (status == CALM_OK) status = check_length(b, model.length);
  if (status == CALM_OK) status = join(out, length, &model, a);
  VECTOR_FREE(b->r->context, &graph.list);
  VECTOR_FREE(b->r->context, &model.list);
  return status;
}

static calm_status rebuild(const uint8_t **out, size_t *length,
                           onnx_rebuilder *b, arena *a) {
  TRY(onnx_parse(b->r));
  b->g = &b->r->graphs.data[0];
  TRY(rebuild_choose(b));
  return put_together(out, length, b, a);
}

/* The file is parsed again, as it is when nodes are reordered. */
calm_status onnx_rebuild(const uint8_t **out, size_t *length,
                         const calm_model *model, const graph_edit *edit,
                         arena *a) {
  calm_model shadow;
  onnx_reader r;
  onnx_rebuilder b = {.r = &r, .model = model, .edit = edit};
  model_init(&shadow, model->context, model->path);
  shadow.map = model->map;
  shadow.fixed_weights = model->fixed_weights;
  onnx_reader_init(&r, &shadow);
  context_mute(model->context, true);
  const calm_status status = rebuild(out, length, &b, a);
  context_mute(model->context, false);
  onnx_reader_free(&r);
  model_clear(&shadow);
  return status;
}
