/*
 * Offsets in a FlatBuffer lead forward only, so nothing can be added behind a
 * file that shall refer to what is in it; but in front of it:
 *
 *     | root | TFL3 | model | vectors | entries, names, buffers, data | old
 * file |       |              prefix                 ^  ^
 *                       `-------`-------------------------------------'--'
 *
 * The old root and the two old vectors stay where they are, and nobody refers
 * to them any more.
 */
#include <string.h>

#include "base/number.h"
#include "model/tflite_write.h"

enum { ALIGN = 16, MAX_SLOTS = 64, WIDE = 8 };

/* An offset at `at` in the prefix that leads to `target` in the old file. */
typedef struct link {
  size_t at, target;
} link;

typedef struct builder {
  tflite_writer *w;
  VECTOR(uint8_t) bytes;
  VECTOR(link) links;
} builder;

/* ---- Bytes --------------------------------------------------------------- */

static calm_status push(builder *b, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; i++)
    VECTOR_PUSH(b->w->model->context, &b->bytes, (uint8_t)(value >> 8 * i));
  return CALM_OK;
}

static calm_status push_zeros(builder *b, uint64_t count) {
  while (count--) TRY(push(b, 0, 1));
  return CALM_OK;
}

static calm_status align(builder *b, unsigned unit) {
  while (b->bytes.count % unit) TRY(push(b, 0, 1));
  return CALM_OK;
}

static void set_number(builder *b, size_t at, uint64_t value) {
  for (unsigned i = 0; i < 4; i++)
    b->bytes.data[at + i] = (uint8_t)(value >> 8 * i);
}

/* Let the offset at `at` lead to what comes next. */
static void point_here(builder *b, size_t at) {
  set_number(b, at, b->bytes.count - at);
}

static calm_status push_link(builder *b, size_t target) {
  VECTOR_PUSH(b->w->model->context, &b->links, (link){b->bytes.count, target});
  return push(b, 0, 4);
}

/* ---- The model table ----------------------------------------------------- */

/* One field of the old model table. */
typedef struct field {
  size_t place;      /* 0: not there */
  unsigned distance; /* from the beginning of the new table */
  unsigned size;     /* 4 or 8 */
  bool offset;
} field;

/* Bytes from a field to the next one, or to the end of the table. */
static unsigned room_of(const flat_file *file, flat_table root, size_t place,
                        unsigned slots) {
  const size_t vtable = (size_t)flat_vtable(file, root);
  size_t end = root + (size_t)flat_number(file, vtable + 2, 2);
  for (unsigned slot = 0; slot < slots; slot++) {
    const uint64_t other = flat_place(file, root, slot);
    if (other > place && other < end) end = (size_t)other;
  }
  return end > place ? (unsigned)(end - place) : 0;
}

/*
 * Newer writers may add fields to the model table of which only the place is
 * known.  A number has no reason to lead to a list that fits into the file, far
 * enough to be outside the table; what does is taken for an offset.
 */
static bool looks_like_offset(const flat_file *file, flat_table root,
                              size_t place) {
  const uint64_t distance = flat_number(file, place, 4);
  const uint64_t target = place + distance;
  const size_t vtable = (size_t)flat_vtable(file, root);
  const uint64_t end = root + flat_number(file, vtable + 2, 2);
  if (target < end || target % 4 || !flat_holds(file, target, 4)) return false;
  const uint32_t count = (uint32_t)flat_number(file, (size_t)target, 4);
  const int64_t its_vtable = flat_vtable(file, (size_t)target);
  return flat_holds(file, target + 4, count) ||
         (its_vtable > 0 &&
          flat_holds(file, (uint64_t)its_vtable, FLAT_VTABLE_HEADER));
}

static field old_field(const builder *b, unsigned slot, unsigned slots) {
  const flat_file *file = &b->w->tables.file;
  const flat_table root = b->w->tables.root;
  field f = {.place = (size_t)flat_place(file, root, slot), .size = 4};
  if (!f.place) return f;
  f.offset = slot != TFLITE_model_version;
  if (slot <= TFLITE_model_external_buffers) return f;
  const unsigned room = room_of(file, root, f.place, slots);
  f.offset =
      room >= FLAT_OFFSET_BYTES && looks_like_offset(file, root, f.place);
  if (!f.offset && room >= WIDE) f.size = WIDE;
  context_log(file->context, CALM_LOG_WARNING,
              "%s: the model has a field %u that this version does not know; "
              "it is kept, as %s",
              file->path, slot,
              f.offset ? "a reference to what it leads to" : "a number");
  return f;
}

static unsigned count_slots(const builder *b) {
  const flat_file *file = &b->w->tables.file;
  const size_t vtable = (size_t)flat_vtable(file, b->w->tables.root);
  const unsigned slots =
      ((unsigned)flat_number(file, vtable, 2) - FLAT_VTABLE_HEADER) /
      FLAT_SLOT_BYTES;
  return slots > TFLITE_model_metadata ? slots : TFLITE_model_metadata + 1;
}

static bool is_replaced(unsigned slot) {
  return slot == TFLITE_model_buffers || slot == TFLITE_model_metadata;
}

static calm_status push_vtable(builder *b, field *fields, unsigned slots) {
  unsigned end = FLAT_OFFSET_BYTES;
  for (unsigned slot = 0; slot < slots; slot++) {
    field *f = &fields[slot];
    if (!f->place && !is_replaced(slot)) continue;
    if (f->size == WIDE) end = (end + WIDE - 1) / WIDE * WIDE;
    f->distance = end;
    end += f->size;
  }
  TRY(push(b, FLAT_VTABLE_HEADER + FLAT_SLOT_BYTES * slots, 2));
  TRY(push(b, end, 2));
  for (unsigned slot = 0; slot < slots; slot++)
    TRY(push(b, fields[slot].distance, FLAT_SLOT_BYTES));
  return align(b, WIDE);
}

static calm_status push_field(builder *b, size_t table, const field *f) {
  while (b->bytes.count < table + f->distance) TRY(push(b, 0, 1));
  const flat_file *file = &b->w->tables.file;
  const uint64_t value = flat_number(file, f->place, f->size);
  return f->offset ? push_link(b, f->place + (size_t)value)
                   : push(b, value, f->size);
}

/* Yields where the offsets to the new vectors of buffers and metadata are. */
static calm_status push_model(builder *b, size_t *buffers, size_t *metadata) {
  const unsigned slots = count_slots(b);
  field fields[MAX_SLOTS];
  if (slots > MAX_SLOTS)
    return context_fail(b->w->model->context, CALM_UNSUPPORTED,
                        "%s: the model table has %u fields, of which this "
                        "version knows 10",
                        b->w->model->path, slots);
  for (unsigned slot = 0; slot < slots; slot++)
    fields[slot] =
        is_replaced(slot) ? (field){.size = 4} : old_field(b, slot, slots);
  const size_t vtable = b->bytes.count;
  TRY(push_vtable(b, fields, slots));
  const size_t table = b->bytes.count;
  point_here(b, 0);
  TRY(push(b, table - vtable, 4));
  for (unsigned slot = 0; slot < slots; slot++) {
    if (slot == TFLITE_model_buffers) *buffers = b->bytes.count;
    if (slot == TFLITE_model_metadata) *metadata = b->bytes.count;
    if (is_replaced(slot))
      TRY(push(b, 0, 4));
    else if (fields[slot].place)
      TRY(push_field(b, table, &fields[slot]));
  }
  return CALM_OK;
}

/* ---- Vectors ------------------------------------------------------------- */

static calm_status push_old_element(builder *b, flat_vector v, uint32_t i) {
  return push_link(b, flat_table_at(&b->w->tables.file, v, i));
}

/* Yields where the offset to the first new entry is. */
static calm_status push_metadata(builder *b, size_t *first) {
  const tflite_writer *w = b->w;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < w->metadata.count; i++) kept += !w->dropped[i];
  TRY(push(b, kept + w->added.count, 4));
  for (uint32_t i = 0; i < w->metadata.count; i++)
    if (!w->dropped[i]) TRY(push_old_element(b, w->metadata, i));
  *first = b->bytes.count;
  return push_zeros(b, 4 * (uint64_t)w->added.count);
}

/* Buffer 0 stands for no data, and is made if the file has no buffers. */
static bool lacks_first_buffer(const tflite_writer *w) {
  return w->tables.buffers.count == 0;
}

static calm_status push_buffers(builder *b, size_t *first) {
  const tflite_writer *w = b->w;
  const flat_vector old = w->tables.buffers;
  const uint32_t added = w->added.count + lacks_first_buffer(w);
  TRY(push(b, (uint64_t)old.count + added, 4));
  for (uint32_t i = 0; i < old.count; i++) TRY(push_old_element(b, old, i));
  *first = b->bytes.count;
  return push_zeros(b, 4 * (uint64_t)added);
}

/* ---- New entries and their data ------------------------------------------ */

static calm_status push_entry(builder *b, size_t from, uint32_t buffer,
                              const char *name) {
  enum { VTABLE = 8, TABLE = 12 };
  const size_t length = strlen(name);
  TRY(align(b, 4));
  TRY(push(b, VTABLE | TABLE << 16, 4));
  TRY(push(b, 4 | 8 << 16, 4));
  point_here(b, from);
  TRY(push(b, VTABLE, 4));
  const size_t text = b->bytes.count;
  TRY(push(b, 0, 4));
  TRY(push(b, buffer, 4));
  point_here(b, text);
  TRY(push(b, length, 4));
  for (size_t i = 0; i <= length; i++) TRY(push(b, (uint8_t)name[i], 1));
  return CALM_OK;
}

static calm_status push_empty_buffer(builder *b, size_t from) {
  enum { VTABLE = 4, TABLE = 4 };
  TRY(align(b, 4));
  TRY(push(b, VTABLE | TABLE << 16, 4));
  point_here(b, from);
  return push(b, VTABLE, 4);
}

/* The data begin at a multiple of 16, as the schema asks. */
static calm_status push_buffer(builder *b, size_t from,
                               const tflite_entry *entry) {
  enum { VTABLE = 6, TABLE = 8 };
  TRY(align(b, 4));
  TRY(push(b, 0, 2));
  TRY(push(b, VTABLE | TABLE << 16, 4));
  TRY(push(b, 4, 2));
  point_here(b, from);
  TRY(push(b, VTABLE, 4));
  const size_t data = b->bytes.count;
  TRY(push(b, 0, 4));
  while ((b->bytes.count + 4) % ALIGN) TRY(push(b, 0, 1));
  point_here(b, data);
  TRY(push(b, entry->length, 4));
  for (size_t i = 0; i < entry->length; i++) TRY(push(b, entry->bytes[i], 1));
  return CALM_OK;
}

static calm_status push_added(builder *b, size_t entries, size_t buffers) {
  const tflite_writer *w = b->w;
  uint32_t index = w->tables.buffers.count;
  if (lacks_first_buffer(w)) {
    TRY(push_empty_buffer(b, buffers));
    buffers += 4;
    index++;
  }
  for (uint32_t i = 0; i < w->added.count; i++) {
    TRY(push_entry(b, entries + 4 * (size_t)i, index + i,
                   w->added.data[i].name));
    TRY(push_buffer(b, buffers + 4 * (size_t)i, &w->added.data[i]));
  }
  return align(b, ALIGN);
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status resolve_links(builder *b) {
  for (uint32_t i = 0; i < b->links.count; i++) {
    const link *l = &b->links.data[i];
    const uint64_t distance = b->bytes.count + l->target - l->at;
    if (distance > INT32_MAX)
      return context_fail(b->w->model->context, CALM_UNSUPPORTED,
                          "%s: the FlatBuffer would exceed 2 GiB",
                          b->w->model->path);
    set_number(b, l->at, distance);
  }
  return CALM_OK;
}

static calm_status build(builder *b) {
  size_t buffers = 0, metadata = 0, first_entry, first_buffer;
  TRY(push(b, 0, 4));
  for (const char *c = "TFL3"; *c; c++) TRY(push(b, (uint8_t)*c, 1));
  TRY(push_model(b, &buffers, &metadata));
  TRY(align(b, 4));
  point_here(b, metadata);
  TRY(push_metadata(b, &first_entry));
  point_here(b, buffers);
  TRY(push_buffers(b, &first_buffer));
  TRY(push_added(b, first_entry, first_buffer));
  return resolve_links(b);
}

/* A place counted from the beginning of the file; 0 and 1 mean none. */
static calm_status shift(tflite_writer *w, flat_table table, unsigned slot) {
  const flat_file *file = &w->tables.file;
  const uint64_t place = flat_u64(file, table, slot, 0);
  if (place <= 1) return CALM_OK;
  return tflite_edit_number(w, (size_t)flat_place(file, table, slot),
                            place + w->prefix_length, 8);
}

static calm_status shift_places(tflite_writer *w) {
  const flat_file *file = &w->tables.file;
  const flat_vector buffers = w->tables.buffers;
  for (uint32_t i = 0; i < buffers.count; i++)
    TRY(shift(w, flat_table_at(file, buffers, i), TFLITE_buffer_offset));
  for (uint32_t i = 0; i < w->tables.subgraphs.count; i++) {
    const flat_vector ops =
        flat_vector_of(file, flat_table_at(file, w->tables.subgraphs, i),
                       TFLITE_subgraph_operators, 4);
    for (uint32_t u = 0; u < ops.count; u++)
      TRY(shift(w, flat_table_at(file, ops, u),
                TFLITE_operator_large_custom_options_offset));
  }
  return CALM_OK;
}

static calm_status keep_bytes(const builder *b) {
  uint8_t *copy;
  ARENA_ARRAY(b->w->a, copy, b->bytes.count);
  memcpy(copy, b->bytes.data, b->bytes.count);
  b->w->prefix = copy;
  b->w->prefix_length = b->bytes.count;
  return CALM_OK;
}

calm_status tflite_build_prefix(tflite_writer *w) {
  builder b = {.w = w};
  calm_status status = build(&b);
  if (status == CALM_OK) status = keep_bytes(&b);
  VECTOR_FREE(w->model->context, &b.bytes);
  VECTOR_FREE(w->model->context, &b.links);
  return status == CALM_OK ? shift_places(w) : status;
}
