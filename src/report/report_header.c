/*
 * A plan as a C header: macros for people who write code by hand, arrays for
 * code that is generated.  Everything carries the name of the model, so that
 * the headers of two models can be included side by side.
 */
#include <inttypes.h>
#include <string.h>

#include "memory/memory_tflm.h"
#include "report/report_arena.h"
#include "report/report_blocks.h"
#include "report/report_emit.h"
#include "report/report_identifier.h"
#include "report/report_plan.h"

typedef struct header {
  text *out;
  const calm_plan *plan;
  arena *scratch;
  const char *upper, *lower; /* the model's name, "CALM_NET" and "calm_net" */
  const char *type;          /* of bytes */
  uint64_t nowhere;          /* its greatest value */
  report_blocks blocks;
  identifiers told;
} header;

/* ---- What it is about ---------------------------------------------------- */

static void write_whose_offsets(header *h) {
  const calm_plan *plan = h->plan;
  if (plan_is_for(plan, "tflm") && plan->runtime.source == PLAN_NONE)
    text_format(h->out,
                " * No plan helps here: these are the offsets that the "
                "runtime is expected to choose.\n");
  if (plan_is_for(plan, "litert"))
    text_format(h->out,
                " * TensorFlow Lite takes no offsets: these are those that it "
                "is expected to choose.\n");
  if (plan_is_for(plan, "ort"))
    text_format(h->out,
                " * ONNX Runtime takes no offsets and chooses its own.\n");
}

static void write_source(header *h) {
  const calm_plan *plan = h->plan;
  text_format(h->out, "/*\n * The memory plan of ");
  report_comment(h->out, report_file_name(plan->model->path));
  text_format(h->out, ", made by calm " CALM_VERSION ".\n *\n");
  text_format(h->out, " * Graph \"");
  report_comment(h->out, plan->graph->name);
  text_format(h->out, "\", memory model ");
  report_comment(h->out, plan->memory.name);
  text_format(h->out, "; order%s %s, layout %s.\n",
              plan->traffic.least.wanted ? " of least traffic" : "",
              calm_outcome_name(plan->summary.order_outcome),
              calm_outcome_name(plan->summary.layout_outcome));
  text_format(h->out,
              " * Offsets and sizes are bytes.  Offsets count from the "
              "beginning of an arena\n"
              " * that is aligned as its tensors need it, at least to "
              "%s_ARENA_ALIGN.\n"
              " * Steps count from 0 in the order below.\n",
              h->upper);
  write_whose_offsets(h);
  if (plan_is_for(plan, "tflm"))
    report_arena_comment(h->out, plan->runtime.head_bytes, &plan->runtime.tail);
  text_format(h->out, " */\n");
}

static void define(header *h, const char *what, uint64_t value) {
  text_format(h->out, "#define %s_%s %" PRIu64 "u\n", h->upper, what, value);
}

static void write_figures(header *h) {
  const calm_plan *plan = h->plan;
  define(h, "ARENA_BYTES", plan->summary.arena_bytes);
  define(h, "ARENA_ALIGN", plan->memory.align);
  define(h, "PEAK_BYTES", plan->summary.peak_bytes);
  define(h, "OPERATORS", plan->graph->ops.count);
  define(h, "TENSORS", plan->graph->tensors.count);
  text_format(h->out, "/* The offset of what has none. */\n");
  define(h, "NOWHERE", h->nowhere);
}

/* ---- One macro for each offset and each size ----------------------------- */

static calm_status define_place(header *h, const char *before, const char *name,
                                uint64_t offset, uint64_t bytes) {
  text word;
  const char *told = NULL;
  const char *spelled = report_identifier(h->scratch, name, IDENTIFIER_UPPER);
  if (!spelled) return context_no_memory(h->out->context);
  text_init(&word, h->out->context);
  text_format(&word, "%s%s", before, spelled);
  const char *kept =
      word.failed ? NULL : arena_string(h->scratch, word.data, word.length);
  text_free(&word);
  if (!kept) return context_no_memory(h->out->context);
  TRY(identifiers_tell(&told, &h->told, kept));
  text_format(h->out, "#define %s_OFFSET_%s %" PRIu64 "u\n", h->upper, told,
              offset);
  text_format(h->out, "#define %s_BYTES_%s %" PRIu64 "u\n", h->upper, told,
              bytes);
  return CALM_OK;
}

static void begin_comment(header *h, const char *what, const char *name) {
  text_format(h->out, "/* %s\"", what);
  report_comment(h->out, name);
  text_format(h->out, "\"");
}

static bool has_offset(const header *h, tensor_id t) {
  return h->plan->offsets[t] != UINT64_MAX &&
         h->plan->graph->tensors.data[t].bytes;
}

static calm_status write_tensor(header *h, tensor_id t) {
  const graph_tensor *tensor = &h->plan->graph->tensors.data[t];
  const memory_life *life = &h->plan->profile.lives[t];
  const char *absence = report_tensor_absence(h->plan, t);
  begin_comment(h, "", tensor->name);
  if (absence)
    text_format(h->out, ": %s", absence);
  else
    text_format(h->out, ": steps %" PRIu32 " to %" PRIu32, life->first,
                life->last);
  text_format(h->out, " */\n");
  if (!has_offset(h, t)) return CALM_OK;
  return define_place(h, "", tensor->name, h->plan->offsets[t],
                      absence ? tensor->bytes : life->bytes);
}

static calm_status write_tensors(header *h) {
  text_format(h->out, "\n/* Tensors, by number. */\n\n");
  for (tensor_id t = 0; t < h->plan->graph->tensors.count; t++)
    TRY(write_tensor(h, t));
  return CALM_OK;
}

static calm_status write_scratch(header *h) {
  bool titled = false;
  for (uint32_t i = 0; i < h->blocks.count; i++) {
    const report_block *b = &h->blocks.data[i];
    if (!b->scratch) continue;
    if (!titled) text_format(h->out, "\n/* Scratch of operators. */\n\n");
    titled = true;
    begin_comment(h, "", b->name);
    text_format(h->out, ": step %" PRIu32 " */\n", b->first);
    TRY(define_place(h, "SCRATCH_", b->name, b->offset, b->bytes));
  }
  return CALM_OK;
}

/* ---- Other graphs of the model ------------------------------------------- */

/* Bodies of the entry's operators are placed with it for TensorFlow Lite Micro,
   else they are scratch of whatever runs them. */
static calm_status write_other_graph(header *h, uint32_t i) {
  const graph *g = &h->plan->model->graphs.data[i];
  char before[24];
  snprintf(before, sizeof before, "G%" PRIu32 "_", i);
  text_format(h->out, "\n");
  begin_comment(h, "Graph ", g->name);
  if (!plan_is_for(h->plan, "tflm")) {
    text_format(h->out,
                ": not planned here; what it needs is scratch of the "
                "operator\n   that runs it. */\n");
    return CALM_OK;
  }
  text_format(h->out, ": its tensors lie in the same arena. */\n\n");
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    const uint64_t offset = h->plan->graphs[i].offsets[t];
    const bool placed = tflm_places(tensor, offset);
    begin_comment(h, "", tensor->name);
    text_format(h->out, "%s */\n",
                !placed                ? ": not in the arena"
                : offset == UINT64_MAX ? ": placed by the runtime"
                                       : "");
    if (placed && offset != UINT64_MAX)
      TRY(define_place(h, before, tensor->name, offset,
                       tflm_tensor_bytes(tensor)));
  }
  return CALM_OK;
}

/* ---- Arrays -------------------------------------------------------------- */

typedef uint64_t element(const header *h, uint32_t index);

static uint64_t offset_at(const header *h, uint32_t t) {
  return has_offset(h, t) ? h->plan->offsets[t] : h->nowhere;
}

static uint64_t bytes_at(const header *h, uint32_t t) {
  if (!has_offset(h, t)) return 0;
  return report_tensor_absence(h->plan, t)
             ? h->plan->graph->tensors.data[t].bytes
             : h->plan->profile.lives[t].bytes;
}

static uint64_t op_at(const header *h, uint32_t step) {
  return h->plan->graph->ops.data[h->plan->sequence[step]].file_index;
}

static uint64_t step_bytes_at(const header *h, uint32_t step) {
  return h->plan->profile.step_bytes[step];
}

static void write_array(header *h, const char *type, const char *name,
                        const char *length, uint32_t count, element *at) {
  enum { PER_LINE = 6 };
  if (count == 0) return; /* C has no empty arrays */
  text_format(h->out, "static const %s %s_%s[%s_%s] = {", type, h->lower, name,
              h->upper, length);
  for (uint32_t i = 0; i < count; i++)
    text_format(h->out, "%s%" PRIu64 "u%s", i % PER_LINE ? " " : "\n    ",
                at(h, i), i + 1 < count ? "," : "};\n");
}

static void write_arrays(header *h) {
  const graph *g = h->plan->graph;
  text_format(h->out, "\n/* By tensor, in the order of the macros above. */\n");
  write_array(h, h->type, "offsets", "TENSORS", g->tensors.count, offset_at);
  write_array(h, h->type, "bytes", "TENSORS", g->tensors.count, bytes_at);
  text_format(h->out,
              "\n/* By step: the operator's number in the file, and the "
              "bytes alive. */\n");
  write_array(h, "uint32_t", "order", "OPERATORS", g->ops.count, op_at);
  write_array(h, h->type, "alive", "OPERATORS", g->ops.count, step_bytes_at);
}

static void write_order(header *h) {
  const graph *g = h->plan->graph;
  text_format(h->out, "\n/* Operators, in running order:\n");
  for (uint32_t step = 0; step < g->ops.count; step++) {
    text_format(h->out, "   %" PRIu32 " \"", step);
    report_comment(h->out, g->ops.data[h->plan->sequence[step]].name);
    text_format(h->out, "\"\n");
  }
  text_format(h->out, " */\n");
}

/* ---- All of it ----------------------------------------------------------- */

/* Words of 32 bits unless a figure needs more. */
static void choose_type(header *h) {
  uint64_t most = h->plan->summary.arena_bytes;
  for (uint32_t step = 0; step < h->plan->graph->ops.count; step++)
    if (step_bytes_at(h, step) > most) most = step_bytes_at(h, step);
  for (tensor_id t = 0; t < h->plan->graph->tensors.count; t++)
    if (h->plan->graph->tensors.data[t].bytes > most && has_offset(h, t))
      most = h->plan->graph->tensors.data[t].bytes;
  const bool small = most < UINT32_MAX;
  h->type = small ? "uint32_t" : "uint64_t";
  h->nowhere = small ? UINT32_MAX : UINT64_MAX;
}

static calm_status choose_names(header *h) {
  const char *path = h->plan->model->path;
  const char *upper =
      report_identifier_of_file(h->scratch, path, IDENTIFIER_UPPER);
  const char *lower =
      report_identifier_of_file(h->scratch, path, IDENTIFIER_LOWER);
  enum { SIZE = IDENTIFIER_MOST + 8 };
  char *prefix = arena_calloc(h->scratch, 2, SIZE);
  if (!upper || !lower || !prefix) return context_no_memory(h->out->context);
  snprintf(prefix, SIZE, "CALM_%s", upper);
  snprintf(prefix + SIZE, SIZE, "calm_%s", lower);
  h->upper = prefix;
  h->lower = prefix + SIZE;
  return CALM_OK;
}

static calm_status write_all(header *h) {
  TRY(choose_names(h));
  TRY(report_blocks_list(&h->blocks, h->plan, h->scratch));
  choose_type(h);
  write_source(h);
  text_format(h->out, "#ifndef %s_PLAN_H\n#define %s_PLAN_H\n\n", h->upper,
              h->upper);
  text_format(h->out, "#include <stdint.h>\n\n");
  write_figures(h);
  TRY(write_tensors(h));
  TRY(write_scratch(h));
  for (uint32_t i = 1; i < h->plan->model->graphs.count; i++)
    TRY(write_other_graph(h, i));
  write_order(h);
  write_arrays(h);
  text_format(h->out, "\n#endif\n");
  return CALM_OK;
}

calm_status report_header(text *out, const calm_plan *plan, arena *scratch) {
  header h = {.out = out, .plan = plan, .scratch = scratch};
  identifiers_init(&h.told, scratch);
  calm_status status = write_all(&h);
  identifiers_free(&h.told);
  return status;
}
