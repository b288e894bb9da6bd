/*
 * The library in one page: build a graph, plan its memory, read what was found,
 * make a mistake and read the message, and give every byte back.
 *
 *     cc plan.c -o plan $(pkg-config --cflags --libs calm)
 *
 * The graph is a small cell with two branches.  In the order in which it is
 * written down both wide tensors are alive at once; run one branch to its end
 * before the other and they are not.
 *
 *              +-> widen_a (800) -> narrow_a (100) -+
 *     x (100) -+                                    +-> y (100)
 *              +-> widen_b (800) -> narrow_b (100) -+
 */
#include <calm/calm.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* An allocator that knows how much it has given out. */
static void *count_bytes(void *payload, void *old, size_t old_size,
                         size_t new_size) {
  size_t *held = payload;
  void *block = NULL;
  if (new_size == 0) {
    free(old);
  } else {
    block = realloc(old, new_size);
    if (!block) return NULL;
  }
  *held = *held - old_size + new_size;
  return block;
}

static calm_status add_tensor(uint32_t *out, calm_model *model,
                              const char *name, uint64_t bytes,
                              unsigned flags) {
  calm_tensor tensor = {.name = name, .bytes = bytes, .flags = flags};
  return calm_model_add_tensor(out, model, &tensor);
}

static calm_status add_op(calm_model *model, const char *name, const char *kind,
                          const uint32_t *inputs, uint32_t input_count,
                          uint32_t output) {
  calm_op op = {.name = name,
                .kind = kind,
                .inputs = inputs,
                .input_count = input_count,
                .outputs = &output,
                .output_count = 1};
  return calm_model_add_op(&(uint32_t){0}, model, &op);
}

/* Fill a new model with the cell drawn above. */
static calm_status build_cell(calm_model *model) {
  enum { X, WIDE_A, WIDE_B, THIN_A, THIN_B, Y, TENSOR_COUNT };
  static const struct {
    const char *name;
    uint64_t bytes;
    unsigned flags;
  } tensors[TENSOR_COUNT] = {
      [X] = {"x", 100, CALM_TENSOR_INPUT}, [WIDE_A] = {"wide_a", 800, 0},
      [WIDE_B] = {"wide_b", 800, 0},       [THIN_A] = {"thin_a", 100, 0},
      [THIN_B] = {"thin_b", 100, 0},       [Y] = {"y", 100, CALM_TENSOR_OUTPUT},
  };
  uint32_t id[TENSOR_COUNT];
  for (int i = 0; i < TENSOR_COUNT; i++) {
    calm_status status = add_tensor(&id[i], model, tensors[i].name,
                                    tensors[i].bytes, tensors[i].flags);
    if (status) return status;
  }
  calm_status status = add_op(model, "widen_a", "conv2d", &id[X], 1, WIDE_A);
  if (!status) status = add_op(model, "widen_b", "conv2d", &id[X], 1, WIDE_B);
  if (!status)
    status = add_op(model, "narrow_a", "conv2d", &id[WIDE_A], 1, THIN_A);
  if (!status)
    status = add_op(model, "narrow_b", "conv2d", &id[WIDE_B], 1, THIN_B);
  if (!status) status = add_op(model, "join", "add", &id[THIN_A], 2, Y);
  return status;
}

static void print_plan(const calm_model *model, const calm_plan *plan) {
  const calm_plan_summary *summary = calm_plan_summary_of(plan);
  printf("as written: %" PRIu64 " bytes\n", summary->baseline_arena_bytes);
  printf("planned:    %" PRIu64 " bytes, %s\n", summary->arena_bytes,
         calm_outcome_name(summary->layout_outcome));
  printf("order:     ");
  for (uint32_t step = 0; step < calm_model_op_count(model); step++)
    printf(" %s", calm_model_op_name(model, calm_plan_op_at(plan, step)));
  printf("\n");
  for (uint32_t i = 0; i < calm_model_tensor_count(model); i++)
    printf("%8" PRIu64 "  %s\n", calm_plan_offset(plan, i),
           calm_model_tensor_name(model, i));
}

/* Build, plan, print; true if the plan is what the drawing promises: 1,000
   bytes at best, where 1,700 are live at once in the order as written. */
static bool plan_cell(calm_context *context) {
  calm_model *model = NULL;
  calm_plan *plan = NULL;
  bool good = false;
  if (calm_model_new(&model, context, "cell") || build_cell(model) ||
      calm_plan_make(&plan, model, NULL)) {
    printf("error: %s\n", calm_context_message(context));
  } else {
    print_plan(model, plan);
    const calm_plan_summary *summary = calm_plan_summary_of(plan);
    good = summary->baseline_peak_bytes == 1700 &&
           summary->arena_bytes == 1000 &&
           summary->layout_outcome == CALM_OPTIMAL;
  }
  calm_plan_free(plan);
  calm_model_free(model);
  return good;
}

/* A mistake, and what the library says about it. */
static bool make_mistake(calm_context *context) {
  calm_options *options = NULL;
  if (calm_options_new(&options, context)) return false;
  calm_status status = calm_options_set(options, "order", "fastest");
  printf("a mistake:  status %d, \"%s\"\n", (int)status,
         calm_context_message(context));
  calm_options_free(options);
  return status == CALM_MISUSE;
}

int main(void) {
  size_t held = 0;
  calm_allocator allocator = {count_bytes, &held};
  calm_context *context = calm_context_new(&allocator);
  if (!context) return 1;
  printf("calm %s\n", calm_version());
  bool good = plan_cell(context);
  good = make_mistake(context) && good;
  good = calm_context_bytes(context) == 0 && good;
  calm_context_free(context);
  printf("bytes held at the end: %zu\n", held);
  return good && held == 0 ? 0 : 1;
}
