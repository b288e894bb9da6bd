/*
 * Small ONNX models, made field by field: a message is a growing run of bytes,
 * and adding one message to another frees the inner one.  Lists of names are
 * texts with spaces between them, "-" for an absent one; shapes are texts such
 * as "1,N,?": numbers, symbols, and sizes of which nothing is said.
 */
#ifndef CALM_TESTS_ONNX_BUILDER_H
#define CALM_TESTS_ONNX_BUILDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "tflite_builder.h"

typedef struct message {
  uint8_t *bytes;
  size_t length;
} message;

enum { FLOAT = 1, INT8 = 3, INT64 = 7, STRING = 8, BOOL = 9, INT4 = 22 };

static inline void put(message *m, const void *bytes, size_t length) {
  if (length == 0) return;
  m->bytes = realloc(m->bytes, m->length + length);
  assert(m->bytes);
  memcpy(m->bytes + m->length, bytes, length);
  m->length += length;
}

static inline void put_byte(message *m, unsigned byte) {
  uint8_t b = (uint8_t)byte;
  put(m, &b, 1);
}

static inline void put_varint(message *m, uint64_t value) {
  for (; value > 0x7f; value >>= 7) put_byte(m, (unsigned)(value | 0x80) & 255);
  put_byte(m, (unsigned)value);
}

static inline void put_number(message *m, unsigned field, int64_t value) {
  put_varint(m, field << 3);
  put_varint(m, (uint64_t)value);
}

static inline void put_bytes(message *m, unsigned field, const void *bytes,
                             size_t length) {
  put_varint(m, field << 3 | 2);
  put_varint(m, length);
  put(m, bytes, length);
}

static inline void put_text(message *m, unsigned field, const char *text) {
  put_bytes(m, field, text, strlen(text));
}

static inline void put_message(message *m, unsigned field, message inner) {
  put_bytes(m, field, inner.bytes, inner.length);
  free(inner.bytes);
}

/* Calls `add` for each part of a list. */
static inline void for_each_part(message *m, unsigned field, const char *list,
                                 const char *between,
                                 void (*add)(message *, unsigned,
                                             const char *)) {
  char copy[512];
  snprintf(copy, sizeof copy, "%s", list);
  for (char *at = copy; *at;) {
    size_t length = strcspn(at, between);
    char *next = at + length + (at[length] != '\0');
    at[length] = '\0';
    add(m, field, at);
    at = next;
  }
}

/* ---- The parts of ONNX --------------------------------------------------- */

static inline void add_operand(message *m, unsigned field, const char *name) {
  put_text(m, field, strcmp(name, "-") ? name : "");
}

static inline void add_dimension(message *m, unsigned field, const char *size) {
  message dimension = {0};
  if (*size == '-' || (*size >= '0' && *size <= '9'))
    put_number(&dimension, 1, strtoll(size, NULL, 10));
  else if (*size != '?')
    put_text(&dimension, 2, size);
  put_message(m, field, dimension);
}

static inline void add_size(message *m, unsigned field, const char *size) {
  put_number(m, field, strtoll(size, NULL, 10));
}

/* A ValueInfoProto; shape NULL: none is stated. */
static inline message value_info(const char *name, int type,
                                 const char *shape) {
  message value = {0}, outer = {0}, tensor = {0}, dimensions = {0};
  put_text(&value, 1, name);
  put_number(&tensor, 1, type);
  if (shape) {
    for_each_part(&dimensions, 1, shape, ",", add_dimension);
    put_message(&tensor, 2, dimensions);
  }
  put_message(&outer, 1, tensor);
  put_message(&value, 2, outer);
  return value;
}

static inline message node(const char *type, const char *inputs,
                           const char *outputs) {
  message n = {0};
  for_each_part(&n, 1, inputs, " ", add_operand);
  for_each_part(&n, 2, outputs, " ", add_operand);
  put_text(&n, 4, type);
  return n;
}

/* A TensorProto without data. */
static inline message weight(const char *name, int type, const char *dims) {
  message tensor = {0};
  for_each_part(&tensor, 1, dims, ",", add_size);
  put_number(&tensor, 2, type);
  put_text(&tensor, 8, name);
  return tensor;
}

static inline void add_integer(message *m, unsigned field, const char *value) {
  add_size(m, field, value);
}

/* A row of INT64, written number by number. */
static inline message integers(const char *name, const char *values) {
  message tensor = {0};
  int count = *values != '\0';
  char size[16];
  for (const char *c = values; *c; c++) count += *c == ',';
  snprintf(size, sizeof size, "%d", count);
  for_each_part(&tensor, 1, size, ",", add_size);
  put_number(&tensor, 2, INT64);
  for_each_part(&tensor, 7, values, ",", add_integer);
  put_text(&tensor, 8, name);
  return tensor;
}

static inline message attribute(const char *name) {
  message a = {0};
  put_text(&a, 1, name);
  return a;
}

static inline message int_attribute(const char *name, int64_t value) {
  message a = attribute(name);
  put_number(&a, 3, value);
  put_number(&a, 20, 2);
  return a;
}

static inline message ints_attribute(const char *name, const char *values) {
  message a = attribute(name);
  for_each_part(&a, 8, values, ",", add_integer);
  put_number(&a, 20, 7);
  return a;
}

static inline message tensor_attribute(const char *name, message tensor) {
  message a = attribute(name);
  put_message(&a, 5, tensor);
  put_number(&a, 20, 4);
  return a;
}

static inline message graph_attribute_of(const char *name, message body) {
  message a = attribute(name);
  put_message(&a, 6, body);
  put_number(&a, 20, 5);
  return a;
}

/* ---- Fields of a graph --------------------------------------------------- */

static inline void add_node(message *graph, const char *type,
                            const char *inputs, const char *outputs) {
  put_message(graph, 1, node(type, inputs, outputs));
}

static inline void add_named(message *graph, const char *name, const char *type,
                             const char *inputs, const char *outputs) {
  message n = node(type, inputs, outputs);
  put_text(&n, 3, name);
  put_message(graph, 1, n);
}

static inline void add_input(message *graph, const char *name, int type,
                             const char *shape) {
  put_message(graph, 11, value_info(name, type, shape));
}

static inline void add_output(message *graph, const char *name, int type,
                              const char *shape) {
  put_message(graph, 12, value_info(name, type, shape));
}

static inline void add_weight(message *graph, message tensor) {
  put_message(graph, 5, tensor);
}

/* A ModelProto around a graph, which is freed. */
static inline message model_of(message graph, int64_t ir, int64_t opset) {
  message model = {0}, version = {0};
  put_number(&model, 1, ir);
  put_number(&version, 2, opset);
  put_message(&model, 8, version);
  put_message(&model, 7, graph);
  return model;
}

/* The usual model. */
static inline message plain_model(message graph) {
  return model_of(graph, 8, 17);
}

/* ---- Reading ------------------------------------------------------------- */

/* Read a model, under --dim options between spaces if there are any.  The bytes
   are kept until reading_end_onnx. */
static inline reading *reading_with_dims(const message *m, const char *dims) {
  static option_item items[8];
  static char copy[512];
  reading *r = calloc(1, sizeof *r);
  assert(r);
  uint32_t count = 0;
  snprintf(copy, sizeof copy, "%s", dims);
  for (char *at = strtok(copy, " "); at && count < 8; at = strtok(NULL, " ")) {
    items[count] = (option_item){at, NULL};
    if (count) items[count - 1].next = &items[count];
    count++;
  }
  r->context = calm_context_new(NULL);
  calm_context_set_log(r->context, reading_log, r);
  model_init(&r->model, r->context, "built");
  r->model.map = (file_map){m->bytes, m->length};
  r->model.dims = count ? items : NULL;
  r->status = model_read(&r->model);
  return r;
}

static inline reading *reading_of_model(const message *m) {
  return reading_of_bytes(m->bytes, m->length);
}

/* Read, free the bytes, and compare what was read with a text. */
static inline void expect_text(message m, const char *dims,
                               const char *expected) {
  reading *r = reading_with_dims(&m, dims);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  char *text = reading_dump(r);
  assert_non_null(text);
  assert_string_equal(text, expected);
  calm_text_free(r->context, text);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

/* Read, which fails in the words given. */
static inline void expect_failure(message m, const char *dims,
                                  calm_status status, const char *words) {
  reading *r = reading_with_dims(&m, dims);
  assert_int_equal(r->status, status);
  if (!strstr(reading_message(r), words)) fail_msg("%s", reading_message(r));
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

/* Read with a warning in the words given. */
static inline void expect_warning(message m, const char *words) {
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  if (!strstr(r->warnings, words)) fail_msg("'%s'", r->warnings);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

#endif
