#include "report/report_facts.h"

#include <string.h>

#include "report/report_name.h"

/* ---- For people ---------------------------------------------------------- */

calm_status report_heading(text *out, const char *path, bool color) {
  arena scratch;
  arena_init(&scratch, out->context);
  const char *name = report_name_escaped(&scratch, path, ESCAPE_CONTROL);
  if (name) name = report_name_shortened(&scratch, name, REPORT_COLUMNS);
  if (name)
    text_format(out, "%s%s%s\n", report_tone_begin(TONE_TITLE, color), name,
                report_tone_end(color));
  arena_free(&scratch);
  return name ? CALM_OK : context_no_memory(out->context);
}

static void add_inplace_kinds(text *out, const memory_model *memory) {
  const size_t before = out->length;
  for (uint32_t kind = 0; kind <= OP_OPAQUE; kind++)
    if (bits_has(memory->inplace, kind))
      text_format(out, " %s", op_kind_name((op_kind)kind));
  if (out->length == before) text_format(out, " none");
}

static void add_views(text *out, const memory_model *memory,
                      const memory_model *preset) {
  if (preset && bits_equal(preset->views, memory->views, OP_KIND_WORDS)) return;
  text_format(out, ", views ");
  memory_model_views_word(out, memory);
}

/* The name says it all unless a column was overridden. */
static void describe_memory(text *out, const memory_model *memory) {
  const memory_model *preset = memory_model_find(memory->name);
  const char *word, *usual, *name;
  text_format(out, "memory model %s", memory->name);
  for (uint32_t i = 0; (name = memory_model_word(&word, memory, i)); i++) {
    if (preset) memory_model_word(&usual, preset, i);
    if (!preset || strcmp(word, usual)) text_format(out, ", %s %s", name, word);
  }
  add_views(out, memory, preset);
  if (!preset || preset->align != memory->align)
    text_format(out, ", align %s", report_number(memory->align).text);
  if (!preset || preset->round != memory->round)
    text_format(out, ", round %s", report_number(memory->round).text);
  if (preset && bits_equal(preset->inplace, memory->inplace, OP_KIND_WORDS))
    return;
  text_format(out, ", in place");
  add_inplace_kinds(out, memory);
}

static calm_status add_memory(text *out, const memory_model *memory) {
  text words;
  text_init(&words, out->context);
  describe_memory(&words, memory);
  return report_hanging_text(out, &words);
}

/* The arena of TensorFlow Lite Micro holds the scratch of its kernels, too, and
   what else it holds lies in its tail, of which a line of its own tells. */
static bool counts_kernels(const memory_model *memory) {
  return memory->subgraphs == SUBGRAPHS_TFLM;
}

/* A figure that does not say what it leaves out is taken for the whole. */
static calm_status add_exclusions(text *out, const plan_facts *facts,
                                  const memory_model *memory) {
  const struct {
    const char *what;
    uint64_t bytes;
  } parts[] = {{"weights", facts->weight_bytes},
               {"state", facts->state_bytes},
               {"inputs", facts->input_bytes},
               {"outputs", facts->output_bytes}};
  text words;
  text_init(&words, out->context);
  text_format(&words, "not counted: ");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i].bytes)
      text_format(&words, "%s bytes of %s, ",
                  report_number(parts[i].bytes).text, parts[i].what);
  text_format(&words, "%s",
              counts_kernels(memory)
                  ? "what the runtime keeps in the tail of its arena"
                  : "what the runtime and its kernels take for themselves");
  return report_hanging_text(out, &words);
}

calm_status report_title(text *out, const calm_model *model,
                         const plan_facts *facts, const memory_model *memory,
                         bool color) {
  TRY(report_heading(out, model->path, color));
  text_format(out, "  %s operators, %s tensors; ",
              report_number(facts->op_count).text,
              report_number(facts->tensor_count).text);
  text_format(out, "%s bytes of activations, %s of weights\n",
              report_number(facts->activation_bytes).text,
              report_number(facts->weight_bytes).text);
  TRY(add_memory(out, memory));
  return add_exclusions(out, facts, memory);
}

static void add_effort(text *out, const report_search *s) {
  text_format(out, "%s %.*s", report_number(s->effort_count).text,
              (int)strlen(s->effort) - (s->effort_count == 1), s->effort);
  if (s->timing) text_format(out, ", %.3f s", s->seconds);
}

/* Why there is no proof. */
static void add_reason(text *out, const report_search *s) {
  if (s->stopped == LIMITS_NONE)
    text_format(out, "no proof by this method");
  else
    text_format(out, "stopped by the %s", limits_reason_name(s->stopped));
}

static void add_open(text *out, const report_search *s) {
  text_format(out, "%s bytes, at least %s are proved, gap %s",
              report_number(s->value).text, report_number(s->bound).text,
              report_percent(s->value - s->bound, s->value).text);
}

static void add_end(text *out, const report_search *s) {
  text_format(out, "  %-7s ", "");
  add_reason(out, s);
  text_format(out, " (");
  add_effort(out, s);
  text_format(out, ")\n");
}

static void add_closed(text *out, const report_search *s) {
  text_format(out, "%s %s bytes (proved; ", s->nothing,
              report_number(s->value).text);
  add_effort(out, s);
  text_format(out, ")");
}

/* What was found, behind what the line already says. */
static void add_value(text *out, const report_search *s) {
  text words;
  const size_t column = strlen("  layout  ,  : ") + strlen(s->method) +
                        strlen(calm_outcome_name(s->outcome));
  text_init(&words, out->context);
  if (s->outcome == CALM_OPTIMAL)
    add_closed(&words, s);
  else
    add_open(&words, s);
  text_format(out, ": ");
  if (report_wrapped_text(out, &words, 10, (uint32_t)column))
    out->failed = true;
}

void report_outcome(text *out, const report_search *s, bool color) {
  static const report_tone tones[] = {TONE_GOOD, TONE_OPEN, TONE_BAD, TONE_BAD};
  text_format(out, "  %-7s %s, %s%s%s", s->what, s->method,
              report_tone_begin(tones[s->outcome], color),
              calm_outcome_name(s->outcome), report_tone_end(color));
  switch (s->outcome) {
    case CALM_OPTIMAL: add_value(out, s); break;
    case CALM_FEASIBLE:
      add_value(out, s);
      add_end(out, s);
      break;
    case CALM_INFEASIBLE:
      text_format(out, ": proved that there is none\n");
      break;
    case CALM_LIMIT:
      text_format(out, ": nothing found; ");
      add_reason(out, s);
      text_format(out, "\n");
  }
}

void report_budget(text *out, uint64_t budget, const char *what, uint64_t arena,
                   uint64_t bound, bool color) {
  if (budget == UINT64_MAX) return;
  const bool met = arena <= budget;
  text_format(out, "  budget  %s bytes%s: %s%s%s", report_number(budget).text,
              what, report_tone_begin(met ? TONE_GOOD : TONE_BAD, color),
              met ? "met" : "missed", report_tone_end(color));
  if (met)
    text_format(out, ", %s to spare\n", report_number(budget - arena).text);
  else
    text_format(out, " by %s%s\n", report_number(arena - budget).text,
                bound > budget ? "; proved that nothing fits into it" : "");
}

/* ---- For programs -------------------------------------------------------- */

/* Where a file lies differs from machine to machine; a report does not. */
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

static json_t *list_inplace(const memory_model *memory) {
  json_t *list = json_array();
  for (uint32_t kind = 0; kind <= OP_OPAQUE; kind++)
    if (bits_has(memory->inplace, kind))
      list = report_json_append(list, json_string(op_kind_name((op_kind)kind)));
  return list;
}

static json_t *views_word(arena *scratch, const memory_model *memory) {
  text word;
  text_init(&word, scratch->context);
  memory_model_views_word(&word, memory);
  json_t *value = word.failed ? NULL : json_string(word.data);
  text_free(&word);
  return value;
}

static json_t *list_columns(arena *scratch, const memory_model *memory) {
  json_t *columns = json_object();
  const char *word, *name;
  for (uint32_t i = 0; (name = memory_model_word(&word, memory, i)); i++)
    columns = report_json_member(columns, name, json_string(word));
  columns = report_json_member(columns, "views", views_word(scratch, memory));
  columns =
      report_json_member(columns, "align", report_json_number(memory->align));
  columns =
      report_json_member(columns, "round", report_json_number(memory->round));
  return report_json_member(columns, "inplace", list_inplace(memory));
}

json_t *report_json_head(arena *scratch, const char *schema,
                         const calm_model *model, const memory_model *memory) {
  return json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", schema, "model",
                   report_json_name(scratch, base_name(model->path)), "memory",
                   report_json_name(scratch, memory->name), "align",
                   report_json_number(memory->align), "columns",
                   list_columns(scratch, memory));
}

json_t *report_json_provenance(arena *scratch, const options_changed *changed) {
  json_t *options = json_object();
  for (uint32_t i = 0; i < changed->count; i++)
    options =
        report_json_member(options, changed->data[i].name,
                           report_json_name(scratch, changed->data[i].value));
  return json_pack("{s:s, s:o}", "calm", calm_version(), "options", options);
}

json_t *report_json_graph(arena *scratch, const graph *g,
                          const plan_facts *facts) {
  return json_pack("{s:o, s:I, s:I, s:o, s:o}", "name",
                   report_json_name(scratch, g->name), "ops",
                   (json_int_t)facts->op_count, "tensors",
                   (json_int_t)facts->tensor_count, "activation_bytes",
                   report_json_number(facts->activation_bytes), "weight_bytes",
                   report_json_number(facts->weight_bytes));
}

static json_t *list_unknown(const memory_model *memory) {
  if (counts_kernels(memory))
    return json_pack("[s]", "what the runtime keeps in the tail of its arena");
  return json_pack("[s, s]", "what the runtime takes for itself",
                   "what its kernels take for themselves");
}

json_t *report_json_excluded(const plan_facts *facts,
                             const memory_model *memory) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "weight_bytes",
                   report_json_number(facts->weight_bytes), "state_bytes",
                   report_json_number(facts->state_bytes), "input_bytes",
                   report_json_number(facts->input_bytes), "output_bytes",
                   report_json_number(facts->output_bytes), "unknown",
                   list_unknown(memory));
}

json_t *report_json_search(const report_search *s) {
  json_t *search = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "method",
                             s->method, "status", calm_outcome_name(s->outcome),
                             "bound_bytes", report_json_number(s->bound),
                             s->effort, report_json_number(s->effort_count),
                             "ticks", report_json_number(s->ticks), "stopped",
                             s->stopped == LIMITS_NONE
                                 ? json_null()
                                 : json_string(limits_reason_name(s->stopped)));
  if (!s->timing) return search;
  return report_json_member(search, "seconds", json_real(s->seconds));
}
