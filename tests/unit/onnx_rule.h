/*
 * One operator in front of its rule, as a line of a table:
 *
 *     {"Reshape", 14, "f[2,3,n] i{0,-1}", "allowzero=0", "f[2,?]"}
 *
 * operator, opset, operands, attributes, outputs.  A value is an element type
 * (f FLOAT, h FLOAT16, d DOUBLE, i INT64, j INT32, c INT8, u UINT8, b BOOL,
 * s STRING, ? not known) with a shape in brackets, where ? is an unknown
 * dimension and a word is a named one; "*" instead of a shape is an unknown
 * rank; braces are the elements of a line, parentheses those of a scalar; "-"
 * is absent.  Attributes are name=VALUE; a list stands in brackets, reals have
 * a point.  Outputs of "error: TEXT" mean a failure whose message has TEXT.
 */
#ifndef CALM_TESTS_ONNX_RULE_H
#define CALM_TESTS_ONNX_RULE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/onnx_parts.h"

typedef struct onnx_rule {
  const char *op;
  int64_t opset;
  const char *operands, *attributes, *outputs;
} onnx_rule;

enum { RULE_VALUES = 16, RULE_ELEMENTS = 64 };

typedef struct rule_bench {
  calm_context *context;
  calm_model model;
  onnx_reader r;
} rule_bench;

static inline void bench_open_with(rule_bench *b,
                                   const calm_allocator *allocator) {
  memset(b, 0, sizeof *b);
  b->context = calm_context_new(allocator);
  assert_non_null(b->context);
  b->model.context = b->context;
  b->model.path = "test.onnx";
  b->r.model = &b->model;
  b->r.context = b->context;
  arena_init(&b->r.scratch, b->context);
}

static inline void bench_open(rule_bench *b) { bench_open_with(b, NULL); }

static inline void bench_close(rule_bench *b) {
  for (uint32_t g = 0; g < b->r.graphs.count; g++) {
    VECTOR_FREE(b->context, &b->r.graphs.data[g].values);
    VECTOR_FREE(b->context, &b->r.graphs.data[g].nodes);
  }
  VECTOR_FREE(b->context, &b->r.graphs);
  arena_free(&b->r.scratch);
  assert_int_equal(calm_context_bytes(b->context), 0);
  calm_context_free(b->context);
}

static inline void *bench_take(rule_bench *b, size_t count, size_t size) {
  void *memory = arena_calloc(&b->r.scratch, count, size);
  assert_non_null(memory);
  return memory;
}

static inline const char *bench_word(rule_bench *b, const char *text,
                                     size_t length) {
  const char *word = arena_string(&b->r.scratch, text, length);
  assert_non_null(word);
  return word;
}

/* ---- Values -------------------------------------------------------------- */

static inline int32_t rule_type(char letter) {
  static const char letters[] = "?fuc__jisbhd";
  const char *found = strchr(letters, letter);
  assert_non_null(found);
  return (int32_t)(found - letters);
}

/* The parts of "a,b,c" up to `stop`; returns what is behind it. */
static inline const char *rule_parts(const char **parts, size_t *lengths,
                                     uint32_t *count, const char *text,
                                     char stop) {
  *count = 0;
  while (*text != stop) {
    size_t length = strcspn(text, (char[]){',', stop, '\0'});
    assert_true(*count < RULE_ELEMENTS);
    parts[*count] = text;
    lengths[(*count)++] = length;
    text += length;
    if (*text == ',') text++;
  }
  return text + 1;
}

static inline bool is_number(const char *text) {
  return strchr("-0123456789", *text) != NULL;
}

static inline void read_elements(rule_bench *b, onnx_value *value,
                                 const char **parts, const size_t *lengths,
                                 uint32_t count) {
  onnx_contents *c = &value->contents;
  c->count = count;
  bool real = value->type == ONNX_FLOAT || value->type == ONNX_FLOAT16 ||
              value->type == ONNX_DOUBLE;
  if (real)
    c->reals = bench_take(b, count, sizeof *c->reals);
  else
    c->integers = bench_take(b, count, sizeof *c->integers);
  if (!real) c->symbols = bench_take(b, count, sizeof *c->symbols);
  for (uint32_t i = 0; i < count; i++) {
    if (real) {
      c->reals[i] = strtod(parts[i], NULL);
      continue;
    }
    bool number = is_number(parts[i]);
    c->integers[i] = number ? strtoll(parts[i], NULL, 10) : ONNX_UNKNOWN;
    if (!number && *parts[i] != '?')
      c->symbols[i] = bench_word(b, parts[i], lengths[i]);
  }
}

static inline void read_dims(rule_bench *b, onnx_value *value,
                             const char **parts, const size_t *lengths,
                             uint32_t count) {
  onnx_shape *shape = &value->shape;
  shape->rank = count;
  shape->dims = bench_take(b, count, sizeof *shape->dims);
  shape->symbols = bench_take(b, count, sizeof *shape->symbols);
  for (uint32_t i = 0; i < count; i++) {
    bool number = is_number(parts[i]);
    shape->dims[i] = number ? strtoll(parts[i], NULL, 10) : ONNX_UNKNOWN;
    if (!number && *parts[i] != '?')
      shape->symbols[i] = bench_word(b, parts[i], lengths[i]);
  }
}

/* One value; *text moves behind it. */
static inline onnx_value rule_value(rule_bench *b, const char **text) {
  const char *parts[RULE_ELEMENTS], *at = *text;
  size_t lengths[RULE_ELEMENTS];
  uint32_t count;
  onnx_value value = {.type = rule_type(*at++), .shape.rank = ONNX_NO_RANK};
  char open = *at++;
  if (open == '[') {
    at = rule_parts(parts, lengths, &count, at, ']');
    read_dims(b, &value, parts, lengths, count);
  } else if (open == '{' || open == '(') {
    at = rule_parts(parts, lengths, &count, at, open == '{' ? '}' : ')');
    read_elements(b, &value, parts, lengths, count);
    value.shape.rank = open == '{';
    value.shape.dims = bench_take(b, 1, sizeof *value.shape.dims);
    value.shape.dims[0] = count;
  } else {
    assert_int_equal(open, '*');
  }
  while (*at == ' ') at++;
  *text = at;
  return value;
}

static inline onnx_graph *bench_graph(rule_bench *b, uint32_t g) {
  return &b->r.graphs.data[g];
}

static inline calm_status push_graph(rule_bench *b, uint32_t parent) {
  VECTOR_PUSH(b->context, &b->r.graphs,
              (onnx_graph){.name = "g", .parent = parent});
  return CALM_OK;
}

static inline uint32_t bench_add_graph(rule_bench *b, uint32_t parent) {
  assert_int_equal(push_graph(b, parent), CALM_OK);
  return b->r.graphs.count - 1;
}

static inline calm_status push_value(rule_bench *b, uint32_t g,
                                     const onnx_value *value) {
  VECTOR_PUSH(b->context, &bench_graph(b, g)->values, *value);
  return CALM_OK;
}

static inline value_id bench_add_value(rule_bench *b, uint32_t g,
                                       const char *name, const char *text) {
  onnx_value value = rule_value(b, &text);
  value.name = name;
  assert_int_equal(push_value(b, g, &value), CALM_OK);
  return bench_graph(b, g)->values.count - 1;
}

static inline value_id *read_ids(rule_bench *b, uint32_t *count,
                                 const int *ids) {
  value_id *list = bench_take(b, RULE_VALUES, sizeof *list);
  for (*count = 0; *ids != -1; ids++)
    list[(*count)++] = *ids == -2 ? CALM_NONE : (value_id)*ids;
  return list;
}

/* Lists of ids end with -1; -2 is an absent one. */
static inline void bench_set_inputs(rule_bench *b, uint32_t g, const int *ids) {
  onnx_graph *graph = bench_graph(b, g);
  graph->inputs = read_ids(b, &graph->input_count, ids);
}

static inline void bench_set_outputs(rule_bench *b, uint32_t g,
                                     const int *ids) {
  onnx_graph *graph = bench_graph(b, g);
  graph->outputs = read_ids(b, &graph->output_count, ids);
}

/* ---- Nodes --------------------------------------------------------------- */

static inline void read_list(rule_bench *b, onnx_attribute *a,
                             const char *text) {
  const char *parts[RULE_ELEMENTS];
  size_t lengths[RULE_ELEMENTS];
  bool real = memchr(text, '.', strcspn(text, "]")) != NULL;
  rule_parts(parts, lengths, &a->count, text, ']');
  a->type = real ? ONNX_ATTRIBUTE_FLOATS : ONNX_ATTRIBUTE_INTS;
  a->ints = bench_take(b, a->count, sizeof *a->ints);
  a->floats = bench_take(b, a->count, sizeof *a->floats);
  for (uint32_t i = 0; i < a->count; i++) {
    a->ints[i] = strtoll(parts[i], NULL, 10);
    a->floats[i] = strtod(parts[i], NULL);
  }
}

static inline void read_attribute(rule_bench *b, onnx_attribute *a,
                                  const char *text, size_t length) {
  size_t name = strcspn(text, "=");
  const char *value = bench_word(b, text + name + 1, length - name - 1);
  a->name = bench_word(b, text, name);
  if (*value == '[') {
    read_list(b, a, value + 1);
  } else if (strchr("-0123456789", *value)) {
    a->type = ONNX_ATTRIBUTE_INT;
    a->i = strtoll(value, NULL, 10);
  } else {
    a->type = ONNX_ATTRIBUTE_STRING;
    a->s = value;
  }
}

static inline void read_attributes(rule_bench *b, onnx_node *node,
                                   const char *text) {
  node->attributes = bench_take(b, RULE_VALUES, sizeof *node->attributes);
  while (text && *text) {
    size_t length = strcspn(text, " ");
    read_attribute(b, &node->attributes[node->attribute_count++], text, length);
    text += length + strspn(text + length, " ");
  }
}

static inline calm_status push_node(rule_bench *b, uint32_t g,
                                    const onnx_node *node) {
  VECTOR_PUSH(b->context, &bench_graph(b, g)->nodes, *node);
  return CALM_OK;
}

/* A node whose operands and outputs are values by id. */
static inline onnx_node *bench_add_node(rule_bench *b, uint32_t g,
                                        const char *op, int64_t opset,
                                        const char *attributes,
                                        const int *inputs, const int *outputs) {
  onnx_node node = {.name = op,
                    .op_type = op,
                    .domain = "",
                    .opset = opset,
                    .function = CALM_NONE};
  node.inputs = read_ids(b, &node.input_count, inputs);
  node.outputs = read_ids(b, &node.output_count, outputs);
  read_attributes(b, &node, attributes);
  assert_int_equal(push_node(b, g, &node), CALM_OK);
  onnx_graph *graph = bench_graph(b, g);
  return &graph->nodes.data[graph->nodes.count - 1];
}

/* The node runs graph `body` under that attribute. */
static inline void bench_add_body(rule_bench *b, onnx_node *node,
                                  const char *name, uint32_t body) {
  onnx_attribute *a = &node->attributes[node->attribute_count++];
  *a = (onnx_attribute){.name = name, .type = ONNX_ATTRIBUTE_GRAPH, .count = 1};
  a->graphs = bench_take(b, 1, sizeof *a->graphs);
  a->graphs[0] = body;
}

/* ---- Comparing ----------------------------------------------------------- */

/* A value in the language above. */
static inline void print_value(char *out, size_t size, const onnx_value *v,
                               bool elements) {
  static const char letters[] = "?fuc__jisbhd";
  char end = ']';
  int n = snprintf(out, size, "%c", v->type < 12 ? letters[v->type] : '#');
  if (v->shape.rank == ONNX_NO_RANK) {
    snprintf(out + n, size - (size_t)n, "*");
    return;
  }
  bool list = elements && v->shape.rank < 2 && v->contents.integers;
  uint32_t count = list ? v->contents.count : v->shape.rank;
  if (list) end = v->shape.rank ? '}' : ')';
  n += snprintf(out + n, size - (size_t)n, "%s",
                !list           ? "["
                : v->shape.rank ? "{"
                                : "(");
  for (uint32_t i = 0; i < count; i++) {
    int64_t x = list ? v->contents.integers[i] : v->shape.dims[i];
    const char **symbols = list ? v->contents.symbols : v->shape.symbols;
    const char *symbol = symbols && symbols[i] ? symbols[i] : "?";
    if (x == ONNX_UNKNOWN)
      n += snprintf(out + n, size - (size_t)n, "%s%s", i ? "," : "", symbol);
    else
      n += snprintf(out + n, size - (size_t)n, "%s%lld", i ? "," : "",
                    (long long)x);
  }
  snprintf(out + n, size - (size_t)n, "%c", end);
}

static inline void compare_value(const onnx_value *value, const char *expected,
                                 const char *op) {
  char made[512];
  print_value(made, sizeof made, value,
              strchr(expected, '{') || strchr(expected, '('));
  if (strcmp(made, expected)) fail_msg("%s: %s, not %s", op, made, expected);
}

static inline void compare_outputs(rule_bench *b, const onnx_rule *rule,
                                   const onnx_node *node) {
  const char *text = rule->outputs;
  for (uint32_t o = 0; o < node->output_count; o++) {
    size_t length = strcspn(text, " ");
    char expected[256];
    assert_true(length < sizeof expected);
    memcpy(expected, text, length);
    expected[length] = '\0';
    if (*text != '-')
      compare_value(&bench_graph(b, 0)->values.data[node->outputs[o]], expected,
                    rule->op);
    text += length + strspn(text + length, " ");
  }
}

/* ---- Whole tables -------------------------------------------------------- */

static inline uint32_t count_words(const char *text) {
  uint32_t words = 0;
  for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) words++;
  return words;
}

static inline void check_rule(const onnx_rule *rule) {
  rule_bench b;
  int inputs[RULE_VALUES + 1], outputs[RULE_VALUES + 1], count = 0, made = 0;
  bool error = !strncmp(rule->outputs, "error: ", 7);
  bench_open(&b);
  bench_add_graph(&b, CALM_NONE);
  for (const char *text = rule->operands; *text; count++) {
    if (*text == '-') {
      inputs[count] = -2;
      text += 1 + strspn(text + 1, " ");
      continue;
    }
    onnx_value value = rule_value(&b, &text);
    value.name = "operand";
    assert_int_equal(push_value(&b, 0, &value), CALM_OK);
    inputs[count] = (int)bench_graph(&b, 0)->values.count - 1;
  }
  inputs[count] = -1;
  uint32_t wanted = error ? 1 : count_words(rule->outputs);
  for (; made < (int)wanted; made++)
    outputs[made] = (int)bench_add_value(&b, 0, "made", "?*");
  outputs[made] = -1;
  const char *colon = strstr(rule->op, "::");
  onnx_node *node =
      bench_add_node(&b, 0, colon ? colon + 2 : rule->op, rule->opset,
                     rule->attributes, inputs, outputs);
  if (colon)
    node->domain = bench_word(&b, rule->op, (size_t)(colon - rule->op));
  calm_status status = onnx_infer(&b.r);
  if (error) {
    const char *message = calm_context_message(b.context);
    if (status != CALM_BAD_INPUT || !strstr(message, rule->outputs + 7))
      fail_msg("%s: status %d, '%s' without '%s'", rule->op, status, message,
               rule->outputs + 7);
  } else {
    assert_int_equal(status, CALM_OK);
    compare_outputs(&b, rule, node);
  }
  bench_close(&b);
}

#define CHECK_RULES(rules)                                        \
  for (size_t i_ = 0; i_ < sizeof(rules) / sizeof *(rules); i_++) \
  check_rule(&(rules)[i_])

#endif
