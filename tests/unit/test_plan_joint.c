/*
 * Order and layout together: what a plan says of all orders agrees with a
 * referee that lists the orders and tries all offsets.  It reads lives off the
 * graph and shares nothing with the planner; in place it takes the memory
 * room's word for what becomes one body.
 */
#include "plan/planner.h"
#include "planned.h"
#include "scarce.h"
#include "test_layout.h"

enum { OPS = 6, TEXT = 2048 };

/* Operators that write a tensor each. */
typedef struct tiny_graph {
  uint32_t count;
  uint32_t reads[OPS]; /* bit u: the tensor of operator u */
  uint32_t bytes[OPS], workspace[OPS];
  bool output[OPS];
  uint32_t align;
  char text[TEXT];
} tiny_graph;

static void tiny_draw(tiny_graph *t, random_state *r) {
  static const uint32_t aligns[] = {1, 2, 4, 6};
  const uint32_t most = random_below(r, 2) ? 9 : 4;
  *t = (tiny_graph){.count = 3 + random_below(r, OPS - 2),
                    .align = aligns[random_below(r, 4)]};
  for (uint32_t u = 0; u < t->count; u++) {
    for (uint32_t v = 0; v < u; v++)
      if (random_below(r, 5) < 2) t->reads[u] |= 1u << v;
    t->bytes[u] = 1 + random_below(r, most);
    t->output[u] = random_below(r, 5) == 0;
    if (u < 2 && random_below(r, 3) == 0)
      t->workspace[u] = 1 + random_below(r, most);
  }
}

static void tiny_write(tiny_graph *t) {
  char *at = t->text, *const end = t->text + TEXT;
  at += snprintf(at, (size_t)(end - at), "calm-graph 1\ngraph tiny\n");
  for (uint32_t u = 0; u < t->count; u++)
    at += snprintf(at, (size_t)(end - at), "tensor t%u %u%s\n", u, t->bytes[u],
                   t->output[u] ? " output" : "");
  for (uint32_t u = 0; u < t->count; u++) {
    at += snprintf(at, (size_t)(end - at), "op o%u %s (", u,
                   t->reads[u] && u % 3 ? "add" : "op");
    for (uint32_t v = 0; v < u; v++)
      if (t->reads[u] >> v & 1)
        at += snprintf(at, (size_t)(end - at), " t%u", v);
    at += snprintf(at, (size_t)(end - at), " ) -> ( t%u )", u);
    if (t->workspace[u])
      at += snprintf(at, (size_t)(end - at), " workspace=%u", t->workspace[u]);
    at += snprintf(at, (size_t)(end - at), "\n");
  }
}

/* ---- The referee --------------------------------------------------------- */

/* where[u] is the step of operator u. */
static void tiny_place(small_problem *s, const tiny_graph *t,
                       const uint32_t *where) {
  small_init(s);
  for (uint32_t u = 0; u < t->count; u++) {
    uint32_t last = where[u];
    for (uint32_t v = 0; v < t->count; v++)
      if (t->reads[v] >> u & 1 && where[v] > last) last = where[v];
    if (t->output[u]) last = t->count;
    small_add_box(s, where[u], (int64_t)last + 1, t->bytes[u]);
    s->bodies[s->p.body_count - 1].align = t->align;
  }
  for (uint32_t u = 0; u < t->count; u++)
    if (t->workspace[u]) {
      small_add_box(s, where[u], (int64_t)where[u] + 1, t->workspace[u]);
      s->bodies[s->p.body_count - 1].align = t->align;
    }
}

/* Does some order that begins as `where` says fit? */
static bool tiny_fits(const tiny_graph *t, uint32_t done, uint32_t step,
                      uint32_t *where, uint64_t capacity) {
  if (step == t->count) {
    small_problem s;
    uint64_t offsets[MOST_BODIES];
    tiny_place(&s, t, where);
    return brute_place(&s.p, offsets, 0, capacity);
  }
  for (uint32_t u = 0; u < t->count; u++) {
    if (done >> u & 1 || t->reads[u] & ~done) continue;
    where[u] = step;
    if (tiny_fits(t, done | 1u << u, step + 1, where, capacity)) return true;
  }
  return false;
}

static bool tiny_packs(const tiny_graph *t, uint64_t capacity) {
  uint32_t where[OPS] = {0};
  return tiny_fits(t, 0, 0, where, capacity);
}

/* ---- In place ------------------------------------------------------------ */

/* All orders as the memory room places them; the offsets are the referee's. */
typedef struct lister {
  const graph *g;
  const memory_model *model;
  const memory_problem *problem;
  uint32_t sequence[OPS];
  uint64_t capacity;
} lister;

static bool placement_fits(const lister *l, calm_context *context) {
  op_id sequence[OPS];
  memory_placement placement;
  uint64_t offsets[MOST_BODIES];
  arena a;
  arena_init(&a, context);
  assert_int_equal(
      memory_expand_sequence(sequence, l->g, l->problem, l->sequence), CALM_OK);
  assert_int_equal(memory_placement_build(&placement, l->g, l->model,
                                          l->problem, sequence, &a),
                   CALM_OK);
  assert_true(placement.layout.body_count <= MOST_BODIES);
  const bool fits = brute_place(&placement.layout, offsets, 0, l->capacity);
  arena_free(&a);
  return fits;
}

static bool some_order_fits(lister *l, uint32_t done, uint32_t step,
                            calm_context *context) {
  const order_problem *o = &l->problem->order;
  if (step == o->op_count) return placement_fits(l, context);
  for (uint32_t u = 0; u < o->op_count; u++) {
    bool ready = !(done >> u & 1);
    for (uint32_t i = o->pred_begin[u]; i < o->pred_begin[u + 1]; i++)
      if (!(done >> o->preds[i] & 1)) ready = false;
    l->sequence[step] = u;
    if (ready && some_order_fits(l, done | 1u << u, step + 1, context))
      return true;
  }
  return false;
}

static bool plan_fits(const calm_plan *plan, uint64_t capacity) {
  memory_problem problem;
  arena a;
  arena_init(&a, plan->context);
  assert_int_equal(
      memory_problem_build(&problem, plan->graph, &plan->memory, NULL, &a),
      CALM_OK);
  lister l = {plan->graph, &plan->memory, &problem, {0}, capacity};
  const bool fits = some_order_fits(&l, 0, 0, plan->context);
  arena_free(&a);
  return fits;
}

/* ---- Tests --------------------------------------------------------------- */

static void open_tiny(planned *p, tiny_graph *t, const char *inplace,
                      const char *most_orders) {
  char align[16];
  const char *const options[] = {"memory",       "plain",     "align",
                                 align,          "inplace",   inplace,
                                 "joint-orders", most_orders, NULL};
  snprintf(align, sizeof align, "%u", t->align);
  planned_open(p, t->text, "tiny.cg", options);
}

static void the_least_arena_of_all_orders_is_proved(void **state) {
  (void)state;
  random_state random = random_from_seed(1);
  int beyond = 0, listed = 0;
  for (int i = 0; i < 500; i++) {
    tiny_graph t;
    planned p;
    tiny_draw(&t, &random);
    tiny_write(&t);
    open_tiny(&p, &t, "none", "1000000");
    const calm_plan_summary *s = calm_plan_summary_of(p.plan);
    assert_int_equal(s->layout_outcome, CALM_OPTIMAL);
    assert_true(tiny_packs(&t, s->arena_bytes));
    assert_false(tiny_packs(&t, s->arena_bytes - 1));
    beyond += s->arena_bytes > p.plan->order.bound_bytes;
    listed += p.plan->joint.all;
    planned_close(&p);
  }
  assert_true(beyond > 100 && listed > 15);
}

static void fewer_orders_promise_no_more(void **state) {
  (void)state;
  random_state random = random_from_seed(2);
  for (int i = 0; i < 150; i++) {
    static const char *const most[] = {"0", "1", "3"};
    tiny_graph t;
    planned p;
    const int which = i % 3;
    tiny_draw(&t, &random);
    tiny_write(&t);
    open_tiny(&p, &t, "none", most[which]);
    const calm_plan_summary *s = calm_plan_summary_of(p.plan);
    assert_true(p.plan->joint.orders <= (uint64_t)(most[which][0] - '0'));
    assert_true(tiny_packs(&t, s->arena_bytes));
    assert_false(tiny_packs(&t, s->arena_bound_bytes - 1));
    planned_close(&p);
  }
}

static void so_it_is_in_place(void **state) {
  (void)state;
  random_state random = random_from_seed(4);
  int listed = 0;
  for (int i = 0; i < 300; i++) {
    tiny_graph t;
    planned p;
    tiny_draw(&t, &random);
    for (uint32_t u = 0; u < t.count; u++)
      if (random_below(&random, 2)) t.bytes[u] = t.bytes[0];
    tiny_write(&t);
    open_tiny(&p, &t, "add", "1000000");
    const calm_plan_summary *s = calm_plan_summary_of(p.plan);
    assert_int_equal(s->layout_outcome, CALM_OPTIMAL);
    assert_true(plan_fits(p.plan, s->arena_bytes));
    assert_false(plan_fits(p.plan, s->arena_bytes - 1));
    listed += p.plan->joint.all;
    planned_close(&p);
  }
  assert_true(listed > 10);
}

static void draw_order(uint32_t *sequence, const order_problem *o,
                       random_state *r) {
  uint32_t done = 0;
  for (uint32_t step = 0; step < o->op_count;) {
    const uint32_t u = random_below(r, o->op_count);
    bool ready = !(done >> u & 1);
    for (uint32_t i = o->pred_begin[u]; i < o->pred_begin[u + 1]; i++)
      if (!(done >> o->preds[i] & 1)) ready = false;
    if (!ready) continue;
    sequence[step++] = u;
    done |= 1u << u;
  }
}

/* Which the search would not begin with.  Rounding is known from an arena that
   is out of reach, so that no order is placed for its sake. */
static void list_from_any_order(const planned *made, bool rounded,
                                random_state *r) {
  planner p = {.plan = made->plan, .g = made->plan->graph};
  const plan_joint before = made->plan->joint;
  layout_options options = layout_options_default();
  plan_candidate best;
  calm_options *o;
  uint32_t sequence[OPS];
  limits l;
  arena a;
  arena_init(&a, made->context);
  limits_init(&l, made->context);
  assert_int_equal(calm_options_new(&o, made->context), CALM_OK);
  p.options = o;
  p.scratch = &a;
  assert_int_equal(
      memory_problem_build(&p.problem, p.g, &made->plan->memory, NULL, &a),
      CALM_OK);
  draw_order(sequence, &p.problem.order, r);
  assert_int_equal(plan_place(&best, &p, sequence, &options, &l), CALM_OK);
  plan_candidate none = best;
  none.layout.arena_bytes = 0;
  if (rounded)
    assert_int_equal(plan_try_aligned(&none, &p, &options, &l), CALM_OK);
  assert_int_equal(plan_try_every_order(&best, &p, &options, &l), CALM_OK);
  assert_true(made->plan->joint.all);
  assert_int_equal(best.layout.arena_bytes, made->plan->summary.arena_bytes);
  assert_int_equal(p.joint_bound, best.layout.arena_bytes);
  made->plan->joint = before;
  calm_options_free(o);
  arena_free(&a);
}

/* Wherever the list begins, it ends at the same arena. */
static void every_list_ends_at_the_least(void **state) {
  (void)state;
  random_state random = random_from_seed(5);
  for (int i = 0; i < 250; i++) {
    static const char *const inplace[] = {"none", "add"};
    tiny_graph t;
    planned p;
    tiny_draw(&t, &random);
    for (uint32_t u = 0; u < t.count; u++)
      if (random_below(&random, 3) == 0) t.bytes[u] = t.bytes[0];
    tiny_write(&t);
    open_tiny(&p, &t, inplace[i % 2], "1000000");
    assert_int_equal(calm_plan_summary_of(p.plan)->layout_outcome,
                     CALM_OPTIMAL);
    for (int n = 0; n < 4; n++) list_from_any_order(&p, n < 2, &random);
    planned_close(&p);
  }
}

static calm_status plan_scarcely(const tiny_graph *t,
                                 const calm_allocator *allocator) {
  calm_context *context = calm_context_new(allocator);
  calm_options *options = NULL;
  calm_model *model = NULL;
  calm_plan *plan = NULL;
  calm_status status = CALM_NO_MEMORY;
  if (!context) return status;
  status = calm_options_new(&options, context);
  if (!status) status = calm_options_set(options, "memory", "plain");
  if (!status) status = calm_options_set(options, "align", "4");
  if (!status)
    status = calm_model_parse(&model, context, t->text, strlen(t->text), "t",
                              options);
  if (!status) status = calm_plan_make(&plan, model, options);
  if (!status) assert_true(plan->joint.all);
  calm_plan_free(plan);
  calm_model_free(model);
  calm_options_free(options);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return status;
}

/* The first drawn graph of which all orders are listed. */
static void draw_listed(tiny_graph *t) {
  random_state random = random_from_seed(3);
  for (bool listed = false; !listed;) {
    planned p;
    tiny_draw(t, &random);
    t->align = 4;
    tiny_write(t);
    open_tiny(&p, t, "none", "100");
    listed = p.plan->joint.all;
    planned_close(&p);
  }
}

static void it_fails_cleanly_without_memory(void **state) {
  (void)state;
  tiny_graph t;
  calm_status status = CALM_NO_MEMORY;
  draw_listed(&t);
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    uint64_t left = granted;
    const calm_allocator allocator = {scarce_reallocate, &left};
    status = plan_scarcely(&t, &allocator);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_arena_of_all_orders_is_proved),
      cmocka_unit_test(fewer_orders_promise_no_more),
      cmocka_unit_test(so_it_is_in_place),
      cmocka_unit_test(every_list_ends_at_the_least),
      cmocka_unit_test(it_fails_cleanly_without_memory),
  };
  return cmocka_run_group_tests_name("plan_joint", tests, NULL, NULL);
}
