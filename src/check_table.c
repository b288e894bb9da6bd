#include "check_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#define PLAN_NAME "OfflineMemoryAllocation"

typedef struct judge {
  memory_verdict *verdict;
  const calm_model *model;
  arena *a;
} judge;

/* The words are used up. */
static calm_status say(const judge *j, bool fault, const char *kind,
                       text *words) {
  char *line;
  calm_context *context = j->a->context;
  TRY(text_finish(words, &line));
  const char *copy = arena_string(j->a, line, strlen(line));
  calm_text_free(context, line);
  if (!copy) return context_no_memory(context);
  const memory_fault said = {kind, CALM_NONE, CALM_NONE, copy};
  if (fault)
    VECTOR_PUSH(context, &j->verdict->faults, said);
  else
    VECTOR_PUSH(context, &j->verdict->warnings, said);
  return CALM_OK;
}

#define SAY(j, fault, kind, ...)             \
  do {                                       \
    text words_;                             \
    text_init(&words_, (j)->a->context);     \
    text_format(&words_, __VA_ARGS__);       \
    TRY(say((j), (fault), (kind), &words_)); \
  } while (0)

static uint32_t count_tensors(const calm_model *model) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < model->graphs.count; i++)
    count += model->graphs.data[i].tensors.count;
  return count;
}

/* ---- The entries --------------------------------------------------------- */

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "OfflineMemoryAllocationX", "offline_memory_allocation": the letters begin
   alike, and yet it is another name. */
static bool resembles(const char *name) {
  const char *wanted = PLAN_NAME;
  if (!strcmp(name, wanted)) return false;
  for (; *name && *wanted; name++) {
    if (!is_letter(*name)) continue;
    if ((*name | 0x20) != (*wanted | 0x20)) return false;
    wanted++;
  }
  return !*wanted;
}

static calm_status judge_names(const judge *j) {
  const calm_model *model = j->model;
  for (uint32_t i = 0; i < model->metadata_count; i++)
    if (resembles(model->metadata_names[i]))
      SAY(j, false, "name",
          "the metadata entry '%s' is not " PLAN_NAME
          ": the runtime ignores it",
          model->metadata_names[i]);
  if (model->offline.entries > 1)
    SAY(j, false, "name",
        "there are %" PRIu32 " entries " PLAN_NAME
        ", of which the runtime takes the last",
        model->offline.entries);
  return CALM_OK;
}

/* ---- The words ----------------------------------------------------------- */

/* The runtime compares word 2 with the tensors of all subgraphs, and reads as
   many offsets, wherever the data end. */
static calm_status judge_count(const judge *j, uint32_t tensors) {
  const model_offline_plan *plan = &j->model->offline;
  if (plan->declared_count < 0 || (uint32_t)plan->declared_count != tensors)
    SAY(j, true, "count",
        PLAN_NAME " speaks of %" PRId32 " tensors, but the model has %" PRIu32
                  ": the runtime refuses it",
        plan->declared_count, tensors);
  if (plan->word_count < tensors)
    SAY(j, true, "short",
        PLAN_NAME " ends after %" PRIu32 " of %" PRIu32
                  " tensors: the runtime reads past it",
        plan->word_count, tensors);
  else if (plan->word_count > tensors)
    SAY(j, false, "long",
        PLAN_NAME " has %" PRIu32
                  " words behind its last tensor, which the runtime ignores",
        plan->word_count - tensors);
  return CALM_OK;
}

static const char *tensor_name(const calm_model *model, uint32_t index) {
  uint32_t g = 0;
  while (index >= model->graphs.data[g].tensors.count)
    index -= model->graphs.data[g++].tensors.count;
  return model->graphs.data[g].tensors.data[index].name;
}

/* Only -1 leaves a tensor to the runtime. */
static calm_status judge_signs(bool *out_readable, const judge *j,
                               uint32_t tensors) {
  const model_offline_plan *plan = &j->model->offline;
  for (uint32_t i = 0; i < tensors; i++)
    if (plan->offsets[i] < -1) {
      *out_readable = false;
      SAY(j, true, "negative",
          PLAN_NAME " places tensor '%s' at %" PRId32
                    ": the runtime writes before the arena",
          tensor_name(j->model, i), plan->offsets[i]);
    }
  return CALM_OK;
}

calm_status check_table(bool *out_readable, memory_verdict *verdict,
                        const calm_model *model, arena *a) {
  const judge j = {verdict, model, a};
  const model_offline_plan *plan = &model->offline;
  const uint32_t tensors = count_tensors(model);
  *out_readable = false;
  TRY(judge_names(&j));
  if (!plan->present) return CALM_OK;
  if (plan->fault) {
    SAY(&j, true, "short",
        PLAN_NAME ": %s: the runtime reads where there is nothing, and ends",
        plan->fault);
    return CALM_OK;
  }
  TRY(judge_count(&j, tensors));
  if (plan->word_count < tensors) return CALM_OK;
  *out_readable = true;
  return judge_signs(out_readable, &j, tensors);
}
