/* Constants and attributes that say where to cut and how much to pad. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tile/tile_work.h"

enum { MOST_DIGITS = 21 };

static calm_status print_list(char **out, const int64_t *numbers,
                              uint32_t count, char between, arena *a) {
  const size_t room = (size_t)count * MOST_DIGITS + 1;
  size_t used = 0;
  char *list;
  ARENA_ARRAY(a, list, room);
  for (uint32_t i = 0; i < count; i++) {
    if (i) list[used++] = between;
    used += (size_t)snprintf(list + used, room - used, "%" PRId64, numbers[i]);
  }
  *out = list;
  return CALM_OK;
}

calm_status tile_list(const char **out, const int64_t *numbers, uint32_t count,
                      arena *a) {
  char *list;
  TRY(print_list(&list, numbers, count, ',', a));
  *out = list;
  return CALM_OK;
}

static uint32_t count_of(const int64_t *dimensions, uint32_t rank) {
  uint32_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= (uint32_t)dimensions[i];
  return count;
}

/* Little-endian, as wide as the format has them. */
static calm_status encode(uint8_t **out, const tile_maker *m,
                          const int64_t *numbers, uint32_t count) {
  const uint32_t width = m->options->pads ? 8 : 4;
  uint8_t *bytes;
  ARENA_ARRAY(m->a, bytes, (size_t)count * width);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t b = 0; b < width; b++)
      bytes[i * width + b] = (uint8_t)((uint64_t)numbers[i] >> 8 * b);
  *out = bytes;
  return CALM_OK;
}

static tensor_id find_equal(const tile_maker *m, const uint8_t *bytes,
                            size_t size, uint32_t rank) {
  for (uint32_t i = m->numbers.count; i-- > 0;) {
    const tensor_id t = m->numbers.data[i];
    const tile_made_tensor *made = &m->tensors.data[t - m->g->tensors.count];
    if (made->tensor.rank == rank && made->tensor.bytes == size &&
        !memcmp(made->descent.bytes, bytes, size))
      return t;
  }
  return CALM_NONE;
}

static calm_status name_numbers(const char **out, const tile_maker *m,
                                const char *base, const int64_t *numbers,
                                uint32_t count) {
  char *list, *name;
  TRY(print_list(&list, numbers, count, '-', m->a));
  const size_t room = strlen(base) + strlen(list) + 2;
  ARENA_ARRAY(m->a, name, room);
  snprintf(name, room, "%s/%s", base, list);
  *out = name;
  return CALM_OK;
}

calm_status tile_numbers(tensor_id *out, tile_maker *m, const char *base,
                         tensor_id from, const int64_t *numbers,
                         const int64_t *dimensions, uint32_t rank) {
  const uint32_t count = count_of(dimensions, rank);
  uint8_t *bytes;
  int64_t *own;
  tile_made_tensor made = {
      .tensor = {.rank = rank,
                 .type = m->options->pads ? ELEMENT_i64 : ELEMENT_i32,
                 .flags = CALM_TENSOR_CONST},
      .descent = {.from = from, .contents = EDIT_NUMBERS}};
  made.tensor.bytes = (uint64_t)count * (m->options->pads ? 8 : 4);
  TRY(encode(&bytes, m, numbers, count));
  *out = find_equal(m, bytes, made.tensor.bytes, rank);
  if (*out != CALM_NONE) return CALM_OK;
  ARENA_ARRAY(m->a, own, rank);
  memcpy(own, dimensions, rank * sizeof *own);
  made.tensor.dimensions = own;
  made.descent.bytes = bytes;
  TRY(name_numbers(&made.tensor.name, m, base, numbers, count));
  *out = m->g->tensors.count + m->tensors.count;
  VECTOR_PUSH(m->a->context, &m->tensors, made);
  VECTOR_PUSH(m->a->context, &m->numbers, *out);
  return CALM_OK;
}
