/* Kernel libraries by name, and what they do in place. */
#include "kernel/kernel.h"

#include <string.h>

static const char *const names[] = {
    [KERNELS_AUTO] = "auto",
    [KERNELS_REFERENCE] = "reference",
    [KERNELS_PORTABLE] = "portable",
    [KERNELS_CMSIS_NN_C] = "cmsis-nn-c",
    [KERNELS_CMSIS_NN_DSP] = "cmsis-nn-dsp",
    [KERNELS_CMSIS_NN_MVE] = "cmsis-nn-mve",
    [KERNELS_ESP_NN_ANSI] = "esp-nn-ansi",
};

calm_status kernel_library_find(kernel_library *out, calm_context *context,
                                const char *name) {
  for (int i = 0; i < KERNEL_LIBRARIES; i++)
    if (!strcmp(names[i], name)) {
      *out = (kernel_library)i;
      return CALM_OK;
    }
  return context_fail(
      context, CALM_MISUSE,
      "--kernels: '%s' is not one of auto, reference, portable, "
      "cmsis-nn-c, cmsis-nn-dsp, cmsis-nn-mve, esp-nn-ansi",
      name);
}

const char *kernel_library_name(kernel_library library) {
  return names[library];
}

/* Reference kernels that read an element for the last time before they write
   at its place. */
static const op_kind reference_in_place[] = {
    OP_add,        OP_sub,         OP_mul,
    OP_div,        OP_maximum,     OP_minimum,
    OP_floor_div,  OP_floor_mod,   OP_relu,
    OP_relu6,      OP_leaky_relu,  OP_hard_swish,
    OP_elu,        OP_logistic,    OP_tanh,
    OP_softmax,    OP_quantize,    OP_abs,
    OP_neg,        OP_exp,         OP_log,
    OP_sin,        OP_cos,         OP_sqrt,
    OP_rsqrt,      OP_square,      OP_floor,
    OP_ceil,       OP_round,       OP_logical_not,
    OP_logical_or, OP_logical_and, OP_squared_difference};

bool kernel_in_place(kernel_library library, op_kind kind) {
  if (library != KERNELS_REFERENCE) return false;
  for (size_t i = 0; i < sizeof reference_in_place / sizeof *reference_in_place;
       i++)
    if (reference_in_place[i] == kind) return true;
  return false;
}
