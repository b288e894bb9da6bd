#include "model/flatbuffer_build.h"

#include <assert.h>
#include <string.h>

enum { WIDE = 8, SHARED_LISTS = 64 };

/* ---- Bytes --------------------------------------------------------------- */

static calm_status refuse_size(const flat_builder *b) {
  if (b->limit >= INT32_MAX)
    return context_fail(b->context, CALM_UNSUPPORTED,
                        "%s: the rewritten FlatBuffer would exceed 2 GiB",
                        b->path);
  return context_fail(b->context, CALM_UNSUPPORTED,
                      "%s: its objects overlap so often that a file in which "
                      "they do not would exceed %zu bytes",
                      b->path, b->limit);
}

static calm_status push(flat_builder *b, const void *bytes, size_t count) {
  if (count > b->limit || b->bytes.count > b->limit - count)
    return refuse_size(b);
  VECTOR_RESERVE(b->context, &b->bytes, count);
  if (count) memcpy(b->bytes.data + b->bytes.count, bytes, count);
  b->bytes.count += (uint32_t)count;
  return CALM_OK;
}

static calm_status push_zeros(flat_builder *b, size_t count) {
  if (count > b->limit || b->bytes.count > b->limit - count)
    return refuse_size(b);
  VECTOR_RESERVE(b->context, &b->bytes, count);
  if (count) memset(b->bytes.data + b->bytes.count, 0, count);
  b->bytes.count += (uint32_t)count;
  return CALM_OK;
}

static calm_status push_number(flat_builder *b, uint64_t number,
                               unsigned size) {
  uint8_t bytes[WIDE];
  for (unsigned i = 0; i < size; i++) bytes[i] = (uint8_t)(number >> 8 * i);
  return push(b, bytes, size);
}

/* What is `ahead` bytes further on is to lie at `phase` modulo `unit`. */
static calm_status align(flat_builder *b, size_t ahead, size_t unit,
                         size_t phase) {
  const size_t at = (b->bytes.count + ahead) % unit;
  return push_zeros(b, (phase + unit - at) % unit);
}

void flat_build_set(flat_builder *b, size_t place, uint64_t number,
                    unsigned size) {
  assert(place + size <= b->bytes.count);
  for (unsigned i = 0; i < size; i++)
    b->bytes.data[place + i] = (uint8_t)(number >> 8 * i);
}

static void point_here(flat_builder *b, size_t from) {
  flat_build_set(b, from, b->bytes.count - from, FLAT_OFFSET_BYTES);
}

calm_status flat_build_init(flat_builder *b, calm_context *context,
                            const char *path, size_t limit,
                            const char *identifier) {
  *b = (flat_builder){.context = context, .path = path};
  b->limit = limit < INT32_MAX ? limit : INT32_MAX;
  TRY(push_zeros(b, FLAT_OFFSET_BYTES));
  return push(b, identifier, 4);
}

void flat_build_free(flat_builder *b) {
  VECTOR_FREE(b->context, &b->bytes);
  VECTOR_FREE(b->context, &b->lists);
}

/* ---- Drafts -------------------------------------------------------------- */

void flat_draft_number(flat_draft *draft, unsigned slot, unsigned size,
                       uint64_t number, uint64_t absent) {
  assert(slot < FLAT_SLOTS);
  draft->values[slot] = (flat_value){0};
  if (number == absent) return;
  draft->values[slot] = (flat_value){.size = (uint8_t)size, .number = number};
}

void flat_draft_object(flat_draft *draft, unsigned slot, bool present) {
  assert(slot < FLAT_SLOTS);
  draft->values[slot] = (flat_value){0};
  if (present)
    draft->values[slot] =
        (flat_value){.size = FLAT_OFFSET_BYTES, .refers = true};
}

/* ---- Tables -------------------------------------------------------------- */

typedef struct field_list {
  uint8_t bytes[FLAT_VTABLE_HEADER + FLAT_SLOT_BYTES * FLAT_SLOTS];
  size_t length;
  unsigned distances[FLAT_SLOTS], table_bytes;
} field_list;

static void put_short(field_list *list, size_t at, unsigned value) {
  list->bytes[at] = (uint8_t)value;
  list->bytes[at + 1] = (uint8_t)(value >> 8);
}

/* Wide fields first, so that none needs padding in front of it. */
static void lay_out(field_list *list, const flat_draft *draft) {
  unsigned end = FLAT_OFFSET_BYTES, slots = 0;
  *list = (field_list){.length = 0};
  for (unsigned size = WIDE; size; size /= 2)
    for (unsigned slot = 0; slot < FLAT_SLOTS; slot++) {
      if (draft->values[slot].size != size) continue;
      list->distances[slot] = end;
      end += size;
      if (slot >= slots) slots = slot + 1;
    }
  list->length = FLAT_VTABLE_HEADER + FLAT_SLOT_BYTES * (size_t)slots;
  list->table_bytes = end;
  put_short(list, 0, (unsigned)list->length);
  put_short(list, 2, end);
  for (unsigned slot = 0; slot < slots; slot++)
    put_short(list, FLAT_VTABLE_HEADER + FLAT_SLOT_BYTES * (size_t)slot,
              list->distances[slot]);
}

/* The last few are looked through: files have few different ones. */
static bool find_list(size_t *out, const flat_builder *b,
                      const field_list *list) {
  uint32_t i = b->lists.count;
  for (unsigned tries = 0; i > 0 && tries < SHARED_LISTS; tries++) {
    *out = b->lists.data[--i];
    if (list->length <= b->bytes.count - *out &&
        !memcmp(b->bytes.data + *out, list->bytes, list->length))
      return true;
  }
  return false;
}

static calm_status place_list(size_t *out, flat_builder *b,
                              const field_list *list) {
  if (find_list(out, b, list)) return CALM_OK;
  TRY(align(b, 0, FLAT_OFFSET_BYTES, 0));
  *out = b->bytes.count;
  VECTOR_PUSH(b->context, &b->lists, b->bytes.count);
  return push(b, list->bytes, list->length);
}

static bool is_wide(const flat_draft *draft) {
  for (unsigned slot = 0; slot < FLAT_SLOTS; slot++)
    if (draft->values[slot].size == WIDE) return true;
  return false;
}

calm_status flat_build_table(flat_builder *b, size_t from, flat_draft *draft) {
  field_list list;
  size_t shared;
  lay_out(&list, draft);
  TRY(place_list(&shared, b, &list));
  TRY(align(b, FLAT_OFFSET_BYTES, is_wide(draft) ? WIDE : FLAT_OFFSET_BYTES,
            0));
  const size_t table = b->bytes.count;
  point_here(b, from);
  TRY(push_number(b, table - shared, FLAT_OFFSET_BYTES));
  TRY(push_zeros(b, list.table_bytes - FLAT_OFFSET_BYTES));
  for (unsigned slot = 0; slot < FLAT_SLOTS; slot++) {
    const flat_value *value = &draft->values[slot];
    if (!value->size) continue;
    draft->places[slot] = table + list.distances[slot];
    if (!value->refers)
      flat_build_set(b, draft->places[slot], value->number, value->size);
  }
  return CALM_OK;
}

/* ---- Vectors ------------------------------------------------------------- */

static calm_status begin_vector(flat_builder *b, size_t from, uint32_t count) {
  point_here(b, from);
  return push_number(b, count, FLAT_OFFSET_BYTES);
}

calm_status flat_build_numbers(flat_builder *b, size_t from, const void *bytes,
                               uint32_t count, unsigned size) {
  const size_t unit = size > FLAT_OFFSET_BYTES ? size : FLAT_OFFSET_BYTES;
  TRY(align(b, FLAT_OFFSET_BYTES, unit, 0));
  TRY(begin_vector(b, from, count));
  return push(b, bytes, (size_t)count * size);
}

calm_status flat_build_text(flat_builder *b, size_t from, const char *text,
                            size_t length) {
  if (length > UINT32_MAX) return refuse_size(b);
  TRY(align(b, 0, FLAT_OFFSET_BYTES, 0));
  TRY(begin_vector(b, from, (uint32_t)length));
  TRY(push(b, text, length));
  return push_zeros(b, 1);
}

calm_status flat_build_bytes(flat_builder *b, size_t from, const void *bytes,
                             uint32_t count, size_t phase) {
  phase -= phase % FLAT_OFFSET_BYTES;
  TRY(align(b, FLAT_OFFSET_BYTES, FLAT_PHASES, phase % FLAT_PHASES));
  TRY(begin_vector(b, from, count));
  return push(b, bytes, count);
}

calm_status flat_build_offsets(size_t *first, flat_builder *b, size_t from,
                               uint32_t count) {
  TRY(align(b, 0, FLAT_OFFSET_BYTES, 0));
  TRY(begin_vector(b, from, count));
  *first = b->bytes.count;
  return push_zeros(b, (size_t)count * FLAT_OFFSET_BYTES);
}
