/* An inspection, for people and for programs. */
#include <inttypes.h>

#include "report/report_arena.h"
#include "report/report_facts.h"
#include "report/report_mark.h"
#include "report/report_name.h"
#include "report/report_steps.h"
#include "report/report_traffic.h"

enum { SHOWN_TENSORS = 10, SHOWN_REMEDIES = 6, SHOWN_STEPS = 120 };

/* ---- What is in it ------------------------------------------------------- */

typedef struct kind_count {
  const char *kind;
  uint32_t count;
} kind_count;

/* Operators by kind, in the order of their first appearance. */
static calm_status count_kinds(kind_count **out, uint32_t *out_count,
                               const graph *g, arena *scratch) {
  name_table index;
  kind_count *kinds;
  uint32_t count = 0;
  ARENA_ARRAY(scratch, kinds, g->ops.count);
  name_table_init(&index, scratch->context);
  calm_status status = CALM_OK;
  for (op_id op = 0; op < g->ops.count && status == CALM_OK; op++) {
    const char *kind = g->ops.data[op].kind_name;
    uint32_t at = name_table_find(&index, kind);
    if (at == CALM_NONE) {
      at = count++;
      kinds[at].kind = kind;
      status = name_table_add(&index, kind, at);
    }
    kinds[at].count++;
  }
  name_table_free(&index);
  *out = kinds;
  *out_count = count;
  return status;
}

/* "  12 conv2d, 3 concat, ..." over as many lines as it takes. */
static calm_status write_kinds(text *out, const graph *g, arena *scratch) {
  kind_count *kinds;
  uint32_t count;
  size_t line = out->length;
  TRY(count_kinds(&kinds, &count, g, scratch));
  for (uint32_t i = 0; i < count; i++) {
    const char *name =
        report_name_escaped(scratch, kinds[i].kind, ESCAPE_CONTROL);
    if (name) name = report_name_shortened(scratch, name, REPORT_COLUMNS / 2);
    if (!name) return context_no_memory(out->context);
    const report_digits number = report_number(kinds[i].count);
    if (i == 0 ||
        out->length - line + report_name_columns(name) + 16 > REPORT_COLUMNS) {
      text_format(out, i ? ",\n  " : "  ");
      line = out->length - 2;
    } else {
      text_format(out, ", ");
    }
    text_format(out, "%s %s", number.text, name);
  }
  text_format(out, count ? "\n" : "");
  return CALM_OK;
}

static void add_interface(report_table *t, const graph *g, unsigned flag,
                          const char *role) {
  for (tensor_id i = 0; i < g->tensors.count; i++) {
    const graph_tensor *tensor = &g->tensors.data[i];
    if (!(tensor->flags & flag)) continue;
    report_table_cell(t, "%s", role);
    report_table_name(t, tensor->name);
    report_add_shape(t, tensor);
    report_table_number(t, tensor->bytes);
  }
}

static calm_status write_interface(text *out, const graph *g, bool color) {
  static const report_column columns[] = {{NULL, COLUMN_WORDS},
                                          {NULL, COLUMN_NAME},
                                          {NULL, COLUMN_NAME},
                                          {NULL, COLUMN_NUMBER}};
  report_table t;
  report_table_init(&t, out->context, columns, 4);
  add_interface(&t, g, CALM_TENSOR_INPUT, "input");
  add_interface(&t, g, CALM_TENSOR_OUTPUT, "output");
  add_interface(&t, g, CALM_TENSOR_VARIABLE, "variable");
  return report_table_finish(&t, out, color);
}

static void write_offline(text *out, const model_offline_plan *plan) {
  if (!plan->present) return;
  text_format(out,
              "  carries an offline plan for %s tensors; calm check verifies "
              "it\n",
              report_number(plan->word_count).text);
}

/* What it relies on. */
static calm_status write_mark(text *out, const calm_inspection *i) {
  const model_mark *mark = &i->model->offline.mark;
  text words;
  if (!mark->present) return CALM_OK;
  text_init(&words, out->context);
  text_format(&words, "calm.overlap: ");
  report_mark(&words, mark, i->mark_holds);
  return report_hanging_text(out, &words);
}

/* As it is, with the plan inside it. */
static calm_status write_arena(text *out, const calm_inspection *i) {
  text words;
  if (!i->tflm) return CALM_OK;
  text_init(&words, out->context);
  text_format(&words, "TensorFlow Lite Micro's arena for it: ");
  report_arena(&words, i->head_bytes, &i->tail);
  text_format(&words, "; ");
  report_tail_build(&words, &i->tail);
  return report_hanging_text(out, &words);
}

/* ---- Why its peak is what it is ------------------------------------------ */

static calm_status write_alive(text *out, const calm_inspection *i,
                               const tensor_id *tensors, uint32_t count,
                               bool color) {
  static const report_column columns[] = {
      {NULL, COLUMN_NUMBER}, {NULL, COLUMN_NAME}, {NULL, COLUMN_WORDS}};
  report_table t;
  report_table_init(&t, out->context, columns, 3);
  for (uint32_t k = 0; k < count && k < SHOWN_TENSORS; k++) {
    const memory_life *life = &i->profile.lives[tensors[k]];
    report_table_cell(&t, "%12s", report_number(life->bytes).text);
    report_table_name(&t, i->graph->tensors.data[tensors[k]].name);
    report_table_cell(&t, "steps %" PRIu32 "-%" PRIu32, life->first,
                      life->last);
  }
  TRY(report_table_finish(&t, out, color));
  if (count > SHOWN_TENSORS)
    text_format(out, "  %12s  and %s smaller ones\n", "",
                report_number(count - SHOWN_TENSORS).text);
  return CALM_OK;
}

static calm_status add_op_name(text *out, const graph *g, op_id op,
                               arena *scratch) {
  const char *name =
      report_name_escaped(scratch, g->ops.data[op].name, ESCAPE_CONTROL);
  if (name) name = report_name_shortened(scratch, name, REPORT_COLUMNS / 3);
  if (!name) return context_no_memory(scratch->context);
  text_format(out, "%s", name);
  return CALM_OK;
}

static calm_status write_peak(text *out, const calm_inspection *i, bool color,
                              arena *scratch) {
  const memory_explanation *e = &i->explanation;
  if (e->op == CALM_NONE) {
    text_format(out, "  no operators: nothing runs\n");
    return CALM_OK;
  }
  text_format(out, "  peak in file order %s%s bytes%s, at step %" PRIu32 ": ",
              report_tone_begin(TONE_TITLE, color),
              report_number(i->profile.peak_bytes).text, report_tone_end(color),
              e->step);
  TRY(add_op_name(out, i->graph, e->op, scratch));
  text_format(out, "; alive there:\n");
  return write_alive(out, i, e->alive, e->alive_count, color);
}

static calm_status write_floor(text *out, const calm_inspection *i, bool color,
                               arena *scratch) {
  const memory_explanation *e = &i->explanation;
  if (e->floor_op == CALM_NONE) return CALM_OK;
  text_format(out, "  no order needs less than %s%s bytes%s: ",
              report_tone_begin(TONE_TITLE, color),
              report_number(e->floor_bytes).text, report_tone_end(color));
  TRY(add_op_name(out, i->graph, e->floor_op, scratch));
  text_format(out, " alone works on:\n");
  return write_alive(out, i, e->floor_alive, e->floor_alive_count, color);
}

static calm_status write_remedies(text *out, const calm_inspection *i) {
  const memory_explanation *e = &i->explanation;
  if (e->remedy_count)
    text_format(out, "  what would lower it, if the runtime can do it:\n");
  for (uint32_t k = 0; k < e->remedy_count && k < SHOWN_REMEDIES; k++) {
    const memory_remedy *r = &e->remedies[k];
    text_format(out, "    ");
    TRY(report_wrapped(out, r->text, 6, 4));
    text_format(out, "      least for any order %s,",
                report_number(r->floor_bytes).text);
    text_format(out, " peak in file order %s\n",
                report_number(r->peak_bytes).text);
  }
  if (i->site_count)
    text_format(out, "  calm plan --rewrite auto can choose among %s %s\n",
                report_number(i->site_count).text,
                i->site_count == 1 ? "site to rewrite" : "sites to rewrite");
  return CALM_OK;
}

/* ---- Table --------------------------------------------------------------- */

static calm_status write_lists(text *out, const calm_inspection *i,
                               bool complete, bool color) {
  if (i->graph->ops.count == 0) return CALM_OK;
  if (!complete && i->graph->ops.count > SHOWN_STEPS) {
    text_format(out, "\n  -v lists all %s steps and the tensors\n",
                report_number(i->graph->ops.count).text);
    return CALM_OK;
  }
  text_format(out, "\n");
  TRY(report_steps(out, i->graph, i->sequence, &i->profile, color));
  if (!complete) return CALM_OK;
  text_format(out, "\n");
  return report_tensors(out, i->graph, &i->profile, NULL, color);
}

static calm_status write_table(text *out, const calm_inspection *i,
                               bool complete, bool color, arena *scratch) {
  TRY(report_title(out, i->model, &i->facts, &i->memory, color));
  write_offline(out, &i->model->offline);
  TRY(write_mark(out, i));
  TRY(write_arena(out, i));
  if (i->timing) text_format(out, "  inspected in %.3f s\n", i->seconds);
  text_format(out, "\n");
  TRY(write_kinds(out, i->graph, scratch));
  TRY(write_interface(out, i->graph, color));
  text_format(out, "\n");
  TRY(write_peak(out, i, color, scratch));
  text_format(out, "\n");
  TRY(write_floor(out, i, color, scratch));
  TRY(write_remedies(out, i));
  TRY(report_traffic(out, &i->traffic, color));
  TRY(write_lists(out, i, complete, color));
  return complete ? report_traffic_lists(out, &i->traffic, color) : CALM_OK;
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *list_alive(arena *scratch, const calm_inspection *i,
                          const tensor_id *tensors, uint32_t count) {
  json_t *list = json_array();
  for (uint32_t k = 0; k < count; k++) {
    const memory_life *life = &i->profile.lives[tensors[k]];
    const char *name = i->graph->tensors.data[tensors[k]].name;
    list = report_json_append(
        list,
        json_pack("{s:o, s:o, s:I, s:I}", "name",
                  report_json_name(scratch, name), "bytes",
                  report_json_number(life->bytes), "first",
                  (json_int_t)life->first, "last", (json_int_t)life->last));
  }
  return list;
}

/* A step that sets a figure: the peak, or the floor of all orders. */
static json_t *write_cause(arena *scratch, const calm_inspection *i, op_id op,
                           uint64_t bytes, const tensor_id *alive,
                           uint32_t count) {
  const char *name = op == CALM_NONE ? NULL : i->graph->ops.data[op].name;
  return json_pack("{s:o, s:o, s:o}", "bytes", report_json_number(bytes), "op",
                   report_json_name(scratch, name), "alive",
                   list_alive(scratch, i, alive, count));
}

static json_t *list_remedies(arena *scratch, const memory_explanation *e) {
  json_t *list = json_array();
  for (uint32_t k = 0; k < e->remedy_count; k++) {
    const memory_remedy *r = &e->remedies[k];
    list = report_json_append(
        list,
        json_pack("{s:o, s:o, s:o}", "text", report_json_name(scratch, r->text),
                  "floor_bytes", report_json_number(r->floor_bytes),
                  "peak_bytes", report_json_number(r->peak_bytes)));
  }
  return list;
}

static json_t *list_steps(arena *scratch, const calm_inspection *i) {
  json_t *list = json_array();
  for (uint32_t step = 0; step < i->graph->ops.count; step++) {
    const graph_op *op = &i->graph->ops.data[i->sequence[step]];
    list = report_json_append(
        list, json_pack("{s:I, s:o, s:I, s:o, s:o}", "step", (json_int_t)step,
                        "op", report_json_name(scratch, op->name), "index",
                        (json_int_t)op->file_index, "kind",
                        report_json_name(scratch, op->kind_name), "bytes",
                        report_json_number(i->profile.step_bytes[step])));
  }
  return list;
}

static json_t *list_shape(const graph_tensor *tensor) {
  json_t *list = json_array();
  for (uint32_t d = 0; d < tensor->rank; d++)
    list = report_json_append(list, json_integer(tensor->dimensions[d]));
  return list;
}

/* When the tensor's own bytes lie in the arena; null, null if they do not. */
static json_t *write_life(const memory_life *life) {
  if (!life->counted)
    return json_pack("{s:b, s:n, s:n}", "counted", 0, "first", "last");
  return json_pack("{s:b, s:I, s:I}", "counted", 1, "first",
                   (json_int_t)life->first, "last", (json_int_t)life->last);
}

static json_t *write_tensor(arena *scratch, const graph_tensor *tensor,
                            const memory_life *life) {
  const bool typed = tensor->type != ELEMENT_ABSTRACT;
  json_t *object = json_pack(
      "{s:o, s:I, s:o, s:o, s:o, s:b, s:b, s:b, s:b}", "name",
      report_json_name(scratch, tensor->name), "index",
      (json_int_t)tensor->file_index, "type",
      typed ? json_string(element_type_name(tensor->type)) : json_null(),
      "shape", typed ? list_shape(tensor) : json_null(), "bytes",
      report_json_number(tensor->bytes), "input",
      (tensor->flags & CALM_TENSOR_INPUT) != 0, "output",
      (tensor->flags & CALM_TENSOR_OUTPUT) != 0, "const",
      (tensor->flags & CALM_TENSOR_CONST) != 0, "variable",
      (tensor->flags & CALM_TENSOR_VARIABLE) != 0);
  return report_json_merge(object, write_life(life));
}

static json_t *list_tensors(arena *scratch, const calm_inspection *i) {
  json_t *list = json_array();
  for (tensor_id t = 0; t < i->graph->tensors.count; t++)
    list = report_json_append(list,
                              write_tensor(scratch, &i->graph->tensors.data[t],
                                           &i->profile.lives[t]));
  return list;
}

static json_t *write_runtime(const calm_inspection *i) {
  if (!i->tflm) return json_null();
  return report_json_arena(json_pack("{s:s}", "name", "tflm"), i->head_bytes,
                           &i->tail);
}

static json_t *write_json(arena *scratch, const calm_inspection *i) {
  const memory_explanation *e = &i->explanation;
  json_t *root =
      report_json_head(scratch, "calm/inspect/1", i->model, &i->memory);
  root = report_json_member(root, "graph",
                            report_json_graph(scratch, i->graph, &i->facts));
  root = report_json_member(root, "excluded",
                            report_json_excluded(&i->facts, &i->memory));
  root = report_json_member(root, "file_order_valid",
                            json_boolean(i->graph->file_order_valid));
  root = report_json_member(root, "offline_plan",
                            json_boolean(i->model->offline.present));
  root = report_json_member(
      root, "mark",
      report_json_mark(scratch, &i->model->offline.mark, i->mark_holds));
  root = report_json_member(root, "runtime", write_runtime(i));
  root = report_json_member(root, "peak_bytes",
                            report_json_number(i->profile.peak_bytes));
  root =
      report_json_member(root, "peak_step", json_integer(i->profile.peak_step));
  root =
      report_json_member(root, "peak",
                         write_cause(scratch, i, e->op, i->profile.peak_bytes,
                                     e->alive, e->alive_count));
  root = report_json_member(root, "floor",
                            write_cause(scratch, i, e->floor_op, e->floor_bytes,
                                        e->floor_alive, e->floor_alive_count));
  root = report_json_member(root, "traffic",
                            report_traffic_json(scratch, &i->traffic));
  root = report_json_member(root, "remedies", list_remedies(scratch, e));
  root = report_json_member(root, "rewrite_sites",
                            json_integer((json_int_t)i->site_count));
  root = report_json_member(root, "steps", list_steps(scratch, i));
  root = report_json_member(root, "tensors", list_tensors(scratch, i));
  root = report_json_member(root, "provenance",
                            report_json_provenance(scratch, &i->changed));
  if (!i->timing) return root;
  return report_json_member(root, "seconds", json_real(i->seconds));
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status render(text *out, const calm_inspection *i,
                          calm_format format, bool color, arena *scratch) {
  switch (format) {
    case CALM_FORMAT_JSON:
      return report_json_write(out, write_json(scratch, i));
    case CALM_FORMAT_TRAFFIC:
      return report_traffic_csv(out, &i->traffic, scratch);
    case CALM_FORMAT_CSV:
      return context_fail(i->context, CALM_MISUSE,
                          "an inspection has no CSV form");
    default:
      return write_table(out, i, format == CALM_FORMAT_LONG, color, scratch);
  }
}

calm_status calm_inspection_render(char **out,
                                   const calm_inspection *inspection,
                                   calm_format format, bool color) {
  text t;
  arena scratch;
  text_init(&t, inspection->context);
  arena_init(&scratch, inspection->context);
  calm_status status = render(&t, inspection, format, color, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
