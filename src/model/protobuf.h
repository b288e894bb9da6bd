/*
 * Protocol buffers, read where they lie.  A message is a run of fields, each
 * with its number, its wire type and a value or a span of bytes; what the
 * caller does not know it skips, as any reader of this format must.  Nothing is
 * copied and no byte inside a span is touched, so that the cost of walking a
 * message does not depend on how large its fields are.  Every length, number
 * and nesting is checked against the file.
 */
#ifndef CALM_MODEL_PROTOBUF_H
#define CALM_MODEL_PROTOBUF_H

#include "base/arena.h"

typedef struct proto_file {
  calm_context *context; /* NULL: failures leave no message */
  const char *path;      /* for messages */
  const uint8_t *bytes;
  size_t length;
} proto_file;

/* Bytes begin to end - 1 of the file. */
typedef struct proto_span {
  size_t begin, end;
} proto_span;

typedef enum proto_wire {
  PROTO_VARINT = 0,
  PROTO_FIXED64 = 1,
  PROTO_BYTES = 2, /* a string, a message, or packed numbers */
  PROTO_GROUP = 3, /* obsolete; skipped as a whole */
  PROTO_FIXED32 = 5
} proto_wire;

/* Number and wire type in one, to switch over: a known number with another wire
   type is a field that is not known. */
#define PROTO_KEY(number, wire) ((uint32_t)(number) << 3 | (uint32_t)(wire))

typedef struct proto_field {
  uint32_t key;
  uint64_t value;  /* of the numbers */
  proto_span span; /* of BYTES: its content */
  proto_span all;  /* the field with its tag and length */
} proto_field;

/* Where a walk through a message stands. */
typedef struct proto_cursor {
  const proto_file *file;
  size_t at, end;
} proto_cursor;

enum { PROTO_MAX_GROUPS = 32 };

proto_cursor proto_open(const proto_file *file, proto_span message);

static inline bool proto_more(const proto_cursor *c) { return c->at < c->end; }

/* The field at the cursor, which moves behind it.  CALM_BAD_INPUT where the
   bytes are no field or leave the message. */
calm_status proto_next(proto_field *out, proto_cursor *c);

/* CALM_BAD_INPUT with "PATH: byte OFFSET: ...". */
calm_status proto_fail(const proto_file *file, size_t offset,
                       const char *format, ...) PRINTF_LIKE(3, 4);

/* The text of a span, with a NUL behind it; CALM_BAD_INPUT if one is in it. */
calm_status proto_string(const char **out, arena *a, const proto_file *file,
                         proto_span span);

/*
 * All numbers of a repeated scalar field, in order, packed or not.  `wire` says
 * which numbers they are: VARINT, FIXED32 or FIXED64.  There is always an
 * array, of 0 numbers if the field does not occur.
 */
calm_status proto_numbers(uint64_t **out, uint32_t *out_count, arena *a,
                          const proto_file *file, proto_span message,
                          uint32_t number, proto_wire wire);

/* Little-endian numbers of 1 to 8 bytes; the caller knows that they are there.
 */
uint64_t proto_fixed(const proto_file *file, size_t position, unsigned bytes);

#endif
