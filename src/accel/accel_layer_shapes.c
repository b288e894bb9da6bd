/* The shapes that are known by name, written as a file would write them. */
#include <string.h>

#include "accel/accel_layer_parts.h"

#define STRIDES                                                 \
  "coefficients: [{name: Wstride, default: 1},"                 \
  "{name: Hstride, default: 1}, {name: Wdilation, default: 1}," \
  "{name: Hdilation, default: 1}], "
#define WINDOW "[[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]"

/* P goes with R along the width, Q with S along the height. */
static const char convolution[] =
    "{dimensions: [R, S, P, Q, C, K, N], " STRIDES
    "data_spaces: ["
    "{name: Weights, projection: [C, K, R, S]},"
    "{name: Inputs, projection: [N, C, " WINDOW
    "]},"
    "{name: Outputs, projection: [N, K, Q, P], read_write: true}]}";

/* Channels C and K of one of G groups; depthwise has C = K = 1. */
static const char grouped[] =
    "{dimensions: [R, S, P, Q, C, K, G, N], " STRIDES
    "data_spaces: ["
    "{name: Weights, projection: [G, C, K, R, S]},"
    "{name: Inputs, projection: [N, G, C, " WINDOW
    "]},"
    "{name: Outputs, projection: [N, G, K, Q, P], read_write: true}]}";

/* One filter per channel, without the dimensions that are 1 then. */
static const char depthwise[] =
    "{dimensions: [R, S, P, Q, C, N], " STRIDES
    "data_spaces: ["
    "{name: Weights, projection: [C, R, S]},"
    "{name: Inputs, projection: [N, C, " WINDOW
    "]},"
    "{name: Outputs, projection: [N, C, Q, P], read_write: true}]}";

/* F goes with T along the depth. */
static const char convolution_3d[] =
    "{dimensions: [R, S, T, P, Q, F, C, K, N], "
    "coefficients: [{name: Wstride, default: 1}, {name: Hstride, default: 1},"
    "{name: Dstride, default: 1}, {name: Wdilation, default: 1},"
    "{name: Hdilation, default: 1}, {name: Ddilation, default: 1}], "
    "data_spaces: ["
    "{name: Weights, projection: [C, K, R, S, T]},"
    "{name: Inputs, projection: [N, C, " WINDOW
    ","
    "[[T, Ddilation], [F, Dstride]]]},"
    "{name: Outputs, projection: [N, K, Q, P, F], read_write: true}]}";

static const char gemm_abz[] =
    "{dimensions: [M, N, K], data_spaces: ["
    "{name: A, projection: [M, K]},"
    "{name: B, projection: [N, K]},"
    "{name: Z, projection: [M, N], read_write: true}]}";

/* D = A * B + C */
static const char gemm[] =
    "{dimensions: [M, N, K], data_spaces: ["
    "{name: A, projection: [M, K]},"
    "{name: B, projection: [N, K]},"
    "{name: C, projection: [M, N]},"
    "{name: D, projection: [M, N], read_write: true}]}";

static const struct builtin {
  const char *name, *text;
  bool timeloops; /* Timeloop brings it along */
} builtins[] = {
    {"cnn-layer", convolution, true},
    {"gemm_ABZ", gemm_abz, true},
    {"gemm", gemm, true},
    {"grouped-cnn-layer", grouped, false},
    {"dw-cnn-layer", depthwise, false},
    {"3d-cnn-layer", convolution_3d, false},
};

enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

const char *accel_shape_names(void) {
  return "cnn-layer, gemm_ABZ, gemm, grouped-cnn-layer, dw-cnn-layer, "
         "3d-cnn-layer";
}

static char folded(char c) {
  if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
  return c;
}

static const char *skip_dashes(const char *text) {
  while (*text == '-' || *text == '_') text++;
  return text;
}

bool accel_same_name(const char *a, const char *b) {
  for (;; a++, b++) {
    a = skip_dashes(a);
    b = skip_dashes(b);
    if (folded(*a) != folded(*b)) return false;
    if (!*a) return true;
  }
}

static const struct builtin *find_builtin(const char *name) {
  for (uint32_t i = 0; i < BUILTIN_COUNT; i++)
    if (accel_same_name(builtins[i].name, name)) return &builtins[i];
  return NULL;
}

bool accel_shape_is_timeloops(const char *name) {
  const struct builtin *builtin = find_builtin(name);
  return builtin && builtin->timeloops;
}

calm_status accel_shape_builtin(accel_shape *out, bool *found, const char *name,
                                arena *a) {
  const struct builtin *builtin = find_builtin(name);
  *found = builtin != NULL;
  if (!builtin) return CALM_OK;
  accel_yaml *node;
  TRY(accel_yaml_parse(&node, builtin->name, builtin->text,
                       strlen(builtin->text), a));
  TRY(accel_shape_read(out, node, a));
  out->name = arena_string(a, name, strlen(name));
  return out->name ? CALM_OK : context_no_memory(a->context);
}
