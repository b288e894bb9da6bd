#include "memory/memory_check.h"
#include "memory_graphs.h"
#include "model/model.h"

enum { NOWHERE = -1 };

/* Check a plan whose offsets stand in the order of the tensors; NOWHERE: not
   placed.  `plan` holds the rest. */
static memory_verdict check(const fixture *f, const char *model,
                            memory_plan plan, const int64_t *offsets) {
  const memory_model m = model_of(f->context, model);
  memory_verdict v;
  uint64_t wide[RANDOM_MAX_TENSORS];
  for (tensor_id t = 0; t < f->g->tensors.count; t++)
    wide[t] = (uint64_t)offsets[t];
  plan.offsets = wide;
  if (memory_check(&v, f->g, &m, &plan, (arena *)&f->arena))
    fail_msg("%s", calm_context_message(f->context));
  return v;
}

static const memory_plan derived = {.arena_bytes = UINT64_MAX};

/* All lines, "kind: text" each, faults first, warnings marked. */
static const char *lines_of(const memory_verdict *v) {
  static char text[4096];
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < v->faults.count; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s: %s\n",
                               v->faults.data[i].kind, v->faults.data[i].text);
  for (uint32_t i = 0; i < v->warnings.count; i++)
    length +=
        (size_t)snprintf(text + length, sizeof text - length, "(%s: %s)\n",
                         v->warnings.data[i].kind, v->warnings.data[i].text);
  return text;
}

static void expect(const fixture *f, const char *model, memory_plan plan,
                   const int64_t *offsets, const char *lines) {
  memory_verdict v = check(f, model, plan, offsets);
  assert_string_equal(lines_of(&v), lines);
  memory_verdict_free(&v, f->context);
}

static const char chain[] =
    "tensor x 32 input\n"
    "tensor w 99 const\n"
    "tensor y 16\n"
    "tensor z i32[4] output\n"
    "op a conv2d ( x w ) -> ( y )\n"
    "op b relu ( y ) -> ( z )\n";

static void a_sound_plan(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const int64_t offsets[] = {0, NOWHERE, 32, 0};
  memory_verdict v = check(&f, "plain", derived, offsets);
  assert_string_equal(lines_of(&v), "");
  assert_int_equal(v.arena_bytes, 48);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

static void the_arena_counts_rounded_sizes(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "tensor x 17 input\nop a opaque ( x ) -> ( )\n");
  const int64_t offsets[] = {16};
  memory_verdict v = check(&f, "tflm-default", derived, offsets);
  assert_string_equal(lines_of(&v), "");
  assert_int_equal(v.arena_bytes, 48);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

static void overlaps_are_told_in_words(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const int64_t offsets[] = {0, NOWHERE, 16, 24};
  expect(&f, "plain", derived, offsets,
         "overlap: tensor 'x' (bytes 0..31, alive at steps 0..0) and tensor "
         "'y' (bytes 16..31, alive at steps 0..1) share bytes 16..31 at step 0 "
         "(a)\n"
         "overlap: tensor 'y' (bytes 16..31, alive at steps 0..1) and tensor "
         "'z' (bytes 24..39, alive at steps 1..1) share bytes 24..31 at step 1 "
         "(b)\n"
         "(misaligned: 1 tensor lies at an offset that is no multiple of 16, "
         "such as 'z' at 24)\n");
  fixture_close(&f);
}

static void pairs_in_place_may_share(void **state) {
  (void)state;
  static const char fault[] =
      "overlap: tensor 'y' (bytes 32..47, alive at steps 0..1) and tensor 'z' "
      "(bytes 32..47, alive at steps 1..1) share bytes 32..47 at step 1 (b)\n";
  fixture f;
  fixture_open(&f, chain);
  const int64_t offsets[] = {0, NOWHERE, 32, 32};
  expect(&f, "plain", derived, offsets, fault);
  expect(&f, "plain inplace=add", derived, offsets, fault);
  expect(&f, "plain inplace=relu", derived, offsets, "");
  const int64_t shifted[] = {0, NOWHERE, 32, 36};
  memory_verdict v = check(&f, "plain inplace=relu", derived, shifted);
  assert_int_equal(v.faults.count, 1);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

/* A kernel that changes a part of its first operand needs the others. */
static void only_the_operand_that_is_changed(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 16 input\ntensor i 16 const\ntensor u 16 input\n"
               "tensor y 16 output\n"
               "op a scatter_elements ( x i u ) -> ( y )\n");
  const int64_t first[] = {0, NOWHERE, 16, 0}, third[] = {0, NOWHERE, 16, 16};
  expect(&f, "plain inplace=scatter_elements", derived, first, "");
  expect(&f, "plain inplace=scatter_elements", derived, third,
         "overlap: tensor 'u' (bytes 16..31, alive at steps 0..0) and tensor "
         "'y' (bytes 16..31, alive at steps 0..0) share bytes 16..31 at step 0 "
         "(a)\n");
  fixture_close(&f);
  fixture_open(&f,
               "tensor x 16 input\ntensor v 16\ntensor y 16 output\n"
               "op a reshape ( x ) -> ( v )\n"
               "op b scatter_elements ( x v x ) -> ( y )\n");
  const int64_t same[] = {0, NOWHERE, 0};
  memory_verdict v =
      check(&f, "plain views=identity inplace=scatter_elements", derived, same);
  assert_int_equal(v.faults.count, 1);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

/* The input is read again later, or is an output itself. */
static void no_pair_in_place(void **state) {
  (void)state;
  fixture f;
  const int64_t offsets[] = {0, 0, 16};
  fixture_open(&f,
               "tensor x 16 input\ntensor y 16 output\ntensor z 16 output\n"
               "op a relu ( x ) -> ( y )\n"
               "op b conv2d ( x ) -> ( z )\n");
  memory_verdict v = check(&f, "plain inplace=relu", derived, offsets);
  assert_int_equal(v.faults.count, 1);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
  fixture_open(&f,
               "tensor x 16 input output\ntensor y 16 output\n"
               "op a relu ( x ) -> ( y )\n");
  v = check(&f, "plain inplace=relu", derived, offsets);
  assert_int_equal(v.faults.count, 1);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

static void views_lie_where_their_input_lies(void **state) {
  (void)state;
  static const char text[] =
      "tensor x 16 input\ntensor v 16\ntensor z 16 output\n"
      "op a reshape ( x ) -> ( v )\n"
      "op b conv2d ( v ) -> ( z )\n";
  fixture f;
  fixture_open(&f, text);
  const int64_t together[] = {0, 0, 16}, apart[] = {0, 32, 16};
  const int64_t silent[] = {0, NOWHERE, 16};
  expect(&f, "plain views=identity", derived, together, "");
  expect(&f, "plain views=identity", derived, silent, "");
  expect(&f, "plain views=identity", derived, apart,
         "view: tensor 'v' at offset 32 is a view of 'x' and must lie where "
         "that lies\n");
  memory_verdict v = check(&f, "plain", derived, together);
  assert_int_equal(v.faults.count, 1);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

static void alignment(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const int64_t offsets[] = {8, NOWHERE, 48, 2};
  expect(&f, "tflm-default", derived, offsets,
         "misaligned: tensor 'z' at offset 2 is not aligned to its elements of "
         "4 bytes\n"
         "(misaligned: tensor 'x' at offset 8 is not aligned to 16 bytes)\n");
  expect(&f, "plain align=8", derived, offsets,
         "misaligned: tensor 'z' at offset 2 is not aligned to its elements of "
         "4 bytes\n"
         "(misaligned: 1 tensor lies at an offset that is no multiple of 16, "
         "such as 'x' at 8)\n");
  fixture_close(&f);
}

static void the_arena_has_an_end(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const memory_plan small = {.arena_bytes = 40};
  const int64_t offsets[] = {0, NOWHERE, 32, 0};
  expect(&f, "plain", small, offsets,
         "outside: tensor 'y' (16 bytes at offset 32) ends outside the arena "
         "of 40 bytes\n");
  const int64_t absurd[] = {0, NOWHERE, 32, -16};
  expect(&f, "plain", derived, absurd,
         "outside: tensor 'z' (16 bytes at offset 18446744073709551600) ends "
         "outside the arena\n");
  fixture_close(&f);
}

static void tensors_without_a_place(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const memory_plan offline = {.arena_bytes = UINT64_MAX,
                               .unplaced_allowed = true};
  const int64_t some[] = {0, NOWHERE, NOWHERE, 0};
  const int64_t none[] = {NOWHERE, NOWHERE, NOWHERE, NOWHERE};
  expect(&f, "plain", derived, some,
         "unplaced: tensor 'y' (16 bytes, alive at steps 0..1) has no "
         "offset\n");
  expect(&f, "plain", offline, some,
         "(unplaced: tensor 'y' (16 bytes, alive at steps 0..1) has no offset: "
         "the runtime will place it)\n");
  expect(&f, "plain", offline, none, "");
  memory_verdict v = check(&f, "plain", derived, none);
  assert_int_equal(v.faults.count, 3);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

static void orders_that_are_none(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  const int64_t offsets[] = {0, NOWHERE, 32, 0};
  const op_id backwards[] = {1, 0}, twice[] = {0, 0},
              strange[] = {0, CALM_NONE};
  memory_plan plan = derived;
  plan.sequence = backwards;
  expect(&f, "plain", plan, offsets,
         "order: operator 'b' at step 0 must run after 'a', which runs at step "
         "1\n");
  plan.sequence = twice;
  expect(&f, "plain", plan, offsets,
         "order: operator 'a' runs twice, at steps 0 and 1\n"
         "order: operator 'b' never runs\n");
  plan.sequence = strange;
  expect(&f, "plain", plan, offsets,
         "order: step 1 names no operator\n"
         "order: operator 'b' never runs\n");
  fixture_close(&f);
}

static void control_edges_and_the_file_order(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 4 input\n"
               "op a opaque ( x ) -> ( ) after ( b )\n"
               "op b opaque ( x ) -> ( )\n");
  const int64_t offsets[] = {0};
  expect(&f, "plain", derived, offsets,
         "order: operator 'a' at step 0 must run after 'b', which runs at step "
         "1\n");
  memory_plan plan = derived;
  plan.sequence = f.g->order;
  expect(&f, "plain", plan, offsets, "");
  fixture_close(&f);
}

static void workspaces_need_their_place(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 16 input\ntensor y 16 output\n"
               "op a conv2d ( x ) -> ( y ) workspace=16\n");
  const int64_t offsets[] = {0, 16};
  const uint64_t good[] = {32}, bad[] = {8}, none[] = {UINT64_MAX};
  const uint64_t with_bodies[] = {20};
  memory_plan plan = derived;
  plan.workspace_offsets = good;
  memory_verdict v = check(&f, "plain", plan, offsets);
  assert_string_equal(lines_of(&v), "");
  assert_int_equal(v.arena_bytes, 48);
  memory_verdict_free(&v, f.context);
  plan.workspace_offsets = bad;
  expect(&f, "plain", plan, offsets,
         "overlap: tensor 'x' (bytes 0..15, alive at steps 0..0) and the "
         "workspace of operator 'a' (bytes 8..23, step 0) share bytes 8..15 at "
         "step 0 (a)\n"
         "overlap: the workspace of operator 'a' (bytes 8..23, step 0) and "
         "tensor 'y' (bytes 16..31, alive at steps 0..0) share bytes 16..23 at "
         "step 0 (a)\n");
  plan.workspace_offsets = none;
  expect(&f, "plain", plan, offsets,
         "unplaced: the workspace of operator 'a' (16 bytes) has no offset\n");
  plan.workspace_offsets = good;
  plan.workspace_bytes = with_bodies;
  plan.arena_bytes = 48;
  expect(&f, "plain", plan, offsets,
         "outside: the workspace of operator 'a' (20 bytes) ends outside the "
         "arena\n");
  fixture_close(&f);
}

/* A view that runs a graph works on its input, so that x lives while it runs
   and, though x is the input of a body, no longer. */
static void a_view_with_workspace_is_not_idle(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "op m opaque ( ) -> ( ) body=outer\n"
               "graph outer\n"
               "tensor x 16 input\ntensor v 16\ntensor y 16 output\n"
               "op a identity ( x ) -> ( v ) body=inner\n"
               "op b conv2d ( ) -> ( y )\n"
               "graph inner\n"
               "tensor i 8 input\n");
  f.g = &f.graphs.data[1];
  assert_true(f.g->is_body);
  const int64_t offsets[] = {0, NOWHERE, 0};
  const uint64_t bytes[] = {8, 0};
  const uint64_t beside[] = {16, UINT64_MAX}, upon[] = {8, UINT64_MAX};
  memory_plan plan = derived;
  plan.workspace_bytes = bytes;
  plan.workspace_offsets = beside;
  expect(&f, "serenity round=8 align=8", plan, offsets, "");
  plan.workspace_offsets = upon;
  expect(&f, "serenity round=8 align=8", plan, offsets,
         "overlap: tensor 'x' (bytes 0..15, alive at steps 0..0) and the "
         "workspace of operator 'a' (bytes 8..15, step 0) share bytes 8..15 at "
         "step 0 (a)\n");
  fixture_close(&f);
}

/* As in a network compiled for an accelerator, whose one operator reads and
   writes the same bytes and knows what it does. */
static void an_opaque_operator_may_manage_its_own_memory(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 32 input\ntensor y 8 output\n"
               "op npu opaque ( x ) -> ( y )\n");
  const int64_t offsets[] = {0, 16};
  expect(&f, "plain", derived, offsets,
         "(overlap: tensor 'x' (bytes 0..31, alive at steps 0..0) and tensor "
         "'y' (bytes 16..23, alive at steps 0..0) share bytes 16..23 at step 0 "
         "(npu); the operator may manage its own memory)\n");
  fixture_close(&f);
  fixture_open(&f,
               "tensor x 32 input\ntensor y 8\ntensor z 8 output\n"
               "op npu opaque ( x ) -> ( y )\n"
               "op b opaque ( x y ) -> ( z )\n");
  const int64_t later[] = {0, 16, 32};
  memory_verdict v = check(&f, "plain", derived, later);
  assert_int_equal(v.faults.count, 1);
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

static void long_lists_are_cut_off(void **state) {
  (void)state;
  enum { COUNT = 60 };
  static char text[COUNT * 64];
  size_t length = 0;
  for (int i = 0; i < COUNT; i++)
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "tensor t%d 4 input\nop o%d opaque ( t%d ) -> ( "
                               ")\n",
                               i, i, i);
  fixture f;
  fixture_open(&f, text);
  const int64_t offsets[COUNT] = {0};
  memory_verdict v = check(&f, "plain", derived, offsets);
  assert_int_equal(v.faults.count, 1001);
  assert_string_equal(v.faults.data[999].kind, "overlap");
  assert_string_equal(v.faults.data[1000].kind, "more");
  assert_string_equal(v.faults.data[1000].text,
                      "and more: only the first 1000 are listed");
  memory_verdict_free(&v, f.context);
  fixture_close(&f);
}

/* ---- At random ----------------------------------------------------------- */

/* Lowest free place among the bodies before, at the body's alignment. */
static uint64_t first_fit(const layout_problem *l, const uint64_t *offsets,
                          uint32_t body) {
  uint64_t at = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = l->piece_begin[body]; i < l->piece_begin[body + 1]; i++)
      for (uint32_t k = 0; k < l->piece_begin[body]; k++) {
        const layout_piece *p = &l->pieces[i], *q = &l->pieces[k];
        if (p->lower >= q->upper || q->lower >= p->upper ||
            at >= offsets[q->body] + q->high ||
            offsets[q->body] >= at + p->high)
          continue;
        at = offsets[q->body] + q->high;
        at += (l->bodies[body].align - at % l->bodies[body].align) %
              l->bodies[body].align;
        moved = true;
      }
  }
  return at;
}

/* Whatever the layout problem allows, the check allows. */
static void random_placements_are_sound(void **state) {
  (void)state;
  random_state r = random_from_seed(7);
  for (int round = 0; round < 5000; round++) {
    fixture f;
    fixture_random(&f, &r);
    const memory_model m = random_model(&r, f.context);
    op_id full[RANDOM_MAX_OPS];
    memory_problem p;
    memory_placement l;
    random_order(full, f.g, &r);
    assert_int_equal(
        memory_problem_build(&p, f.g, &m, random_body_arena, &f.arena),
        CALM_OK);
    assert_int_equal(memory_placement_build(&l, f.g, &m, &p, full, &f.arena),
                     CALM_OK);
    uint64_t bodies[2 * RANDOM_MAX_TENSORS], offsets[RANDOM_MAX_TENSORS];
    uint64_t workspaces[RANDOM_MAX_OPS], bytes[RANDOM_MAX_OPS];
    for (uint32_t b = 0; b < l.layout.body_count; b++)
      bodies[b] = first_fit(&l.layout, bodies, b);
    for (tensor_id t = 0; t < f.g->tensors.count; t++)
      offsets[t] = p.buffer_begin[t + 1] == p.buffer_begin[t] + 1
                       ? bodies[l.body_of[p.buffers[p.buffer_begin[t]]]]
                       : UINT64_MAX;
    for (op_id op = 0; op < f.g->ops.count; op++) {
      const uint32_t body = l.workspace_body[op];
      workspaces[op] = body == CALM_NONE ? UINT64_MAX : bodies[body];
      bytes[op] = body == CALM_NONE ? 0 : p.order.workspace[p.order_op_of[op]];
    }
    const memory_plan plan = {.sequence = full,
                              .offsets = offsets,
                              .workspace_offsets = workspaces,
                              .workspace_bytes = bytes,
                              .arena_bytes = UINT64_MAX};
    memory_verdict v;
    assert_int_equal(memory_check(&v, f.g, &m, &plan, &f.arena), CALM_OK);
    if (v.faults.count) fail_msg("round %d:\n%s", round, lines_of(&v));
    memory_verdict_free(&v, f.context);
    fixture_close(&f);
  }
}

/* State that is placed at all is there at all steps. */
static memory_life life_of(const fixture *f, const memory_profile *p,
                           tensor_id t) {
  memory_life life = p->lives[t];
  if (!(f->g->tensors.data[t].flags & CALM_TENSOR_VARIABLE)) return life;
  life.counted = true;
  life.first = 0;
  life.last = f->g->ops.count - 1;
  return life;
}

/* Byte by byte and step by step: do two counted tensors collide? */
static bool collide(const fixture *f, const memory_profile *p,
                    const uint64_t *offsets, tensor_id a, tensor_id b) {
  const memory_life x = life_of(f, p, a), y = life_of(f, p, b);
  if (!x.counted || !y.counted) return false;
  for (uint32_t step = 0; step < f->g->ops.count; step++) {
    if (step < x.first || step > x.last || step < y.first || step > y.last)
      continue;
    for (uint64_t i = 0; i < f->g->tensors.data[a].bytes; i++)
      for (uint64_t k = 0; k < f->g->tensors.data[b].bytes; k++)
        if (offsets[a] + i == offsets[b] + k) return true;
  }
  return false;
}

/* Offsets at random: the check finds exactly the pairs that collide. */
static void every_collision_is_found(void **state) {
  (void)state;
  random_state r = random_from_seed(8);
  for (int round = 0; round < 2000; round++) {
    fixture f;
    fixture_random_real(&f, &r);
    memory_model m = random_model(&r, f.context);
    memset(m.inplace, 0, sizeof m.inplace);
    op_id full[RANDOM_MAX_OPS];
    random_order(full, f.g, &r);
    memory_profile p;
    assert_int_equal(memory_simulate(&p, f.g, &m, NULL, full, &f.arena),
                     CALM_OK);
    uint64_t offsets[RANDOM_MAX_TENSORS];
    for (tensor_id t = 0; t < f.g->tensors.count; t++)
      offsets[t] = random_below(&r, 60);
    const memory_plan plan = {
        .sequence = full, .offsets = offsets, .arena_bytes = UINT64_MAX};
    memory_verdict v;
    assert_int_equal(memory_check(&v, f.g, &m, &plan, &f.arena), CALM_OK);
    uint32_t expected = 0, found = 0;
    for (tensor_id a = 0; a < f.g->tensors.count; a++)
      for (tensor_id b = 0; b < a; b++)
        expected += collide(&f, &p, offsets, a, b);
    for (uint32_t i = 0; i < v.faults.count; i++)
      found += !strcmp(v.faults.data[i].kind, "overlap");
    for (uint32_t i = 0; i < v.warnings.count; i++)
      found += !strcmp(v.warnings.data[i].kind, "overlap");
    assert_int_equal(found, expected);
    memory_verdict_free(&v, f.context);
    fixture_close(&f);
  }
}

/* ---- Plans that ship inside public models -------------------------------- */

static memory_verdict check_shipped(const calm_model *model) {
  const graph *g = &model->graphs.data[0];
  uint64_t *offsets = calloc(g->tensors.count, sizeof *offsets);
  assert_true(model->offline.present);
  assert_non_null(offsets);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    offsets[t] = (uint64_t)(int64_t)
                     model->offline.offsets[g->tensors.data[t].file_index];
  const memory_plan plan = {
      .offsets = offsets, .arena_bytes = UINT64_MAX, .unplaced_allowed = true};
  memory_verdict v;
  assert_int_equal(memory_check(&v, g, memory_model_find("tflm-default"), &plan,
                                (arena *)&model->arena),
                   CALM_OK);
  free(offsets);
  return v;
}

static void shipped_plans_hold(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint64_t arena_bytes;
    uint32_t warnings;
  } cases[] = {{"models/cfu_hps_74ops.tflite", 237552, 0},
               {"models/cfu_hps_shared_tiled.tflite", 231760, 0},
               {"models/cfu_hps_2021_tiled.tflite", 237552, 0},
               {"models/tflm_person_detect_vela.tflite", 74464, 1}};
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[512];
    calm_model *model;
    assert_non_null(cases_path(path, sizeof path, cases[i].name));
    calm_context *context = calm_context_new(NULL);
    assert_int_equal(calm_model_open(&model, context, path, NULL), CALM_OK);
    memory_verdict v = check_shipped(model);
    assert_int_equal(v.faults.count, 0);
    assert_int_equal(v.warnings.count, cases[i].warnings);
    assert_int_equal(v.arena_bytes, cases[i].arena_bytes);
    memory_verdict_free(&v, context);
    calm_model_free(model);
    calm_context_free(context);
  }
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, chain);
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  const uint64_t offsets[] = {0, UINT64_MAX, 16, 2};
  const memory_plan plan = {.offsets = offsets, .arena_bytes = UINT64_MAX};
  for (uint64_t granted = 0;; granted++) {
    left = SCARCE_NEVER;
    fixture other;
    fixture_begin(&other, &allocator);
    left = granted;
    memory_verdict v;
    const calm_status status =
        memory_check(&v, f.g, memory_model_find("plain"), &plan, &other.arena);
    if (status == CALM_OK) {
      assert_int_equal(v.faults.count, 3);
      memory_verdict_free(&v, other.context);
    }
    fixture_close(&other);
    if (status == CALM_OK) break;
    assert_int_equal(status, CALM_NO_MEMORY);
  }
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sound_plan),
      cmocka_unit_test(the_arena_counts_rounded_sizes),
      cmocka_unit_test(overlaps_are_told_in_words),
      cmocka_unit_test(pairs_in_place_may_share),
      cmocka_unit_test(only_the_operand_that_is_changed),
      cmocka_unit_test(no_pair_in_place),
      cmocka_unit_test(views_lie_where_their_input_lies),
      cmocka_unit_test(alignment),
      cmocka_unit_test(the_arena_has_an_end),
      cmocka_unit_test(tensors_without_a_place),
      cmocka_unit_test(orders_that_are_none),
      cmocka_unit_test(control_edges_and_the_file_order),
      cmocka_unit_test(workspaces_need_their_place),
      cmocka_unit_test(a_view_with_workspace_is_not_idle),
      cmocka_unit_test(an_opaque_operator_may_manage_its_own_memory),
      cmocka_unit_test(long_lists_are_cut_off),
      cmocka_unit_test(random_placements_are_sound),
      cmocka_unit_test(every_collision_is_found),
      cmocka_unit_test(shipped_plans_hold),
      cmocka_unit_test(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
