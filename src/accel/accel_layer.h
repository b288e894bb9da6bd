/*
 * What is computed: a tensor contraction.  Loops over dimensions; tensors whose
 * coordinates (ranks) are sums of dimension times coefficient; one product per
 * iteration is added into the tensors that are written.  The seven dimensions
 * R S P Q C K N of a convolution and M N K of a matrix product are the usual
 * case, and any other contraction of this form is read and evaluated alike.
 *
 *     Inputs [N] [C] [P*Wstride + R*Wdilation] [Q*Hstride + S*Hdilation]
 */
#ifndef CALM_ACCEL_ACCEL_LAYER_H
#define CALM_ACCEL_ACCEL_LAYER_H

#include "accel/accel_count.h"
#include "accel/accel_yaml.h"

/* Sets of dimensions and of tensors are bits of a word. */
enum { ACCEL_MAX_DIMENSIONS = 32, ACCEL_MAX_TENSORS = 16 };

typedef struct accel_term {
  uint32_t dimension;
  uint64_t coefficient; /* 0: the dimension does not move this rank */
  const char *name;     /* of the coefficient, "Wstride"; NULL: it has none */
} accel_term;

typedef struct accel_rank {
  accel_term *terms;
  uint32_t term_count;
} accel_rank;

typedef struct accel_tensor {
  const char *name;
  bool read_write; /* written: read, added to, written back */
  accel_rank *ranks;
  uint32_t rank_count;
  uint32_t dimensions; /* bit d: dimension d moves it (coefficient > 0) */
} accel_tensor;

typedef struct accel_dimension {
  const char *name;
  uint64_t bound; /* >= 1 */
} accel_dimension;

typedef struct accel_layer {
  const char *name;  /* of the file, or of the operator it comes from */
  const char *shape; /* "cnn-layer", "gemm_ABZ", ... as the file spells it */
  accel_dimension *dimensions;
  uint32_t dimension_count;
  accel_tensor *tensors;
  uint32_t tensor_count;
  uint64_t macs;  /* product of the bounds, <= ACCEL_MAX_COUNT */
  uint64_t count; /* how many such layers the network has */
} accel_layer;

typedef enum accel_dilation_zero {
  ACCEL_DILATION_LITERAL, /* 0 is 0: the filter does not move the window */
  ACCEL_DILATION_ONE      /* 0 is read as 1 */
} accel_dilation_zero;

/*
 * The layer under `problem` (flat, or with `instance`), with a shape by name or
 * inline.  A spelling of a stride or dilation key that differs by case, '-' or
 * '_' is taken; an unknown key is an error with the nearest known one.
 */
calm_status accel_layer_read(accel_layer *out, const accel_yaml *root,
                             accel_dilation_zero zero, arena *a);

/* What a convolution is made of, for those that do not come from a file. */
typedef struct accel_convolution {
  uint64_t r, s, p, q, c, k, n; /* c, k per group */
  uint64_t groups;              /* 1: a plain cnn-layer */
  uint64_t stride_w, stride_h;  /* of P with R, and of Q with S */
  uint64_t dilation_w, dilation_h;
} accel_convolution;

/* A layer of the shape `cnn-layer`, or `grouped-cnn-layer` (with dimension G)
   if there are several groups. */
calm_status accel_layer_convolution(accel_layer *out, const char *name,
                                    const accel_convolution *c, arena *a);

/* Z[M,N] += A[M,K] * B[N,K]: shape gemm_ABZ. */
calm_status accel_layer_gemm(accel_layer *out, const char *name, uint64_t m,
                             uint64_t n, uint64_t k, arena *a);

/* Its problem file: accel_layer_read gives back an equal layer. */
calm_status accel_layer_write(char **out, const accel_layer *layer,
                              calm_context *context);

/* Are they the same but for their names, counts, and the names of coefficients?
 */
bool accel_layer_equal(const accel_layer *a, const accel_layer *b);

/* The id of a dimension or a tensor by name, CALM_NONE if there is none. */
uint32_t accel_layer_dimension(const accel_layer *layer, const char *name);
uint32_t accel_layer_tensor(const accel_layer *layer, const char *name);

/* Words of the box that a tensor's coordinates span while each dimension d goes
   through extents[d] steps: per rank 1 + sum of coefficient * (extent - 1).
   Saturates at UINT64_MAX. */
uint64_t accel_tensor_words(const accel_tensor *t, const uint64_t *extents);

#endif
