/*
 * Operator codes of a rebuilt .tflite file: the old ones, and behind them those
 * that new operators need and the file lacks.
 */
#include <string.h>

#include "graph/graph_window.h"
#include "model/tflite_rebuild.h"

/*
 * Operators like no old one.  A runtime may refuse a code whose version is
 * older than the one that brought the type of the operand, or pictures of more
 * than four dimensions.  Any addition will do: the type of its operands has
 * been added in this file before, or is float.
 */
static const tflite_new_op new_ops[] = {
    /* role, kind, code, options; versions: oldest, i8, i16, many dimensions */
    {EDIT_ADD, OP_add, 0, 11, {1, 1, 1, 1}},
    {EDIT_CROP, OP_slice, 65, 48, {1, 2, 4, 5}},
    {EDIT_PAD, OP_pad, 34, 22, {1, 2, 3, 4}},
    {EDIT_JOIN, OP_concat, 2, 10, {1, 2, 3, 1}}};

const tflite_new_op *tflite_find_new_op(edit_role role) {
  for (size_t i = 0; i < sizeof new_ops / sizeof *new_ops; i++)
    if (new_ops[i].role == role) return &new_ops[i];
  return NULL;
}

/* ---- Which are needed ---------------------------------------------------- */

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static int32_t version_for(const tflite_new_op *row,
                           const graph_tensor *operand) {
  enum { OLDEST, I8, I16, MANY, FEW_DIMENSIONS = 4 };
  int32_t version = row->versions[OLDEST];
  if (operand->type == ELEMENT_i8) version = row->versions[I8];
  if (operand->type == ELEMENT_i16) version = row->versions[I16];
  if (operand->rank > FEW_DIMENSIONS)
    version = larger(version, row->versions[MANY]);
  return version;
}

static tflite_code code_of(const tflite_rebuilder *w, uint32_t i) {
  const flat_file *file = tflite_old_file(w);
  const flat_table code = flat_table_at(file, w->tables.codes, i);
  const int32_t first =
      flat_i8(file, code, TFLITE_operator_code_deprecated_builtin_code, 0);
  return (tflite_code){
      .builtin = larger(
          first, flat_i32(file, code, TFLITE_operator_code_builtin_code, 0)),
      .version = flat_i32(file, code, TFLITE_operator_code_version, 1)};
}

static bool is_builtin(const tflite_rebuilder *w, uint32_t i) {
  const flat_file *file = tflite_old_file(w);
  return !flat_string_of(file, flat_table_at(file, w->tables.codes, i),
                         TFLITE_operator_code_custom_code)
              .length;
}

static bool serves(tflite_code has, tflite_code wanted) {
  return has.builtin == wanted.builtin && has.version >= wanted.version;
}

/* Depthwise convolutions have been dilated since version 2. */
static bool needs_dilation(const tflite_rebuilder *w, op_id u, uint32_t old) {
  enum { DEPTHWISE = 4, DILATED = 2 };
  int64_t dilation[GRAPH_MAX_RANK];
  const tflite_code code = code_of(w, old);
  const uint32_t count =
      graph_op_numbers(dilation, &w->edit->after.ops.data[u], "dilation");
  bool dilated = false;
  for (uint32_t i = 0; i < count; i++) dilated = dilated || dilation[i] != 1;
  return dilated && is_builtin(w, old) && code.builtin == DEPTHWISE &&
         code.version < DILATED;
}

/* False: the code of the old operator will do. */
static bool find_wanted(tflite_code *out, const tflite_rebuilder *w, op_id u) {
  const edit_op *descent = &w->edit->ops.data[u];
  const graph_op *op = &w->edit->after.ops.data[u];
  const tflite_new_op *row = tflite_find_new_op(descent->role);
  if (row && op->input_count && op->inputs[0] != CALM_NONE) {
    *out = (tflite_code){
        row->builtin,
        version_for(row, &w->edit->after.tensors.data[op->inputs[0]])};
    return true;
  }
  const uint32_t old =
      flat_u32(tflite_old_file(w),
               flat_table_at(tflite_old_file(w), w->operators, descent->from),
               TFLITE_operator_opcode_index, 0);
  if (descent->role != EDIT_WINDOW || !needs_dilation(w, u, old)) return false;
  *out = (tflite_code){code_of(w, old).builtin, 2};
  return true;
}

static calm_status choose(uint32_t *out, tflite_rebuilder *w,
                          tflite_code wanted) {
  const uint32_t old = w->tables.codes.count;
  for (uint32_t i = 0; i < old; i++)
    if (is_builtin(w, i) && serves(code_of(w, i), wanted)) {
      *out = i;
      return CALM_OK;
    }
  for (uint32_t i = 0; i < w->codes.count; i++)
    if (serves(w->codes.data[i], wanted)) {
      *out = old + i;
      return CALM_OK;
    }
  *out = old + w->codes.count;
  VECTOR_PUSH(w->model->context, &w->codes, wanted);
  return CALM_OK;
}

calm_status tflite_find_codes(tflite_rebuilder *w) {
  const uint32_t ops = w->edit->after.ops.count;
  ARENA_ARRAY(&w->tables.scratch, w->op_codes, ops);
  for (op_id u = 0; u < ops; u++) {
    tflite_code wanted;
    w->op_codes[u] = CALM_NONE;
    if (find_wanted(&wanted, w, u)) TRY(choose(&w->op_codes[u], w, wanted));
  }
  return CALM_OK;
}

/* ---- Writing ------------------------------------------------------------- */

/* The first field holds no more than 127, which then says: look at the other.
   An absent version is 1. */
static calm_status build_code(tflite_rebuilder *w, size_t from,
                              tflite_code code) {
  enum { MOST = 127 };
  flat_draft draft = {0};
  const int32_t first = code.builtin < MOST ? code.builtin : MOST;
  flat_draft_number(&draft, TFLITE_operator_code_deprecated_builtin_code, 1,
                    (uint64_t)first, 0);
  flat_draft_number(&draft, TFLITE_operator_code_version, 4,
                    (uint64_t)code.version, 1);
  flat_draft_number(&draft, TFLITE_operator_code_builtin_code, 4,
                    (uint64_t)code.builtin, 0);
  return flat_build_table(&w->to, from, &draft);
}

calm_status tflite_build_codes(tflite_rebuilder *w, size_t from,
                               flat_vector old) {
  size_t first;
  TRY(flat_build_offsets(&first, &w->to, from, old.count + w->codes.count));
  for (uint32_t i = 0; i < old.count; i++)
    TRY(flat_copy(&w->copier, first + (size_t)i * 4,
                  flat_table_at(tflite_old_file(w), old, i),
                  (flat_kind_of){TFLITE_TABLE_operator_code, NULL}));
  for (uint32_t i = 0; i < w->codes.count; i++)
    TRY(build_code(w, first + ((size_t)old.count + i) * 4, w->codes.data[i]));
  return CALM_OK;
}
