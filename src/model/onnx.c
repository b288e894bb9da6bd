/*
 * A ModelProto is read in this order:
 *
 *     header     IR version, opsets, functions, sizes given by --dim
 *     graphs     the entry, then the bodies of its nodes, then theirs
 *     names      become ids, also across graphs
 *     order      of the nodes, and which of them only make weights
 *     shapes     of everything that is computed
 *     graphs     of the model
 *
 * Nothing but names, shapes and small tensors is looked at, so that the time
 * does not depend on the size of the weights.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/onnx_parts.h"
#include "model/onnx_schema.h"

/* ---- Recognition --------------------------------------------------------- */

/* Field 1 is the IR version, a small number; the next field is one of those
   that a model has. */
static bool begins_like_model(const uint8_t *bytes, size_t length) {
  return length >= 3 && bytes[0] == 0x08 && bytes[1] > 0 && bytes[1] <= 32 &&
         memchr("\x12\x1a\x22\x28\x32\x3a\x42\x72", bytes[2], 8);
}

/* Fields may stand in any order, so a file that begins otherwise is walked. */
static bool has_graph(const uint8_t *bytes, size_t length) {
  proto_file file = {NULL, "", bytes, length};
  proto_cursor c = proto_open(&file, (proto_span){0, length});
  bool version = false, graph = false;
  while (proto_more(&c)) {
    proto_field f;
    if (proto_next(&f, &c) != CALM_OK) return false;
    version = version || f.key == KEY_MODEL_IR_VERSION;
    graph = graph || f.key == KEY_MODEL_GRAPH;
  }
  return version && graph;
}

bool onnx_recognise(const uint8_t *bytes, size_t length) {
  return begins_like_model(bytes, length) || has_graph(bytes, length);
}

/* ---- What the parts share ------------------------------------------------ */

calm_status onnx_fail(const onnx_reader *r, uint32_t graph, size_t position,
                      const char *format, ...) {
  char what[640];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return proto_fail(&r->file, position, "%s (in graph '%.80s')", what,
                    r->graphs.data[graph].name);
}

/* ---- The header ---------------------------------------------------------- */

/* "ai.onnx" is another name of the standard domain. */
static const char *plain_domain(const char *domain) {
  return strcmp(domain, "ai.onnx") ? domain : "";
}

/* A domain that is imported twice is no matter if it is the same one. */
static calm_status check_opset(onnx_reader *r, const onnx_opset *opset,
                               uint32_t known, size_t position) {
  const int64_t before = r->opsets.data[known].version;
  if (before == opset->version) return CALM_OK;
  return proto_fail(
      &r->file, position,
      "the opset '%.80s' is imported as version %" PRId64 " and as %" PRId64,
      *opset->domain ? opset->domain : "ai.onnx", before, opset->version);
}

static calm_status read_opset(onnx_reader *r, proto_span span) {
  onnx_opset opset = {"", 1};
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_OPSET_DOMAIN)
      TRY(proto_string(&opset.domain, &r->scratch, &r->file, f.span));
    if (f.key == KEY_OPSET_VERSION) opset.version = (int64_t)f.value;
  }
  opset.domain = plain_domain(opset.domain);
  const uint32_t known = name_table_find(&r->opset_names, opset.domain);
  if (known != CALM_NONE) return check_opset(r, &opset, known, span.begin);
  if (!*opset.domain) r->model->opset = opset.version;
  TRY(name_table_add(&r->opset_names, opset.domain, r->opsets.count));
  VECTOR_PUSH(r->context, &r->opsets, opset);
  return CALM_OK;
}

static calm_status read_function_node(onnx_reader *r, proto_span span) {
  onnx_node node = {.op_type = "", .domain = ""};
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_NODE_OP_TYPE)
      TRY(proto_string(&node.op_type, &r->scratch, &r->file, f.span));
  }
  r->random_functions = r->random_functions || onnx_is_random(NULL, &node);
  return CALM_OK;
}

/* What a function does is its own affair, except that it may draw random
   numbers. */
static calm_status read_function(onnx_reader *r, proto_span span) {
  onnx_function function = {"", ""};
  const char *qualified;
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_FUNCTION_NAME)
      TRY(proto_string(&function.name, &r->scratch, &r->file, f.span));
    if (f.key == KEY_FUNCTION_DOMAIN)
      TRY(proto_string(&function.domain, &r->scratch, &r->file, f.span));
    if (f.key == KEY_FUNCTION_NODE) TRY(read_function_node(r, f.span));
  }
  function.domain = plain_domain(function.domain);
  TRY(onnx_qualify(&qualified, r, function.domain, function.name));
  if (name_table_find(&r->function_names, qualified) != CALM_NONE)
    return CALM_OK;
  TRY(name_table_add(&r->function_names, qualified, r->functions.count));
  VECTOR_PUSH(r->context, &r->functions, function);
  return CALM_OK;
}

static calm_status read_metadata(onnx_reader *r, const char **out,
                                 proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  *out = "";
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_ENTRY_KEY)
      TRY(proto_string(out, &r->model->arena, &r->file, f.span));
  }
  return CALM_OK;
}

/* A second graph would have to be merged with the first, as any message that
   comes twice; nobody writes that. */
static calm_status note_graph(onnx_reader *r, const proto_field *f) {
  if (r->graphs.count)
    return proto_fail(&r->file, f->all.begin, "the model has a second graph");
  onnx_graph entry = {
      .name = "", .parent = CALM_NONE, .node = CALM_NONE, .span = f->span};
  name_table_init(&entry.names, r->context);
  VECTOR_PUSH(r->context, &r->graphs, entry);
  return CALM_OK;
}

static calm_status read_header_field(onnx_reader *r, const proto_field *f) {
  switch (f->key) {
    case KEY_MODEL_IR_VERSION:
      r->ir_version = (int64_t)f->value;
      return CALM_OK;
    case KEY_MODEL_GRAPH: return note_graph(r, f);
    case KEY_MODEL_OPSET: return read_opset(r, f->span);
    case KEY_MODEL_FUNCTION: return read_function(r, f->span);
    case KEY_MODEL_METADATA: r->model->metadata_count++; return CALM_OK;
    default: return CALM_OK;
  }
}

static calm_status read_metadata_names(onnx_reader *r) {
  const char **names;
  proto_cursor c = proto_open(&r->file, (proto_span){0, r->file.length});
  ARENA_ARRAY(&r->model->arena, names, r->model->metadata_count);
  for (uint32_t i = 0; proto_more(&c);) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_MODEL_METADATA) TRY(read_metadata(r, &names[i++], f.span));
  }
  r->model->metadata_names = names;
  return CALM_OK;
}

/* Before IR 3 a file does not say which operators it means: the first ones. */
static calm_status read_header(onnx_reader *r) {
  proto_cursor c = proto_open(&r->file, (proto_span){0, r->file.length});
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    TRY(read_header_field(r, &f));
  }
  if (r->graphs.count == 0)
    return proto_fail(&r->file, 0, "an ONNX model without a graph");
  if (r->opsets.count == 0) TRY(read_opset(r, (proto_span){0, 0}));
  return read_metadata_names(r);
}

/* ---- The file ------------------------------------------------------------ */

void onnx_reader_init(onnx_reader *r, calm_model *model) {
  *r = (onnx_reader){.model = model, .context = model->context};
  r->file = (proto_file){model->context, model->path, model->map.bytes,
                         model->map.length};
  arena_init(&r->scratch, model->context);
  name_table_init(&r->symbol_names, model->context);
  name_table_init(&r->opset_names, model->context);
  name_table_init(&r->function_names, model->context);
}

calm_status onnx_parse(onnx_reader *r) {
  TRY(onnx_read_dims(r));
  TRY(read_header(r));
  for (uint32_t i = 0; i < r->graphs.count; i++) TRY(onnx_read_graph(r, i));
  TRY(onnx_bind(r));
  TRY(onnx_sort(r));
  onnx_mark_weights(r);
  onnx_trace_origins(r);
  return CALM_OK;
}

static void warn_of_fixed(const onnx_reader *r) {
  if (r->fixed_weights)
    context_log(r->context, CALM_LOG_WARNING,
                "%s: %" PRIu32
                " initializers are listed as inputs, too, such "
                "as '%s'; rewriting takes them for constants, and what it "
                "changes of them no caller can replace any more",
                r->file.path, r->fixed_weights, r->fixed_weight);
}

static calm_status read_file(onnx_reader *r) {
  TRY(onnx_parse(r));
  warn_of_fixed(r);
  TRY(onnx_check_dims(r));
  TRY(onnx_infer(r));
  TRY(onnx_build(r));
  return onnx_mark_dynamic(r);
}

void onnx_reader_free(onnx_reader *r) {
  for (uint32_t i = 0; i < r->graphs.count; i++) {
    onnx_graph *g = &r->graphs.data[i];
    VECTOR_FREE(r->context, &g->values);
    VECTOR_FREE(r->context, &g->nodes);
    name_table_free(&g->names);
  }
  VECTOR_FREE(r->context, &r->graphs);
  VECTOR_FREE(r->context, &r->opsets);
  VECTOR_FREE(r->context, &r->functions);
  VECTOR_FREE(r->context, &r->dims);
  VECTOR_FREE(r->context, &r->symbols);
  name_table_free(&r->symbol_names);
  name_table_free(&r->opset_names);
  name_table_free(&r->function_names);
  arena_free(&r->scratch);
}

calm_status onnx_read(calm_model *model) {
  onnx_reader r;
  onnx_reader_init(&r, model);
  calm_status status = read_file(&r);
  onnx_reader_free(&r);
  return status;
}
