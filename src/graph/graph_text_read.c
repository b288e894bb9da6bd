#include <inttypes.h>
#include <string.h>

#include "graph/graph_text_reader.h"

/* ---- Sections ------------------------------------------------------------ */

static calm_status resolve_afters(reader *r) {
  for (uint32_t i = 0; i < r->afters.count; i++) {
    const pending_reference *reference = &r->afters.data[i];
    op_id id = name_table_find(&r->op_names, reference->name);
    if (id == CALM_NONE)
      return graph_fail(r->context, r->path, reference->place,
                        "there is no operator '%s' in this graph",
                        reference->name);
    reader_graph(r)->ops.data[reference->op].after[reference->slot] = id;
  }
  r->afters.count = 0;
  return CALM_OK;
}

static calm_status close_section(reader *r) {
  if (r->out->count > r->first_graph) TRY(resolve_afters(r));
  name_table_free(&r->tensor_names);
  name_table_free(&r->op_names);
  return CALM_OK;
}

/* [layout=nhwc | layout=nchw] */
static calm_status read_layout(bool *channels_first, reader *r) {
  *channels_first = false;
  if (reader_at_line_end(r)) return CALM_OK;
  if (!reader_at_word(r, "layout"))
    return reader_fail_expected(r, "layout=nchw or the end of the line");
  TRY(lexer_next(&r->lexer));
  if (!reader_at(r, TOKEN_EQUALS))
    return reader_fail_expected(r, "'=' after a key");
  TRY(lexer_next_value(&r->lexer));
  *channels_first = reader_at_word(r, "nchw");
  if (!*channels_first && !reader_at_word(r, "nhwc"))
    return reader_fail_expected(r, "nhwc or nchw");
  TRY(lexer_next(&r->lexer));
  return reader_expect_line_end(r);
}

static calm_status read_graph(reader *r) {
  const char *name;
  graph_place place;
  graph g;
  bool channels_first;
  TRY(close_section(r));
  TRY(reader_read_name(&name, &place, r, "the name of a graph"));
  TRY(read_layout(&channels_first, r));
  if (name_table_find(&r->graph_names, name) != CALM_NONE)
    return graph_fail(r->context, r->path, place,
                      "there is already a graph '%s'; names must differ", name);
  const char *copy = arena_string(r->arena, name, strlen(name));
  if (!copy) return context_no_memory(r->context);
  graph_init(&g, r->arena, copy);
  g.channels_first = channels_first;
  VECTOR_PUSH(r->context, r->out, g);
  return name_table_add(&r->graph_names, copy, r->out->count - 1);
}

static calm_status read_declaration(reader *r) {
  bool tensor = reader_at_word(r, "tensor");
  TRY(lexer_next(&r->lexer));
  return tensor ? reader_read_tensor(r) : reader_read_op(r);
}

static calm_status read_line(reader *r) {
  if (reader_at_word(r, "graph")) {
    TRY(lexer_next(&r->lexer));
    return read_graph(r);
  }
  if (!reader_at_word(r, "tensor") && !reader_at_word(r, "op"))
    return reader_fail_expected(r, "graph, tensor, op or a # comment");
  if (r->out->count == r->first_graph)
    return reader_fail_expected(
        r, "'graph NAME' before the first tensor or operator");
  return read_declaration(r);
}

static calm_status next_significant(reader *r) {
  while (reader_at(r, TOKEN_END_OF_LINE)) TRY(lexer_next(&r->lexer));
  return CALM_OK;
}

static calm_status read_header(reader *r) {
  TRY(lexer_next(&r->lexer));
  TRY(next_significant(r));
  if (!reader_at_word(r, "calm-graph"))
    return reader_fail_expected(r, "the header 'calm-graph 1'");
  TRY(lexer_next(&r->lexer));
  if (!reader_at(r, TOKEN_NAME))
    return reader_fail_expected(r, "the version 1");
  if (!reader_at_word(r, "1")) {
    graph_fail(r->context, r->path, r->lexer.token.place,
               "version '%s' of the text form is not known; this calm reads "
               "version 1",
               r->lexer.token.text);
    return CALM_UNSUPPORTED;
  }
  TRY(lexer_next(&r->lexer));
  return reader_expect_line_end(r);
}

static calm_status read_lines(reader *r) {
  TRY(read_header(r));
  for (;;) {
    TRY(next_significant(r));
    if (reader_at(r, TOKEN_END_OF_TEXT)) break;
    TRY(read_line(r));
  }
  if (r->out->count == r->first_graph)
    return reader_fail_expected(r,
                                "a graph; write 'graph NAME' below the header");
  return close_section(r);
}

/* ---- The whole ----------------------------------------------------------- */

static calm_status resolve_bodies(reader *r) {
  for (uint32_t i = 0; i < r->bodies.count; i++) {
    const pending_reference *reference = &r->bodies.data[i];
    uint32_t index = name_table_find(&r->graph_names, reference->name);
    if (index == CALM_NONE)
      return graph_fail(r->context, r->path, reference->place,
                        "there is no graph '%s' in this text", reference->name);
    graph *g = &r->out->data[reference->graph];
    g->ops.data[reference->op].bodies[reference->slot] = index;
  }
  return graph_link_bodies(r->out->data, r->out->count, r->path);
}

static calm_status fail_missing(const reader *r, const graph *g, tensor_id t) {
  const graph_tensor *tensor = &g->tensors.data[t];
  if (g->reader_begin[t] == g->reader_begin[t + 1])
    return graph_fail(r->context, r->path, tensor->place,
                      "no operator writes the output '%s'; mark it unwritten "
                      "if that is meant",
                      tensor->name);
  const graph_op *op = &g->ops.data[g->readers[g->reader_begin[t]]];
  return graph_fail(r->context, r->path, op->place,
                    "operator '%s' reads tensor '%s', which no operator "
                    "writes; mark it input, const, variable or unwritten",
                    op->name, tensor->name);
}

static calm_status fail_written(const reader *r, const graph *g, tensor_id t) {
  const graph_tensor *tensor = &g->tensors.data[t];
  if (g->producer[t] == CALM_NONE)
    return graph_fail(r->context, r->path, tensor->place,
                      "tensor '%s' is unwritten, and yet input, const or "
                      "variable; it can only be one of them",
                      tensor->name);
  return graph_fail(r->context, r->path, tensor->place,
                    "tensor '%s' is marked unwritten, but operator '%s' writes "
                    "it",
                    tensor->name, g->ops.data[g->producer[t]].name);
}

/* A tensor that comes from nowhere may be untouched, but is read or given out
   only if the text says that this is meant. */
static calm_status check_produced(const reader *r, const graph *g) {
  const unsigned given =
      CALM_TENSOR_INPUT | CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    if (graph_tensor_is_missing(g, t) && !tensor->unwritten)
      return fail_missing(r, g, t);
    if (tensor->unwritten &&
        (g->producer[t] != CALM_NONE || tensor->flags & given))
      return fail_written(r, g, t);
  }
  return CALM_OK;
}

static void warn_about_order(const reader *r, const graph *g) {
  for (op_id u = 0; u < g->ops.count; u++) {
    uint32_t last = g->pred_begin[u + 1];
    if (last == g->pred_begin[u] || g->preds[last - 1] < u) continue;
    const graph_op *op = &g->ops.data[u];
    context_log(r->context, CALM_LOG_WARNING,
                "%s:%" PRIu32 ":%" PRIu32
                ": operator '%s' stands before '%s', which must run first; the "
                "file order is replaced by its stable topological sort",
                r->path, op->place.line, op->place.column, op->name,
                g->ops.data[g->preds[last - 1]].name);
    return;
  }
}

static calm_status read_text(reader *r) {
  TRY(read_lines(r));
  TRY(resolve_bodies(r));
  for (uint32_t i = r->first_graph; i < r->out->count; i++) {
    graph *g = &r->out->data[i];
    TRY(graph_finish(g, r->path));
    TRY(check_produced(r, g));
    if (!g->file_order_valid) warn_about_order(r, g);
  }
  return CALM_OK;
}

static void free_reader(reader *r) {
  VECTOR_FREE(r->context, &r->afters);
  VECTOR_FREE(r->context, &r->bodies);
  VECTOR_FREE(r->context, &r->operands);
  VECTOR_FREE(r->context, &r->links);
  VECTOR_FREE(r->context, &r->attributes);
  VECTOR_FREE(r->context, &r->dimensions);
  name_table_free(&r->graph_names);
  name_table_free(&r->tensor_names);
  name_table_free(&r->op_names);
  arena_free(&r->scratch);
  lexer_free(&r->lexer);
}

calm_status graph_text_read(graph_vector *out, arena *a, const char *path,
                            const char *bytes, size_t length) {
  reader r = {.context = a->context,
              .path = path,
              .arena = a,
              .out = out,
              .first_graph = out->count};
  lexer_init(&r.lexer, a->context, path, bytes, length);
  arena_init(&r.scratch, a->context);
  name_table_init(&r.graph_names, a->context);
  name_table_init(&r.tensor_names, a->context);
  name_table_init(&r.op_names, a->context);
  calm_status status = read_text(&r);
  free_reader(&r);
  return status;
}

static const char *skip_line(const char *at, const char *end) {
  const char *line_end = memchr(at, '\n', (size_t)(end - at));
  return line_end ? line_end + 1 : end;
}

bool graph_text_recognise(const char *bytes, size_t length) {
  static const char word[] = "calm-graph", mark[] = "\xEF\xBB\xBF";
  const char *at = bytes, *end = bytes + length;
  if (length >= 3 && !memcmp(bytes, mark, 3)) at += 3;
  while (at < end) {
    if (*at == '#')
      at = skip_line(at, end);
    else if (strchr(" \t\r\n", *at) && *at)
      at++;
    else
      break;
  }
  return (size_t)(end - at) >= sizeof word - 1 &&
         !memcmp(at, word, sizeof word - 1);
}
