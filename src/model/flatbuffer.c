#include "model/flatbuffer.h"

#include <assert.h>

/*
 * A table begins with the signed distance back to its vtable.  The vtable has
 * its own size, the size of the table, and for each slot the distance of the
 * field from the table's beginning, 0 for a field that is not there:
 *
 *      vtable                          table
 *     | size | bytes | slot 0 | ...   | back | ... field ... |
 *       u16    u16     u16              i32
 *
 * Strings, vectors and tables are fields of 4 bytes: the distance from the
 * field to where the object begins, always forward.  A vector begins with its
 * count.
 */
bool flat_holds(const flat_file *file, uint64_t position, uint64_t bytes) {
  return position <= file->length && bytes <= file->length - position;
}

uint64_t flat_number(const flat_file *file, size_t position, unsigned size) {
  if (!flat_holds(file, position, size)) return 0;
  uint64_t value = 0;
  for (unsigned i = 0; i < size; i++)
    value |= (uint64_t)file->bytes[position + i] << (8 * i);
  return value;
}

static uint32_t u32_at(const flat_file *file, size_t position) {
  return (uint32_t)flat_number(file, position, 4);
}

static uint32_t u16_at(const flat_file *file, size_t position) {
  return (uint32_t)flat_number(file, position, 2);
}

flat_table flat_root(const flat_file *file) { return u32_at(file, 0); }

int64_t flat_vtable(const flat_file *file, flat_table table) {
  return (int64_t)table - (int32_t)u32_at(file, table);
}

uint64_t flat_place(const flat_file *file, flat_table table, unsigned slot) {
  int64_t vtable = table ? flat_vtable(file, table) : -1;
  if (vtable < 0) return 0;
  uint32_t entry = FLAT_VTABLE_HEADER + FLAT_SLOT_BYTES * slot;
  if (entry + FLAT_SLOT_BYTES > u16_at(file, (size_t)vtable)) return 0;
  uint32_t distance = u16_at(file, (size_t)vtable + entry);
  return distance ? (uint64_t)table + distance : 0;
}

/* Where a field of `size` bytes lies; 0 if it is not there. */
static size_t field_position(const flat_file *file, flat_table table,
                             unsigned slot, unsigned size) {
  uint64_t place = flat_place(file, table, slot);
  return flat_holds(file, place, size) ? (size_t)place : 0;
}

static uint64_t scalar(const flat_file *file, flat_table table, unsigned slot,
                       unsigned size, uint64_t absent) {
  size_t position = field_position(file, table, slot, size);
  return position ? flat_number(file, position, size) : absent;
}

uint8_t flat_u8(const flat_file *file, flat_table table, unsigned slot,
                uint8_t absent) {
  return (uint8_t)scalar(file, table, slot, 1, absent);
}

int8_t flat_i8(const flat_file *file, flat_table table, unsigned slot,
               int8_t absent) {
  return (int8_t)scalar(file, table, slot, 1, (uint8_t)absent);
}

uint32_t flat_u32(const flat_file *file, flat_table table, unsigned slot,
                  uint32_t absent) {
  return (uint32_t)scalar(file, table, slot, 4, absent);
}

int32_t flat_i32(const flat_file *file, flat_table table, unsigned slot,
                 int32_t absent) {
  return (int32_t)scalar(file, table, slot, 4, (uint32_t)absent);
}

uint64_t flat_u64(const flat_file *file, flat_table table, unsigned slot,
                  uint64_t absent) {
  return scalar(file, table, slot, 8, absent);
}

/* Where the object lies that the offset at `position` leads to; 0 if that is
   outside the file. */
static size_t follow(const flat_file *file, size_t position) {
  uint64_t target = (uint64_t)position + u32_at(file, position);
  return position && target != position &&
                 flat_holds(file, target, FLAT_OFFSET_BYTES)
             ? (size_t)target
             : 0;
}

flat_table flat_table_of(const flat_file *file, flat_table table,
                         unsigned slot) {
  return follow(file, field_position(file, table, slot, FLAT_OFFSET_BYTES));
}

flat_vector flat_vector_of(const flat_file *file, flat_table table,
                           unsigned slot, uint32_t size) {
  size_t target = flat_table_of(file, table, slot);
  if (!target) return (flat_vector){0, 0};
  size_t position = target + FLAT_OFFSET_BYTES;
  uint64_t room = (file->length - position) / size;
  uint32_t count = u32_at(file, target);
  return (flat_vector){position, count < room ? count : (uint32_t)room};
}

flat_string flat_string_of(const flat_file *file, flat_table table,
                           unsigned slot) {
  flat_vector bytes = flat_vector_of(file, table, slot, 1);
  if (!bytes.position) return (flat_string){NULL, 0};
  return (flat_string){(const char *)file->bytes + bytes.position, bytes.count};
}

flat_table flat_table_at(const flat_file *file, flat_vector vector,
                         uint32_t i) {
  assert(i < vector.count);
  return follow(file, vector.position + (size_t)i * FLAT_OFFSET_BYTES);
}

int32_t flat_i32_at(const flat_file *file, flat_vector vector, uint32_t i) {
  assert(i < vector.count);
  return (int32_t)u32_at(file, vector.position + (size_t)i * 4);
}
