/*
 * What a set of regions comes to.  For TensorFlow Lite Micro the tiled graph is
 * placed in the order in which its operators stand, greedily, by the same parts
 * of the pipeline that place the plan in the end, and its tail is predicted.
 * For other runtimes a plan is made of it, with little effort.
 */
#include "plan/plan_tile.h"

#include "base/number.h"
#include "graph/graph_window.h"

enum {
  MOST_OPERATORS = 512,  /* that tiles may add */
  OPERATOR_TICKS = 2000, /* of a tiled graph, beside those of its placement */
  QUICK_TICKS = 200000,  /* of each stage of a plan */
  ORDER_TICKS = 300000,  /* of the search of an order, */
  FEW_TICKS = 250000, /* of a placement that is a little better than greedy, */
  LAYOUT_TICKS = 1500000, /* and of a placement, where it is worth it */
  /* A placement by first fit is so far off, and a thorough one in another
     order: */
  ROUGH = 6,
  CLOSE = 24
};

/* Options by their place in the list of choices. */
static void make_quick(calm_options *quick, const calm_options *options) {
  *quick = *options;
  quick->order = ORDER_FILE;
  quick->layout = LAYOUT_GREEDY;
  quick->tick_limit = number_smaller(options->tick_limit, QUICK_TICKS);
  quick->budget_bytes = UINT64_MAX;
  quick->onchip = NULL;
  quick->minimize = 0;
  quick->count = false;
}

static calm_status number_positions(plan_tile_judge *j, arena *a) {
  const graph *g = &j->model->graphs.data[0];
  ARENA_ARRAY(a, j->position_of, g->ops.count);
  for (uint32_t i = 0; i < g->ops.count; i++) j->position_of[g->order[i]] = i;
  return CALM_OK;
}

calm_status plan_tile_judge_init(plan_tile_judge *out, calm_model *model,
                                 const calm_options *options,
                                 const tile_goal *goal, limits *l, arena *a) {
  plan_tile_judge j = {.context = model->context,
                       .model = model,
                       .options = options,
                       .goal = *goal,
                       .macs = graph_macs(&model->graphs.data[0]),
                       .l = l};
  for (uint32_t i = 0; i < PLAN_TILE_CLASSES; i++) j.best_bytes[i] = UINT64_MAX;
  make_quick(&j.quick, options);
  context_mute(model->context, true); /* all has been said before */
  const calm_status status = plan_memory_model(&j.memory, model, options);
  context_mute(model->context, false);
  TRY(status);
  j.joint = j.memory.subgraphs == SUBGRAPHS_TFLM && model->graphs.count == 1;
  j.apply = plan_tile_apply_options(model, &j.memory);
  TRY(number_positions(&j, a));
  *out = j;
  return CALM_OK;
}

/* ---- Which operator sets the bound? -------------------------------------- */

/* The order of the file has a scope for each operator, and one before. */
enum { FIRST_STEP = 2 };

static uint64_t piece_bytes(const layout_piece *p) { return p->high - p->low; }

/* What a pair may share while the one is read and the other written. */
static uint64_t saved_bytes(const layout_problem *p, const layout_relief *r) {
  const uint64_t in = piece_bytes(&p->pieces[r->input]);
  const uint64_t out = piece_bytes(&p->pieces[r->output]);
  const uint64_t beyond = r->distance > 0 ? (uint64_t)r->distance : 0;
  return number_smaller(in, out > beyond ? out - beyond : 0);
}

/* Bytes of each step less the largest of its savings. */
static calm_status measure_steps(uint64_t **out, const layout_problem *p,
                                 uint32_t steps, arena *a) {
  uint64_t *bytes, *saved;
  ARENA_ARRAY(a, bytes, steps);
  ARENA_ARRAY(a, saved, steps);
  for (uint32_t i = 0; i < p->piece_count; i++)
    for (int64_t s = p->pieces[i].lower; s < p->pieces[i].upper; s++)
      if (s >= 0 && s < steps) bytes[s] += piece_bytes(&p->pieces[i]);
  for (uint32_t i = 0; i < p->relief_count; i++) {
    const int64_t s = p->pieces[p->reliefs[i].output].lower;
    if (s >= 0 && s < steps)
      saved[s] = number_larger(saved[s], saved_bytes(p, &p->reliefs[i]));
  }
  for (uint32_t s = 0; s < steps; s++)
    bytes[s] -= number_smaller(bytes[s], saved[s]);
  *out = bytes;
  return CALM_OK;
}

/* The steps at which something reaches to the end of the arena. */
static calm_status mark_steps(bool **out, const layout_problem *p,
                              const layout_result *layout, uint32_t steps,
                              arena *a) {
  ARENA_ARRAY(a, *out, steps);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    const layout_piece *piece = &p->pieces[i];
    if (layout->offsets[piece->body] + piece->high < layout->arena_bytes)
      continue;
    for (int64_t s = piece->lower; s < piece->upper; s++)
      if (s >= 0 && s < steps) (*out)[s] = true;
  }
  return CALM_OK;
}

/* The operator of the order at whose step most is needed; where holes make the
   arena larger than that, of those at which its end is in use. */
static calm_status find_critical(uint32_t *out, const layout_problem *p,
                                 const layout_result *layout, uint32_t op_count,
                                 arena *a) {
  const uint32_t steps = op_count + FIRST_STEP;
  uint64_t *bytes;
  bool *marked;
  uint32_t best = CALM_NONE;
  TRY(measure_steps(&bytes, p, steps, a));
  TRY(mark_steps(&marked, p, layout, steps, a));
  for (uint32_t i = 0; i < op_count; i++)
    if (marked[i + FIRST_STEP] &&
        (best == CALM_NONE || bytes[i + FIRST_STEP] > bytes[best + FIRST_STEP]))
      best = i;
  *out = best == CALM_NONE ? 0 : best;
  return CALM_OK;
}

/* ---- TensorFlow Lite Micro ----------------------------------------------- */

/* A tiled graph as it is put before the solvers. */
typedef struct micro {
  const plan_tile_judge *j;
  const calm_model *model;
  pipeline_tflm file;
  graph *graphs; /* with scratch as workspace; there is one */
  memory_problem problem;
  uint64_t bytes; /* of the best placement so far */
  uint64_t bound; /* no placement of the order of the file needs less */
  uint64_t macs;
  uint64_t tail;     /* 0: nobody knows it */
  uint32_t critical; /* operator of the graph */
  arena *a;
} micro;

static calm_status place(layout_result *out, const memory_joint *joint,
                         uint64_t ticks, limits *l, arena *a) {
  layout_options o = layout_options_default();
  limits own;
  limits_init(&own, a->context);
  own.max_ticks = ticks ? ticks : UINT64_MAX;
  o.method = ticks ? LAYOUT_EXACT : LAYOUT_GREEDY;
  TRY(layout_solve(out, &joint->layout, &o, a, &own));
  limits_spend(l, own.ticks);
  return CALM_OK;
}

/* Place an order; it is kept if it needs less than those before. */
static calm_status try_order(micro *m, const op_id *order, uint64_t ticks) {
  memory_joint joint;
  layout_result layout;
  uint32_t step;
  const op_id *orders[] = {order};
  TRY(memory_joint_build(&joint, m->graphs, 1, &m->problem, orders,
                         &m->j->memory, &m->file.scratch, m->a));
  TRY(place(&layout, &joint, ticks, m->j->l, m->a));
  if (!ticks) m->bound = layout.bound_bytes;
  if (layout.arena_bytes >= m->bytes) return CALM_OK;
  TRY(find_critical(&step, &joint.layout, &layout, m->graphs[0].ops.count,
                    m->a));
  m->bytes = layout.arena_bytes;
  m->critical = order[step];
  return CALM_OK;
}

/* Could more effort make it the best of those with as few
   multiply-accumulates?  It is within a `share` of the best as it is, and what
   no placement is below is less. */
static bool is_promising(const micro *m, uint64_t share) {
  const uint64_t tail = m->j->goal.head ? 0 : m->tail;
  const uint64_t best = plan_tile_best(m->j, m->macs);
  if (best == UINT64_MAX) return true;
  return m->bound + tail < best && m->bytes + tail <= best + best / share;
}

/* An order of the least peak, for what promises to be good. */
static calm_status try_best_order(micro *m) {
  order_options o = plan_order_options(m->j->options);
  order_result result;
  op_id *sequence;
  limits own;
  limits_init(&own, m->j->context);
  own.max_ticks = ORDER_TICKS;
  o.method = ORDER_EXACT;
  o.count = false;
  TRY(order_solve(&result, &m->problem.order, &o, m->a, &own));
  limits_spend(m->j->l, own.ticks);
  if (result.peak_bytes >= m->bytes) return CALM_OK;
  ARENA_ARRAY(m->a, sequence, m->graphs[0].ops.count);
  TRY(memory_expand_sequence(sequence, &m->graphs[0], &m->problem,
                             result.sequence));
  TRY(try_order(m, sequence, FEW_TICKS));
  return is_promising(m, CLOSE) ? try_order(m, sequence, LAYOUT_TICKS)
                                : CALM_OK;
}

/* Where nobody may tell the runtime what is where. */
static calm_status predict_head(micro *m, const tflm_model *laid) {
  tflm_head head;
  if (m->j->options->offline_plan) return CALM_OK;
  TRY(tflm_predict(&head, laid, m->a));
  m->bytes = head.bytes;
  return CALM_OK;
}

static calm_status score_micro(tile_score *out, uint32_t *critical,
                               const plan_tile_judge *j,
                               const calm_model *model, arena *a) {
  micro m = {.j = j,
             .model = model,
             .bytes = UINT64_MAX,
             .macs = graph_macs(&model->graphs.data[0]),
             .a = a};
  TRY(pipeline_tflm_model(&m.file, model, j->options, a));
  TRY(pipeline_tflm_graphs(&m.graphs, &m.file, a));
  TRY(memory_problem_build(&m.problem, &m.graphs[0], &j->memory, NULL, a));
  const op_id *orders[] = {m.graphs[0].order};
  const tflm_model laid = {.graphs = model->graphs.data,
                           .count = 1,
                           .sequences = orders,
                           .scratch = &m.file.scratch};
  const tflm_tail tail = pipeline_tflm_tail(&m.file, &laid);
  m.tail = tail.bytes == UINT64_MAX ? 0 : tail.bytes;
  TRY(try_order(&m, orders[0], 0));
  if (is_promising(&m, ROUGH)) TRY(try_order(&m, orders[0], FEW_TICKS));
  if (is_promising(&m, CLOSE)) TRY(try_order(&m, orders[0], LAYOUT_TICKS));
  if (is_promising(&m, CLOSE)) TRY(try_best_order(&m));
  TRY(predict_head(&m, &laid));
  out->head_bytes = m.bytes;
  out->tail_bytes = m.tail;
  *critical = m.critical;
  return CALM_OK;
}

/* ---- All others ---------------------------------------------------------- */

static calm_status score_plan(tile_score *out, uint32_t *critical,
                              const plan_tile_judge *j, calm_model *model) {
  calm_plan *plan;
  TRY(plan_make_as_is(&plan, model, &j->quick));
  const plan_step step = plan_step_of("", plan);
  out->head_bytes = step.head_bytes;
  out->tail_bytes = step.tail_bytes == UINT64_MAX ? 0 : step.tail_bytes;
  *critical = plan->sequence[plan->profile.peak_step];
  limits_spend(j->l, plan->order.ticks + plan->layout.ticks);
  calm_plan_free(plan);
  return CALM_OK;
}

/* ---- Both ---------------------------------------------------------------- */

static calm_status score_model(tile_score *out, const plan_tile_judge *j,
                               calm_model *model, const graph_edit *edit,
                               arena *a) {
  const graph *g = &model->graphs.data[0];
  uint32_t critical = 0;
  if (g->ops.count == 0) return CALM_OK;
  if (j->joint)
    TRY(score_micro(out, &critical, j, model, a));
  else
    TRY(score_plan(out, &critical, j, model));
  if (edit) critical = edit->ops.data[critical].from;
  out->critical = j->position_of[critical];
  out->macs = graph_macs(g);
  out->op_count = g->ops.count;
  limits_spend(j->l, (uint64_t)OPERATOR_TICKS * g->ops.count);
  return CALM_OK;
}

/* Where nobody counts what an operator costs, each further tile would seem to
   be a gain. */
static bool is_of_use(const plan_tile_judge *j, uint32_t op_count) {
  return !j->searching ||
         op_count <= j->model->graphs.data[0].ops.count + MOST_OPERATORS;
}

static calm_status score_regions(tile_score *out, bool *possible,
                                 const plan_tile_judge *j,
                                 const tile_region *regions, uint32_t count) {
  plan_round *round;
  calm_status status =
      plan_tile_round(&round, j->model, regions, count, &j->apply);
  *possible = status != CALM_UNSUPPORTED;
  if (!*possible) return CALM_OK;
  TRY(status);
  *possible = is_of_use(j, round->edit.after.ops.count);
  if (*possible)
    status = score_model(out, j, &round->model, &round->edit, &round->arena);
  plan_round_free(round);
  return status;
}

static calm_status score_untiled(tile_score *out, const plan_tile_judge *j) {
  arena a;
  arena_init(&a, j->context);
  const calm_status status = score_model(out, j, j->model, NULL, &a);
  arena_free(&a);
  return status;
}

/* Classes of extra multiply-accumulates, in thousandths of the model's. */
static const uint64_t classes[PLAN_TILE_CLASSES] = {0,  5,   10,  20,
                                                    50, 100, 200, UINT64_MAX};

static bool is_in_class(const plan_tile_judge *j, uint64_t macs, uint32_t i) {
  return classes[i] == UINT64_MAX || macs <= j->macs ||
         (macs - j->macs) / 1000 * 1000 <= j->macs / 1000 * classes[i];
}

uint64_t plan_tile_best(const plan_tile_judge *j, uint64_t macs) {
  for (uint32_t i = 0; i < PLAN_TILE_CLASSES; i++)
    if (is_in_class(j, macs, i)) return j->best_bytes[i];
  return UINT64_MAX;
}

/* The last class has all that is allowed. */
static bool note_best(plan_tile_judge *j, uint64_t bytes, uint64_t macs) {
  const bool best = bytes < j->best_bytes[PLAN_TILE_CLASSES - 1];
  for (uint32_t i = 0; i < PLAN_TILE_CLASSES; i++)
    if (is_in_class(j, macs, i))
      j->best_bytes[i] = number_smaller(j->best_bytes[i], bytes);
  return best;
}

/* One line whenever the least arena becomes less. */
static void tell(plan_tile_judge *j, const tile_score *score,
                 const tile_region *regions, uint32_t count) {
  const uint64_t bytes =
      score->head_bytes + (j->goal.head ? 0 : score->tail_bytes);
  j->judged++;
  if (score->macs > j->goal.most_macs) return;
  if (!note_best(j, bytes, score->macs) || !context_logs(j->context)) return;
  text line;
  char *words;
  text_init(&line, j->context);
  plan_tiling_words(&line, &(tile_state){.regions = regions, .count = count});
  if (text_finish(&line, &words) != CALM_OK) return;
  context_log(j->context, CALM_LOG_PROGRESS,
              "tiles: %llu bytes after %u tilings: %s",
              (unsigned long long)bytes, j->judged, words);
  calm_text_free(j->context, words);
}

static calm_status judge_score(tile_score *out, bool *possible, void *payload,
                               const tile_region *regions, uint32_t count) {
  plan_tile_judge *j = payload;
  tile_score score = {0};
  *possible = true;
  context_mute(j->context, true);
  const calm_status status =
      count ? score_regions(&score, possible, j, regions, count)
            : score_untiled(&score, j);
  context_mute(j->context, false);
  TRY(status);
  *out = score;
  if (*possible) tell(j, &score, regions, count);
  return CALM_OK;
}

tile_judge plan_tile_judge_of(plan_tile_judge *j) {
  return (tile_judge){.payload = j, .score = judge_score};
}
