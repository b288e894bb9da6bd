#include "model/protobuf_write.h"

#include <string.h>

/* Seven bits a byte, lowest first; the top bit says that more follow. */
void proto_put_varint(text *out, uint64_t value) {
  do {
    const char byte = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    text_add(out, &byte, 1);
    value >>= 7;
  } while (value);
}

static void put_fixed(text *out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) {
    const char byte = (char)(value >> (8 * i) & 0xff);
    text_add(out, &byte, 1);
  }
}

void proto_put_number(text *out, uint32_t key, uint64_t value) {
  proto_put_varint(out, key);
  switch (key & 7) {
    case PROTO_FIXED64: put_fixed(out, value, 8); break;
    case PROTO_FIXED32: put_fixed(out, value, 4); break;
    default: proto_put_varint(out, value); break;
  }
}

void proto_put_bytes(text *out, uint32_t key, const void *bytes,
                     size_t length) {
  proto_put_varint(out, key);
  proto_put_varint(out, length);
  text_add(out, length ? bytes : "", length);
}

void proto_put_string(text *out, uint32_t key, const char *string) {
  proto_put_bytes(out, key, string, strlen(string));
}

void proto_put_message(text *out, uint32_t key, text *message) {
  proto_put_bytes(out, key, message->data, message->length);
  out->failed = out->failed || message->failed;
  text_free(message);
}
