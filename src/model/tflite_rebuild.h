/*
 * What the files that rebuild a .tflite file share.  The new file is made from
 * scratch: its entry subgraph as an edit says, everything else as it was, but
 * for numbers of tensors, buffers and operators.  tflite_rebuild.c says in
 * which order the parts run; each part appends its tables to the builder.
 */
#ifndef CALM_MODEL_TFLITE_REBUILD_H
#define CALM_MODEL_TFLITE_REBUILD_H

#include "model/flatbuffer_build.h"
#include "model/tflite_parts.h"

/* A buffer of the new file: an old one, or bytes of the edit, or none. */
typedef struct tflite_store {
  flat_table old; /* 0: a new one */
  const uint8_t *bytes;
  uint64_t size;
  bool outside; /* it lies behind the FlatBuffer */
} tflite_store;

/* Bytes that go behind the FlatBuffer, and where their place is to be said. */
typedef struct tflite_outsider {
  size_t place; /* of the number */
  const uint8_t *bytes;
  uint64_t size;
} tflite_outsider;

typedef struct tflite_code {
  int32_t builtin, version;
} tflite_code;

/* An operator that is made like no old one. */
typedef struct tflite_new_op {
  edit_role role;
  op_kind kind;
  int32_t builtin;
  uint8_t options;     /* the type of its options */
  int32_t versions[4]; /* of its code, by the type of the operand */
} tflite_new_op;

typedef struct tflite_rebuilder {
  const calm_model *model;
  const graph_edit *edit;
  arena *a;             /* of the result */
  tflite_reader tables; /* the old file; it has no model; its scratch is ours */
  flat_table entry;     /* its entry subgraph */
  flat_vector tensors, operators; /* of that */
  tensor_id *becomes; /* per old tensor of it: its new id, CALM_NONE: gone */
  uint32_t unmoved;   /* tensors before the first that has another number */
  uint32_t *buffers;  /* per old buffer: its new number, CALM_NONE: gone */
  uint32_t *own;      /* per new tensor: the buffer with bytes of its own */
  VECTOR(tflite_store) stores; /* per new buffer */
  VECTOR(tflite_outsider) outsiders;
  text edges;           /* control edges, if `edges_change` */
  bool edges_change;    /* they are to be said anew */
  uint32_t edges_store; /* their buffer */
  uint32_t *op_codes;   /* per new operator: its code; CALM_NONE: the old one */
  VECTOR(tflite_code) codes; /* those that come behind the old ones */
  bool in_entry;             /* what is copied belongs to the entry subgraph */
  flat_builder to;
  flat_copier copier;
} tflite_rebuilder;

static inline const flat_file *tflite_old_file(const tflite_rebuilder *w) {
  return &w->tables.file;
}

/* CALM_UNSUPPORTED: "PATH: WHOSE what". */
calm_status tflite_refuse(const tflite_rebuilder *w, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* The new number of a tensor of the entry subgraph, -1 of none. */
calm_status tflite_renumber(int32_t *out, const tflite_rebuilder *w,
                            int64_t old);
/* A vector of such numbers, at an old object. */
calm_status tflite_renumber_list(tflite_rebuilder *w, size_t from,
                                 size_t object);

/* Number the buffers that are still needed, and those that are new. */
calm_status tflite_number_buffers(tflite_rebuilder *w);
uint32_t tflite_new_buffer(const tflite_rebuilder *w, uint32_t old);
/* All of them, as the list that the offset at `from` leads to. */
calm_status tflite_build_buffers(tflite_rebuilder *w, size_t from);

/* Tensors and operators of the new entry subgraph. */
calm_status tflite_build_tensor(tflite_rebuilder *w, size_t from, tensor_id t);
calm_status tflite_build_op(tflite_rebuilder *w, size_t from, op_id u);

/* NULL: operators of this role are made like the one they come from. */
const tflite_new_op *tflite_find_new_op(edit_role role);
/* Look for the operator codes of new operators. */
calm_status tflite_find_codes(tflite_rebuilder *w);
calm_status tflite_build_codes(tflite_rebuilder *w, size_t from,
                               flat_vector old);

/* Refuse operators that name places in the file. */
calm_status tflite_check_places(const tflite_rebuilder *w,
                                const flat_draft *op);

/* Metadata entries that stay; control edges as they are in the new graph. */
bool tflite_keeps_entry(const tflite_rebuilder *w, flat_vector entries,
                        uint32_t i);
calm_status tflite_describe_edges(tflite_rebuilder *w);
uint32_t tflite_count_entries(const tflite_rebuilder *w);
calm_status tflite_build_metadata(tflite_rebuilder *w, size_t from);
calm_status tflite_build_signatures(tflite_rebuilder *w, size_t from,
                                    flat_vector old);

#endif
