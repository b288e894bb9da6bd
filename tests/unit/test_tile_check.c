/*
 * The judge against tilings that are wrong: random ones with one thing changed.
 * Whatever it lets pass must compute the same; nearly all else it must find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "context_fixture.h"
#include "scarce.h"
#include "tile/tile.h"
#include "tile_random.h"
#include "tile_run.h"

typedef struct drawn {
  arena a;
  graph g;
  graph_edit edit;
} drawn;

/* A random tiling; false if that network cannot be tiled so. */
static bool draw(drawn *d, random_state *random, calm_context *of) {
  tile_options options = {.most_operands = 4, .row_align = 1};
  tile_region region = {.columns = 1};
  arena_init(&d->a, of);
  graph_init(&d->g, &d->a, "net");
  options.pads = random_below(random, 4) == 0;
  tile_net_draw(&d->g, random, options.pads, &region.first, &region.last);
  region.mode = (tile_mode)random_below(random, TILE_MODES);
  region.rows = 2 + random_below(random, 5);
  if (region.mode == TILE_PAD) region.columns = 1 + random_below(random, 3);
  if (!tile_apply(&d->edit, &d->g, &region, 1, &options, &d->a)) return true;
  graph_free(&d->g);
  arena_free(&d->a);
  return false;
}

static void discard(drawn *d) {
  graph_edit_free(&d->edit);
  graph_free(&d->g);
  arena_free(&d->a);
}

/* ---- Changes ------------------------------------------------------------- */

static graph_op *draw_op(drawn *d, random_state *random) {
  return &d->edit.after.ops.data[random_below(random, d->edit.after.ops.count)];
}

static graph_attribute *attribute_of(graph_op *op, const char *key) {
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (!strcmp(op->attributes[i].key, key)) return &op->attributes[i];
  return NULL;
}

/* A list with one number by one larger or smaller. */
static void change_list(drawn *d, random_state *random, graph_attribute *said,
                        uint32_t count) {
  int64_t numbers[4] = {0};
  char *text = arena_calloc(&d->a, 128, 1);
  const graph_op op = {.attributes = said, .attribute_count = 1};
  run_numbers(numbers, &op, said->key, 0, (int)count);
  numbers[random_below(random, count)] += random_below(random, 2) ? 1 : -1;
  for (uint32_t i = 0; i < count; i++)
    snprintf(text + strlen(text), 32, "%s%d", i ? "," : "", (int)numbers[i]);
  said->value = text;
}

/* What stands in the constant of a slice's begin is changed likewise. */
static bool change_begin(drawn *d, random_state *random) {
  graph_op *op = draw_op(d, random);
  if (op->kind != OP_slice || op->input_count != 3) return false;
  edit_tensor *begin = &d->edit.tensors.data[op->inputs[1]];
  const uint32_t axis = (d->g.channels_first ? 2 : 1) + random_below(random, 2);
  int64_t numbers[4];
  graph_attribute *said = attribute_of(op, "begin");
  run_numbers(numbers, op, "begin", 0, 4);
  numbers[axis] += random_below(random, 2) ? 1 : -1;
  const graph_tensor *x = &d->edit.after.tensors.data[op->inputs[0]];
  const graph_tensor *y = &d->edit.after.tensors.data[op->outputs[0]];
  if (numbers[axis] < 0 ||
      numbers[axis] + y->dimensions[axis] > x->dimensions[axis])
    return false;
  char *text = arena_calloc(&d->a, 128, 1);
  uint8_t *bytes = arena_calloc(&d->a, 16, 1);
  for (int i = 0; i < 4; i++) {
    snprintf(text + strlen(text), 32, "%s%d", i ? "," : "", (int)numbers[i]);
    bytes[4 * i] = (uint8_t)numbers[i];
  }
  said->value = text;
  begin->bytes = bytes;
  return true;
}

static bool change_attribute(drawn *d, random_state *random) {
  static const char *const keys[] = {"begin", "size",   "before",
                                     "after", "stride", "pads"};
  graph_op *op = draw_op(d, random);
  const uint32_t key = random_below(random, 6);
  graph_attribute *said = attribute_of(op, keys[key]);
  if (!said) return false;
  change_list(d, random, said, key == 4 ? 2 : 4);
  return true;
}

static bool change_word(drawn *d, random_state *random) {
  graph_attribute *said = attribute_of(draw_op(d, random), "pad");
  if (!said) return false;
  said->value = strcmp(said->value, "same") ? "same" : "valid";
  return true;
}

static bool same_shape(const graph_tensor *x, const graph_tensor *y) {
  return x->rank == y->rank &&
         !memcmp(x->dimensions, y->dimensions, x->rank * sizeof(int64_t));
}

/* Another tensor of the same shape, made before. */
static bool change_operand(drawn *d, random_state *random) {
  const graph *g = &d->edit.after;
  graph_op *op = draw_op(d, random);
  const uint32_t slot = random_below(random, op->input_count);
  const tensor_id t = random_below(random, g->tensors.count);
  const tensor_id old = op->inputs[slot];
  const op_id u = (op_id)(op - g->ops.data);
  if (t == old || !same_shape(&g->tensors.data[t], &g->tensors.data[old]) ||
      (g->producer[t] != CALM_NONE && g->producer[t] >= u))
    return false;
  op->inputs[slot] = t;
  return true;
}

static bool swap_operands(drawn *d, random_state *random) {
  graph_op *op = draw_op(d, random);
  if (op->kind != OP_concat || op->input_count < 2) return false;
  const uint32_t i = random_below(random, op->input_count - 1);
  const tensor_id t = op->inputs[i];
  op->inputs[i] = op->inputs[i + 1];
  op->inputs[i + 1] = t;
  return true;
}

static bool change(drawn *d, random_state *random) {
  for (int i = 0; i < 200; i++) {
    bool done = false;
    switch (random_below(random, 5)) {
      case 0: done = change_begin(d, random); break;
      case 1: done = change_attribute(d, random); break;
      case 2: done = change_word(d, random); break;
      case 3: done = change_operand(d, random); break;
      default: done = swap_operands(d, random);
    }
    if (done) return true;
  }
  return false;
}

/* ---- Tests --------------------------------------------------------------- */

static bool runs_alike(const drawn *d) {
  tile_run before, after;
  tile_run_graph(&before, &d->g);
  tile_run_graph(&after, &d->edit.after);
  const bool alike = !tile_run_compare(&before, &after);
  tile_run_free(&before);
  tile_run_free(&after);
  return alike;
}

static void nothing_wrong_passes(void **state) {
  (void)state;
  const uint32_t count = CALM_SANITIZED ? 300 : 3000;
  uint32_t changed = 0, found = 0, harmless = 0;
  for (uint64_t seed = 1; seed <= count; seed++) {
    random_state random = random_from_seed(seed);
    drawn d;
    if (!draw(&d, &random, context)) continue;
    if (tile_check(&d.edit, context))
      fail_msg("seed %llu: %s", (unsigned long long)seed,
               calm_context_message(context));
    if (change(&d, &random)) {
      const bool passed = !tile_check(&d.edit, context);
      changed++;
      found += !passed;
      harmless += passed;
      if (passed && !runs_alike(&d))
        fail_msg("seed %llu: a wrong tiling passes", (unsigned long long)seed);
    }
    discard(&d);
  }
  print_message("%u changed, %u found, %u harmless\n", changed, found,
                harmless);
  assert_true(found > changed / 2);
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    bool done = false;
    for (uint64_t n = 0; !done; n += 1 + n / 16) {
      random_state random = random_from_seed(seed);
      uint64_t left = SCARCE_NEVER;
      const calm_allocator scarce = {scarce_reallocate, &left};
      calm_context *of = calm_context_new(&scarce);
      tile_region region = {.rows = 3, .columns = 1};
      const tile_options options = {.most_operands = 2, .row_align = 1};
      arena a;
      graph g;
      graph_edit edit;
      arena_init(&a, of);
      graph_init(&g, &a, "net");
      tile_net_draw(&g, &random, false, &region.first, &region.last);
      region.mode = (tile_mode)(seed % TILE_MODES);
      left = n;
      calm_status status = tile_apply(&edit, &g, &region, 1, &options, &a);
      if (!status) {
        status = tile_check(&edit, of);
        graph_edit_free(&edit);
      }
      done = status != CALM_NO_MEMORY;
      assert_true(!status || status == CALM_NO_MEMORY ||
                  status == CALM_UNSUPPORTED);
      graph_free(&g);
      arena_free(&a);
      assert_int_equal(calm_context_bytes(of), 0);
      calm_context_free(of);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_wrong_passes),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
