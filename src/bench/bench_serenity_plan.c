/*
 * Plans of SERENITY's cells.  Effort is limited by ticks, and by the clock only
 * where --time-limit asks for it: what ticks cut short is the same everywhere.
 */
#include "base/number.h"
#include "bench/bench_serenity.h"

static const uint64_t MOST_TICKS = 100000000;

const bench_way bench_way_stock = {"plain", "file", "size", "none"};
const bench_way bench_way_file = {"serenity", "file", "size", "none"};
const bench_way bench_way_best = {"serenity", "exact", "exact", "none"};
const bench_way bench_way_paper = {"serenity", "exact", "exact", "paper"};
const bench_way bench_way_auto = {"serenity", "exact", "exact", "auto"};
const bench_way bench_way_all = {"serenity", "exact", "exact", "all"};

static calm_status set_options(calm_options *o, const bench_way *way) {
  TRY(calm_options_set(o, "memory", way->memory));
  TRY(calm_options_set(o, "order", way->order));
  TRY(calm_options_set(o, "layout", way->layout));
  return calm_options_set(o, "rewrite", way->rewrite);
}

calm_status bench_serenity_plan(calm_plan **out, bench *b, calm_model *model,
                                const bench_way *way) {
  calm_options *o;
  TRY(calm_options_new(&o, b->context));
  calm_status status = set_options(o, way);
  if (status == CALM_OK) {
    o->seed = b->options->seed;
    o->tick_limit = number_smaller(MOST_TICKS, b->options->tick_limit);
    o->time_limit_s = b->options->bench_time_limit_s;
    status = calm_plan_make(out, model, o);
  }
  calm_options_free(o);
  if (status == CALM_OK) {
    bench_searched(b, (*out)->order.stopped);
    bench_searched(b, (*out)->layout.stopped);
  }
  return status;
}

calm_status bench_with_plan(void *out, bench *b, const bench_task *task,
                            bench_plan_use *use) {
  calm_model *model;
  calm_plan *plan = NULL;
  arena scratch;
  TRY(bench_network_open(&model, b->context, task->id, task->seed,
                         BENCH_NODES));
  arena_init(&scratch, b->context);
  calm_status status = bench_serenity_plan(&plan, b, model, task->way);
  if (status == CALM_OK) status = use(out, b, plan, &scratch);
  arena_free(&scratch);
  calm_plan_free(plan);
  calm_model_free(model);
  return status;
}

/* ---- What a plan comes to ------------------------------------------------ */

bench_outcome bench_outcome_of(const calm_plan *plan) {
  const calm_plan_summary *s = calm_plan_summary_of(plan);
  return (bench_outcome){
      .op_count = calm_model_op_count(calm_plan_model(plan)),
      .peak_bytes = s->peak_bytes,
      .peak_bound_bytes = s->peak_bound_bytes,
      .arena_bytes = s->arena_bytes,
      .arena_bound_bytes = s->arena_bound_bytes,
      .states = plan->order.states,
      .nodes = plan->layout.nodes,
      .peak_proved = s->order_outcome == CALM_OPTIMAL,
      .arena_proved = s->layout_outcome == CALM_OPTIMAL,
      .proof = plan->rewriting.proof,
  };
}

calm_status bench_problem_of(bench_problem *out, const calm_plan *plan,
                             arena *a) {
  bench_problem p = {.g = plan->graph};
  TRY(memory_problem_build(&p.memory, p.g, &plan->memory, NULL, a));
  ARENA_ARRAY(a, p.sequence, p.memory.order.op_count);
  memory_fold_sequence(p.sequence, p.g, &p.memory, plan->sequence);
  *out = p;
  return CALM_OK;
}

/* The words of a proof are the library's own and outlive the plan. */
static calm_status use_outcome(void *out, bench *b, const calm_plan *plan,
                               arena *a) {
  (void)b, (void)a;
  *(bench_outcome *)out = bench_outcome_of(plan);
  return CALM_OK;
}

calm_status bench_measure_peaks(bench_peaks *out, bench *b, bench_network_id id,
                                uint64_t seed) {
  static const bench_way litert = {"litert", "file", "size", "none"};
  static const bench_way level = {"serenity", "level", "size", "none"};
  const struct {
    bench_outcome *out;
    const bench_way *way;
  } wanted[] = {
      {&out->stock, &bench_way_stock},    {&out->litert, &litert},
      {&out->file, &bench_way_file},      {&out->level, &level},
      {&out->best, &bench_way_best},      {&out->paper, &bench_way_paper},
      {&out->rewritten, &bench_way_auto}, {&out->all, &bench_way_all}};
  for (uint32_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    const bench_task task = {id, seed, wanted[i].way};
    TRY(bench_with_plan(wanted[i].out, b, &task, use_outcome));
  }
  return CALM_OK;
}

calm_status bench_measure_order(bench_outcome *out_file,
                                bench_outcome *out_best, bench *b,
                                bench_network_id id, uint64_t seed) {
  const bench_task file = {id, seed, &bench_way_file};
  const bench_task best = {id, seed, &bench_way_best};
  TRY(bench_with_plan(out_file, b, &file, use_outcome));
  return bench_with_plan(out_best, b, &best, use_outcome);
}

calm_status bench_measure_cells(bench_peaks *out, bench *b) {
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    bench_progress(b, "planning %s", bench_networks[id].name);
    TRY(bench_measure_peaks(&out[id], b, (bench_network_id)id,
                            bench_seed(b, 0)));
  }
  return CALM_OK;
}

/* ---- Names --------------------------------------------------------------- */

void bench_cell_name(bench *b, bench_table *t, bench_network_id id) {
  const bench_network *n = &bench_networks[id];
  if (n->seeded)
    bench_words(b, t, "%s %s %s", n->network, n->data, n->cell);
  else
    bench_words(b, t, "%s %s", n->network, n->cell);
}

calm_status bench_cell_labels(const char **out, bench *b) {
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    const bench_network *n = &bench_networks[id];
    text label;
    text_init(&label, b->context);
    text_format(&label, "%s %s", n->seeded ? n->data : n->network, n->cell);
    TRY(text_keep(&label, &out[id], &b->arena));
  }
  return CALM_OK;
}
