#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/tflite_parts.h"

static const struct builtin {
  int32_t code;
  const char *name;
} builtins[] = {
#define BUILTIN(code, name) {code, #name},
#include "model/tflite_builtins.def"
#undef BUILTIN
};

static const char *builtin_name(int32_t code) {
  for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
    if (builtins[i].code == code) return builtins[i].name;
  return NULL;
}

/* One operator on its way from the file into the graph. */
typedef struct source {
  flat_table table;
  uint32_t index;
  int32_t builtin;
  flat_string custom; /* the name of a custom operator */
  graph_op op;
} source;

/* ---- What it is ---------------------------------------------------------- */

/* Codes above 127 did not fit into the first field, which then has 127; files
   older than the second field have 0 there. */
static calm_status read_code(source *s, const tflite_reader *r) {
  uint32_t index =
      flat_u32(&r->file, s->table, TFLITE_operator_opcode_index, 0);
  if (index >= r->codes.count)
    return tflite_fail(r, s->table, "operator", s->index,
                       "operator code %" PRIu32
                       " does not exist, there are %" PRIu32,
                       index, r->codes.count);
  flat_table code = flat_table_at(&r->file, r->codes, index);
  int32_t old =
      flat_i8(&r->file, code, TFLITE_operator_code_deprecated_builtin_code, 0);
  int32_t now = flat_i32(&r->file, code, TFLITE_operator_code_builtin_code, 0);
  s->builtin = old > now ? old : now;
  s->custom = flat_string_of(&r->file, code, TFLITE_operator_code_custom_code);
  return CALM_OK;
}

/* PREFIX followed by the custom code, or by "CUSTOM" if that is empty. */
static calm_status join(const char **out, tflite_reader *r, const char *prefix,
                        flat_string custom, const char *unnamed) {
  size_t head = strlen(prefix);
  const void *nul =
      custom.length ? memchr(custom.text, '\0', custom.length) : NULL;
  size_t tail = nul ? (size_t)((const char *)nul - custom.text) : custom.length;
  const char *text = tail ? custom.text : unnamed;
  if (tail == 0) tail = strlen(unnamed);
  char *name = arena_calloc(&r->scratch, head + tail + 1, 1);
  if (!name) return context_no_memory(r->context);
  memcpy(name, prefix, head);
  memcpy(name + head, text, tail);
  *out = name;
  return CALM_OK;
}

/* A custom operator that is called like a builtin kind is not of that kind, and
   the text form must not take it for one. */
static calm_status name_custom(source *s, tflite_reader *r) {
  char prefix[16];
  snprintf(prefix, sizeof prefix, "%" PRIu32 "_", s->index);
  TRY(join(&s->op.name, r, prefix, s->custom, "CUSTOM"));
  TRY(join(&s->op.kind_name, r, "", s->custom, "custom"));
  if (op_kind_find(s->op.kind_name) == OP_OPAQUE) return CALM_OK;
  return join(&s->op.kind_name, r, "custom:", s->custom, "");
}

/* Operators that newer writers know get their number for a name. */
static calm_status name_builtin(source *s, tflite_reader *r) {
  char number[24], name[64], kind[64];
  const char *known = builtin_name(s->builtin);
  snprintf(number, sizeof number, "BUILTIN_%" PRId32, s->builtin);
  if (!known) known = number;
  snprintf(name, sizeof name, "%" PRIu32 "_%s", s->index, known);
  size_t length = strlen(known);
  for (size_t i = 0; i < length; i++)
    kind[i] = (char)(known[i] >= 'A' && known[i] <= 'Z' ? known[i] - 'A' + 'a'
                                                        : known[i]);
  s->op.name = arena_string(&r->scratch, name, strlen(name));
  s->op.kind_name = arena_string(&r->scratch, kind, length);
  return s->op.name && s->op.kind_name ? CALM_OK
                                       : context_no_memory(r->context);
}

static calm_status name_op(source *s, tflite_reader *r) {
  s->op.kind = op_kind_from_tflite(s->builtin);
  s->op.stateful = s->op.kind == OP_OPAQUE;
  return s->builtin == TFLITE_CUSTOM ? name_custom(s, r) : name_builtin(s, r);
}

/* ---- What it reads and writes -------------------------------------------- */

static calm_status read_ids(tensor_id **out, uint32_t *count, tflite_reader *r,
                            const source *s, unsigned slot, const char *field,
                            uint32_t tensors) {
  flat_vector list = flat_vector_of(&r->file, s->table, slot, 4);
  ARENA_ARRAY(&r->scratch, *out, list.count);
  *count = list.count;
  for (uint32_t i = 0; i < list.count; i++) {
    int32_t t = flat_i32_at(&r->file, list, i);
    if (t < -1 || (t >= 0 && (uint32_t)t >= tensors))
      return tflite_fail(r, list.position + (size_t)i * 4, "operator", s->index,
                         "entry %" PRIu32 " of '%s' is tensor %" PRId32
                         ", but there are %" PRIu32,
                         i, field, t, tensors);
    (*out)[i] = t < 0 ? CALM_NONE : (tensor_id)t;
  }
  return CALM_OK;
}

static calm_status read_operands(source *s, tflite_reader *r,
                                 uint32_t tensors) {
  tensor_id *unused;
  uint32_t unused_count;
  TRY(read_ids(&s->op.inputs, &s->op.input_count, r, s, TFLITE_operator_inputs,
               "inputs", tensors));
  TRY(read_ids(&s->op.outputs, &s->op.output_count, r, s,
               TFLITE_operator_outputs, "outputs", tensors));
  return read_ids(&unused, &unused_count, r, s, TFLITE_operator_intermediates,
                  "intermediates", tensors);
}

/* Custom options of files above 2 GB lie behind the FlatBuffer. */
static calm_status check_outside_options(const source *s,
                                         const tflite_reader *r) {
  uint64_t offset = flat_u64(&r->file, s->table,
                             TFLITE_operator_large_custom_options_offset, 0);
  uint64_t size = flat_u64(&r->file, s->table,
                           TFLITE_operator_large_custom_options_size, 0);
  if (offset <= 1 || flat_holds(&r->file, offset, size)) return CALM_OK;
  return tflite_fail(r, s->table, "operator", s->index,
                     "%" PRIu64 " bytes of custom options at byte %" PRIu64
                     " are not in the file, which ends at %zu",
                     size, offset, r->file.length);
}

/* ---- All of them --------------------------------------------------------- */

static calm_status read_operator(tflite_reader *r, graph *g, source *s) {
  tflite_attributes attributes;
  uint32_t bodies[2];
  op_id id;
  TRY(read_code(s, r));
  TRY(name_op(s, r));
  TRY(read_operands(s, r, g->tensors.count));
  TRY(check_outside_options(s, r));
  TRY(tflite_read_bodies(bodies, &s->op.body_count, r, s->table, s->builtin,
                         s->index));
  tflite_read_attributes(&attributes, r, g, &s->op, s->table, s->builtin);
  s->op.bodies = bodies;
  s->op.attributes = attributes.list;
  s->op.attribute_count = attributes.count;
  s->op.file_index = s->index;
  tflite_compare_shapes(r, g, &s->op, s->table, s->builtin);
  return graph_add_op(&id, g, &s->op);
}

calm_status tflite_read_operators(tflite_reader *r, graph *g,
                                  flat_table table) {
  flat_vector operators =
      flat_vector_of(&r->file, table, TFLITE_subgraph_operators, 4);
  uint32_t *begin;
  op_id *after;
  TRY(tflite_sort_edges(&begin, &after, r, operators.count));
  for (uint32_t i = 0; i < operators.count; i++) {
    source s = {.table = flat_table_at(&r->file, operators, i), .index = i};
    s.op.after = after + begin[i];
    s.op.after_count = begin[i + 1] - begin[i];
    TRY(read_operator(r, g, &s));
  }
  return CALM_OK;
}
