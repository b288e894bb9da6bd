/*
 * Operators of a rebuilt .tflite file: each is made like the old operator it
 * comes from, with other operands, and without an activation that is applied
 * later.
 */
#include <inttypes.h>
#include <string.h>

#include "graph/graph_window.h"
#include "model/tflite_rebuild.h"

enum { ADD_ACTIVATION = 0, CONCAT_AXIS = 0, CONCAT_ACTIVATION = 1 };

static flat_table old_op(const tflite_rebuilder *w, op_id u) {
  return flat_table_at(tflite_old_file(w), w->operators, u);
}

/* ---- What cannot be moved ------------------------------------------------ */

/* Options behind the FlatBuffer, and the operator with which LiteRT hands over
   to an accelerator: its options tell where in the file the program is. */
calm_status tflite_check_places(const tflite_rebuilder *w,
                                const flat_draft *op) {
  const uint64_t code = op->values[TFLITE_operator_opcode_index].number;
  if (op->values[TFLITE_operator_large_custom_options_offset].number > 1)
    return tflite_refuse(w, "has custom options behind the FlatBuffer");
  if (code >= w->tables.codes.count) return CALM_OK;
  const flat_file *file = tflite_old_file(w);
  const flat_table table = flat_table_at(file, w->tables.codes, (uint32_t)code);
  if (tflite_is_called(
          flat_string_of(file, table, TFLITE_operator_code_custom_code),
          "DISPATCH_OP"))
    return tflite_refuse(w, "(DISPATCH_OP) names places in its file");
  return CALM_OK;
}

/* ---- Operands ------------------------------------------------------------ */

static calm_status build_operands(tflite_rebuilder *w, size_t from,
                                  const tensor_id *operands, uint32_t count) {
  size_t first;
  TRY(flat_build_offsets(&first, &w->to, from, count));
  for (uint32_t i = 0; i < count; i++) /* CALM_NONE is -1 */
    flat_build_set(&w->to, first + (size_t)i * 4, operands[i], 4);
  return CALM_OK;
}

static calm_status build_both_operands(tflite_rebuilder *w,
                                       const flat_draft *draft,
                                       const graph_op *op) {
  TRY(build_operands(w, draft->places[TFLITE_operator_inputs], op->inputs,
                     op->input_count));
  return build_operands(w, draft->places[TFLITE_operator_outputs], op->outputs,
                        op->output_count);
}

/* Flags, one for each operand: they stay only if the operands do, or if none is
   set. */
static calm_status draft_variables(const tflite_rebuilder *w, flat_draft *draft,
                                   const graph_op *op) {
  const flat_file *file = tflite_old_file(w);
  const size_t object =
      draft->values[TFLITE_operator_mutating_variable_inputs].old;
  const uint32_t count = object ? (uint32_t)flat_number(file, object, 4) : 0;
  if (count == 0 || count == op->input_count) return CALM_OK;
  for (uint32_t i = 0; i < count; i++)
    if (file->bytes[object + FLAT_OFFSET_BYTES + i])
      return tflite_refuse(w, "writes to an operand, and gets others");
  flat_draft_object(draft, TFLITE_operator_mutating_variable_inputs, false);
  return CALM_OK;
}

/* ---- Options ------------------------------------------------------------- */

/* The axis of a concat. */
static calm_status read_axis(int64_t *out, const tflite_rebuilder *w,
                             const graph_op *op) {
  int64_t axis[GRAPH_MAX_RANK];
  if (graph_op_numbers(axis, op, "axis") != 1 || axis[0] > GRAPH_MAX_RANK ||
      axis[0] < -GRAPH_MAX_RANK)
    return tflite_refuse(w, "has no axis");
  *out = axis[0];
  return CALM_OK;
}

/* Padding and dilation as the new graph has them. */
static calm_status draft_window(const tflite_rebuilder *w, flat_draft *options,
                                const graph_op *op, uint8_t type) {
  const char *pad = graph_op_attribute(op, "pad");
  const uint8_t *pad_slots = tflite_option_slots(type, "pad");
  const uint8_t *slots = tflite_option_slots(type, "dilation");
  int64_t dilation[GRAPH_MAX_RANK];
  const uint32_t count = graph_op_numbers(dilation, op, "dilation");
  if (pad_slots[0] < FLAT_SLOTS) {
    if (!pad || (strcmp(pad, "same") && strcmp(pad, "valid")))
      return tflite_refuse(w, "is padded neither 'same' nor 'valid'");
    flat_draft_number(options, pad_slots[0], 1, !strcmp(pad, "valid"), 0);
  }
  for (uint32_t i = 0; slots[i] < FLAT_SLOTS; i++) {
    const int64_t size = i < count ? dilation[i] : 1;
    if (size < 1 || size > INT32_MAX)
      return tflite_refuse(w, "has a dilation that is no size");
    flat_draft_number(options, slots[i], 4, (uint64_t)size, 1);
  }
  return CALM_OK;
}

/* Slots of the builtin options that are to be other than they were. */
static calm_status draft_options(const tflite_rebuilder *w, flat_draft *options,
                                 op_id u, uint8_t type) {
  const edit_op *descent = &w->edit->ops.data[u];
  const graph_op *op = &w->edit->after.ops.data[u];
  const unsigned activation = tflite_activation_slot(type);
  int64_t axis;
  if (descent->role == EDIT_CONCAT) {
    TRY(read_axis(&axis, w, op));
    flat_draft_number(options, CONCAT_AXIS, 4, (uint64_t)axis & UINT32_MAX, 0);
    flat_draft_number(options, CONCAT_ACTIVATION, 1, 0, 0);
    return CALM_OK;
  }
  if (!descent->activation && activation < FLAT_SLOTS)
    flat_draft_number(options, activation, 1, 0, 0);
  return descent->role == EDIT_WINDOW ? draft_window(w, options, op, type)
                                      : CALM_OK;
}

static calm_status build_options(tflite_rebuilder *w, const flat_draft *draft,
                                 op_id u) {
  const unsigned slot = TFLITE_OPTIONS_SLOT;
  const uint8_t type = (uint8_t)draft->values[slot - 1].number;
  const flat_kind_of kind =
      flat_union_kind(&w->copier, TFLITE_TABLE_operator, slot, type);
  flat_draft options;
  if (!draft->values[slot].old) return CALM_OK;
  TRY(flat_load(&options, &w->copier, draft->values[slot].old, kind));
  TRY(draft_options(w, &options, u, type));
  TRY(flat_build_table(&w->to, draft->places[slot], &options));
  return flat_copy_slots(&w->copier, &options, kind.table);
}

/* ---- One that is kept ---------------------------------------------------- */

static calm_status build_slot(tflite_rebuilder *w, const flat_draft *draft,
                              op_id u, unsigned slot) {
  const flat_value *value = &draft->values[slot];
  if (!value->refers || !value->old) return CALM_OK;
  switch (slot) {
    case TFLITE_operator_inputs:
    case TFLITE_operator_outputs: return CALM_OK;
    case TFLITE_operator_intermediates:
      return tflite_renumber_list(w, draft->places[slot], value->old);
    case TFLITE_OPTIONS_SLOT: return build_options(w, draft, u);
    default:
      return flat_copy_slot(&w->copier, draft, TFLITE_TABLE_operator, slot);
  }
}

static calm_status build_kept(tflite_rebuilder *w, size_t from, op_id u) {
  const graph_op *op = &w->edit->after.ops.data[u];
  const edit_op *descent = &w->edit->ops.data[u];
  flat_draft draft;
  TRY(flat_load(&draft, &w->copier, old_op(w, descent->from),
                (flat_kind_of){TFLITE_TABLE_operator, NULL}));
  TRY(tflite_check_places(w, &draft));
  TRY(draft_variables(w, &draft, op));
  flat_draft_object(&draft, TFLITE_operator_inputs, true);
  flat_draft_object(&draft, TFLITE_operator_outputs, true);
  if (w->op_codes[u] != CALM_NONE)
    flat_draft_number(&draft, TFLITE_operator_opcode_index, 4, w->op_codes[u],
                      0);
  TRY(flat_build_table(&w->to, from, &draft));
  TRY(build_both_operands(w, &draft, op));
  for (unsigned slot = 0; slot < FLAT_SLOTS; slot++)
    TRY(build_slot(w, &draft, u, slot));
  return CALM_OK;
}

/* ---- New ones ------------------------------------------------------------ */

static calm_status build_concat(tflite_rebuilder *w, size_t from, op_id u) {
  const uint8_t options = tflite_find_new_op(EDIT_JOIN)->options;
  if (flat_u8(tflite_old_file(w), old_op(w, w->edit->ops.data[u].from),
              TFLITE_operator_builtin_options_type, 0) != options)
    return tflite_refuse(w, "is to be made like an operator that is no concat");
  return build_kept(w, from, u);
}

/* The activation of an operator, 0: none. */
static uint8_t activation_of(const tflite_rebuilder *w, op_id u) {
  const flat_file *file = tflite_old_file(w);
  const flat_table table = old_op(w, u);
  const unsigned slot = tflite_activation_slot(
      flat_u8(file, table, TFLITE_operator_builtin_options_type, 0));
  if (slot >= FLAT_SLOTS) return 0;
  return flat_u8(file, flat_table_of(file, table, TFLITE_OPTIONS_SLOT), slot,
                 0);
}

static calm_status draft_new_options(flat_draft *options,
                                     const tflite_rebuilder *w, op_id u) {
  const edit_op *descent = &w->edit->ops.data[u];
  int64_t axis;
  if (descent->role == EDIT_ADD && descent->activation)
    flat_draft_number(options, ADD_ACTIVATION, 1,
                      activation_of(w, descent->from), 0);
  if (descent->role != EDIT_JOIN) return CALM_OK;
  TRY(read_axis(&axis, w, &w->edit->after.ops.data[u]));
  flat_draft_number(options, CONCAT_AXIS, 4, (uint64_t)axis & UINT32_MAX, 0);
  return CALM_OK;
}

static calm_status build_new(tflite_rebuilder *w, size_t from, op_id u,
                             const tflite_new_op *row) {
  flat_draft draft = {0}, options = {0};
  flat_draft_number(&draft, TFLITE_operator_opcode_index, 4, w->op_codes[u], 0);
  flat_draft_object(&draft, TFLITE_operator_inputs, true);
  flat_draft_object(&draft, TFLITE_operator_outputs, true);
  flat_draft_number(&draft, TFLITE_operator_builtin_options_type, 1,
                    row->options, 0);
  flat_draft_object(&draft, TFLITE_OPTIONS_SLOT, true);
  TRY(draft_new_options(&options, w, u));
  TRY(flat_build_table(&w->to, from, &draft));
  TRY(build_both_operands(w, &draft, &w->edit->after.ops.data[u]));
  return flat_build_table(&w->to, draft.places[TFLITE_OPTIONS_SLOT], &options);
}

static calm_status refuse_kind(const tflite_rebuilder *w, const graph_op *op) {
  return tflite_refuse(w, "is a %s, which .tflite does not have",
                       op->kind_name);
}

calm_status tflite_build_op(tflite_rebuilder *w, size_t from, op_id u) {
  const graph_op *op = &w->edit->after.ops.data[u];
  const edit_op *descent = &w->edit->ops.data[u];
  const graph_op *old = &w->edit->before->ops.data[descent->from];
  const tflite_new_op *row = tflite_find_new_op(descent->role);
  if (row)
    return op->kind == row->kind && w->op_codes[u] != CALM_NONE
               ? build_new(w, from, u, row)
               : refuse_kind(w, op);
  switch (descent->role) {
    case EDIT_KEEP:
    case EDIT_WINDOW:
      return op->kind == old->kind ? build_kept(w, from, u)
                                   : refuse_kind(w, op);
    case EDIT_CONCAT: return build_concat(w, from, u);
    default: return refuse_kind(w, op);
  }
}
