#include "model/flatbuffer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

/*
 * Offsets lead forward only, so there are no cycles; but tables may share what
 * they point to, and shared vectors of shared tables would take exponential
 * time, and a reader that copies them exponential memory.  So each visit pays
 * for the bytes that a reader would look at, from a budget of a few times the
 * size of the file.
 */
enum { BUDGET_FACTOR = 16, BUDGET_BASE = 1 << 16, TABLE_PRICE = 16 };
enum { PLACE_BYTES = 256 };

typedef struct step {
  const char *noun; /* "operator" */
  uint32_t index;   /* CALM_NONE: not one of several */
} step;

typedef struct checker {
  const flat_file *file;
  const flat_schema *schema;
  uint64_t budget;
  uint64_t end;                        /* of all objects so far */
  uint32_t begin[FLAT_MAX_TABLES + 1]; /* rows of each table in the schema */
  step steps[FLAT_MAX_DEPTH];          /* from the root to the current table */
  unsigned depth;
  const char *field; /* of the current table, NULL: the table itself */
} checker;

calm_status flat_fail(const flat_file *file, size_t offset, const char *format,
                      ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return context_fail(file->context, CALM_BAD_INPUT, "%s: byte %zu: %s",
                      file->path, offset, what);
}

/* "subgraph 0, operator 12 'inputs'" */
static void describe_place(char place[PLACE_BYTES], const checker *c) {
  size_t used = 0;
  place[0] = '\0';
  for (unsigned i = 0; i < c->depth && used < PLACE_BYTES - 1; i++) {
    const step *s = &c->steps[i];
    const char *comma = i ? ", " : "";
    int length =
        s->index == CALM_NONE
            ? snprintf(place + used, PLACE_BYTES - used, "%s%s", comma, s->noun)
            : snprintf(place + used, PLACE_BYTES - used, "%s%s %u", comma,
                       s->noun, s->index);
    used += (size_t)length;
  }
  if (c->field && used < PLACE_BYTES - 1)
    snprintf(place + used, PLACE_BYTES - used, "%s'%s'", c->depth ? " " : "",
             c->field);
}

static calm_status fail_at(const checker *c, size_t offset, const char *format,
                           ...) PRINTF_LIKE(3, 4);

static calm_status fail_at(const checker *c, size_t offset, const char *format,
                           ...) {
  char what[160], place[PLACE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  describe_place(place, c);
  return flat_fail(c->file, offset, "%s (in %s)", what,
                   place[0] ? place : c->schema->nouns[0]);
}

static calm_status spend(checker *c, size_t offset, uint64_t bytes) {
  if (bytes > c->budget)
    return fail_at(c, offset, "objects overlap too often to be meant");
  c->budget -= bytes;
  return CALM_OK;
}

static void reach(checker *c, uint64_t end) {
  if (end > c->end) c->end = end;
}

/* Follow the offset at `position`, which lies inside the file. */
static calm_status resolve(size_t *out, checker *c, size_t position) {
  uint32_t distance = (uint32_t)flat_number(c->file, position, 4);
  uint64_t target = (uint64_t)position + distance;
  if (distance == 0)
    return fail_at(c, position, "an offset of 0 leads nowhere");
  if (!flat_holds(c->file, target, FLAT_OFFSET_BYTES))
    return fail_at(c, position,
                   "an offset leads to byte %llu, but the file ends at %zu",
                   (unsigned long long)target, c->file->length);
  *out = (size_t)target;
  return CALM_OK;
}

static calm_status check_vector(flat_vector *out, checker *c, size_t position,
                                uint32_t size) {
  size_t target;
  TRY(resolve(&target, c, position));
  uint32_t count = (uint32_t)flat_number(c->file, target, 4);
  size_t first = target + FLAT_OFFSET_BYTES;
  if (!flat_holds(c->file, first, (uint64_t)count * size))
    return fail_at(c, target,
                   "%u elements of %u bytes do not fit before byte %zu, where "
                   "the file ends",
                   count, size, c->file->length);
  reach(c, first + (uint64_t)count * size);
  *out = (flat_vector){first, count};
  return CALM_OK;
}

static calm_status check_vtable(checker *c, flat_table table) {
  const flat_file *file = c->file;
  int64_t vtable = flat_vtable(file, table);
  if (vtable < 0 || !flat_holds(file, (uint64_t)vtable, FLAT_VTABLE_HEADER))
    return fail_at(c, table, "the table's field list is outside the file");
  uint32_t size = (uint32_t)flat_number(file, (size_t)vtable, 2);
  uint32_t bytes = (uint32_t)flat_number(file, (size_t)vtable + 2, 2);
  if (size < FLAT_VTABLE_HEADER || size % FLAT_SLOT_BYTES ||
      !flat_holds(file, (uint64_t)vtable, size))
    return fail_at(c, (size_t)vtable,
                   "a field list of %u bytes does not hold together", size);
  if (bytes < FLAT_OFFSET_BYTES || !flat_holds(file, table, bytes))
    return fail_at(c, table, "a table of %u bytes does not fit before byte %zu",
                   bytes, file->length);
  reach(c, (uint64_t)vtable + size);
  reach(c, (uint64_t)table + bytes);
  return spend(c, table, TABLE_PRICE);
}

static calm_status check_table(checker *c, flat_table table, uint32_t kind);

/* Check a table one level down, where it is called `noun`. */
static calm_status check_child(checker *c, size_t position, uint32_t kind,
                               const char *noun, uint32_t index) {
  assert(c->depth < FLAT_MAX_DEPTH);
  const char *field = c->field;
  c->steps[c->depth++] = (step){noun, index};
  c->field = NULL;
  flat_table table;
  TRY(resolve(&table, c, position));
  TRY(check_table(c, table, kind));
  c->depth--;
  c->field = field;
  return CALM_OK;
}

static calm_status check_tables(checker *c, size_t position, uint32_t kind) {
  flat_vector v;
  TRY(check_vector(&v, c, position, FLAT_OFFSET_BYTES));
  for (uint32_t i = 0; i < v.count; i++)
    TRY(check_child(c, v.position + (size_t)i * FLAT_OFFSET_BYTES, kind,
                    c->schema->nouns[kind], i));
  return CALM_OK;
}

static calm_status check_scalars(checker *c, size_t position, uint32_t size,
                                 bool read) {
  flat_vector v;
  TRY(check_vector(&v, c, position, size));
  return read ? spend(c, v.position, (uint64_t)v.count * size) : CALM_OK;
}

static calm_status check_field(checker *c, flat_table table,
                               const flat_field *field) {
  unsigned size = field->kind == FLAT_SCALAR ? field->of : FLAT_OFFSET_BYTES;
  uint64_t place = flat_place(c->file, table, field->slot);
  if (!place) return CALM_OK;
  c->field = field->name;
  if (!flat_holds(c->file, place, size))
    return fail_at(c, table, "the file ends at byte %zu, before this field",
                   c->file->length);
  size_t position = (size_t)place;
  switch (field->kind) {
    case FLAT_SCALAR: return CALM_OK;
    case FLAT_STRING: return check_scalars(c, position, 1, true);
    case FLAT_BYTES: return check_scalars(c, position, 1, false);
    case FLAT_SCALARS: return check_scalars(c, position, field->of, true);
    case FLAT_TABLES: return check_tables(c, position, field->of);
    case FLAT_TABLE:
      return check_child(c, position, field->of, field->name, CALM_NONE);
    case FLAT_UNION: break;
  }
  uint8_t type = flat_u8(c->file, table, field->slot - 1u, 0);
  if (type == 0 || (field->type && field->type != type)) return CALM_OK;
  return check_child(c, position, field->of, field->name, CALM_NONE);
}

/* Recursion goes as deep as the schema, not as the file. */
static calm_status check_table(checker *c, flat_table table, uint32_t kind) {
  TRY(check_vtable(c, table));
  for (uint32_t i = c->begin[kind]; i < c->begin[kind + 1]; i++)
    TRY(check_field(c, table, &c->schema->fields[i]));
  c->field = NULL;
  return CALM_OK;
}

static void index_rows(checker *c) {
  uint32_t row = 0;
  for (uint32_t table = 0; table < c->schema->table_count; table++) {
    c->begin[table] = row;
    while (row < c->schema->field_count &&
           c->schema->fields[row].table == table)
      row++;
  }
  c->begin[c->schema->table_count] = row;
  assert(row == c->schema->field_count);
}

static calm_status check_file(checker *c) {
  const flat_file *file = c->file;
  assert(c->schema->table_count <= FLAT_MAX_TABLES);
  c->budget = (uint64_t)file->length * BUDGET_FACTOR + BUDGET_BASE;
  index_rows(c);
  if (!flat_holds(file, 0, FLAT_OFFSET_BYTES))
    return fail_at(c, 0, "the file ends at byte %zu, before its root",
                   file->length);
  flat_table root;
  TRY(resolve(&root, c, 0));
  return check_table(c, root, 0);
}

calm_status flat_check(const flat_file *file, const flat_schema *schema) {
  checker c = {file, schema, .depth = 0};
  return check_file(&c);
}

size_t flat_extent(const flat_file *file, const flat_schema *schema) {
  checker c = {file, schema, .depth = 0};
  return check_file(&c) == CALM_OK ? (size_t)c.end : file->length;
}
