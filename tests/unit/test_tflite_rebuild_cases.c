/* Rebuilding public .tflite files with nothing changed: every table of the new
   file says what its old one said. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "cases.h"
#include "edited.h"
#include "model/flatbuffer_build.h"
#include "model/tflite_parts.h"
#include "tflite_builder.h"

/* ---- Two files, table by table ------------------------------------------- */

typedef struct both {
  flat_copier old, now; /* nothing is copied */
  flat_file old_file, now_file;
} both;

static bool same_table(const both *b, flat_table x, flat_table y,
                       flat_kind_of kind);

static bool same_bytes(const flat_file *f, flat_vector x, const flat_file *g,
                       flat_vector y, size_t size) {
  return x.count == y.count &&
         (x.count == 0 || !memcmp(f->bytes + x.position, g->bytes + y.position,
                                  x.count * size));
}

static tflite_bytes contents(const flat_file *f, uint32_t buffer) {
  tflite_reader r = {.file = *f};
  tflite_find_tables(&r);
  return tflite_buffer(&r, buffer);
}

/* Buffers have other numbers, but the same bytes. */
static bool same_buffer(const both *b, uint64_t x, uint64_t y) {
  const tflite_bytes p = contents(&b->old_file, (uint32_t)x);
  const tflite_bytes q = contents(&b->now_file, (uint32_t)y);
  return p.size == q.size &&
         !memcmp(b->old_file.bytes + p.position, b->now_file.bytes + q.position,
                 (size_t)p.size);
}

static bool same_tables(const both *b, flat_vector x, flat_vector y,
                        uint32_t kind) {
  if (x.count != y.count) return false;
  for (uint32_t i = 0; i < x.count; i++)
    if (!same_table(b, flat_table_at(&b->old_file, x, i),
                    flat_table_at(&b->now_file, y, i),
                    (flat_kind_of){kind, NULL}))
      return false;
  return true;
}

static bool same_object(const both *b, const flat_field *row, flat_table x,
                        flat_table y, uint8_t type) {
  const flat_file *f = &b->old_file, *g = &b->now_file;
  const unsigned slot = row->slot;
  const unsigned size = row->kind == FLAT_SCALARS  ? row->of
                        : row->kind == FLAT_TABLES ? 4u
                                                   : 1u;
  const flat_vector p = flat_vector_of(f, x, slot, size);
  const flat_vector q = flat_vector_of(g, y, slot, size);
  const flat_table child = flat_table_of(f, x, slot);
  const flat_table new_child = flat_table_of(g, y, slot);
  if (row->kind == FLAT_TABLES) return same_tables(b, p, q, row->of);
  if (row->kind == FLAT_TABLE)
    return same_table(b, child, new_child, (flat_kind_of){row->of, NULL});
  if (row->kind == FLAT_UNION)
    return same_table(b, child, new_child,
                      flat_union_kind(&b->old, row->table, slot, type));
  return same_bytes(f, p, g, q, size);
}

/* What is compared by its meaning, or goes. */
static bool is_skipped(uint32_t kind, unsigned slot) {
  return kind == TFLITE_TABLE_model &&
         (slot == TFLITE_model_buffers || slot == TFLITE_model_metadata);
}

static const flat_field *find_row(const both *b, uint32_t kind, unsigned slot) {
  const flat_schema *schema = b->old.schema;
  for (uint32_t i = 0; i < schema->field_count; i++)
    if (schema->fields[i].table == kind && schema->fields[i].slot == slot)
      return &schema->fields[i];
  return NULL;
}

static bool same_slot(const both *b, const flat_draft *p, const flat_draft *q,
                      flat_table x, flat_table y, const flat_kind_of *kind,
                      unsigned slot) {
  const flat_value *v = &p->values[slot], *w = &q->values[slot];
  const bool names_buffer =
      (kind->table == TFLITE_TABLE_tensor && slot == TFLITE_tensor_buffer) ||
      (kind->table == TFLITE_TABLE_metadata && slot == TFLITE_metadata_buffer);
  if (names_buffer) return same_buffer(b, v->number, w->number);
  if (v->refers != w->refers) return false;
  if (!v->refers) return v->number == w->number;
  return same_object(b, find_row(b, kind->table, slot), x, y,
                     slot ? (uint8_t)p->values[slot - 1].number : 0);
}

static bool same_table(const both *b, flat_table x, flat_table y,
                       flat_kind_of kind) {
  flat_draft p, q;
  if (!x || !y || flat_load(&p, &b->old, x, kind) ||
      flat_load(&q, &b->now, y, kind))
    return false;
  for (unsigned slot = 0; slot < FLAT_SLOTS; slot++)
    if (!is_skipped(kind.table, slot) &&
        !same_slot(b, &p, &q, x, y, &kind, slot)) {
      print_message("%s, field %u differs\n", b->old.schema->nouns[kind.table],
                    slot);
      return false;
    }
  return true;
}

/* Entries of metadata but for the offline plan. */
static bool same_metadata(const both *b) {
  const flat_file *f = &b->old_file, *g = &b->now_file;
  const flat_vector p =
      flat_vector_of(f, flat_root(f), TFLITE_model_metadata, 4);
  const flat_vector q =
      flat_vector_of(g, flat_root(g), TFLITE_model_metadata, 4);
  uint32_t next = 0;
  for (uint32_t i = 0; i < p.count; i++) {
    const flat_table x = flat_table_at(f, p, i);
    if (tflite_is_called(flat_string_of(f, x, TFLITE_metadata_name),
                         TFLITE_PLAN_NAME))
      continue;
    if (next == q.count ||
        !same_table(b, x, flat_table_at(g, q, next++),
                    (flat_kind_of){TFLITE_TABLE_metadata, NULL}))
      return false;
  }
  return next == q.count;
}

static bool same_files(const reading *r, const uint8_t *bytes, size_t length) {
  both b;
  b.old_file =
      (flat_file){r->context, "old", r->model.map.bytes, r->model.map.length};
  b.now_file = (flat_file){r->context, "new", bytes, length};
  b.old = (flat_copier){.from = &b.old_file, .schema = tflite_schema()};
  b.now = (flat_copier){.from = &b.now_file, .schema = tflite_schema()};
  return same_table(&b, flat_root(&b.old_file), flat_root(&b.now_file),
                    (flat_kind_of){TFLITE_TABLE_model, NULL}) &&
         same_metadata(&b);
}

/* ---- All cases ----------------------------------------------------------- */

/* What cannot be rebuilt, and the words that say why. */
static const struct refusal {
  const char *file, *words;
} refusals[] = {{"litert_npu_precompiled.tflite", "DISPATCH_OP"}};

static const char *refusal_of(const char *name) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (!strcmp(refusals[i].file, name)) return refusals[i].words;
  return NULL;
}

static void write_copy(const char *name, const uint8_t *bytes, size_t length) {
  const char *folder = getenv("CALM_REBUILT");
  char path[512];
  if (!folder) return;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  fclose(file);
}

static void same_again(const reading *r, const uint8_t *bytes, size_t length) {
  reading *again = reading_of_bytes(bytes, length);
  if (again->status) fail_msg("%s", reading_message(again));
  char *x = reading_dump(r), *y = reading_dump(again);
  assert_string_equal(x, y);
  const graph *g = &r->model.graphs.data[0];
  const graph *h = &again->model.graphs.data[0];
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    assert_int_equal(g->tensors.data[t].quantization,
                     h->tensors.data[t].quantization);
    assert_int_equal(g->tensors.data[t].contents, h->tensors.data[t].contents);
  }
  calm_text_free(r->context, x);
  calm_text_free(again->context, y);
  assert_int_equal(reading_end(again), 0);
}

static void rebuild(const char *name, const uint8_t *bytes, size_t length) {
  reading *r = reading_of_bytes(bytes, length);
  if (r->status) fail_msg("%s: %s", name, reading_message(r));
  arena a;
  graph_edit edit;
  const uint8_t *out = NULL;
  size_t out_length = 0;
  const char *words = refusal_of(name);
  arena_init(&a, r->context);
  graph_edit_init(&edit, &r->model.graphs.data[0], &a);
  assert_int_equal(edited_keep_all(&edit), CALM_OK);
  calm_status status = model_rebuild(&out, &out_length, &r->model, &edit, &a);
  if (words) {
    assert_int_equal(status, CALM_UNSUPPORTED);
    assert_non_null(strstr(reading_message(r), words));
  } else {
    if (status) fail_msg("%s: %s", name, reading_message(r));
    write_copy(name, out, out_length);
    if (!same_files(r, out, out_length)) fail_msg("%s differs", name);
    same_again(r, out, out_length);
  }
  graph_edit_free(&edit);
  arena_free(&a);
  assert_int_equal(reading_end(r), 0);
}

static uint8_t *load(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(*length + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *length, file), *length);
  fclose(file);
  return bytes;
}

static void every_case_can_be_rebuilt(void **state) {
  char folder[512], path[1024];
  uint32_t count = 0;
  (void)state;
  CASES_OR_SKIP();
  snprintf(folder, sizeof folder, "%s/models", cases_root());
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir));) {
    const size_t end = strlen(entry->d_name);
    if (end < 7 || strcmp(entry->d_name + end - 7, ".tflite")) continue;
    size_t length;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    uint8_t *bytes = load(path, &length);
    rebuild(entry->d_name, bytes, length);
    free(bytes);
    count++;
  }
  closedir(dir);
  assert_true(count > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_case_can_be_rebuilt)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
