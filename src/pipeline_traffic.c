#include "pipeline_traffic.h"

#include "base/number.h"
#include "memory/memory_traffic.h"

/* ---- What is asked for --------------------------------------------------- */

static uint32_t count_words(const char *list) {
  uint32_t count = 1;
  for (; *list; list++) count += *list == ',';
  return count;
}

/* The next word of a list between commas, *list behind it; NULL without
   memory. */
static const char *next_word(const char **list, arena *a) {
  const size_t length = strcspn(*list, ",");
  const char *word = arena_string(a, *list, length);
  *list += length + ((*list)[length] == ',');
  return word;
}

static calm_status read_sizes(pipeline_traffic *t,
                              const calm_options *options) {
  const char *list = options->onchip;
  const uint32_t count = count_words(list);
  ARENA_ARRAY(t->a, t->memories, count);
  for (; t->count < count; t->count++) {
    traffic_memory *memory = &t->memories[t->count];
    const char *word = next_word(&list, t->a);
    if (!word) return context_no_memory(t->a->context);
    memory->page_bytes = options->page_bytes;
    if (!number_parse_size(&memory->bytes, word))
      return context_fail(t->a->context, CALM_MISUSE,
                          "--onchip: '%s' is not a size such as 65536, 64K or "
                          "1M; several have commas between them",
                          word);
  }
  return CALM_OK;
}

const char *const plan_offchip_names[OFFCHIP_NAMES] = {"inputs", "outputs",
                                                       "weights"};

static calm_status read_counted(pipeline_traffic *t,
                                const calm_options *options) {
  const char *list = options->offchip;
  if (!strcmp(list, "none")) return CALM_OK;
  for (uint32_t left = count_words(list); left; left--) {
    uint32_t i = 0;
    const char *word = next_word(&list, t->a);
    if (!word) return context_no_memory(t->a->context);
    while (i < OFFCHIP_NAMES && strcmp(word, plan_offchip_names[i])) i++;
    if (i == OFFCHIP_NAMES)
      return context_fail(t->a->context, CALM_MISUSE,
                          "--offchip: '%s' is not one of inputs, outputs, "
                          "weights; or none, alone",
                          word);
    t->counted |= 1u << i;
  }
  return CALM_OK;
}

static void warn_of_unused(const pipeline_traffic *t,
                           const calm_options *options) {
  const char *unused = options->page_bytes ? "--page-size"
                       : t->counted        ? "--offchip"
                                           : NULL;
  if (unused && !options->onchip)
    context_log(t->a->context, CALM_LOG_WARNING,
                "%s has no effect without --onchip, such as --onchip 64K",
                unused);
}

calm_status pipeline_traffic_ask(pipeline_traffic *out,
                                 const calm_options *options, arena *a) {
  pipeline_traffic t = {.a = a};
  TRY(read_counted(&t, options));
  warn_of_unused(&t, options);
  if (options->onchip) TRY(read_sizes(&t, options));
  *out = t;
  return CALM_OK;
}

/* ---- The problem --------------------------------------------------------- */

calm_status pipeline_traffic_build(pipeline_traffic *t, const graph *g,
                                   const graph *named,
                                   const memory_model *memory,
                                   const uint64_t *body_arenas) {
  const memory_model on_chip = memory_traffic_model(memory);
  plan_traffic_problem *p = arena_calloc(t->a, 1, sizeof *p);
  if (!p) return context_no_memory(t->a->context);
  TRY(memory_problem_build(&p->memory, g, &on_chip, body_arenas, t->a));
  TRY(memory_traffic_build(&p->problem, g, &p->memory, t->a));
  p->graph = named;
  t->problem = p;
  return CALM_OK;
}

calm_status pipeline_traffic_fold(uint32_t **out, uint32_t **steps,
                                  const pipeline_traffic *t,
                                  const op_id *sequence, arena *a) {
  const memory_problem *m = &t->problem->memory;
  uint32_t *folded, *places, count = 0;
  ARENA_ARRAY(a, folded, m->order.op_count);
  ARENA_ARRAY(a, places, m->order.op_count);
  for (uint32_t step = 0; step < t->problem->graph->ops.count; step++) {
    const uint32_t u = m->order_op_of[sequence[step]];
    if (u == CALM_NONE) continue;
    folded[count] = u;
    places[count++] = step;
  }
  *out = folded;
  if (steps) *steps = places;
  return CALM_OK;
}

/* ---- Rows ---------------------------------------------------------------- */

calm_status pipeline_traffic_open(plan_traffics *out, const pipeline_traffic *t,
                                  uint32_t orders) {
  ARENA_ARRAY(t->a, out->rows, (size_t)t->count * orders);
  out->count = t->count * orders;
  out->orders = orders;
  out->counted = t->counted;
  return CALM_OK;
}

calm_status pipeline_traffic_check(const plan_traffic *row, arena *a) {
  const char *fault;
  TRY(traffic_check(&fault, &row->of->problem, row->sequence, &row->memory,
                    &row->result, a));
  return fault ? context_fail(a->context, CALM_INTERNAL,
                              "graph '%s': its traffic does not hold: %s",
                              row->of->graph->name, fault)
               : CALM_OK;
}

calm_status pipeline_traffic_add(plan_traffics *out, const pipeline_traffic *t,
                                 uint32_t which, const char *name,
                                 const op_id *sequence) {
  uint32_t *folded, *steps;
  TRY(pipeline_traffic_fold(&folded, &steps, t, sequence, t->a));
  for (uint32_t i = 0; i < t->count; i++) {
    plan_traffic *row = &out->rows[i * out->orders + which];
    *row = (plan_traffic){.order = name,
                          .of = t->problem,
                          .memory = t->memories[i],
                          .sequence = folded,
                          .steps = steps};
    TRY(traffic_belady(&row->result, &t->problem->problem, folded, &row->memory,
                       t->a));
    TRY(pipeline_traffic_check(row, t->a));
  }
  return CALM_OK;
}

/* ---- For everybody ------------------------------------------------------- */

static uint32_t count_streams(const plan_traffic *row) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < row->of->problem.order->op_count; i++)
    count += row->result.streams[i];
  return count;
}

bool plan_traffic_figures(calm_traffic *out, const plan_traffics *traffics,
                          uint32_t row) {
  if (row >= traffics->count) return false;
  const plan_traffic *r = &traffics->rows[row];
  const traffic_amount *total = &r->result.total;
  const unsigned counted = traffics->counted;
  *out = (calm_traffic){
      .onchip_bytes = r->memory.bytes,
      .page_bytes = r->memory.page_bytes,
      .order = r->order,
      .read_bytes = total->spill_read_bytes +
                    (counted & OFFCHIP_INPUTS ? total->input_bytes : 0) +
                    (counted & OFFCHIP_WEIGHTS ? total->weight_bytes : 0),
      .write_bytes = total->spill_write_bytes +
                     (counted & OFFCHIP_OUTPUTS ? total->output_bytes : 0),
      .spill_read_bytes = total->spill_read_bytes,
      .spill_write_bytes = total->spill_write_bytes,
      .input_bytes = total->input_bytes,
      .weight_bytes = total->weight_bytes,
      .output_bytes = total->output_bytes,
      .used_bytes = r->result.used_bytes,
      .streaming_ops = count_streams(r)};
  return true;
}
