#include "memory/memory_faults.h"

#include <inttypes.h>
#include <string.h>

/* More faults than this help nobody. */
enum { MAX_FAULTS = 1000 };

/* Keep a line, whose text is taken over and freed. */
static calm_status keep_line(memory_faults *list, bool fault, memory_fault line,
                             text *words) {
  char *composed;
  TRY(text_finish(words, &composed));
  line.text = arena_string(list->a, composed, strlen(composed));
  calm_text_free(list->a->context, composed);
  if (!line.text) return context_no_memory(list->a->context);
  if (fault)
    VECTOR_PUSH(list->a->context, &list->verdict.faults, line);
  else
    VECTOR_PUSH(list->a->context, &list->verdict.warnings, line);
  return CALM_OK;
}

static uint32_t line_count(const memory_faults *list, bool fault) {
  return fault ? list->verdict.faults.count : list->verdict.warnings.count;
}

calm_status faults_report(memory_faults *list, bool fault, const char *kind,
                          tensor_id a, tensor_id b, text *words) {
  if (line_count(list, fault) < MAX_FAULTS)
    return keep_line(list, fault, (memory_fault){kind, a, b, NULL}, words);
  text_free(words);
  if (line_count(list, fault) > MAX_FAULTS) return CALM_OK;
  text_format(words, "and more: only the first %d are listed", MAX_FAULTS);
  return keep_line(list, fault,
                   (memory_fault){"more", CALM_NONE, CALM_NONE, NULL}, words);
}

bool faults_full(const memory_faults *list) {
  return list->verdict.faults.count > MAX_FAULTS;
}

/* ---- The order ----------------------------------------------------------- */

typedef struct order_checker {
  memory_faults *list;
  const graph *g;
  const op_id *sequence;
  uint32_t *step_of;
} order_checker;

static const char *op_name(const order_checker *c, op_id op) {
  return c->g->ops.data[op].name;
}

static calm_status report_order(order_checker *c, text *words) {
  return faults_report(c->list, true, "order", CALM_NONE, CALM_NONE, words);
}

static calm_status check_step(order_checker *c, uint32_t step) {
  const op_id op = c->sequence[step];
  const bool exists = op < c->g->ops.count;
  if (exists && c->step_of[op] == CALM_NONE) {
    c->step_of[op] = step;
    return CALM_OK;
  }
  text words;
  text_init(&words, c->list->a->context);
  if (exists)
    text_format(&words,
                "operator '%s' runs twice, at steps %" PRIu32 " and %" PRIu32,
                op_name(c, op), c->step_of[op], step);
  else
    text_format(&words, "step %" PRIu32 " names no operator", step);
  return report_order(c, &words);
}

static calm_status check_runs(order_checker *c, op_id op) {
  if (c->step_of[op] != CALM_NONE) return CALM_OK;
  text words;
  text_init(&words, c->list->a->context);
  text_format(&words, "operator '%s' never runs", op_name(c, op));
  return report_order(c, &words);
}

static calm_status check_edge(order_checker *c, op_id before, op_id after) {
  const uint32_t early = c->step_of[before], late = c->step_of[after];
  if (early == CALM_NONE || late == CALM_NONE || early < late) return CALM_OK;
  text words;
  text_init(&words, c->list->a->context);
  text_format(&words,
              "operator '%s' at step %" PRIu32
              " must run after '%s', which "
              "runs at step %" PRIu32,
              op_name(c, after), late, op_name(c, before), early);
  return report_order(c, &words);
}

calm_status faults_check_order(memory_faults *list, const graph *g,
                               const op_id *sequence, uint32_t *step_of) {
  order_checker c = {list, g, sequence, step_of};
  for (op_id op = 0; op < g->ops.count; op++) step_of[op] = CALM_NONE;
  for (uint32_t step = 0; step < g->ops.count; step++)
    TRY(check_step(&c, step));
  for (op_id op = 0; op < g->ops.count; op++) TRY(check_runs(&c, op));
  for (op_id op = 0; op < g->ops.count; op++)
    for (uint32_t i = g->pred_begin[op]; i < g->pred_begin[op + 1]; i++)
      TRY(check_edge(&c, g->preds[i], op));
  return CALM_OK;
}

calm_status faults_deliver(memory_verdict *out, memory_faults *list,
                           calm_status status) {
  if (status == CALM_OK)
    *out = list->verdict;
  else
    memory_verdict_free(&list->verdict, list->a->context);
  return status;
}
