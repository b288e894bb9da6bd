/* The judge of folded constants: each way to get them wrong is found out. */
#include "rewrite/rewrite_contents.h"
#include "rewrite_fixture.h"

#define CONSTANTS                                            \
  "tensor scale f32[4] const\ntensor bias f32[4] const\n"    \
  "tensor mean f32[4] const\ntensor var f32[4] const\n"      \
  "tensor k f32[4,1,1] const\ntensor c f32[1,4,1,1] const\n" \
  "tensor w f32[4,4,3,3] const\ntensor b f32[4] const\n"     \
  "tensor x f32[1,4,3,3] input\ntensor y0 f32[1,4,3,3]\n"    \
  "tensor y1 f32[1,4,3,3]\ntensor y2 f32[1,4,3,3]\n"         \
  "tensor y f32[1,4,3,3] output\n"
#define NORM                                                        \
  "op bn batch_normalization ( y0 scale bias mean var ) -> ( y1 ) " \
  "epsilon=0.25\n"
#define TIMES_PLUS \
  "op times mul ( y1 k ) -> ( y2 )\nop plus add ( y2 c ) -> ( y )\n"

/* A convolution, folded; one normalization; a multiplication and an addition.
 */
static const char *const graphs[] = {
    CONSTANTS
    "op conv conv2d ( x w b ) -> ( y0 ) pads=1,1,1,1\n" NORM TIMES_PLUS,
    CONSTANTS "op plus0 add ( x c ) -> ( y0 )\n" NORM TIMES_PLUS,
    "tensor k f32[4] const\ntensor c f32[1,1,1,4] const\n"
    "tensor scale f32[4] const\ntensor x f32[1,3,3,4] input\n"
    "tensor y0 f32[1,3,3,4]\ntensor y1 f32[1,3,3,4]\n"
    "tensor y f32[1,3,3,4] output\n"
    "op plus add ( x c ) -> ( y0 )\nop times mul ( y0 k ) -> ( y1 )\n"
    "op more add ( y1 scale ) -> ( y )\n"};

enum { GRAPHS = sizeof graphs / sizeof *graphs };

static void open_graph(rewriting *r, size_t i) {
  open_rewriting(r, REWRITE_affine, graphs[i]);
  r->f.graphs.data[0].channels_first = i < 2;
  find_sites(r);
  apply_all(r);
}

static void expect_refused(rewriting *r, const char *what) {
  if (rewrite_check(&r->edit, r->f.context) != CALM_INTERNAL)
    fail_msg("not found out: %s", what);
}

/* ---- Recipes ------------------------------------------------------------- */

typedef void mutation(edit_recipe *recipe, recipe_step *step);

static void change_verb(edit_recipe *recipe, recipe_step *step) {
  (void)recipe;
  step->verb = step->verb == RECIPE_ADD ? RECIPE_MULTIPLY : RECIPE_ADD;
}

static void change_number(edit_recipe *recipe, recipe_step *step) {
  (void)recipe;
  step->number += 0.125;
}

/* The first constants of all graphs differ in their values, not in kind. */
static void change_constant(edit_recipe *recipe, recipe_step *step) {
  (void)recipe;
  step->constant = step->constant == 0 ? 1 : 0;
}

static void change_start(edit_recipe *recipe, recipe_step *step) {
  (void)step;
  if (recipe->start == CALM_NONE)
    recipe->number += 1;
  else
    recipe->start = recipe->start == 0 ? 1 : 0;
}

static void drop_last(edit_recipe *recipe, recipe_step *step) {
  (void)step;
  recipe->step_count--;
}

static void change_axis(edit_recipe *recipe, recipe_step *step) {
  (void)step;
  recipe->axis++;
}

static void change_shape(edit_recipe *recipe, recipe_step *step) {
  (void)step;
  ((int64_t *)(uintptr_t)recipe->dimensions)[0]++;
}

/* Does the step's number mean anything? */
static bool has_number(const recipe_step *step) {
  return step->constant == CALM_NONE || step->verb == RECIPE_MULTIPLY_ROOT ||
         step->verb == RECIPE_DIVIDE_ROOT;
}

static bool applies(mutation *m, const edit_recipe *recipe, uint32_t step) {
  if (m == change_number)
    return step < recipe->step_count && has_number(&recipe->steps[step]);
  if (m == change_verb || m == change_constant)
    return step < recipe->step_count;
  return step == 0 && (m != drop_last || recipe->step_count > 0);
}

/* Change the recipe of the n-th given constant at one step; false: there is no
   such constant. */
static bool mutate(bool *done, rewriting *r, uint32_t n, uint32_t step,
                   mutation *m) {
  for (tensor_id t = 0; t < r->edit.tensors.count; t++) {
    edit_tensor *descent = &r->edit.tensors.data[t];
    if (descent->contents != EDIT_GIVEN || n-- > 0) continue;
    edit_recipe *recipe = (edit_recipe *)(uintptr_t)descent->recipe;
    *done = applies(m, recipe, step);
    if (*done) m(recipe, (recipe_step *)(uintptr_t)recipe->steps + step);
    return true;
  }
  return false;
}

static void test_recipes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    mutation *m;
  } mutations[] = {{"verb", change_verb},         {"number", change_number},
                   {"constant", change_constant}, {"start", change_start},
                   {"last step", drop_last},      {"axis", change_axis},
                   {"shape", change_shape}};
  enum { MUTATIONS = sizeof mutations / sizeof *mutations, STEPS = 16 };
  uint32_t refused = 0;
  for (size_t i = 0; i < GRAPHS; i++)
    for (size_t m = 0; m < MUTATIONS; m++)
      for (uint32_t n = 0, there = 1; there; n++)
        for (uint32_t step = 0; step < STEPS && there; step++) {
          rewriting r;
          bool done = false;
          open_graph(&r, i);
          there = mutate(&done, &r, n, step, mutations[m].m);
          if (done) expect_refused(&r, mutations[m].name);
          refused += done;
          close_rewriting(&r);
        }
  assert_int_equal(refused, 77);
}

/* ---- Operators ----------------------------------------------------------- */

static void swap(uint32_t *a, uint32_t *b) {
  const uint32_t c = *a;
  *a = *b;
  *b = c;
}

static void test_operands(void **state) {
  (void)state;
  for (size_t i = 0; i < 2; i++)
    for (uint32_t a = 1; a < 5; a++)
      for (uint32_t b = a + 1; b < 5; b++) {
        rewriting r;
        open_graph(&r, i);
        graph_op *op = &r.edit.after.ops.data[0];
        if (b < op->input_count) {
          swap(&op->inputs[a], &op->inputs[b]);
          expect_refused(&r, "operands exchanged");
        }
        close_rewriting(&r);
      }
}

static void test_attributes(void **state) {
  (void)state;
  for (size_t i = 0; i < GRAPHS; i++) {
    rewriting r;
    graph_attribute relu[] = {{"activation", "relu"}};
    open_graph(&r, i);
    graph_op *op = &r.edit.after.ops.data[r.edit.after.ops.count - 1];
    op->attributes = relu;
    op->attribute_count = 1;
    expect_refused(&r, "an activation");
    op->attribute_count = 0;
    if (i < 2) expect_refused(&r, "no attributes");
    close_rewriting(&r);
  }
}

/* What the new operator stands for is not just a chain. */
static void test_chains(void **state) {
  (void)state;
  for (size_t i = 0; i < GRAPHS; i++)
    for (op_id u = 0; u < 3; u++) {
      rewriting r;
      graph_attribute relu[] = {{"activation", "relu"}};
      open_graph(&r, i);
      graph_op *op = &r.f.graphs.data[0].ops.data[u];
      const bool last = op->outputs[0] == r.g->tensors.count - 1;
      const graph_op kept = *op;
      if (!last) {
        op->attributes = relu;
        op->attribute_count = 1;
        expect_refused(&r, "an activation within");
        *op = kept;
      }
      if (u > 0 || i > 0) {
        op->kind = OP_relu;
        expect_refused(&r, "another operator within");
        *op = kept;
      }
      close_rewriting(&r);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recipes), cmocka_unit_test(test_operands),
      cmocka_unit_test(test_attributes), cmocka_unit_test(test_chains)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
