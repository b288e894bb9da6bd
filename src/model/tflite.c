#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/number.h"
#include "model/tflite_parts.h"

/* ---- The schema ---------------------------------------------------------- */

static const char *const nouns[] = {
#define TABLE(name, noun) noun,
#define FIELD(table, name, slot, kind, of)
#define UNION(table, name, slot, type, of)
#include "model/tflite_schema.def"
#undef TABLE
#undef FIELD
#undef UNION
};

static const flat_field fields[] = {
#define T(name) TFLITE_TABLE_##name
#define TABLE(name, noun)
#define FIELD(table, name, slot, kind, of) \
  {TFLITE_TABLE_##table, slot, FLAT_##kind, of, 0, #name},
#define UNION(table, name, slot, type, of) \
  {TFLITE_TABLE_##table, slot, FLAT_UNION, TFLITE_TABLE_##of, type, #name},
#include "model/tflite_schema.def"
#undef TABLE
#undef FIELD
#undef UNION
#undef T
};

static const flat_plain plain[] = {
#define PLAIN(table, slot, type, widths) \
  {TFLITE_TABLE_##table, slot, type, widths},
#include "model/tflite_plain.def"
#undef PLAIN
};

static const flat_schema schema = {nouns,  TFLITE_TABLES,
                                   fields, sizeof fields / sizeof *fields,
                                   plain,  sizeof plain / sizeof *plain};

const flat_schema *tflite_schema(void) { return &schema; }

bool tflite_recognise(const uint8_t *bytes, size_t length) {
  return length >= 8 && memcmp(bytes + 4, "TFL3", 4) == 0;
}

/* ---- What the parts share ------------------------------------------------ */

calm_status tflite_fail(const tflite_reader *r, flat_table at, const char *noun,
                        uint32_t index, const char *format, ...) {
  char what[384];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return flat_fail(&r->file, at, "%s (in subgraph %" PRIu32 ", %s %" PRIu32 ")",
                   what, r->subgraph, noun, index);
}

/* Data behind the FlatBuffer is announced by its place in the file; places 0
   and 1 mean that there is none. */
static tflite_bytes outside_bytes(const tflite_reader *r, flat_table buffer) {
  uint64_t offset = flat_u64(&r->file, buffer, TFLITE_buffer_offset, 0);
  uint64_t size = flat_u64(&r->file, buffer, TFLITE_buffer_size, 0);
  return (tflite_bytes){offset, offset > 1 ? size : 0};
}

tflite_bytes tflite_buffer(const tflite_reader *r, uint32_t index) {
  if (index >= r->buffers.count) return (tflite_bytes){0, 0};
  flat_table buffer = flat_table_at(&r->file, r->buffers, index);
  flat_vector data = flat_vector_of(&r->file, buffer, TFLITE_buffer_data, 1);
  if (data.count) return (tflite_bytes){data.position, data.count};
  return outside_bytes(r, buffer);
}

static calm_status check_buffers(const tflite_reader *r) {
  for (uint32_t i = 0; i < r->buffers.count; i++) {
    flat_table buffer = flat_table_at(&r->file, r->buffers, i);
    tflite_bytes bytes = tflite_buffer(r, i);
    if (flat_holds(&r->file, bytes.position, bytes.size)) continue;
    return flat_fail(&r->file, buffer,
                     "%" PRIu64 " bytes of data at byte %" PRIu64
                     " are not in the file, which ends at %zu (in buffer "
                     "%" PRIu32 ")",
                     bytes.size, bytes.position, r->file.length, i);
  }
  return CALM_OK;
}

calm_status tflite_choose_name(const char **out, tflite_reader *r,
                               const name_table *names, flat_string own,
                               const char *prefix, uint32_t index) {
  char suffix[32];
  const void *nul = own.length ? memchr(own.text, '\0', own.length) : NULL;
  size_t length = nul ? (size_t)((const char *)nul - own.text) : own.length;
  const char *base = length ? own.text : suffix;
  if (length == 0)
    length =
        (size_t)snprintf(suffix, sizeof suffix, "%s%" PRIu32, prefix, index);
  char *name = arena_string(&r->scratch, base, length);
  if (!name) return context_no_memory(r->context);
  size_t extra = (size_t)snprintf(suffix, sizeof suffix, "#%" PRIu32, index);
  while (name_table_find(names, name) != CALM_NONE) {
    char *longer = arena_calloc(&r->scratch, length + extra + 1, 1);
    if (!longer) return context_no_memory(r->context);
    memcpy(longer, name, length);
    memcpy(longer + length, suffix, extra);
    name = longer;
    length += extra;
  }
  *out = name;
  return CALM_OK;
}

/* ---- Weights ------------------------------------------------------------- */

/* Data in other files is taken at its word; nothing here opens them. */
static calm_status weigh_external_buffers(tflite_reader *r) {
  flat_vector external =
      flat_vector_of(&r->file, r->root, TFLITE_model_external_buffers, 4);
  for (uint32_t i = 0; i < external.count; i++) {
    flat_table buffer = flat_table_at(&r->file, external, i);
    uint64_t length =
        flat_u64(&r->file, buffer, TFLITE_external_buffer_length, 0);
    uint64_t *total = &r->model->weight_bytes;
    if (!number_add(total, *total, length))
      return flat_fail(&r->file, buffer,
                       "the external buffers hold more than 2^62 bytes (in "
                       "external buffer %" PRIu32 ")",
                       i);
  }
  return CALM_OK;
}

/* ---- Subgraphs ----------------------------------------------------------- */

static calm_status read_subgraph(tflite_reader *r, graph *g, flat_table table) {
  TRY(tflite_read_tensors(r, g, table));
  return tflite_read_operators(r, g, table);
}

static calm_status read_named_subgraphs(tflite_reader *r, name_table *names) {
  for (uint32_t i = 0; i < r->subgraphs.count; i++) {
    flat_table table = flat_table_at(&r->file, r->subgraphs, i);
    flat_string own = flat_string_of(&r->file, table, TFLITE_subgraph_name);
    const char *name;
    graph g;
    r->subgraph = i;
    TRY(tflite_choose_name(&name, r, names, own, "subgraph", i));
    TRY(name_table_add(names, name, i));
    name = arena_string(&r->model->arena, name, strlen(name));
    if (!name) return context_no_memory(r->context);
    graph_init(&g, &r->model->arena, name);
    VECTOR_PUSH(r->context, &r->model->graphs, g);
    TRY(read_subgraph(r, &r->model->graphs.data[i], table));
  }
  return CALM_OK;
}

static calm_status read_subgraphs(tflite_reader *r) {
  if (r->subgraphs.count == 0)
    return flat_fail(&r->file, r->root, "there is no subgraph (in model)");
  name_table names;
  name_table_init(&names, r->context);
  calm_status status = read_named_subgraphs(r, &names);
  name_table_free(&names);
  return status;
}

/* ---- Warnings ------------------------------------------------------------ */

/* " (and 3 more like it)", or nothing. */
static void count_others(char out[48], uint32_t count) {
  out[0] = '\0';
  if (count > 1)
    snprintf(out, 48, " (and %" PRIu32 " more like it)", count - 1);
}

/* Used, but neither written nor given by anybody. */
static bool comes_from_nowhere(const graph *g, tensor_id t) {
  const unsigned given =
      CALM_TENSOR_INPUT | CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE;
  const graph_tensor *tensor = &g->tensors.data[t];
  bool used = g->reader_begin[t] < g->reader_begin[t + 1] ||
              (tensor->flags & CALM_TENSOR_OUTPUT);
  return used && g->producer[t] == CALM_NONE && !(tensor->flags & given);
}

/* Scratch that an accelerator's compiler put there is the usual case. */
static void warn_about_sources(const calm_model *model, const graph *g) {
  const graph_tensor *first = NULL;
  uint32_t count = 0;
  char others[48];
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    if (tensor->bytes == 0 || !comes_from_nowhere(g, t)) continue;
    if (!first) first = tensor;
    count++;
  }
  if (!first) return;
  count_others(others, count);
  context_log(model->context, CALM_LOG_WARNING,
              "%s: graph '%s': no operator writes tensor '%s' of %" PRIu64
              " bytes, and it is no input; it counts as 0 bytes%s",
              model->path, g->name, first->name, first->bytes, others);
}

static void warn_about(const tflite_reader *r, const tflite_notice *notice) {
  char others[48];
  if (notice->count == 0) return;
  count_others(others, notice->count);
  context_log(r->context, CALM_LOG_WARNING, "%s: '%s' %s%s", r->file.path,
              notice->name, notice->detail, others);
}

static void warn(const tflite_reader *r) {
  enum { VERSION = 3 };
  uint32_t version = flat_u32(&r->file, r->root, TFLITE_model_version, 0);
  if (version != VERSION)
    context_log(r->context, CALM_LOG_WARNING,
                "%s: schema version %" PRIu32 " is not %d, which runtimes need",
                r->file.path, version, VERSION);
  warn_about(r, &r->dynamic);
  warn_about(r, &r->uncountable);
  warn_about(r, &r->conflicting);
  tflite_check_signatures(r);
  for (uint32_t i = 0; i < r->model->graphs.count; i++) {
    model_warn_about_order(r->model, &r->model->graphs.data[i]);
    warn_about_sources(r->model, &r->model->graphs.data[i]);
  }
}

/* ---- The file ------------------------------------------------------------ */

void tflite_find_tables(tflite_reader *r) {
  r->root = flat_root(&r->file);
  r->codes = flat_vector_of(&r->file, r->root, TFLITE_model_operator_codes, 4);
  r->subgraphs = flat_vector_of(&r->file, r->root, TFLITE_model_subgraphs, 4);
  r->buffers = flat_vector_of(&r->file, r->root, TFLITE_model_buffers, 4);
}

static calm_status read_file(tflite_reader *r) {
  TRY(flat_check(&r->file, &schema));
  tflite_find_tables(r);
  ARENA_ARRAY(&r->scratch, r->weighed, bits_words(r->buffers.count));
  TRY(check_buffers(r));
  TRY(weigh_external_buffers(r));
  TRY(tflite_read_metadata(r));
  TRY(read_subgraphs(r));
  TRY(model_finish_graphs(r->model));
  if (context_logs(r->context)) warn(r);
  return CALM_OK;
}

calm_status tflite_read(calm_model *model) {
  tflite_reader r = {.model = model, .context = model->context};
  r.file = (flat_file){model->context, model->path, model->map.bytes,
                       model->map.length};
  arena_init(&r.scratch, model->context);
  calm_status status = read_file(&r);
  VECTOR_FREE(model->context, &r.edges);
  arena_free(&r.scratch);
  return status;
}
