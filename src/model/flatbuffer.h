/*
 * FlatBuffers, read where they lie.  A file is first checked as a whole against
 * a schema, which is a table of rows; what the check has passed is then read by
 * the accessors, which cannot fail.  All reads are bytewise and little-endian,
 * so that nothing has to be aligned, and none leaves the file even if it was
 * never checked.  The check visits every object that the schema names once per
 * reference, touches no byte of a FLAT_BYTES vector, and is linear in the size
 * of the file: references that overlap without end are refused.
 */
#ifndef CALM_MODEL_FLATBUFFER_H
#define CALM_MODEL_FLATBUFFER_H

#include "base/context.h"

typedef struct flat_file {
  calm_context *context;
  const char *path; /* for messages */
  const uint8_t *bytes;
  size_t length;
} flat_file;

/* Where a table begins; 0: there is no such table. */
typedef size_t flat_table;

typedef struct flat_vector {
  size_t position; /* of the first element; 0: there is no such vector */
  uint32_t count;  /* 0 if there is none */
} flat_vector;

typedef struct flat_string {
  const char *text; /* not terminated; NULL: there is no such string */
  uint32_t length;
} flat_string;

typedef enum flat_kind {
  FLAT_SCALAR,  /* of `of` bytes */
  FLAT_STRING,  /* read as a whole */
  FLAT_BYTES,   /* a vector of bytes of which only the place is looked at */
  FLAT_SCALARS, /* a vector of scalars of `of` bytes */
  FLAT_TABLE,   /* table `of` */
  FLAT_TABLES,  /* a vector of tables `of` */
  FLAT_UNION    /* table `of` where the type (in the slot before) is `type`; a
                   type without a row is checked as a table without fields */
} flat_kind;

/* One field of one table. */
typedef struct flat_field {
  uint8_t table, slot;
  flat_kind kind;
  uint8_t of, type;
  const char *name;
} flat_field;

/* A table behind a union that has no row and holds only numbers. */
typedef struct flat_plain {
  uint8_t table, slot, type; /* of the union */
  const char *widths;        /* a digit per slot: its bytes */
} flat_plain;

typedef struct flat_schema {
  const char *const *nouns; /* what an element of each table is called */
  uint32_t table_count;     /* at most FLAT_MAX_TABLES; table 0 is the root */
  const flat_field *fields; /* sorted by table; no table may contain itself */
  uint32_t field_count;
  const flat_plain *plain;
  uint32_t plain_count;
} flat_schema;

enum { FLAT_MAX_TABLES = 48, FLAT_MAX_DEPTH = 12 };

/* CALM_BAD_INPUT with "PATH: byte OFFSET: what (in subgraph 0, operator 12
   'inputs')" if the file does not hold together. */
calm_status flat_check(const flat_file *file, const flat_schema *schema);

/* Where the last object ends that the schema names, in a file that has been
   checked. */
size_t flat_extent(const flat_file *file, const flat_schema *schema);

/* Fail with CALM_BAD_INPUT and "PATH: byte OFFSET: ...". */
calm_status flat_fail(const flat_file *file, size_t offset, const char *format,
                      ...) PRINTF_LIKE(3, 4);

flat_table flat_root(const flat_file *file);

/* A scalar field, `absent` if the table is or does not have it. */
uint8_t flat_u8(const flat_file *file, flat_table table, unsigned slot,
                uint8_t absent);
int8_t flat_i8(const flat_file *file, flat_table table, unsigned slot,
               int8_t absent);
uint32_t flat_u32(const flat_file *file, flat_table table, unsigned slot,
                  uint32_t absent);
int32_t flat_i32(const flat_file *file, flat_table table, unsigned slot,
                 int32_t absent);
uint64_t flat_u64(const flat_file *file, flat_table table, unsigned slot,
                  uint64_t absent);

flat_table flat_table_of(const flat_file *file, flat_table table,
                         unsigned slot);
flat_string flat_string_of(const flat_file *file, flat_table table,
                           unsigned slot);
/* A vector whose elements take `size` bytes; cut off at the end of the file. */
flat_vector flat_vector_of(const flat_file *file, flat_table table,
                           unsigned slot, uint32_t size);

/* Element `i` (below the count) of a vector of tables or numbers. */
flat_table flat_table_at(const flat_file *file, flat_vector vector, uint32_t i);
int32_t flat_i32_at(const flat_file *file, flat_vector vector, uint32_t i);

/* ---- Bare positions ------------------------------------------------------ */

enum { FLAT_OFFSET_BYTES = 4, FLAT_VTABLE_HEADER = 4, FLAT_SLOT_BYTES = 2 };

bool flat_holds(const flat_file *file, uint64_t position, uint64_t bytes);

/* Where the table's vtable begins and where a field lies (0: not there), as the
   file says; both may be outside of it. */
int64_t flat_vtable(const flat_file *file, flat_table table);
uint64_t flat_place(const flat_file *file, flat_table table, unsigned slot);

/* A little-endian number anywhere; 0 where it does not fit into the file. */
uint64_t flat_number(const flat_file *file, size_t position, unsigned size);

#endif
