/*
 * FlatBuffers, written front to back: a table, vector or string is appended
 * behind the field that refers to it, which is then set, and tables with equal
 * field lists share one.  A table is drafted first: which slots it has, and
 * their numbers.  flat_load drafts one like a table of another file and
 * flat_copy appends one with everything below it, as far as a schema tells what
 * that is.  Linear in what is written.
 */
#ifndef CALM_MODEL_FLATBUFFER_BUILD_H
#define CALM_MODEL_FLATBUFFER_BUILD_H

#include "base/vector.h"
#include "model/flatbuffer.h"

enum { FLAT_SLOTS = 32, FLAT_PHASES = 16 };

typedef struct flat_builder {
  calm_context *context;
  const char *path; /* for messages */
  VECTOR(uint8_t) bytes;
  VECTOR(uint32_t) lists; /* where field lists are */
  size_t limit;           /* more bytes are refused */
} flat_builder;

/* A slot of a table that is not written yet. */
typedef struct flat_value {
  uint8_t size; /* in bytes; 0: the table does not have it */
  bool refers;  /* it leads to an object, and has 4 bytes */
  uint64_t number;
  size_t old; /* where an object lies that is to be copied; 0: a new one */
} flat_value;

typedef struct flat_draft {
  flat_value values[FLAT_SLOTS];
  size_t places[FLAT_SLOTS]; /* where they are, once it is written */
} flat_draft;

/* Room for the offset to the root and for the identifier, of four letters. */
calm_status flat_build_init(flat_builder *b, calm_context *context,
                            const char *path, size_t limit,
                            const char *identifier);
void flat_build_free(flat_builder *b);

/* Let a slot hold a number; none if that is what an absent one means. */
void flat_draft_number(flat_draft *draft, unsigned slot, unsigned size,
                       uint64_t number, uint64_t absent);
/* Let it lead to a new object, or be absent. */
void flat_draft_object(flat_draft *draft, unsigned slot, bool present);

/* Append an object and let the offset at `from` lead to it; 0 is the root. */
calm_status flat_build_table(flat_builder *b, size_t from, flat_draft *draft);
calm_status flat_build_numbers(flat_builder *b, size_t from, const void *bytes,
                               uint32_t count, unsigned size);
calm_status flat_build_text(flat_builder *b, size_t from, const char *text,
                            size_t length);
/* A vector of bytes whose first lies at `phase`, modulo FLAT_PHASES. */
calm_status flat_build_bytes(flat_builder *b, size_t from, const void *bytes,
                             uint32_t count, size_t phase);
/* A vector of offsets to be set; yields where the first one is. */
calm_status flat_build_offsets(size_t *first, flat_builder *b, size_t from,
                               uint32_t count);

/* Change a number that has been written. */
void flat_build_set(flat_builder *b, size_t place, uint64_t number,
                    unsigned size);

/* ---- Copying ------------------------------------------------------------- */

/* Change the draft of a copied table of kind `kind` before it is written. */
typedef calm_status flat_adjust(void *payload, uint32_t kind,
                                flat_draft *draft);

typedef struct flat_copier {
  const flat_file *from; /* checked against the schema */
  const flat_schema *schema;
  flat_builder *to;
  flat_adjust *adjust;
  void *payload;
  char whose[160]; /* for messages: "operator 'NAME'" */
} flat_copier;

/* What a table is: one of the schema, or one of numbers. */
typedef struct flat_kind_of {
  uint32_t table;
  const char *widths; /* see flat_plain; NULL: none are known */
} flat_kind_of;

/* The kind of the table that a union leads to. */
flat_kind_of flat_union_kind(const flat_copier *c, uint32_t table,
                             unsigned slot, uint8_t type);

/*
 * A draft of an old table.  CALM_UNSUPPORTED if its fields overlap, or if it
 * has one that is not in the schema and may refer to something.
 */
calm_status flat_load(flat_draft *out, const flat_copier *c, flat_table table,
                      flat_kind_of kind);

/* Copy what a slot of a written draft refers to, if that is an old object. */
calm_status flat_copy_slot(const flat_copier *c, const flat_draft *draft,
                           uint32_t table, unsigned slot);
/* The same for all slots. */
calm_status flat_copy_slots(const flat_copier *c, const flat_draft *draft,
                            uint32_t table);
/* A whole table. */
calm_status flat_copy(const flat_copier *c, size_t from, flat_table table,
                      flat_kind_of kind);

#endif
