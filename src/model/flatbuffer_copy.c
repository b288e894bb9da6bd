/*
 * Copies of tables between FlatBuffers.  The schema says which slots lead to
 * other objects, and to what; slots that only newer writers know are copied if
 * their content cannot be a reference, for then it has to be a number.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/flatbuffer_build.h"

enum { WIDE = 8 };

static calm_status refuse(const flat_copier *c, size_t at, const char *format,
                          ...) PRINTF_LIKE(3, 4);

static calm_status refuse(const flat_copier *c, size_t at, const char *format,
                          ...) {
  char what[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return context_fail(c->from->context, CALM_UNSUPPORTED,
                      "%s: byte %zu: %s (in %s)", c->from->path, at, what,
                      c->whose[0] ? c->whose : "model");
}

/* ---- What the schema says ------------------------------------------------ */

/* The row of a slot that is no union. */
static const flat_field *find_row(const flat_schema *schema, uint32_t table,
                                  unsigned slot) {
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const flat_field *row = &schema->fields[i];
    if (row->table == table && row->slot == slot) return row;
  }
  return NULL;
}

flat_kind_of flat_union_kind(const flat_copier *c, uint32_t table,
                             unsigned slot, uint8_t type) {
  const flat_schema *schema = c->schema;
  flat_kind_of kind = {UINT32_MAX, NULL};
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const flat_field *row = &schema->fields[i];
    if (row->table != table || row->slot != slot) continue;
    if (row->type == type || (row->type == 0 && kind.table == UINT32_MAX))
      kind.table = row->of;
  }
  for (uint32_t i = 0; i < schema->plain_count; i++) {
    const flat_plain *row = &schema->plain[i];
    if (row->table == table && row->slot == slot && row->type == type)
      kind.widths = row->widths;
  }
  return kind;
}

/* ---- One field ----------------------------------------------------------- */

typedef struct old_table {
  flat_table table;
  size_t fields, end; /* its list of fields; where the table ends */
  unsigned slots;
} old_table;

static old_table find_table(const flat_file *file, flat_table table) {
  const size_t fields = (size_t)flat_vtable(file, table);
  const unsigned length = (unsigned)flat_number(file, fields, 2);
  return (old_table){table, fields,
                     table + (size_t)flat_number(file, fields + 2, 2),
                     (length - FLAT_VTABLE_HEADER) / FLAT_SLOT_BYTES};
}

/* Bytes from a field to the next one, or to the end of its table. */
static size_t room_of(const flat_file *file, const old_table *t, size_t place) {
  size_t end = t->end;
  for (unsigned slot = 0; slot < t->slots; slot++) {
    const size_t other = (size_t)flat_place(file, t->table, slot);
    if (other > place && other < end) end = other;
  }
  return end > place ? end - place : 0;
}

/* Objects lie behind the table, where a multiple of 4 is. */
static bool may_refer(const flat_file *file, const old_table *t, size_t place,
                      size_t room) {
  const uint64_t distance = flat_number(file, place, FLAT_OFFSET_BYTES);
  const uint64_t target = place + distance;
  return room >= FLAT_OFFSET_BYTES && distance > 0 && target >= t->end &&
         target % FLAT_OFFSET_BYTES == 0 &&
         flat_holds(file, target, FLAT_OFFSET_BYTES);
}

static flat_value load_number(const flat_file *file, size_t place,
                              unsigned size) {
  return (flat_value){.size = (uint8_t)size,
                      .number = flat_number(file, place, size)};
}

/* A number of unknown width takes all bytes up to what comes next. */
static flat_value load_unknown(const flat_file *file, size_t place,
                               size_t room) {
  flat_value value = {.size = WIDE};
  if (room > WIDE) room = WIDE;
  while (value.size / 2u >= room) value.size /= 2;
  value.number = flat_number(file, place, (unsigned)room);
  return value;
}

static flat_value load_known(const flat_file *file, flat_table table,
                             const flat_field *row, size_t place) {
  if (row->kind == FLAT_SCALAR) return load_number(file, place, row->of);
  flat_value value = {.size = FLAT_OFFSET_BYTES, .refers = true};
  value.old = flat_table_of(file, table, row->slot);
  const bool nothing =
      row->kind == FLAT_UNION && !flat_u8(file, table, row->slot - 1u, 0);
  return nothing || !value.old ? (flat_value){0} : value;
}

/* The width of a number without a row; 0: it is not known. */
static unsigned width_of(flat_kind_of kind, unsigned slot) {
  if (!kind.widths || slot >= strlen(kind.widths)) return 0;
  return (unsigned)(kind.widths[slot] - '0');
}

static calm_status load_slot(flat_value *out, const flat_copier *c,
                             const old_table *t, flat_kind_of kind,
                             unsigned slot) {
  const flat_file *file = c->from;
  const size_t place = (size_t)flat_place(file, t->table, slot);
  const flat_field *row = find_row(c->schema, kind.table, slot);
  const size_t room = room_of(file, t, place);
  const unsigned width = width_of(kind, slot);
  if (place < t->table + FLAT_OFFSET_BYTES || room == 0)
    return refuse(c, t->table, "field %u lies outside its table", slot);
  if (row)
    *out = load_known(file, t->table, row, place);
  else if (width)
    *out = load_number(file, place, width);
  else if (may_refer(file, t, place, room))
    return refuse(c, place,
                  "field %u is not known to this version and may refer to "
                  "something",
                  slot);
  else
    *out = load_unknown(file, place, room);
  if (out->size <= room || (!row && !width)) return CALM_OK;
  return refuse(c, place, "field %u overlaps another one", slot);
}

/* Two fields in one place would become two. */
static calm_status check_places(const flat_copier *c, const old_table *t) {
  for (unsigned i = 0; i < t->slots; i++) {
    const uint64_t place = flat_place(c->from, t->table, i);
    for (unsigned j = 0; place && j < i; j++)
      if (flat_place(c->from, t->table, j) == place)
        return refuse(c, (size_t)place, "fields %u and %u are one", j, i);
  }
  return CALM_OK;
}

calm_status flat_load(flat_draft *out, const flat_copier *c, flat_table table,
                      flat_kind_of kind) {
  const old_table t = find_table(c->from, table);
  *out = (flat_draft){0};
  if (t.slots > FLAT_SLOTS)
    return refuse(c, table, "a table has %u fields, at most %d are known",
                  t.slots, FLAT_SLOTS);
  TRY(check_places(c, &t));
  for (unsigned slot = 0; slot < t.slots; slot++)
    if (flat_place(c->from, table, slot))
      TRY(load_slot(&out->values[slot], c, &t, kind, slot));
  return CALM_OK;
}

/* ---- What it refers to --------------------------------------------------- */

static flat_vector vector_at(const flat_file *file, size_t object) {
  return (flat_vector){object + FLAT_OFFSET_BYTES,
                       (uint32_t)flat_number(file, object, 4)};
}

static calm_status copy_tables(const flat_copier *c, size_t from, size_t object,
                               flat_kind_of kind) {
  const flat_vector v = vector_at(c->from, object);
  size_t first;
  TRY(flat_build_offsets(&first, c->to, from, v.count));
  for (uint32_t i = 0; i < v.count; i++)
    TRY(flat_copy(c, first + (size_t)i * FLAT_OFFSET_BYTES,
                  flat_table_at(c->from, v, i), kind));
  return CALM_OK;
}

static calm_status copy_object(const flat_copier *c, size_t from, size_t object,
                               const flat_field *row, uint8_t type) {
  const flat_vector v = vector_at(c->from, object);
  const uint8_t *bytes = c->from->bytes + v.position;
  const flat_kind_of kind = {row->of, NULL};
  switch (row->kind) {
    case FLAT_SCALAR: break;
    case FLAT_STRING:
      return flat_build_text(c->to, from, (const char *)bytes, v.count);
    case FLAT_BYTES:
      return flat_build_bytes(c->to, from, bytes, v.count, v.position);
    case FLAT_SCALARS:
      return flat_build_numbers(c->to, from, bytes, v.count, row->of);
    case FLAT_TABLE: return flat_copy(c, from, object, kind);
    case FLAT_TABLES: return copy_tables(c, from, object, kind);
    case FLAT_UNION:
      return flat_copy(c, from, object,
                       flat_union_kind(c, row->table, row->slot, type));
  }
  return CALM_OK;
}

calm_status flat_copy_slot(const flat_copier *c, const flat_draft *draft,
                           uint32_t table, unsigned slot) {
  const flat_value *value = &draft->values[slot];
  const flat_field *row = find_row(c->schema, table, slot);
  if (!value->refers || !value->old || !row) return CALM_OK;
  const uint8_t type = slot ? (uint8_t)draft->values[slot - 1].number : 0;
  return copy_object(c, draft->places[slot], value->old, row, type);
}

calm_status flat_copy_slots(const flat_copier *c, const flat_draft *draft,
                            uint32_t table) {
  for (unsigned slot = 0; slot < FLAT_SLOTS; slot++)
    TRY(flat_copy_slot(c, draft, table, slot));
  return CALM_OK;
}

/* Recursion goes as deep as the schema. */
calm_status flat_copy(const flat_copier *c, size_t from, flat_table table,
                      flat_kind_of kind) {
  flat_draft draft;
  if (kind.table == UINT32_MAX)
    return refuse(c, table, "a table of a kind that is not known");
  TRY(flat_load(&draft, c, table, kind));
  if (c->adjust) TRY(c->adjust(c->payload, kind.table, &draft));
  TRY(flat_build_table(c->to, from, &draft));
  return flat_copy_slots(c, &draft, kind.table);
}
