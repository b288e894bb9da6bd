#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "graph/graph_lexer.h"
#include "graph/graph_text.h"

/*
 * One pass over the lines.  Tensors are known when they are used; operators
 * after `after` and graphs after `body=` may come later, so these references
 * wait in lists until their section, or the text, is complete.
 */
typedef struct pending_reference {
  const char *name;
  graph_place place;
  uint32_t graph; /* its index in `out` */
  op_id op;
  uint32_t slot; /* in the operator's after or bodies */
} pending_reference;

typedef VECTOR(pending_reference) pending_vector;

typedef struct reader {
  lexer lexer;
  calm_context *context;
  const char *path;
  arena *arena;  /* of the graphs */
  arena scratch; /* of names that are only looked up */
  graph_vector *out;
  uint32_t first_graph; /* of this text, in `out` */
  name_table graph_names, tensor_names, op_names;
  pending_vector afters, bodies;
  /* The line being read: */
  VECTOR(tensor_id) operands; /* inputs, then outputs */
  VECTOR(uint32_t) links;     /* after, then bodies: CALM_NONE until resolved */
  VECTOR(graph_attribute) attributes;
  VECTOR(int64_t) dimensions;
} reader;

static graph *current_graph(const reader *r) {
  return &r->out->data[r->out->count - 1];
}

/* ---- Tokens -------------------------------------------------------------- */

static const char *describe_token(const token *t) {
  switch (t->kind) {
    case TOKEN_END_OF_TEXT: return "the end of the text";
    case TOKEN_END_OF_LINE: return "the end of the line";
    case TOKEN_NAME: return t->text;
    case TOKEN_ABSENT: return "-";
    case TOKEN_ARROW: return "->";
    case TOKEN_OPEN: return "(";
    case TOKEN_CLOSE: return ")";
    case TOKEN_OPEN_SHAPE: return "[";
    case TOKEN_CLOSE_SHAPE: return "]";
    case TOKEN_COMMA: return ",";
    case TOKEN_EQUALS: return "=";
  }
  return "";
}

static calm_status fail_expected(const reader *r, const char *wanted) {
  const token *t = &r->lexer.token;
  bool end = t->kind == TOKEN_END_OF_TEXT || t->kind == TOKEN_END_OF_LINE;
  const char *quote = end ? "" : "'";
  return graph_fail(r->context, r->path, t->place, "expected %s, found %s%s%s",
                    wanted, quote, describe_token(t), quote);
}

static bool at(const reader *r, token_kind kind) {
  return r->lexer.token.kind == kind;
}

/* Is the current token this word, not in quotes? */
static bool at_word(const reader *r, const char *word) {
  const token *t = &r->lexer.token;
  return t->kind == TOKEN_NAME && !t->quoted && !strcmp(t->text, word);
}

static bool at_line_end(const reader *r) {
  return at(r, TOKEN_END_OF_LINE) || at(r, TOKEN_END_OF_TEXT);
}

static calm_status expect(reader *r, token_kind kind, const char *wanted) {
  if (!at(r, kind)) return fail_expected(r, wanted);
  return lexer_next(&r->lexer);
}

static calm_status expect_line_end(reader *r) {
  return at_line_end(r) ? CALM_OK : fail_expected(r, "the end of the line");
}

static calm_status copy_token(const char **out, reader *r) {
  *out = arena_string(&r->scratch, r->lexer.token.text, r->lexer.token.length);
  return *out ? CALM_OK : context_no_memory(r->context);
}

static calm_status read_name(const char **out, graph_place *place, reader *r,
                             const char *wanted) {
  if (!at(r, TOKEN_NAME)) return fail_expected(r, wanted);
  *place = r->lexer.token.place;
  TRY(copy_token(out, r));
  return lexer_next(&r->lexer);
}

/* ---- tensor NAME BYTES|TYPE[SHAPE] [flags] ------------------------------- */

#define ELEMENT_TYPE(name, bits) " " #name
static const char known_types[] =
#include "graph/types.def"
    ;
#undef ELEMENT_TYPE

static calm_status read_dimension(reader *r) {
  const token *t = &r->lexer.token;
  uint64_t value;
  if (t->kind != TOKEN_NAME || t->quoted)
    return fail_expected(r, "a dimension or ']'");
  if (!number_parse(&value, t->text, t->length) || value > INT64_MAX)
    return graph_fail(r->context, r->path, t->place,
                      "'%s' is not a dimension; write a whole number from 0 to "
                      "2^63-1",
                      t->text);
  VECTOR_PUSH(r->context, &r->dimensions, (int64_t)value);
  return lexer_next(&r->lexer);
}

static calm_status read_dimensions(reader *r) {
  r->dimensions.count = 0;
  TRY(expect(r, TOKEN_OPEN_SHAPE,
             "'[' and a shape after the type ([] for a scalar)"));
  while (!at(r, TOKEN_CLOSE_SHAPE)) {
    TRY(read_dimension(r));
    if (at(r, TOKEN_CLOSE_SHAPE)) break;
    TRY(expect(r, TOKEN_COMMA, "',' or ']'"));
  }
  return lexer_next(&r->lexer);
}

static calm_status read_typed(graph_tensor *tensor, reader *r) {
  const token *t = &r->lexer.token;
  graph_place place = t->place;
  tensor->type = element_type_find(t->text, t->length);
  if (tensor->type == ELEMENT_ABSTRACT)
    return graph_fail(r->context, r->path, place,
                      "unknown element type '%s'; there are%s", t->text,
                      known_types);
  TRY(lexer_next(&r->lexer));
  TRY(read_dimensions(r));
  tensor->dimensions = r->dimensions.data;
  tensor->rank = r->dimensions.count;
  uint64_t bytes;
  if (tensor->rank > GRAPH_MAX_RANK)
    return graph_fail(r->context, r->path, place,
                      "%" PRIu32 " dimensions, at most %d work", tensor->rank,
                      GRAPH_MAX_RANK);
  if (!graph_bytes_of(&bytes, tensor->type, tensor->dimensions, tensor->rank))
    return graph_fail(r->context, r->path, place,
                      "the shape needs more than 2^62 bytes");
  return CALM_OK;
}

static calm_status read_abstract(graph_tensor *tensor, reader *r) {
  const token *t = &r->lexer.token;
  tensor->type = ELEMENT_ABSTRACT;
  if (!number_parse_size(&tensor->bytes, t->text) ||
      tensor->bytes > NUMBER_MAX_BYTES)
    return graph_fail(
        r->context, r->path, t->place,
        "'%s' is not a size; write bytes such as 65536 or 64K, at "
        "most 2^62",
        t->text);
  return lexer_next(&r->lexer);
}

static calm_status read_size(graph_tensor *tensor, reader *r) {
  const token *t = &r->lexer.token;
  if (t->kind != TOKEN_NAME || t->quoted)
    return fail_expected(r, "a byte count or a type with a shape");
  if (t->text[0] >= '0' && t->text[0] <= '9') return read_abstract(tensor, r);
  return read_typed(tensor, r);
}

static calm_status read_flag(graph_tensor *tensor, reader *r) {
  if (at_word(r, "input"))
    tensor->flags |= CALM_TENSOR_INPUT;
  else if (at_word(r, "output"))
    tensor->flags |= CALM_TENSOR_OUTPUT;
  else if (at_word(r, "const"))
    tensor->flags |= CALM_TENSOR_CONST;
  else if (at_word(r, "variable"))
    tensor->flags |= CALM_TENSOR_VARIABLE;
  else
    return fail_expected(
        r, "input, output, const, variable or the end of the line");
  return lexer_next(&r->lexer);
}

static calm_status add_tensor(reader *r, const graph_tensor *tensor) {
  graph *g = current_graph(r);
  tensor_id other = name_table_find(&r->tensor_names, tensor->name);
  tensor_id id;
  if (other != CALM_NONE)
    return graph_fail(r->context, r->path, tensor->place,
                      "tensor '%s' is already declared on line %" PRIu32
                      "; names must differ",
                      tensor->name, g->tensors.data[other].place.line);
  TRY(graph_add_tensor(&id, g, tensor));
  return name_table_add(&r->tensor_names, g->tensors.data[id].name, id);
}

static calm_status read_tensor(reader *r) {
  graph_tensor tensor = {.file_index = current_graph(r)->tensors.count};
  TRY(read_name(&tensor.name, &tensor.place, r, "the name of a tensor"));
  TRY(read_size(&tensor, r));
  while (!at_line_end(r)) TRY(read_flag(&tensor, r));
  return add_tensor(r, &tensor);
}

/* ---- op NAME KIND ( in ) -> ( out ) [after ( ops )] [key=value ...] ------ */

static calm_status read_operand(reader *r) {
  const token *t = &r->lexer.token;
  tensor_id id = CALM_NONE;
  if (t->kind == TOKEN_NAME) {
    id = name_table_find(&r->tensor_names, t->text);
    if (id == CALM_NONE)
      return graph_fail(r->context, r->path, t->place,
                        "tensor '%s' is not declared; declare it on a line "
                        "above",
                        t->text);
  } else if (t->kind != TOKEN_ABSENT) {
    return fail_expected(r, "the name of a tensor, - or ')'");
  }
  VECTOR_PUSH(r->context, &r->operands, id);
  return lexer_next(&r->lexer);
}

static calm_status read_operands(uint32_t *out_count, reader *r,
                                 const char *wanted) {
  uint32_t before = r->operands.count;
  TRY(expect(r, TOKEN_OPEN, wanted));
  while (!at(r, TOKEN_CLOSE)) TRY(read_operand(r));
  *out_count = r->operands.count - before;
  return lexer_next(&r->lexer);
}

/* The current token names what slot `slot` of operator `op` refers to. */
static calm_status add_pending(reader *r, pending_vector *list, op_id op,
                               uint32_t slot) {
  pending_reference reference = {.place = r->lexer.token.place,
                                 .graph = r->out->count - 1,
                                 .op = op,
                                 .slot = slot};
  TRY(copy_token(&reference.name, r));
  VECTOR_PUSH(r->context, list, reference);
  return CALM_OK;
}

static calm_status read_after(graph_op *op, reader *r) {
  TRY(expect(r, TOKEN_OPEN, "'(' after 'after'"));
  while (!at(r, TOKEN_CLOSE)) {
    if (!at(r, TOKEN_NAME))
      return fail_expected(r, "the name of an operator or ')'");
    TRY(add_pending(r, &r->afters, op->file_index, op->after_count++));
    TRY(lexer_next(&r->lexer));
  }
  return lexer_next(&r->lexer);
}

static calm_status read_workspace(graph_op *op, reader *r, graph_place key) {
  const token *t = &r->lexer.token;
  if (op->workspace_bytes)
    return graph_fail(r->context, r->path, key, "workspace is given twice");
  if (!number_parse_size(&op->workspace_bytes, t->text))
    return graph_fail(r->context, r->path, t->place,
                      "workspace: '%s' is not a size; write bytes such as 4096 "
                      "or 4K, at most 2^62",
                      t->text);
  return CALM_OK;
}

static calm_status read_body(graph_op *op, reader *r) {
  const token *t = &r->lexer.token;
  if (!t->quoted && strchr(t->text, ','))
    return graph_fail(r->context, r->path, t->place,
                      "body: '%s' is not a name; write one body=GRAPH per "
                      "graph, or quotes",
                      t->text);
  return add_pending(r, &r->bodies, op->file_index, op->body_count++);
}

static calm_status read_other_attribute(graph_op *op, reader *r,
                                        const char *key, graph_place place) {
  graph_attribute attribute = {.key = key};
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (!strcmp(r->attributes.data[i].key, key))
      return graph_fail(r->context, r->path, place,
                        "attribute '%s' is given twice", key);
  TRY(copy_token(&attribute.value, r));
  VECTOR_PUSH(r->context, &r->attributes, attribute);
  op->attribute_count++;
  return CALM_OK;
}

/* At the = behind the key. */
static calm_status read_attribute(graph_op *op, reader *r, const char *key,
                                  graph_place place) {
  if (!at(r, TOKEN_EQUALS)) return fail_expected(r, "'=' after a key");
  TRY(lexer_next_value(&r->lexer));
  if (!at(r, TOKEN_NAME)) return fail_expected(r, "a value (\"\" if empty)");
  if (!strcmp(key, "workspace"))
    TRY(read_workspace(op, r, place));
  else if (!strcmp(key, "body"))
    TRY(read_body(op, r));
  else
    TRY(read_other_attribute(op, r, key, place));
  return lexer_next(&r->lexer);
}

static calm_status read_tail(graph_op *op, reader *r) {
  const char *key;
  graph_place place;
  while (!at_line_end(r)) {
    bool after = at_word(r, "after");
    TRY(read_name(&key, &place, r, "after ( ... ), key=value or the end"));
    if (after && !at(r, TOKEN_EQUALS))
      TRY(read_after(op, r));
    else
      TRY(read_attribute(op, r, key, place));
  }
  return CALM_OK;
}

/* References that wait for their name are CALM_NONE at first. */
static calm_status reserve_links(graph_op *op, reader *r) {
  uint32_t count = op->after_count + op->body_count;
  r->links.count = 0;
  VECTOR_RESERVE(r->context, &r->links, count);
  for (uint32_t i = 0; i < count; i++) r->links.data[i] = CALM_NONE;
  if (op->after_count) op->after = r->links.data;
  if (op->body_count) op->bodies = r->links.data + op->after_count;
  return CALM_OK;
}

static calm_status add_op(reader *r, graph_op *op) {
  graph *g = current_graph(r);
  op_id other = name_table_find(&r->op_names, op->name);
  op_id id;
  if (other != CALM_NONE)
    return graph_fail(r->context, r->path, op->place,
                      "operator '%s' is already declared on line %" PRIu32
                      "; names must differ",
                      op->name, g->ops.data[other].place.line);
  if (op->input_count) op->inputs = r->operands.data;
  if (op->output_count) op->outputs = r->operands.data + op->input_count;
  op->attributes = r->attributes.data;
  TRY(reserve_links(op, r));
  TRY(graph_add_op(&id, g, op));
  return name_table_add(&r->op_names, g->ops.data[id].name, id);
}

static calm_status read_op(reader *r) {
  graph_op op = {.file_index = current_graph(r)->ops.count};
  graph_place kind_place;
  r->operands.count = 0;
  r->attributes.count = 0;
  TRY(read_name(&op.name, &op.place, r, "the name of an operator"));
  TRY(read_name(&op.kind_name, &kind_place, r, "the kind of the operator"));
  op.kind = op_kind_find(op.kind_name);
  TRY(read_operands(&op.input_count, r, "'(' and the inputs"));
  TRY(expect(r, TOKEN_ARROW, "'->'"));
  TRY(read_operands(&op.output_count, r, "'(' and the outputs"));
  TRY(read_tail(&op, r));
  return add_op(r, &op);
}

/* ---- Sections ------------------------------------------------------------ */

static calm_status resolve_afters(reader *r) {
  for (uint32_t i = 0; i < r->afters.count; i++) {
    const pending_reference *reference = &r->afters.data[i];
    op_id id = name_table_find(&r->op_names, reference->name);
    if (id == CALM_NONE)
      return graph_fail(r->context, r->path, reference->place,
                        "there is no operator '%s' in this graph",
                        reference->name);
    current_graph(r)->ops.data[reference->op].after[reference->slot] = id;
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

static calm_status read_graph(reader *r) {
  const char *name;
  graph_place place;
  graph g;
  TRY(close_section(r));
  TRY(read_name(&name, &place, r, "the name of a graph"));
  TRY(expect_line_end(r));
  if (name_table_find(&r->graph_names, name) != CALM_NONE)
    return graph_fail(r->context, r->path, place,
                      "there is already a graph '%s'; names must differ", name);
  const char *copy = arena_string(r->arena, name, strlen(name));
  if (!copy) return context_no_memory(r->context);
  graph_init(&g, r->arena, copy);
  VECTOR_PUSH(r->context, r->out, g);
  return name_table_add(&r->graph_names, copy, r->out->count - 1);
}

static calm_status read_line(reader *r) {
  bool inside = r->out->count > r->first_graph;
  calm_status (*read)(reader *) = at_word(r, "graph")    ? read_graph
                                  : at_word(r, "tensor") ? read_tensor
                                  : at_word(r, "op")     ? read_op
                                                         : NULL;
  if (!read) return fail_expected(r, "graph, tensor, op or a # comment");
  if (!inside && read != read_graph)
    return fail_expected(r, "'graph NAME' before the first tensor or operator");
  TRY(lexer_next(&r->lexer));
  return read(r);
}

static calm_status next_significant(reader *r) {
  while (at(r, TOKEN_END_OF_LINE)) TRY(lexer_next(&r->lexer));
  return CALM_OK;
}

static calm_status read_header(reader *r) {
  TRY(lexer_next(&r->lexer));
  TRY(next_significant(r));
  if (!at_word(r, "calm-graph"))
    return fail_expected(r, "the header 'calm-graph 1'");
  TRY(lexer_next(&r->lexer));
  if (!at(r, TOKEN_NAME)) return fail_expected(r, "the version 1");
  if (!at_word(r, "1")) {
    graph_fail(r->context, r->path, r->lexer.token.place,
               "version '%s' of the text form is not known; this calm reads "
               "version 1",
               r->lexer.token.text);
    return CALM_UNSUPPORTED;
  }
  TRY(lexer_next(&r->lexer));
  return expect_line_end(r);
}

static calm_status read_lines(reader *r) {
  TRY(read_header(r));
  for (;;) {
    TRY(next_significant(r));
    if (at(r, TOKEN_END_OF_TEXT)) break;
    TRY(read_line(r));
  }
  if (r->out->count == r->first_graph)
    return fail_expected(r, "a graph; write 'graph NAME' below the header");
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

/* A tensor that comes from nowhere may be untouched, but not read or given
   out. */
static calm_status check_produced(const reader *r, const graph *g) {
  const unsigned given =
      CALM_TENSOR_INPUT | CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    if (g->producer[t] != CALM_NONE || (tensor->flags & given)) continue;
    if (g->reader_begin[t] < g->reader_begin[t + 1]) {
      const graph_op *op = &g->ops.data[g->readers[g->reader_begin[t]]];
      return graph_fail(r->context, r->path, op->place,
                        "operator '%s' reads tensor '%s', which no operator "
                        "writes; mark it input, const or variable",
                        op->name, tensor->name);
    }
    if (tensor->flags & CALM_TENSOR_OUTPUT)
      return graph_fail(r->context, r->path, tensor->place,
                        "no operator writes the output '%s'", tensor->name);
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
