/*
 * Partial sums, add_into and fused convolutions: by hand, and against a referee
 * that tries every order and adds up each step from what the kinds mean.
 */
#include "layout/layout.h"
#include "memory/memory_check.h"
#include "memory_graphs.h"
#include "order/order.h"

/* ---- By hand ------------------------------------------------------------- */

typedef struct solved {
  memory_problem p;
  order_result order;
} solved;

static solved solve(const fixture *f, const memory_model *m,
                    order_method method) {
  solved s;
  limits l;
  order_options options = order_options_default();
  options.method = method;
  limits_init(&l, f->context);
  arena *a = (arena *)&f->arena;
  if (memory_problem_build(&s.p, f->g, m, NULL, a) ||
      order_solve(&s.order, &s.p.order, &options, a, &l))
    fail_msg("%s", calm_context_message(f->context));
  return s;
}

static uint64_t least_peak(const char *text, const char *model) {
  fixture f;
  fixture_open(&f, text);
  const memory_model m = model_of(f.context, model);
  const solved s = solve(&f, &m, ORDER_EXACT);
  assert_int_equal(s.order.outcome, CALM_OPTIMAL);
  const uint64_t peak = s.order.peak_bytes;
  fixture_close(&f);
  return peak;
}

/* A concat of three branches and a convolution: 30 bytes of operands. */
static const char three_branches[] =
    "tensor x 6 input\n"
    "tensor a 10\ntensor b 10\ntensor c 10\n"
    "tensor p 8\ntensor q 8\ntensor r 8\ntensor y 8 output\n"
    "op ba conv2d ( x ) -> ( a )\n"
    "op bb conv2d ( x ) -> ( b )\n"
    "op bc conv2d ( x ) -> ( c )\n"
    "op y/p1 conv2d ( a ) -> ( p )\n"
    "op y/p2 conv2d ( b ) -> ( q )\n"
    "op y/p3 conv2d ( c ) -> ( r )\n"
    "op y partial_sum ( p q r ) -> ( y )\n";

static void three_parts_are_one_buffer(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, three_branches);
  const memory_model m = model_of(f.context, "plain");
  const solved s = solve(&f, &m, ORDER_EXACT);
  const uint32_t y = s.p.buffers[s.p.buffer_begin[tensor_named(f.g, "y")]];
  static const char *const parts[] = {"p", "q", "r"};
  for (int i = 0; i < 3; i++) {
    const tensor_id t = tensor_named(f.g, parts[i]);
    assert_int_equal(s.p.buffer_begin[t + 1] - s.p.buffer_begin[t], 1);
    assert_int_equal(s.p.buffers[s.p.buffer_begin[t]], y);
  }
  assert_int_equal(s.p.order_op_of[op_named(f.g, "y")], CALM_NONE);
  assert_int_equal(s.order.peak_bytes, 24); /* x, one branch, the sum */
  fixture_close(&f);
}

/* The branches are added: the first hands its bytes over, the others need room
   for themselves, the sum and, where kernels cannot add in place, once more. */
static const char added_branches[] =
    "tensor x 6 input\n"
    "tensor a 10\ntensor b 10\n"
    "tensor t 8\ntensor u 8\n"
    "tensor p 8\ntensor q 8\ntensor y 8 output\n"
    "op ba conv2d ( x ) -> ( a )\n"
    "op bb conv2d ( x ) -> ( b )\n"
    "op y/p1 conv2d ( a ) -> ( t )\n"
    "op y/p2 conv2d ( b ) -> ( u )\n"
    "op y/a1 add_into ( t ) -> ( p )%s\n"
    "op y/a2 add_into ( u ) -> ( q )%s\n"
    "op y partial_sum ( p q ) -> ( y )\n";

static void the_first_is_handed_over(void **state) {
  (void)state;
  static const char *const models[] = {"plain", "ort inputs=until-use",
                                       "litert inputs=until-use", "serenity"};
  for (int i = 0; i < 4; i++) {
    char text[1024];
    snprintf(text, sizeof text, added_branches, "", "");
    assert_int_equal(least_peak(text, models[i]), 26); /* b, u and the sum */
    snprintf(text, sizeof text, added_branches, " workspace=8", " workspace=8");
    assert_int_equal(least_peak(text, models[i]), 26);
    snprintf(text, sizeof text, added_branches, " workspace=16",
             " workspace=16");
    assert_int_equal(least_peak(text, models[i]), 32);
    /* only one of them needs workspace: it comes first */
    snprintf(text, sizeof text, added_branches, "", " workspace=16");
    assert_int_equal(least_peak(text, models[i]), 26);
  }
}

static void a_sum_of_sums_is_one_buffer(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 4 input\ntensor p 8\ntensor q 8\ntensor s 8\n"
               "tensor r 8\ntensor y 8\ntensor z 2 output\n"
               "op cp conv2d ( x ) -> ( p )\n"
               "op cq conv2d ( x ) -> ( q )\n"
               "op sum partial_sum ( p q ) -> ( s )\n"
               "op cr conv2d ( x ) -> ( r )\n"
               "op all partial_sum ( s r ) -> ( y )\n"
               "op end conv2d ( y ) -> ( z )\n");
  const memory_model m = model_of(f.context, "plain");
  const solved s = solve(&f, &m, ORDER_EXACT);
  assert_int_equal(s.p.order.buffer_count, 3);
  assert_int_equal(s.p.order.op_count, 4);
  assert_int_equal(s.order.peak_bytes, 12);
  memory_profile profile;
  assert_int_equal(
      memory_simulate(&profile, f.g, &m, NULL, f.g->order, &f.arena), CALM_OK);
  const uint64_t bytes[] = {12, 12, 12, 12, 8, 10};
  assert_memory_equal(profile.step_bytes, bytes, sizeof bytes);
  assert_int_equal(profile.lives[tensor_named(f.g, "p")].storage,
                   tensor_named(f.g, "y"));
  assert_false(profile.lives[tensor_named(f.g, "s")].counted);
  fixture_close(&f);
}

/* A view of a part, or a concat whose operands are elided, would be bytes of
   somebody else: it is computed into the sum. */
static void a_part_is_no_view(void **state) {
  (void)state;
  static const char text[] =
      "tensor x 4 input\ntensor a 8\ntensor p 8\ntensor q 8\ntensor y 8\n"
      "tensor z 4 output\n"
      "op ca conv2d ( x ) -> ( a )\n"
      "op cp reshape ( a ) -> ( p )\n"
      "op cq concat ( x x ) -> ( q )\n"
      "op sum partial_sum ( p q ) -> ( y )\n"
      "op end conv2d ( y ) -> ( z )\n";
  assert_int_equal(least_peak(text, "serenity"), 20);
  assert_int_equal(least_peak(text, "serenity inplace=reshape"), 12);
}

/* Only the operand that is added to may be overwritten, not if it is read as a
   picture, too. */
static void a_fused_convolution_adds_in_place(void **state) {
  (void)state;
  static const char chain[] =
      "tensor x 8 input\ntensor w 1 const\ntensor a 8\ntensor y 8 output\n"
      "op c conv2d ( x w ) -> ( a )\n"
      "op d fused_conv ( %s w - a ) -> ( y )\n";
  char text[512];
  snprintf(text, sizeof text, chain, "x");
  assert_int_equal(least_peak(text, "plain"), 24);
  assert_int_equal(least_peak(text, "plain inplace=fused_conv"), 16);
  snprintf(text, sizeof text, chain, "a");
  assert_int_equal(least_peak(text, "plain inplace=fused_conv"), 16);
  static const char in_ort[] =
      "tensor x 8 input\ntensor w 1 const\ntensor a 8\ntensor b 8\n"
      "tensor y 9 output\n"
      "op c conv2d ( x w ) -> ( a )\n"
      "op d fused_conv ( x w - a ) -> ( b )\n"
      "op e conv2d ( b w ) -> ( y )\n";
  assert_int_equal(least_peak(in_ort, "ort"), 17);
  assert_int_equal(least_peak(in_ort, "ort inplace=none"), 17);
  assert_int_equal(least_peak(in_ort, "ort inputs=until-use"), 17);
  assert_int_equal(least_peak(in_ort, "ort inputs=until-use inplace=none"), 24);
}

/* ---- The judge ----------------------------------------------------------- */

/* t dies where the sum of both begins; the other addition needs its workspace.
 */
static const char judged[] =
    "tensor x 4 input\ntensor t 8\ntensor u 8\ntensor p 8\ntensor q 8\n"
    "tensor y 8 output\n"
    "op ct conv2d ( x ) -> ( t )\n"
    "op at add_into ( t ) -> ( p ) workspace=8\n"
    "op cu conv2d ( x ) -> ( u )\n"
    "op au add_into ( u ) -> ( q ) workspace=8\n"
    "op sum partial_sum ( p q ) -> ( y )\n";

/* Faults of a plan: "x t u y" and the workspaces of both additions. */
static uint32_t count_faults(const uint64_t *places, const char *kind) {
  fixture f;
  fixture_open(&f, judged);
  const memory_model m = model_of(f.context, "plain");
  const uint64_t offsets[] = {places[0],  places[1],  places[2],
                              UINT64_MAX, UINT64_MAX, places[3]};
  const uint64_t workspaces[] = {UINT64_MAX, places[4], UINT64_MAX, places[5],
                                 UINT64_MAX};
  const memory_plan plan = {.offsets = offsets,
                            .workspace_offsets = workspaces,
                            .arena_bytes = UINT64_MAX};
  memory_verdict v;
  uint32_t count = 0;
  assert_int_equal(memory_check(&v, f.g, &m, &plan, &f.arena), CALM_OK);
  for (uint32_t i = 0; i < v.faults.count; i++)
    count += !strcmp(v.faults.data[i].kind, kind);
  assert_int_equal(count, v.faults.count);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
  return count;
}

static void the_judge_knows_who_is_first(void **state) {
  (void)state;
  const uint64_t none = UINT64_MAX;
  const uint64_t good[] = {24, 0, 8, 0, none, 16};
  const uint64_t elsewhere[] = {24, 8, 16, 0, 32, 32};
  const uint64_t half_way[] = {24, 4, 12, 0, 32, 32};
  const uint64_t first_without[] = {24, 8, 16, 0, none, 32};
  const uint64_t second_without[] = {24, 0, 8, 0, none, none};
  const uint64_t second_over_sum[] = {24, 0, 0, 0, none, 16};
  assert_int_equal(count_faults(good, ""), 0);
  assert_int_equal(count_faults(elsewhere, ""), 0);
  assert_int_equal(count_faults(half_way, "overlap"), 1);
  assert_int_equal(count_faults(first_without, "unplaced"), 1);
  assert_int_equal(count_faults(second_without, "unplaced"), 1);
  assert_int_equal(count_faults(second_over_sum, "overlap"), 1);
}

/* ---- The referee --------------------------------------------------------- */

typedef struct referee {
  const graph *g;
  bool inplace; /* relu, and the sum of a fused convolution */
  tensor_id home[RANDOM_MAX_TENSORS];
  uint32_t step_of[RANDOM_MAX_OPS];
} referee;

/* Where the bytes of a tensor end up. */
static tensor_id find_home(const graph *g, tensor_id t) {
  for (op_id op = 0; op < g->ops.count; op++)
    for (uint32_t i = 0; i < g->ops.data[op].input_count; i++)
      if (g->ops.data[op].kind == OP_partial_sum &&
          g->ops.data[op].inputs[i] == t)
        return find_home(g, g->ops.data[op].outputs[0]);
  return t;
}

static bool uses(const referee *r, op_id op, tensor_id home) {
  const graph_op *o = &r->g->ops.data[op];
  for (uint32_t i = 0; i < o->input_count; i++)
    if (o->inputs[i] != CALM_NONE && r->home[o->inputs[i]] == home) return true;
  return r->home[o->outputs[0]] == home;
}

/* Steps of the first and the last operator that works on a home. */
static void find_life(const referee *r, tensor_id home, uint32_t *first,
                      uint32_t *last) {
  *first = UINT32_MAX;
  *last = 0;
  for (op_id op = 0; op < r->g->ops.count; op++) {
    if (r->g->ops.data[op].kind == OP_partial_sum || !uses(r, op, home))
      continue;
    if (r->step_of[op] < *first) *first = r->step_of[op];
    if (r->step_of[op] > *last) *last = r->step_of[op];
  }
}

/* Does the operator find its result nowhere yet, and this operand needed by
   nobody else? */
static bool takes_over(const referee *r, op_id op, tensor_id operand) {
  const graph_op *o = &r->g->ops.data[op];
  const tensor_id out = r->home[o->outputs[0]];
  const tensor_id in = r->home[operand];
  uint32_t first, last, unused;
  if (r->g->tensors.data[in].flags & (CALM_TENSOR_OUTPUT | CALM_TENSOR_CONST))
    return false;
  find_life(r, out, &first, &unused);
  find_life(r, in, &unused, &last);
  return first == r->step_of[op] && last == r->step_of[op];
}

static uint64_t saved(const referee *r, op_id op) {
  const graph_op *o = &r->g->ops.data[op];
  const uint64_t bytes = r->g->tensors.data[o->outputs[0]].bytes;
  switch (o->kind) {
    case OP_add_into:
      return takes_over(r, op, o->inputs[0]) ? bytes + o->workspace_bytes : 0;
    case OP_relu:
      return r->inplace && takes_over(r, op, o->inputs[0]) ? bytes : 0;
    case OP_fused_conv:
      return r->inplace && o->inputs[0] != o->inputs[3] &&
                     r->g->tensors.data[o->inputs[3]].bytes == bytes &&
                     takes_over(r, op, o->inputs[3])
                 ? bytes
                 : 0;
    default: return 0;
  }
}

/* What is there while an operator runs that is no sum. */
static uint64_t bytes_at(const referee *r, op_id op) {
  const uint32_t step = r->step_of[op];
  uint64_t bytes = r->g->ops.data[op].workspace_bytes;
  for (tensor_id t = 0; t < r->g->tensors.count; t++) {
    const unsigned flags = r->g->tensors.data[t].flags;
    uint32_t first, last;
    if (r->home[t] != t || flags & CALM_TENSOR_CONST) continue;
    find_life(r, t, &first, &last);
    if (first == UINT32_MAX) continue;
    if (flags & CALM_TENSOR_INPUT) first = 0;
    if (flags & CALM_TENSOR_OUTPUT) last = r->g->ops.count;
    if (first <= step && step <= last) bytes += r->g->tensors.data[t].bytes;
  }
  return bytes - saved(r, op);
}

/* ---- All orders of small graphs ------------------------------------------ */

/* Tensors and operators are written as text. */
typedef struct draft {
  random_state *r;
  char tensors[1024], ops[1024];
  uint32_t tensor_count, op_count, unread[16], unread_count;
} draft;

enum { PART_BYTES = 8, DRAFT_OPS = 7 };

static uint32_t draft_tensor(draft *d, uint64_t bytes, const char *flags) {
  const size_t length = strlen(d->tensors);
  snprintf(d->tensors + length, sizeof d->tensors - length,
           "tensor t%" PRIu32 " %" PRIu64 "%s\n", d->tensor_count, bytes,
           flags);
  return d->tensor_count++;
}

static void draft_op(draft *d, const char *format, ...) {
  const size_t length = strlen(d->ops);
  char what[128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(d->ops + length, sizeof d->ops - length, "op o%" PRIu32 " %s\n",
           d->op_count++, what);
}

/* Something whole to read: mostly what nobody has read yet. */
static uint32_t draft_pick(draft *d) {
  const uint32_t at = random_below(d->r, d->unread_count);
  const uint32_t t = d->unread[at];
  if (d->unread_count > 1 && chance(d->r, 60))
    d->unread[at] = d->unread[--d->unread_count];
  return t;
}

static void draft_plain(draft *d) {
  const uint64_t bytes = chance(d->r, 60) ? PART_BYTES : random_below(d->r, 12);
  const uint32_t x = draft_pick(d), y = draft_pick(d);
  const uint32_t out =
      draft_tensor(d, bytes, chance(d->r, 10) ? " output" : "");
  if (chance(d->r, 25))
    draft_op(d,
             "fused_conv ( t%" PRIu32 " - - t%" PRIu32 " ) -> ( t%" PRIu32 " )",
             x, y, out);
  else
    draft_op(d,
             "conv2d ( t%" PRIu32 " ) -> ( t%" PRIu32 " ) workspace=%" PRIu32,
             x, out, chance(d->r, 20) ? random_below(d->r, 9) : 0);
  d->unread[d->unread_count++] = out;
}

/* One to three parts, each computed into the sum or added to it. */
static void draft_sum(draft *d) {
  uint32_t parts[3], count = 1 + random_below(d->r, 3);
  const uint32_t workspace = chance(d->r, 50) ? PART_BYTES : 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t x = draft_pick(d);
    uint32_t into = draft_tensor(d, PART_BYTES, "");
    draft_op(d, "conv2d ( t%" PRIu32 " ) -> ( t%" PRIu32 " )", x, into);
    if (chance(d->r, 60)) {
      const uint32_t part = draft_tensor(d, PART_BYTES, "");
      draft_op(
          d, "add_into ( t%" PRIu32 " ) -> ( t%" PRIu32 " ) workspace=%" PRIu32,
          into, part, workspace);
      if (chance(d->r, 15)) d->unread[d->unread_count++] = into;
      into = part;
    }
    parts[i] = into;
  }
  const uint32_t out =
      draft_tensor(d, PART_BYTES, chance(d->r, 15) ? " output" : "");
  const uint32_t *p = parts;
  if (count == 1)
    draft_op(d, "partial_sum ( t%" PRIu32 " ) -> ( t%" PRIu32 " )", p[0], out);
  else if (count == 2)
    draft_op(d, "partial_sum ( t%" PRIu32 " t%" PRIu32 " ) -> ( t%" PRIu32 " )",
             p[0], p[1], out);
  else
    draft_op(d,
             "partial_sum ( t%" PRIu32 " t%" PRIu32 " t%" PRIu32
             " ) -> ( t%" PRIu32 " )",
             p[0], p[1], p[2], out);
  d->unread[d->unread_count++] = out;
}

static void draft_relu(draft *d) {
  const uint32_t x = draft_pick(d);
  char bytes[32];
  snprintf(bytes, sizeof bytes, "tensor t%" PRIu32 " ", x);
  const uint64_t size =
      strtoull(strstr(d->tensors, bytes) + strlen(bytes), NULL, 10);
  const uint32_t out = draft_tensor(d, size, "");
  draft_op(d, "relu ( t%" PRIu32 " ) -> ( t%" PRIu32 " )", x, out);
  d->unread[d->unread_count++] = out;
}

static void open_draft(fixture *f, random_state *r) {
  draft d = {.r = r};
  char text[2200];
  for (uint32_t i = 1 + random_below(r, 2); i > 0; i--)
    d.unread[d.unread_count++] =
        draft_tensor(&d, 1 + random_below(r, 9), " input");
  while (d.op_count < DRAFT_OPS - 2 && d.unread_count < 10) {
    const uint32_t what = random_below(r, 10);
    if (what < 4)
      draft_sum(&d);
    else if (what < 8)
      draft_plain(&d);
    else
      draft_relu(&d);
  }
  snprintf(text, sizeof text, "%s%s", d.tensors, d.ops);
  fixture_open(f, text);
}

typedef struct trial {
  const fixture *f;
  const memory_model *model;
  const memory_problem *p;
  referee r;
  op_id sequence[RANDOM_MAX_OPS];
  uint32_t count, handed; /* steps so far; orders in which a sum begins so */
  uint64_t least;
} trial;

/* Referee, simulation, replay and, once placed, the judge: one opinion. */
static void judge_order(trial *t) {
  const graph *g = t->f->g;
  arena a;
  arena_init(&a, t->f->context);
  memory_profile profile;
  assert_int_equal(
      memory_simulate(&profile, g, t->model, NULL, t->sequence, &a), CALM_OK);
  uint64_t peak = 0, replayed, step_bytes[RANDOM_MAX_OPS];
  uint32_t sequence[RANDOM_MAX_OPS], count = 0;
  for (uint32_t step = 0; step < g->ops.count; step++) {
    const op_id op = t->sequence[step];
    if (g->ops.data[op].kind == OP_partial_sum) continue;
    const uint64_t bytes = bytes_at(&t->r, op);
    assert_int_equal(profile.step_bytes[step], bytes);
    if (bytes > peak) peak = bytes;
    sequence[count++] = t->p->order_op_of[op];
    t->handed += g->ops.data[op].kind == OP_add_into && saved(&t->r, op);
  }
  assert_int_equal(profile.peak_bytes, peak);
  assert_int_equal(order_replay(&replayed, &t->p->order, sequence, step_bytes,
                                t->f->context),
                   CALM_OK);
  assert_int_equal(replayed, peak);
  if (peak < t->least) t->least = peak;
  arena_free(&a);
}

static void try_orders(trial *t) {
  const graph *g = t->f->g;
  if (t->count == g->ops.count) {
    judge_order(t);
    return;
  }
  for (op_id op = 0; op < g->ops.count; op++) {
    bool ready = t->r.step_of[op] == UINT32_MAX;
    for (uint32_t i = g->pred_begin[op]; ready && i < g->pred_begin[op + 1];
         i++)
      ready = t->r.step_of[g->preds[i]] != UINT32_MAX;
    if (!ready) continue;
    t->r.step_of[op] = t->count;
    t->sequence[t->count++] = op;
    try_orders(t);
    t->r.step_of[op] = UINT32_MAX;
    t->count--;
  }
}

static void check_placement(const fixture *f, const memory_model *m,
                            const solved *s) {
  op_id full[RANDOM_MAX_OPS];
  memory_placement placement;
  layout_result layout;
  limits l;
  arena *a = (arena *)&f->arena;
  const layout_options options = layout_options_default();
  limits_init(&l, f->context);
  assert_int_equal(memory_expand_sequence(full, f->g, &s->p, s->order.sequence),
                   CALM_OK);
  assert_int_equal(memory_placement_build(&placement, f->g, m, &s->p, full, a),
                   CALM_OK);
  assert_int_equal(layout_solve(&layout, &placement.layout, &options, a, &l),
                   CALM_OK);
  assert_true(layout.arena_bytes >= s->order.peak_bytes);
  uint64_t offsets[RANDOM_MAX_TENSORS], workspaces[RANDOM_MAX_OPS];
  for (tensor_id t = 0; t < f->g->tensors.count; t++) {
    const uint32_t at = s->p.buffer_begin[t];
    offsets[t] = at == s->p.buffer_begin[t + 1]
                     ? UINT64_MAX
                     : layout.offsets[placement.body_of[s->p.buffers[at]]];
  }
  for (op_id op = 0; op < f->g->ops.count; op++)
    workspaces[op] = placement.workspace_body[op] == CALM_NONE
                         ? UINT64_MAX
                         : layout.offsets[placement.workspace_body[op]];
  const memory_plan plan = {.sequence = full,
                            .offsets = offsets,
                            .workspace_offsets = workspaces,
                            .arena_bytes = layout.arena_bytes};
  memory_verdict v;
  assert_int_equal(memory_check(&v, f->g, m, &plan, a), CALM_OK);
  if (v.faults.count) fail_msg("%s", v.faults.data[0].text);
  memory_verdict_free(&v, f->context);
}

static void brute_force_agrees(void **state) {
  (void)state;
  static const char *const models[] = {"plain",
                                       "plain inplace=relu,fused_conv"};
  random_state r = random_from_seed(21);
  uint32_t handed = 0;
  for (int round = 0; round < 300; round++) {
    fixture f;
    open_draft(&f, &r);
    const memory_model m = model_of(f.context, models[round % 2]);
    const solved exact = solve(&f, &m, ORDER_EXACT);
    const solved dp = solve(&f, &m, ORDER_DP);
    trial t = {.f = &f,
               .model = &m,
               .p = &exact.p,
               .r = {.g = f.g, .inplace = round % 2},
               .least = UINT64_MAX};
    memset(t.r.step_of, 0xff, sizeof t.r.step_of);
    for (tensor_id i = 0; i < f.g->tensors.count; i++)
      t.r.home[i] = find_home(f.g, i);
    try_orders(&t);
    assert_true(order_working_set(&exact.p.order) <= t.least);
    assert_int_equal(exact.order.outcome, CALM_OPTIMAL);
    assert_int_equal(exact.order.peak_bytes, t.least);
    assert_int_equal(dp.order.peak_bytes, t.least);
    check_placement(&f, &m, &exact);
    handed += t.handed > 0;
    fixture_close(&f);
  }
  assert_true(handed > 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_parts_are_one_buffer),
      cmocka_unit_test(the_first_is_handed_over),
      cmocka_unit_test(a_sum_of_sums_is_one_buffer),
      cmocka_unit_test(a_part_is_no_view),
      cmocka_unit_test(a_fused_convolution_adds_in_place),
      cmocka_unit_test(the_judge_knows_who_is_first),
      cmocka_unit_test(brute_force_agrees)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
