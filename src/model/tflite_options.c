#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/tflite_parts.h"

/* ---- Attributes ---------------------------------------------------------- */

typedef enum option_form {
  FORM_NUMBER,
  FORM_UNLESS,
  FORM_PADDING,
  FORM_ACTIVATION,
  FORM_SWITCH
} option_form;

enum { MAX_SLOTS = 3, NO_SLOT = 255 };

typedef struct option_row {
  int32_t builtin;
  uint8_t type;
  option_form form;
  int32_t absent;
  const char *key;
  uint8_t slots[MAX_SLOTS + 1]; /* ends with NO_SLOT */
} option_row;

#define FIRST_THREE(a, b, c, ...) \
  { a, b, c, NO_SLOT }
static const option_row rows[] = {
#define OPTION(builtin, type, key, form, absent, ...) \
  {builtin, type, FORM_##form,                        \
   absent,  key,  FIRST_THREE(__VA_ARGS__, NO_SLOT, NO_SLOT, NO_SLOT)},
#include "model/tflite_options.def"
#undef OPTION
};

/* The name of choice `code`, or its number if it has none. */
static void print_choice(char *out, const char *const *names, int32_t count,
                         int32_t code) {
  if (code >= 0 && code < count)
    snprintf(out, TFLITE_VALUE_BYTES, "%s", names[code]);
  else
    snprintf(out, TFLITE_VALUE_BYTES, "%" PRId32, code);
}

/* "1,2"; false if all are what they are when nothing is said. */
static bool print_numbers(char *out, const flat_file *file, flat_table options,
                          const option_row *row) {
  size_t used = 0;
  bool said = false;
  for (unsigned i = 0; row->slots[i] != NO_SLOT; i++) {
    int32_t value = flat_i32(file, options, row->slots[i], row->absent);
    said = said || value != row->absent;
    used += (size_t)snprintf(out + used, TFLITE_VALUE_BYTES - used,
                             "%s%" PRId32, i ? "," : "", value);
  }
  return said || row->form == FORM_NUMBER;
}

/* False: there is nothing to write. */
static bool print_value(char *out, const flat_file *file, flat_table options,
                        const option_row *row) {
  static const char *const paddings[] = {"same", "valid"};
  static const char *const activations[] = {"none",  "relu", "relu_n1_to_1",
                                            "relu6", "tanh", "sign_bit"};
  int32_t code = flat_i8(file, options, row->slots[0], 0);
  switch (row->form) {
    case FORM_NUMBER:
    case FORM_UNLESS: return print_numbers(out, file, options, row);
    case FORM_PADDING: print_choice(out, paddings, 2, code); return true;
    case FORM_ACTIVATION: print_choice(out, activations, 6, code); break;
    case FORM_SWITCH: snprintf(out, TFLITE_VALUE_BYTES, "true"); break;
  }
  return code != 0;
}

static flat_table options_of(const tflite_reader *r, flat_table table,
                             uint8_t type) {
  uint8_t stored =
      flat_u8(&r->file, table, TFLITE_operator_builtin_options_type, 0);
  return stored == type ? flat_table_of(&r->file, table, TFLITE_OPTIONS_SLOT)
                        : 0;
}

void tflite_read_attributes(tflite_attributes *out, const tflite_reader *r,
                            const graph *g, const graph_op *op,
                            flat_table table, int32_t builtin) {
  out->count = 0;
  tflite_read_operands(out, r, g, op, table, builtin);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const option_row *row = &rows[i];
    if (row->builtin != builtin) continue;
    flat_table options = options_of(r, table, row->type);
    char *value = out->values[out->count];
    if (!options || !print_value(value, &r->file, options, row)) continue;
    out->list[out->count++] = (graph_attribute){row->key, value};
  }
}

unsigned tflite_activation_slot(uint8_t type) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].type == type && rows[i].form == FORM_ACTIVATION)
      return rows[i].slots[0];
  return NO_SLOT;
}

const uint8_t *tflite_option_slots(uint8_t type, const char *key) {
  static const uint8_t none[] = {NO_SLOT};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].type == type && !strcmp(rows[i].key, key)) return rows[i].slots;
  return none;
}

/* ---- Bodies -------------------------------------------------------------- */

/* Which subgraphs an operator runs: the first `count` slots of its options. */
static const struct body_row {
  int32_t builtin;
  uint8_t type, count;
  const char *name;
} body_rows[] = {{31, 16, 1, "CALL"},
                 {118, 92, 2, "IF"},
                 {119, 93, 2, "WHILE"},
                 {129, 103, 1, "CALL_ONCE"}};

static calm_status read_bodies(uint32_t out[2], const tflite_reader *r,
                               flat_table table, const struct body_row *row,
                               uint32_t index) {
  flat_table options = options_of(r, table, row->type);
  if (!options)
    return tflite_fail(r, table, "operator", index,
                       "%s does not say which subgraphs it runs", row->name);
  for (uint8_t i = 0; i < row->count; i++) {
    out[i] = flat_u32(&r->file, options, i, 0);
    if (out[i] >= r->subgraphs.count)
      return tflite_fail(r, options, "operator", index,
                         "%s runs subgraph %" PRId32 ", but there are %" PRIu32,
                         row->name, (int32_t)out[i], r->subgraphs.count);
  }
  return CALM_OK;
}

calm_status tflite_read_bodies(uint32_t out[2], uint32_t *count,
                               const tflite_reader *r, flat_table table,
                               int32_t builtin, uint32_t index) {
  *count = 0;
  for (size_t i = 0; i < sizeof body_rows / sizeof *body_rows; i++) {
    if (body_rows[i].builtin != builtin) continue;
    *count = body_rows[i].count;
    return read_bodies(out, r, table, &body_rows[i], index);
  }
  return CALM_OK;
}
