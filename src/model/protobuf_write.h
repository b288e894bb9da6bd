/*
 * Protocol buffers, written field by field to the end of a text, which
 * remembers a failure.
 */
#ifndef CALM_MODEL_PROTOBUF_WRITE_H
#define CALM_MODEL_PROTOBUF_WRITE_H

#include "base/text.h"
#include "model/protobuf.h"

void proto_put_varint(text *out, uint64_t value);

/* A field by its key, which says its wire type. */
void proto_put_number(text *out, uint32_t key, uint64_t value);
void proto_put_bytes(text *out, uint32_t key, const void *bytes, size_t length);
void proto_put_string(text *out, uint32_t key, const char *string);

/* A message as a field; it is freed, and its failure is the outer one's. */
void proto_put_message(text *out, uint32_t key, text *message);

#endif
