#include "report/report_steps.h"

#include <inttypes.h>
#include <string.h>

#include "report/report_name.h"

enum { BAR_COLUMNS = 30 };

static const char bar[] = "##############################";

calm_status report_steps(text *out, const graph *g, const op_id *sequence,
                         const memory_profile *profile, bool color) {
  static const report_column columns[] = {{"step", COLUMN_NUMBER},
                                          {"operator", COLUMN_NAME},
                                          {"kind", COLUMN_NAME},
                                          {"live bytes", COLUMN_NUMBER},
                                          {"", COLUMN_WORDS}};
  report_table t;
  report_table_init(&t, out->context, columns, 5);
  const double whole = (double)profile->peak_bytes;
  for (uint32_t step = 0; step < g->ops.count; step++) {
    const graph_op *op = &g->ops.data[sequence[step]];
    const uint64_t bytes = profile->step_bytes[step];
    const int length =
        whole > 0 ? (int)((double)bytes / whole * BAR_COLUMNS) : 0;
    report_table_number(&t, step);
    report_table_name(&t, op->name);
    report_table_name(&t, op->kind_name);
    report_table_number(&t, bytes);
    report_table_cell(&t, "%.*s%s", length, bar,
                      step == profile->peak_step ? " peak" : "");
  }
  return report_table_finish(&t, out, color);
}

static void write_shape(text *out, const graph_tensor *tensor) {
  if (tensor->type == ELEMENT_ABSTRACT) {
    text_format(out, "-");
    return;
  }
  text_format(out, "%s[", element_type_name(tensor->type));
  for (uint32_t i = 0; i < tensor->rank; i++)
    text_format(out, "%s%" PRId64, i ? "," : "", tensor->dimensions[i]);
  text_format(out, "]");
}

void report_add_shape(report_table *t, const graph_tensor *tensor) {
  text shape;
  text_init(&shape, t->scratch.context);
  write_shape(&shape, tensor);
  if (shape.failed)
    t->failed = true;
  else
    report_table_name(t, shape.data);
  text_free(&shape);
}

static const char *role_of(const graph_tensor *tensor) {
  if (tensor->flags & CALM_TENSOR_CONST) return "const";
  if (tensor->flags & CALM_TENSOR_VARIABLE) return "variable";
  if (tensor->flags & CALM_TENSOR_INPUT)
    return tensor->flags & CALM_TENSOR_OUTPUT ? "input, output" : "input";
  return tensor->flags & CALM_TENSOR_OUTPUT ? "output" : "";
}

/* Weights are many and take no part in the arena. */
static bool takes_part(const graph_tensor *tensor, const memory_life *life) {
  return life->counted || !(tensor->flags & CALM_TENSOR_CONST);
}

static void add_steps_cell(report_table *t, const memory_life *life) {
  if (life->counted)
    report_table_cell(t, "%" PRIu32 "-%" PRIu32, life->first, life->last);
  else
    report_table_cell(t, "-");
}

static void add_offset_cell(report_table *t, const uint64_t *offsets,
                            tensor_id tensor) {
  if (offsets && offsets[tensor] != UINT64_MAX)
    report_table_number(t, offsets[tensor]);
  else
    report_table_cell(t, "%s", offsets ? "-" : "");
}

/* A tensor without bytes of its own may be made of another's. */
static void add_role_cell(report_table *t, const graph *g, tensor_id tensor,
                          const memory_life *life) {
  if (!life->counted && life->storage != tensor &&
      life->storage < g->tensors.count)
    report_table_name(t, g->tensors.data[life->storage].name);
  else
    report_table_cell(t, "%s", role_of(&g->tensors.data[tensor]));
}

calm_status report_tensors(text *out, const graph *g,
                           const memory_profile *profile,
                           const uint64_t *offsets, bool color) {
  const report_column columns[] = {
      {"tensor", COLUMN_NAME},  {"shape", COLUMN_NAME},
      {"bytes", COLUMN_NUMBER}, {offsets ? "offset" : "", COLUMN_NUMBER},
      {"steps", COLUMN_NUMBER}, {"role, or same bytes as", COLUMN_NAME}};
  report_table t;
  report_table_init(&t, out->context, columns, 6);
  for (tensor_id i = 0; i < g->tensors.count; i++) {
    const graph_tensor *tensor = &g->tensors.data[i];
    const memory_life *life = &profile->lives[i];
    if (!takes_part(tensor, life)) continue;
    report_table_name(&t, tensor->name);
    report_add_shape(&t, tensor);
    report_table_number(&t, life->counted ? life->bytes : tensor->bytes);
    add_offset_cell(&t, offsets, i);
    add_steps_cell(&t, life);
    add_role_cell(&t, g, i, life);
  }
  return report_table_finish(&t, out, color);
}
