#include "model/protobuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * A field begins with a tag, number * 8 + wire type, and goes on as that type
 * says.  Tags, lengths and VARINT values are written seven bits a byte, lowest
 * first; the top bit says that more follow:
 *
 *     | tag | number ... |                VARINT
 *     | tag | 4 or 8 bytes |              FIXED32, FIXED64
 *     | tag | length | bytes ... |        BYTES
 *     | tag | fields ... | end tag |      GROUP
 */
enum { END_GROUP = 4, LAST_NUMBER = (1 << 29) - 1 };

calm_status proto_fail(const proto_file *file, size_t offset,
                       const char *format, ...) {
  char what[768];
  va_list arguments;
  if (!file->context) return CALM_BAD_INPUT;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return context_fail(file->context, CALM_BAD_INPUT, "%s: byte %zu: %s",
                      file->path, offset, what);
}

proto_cursor proto_open(const proto_file *file, proto_span message) {
  return (proto_cursor){file, message.begin, message.end};
}

static calm_status read_varint(uint64_t *out, proto_cursor *c) {
  const uint8_t *bytes = c->file->bytes;
  size_t at = c->at;
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (at == c->end)
      return proto_fail(c->file, c->at, "the message ends inside a number");
    uint8_t byte = bytes[at++];
    if (shift == 63 && byte > 1)
      return proto_fail(c->file, c->at, "a number of more than 64 bits");
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  c->at = at;
  *out = value;
  return CALM_OK;
}

static calm_status read_tag(uint32_t *out, proto_cursor *c) {
  size_t begin = c->at;
  uint64_t tag;
  TRY(read_varint(&tag, c));
  if (tag >> 3 == 0 || tag >> 3 > LAST_NUMBER)
    return proto_fail(c->file, begin,
                      "no protobuf field begins here (its number would be "
                      "%llu)",
                      (unsigned long long)(tag >> 3));
  *out = (uint32_t)tag;
  return CALM_OK;
}

/* Step over `bytes` bytes; they become the content of the field. */
static calm_status take(proto_span *out, proto_cursor *c, uint64_t bytes,
                        size_t begin) {
  if (bytes > c->end - c->at)
    return proto_fail(c->file, begin,
                      "a field of %llu bytes, but the message around it ends "
                      "at byte %zu",
                      (unsigned long long)bytes, c->end);
  *out = (proto_span){c->at, c->at + (size_t)bytes};
  c->at = out->end;
  return CALM_OK;
}

/* Behind the tag of a field that is no group. */
static calm_status read_content(proto_field *out, proto_cursor *c) {
  uint64_t length = 0;
  switch (out->key & 7) {
    case PROTO_VARINT: return read_varint(&out->value, c);
    case PROTO_FIXED64: length = 8; break;
    case PROTO_FIXED32: length = 4; break;
    case PROTO_BYTES: TRY(read_varint(&length, c)); break;
    default:
      return proto_fail(c->file, out->all.begin,
                        "wire type %u has no meaning here",
                        (unsigned)(out->key & 7));
  }
  TRY(take(&out->span, c, length, out->all.begin));
  if ((out->key & 7) != PROTO_BYTES)
    out->value = proto_fixed(c->file, out->span.begin, (unsigned)length);
  return CALM_OK;
}

/* Groups nest; the numbers of those that are open stand on a small stack. */
static calm_status skip_group(proto_cursor *c, uint32_t key, size_t begin) {
  uint32_t open[PROTO_MAX_GROUPS];
  unsigned depth = 0;
  open[depth++] = key >> 3;
  while (depth) {
    proto_field inner = {.all = {c->at, c->at}};
    if (!proto_more(c))
      return proto_fail(c->file, begin, "this group does not end");
    TRY(read_tag(&inner.key, c));
    if ((inner.key & 7) == END_GROUP) {
      if (inner.key >> 3 != open[--depth])
        return proto_fail(c->file, inner.all.begin,
                          "the end of a group that is not open");
    } else if ((inner.key & 7) != PROTO_GROUP) {
      TRY(read_content(&inner, c));
    } else if (depth == PROTO_MAX_GROUPS) {
      return proto_fail(c->file, inner.all.begin,
                        "more than %d groups inside each other",
                        PROTO_MAX_GROUPS);
    } else {
      open[depth++] = inner.key >> 3;
    }
  }
  return CALM_OK;
}

calm_status proto_next(proto_field *out, proto_cursor *c) {
  proto_field field = {.all.begin = c->at};
  TRY(read_tag(&field.key, c));
  if ((field.key & 7) == PROTO_GROUP)
    TRY(skip_group(c, field.key, field.all.begin));
  else
    TRY(read_content(&field, c));
  field.all.end = c->at;
  *out = field;
  return CALM_OK;
}

calm_status proto_string(const char **out, arena *a, const proto_file *file,
                         proto_span span) {
  const char *text = (const char *)file->bytes + span.begin;
  size_t length = span.end - span.begin;
  if (length && memchr(text, '\0', length))
    return proto_fail(file, span.begin, "a NUL inside a name");
  *out = arena_string(a, text, length);
  return *out ? CALM_OK : context_no_memory(a->context);
}

uint64_t proto_fixed(const proto_file *file, size_t position, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint64_t)file->bytes[position + i] << (8 * i);
  return value;
}

/* ---- Repeated numbers ---------------------------------------------------- */

/* Numbers on their way into an array; NULL: they are only counted. */
typedef struct number_list {
  uint64_t *values;
  uint64_t count;
} number_list;

static void put(number_list *list, uint64_t value) {
  if (list->values) list->values[list->count] = value;
  list->count++;
}

static calm_status unpack(number_list *list, const proto_file *file,
                          proto_span span, proto_wire wire) {
  unsigned size = wire == PROTO_FIXED32 ? 4 : 8;
  proto_cursor c = proto_open(file, span);
  while (proto_more(&c)) {
    uint64_t value;
    if (wire == PROTO_VARINT) {
      TRY(read_varint(&value, &c));
    } else {
      proto_span number;
      TRY(take(&number, &c, size, c.at));
      value = proto_fixed(file, number.begin, size);
    }
    put(list, value);
  }
  return CALM_OK;
}

static calm_status gather(number_list *list, const proto_file *file,
                          proto_span message, uint32_t number,
                          proto_wire wire) {
  proto_cursor c = proto_open(file, message);
  while (proto_more(&c)) {
    proto_field field;
    TRY(proto_next(&field, &c));
    if (field.key == PROTO_KEY(number, wire))
      put(list, field.value);
    else if (field.key == PROTO_KEY(number, PROTO_BYTES))
      TRY(unpack(list, file, field.span, wire));
  }
  return CALM_OK;
}

calm_status proto_numbers(uint64_t **out, uint32_t *out_count, arena *a,
                          const proto_file *file, proto_span message,
                          uint32_t number, proto_wire wire) {
  number_list list = {NULL, 0};
  TRY(gather(&list, file, message, number, wire));
  if (list.count > UINT32_MAX)
    return proto_fail(file, message.begin, "a list of more than 2^32 numbers");
  number_list filled = {NULL, 0};
  ARENA_ARRAY(a, filled.values, (size_t)list.count);
  TRY(gather(&filled, file, message, number, wire));
  *out = filled.values;
  *out_count = (uint32_t)filled.count;
  return CALM_OK;
}
