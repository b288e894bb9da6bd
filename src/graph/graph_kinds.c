#include <string.h>

#include "base/number.h"
#include "graph/graph.h"

static const struct {
  const char *name;
  uint32_t bits;
} types[] = {
#define ELEMENT_TYPE(name, bits) {#name, bits},
#include "graph/types.def"
#undef ELEMENT_TYPE
    {"abstract", 0}};

static const struct {
  const char *name;
  int32_t tflite;
  unsigned flags;
} kinds[] = {
#define OP(name, tflite, flags) {#name, tflite, flags},
#include "graph/ops.def"
#undef OP
    {"opaque", -1, OP_PLAIN}};

const char *element_type_name(element_type type) { return types[type].name; }

uint32_t element_type_bits(element_type type) { return types[type].bits; }

element_type element_type_find(const char *name, size_t length) {
  for (element_type type = 0; type < ELEMENT_ABSTRACT; type++)
    if (strlen(types[type].name) == length &&
        !memcmp(types[type].name, name, length))
      return type;
  return ELEMENT_ABSTRACT;
}

const char *op_kind_name(op_kind kind) { return kinds[kind].name; }

unsigned op_kind_flags(op_kind kind) { return kinds[kind].flags; }

op_kind op_kind_find(const char *name) {
  for (op_kind kind = 0; kind < OP_OPAQUE; kind++)
    if (!strcmp(kinds[kind].name, name)) return kind;
  return OP_OPAQUE;
}

op_kind op_kind_from_tflite(int32_t builtin_code) {
  for (op_kind kind = 0; kind < OP_OPAQUE; kind++)
    if (builtin_code >= 0 && kinds[kind].tflite == builtin_code) return kind;
  return OP_OPAQUE;
}

static bool has_zero(const int64_t *dimensions, uint32_t rank) {
  for (uint32_t i = 0; i < rank; i++)
    if (dimensions[i] == 0) return true;
  return false;
}

/* A dimension of 0 makes the tensor empty however large the others are. */
static bool count_elements(uint64_t *out, const int64_t *dimensions,
                           uint32_t rank) {
  uint64_t elements = 1;
  bool empty = has_zero(dimensions, rank);
  for (uint32_t i = 0; i < rank; i++) {
    if (dimensions[i] < 0) return false;
    uint64_t factor = empty ? 0 : (uint64_t)dimensions[i];
    if (!number_multiply(&elements, elements, factor)) return false;
  }
  *out = elements;
  return true;
}

bool graph_bytes_of(uint64_t *out, element_type type, const int64_t *dimensions,
                    uint32_t rank) {
  uint64_t elements;
  uint32_t bits = element_type_bits(type);
  if (!count_elements(&elements, dimensions, rank)) return false;
  if (bits == 0 || bits >= 8) return number_multiply(out, elements, bits / 8);
  uint32_t per_byte = 8 / bits;
  *out = elements / per_byte + (elements % per_byte != 0);
  return true;
}
