/*
 * A plan as TensorFlow Lite Micro's BufferPlan: a count and one offset per
 * buffer, in the order in which the runtime asks for buffers.  First come the
 * tensors that it has to allocate, by number, graph by graph; then the scratch
 * buffers of the kernels as they are prepared, graph by graph in the order of
 * the operators.  Whatever the runtime does not place has no entry: constants,
 * variables, tensors of no bytes.
 *
 * The runtime's struct ends in an array of one element and is to be laid over a
 * longer one, so the header declares a struct with as many as there are.
 */
#include <inttypes.h>
#include <stdio.h>

#include "memory/memory_tflm.h"
#include "report/report_arena.h"
#include "report/report_blocks.h"
#include "report/report_emit.h"
#include "report/report_identifier.h"

typedef struct entry {
  const char *what; /* "" or "scratch of " */
  const char *name;
  uint32_t graph;
  uint64_t offset, bytes;
} entry;

typedef struct entries {
  const calm_plan *plan;
  arena *scratch;
  VECTOR(entry) list;
} entries;

/* ---- In the order of the runtime ----------------------------------------- */

static calm_status refuse(const calm_plan *plan, calm_status status,
                          const char *why) {
  return context_fail(plan->context, status, "%s: a buffer plan %s",
                      plan->model->path, why);
}

static calm_status add_entry(entries *e, entry added) {
  if (added.offset == UINT64_MAX)
    return refuse(e->plan, CALM_UNSUPPORTED,
                  "gains nothing here: the runtime does best without offsets");
  if (added.offset > INT32_MAX)
    return refuse(e->plan, CALM_UNSUPPORTED, "has no offsets beyond 2^31 - 1");
  VECTOR_PUSH(e->plan->context, &e->list, added);
  return CALM_OK;
}

/* Of the entry also those offsets are known that the runtime chooses. */
static const uint64_t *offsets_of(const calm_plan *plan, uint32_t graph) {
  return graph ? plan->graphs[graph].offsets : plan->offsets;
}

static calm_status add_tensors(entries *e, uint32_t i) {
  const graph *g = &e->plan->model->graphs.data[i];
  const uint64_t *offsets = offsets_of(e->plan, i);
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    if (tflm_places(tensor, UINT64_MAX))
      TRY(add_entry(e, (entry){.what = "",
                               .name = tensor->name,
                               .graph = i,
                               .offset = offsets[t],
                               .bytes = tflm_tensor_bytes(tensor)}));
  }
  return CALM_OK;
}

static calm_status add_scratch(entries *e, uint32_t i) {
  const graph *g = &e->plan->model->graphs.data[i];
  const op_id *sequence = e->plan->graphs[i].sequence;
  uint32_t *begin;
  TRY(report_scratch_rows(&begin, e->plan, i, e->scratch));
  for (uint32_t step = 0; step < g->ops.count; step++)
    for (uint32_t s = begin[sequence[step]]; s < begin[sequence[step] + 1]; s++)
      TRY(add_entry(e, (entry){.what = "scratch of ",
                               .name = g->ops.data[sequence[step]].name,
                               .graph = i,
                               .offset = e->plan->runtime.scratch[s].offset,
                               .bytes = e->plan->runtime.scratch[s].bytes}));
  return CALM_OK;
}

static calm_status list_entries(entries *e) {
  const uint32_t graphs = e->plan->model->graphs.count;
  for (uint32_t i = 0; i < graphs; i++) TRY(add_tensors(e, i));
  for (uint32_t i = 0; i < graphs; i++) TRY(add_scratch(e, i));
  return CALM_OK;
}

/* Does the file have its operators in the plan's order already? */
static bool is_file_order(const calm_plan *plan) {
  for (uint32_t i = 0; i < plan->model->graphs.count; i++)
    for (uint32_t step = 0; step < plan->model->graphs.data[i].ops.count;
         step++)
      if (plan->graphs[i].sequence[step] != step) return false;
  return true;
}

/* ---- As C++ -------------------------------------------------------------- */

static void write_source(text *out, const calm_plan *plan, const char *name) {
  text_format(out, "/*\n * The memory plan of ");
  report_comment(out, report_file_name(plan->model->path));
  text_format(
      out, " for TensorFlow Lite Micro, made by calm " CALM_VERSION ".\n *\n");
  text_format(out,
              " *   tflite::NonPersistentMemoryPlannerShim planner("
              "%s::Plan());\n"
              " *   tflite::MicroAllocator *allocator =\n"
              " *       tflite::MicroAllocator::Create(arena, sizeof arena, "
              "&planner);\n *\n",
              name);
  text_format(out, "%s",
              is_file_order(plan)
                  ? " * It fits the model as it is.\n"
                  : " * It fits the model in the order that calm plan -o "
                    "writes.\n");
  text_format(out,
              " * The file must not bring offsets of its own (write it with "
              "--no-offline-plan):\n"
              " * this planner refuses them.  It does not tell the runtime how "
              "much it uses, so\n"
              " * the arena needs kHeadBytes beside what the runtime keeps at "
              "its end, and\n"
              " * nobody checks that.\n");
  report_arena_comment(out, plan->runtime.head_bytes, &plan->runtime.tail);
  text_format(out,
              " * Scratch buffers are those of the "
              "kernels \"");
  report_comment(out, plan->runtime.kernels);
  text_format(out, "\".\n */\n");
}

/* A comment tells the graph of all but the entry's. */
static void write_entry(text *out, const calm_plan *plan, const entry *e,
                        bool last) {
  text_format(out, "        {%" PRIu64 "}%s /* %s\"", e->offset,
              last ? "" : ",", e->what);
  report_comment(out, e->name);
  text_format(out, "\", %" PRIu64 " bytes", e->bytes);
  if (e->graph) {
    text_format(out, ", of \"");
    report_comment(out, plan->model->graphs.data[e->graph].name);
    text_format(out, "\"");
  }
  text_format(out, " */\n");
}

static void write_table(text *out, const entries *e) {
  const uint32_t count = e->list.count;
  text_format(out,
              "/* A tflite::BufferPlan with all its entries. */\n"
              "struct Storage {\n"
              "  int32_t buffer_count;\n"
              "  tflite::BufferDescriptor buffer_plan_entries[%" PRIu32
              "];\n};\n\n"
              "static const Storage kStorage = {\n    kBufferCount,\n    {\n",
              count ? count : 1);
  if (count == 0) text_format(out, "        {0} /* nothing is placed */\n");
  for (uint32_t i = 0; i < count; i++)
    write_entry(out, e->plan, &e->list.data[i], i + 1 == count);
  text_format(out,
              "    }};\n\n"
              "static_assert(sizeof(Storage) == "
              "tflite::SizeOfBufferPlan(kBufferCount),\n"
              "              \"a buffer plan has another layout here\");\n\n"
              "static inline const tflite::BufferPlan *Plan() {\n"
              "  return reinterpret_cast<const tflite::BufferPlan *>"
              "(&kStorage);\n}\n");
}

static calm_status write_all(text *out, entries *e) {
  const calm_plan *plan = e->plan;
  enum { SIZE = IDENTIFIER_MOST + 8 };
  char name[SIZE], guard[SIZE];
  const char *path = plan->model->path;
  const char *lower =
      report_identifier_of_file(e->scratch, path, IDENTIFIER_LOWER);
  const char *upper =
      report_identifier_of_file(e->scratch, path, IDENTIFIER_UPPER);
  if (!lower || !upper) return context_no_memory(out->context);
  snprintf(name, sizeof name, "calm_%s", lower);
  snprintf(guard, sizeof guard, "CALM_%s", upper);
  write_source(out, plan, name);
  text_format(out,
              "#ifndef %s_BUFFER_PLAN_H\n#define %s_BUFFER_PLAN_H\n\n"
              "#include <stddef.h>\n#include <stdint.h>\n\n"
              "#include "
              "\"tensorflow/lite/micro/memory_planner/memory_plan_struct.h\""
              "\n\nnamespace %s {\n\n",
              guard, guard, name);
  text_format(out,
              "constexpr int32_t kBufferCount = %" PRIu32
              ";\nconstexpr size_t kHeadBytes = %" PRIu64 ";\n\n",
              e->list.count, plan->runtime.head_bytes);
  write_table(out, e);
  text_format(out, "\n}  // namespace %s\n\n#endif\n", name);
  return CALM_OK;
}

calm_status report_bufferplan(text *out, const calm_plan *plan,
                              arena *scratch) {
  entries e = {.plan = plan, .scratch = scratch};
  if (!plan_is_for(plan, "tflm"))
    return refuse(plan, CALM_MISUSE,
                  "is for TensorFlow Lite Micro: plan with --memory tflm");
  calm_status status = list_entries(&e);
  if (status == CALM_OK) status = write_all(out, &e);
  VECTOR_FREE(plan->context, &e.list);
  return status;
}
