/*
 * Which tensors of a subgraph are quantized alike.  Each quantization gets the
 * number of the first one with the same scales, zero points and, where there
 * are several scales, dimension.  They are found again in an open hash table,
 * since large files have thousands.
 */
#include <string.h>

#include "model/tflite_parts.h"

typedef struct scales {
  flat_vector scale, zero;
  int32_t dimension; /* 0 if one scale holds for the whole tensor */
} scales;

static scales read_scales(const flat_file *file, flat_table table) {
  scales s = {flat_vector_of(file, table, TFLITE_quantization_scale, 4),
              flat_vector_of(file, table, TFLITE_quantization_zero_point, 8),
              0};
  if (s.scale.count > 1)
    s.dimension =
        flat_i32(file, table, TFLITE_quantization_quantized_dimension, 0);
  return s;
}

static bool same_bytes(const flat_file *file, flat_vector a, flat_vector b,
                       size_t size) {
  return a.count == b.count &&
         (a.count == 0 || !memcmp(file->bytes + a.position,
                                  file->bytes + b.position, a.count * size));
}

static bool same_scales(const flat_file *file, const scales *a,
                        const scales *b) {
  return a->dimension == b->dimension &&
         same_bytes(file, a->scale, b->scale, 4) &&
         same_bytes(file, a->zero, b->zero, 8);
}

static uint64_t hash_scales(const flat_file *file, const scales *s) {
  const uint64_t parts[] = {
      hash_bytes(file->bytes + s->scale.position, s->scale.count * (size_t)4),
      hash_bytes(file->bytes + s->zero.position, s->zero.count * (size_t)8),
      (uint32_t)s->dimension};
  return hash_bytes(parts, sizeof parts);
}

bool tflite_quantization_is_plain(const flat_file *file, flat_table table) {
  return flat_u8(file, table, TFLITE_quantization_details_type, 0) == 0;
}

calm_status tflite_start_quantizations(tflite_reader *r, uint32_t tensors) {
  tflite_quantizations *q = &r->quantizations;
  uint64_t capacity = 1;
  while (capacity < 2 * (uint64_t)tensors) capacity *= 2;
  *q = (tflite_quantizations){.mask = capacity - 1};
  ARENA_ARRAY(&r->scratch, q->slots, capacity);
  return CALM_OK;
}

uint32_t tflite_number_quantization(tflite_reader *r, flat_table table) {
  tflite_quantizations *q = &r->quantizations;
  const flat_file *file = &r->file;
  const scales s = read_scales(file, table);
  if (!tflite_quantization_is_plain(file, table)) return ++q->count;
  if (s.scale.count == 0) return 0;
  uint64_t i = hash_scales(file, &s) & q->mask;
  for (; q->slots[i].number; i = (i + 1) & q->mask) {
    const scales other = read_scales(file, q->slots[i].table);
    if (same_scales(file, &s, &other)) return q->slots[i].number;
  }
  q->slots[i] = (tflite_quantization){table, ++q->count};
  return q->slots[i].number;
}
