#include "report/report_plan_read.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "report/report_json.h"
#include "report/report_name.h"

/* A value and where it stands: a member of an object, perhaps in the row of a
   list. */
typedef struct place {
  const char *list; /* "layout.buffers", or NULL */
  size_t row;
  const char *key; /* "name", or NULL: the row itself */
} place;

typedef struct reader {
  arena *a;
  const char *path;
  const graph *g;
  name_table tensors, ops; /* spelled as in JSON */
  memory_claim *claims;    /* per tensor */
  json_t *root;
} reader;

/* ---- Messages ------------------------------------------------------------ */

typedef struct place_name {
  char text[96];
} place_name;

static place_name name_place(place at) {
  place_name out;
  const char *dot = at.list && at.key ? "." : "";
  const char *key = at.key ? at.key : "";
  if (at.list)
    snprintf(out.text, sizeof out.text, "%s[%zu]%s%s", at.list, at.row, dot,
             key);
  else
    snprintf(out.text, sizeof out.text, "%s", key);
  return out;
}

static calm_status fail(const reader *r, place at, const char *what) {
  return context_fail(r->a->context, CALM_BAD_INPUT, "%s: %s: %s", r->path,
                      name_place(at).text, what);
}

/* The reason that another function left in the context, without what stands
   before its first colon. */
static calm_status fail_because(const reader *r, place at) {
  char reason[1024];
  const char *message = calm_context_message(r->a->context);
  const char *colon = strstr(message, ": ");
  snprintf(reason, sizeof reason, "%s", colon ? colon + 2 : message);
  return fail(r, at, reason);
}

/* `word` may be NULL: the value is no text at all. */
static calm_status fail_word(const reader *r, place at, const char *word,
                             const char *what) {
  return context_fail(r->a->context, CALM_BAD_INPUT, "%s: %s: %s%s%sis not %s",
                      r->path, name_place(at).text, word ? "'" : "",
                      word ? word : "", word ? "' " : "", what);
}

static calm_status fail_name(const reader *r, place at, const char *what,
                             const char *name) {
  return context_fail(r->a->context, CALM_BAD_INPUT,
                      "%s: %s: no %s '%s' in the graph '%s'; is the plan of "
                      "another model?",
                      r->path, name_place(at).text, what, name, r->g->name);
}

/* ---- Values -------------------------------------------------------------- */

static calm_status take(json_t **out, const reader *r, const json_t *object,
                        place at, json_type type) {
  static const char *const wanted[] = {"an object", "a list", "a text",
                                       "a whole number"};
  const char *dot = strrchr(at.key, '.');
  json_t *value = json_object_get(object, dot ? dot + 1 : at.key);
  char what[64];
  if (value && json_typeof(value) == type) {
    *out = value;
    return CALM_OK;
  }
  snprintf(what, sizeof what, "%s%s", value ? "is not " : "is missing; it is ",
           wanted[type]);
  return fail(r, at, what);
}

static calm_status take_text(const char **out, const reader *r,
                             const json_t *object, place at) {
  json_t *value;
  TRY(take(&value, r, object, at, JSON_STRING));
  *out = json_string_value(value);
  return CALM_OK;
}

static calm_status take_bytes(uint64_t *out, const reader *r,
                              const json_t *object, place at) {
  json_t *value;
  TRY(take(&value, r, object, at, JSON_INTEGER));
  const json_int_t number = json_integer_value(value);
  if (number < 0 || (uint64_t)number > NUMBER_MAX_BYTES)
    return fail(r, at, "is not a number of bytes");
  *out = (uint64_t)number;
  return CALM_OK;
}

/* ---- Names --------------------------------------------------------------- */

/* Two names that are spelled alike in JSON: the first one counts. */
static calm_status add_name(name_table *table, const reader *r,
                            const char *name, uint32_t id) {
  const char *spelled = report_name_escaped(r->a, name, ESCAPE_INVALID);
  if (!spelled) return context_no_memory(r->a->context);
  if (name_table_find(table, spelled) != CALM_NONE) return CALM_OK;
  return name_table_add(table, spelled, id);
}

static calm_status index_names(reader *r) {
  for (tensor_id t = 0; t < r->g->tensors.count; t++)
    TRY(add_name(&r->tensors, r, r->g->tensors.data[t].name, t));
  for (op_id op = 0; op < r->g->ops.count; op++)
    TRY(add_name(&r->ops, r, r->g->ops.data[op].name, op));
  return CALM_OK;
}

static calm_status take_tensor(tensor_id *out, const reader *r,
                               const json_t *object, place at) {
  const char *name;
  TRY(take_text(&name, r, object, at));
  *out = name_table_find(&r->tensors, name);
  return *out == CALM_NONE ? fail_name(r, at, "tensor", name) : CALM_OK;
}

static calm_status find_op(op_id *out, const reader *r, const char *name,
                           place at) {
  *out = name_table_find(&r->ops, name);
  return *out == CALM_NONE ? fail_name(r, at, "operator", name) : CALM_OK;
}

/* ---- The memory model ---------------------------------------------------- */

/* The place of a column: `prefix` is "columns." or nothing. */
typedef struct column {
  char key[32];
  const char *name; /* within the key */
} column;

static column column_at(const char *prefix, const char *name) {
  column c;
  snprintf(c.key, sizeof c.key, "%s%s", prefix, name);
  c.name = name;
  return c;
}

static calm_status override(memory_model *memory, const reader *r,
                            const column *c, const char *value) {
  calm_status status =
      memory_model_override(memory, r->a->context, c->name, value);
  return status == CALM_MISUSE ? fail_because(r, (place){.key = c->key})
                               : status;
}

static calm_status read_unit(memory_model *memory, const reader *r,
                             const json_t *object, column c) {
  uint64_t bytes;
  char digits[24];
  if (!json_object_get(object, c.name)) return CALM_OK;
  TRY(take_bytes(&bytes, r, object, (place){.key = c.key}));
  snprintf(digits, sizeof digits, "%" PRIu64, bytes);
  return override(memory, r, &c, digits);
}

static calm_status read_word(memory_model *memory, const reader *r,
                             const json_t *columns, column c) {
  const char *word;
  if (!json_object_get(columns, c.name)) return CALM_OK;
  TRY(take_text(&word, r, columns, (place){.key = c.key}));
  return override(memory, r, &c, word);
}

static calm_status read_inplace(memory_model *memory, const reader *r,
                                const json_t *columns) {
  json_t *kinds;
  if (!json_object_get(columns, "inplace")) return CALM_OK;
  TRY(take(&kinds, r, columns, (place){.key = "columns.inplace"}, JSON_ARRAY));
  memset(memory->inplace, 0, sizeof memory->inplace);
  for (size_t i = 0; i < json_array_size(kinds); i++) {
    const char *name = json_string_value(json_array_get(kinds, i));
    const op_kind kind = name ? op_kind_find(name) : OP_OPAQUE;
    if (kind == OP_OPAQUE)
      return fail_word(r, (place){.list = "columns.inplace", .row = i}, name,
                       "an operator kind");
    bits_add(memory->inplace, kind);
  }
  return CALM_OK;
}

static calm_status read_memory(memory_model *out, const reader *r) {
  static const char *const words[] = {"inputs", "outputs",   "views",
                                      "concat", "variables", "subgraphs"};
  const char *name;
  TRY(take_text(&name, r, r->root, (place){.key = "memory"}));
  const memory_model *preset = memory_model_find(name);
  if (!preset)
    return fail_word(r, (place){.key = "memory"}, name,
                     "one of plain, serenity, tflm, tflm-default");
  *out = *preset;
  json_t *columns = json_object_get(r->root, "columns");
  if (!columns) return read_unit(out, r, r->root, column_at("", "align"));
  TRY(take(&columns, r, r->root, (place){.key = "columns"}, JSON_OBJECT));
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    TRY(read_word(out, r, columns, column_at("columns.", words[i])));
  TRY(read_unit(out, r, columns, column_at("columns.", "align")));
  TRY(read_unit(out, r, columns, column_at("columns.", "round")));
  return read_inplace(out, r, columns);
}

/* ---- Order and layout ---------------------------------------------------- */

/* The plan of a rewritten network speaks of operators that the original does
   not have. */
static calm_status check_rewritten(const reader *r, const json_t *names) {
  const json_t *rewrite = json_object_get(r->root, "rewrite");
  if (json_integer_value(json_object_get(rewrite, "applied")) == 0)
    return CALM_OK;
  for (size_t i = 0; i < json_array_size(names); i++) {
    const char *name = json_string_value(json_array_get(names, i));
    if (!name || name_table_find(&r->ops, name) != CALM_NONE) continue;
    return context_fail(r->a->context, CALM_BAD_INPUT,
                        "%s: is the plan of a rewritten network, which has "
                        "operators such as '%s' that the graph '%s' has not; "
                        "write it (calm plan --rewrite ... -o OUT) and check "
                        "that file",
                        r->path, name, r->g->name);
  }
  return CALM_OK;
}

static calm_status read_sequence(memory_plan *out, const reader *r,
                                 const json_t *order) {
  json_t *names;
  op_id *sequence;
  const uint32_t count = r->g->ops.count;
  TRY(take(&names, r, order, (place){.key = "order.sequence"}, JSON_ARRAY));
  TRY(check_rewritten(r, names));
  if (json_array_size(names) != count)
    return context_fail(r->a->context, CALM_BAD_INPUT,
                        "%s: order.sequence: names %zu operators, but the "
                        "graph '%s' has %" PRIu32,
                        r->path, json_array_size(names), r->g->name, count);
  ARENA_ARRAY(r->a, sequence, count);
  for (uint32_t step = 0; step < count; step++) {
    const place at = {.list = "order.sequence", .row = step};
    const char *name = json_string_value(json_array_get(names, step));
    if (!name) return fail(r, at, "is not a text");
    TRY(find_op(&sequence[step], r, name, at));
  }
  out->sequence = sequence;
  return CALM_OK;
}

/* Bytes are the tensor's own, or rounded as the memory model says. */
static calm_status check_bytes(const reader *r, const json_t *row, place at,
                               tensor_id t, uint64_t round) {
  uint64_t bytes;
  const uint64_t own = r->g->tensors.data[t].bytes;
  if (!json_object_get(row, "bytes")) return CALM_OK;
  TRY(take_bytes(&bytes, r, row, at));
  if (bytes == own || bytes == number_round_up(own, round)) return CALM_OK;
  return context_fail(r->a->context, CALM_BAD_INPUT,
                      "%s: %s: is %" PRIu64
                      ", but tensor '%s' of the graph "
                      "'%s' takes %" PRIu64 "; is the plan of another model?",
                      r->path, name_place(at).text, bytes,
                      r->g->tensors.data[t].name, r->g->name, own);
}

static calm_status read_claim(uint64_t *out, const reader *r, const json_t *row,
                              place at) {
  const char *dot = strrchr(at.key, '.');
  const bool said = json_object_get(row, dot ? dot + 1 : at.key) != NULL;
  return said ? take_bytes(out, r, row, at) : CALM_OK;
}

/* One row of a list of tensors with offsets. */
static calm_status read_offset(uint64_t *offsets, const reader *r,
                               const json_t *row, place at, uint64_t round) {
  tensor_id t;
  at.key = "name";
  TRY(take_tensor(&t, r, row, at));
  if (offsets[t] != UINT64_MAX) return fail(r, at, "is listed twice");
  at.key = "offset";
  TRY(take_bytes(&offsets[t], r, row, at));
  at.key = "first";
  TRY(read_claim(&r->claims[t].first, r, row, at));
  at.key = "last";
  TRY(read_claim(&r->claims[t].last, r, row, at));
  at.key = "bytes";
  return check_bytes(r, row, at, t, round);
}

static calm_status read_offsets(uint64_t *offsets, const reader *r,
                                const json_t *list, const char *name,
                                uint64_t round) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *row = json_array_get(list, i);
    const place at = {.list = name, .row = i};
    if (!json_is_object(row)) return fail(r, at, "is not an object");
    TRY(read_offset(offsets, r, row, at, round));
  }
  return CALM_OK;
}

static calm_status read_workspaces(memory_plan *out, const reader *r,
                                   const json_t *list) {
  uint64_t *offsets;
  ARENA_ARRAY(r->a, offsets, r->g->ops.count);
  for (op_id op = 0; op < r->g->ops.count; op++) offsets[op] = UINT64_MAX;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *row = json_array_get(list, i);
    place at = {.list = "layout.workspaces", .row = i};
    const char *name;
    op_id op;
    if (!json_is_object(row)) return fail(r, at, "is not an object");
    at.key = "op";
    TRY(take_text(&name, r, row, at));
    TRY(find_op(&op, r, name, at));
    if (offsets[op] != UINT64_MAX) return fail(r, at, "is listed twice");
    at.key = "offset";
    TRY(take_bytes(&offsets[op], r, row, at));
  }
  out->workspace_offsets = offsets;
  return CALM_OK;
}

static calm_status read_layout(memory_plan *out, const reader *r,
                               const json_t *layout, uint64_t round) {
  json_t *list;
  uint64_t *offsets;
  TRY(take_bytes(&out->arena_bytes, r, layout,
                 (place){.key = "layout.arena_bytes"}));
  ARENA_ARRAY(r->a, offsets, r->g->tensors.count);
  for (tensor_id t = 0; t < r->g->tensors.count; t++) offsets[t] = UINT64_MAX;
  out->claims = r->claims;
  TRY(take(&list, r, layout, (place){.key = "layout.buffers"}, JSON_ARRAY));
  TRY(read_offsets(offsets, r, list, "layout.buffers", round));
  out->offsets = offsets;
  if (json_object_get(layout, "views")) {
    TRY(take(&list, r, layout, (place){.key = "layout.views"}, JSON_ARRAY));
    TRY(read_offsets(offsets, r, list, "layout.views", round));
  }
  if (!json_object_get(layout, "workspaces")) return CALM_OK;
  TRY(take(&list, r, layout, (place){.key = "layout.workspaces"}, JSON_ARRAY));
  return read_workspaces(out, r, list);
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status read_schema(const reader *r) {
  const char *schema;
  if (!json_is_object(r->root))
    return context_fail(r->a->context, CALM_BAD_INPUT,
                        "%s: is not a JSON object of schema calm/plan/1",
                        r->path);
  TRY(take_text(&schema, r, r->root, (place){.key = "schema"}));
  return strcmp(schema, "calm/plan/1")
             ? fail(r, (place){.key = "schema"}, "is not calm/plan/1")
             : CALM_OK;
}

static calm_status read_plan(memory_plan *out, memory_model *memory,
                             reader *r) {
  json_t *order, *layout;
  TRY(read_schema(r));
  TRY(index_names(r));
  TRY(read_memory(memory, r));
  TRY(take(&order, r, r->root, (place){.key = "order"}, JSON_OBJECT));
  TRY(read_sequence(out, r, order));
  TRY(read_claim(&out->claimed_peak_bytes, r, order,
                 (place){.key = "order.peak_bytes"}));
  ARENA_ARRAY(r->a, r->claims, r->g->tensors.count);
  for (tensor_id t = 0; t < r->g->tensors.count; t++)
    r->claims[t] = (memory_claim){UINT64_MAX, UINT64_MAX};
  TRY(take(&layout, r, r->root, (place){.key = "layout"}, JSON_OBJECT));
  return read_layout(out, r, layout, memory->round);
}

static calm_status parse(reader *r, const char *bytes, size_t length) {
  json_error_t error;
  r->root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
  if (r->root) return CALM_OK;
  if (json_error_code(&error) == json_error_out_of_memory)
    return context_no_memory(r->a->context);
  return context_fail(r->a->context, CALM_BAD_INPUT,
                      "%s:%d:%d: is not JSON: %s", r->path, error.line,
                      error.column + 1, error.text);
}

calm_status report_plan_read(memory_plan *out, memory_model *memory, arena *a,
                             const char *path, const char *bytes, size_t length,
                             const graph *g) {
  reader r = {.a = a, .path = path, .g = g};
  memory_plan plan = {.arena_bytes = UINT64_MAX,
                      .claimed_peak_bytes = UINT64_MAX};
  memory_model model;
  TRY(parse(&r, bytes, length));
  name_table_init(&r.tensors, a->context);
  name_table_init(&r.ops, a->context);
  calm_status status = read_plan(&plan, &model, &r);
  name_table_free(&r.tensors);
  name_table_free(&r.ops);
  json_decref(r.root);
  if (status != CALM_OK) return status;
  *out = plan;
  *memory = model;
  return CALM_OK;
}
