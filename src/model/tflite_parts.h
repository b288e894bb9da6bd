/*
 * What the files that read .tflite share: the reader, which lives while one
 * file is read, and the schema.  tflite.c says in which order the parts run.
 * Before any of them the file has been checked as a whole (flat_check), so they
 * only look after what the schema cannot say: indices, names, shapes, meaning.
 */
#ifndef CALM_MODEL_TFLITE_PARTS_H
#define CALM_MODEL_TFLITE_PARTS_H

#include "model/flatbuffer.h"
#include "model/model.h"

/* The slots, as TFLITE_table_field. */
enum {
#define TABLE(name, noun)
#define FIELD(table, name, slot, kind, of) TFLITE_##table##_##name = slot,
#define UNION(table, name, slot, type, of)
#include "model/tflite_schema.def"
#undef TABLE
#undef FIELD
#undef UNION
};

/* The tables, as TFLITE_TABLE_name. */
enum {
#define TABLE(name, noun) TFLITE_TABLE_##name,
#define FIELD(table, name, slot, kind, of)
#define UNION(table, name, slot, type, of)
#include "model/tflite_schema.def"
#undef TABLE
#undef FIELD
#undef UNION
  TFLITE_TABLES
};

const flat_schema *tflite_schema(void);

/* Builtin operators and options that calm treats specially. */
enum {
  TFLITE_CUSTOM = 32,
  TFLITE_INT32 = 2, /* element types */
  TFLITE_INT64 = 4,
  TFLITE_OPTIONS_SLOT = 4, /* operator.builtin_options */
  TFLITE_PLAN_HEADER_WORDS = 3,
  TFLITE_MAX_ATTRIBUTES = 8,
  TFLITE_VALUE_BYTES = 96
};

/* Metadata that calm understands. */
#define TFLITE_PLAN_NAME "OfflineMemoryAllocation"
#define TFLITE_EDGES_NAME "model_control_dependencies"
#define TFLITE_MARK_NAME "calm.overlap"

/* The first of several tensors that a warning is about, and how many. */
typedef struct tflite_notice {
  const char *name;
  char detail[256];
  uint32_t count;
} tflite_notice;

typedef struct tflite_edge {
  uint32_t subgraph, from, to; /* operator `to` runs after `from` */
  size_t position;             /* in the file */
} tflite_edge;

/* A quantization of the subgraph and its number; number 0: an empty slot. */
typedef struct tflite_quantization {
  flat_table table;
  uint32_t number;
} tflite_quantization;

typedef struct tflite_quantizations {
  tflite_quantization *slots; /* by hash, mask + 1 of them */
  uint64_t mask;
  uint32_t count; /* numbers given */
} tflite_quantizations;

typedef struct tflite_reader {
  calm_model *model;
  calm_context *context;
  arena scratch;
  flat_file file;
  flat_table root;
  flat_vector codes, subgraphs, buffers;
  uint64_t *weighed;         /* buffers that weight_bytes counts, as bits */
  VECTOR(tflite_edge) edges; /* from model_control_dependencies */
  uint32_t edge_lists;       /* subgraphs that have a list of edges */
  uint32_t edges_done;       /* those of the subgraphs before this one */
  uint32_t subgraph;         /* the one being read */
  flat_vector tensors;       /* its tensors */
  tflite_quantizations quantizations; /* of the subgraph being read */
  tflite_notice dynamic, uncountable, conflicting;
} tflite_reader;

/* Where the bytes of a buffer lie, inside the FlatBuffer or behind it. */
typedef struct tflite_bytes {
  uint64_t position, size; /* size 0: an empty buffer */
} tflite_bytes;

/* Root, operator codes, subgraphs and buffers of a file that has been checked.
 */
void tflite_find_tables(tflite_reader *r);

/* The data of buffer `index`; empty if there is no such buffer. */
tflite_bytes tflite_buffer(const tflite_reader *r, uint32_t index);

/* An unused name in `names`: the file's own one, or "PREFIXindex" if that is
   empty, followed by "#index" if that is taken.  It lives in the scratch. */
calm_status tflite_choose_name(const char **out, tflite_reader *r,
                               const name_table *names, flat_string own,
                               const char *prefix, uint32_t index);

/* CALM_BAD_INPUT: "PATH: byte N: what (in subgraph 0, NOUN INDEX)". */
calm_status tflite_fail(const tflite_reader *r, flat_table at, const char *noun,
                        uint32_t index, const char *format, ...)
    PRINTF_LIKE(5, 6);

/* Tensors of the subgraph `table`, all of them: ids are indices in the file. */
calm_status tflite_read_tensors(tflite_reader *r, graph *g, flat_table table);

/* The number of a quantization among those of a subgraph: the same one for all
   that are alike, 0 for one without scales; one that says more than scales and
   zero points is like no other.  To be started for each subgraph. */
calm_status tflite_start_quantizations(tflite_reader *r, uint32_t tensors);
uint32_t tflite_number_quantization(tflite_reader *r, flat_table table);

/* Does a quantization have scales and zero points only, not blocks or what only
   its maker knows? */
bool tflite_quantization_is_plain(const flat_file *file, flat_table table);

/* Operators of the subgraph, whose tensors have been read. */
calm_status tflite_read_operators(tflite_reader *r, graph *g, flat_table table);

/* Stride, padding, axis and the like of an operator, as the text form spells
   them, and a notice if they contradict the stored shapes. */
typedef struct tflite_attributes {
  graph_attribute list[TFLITE_MAX_ATTRIBUTES];
  char values[TFLITE_MAX_ATTRIBUTES][TFLITE_VALUE_BYTES];
  uint32_t count;
} tflite_attributes;

void tflite_read_attributes(tflite_attributes *out, const tflite_reader *r,
                            const graph *g, const graph_op *op,
                            flat_table table, int32_t builtin);

/* What of them the constant operands say. */
void tflite_read_operands(tflite_attributes *out, const tflite_reader *r,
                          const graph *g, const graph_op *op, flat_table table,
                          int32_t builtin);

void tflite_compare_shapes(tflite_reader *r, const graph *g, const graph_op *op,
                           flat_table table, int32_t builtin);

/* Where options of a type have their activation; 255: they have none. */
unsigned tflite_activation_slot(uint8_t type);

/* The slots of an attribute, in its order, ended by 255; none if options of the
   type do not have it. */
const uint8_t *tflite_option_slots(uint8_t type, const char *key);

/* The file's code of an element type; -1: it has none. */
int tflite_type_code(element_type type);

/* The graphs that IF, WHILE, CALL_ONCE or CALL runs, at most 2. */
calm_status tflite_read_bodies(uint32_t out[2], uint32_t *count,
                               const tflite_reader *r, flat_table table,
                               int32_t builtin, uint32_t index);

/* Names are compared whole, as runtimes do. */
bool tflite_is_called(flat_string name, const char *wanted);

/* Names of the metadata, the offline plan, and the control edges. */
calm_status tflite_read_metadata(tflite_reader *r);

/* The mark in a buffer, beside the plan that has been read. */
calm_status tflite_read_mark(tflite_reader *r, uint32_t buffer);

/* What a mark binds: operators in this order (NULL: as they stand), what they
   work on, and shapes, of all subgraphs. */
uint64_t tflite_hash_graphs(const tflite_reader *r,
                            const op_id *const *sequences);

/* The control edges in a buffer, into r->edges and r->edge_lists. */
calm_status tflite_read_edges(tflite_reader *r, uint32_t buffer);

/* They again, operator u of subgraph i being called places[i][u]. */
void tflite_write_edges(text *out, const tflite_reader *r,
                        const op_id *const *places);

/* The operators after which each of `ops` operators of the current subgraph has
   to run: after[begin[i] .. begin[i + 1]], in the scratch. */
calm_status tflite_sort_edges(uint32_t **begin, op_id **after, tflite_reader *r,
                              uint32_t ops);

/* Warn of signatures that name what is not there. */
void tflite_check_signatures(const tflite_reader *r);

#endif
