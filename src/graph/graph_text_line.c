#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "graph/graph_text_reader.h"

graph *reader_graph(const reader *r) {
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

calm_status reader_fail_expected(const reader *r, const char *wanted) {
  const token *t = &r->lexer.token;
  bool end = t->kind == TOKEN_END_OF_TEXT || t->kind == TOKEN_END_OF_LINE;
  const char *quote = end ? "" : "'";
  return graph_fail(r->context, r->path, t->place, "expected %s, found %s%s%s",
                    wanted, quote, describe_token(t), quote);
}

bool reader_at(const reader *r, token_kind kind) {
  return r->lexer.token.kind == kind;
}

bool reader_at_word(const reader *r, const char *word) {
  const token *t = &r->lexer.token;
  return t->kind == TOKEN_NAME && !t->quoted && !strcmp(t->text, word);
}

bool reader_at_line_end(const reader *r) {
  return reader_at(r, TOKEN_END_OF_LINE) || reader_at(r, TOKEN_END_OF_TEXT);
}

static calm_status expect(reader *r, token_kind kind, const char *wanted) {
  if (!reader_at(r, kind)) return reader_fail_expected(r, wanted);
  return lexer_next(&r->lexer);
}

calm_status reader_expect_line_end(reader *r) {
  return reader_at_line_end(r) ? CALM_OK
                               : reader_fail_expected(r, "the end of the line");
}

static calm_status copy_token(const char **out, reader *r) {
  *out = arena_string(&r->scratch, r->lexer.token.text, r->lexer.token.length);
  return *out ? CALM_OK : context_no_memory(r->context);
}

calm_status reader_read_name(const char **out, graph_place *place, reader *r,
                             const char *wanted) {
  if (!reader_at(r, TOKEN_NAME)) return reader_fail_expected(r, wanted);
  *place = r->lexer.token.place;
  TRY(copy_token(out, r));
  return lexer_next(&r->lexer);
}

/* ---- tensor NAME BYTES|TYPE[SHAPE] [flags] ------------------------------- */

/* Every name with a space in front, for the message about an unknown one. */
#define ELEMENT_TYPE(name, bits) " " #name
static const char known_types[] =
#include "graph/types.def"
    ;
#undef ELEMENT_TYPE

static calm_status read_dimension(reader *r) {
  const token *t = &r->lexer.token;
  uint64_t value;
  if (t->kind != TOKEN_NAME || t->quoted)
    return reader_fail_expected(r, "a dimension");
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
  if (reader_at(r, TOKEN_CLOSE_SHAPE)) return lexer_next(&r->lexer);
  TRY(read_dimension(r));
  while (!reader_at(r, TOKEN_CLOSE_SHAPE)) {
    TRY(expect(r, TOKEN_COMMA, "',' or ']'"));
    TRY(read_dimension(r));
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
    return reader_fail_expected(r, "a byte count or a type with a shape");
  if (t->text[0] >= '0' && t->text[0] <= '9') return read_abstract(tensor, r);
  return read_typed(tensor, r);
}

static calm_status read_flag(graph_tensor *tensor, reader *r) {
  if (reader_at_word(r, "input"))
    tensor->flags |= CALM_TENSOR_INPUT;
  else if (reader_at_word(r, "output"))
    tensor->flags |= CALM_TENSOR_OUTPUT;
  else if (reader_at_word(r, "const"))
    tensor->flags |= CALM_TENSOR_CONST;
  else if (reader_at_word(r, "variable"))
    tensor->flags |= CALM_TENSOR_VARIABLE;
  else if (reader_at_word(r, "unwritten"))
    tensor->unwritten = true;
  else
    return reader_fail_expected(
        r, "input, output, const, variable, unwritten or the end of the line");
  return lexer_next(&r->lexer);
}

static calm_status add_tensor(reader *r, const graph_tensor *tensor) {
  graph *g = reader_graph(r);
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

calm_status reader_read_tensor(reader *r) {
  graph_tensor tensor = {.file_index = reader_graph(r)->tensors.count};
  TRY(reader_read_name(&tensor.name, &tensor.place, r, "the name of a tensor"));
  TRY(read_size(&tensor, r));
  while (!reader_at_line_end(r)) TRY(read_flag(&tensor, r));
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
    return reader_fail_expected(r, "the name of a tensor, - or ')'");
  }
  VECTOR_PUSH(r->context, &r->operands, id);
  return lexer_next(&r->lexer);
}

static calm_status read_operands(uint32_t *out_count, reader *r,
                                 const char *wanted) {
  uint32_t before = r->operands.count;
  TRY(expect(r, TOKEN_OPEN, wanted));
  while (!reader_at(r, TOKEN_CLOSE)) TRY(read_operand(r));
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
  while (!reader_at(r, TOKEN_CLOSE)) {
    if (!reader_at(r, TOKEN_NAME))
      return reader_fail_expected(r, "the name of an operator or ')'");
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
  if (!reader_at(r, TOKEN_EQUALS))
    return reader_fail_expected(r, "'=' after a key");
  TRY(lexer_next_value(&r->lexer));
  if (!reader_at(r, TOKEN_NAME))
    return reader_fail_expected(r, "a value (\"\" if empty)");
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
  while (!reader_at_line_end(r)) {
    bool after = reader_at_word(r, "after");
    TRY(reader_read_name(&key, &place, r,
                         "after ( ... ), key=value or the end"));
    if (after && !reader_at(r, TOKEN_EQUALS))
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
  graph *g = reader_graph(r);
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

calm_status reader_read_op(reader *r) {
  graph_op op = {.file_index = reader_graph(r)->ops.count};
  graph_place kind_place;
  r->operands.count = 0;
  r->attributes.count = 0;
  TRY(reader_read_name(&op.name, &op.place, r, "the name of an operator"));
  TRY(reader_read_name(&op.kind_name, &kind_place, r,
                       "the kind of the operator"));
  op.kind = op_kind_find(op.kind_name);
  TRY(read_operands(&op.input_count, r, "'(' and the inputs"));
  TRY(expect(r, TOKEN_ARROW, "'->'"));
  TRY(read_operands(&op.output_count, r, "'(' and the outputs"));
  TRY(read_tail(&op, r));
  return add_op(r, &op);
}
