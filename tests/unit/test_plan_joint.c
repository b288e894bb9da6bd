/*
 * Order and layout together: what a plan says of all orders agrees with a
 * referee that lists the orders and tries all offsets.  It reads lives off the
 * graph and shares nothing with the planner.
 */
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
    at += snprintf(at, (size_t)(end - at), "op o%u op (", u);
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

/* ---- Tests --------------------------------------------------------------- */

static void open_tiny(planned *p, tiny_graph *t, const char *most_orders) {
  char align[16];
  const char *const options[] = {"memory",       "plain",     "align", align,
                                 "joint-orders", most_orders, NULL};
  snprintf(align, sizeof align, "%u", t->align);
  planned_open(p, t->text, "tiny.cg", options);
}

static void the_least_arena_of_all_orders_is_proved(void **state) {
  (void)state;
  random_state random = random_from_seed(1);
  int beyond = 0, listed = 0;
  for (int i = 0; i < 800; i++) {
    tiny_graph t;
    planned p;
    tiny_draw(&t, &random);
    tiny_write(&t);
    open_tiny(&p, &t, "1000000");
    const calm_plan_summary *s = calm_plan_summary_of(p.plan);
    assert_int_equal(s->layout_outcome, CALM_OPTIMAL);
    assert_true(tiny_packs(&t, s->arena_bytes));
    assert_false(tiny_packs(&t, s->arena_bytes - 1));
    beyond += s->arena_bytes > p.plan->order.bound_bytes;
    listed += p.plan->joint.all;
    planned_close(&p);
  }
  assert_true(beyond > 160 && listed > 25);
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
    open_tiny(&p, &t, most[which]);
    const calm_plan_summary *s = calm_plan_summary_of(p.plan);
    assert_true(p.plan->joint.orders <= (uint64_t)(most[which][0] - '0'));
    assert_true(tiny_packs(&t, s->arena_bytes));
    assert_false(tiny_packs(&t, s->arena_bound_bytes - 1));
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
    open_tiny(&p, t, "100");
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
      cmocka_unit_test(it_fails_cleanly_without_memory),
  };
  return cmocka_run_group_tests_name("plan_joint", tests, NULL, NULL);
}
