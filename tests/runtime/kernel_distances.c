/*
 * What the kernel room says of the operators of models, for the tests that run
 * them:
 *
 *     kernel_distances LIBRARY MODEL...
 *
 * prints a line for each operand of each operator of each model's main graph:
 * number of the model, of the operator, of the operand, "safe" or "never", the
 * distance in bytes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "kernel/kernel.h"
#include "model/model.h"

static void print_op(int number, kernel_library library, const graph *g,
                     op_id op) {
  for (uint32_t slot = 0; slot < g->ops.data[op].input_count; slot++) {
    const kernel_distance d = kernel_overlap(library, g, op, slot);
    printf("%d %" PRIu32 " %" PRIu32 " %s %" PRId64 "\n", number, op, slot,
           d.safe ? "safe" : "never", d.bytes);
  }
}

static calm_status print_model(int number, kernel_library library,
                               calm_context *context, const char *path) {
  calm_model *m;
  TRY(calm_model_open(&m, context, path, NULL));
  for (op_id op = 0; op < m->graphs.data[0].ops.count; op++)
    print_op(number, library, &m->graphs.data[0], op);
  calm_model_free(m);
  return CALM_OK;
}

int main(int count, char **words) {
  calm_context *context = calm_context_new(NULL);
  kernel_library library = KERNELS_AUTO;
  calm_status status = count > 1
                           ? kernel_library_find(&library, context, words[1])
                           : CALM_MISUSE;
  for (int i = 2; i < count && !status; i++)
    status = print_model(i - 2, library, context, words[i]);
  if (status) fprintf(stderr, "%s\n", calm_context_message(context));
  calm_context_free(context);
  return status != CALM_OK;
}
