/*
 * Small .tflite files for tests, written front to back: each object is placed
 * behind the field that refers to it.  A build_model is described by plain
 * structs; what a test wants broken it then overwrites, with build_field to
 * find the place.
 */
#ifndef CALM_TESTS_TFLITE_BUILDER_H
#define CALM_TESTS_TFLITE_BUILDER_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/flatbuffer.h"
#include "model/model.h"

enum { BUILD_BYTES = 1 << 16, BUILD_SLOTS = 14 };

typedef struct build_file {
  uint8_t bytes[BUILD_BYTES];
  size_t length;
  bool misaligned; /* objects begin at odd places */
} build_file;

typedef struct build_list {
  const int32_t *values;
  uint32_t count;
} build_list;

#define LIST(...)                               \
  ((build_list){(const int32_t[]){__VA_ARGS__}, \
                sizeof((const int32_t[]){__VA_ARGS__}) / 4})

typedef struct build_tensor {
  const char *name; /* NULL: none */
  build_list shape, signature;
  int type; /* 0 float, 3 uint8, 9 int8 */
  uint32_t buffer, external;
  bool variable;
  bool quantized; /* by `scale` (a multiple of 1/1024) and `zero` */
  uint32_t scale;
  int64_t zero;
  uint32_t channels; /* if not 0, so many of them along `axis`: `scale`, twice
                        that, ... */
  int32_t axis;
} build_tensor;

typedef struct build_op {
  uint32_t code; /* index into codes */
  build_list inputs, outputs, intermediates;
  uint8_t options_type;
  build_list options;    /* 32-bit scalars from slot 0 on */
  uint32_t byte_options; /* bits: these slots are bytes, not words */
  uint64_t outside_offset, outside_size;
} build_op;

typedef struct build_code {
  int32_t builtin;
  const char *custom;
} build_code;

typedef struct build_subgraph {
  const char *name;
  const build_tensor *tensors;
  uint32_t tensor_count;
  const build_op *ops;
  uint32_t op_count;
  build_list inputs, outputs;
} build_subgraph;

typedef struct build_buffer {
  const void *data; /* NULL: no data field */
  uint32_t length;
  uint64_t offset, size; /* of data behind the FlatBuffer */
} build_buffer;

typedef struct build_metadata {
  const char *name;
  uint32_t buffer;
} build_metadata;

/* One entry among the inputs of a signature. */
typedef struct build_signature {
  uint32_t subgraph, tensor;
} build_signature;

typedef struct build_model {
  const build_code *codes;
  uint32_t code_count;
  const build_subgraph *subgraphs;
  uint32_t subgraph_count;
  const build_buffer *buffers;
  uint32_t buffer_count;
  const build_metadata *metadata;
  uint32_t metadata_count;
  uint64_t external_length; /* of one external buffer, 0: none */
  const build_signature *signatures;
  uint32_t signature_count;
} build_model;

/* ---- Objects ------------------------------------------------------------- */

static inline void build_put(build_file *f, size_t at, uint64_t value,
                             unsigned size) {
  for (unsigned i = 0; i < size; i++)
    f->bytes[at + i] = (uint8_t)(value >> (8 * i));
}

/* Room for an object of `bytes` bytes, 8 bytes aligned or not at all. */
static inline size_t build_room(build_file *f, size_t bytes) {
  while (f->length % 8 != (f->misaligned ? 5 : 0)) f->length++;
  size_t at = f->length;
  f->length += bytes;
  assert(f->length <= BUILD_BYTES);
  return at;
}

/* A table with a field of sizes[i] bytes (0: absent) in each slot, all zero. */
static inline size_t build_table(build_file *f, const uint8_t *sizes,
                                 unsigned slots) {
  size_t vtable = build_room(f, 4 + 2 * (size_t)slots);
  size_t table = build_room(f, 4);
  build_put(f, table, table - vtable, 4);
  for (unsigned i = 0; i < slots; i++) {
    if (!sizes[i]) continue;
    build_put(f, vtable + 4 + 2 * i, f->length - table, 2);
    f->length += sizes[i];
  }
  build_put(f, vtable, 4 + 2 * slots, 2);
  build_put(f, vtable + 2, f->length - table, 2);
  assert(f->length <= BUILD_BYTES);
  return table;
}

static inline flat_file build_view(const build_file *f) {
  return (flat_file){NULL, "built", f->bytes, f->length};
}

/* Where a field lies; it must be there. */
static inline size_t build_field(const build_file *f, size_t table,
                                 unsigned slot) {
  flat_file view = build_view(f);
  uint64_t place = flat_place(&view, table, slot);
  assert(place);
  return (size_t)place;
}

static inline void build_link(build_file *f, size_t table, unsigned slot,
                              size_t target) {
  size_t place = build_field(f, table, slot);
  build_put(f, place, target - place, 4);
}

static inline void build_set(build_file *f, size_t table, unsigned slot,
                             uint64_t value, unsigned size) {
  build_put(f, build_field(f, table, slot), value, size);
}

/* A vector of bytes (a string, too) and its field. */
static inline void build_bytes(build_file *f, size_t table, unsigned slot,
                               const void *bytes, uint32_t length) {
  size_t at = build_room(f, 4 + (size_t)length + 1);
  build_put(f, at, length, 4);
  if (length) memcpy(f->bytes + at + 4, bytes, length);
  build_link(f, table, slot, at);
}

static inline void build_words(build_file *f, size_t table, unsigned slot,
                               build_list list) {
  size_t at = build_room(f, 4 + 4 * (size_t)list.count);
  build_put(f, at, list.count, 4);
  for (uint32_t i = 0; i < list.count; i++)
    build_put(f, at + 4 + 4 * (size_t)i, (uint32_t)list.values[i], 4);
  build_link(f, table, slot, at);
}

/* A vector of `count` offsets, to be set by build_element. */
static inline size_t build_offsets(build_file *f, size_t table, unsigned slot,
                                   uint32_t count) {
  size_t at = build_room(f, 4 + 4 * (size_t)count);
  build_put(f, at, count, 4);
  build_link(f, table, slot, at);
  return at + 4;
}

static inline void build_element(build_file *f, size_t vector, uint32_t i,
                                 size_t target) {
  size_t place = vector + 4 * (size_t)i;
  build_put(f, place, target - place, 4);
}

/* ---- A model ------------------------------------------------------------- */

/* Scales and zero points, one for the whole tensor or one per channel. */
static inline void build_quantization(build_file *f, size_t tensor,
                                      const build_tensor *t) {
  const uint32_t count = t->channels ? t->channels : 1;
  const uint8_t sizes[] = {0, 0, 4, 4, 0, 0, t->channels ? 4 : 0};
  size_t table = build_table(f, sizes, sizeof sizes);
  build_link(f, tensor, 4, table);
  size_t at = build_room(f, 4 + 4 * (size_t)count);
  build_put(f, at, count, 4);
  for (uint32_t i = 0; i < count; i++) {
    const float scale = (float)(t->scale * (i + 1)) / 1024;
    memcpy(f->bytes + at + 4 + 4 * (size_t)i, &scale, 4);
  }
  build_link(f, table, 2, at);
  at = build_room(f, 4 + 8 * (size_t)count);
  build_put(f, at, count, 4);
  for (uint32_t i = 0; i < count; i++)
    build_put(f, at + 4 + 8 * (size_t)i, (uint64_t)t->zero, 8);
  build_link(f, table, 3, at);
  if (t->channels) build_set(f, table, 6, (uint32_t)t->axis, 4);
}

static inline void build_tensors(build_file *f, size_t subgraph,
                                 const build_subgraph *s) {
  size_t vector = build_offsets(f, subgraph, 0, s->tensor_count);
  for (uint32_t i = 0; i < s->tensor_count; i++) {
    const build_tensor *t = &s->tensors[i];
    const uint8_t sizes[] = {4,
                             1,
                             4,
                             t->name ? 4 : 0,
                             t->quantized ? 4 : 0,
                             1,
                             0,
                             t->signature.count ? 4 : 0,
                             0,
                             0,
                             4};
    size_t table = build_table(f, sizes, sizeof sizes);
    build_element(f, vector, i, table);
    build_words(f, table, 0, t->shape);
    build_set(f, table, 1, (uint64_t)t->type, 1);
    build_set(f, table, 2, t->buffer, 4);
    if (t->name) build_bytes(f, table, 3, t->name, (uint32_t)strlen(t->name));
    if (t->quantized) build_quantization(f, table, t);
    build_set(f, table, 5, t->variable, 1);
    if (t->signature.count) build_words(f, table, 7, t->signature);
    build_set(f, table, 10, t->external, 4);
  }
}

static inline void build_options(build_file *f, size_t op, const build_op *o) {
  uint8_t sizes[BUILD_SLOTS];
  for (uint32_t i = 0; i < o->options.count; i++)
    sizes[i] = o->byte_options >> i & 1 ? 1 : 4;
  size_t table = build_table(f, sizes, o->options.count);
  build_link(f, op, 4, table);
  for (uint32_t i = 0; i < o->options.count; i++)
    build_set(f, table, i, (uint32_t)o->options.values[i], sizes[i]);
}

static inline void build_ops(build_file *f, size_t subgraph,
                             const build_subgraph *s) {
  size_t vector = build_offsets(f, subgraph, 3, s->op_count);
  for (uint32_t i = 0; i < s->op_count; i++) {
    const build_op *o = &s->ops[i];
    bool options = o->options_type != 0;
    const uint8_t sizes[] = {
        4, 4, 4, 1, options ? 4 : 0, 0, 0, 0, o->intermediates.count ? 4 : 0,
        8, 8};
    size_t table = build_table(f, sizes, sizeof sizes);
    build_element(f, vector, i, table);
    build_set(f, table, 0, o->code, 4);
    build_words(f, table, 1, o->inputs);
    build_words(f, table, 2, o->outputs);
    build_set(f, table, 3, o->options_type, 1);
    if (options) build_options(f, table, o);
    if (o->intermediates.count) build_words(f, table, 8, o->intermediates);
    build_set(f, table, 9, o->outside_offset, 8);
    build_set(f, table, 10, o->outside_size, 8);
  }
}

static inline void build_subgraphs(build_file *f, size_t root,
                                   const build_model *m) {
  size_t vector = build_offsets(f, root, 2, m->subgraph_count);
  for (uint32_t i = 0; i < m->subgraph_count; i++) {
    const build_subgraph *s = &m->subgraphs[i];
    const uint8_t sizes[] = {4, 4, 4, 4, s->name ? 4 : 0};
    size_t table = build_table(f, sizes, sizeof sizes);
    build_element(f, vector, i, table);
    build_tensors(f, table, s);
    build_words(f, table, 1, s->inputs);
    build_words(f, table, 2, s->outputs);
    build_ops(f, table, s);
    if (s->name) build_bytes(f, table, 4, s->name, (uint32_t)strlen(s->name));
  }
}

static inline void build_codes(build_file *f, size_t root,
                               const build_model *m) {
  size_t vector = build_offsets(f, root, 1, m->code_count);
  for (uint32_t i = 0; i < m->code_count; i++) {
    const build_code *c = &m->codes[i];
    const uint8_t sizes[] = {1, c->custom ? 4 : 0, 0, 4};
    size_t table = build_table(f, sizes, sizeof sizes);
    build_element(f, vector, i, table);
    build_set(f, table, 0, (uint64_t)(c->builtin < 127 ? c->builtin : 127), 1);
    build_set(f, table, 3, (uint32_t)c->builtin, 4);
    if (c->custom)
      build_bytes(f, table, 1, c->custom, (uint32_t)strlen(c->custom));
  }
}

static inline void build_buffers(build_file *f, size_t root,
                                 const build_model *m) {
  size_t vector = build_offsets(f, root, 4, m->buffer_count);
  for (uint32_t i = 0; i < m->buffer_count; i++) {
    const build_buffer *b = &m->buffers[i];
    const uint8_t sizes[] = {b->data ? 4 : 0, 8, 8};
    size_t table = build_table(f, sizes, sizeof sizes);
    build_element(f, vector, i, table);
    build_set(f, table, 1, b->offset, 8);
    build_set(f, table, 2, b->size, 8);
    if (b->data) build_bytes(f, table, 0, b->data, b->length);
  }
}

static inline void build_metadata_entries(build_file *f, size_t root,
                                          const build_model *m) {
  size_t vector = build_offsets(f, root, 6, m->metadata_count);
  for (uint32_t i = 0; i < m->metadata_count; i++) {
    const build_metadata *d = &m->metadata[i];
    const uint8_t sizes[] = {d->name ? 4 : 0, 4};
    size_t table = build_table(f, sizes, sizeof sizes);
    build_element(f, vector, i, table);
    build_set(f, table, 1, d->buffer, 4);
    if (d->name) build_bytes(f, table, 0, d->name, (uint32_t)strlen(d->name));
  }
}

static inline void build_external(build_file *f, size_t root, uint64_t length) {
  static const uint8_t sizes[] = {4, 4, 8, 8};
  size_t vector = build_offsets(f, root, 9, 1);
  size_t table = build_table(f, sizes, sizeof sizes);
  build_element(f, vector, 0, table);
  build_set(f, table, 0, 1, 4);
  build_set(f, table, 3, length, 8);
}

static inline void build_signatures(build_file *f, size_t root,
                                    const build_model *m) {
  static const uint8_t sizes[] = {4, 0, 0, 0, 4}, map_sizes[] = {0, 4};
  size_t vector = build_offsets(f, root, 7, m->signature_count);
  for (uint32_t i = 0; i < m->signature_count; i++) {
    size_t table = build_table(f, sizes, sizeof sizes);
    build_element(f, vector, i, table);
    build_set(f, table, 4, m->signatures[i].subgraph, 4);
    size_t maps = build_offsets(f, table, 0, 1);
    size_t map = build_table(f, map_sizes, sizeof map_sizes);
    build_element(f, maps, 0, map);
    build_set(f, map, 1, m->signatures[i].tensor, 4);
  }
}

/* The whole file; to be freed with free. */
static inline build_file *build_tflite(const build_model *m, bool misaligned) {
  static const uint8_t sizes[] = {4, 4, 4, 0, 4, 0, 4, 4, 0, 4};
  build_file *f = calloc(1, sizeof *f);
  assert(f);
  f->misaligned = misaligned;
  f->length = 8;
  memcpy(f->bytes + 4, "TFL3", 4);
  uint8_t present[sizeof sizes];
  memcpy(present, sizes, sizeof sizes);
  if (!m->metadata_count) present[6] = 0;
  if (!m->signature_count) present[7] = 0;
  if (!m->external_length) present[9] = 0;
  size_t root = build_table(f, present, sizeof present);
  build_put(f, 0, root, 4);
  build_set(f, root, 0, 3, 4);
  build_codes(f, root, m);
  build_subgraphs(f, root, m);
  if (m->metadata_count) build_metadata_entries(f, root, m);
  if (m->signature_count) build_signatures(f, root, m);
  if (m->external_length) build_external(f, root, m->external_length);
  build_buffers(f, root, m);
  return f;
}

/* ---- Places in it -------------------------------------------------------- */

/* Element `i` of a vector of tables. */
static inline size_t build_child(const build_file *f, size_t table,
                                 unsigned slot, uint32_t i) {
  flat_file view = build_view(f);
  return flat_table_at(&view, flat_vector_of(&view, table, slot, 4), i);
}

static inline size_t build_root(const build_file *f) {
  flat_file view = build_view(f);
  return flat_root(&view);
}

static inline size_t build_tensor_at(const build_file *f, uint32_t subgraph,
                                     uint32_t i) {
  return build_child(f, build_child(f, build_root(f), 2, subgraph), 0, i);
}

static inline size_t build_op_at(const build_file *f, uint32_t subgraph,
                                 uint32_t i) {
  return build_child(f, build_child(f, build_root(f), 2, subgraph), 3, i);
}

/* Where the vector or table lies that a field refers to. */
static inline size_t build_target(const build_file *f, size_t table,
                                  unsigned slot) {
  flat_file view = build_view(f);
  size_t place = build_field(f, table, slot);
  return place + (size_t)flat_number(&view, place, 4);
}

/* ---- Reading it back ----------------------------------------------------- */

/* What a test holds while it looks at one model. */
typedef struct reading {
  calm_context *context;
  calm_model model;
  calm_status status;
  char warnings[4096]; /* one line each */
  uint32_t warning_count;
} reading;

static inline void reading_log(void *payload, calm_log_level level,
                               const char *line) {
  reading *r = payload;
  size_t used = strlen(r->warnings);
  (void)level;
  assert(!strchr(line, '\n'));
  snprintf(r->warnings + used, sizeof r->warnings - used, "%s\n", line);
  r->warning_count++;
}

static inline reading *reading_of_bytes(const uint8_t *bytes, size_t length) {
  reading *r = calloc(1, sizeof *r);
  assert(r);
  r->context = calm_context_new(NULL);
  calm_context_set_log(r->context, reading_log, r);
  model_init(&r->model, r->context, "built");
  r->model.map = (file_map){bytes, length};
  r->status = model_read(&r->model);
  return r;
}

static inline reading *reading_of(const build_file *f) {
  return reading_of_bytes(f->bytes, f->length);
}

static inline const char *reading_message(const reading *r) {
  return calm_context_message(r->context);
}

/* The graphs as text, to be freed with calm_text_free. */
static inline char *reading_dump(const reading *r) {
  text t;
  char *out = NULL;
  text_init(&t, r->context);
  graph_text_write(&t, r->model.graphs.data, r->model.graphs.count);
  return text_finish(&t, &out) == CALM_OK ? out : NULL;
}

/* Returns the bytes that were left behind: 0. */
static inline size_t reading_end(reading *r) {
  model_clear(&r->model);
  size_t left = calm_context_bytes(r->context);
  calm_context_free(r->context);
  free(r);
  return left;
}

#endif
