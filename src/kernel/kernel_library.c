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

/* ---- In place ------------------------------------------------------------ */

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

/* Kinds of these that a library has other kernels for, which were not seen to
   do so: CMSIS-NN was measured for add, mul and softmax, ESP-NN for add and
   mul.  All else runs TFLM's own kernels in every library. */
static const op_kind cmsis_not_in_place[] = {OP_maximum, OP_minimum};
static const op_kind esp_not_in_place[] = {OP_softmax};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool contains(const op_kind *kinds, size_t count, op_kind kind) {
  for (size_t i = 0; i < count; i++)
    if (kinds[i] == kind) return true;
  return false;
}

bool kernel_in_place(kernel_library library, op_kind kind) {
  const bool cmsis =
      !contains(cmsis_not_in_place, COUNT(cmsis_not_in_place), kind);
  const bool esp = !contains(esp_not_in_place, COUNT(esp_not_in_place), kind);
  if (!contains(reference_in_place, COUNT(reference_in_place), kind))
    return false;
  switch (library) {
    case KERNELS_REFERENCE: return true;
    case KERNELS_PORTABLE: return cmsis && esp;
    case KERNELS_CMSIS_NN_C:
    case KERNELS_CMSIS_NN_DSP:
    case KERNELS_CMSIS_NN_MVE: return cmsis;
    case KERNELS_ESP_NN_ANSI: return esp;
    case KERNELS_AUTO:
    case KERNEL_LIBRARIES: break;
  }
  return false;
}
