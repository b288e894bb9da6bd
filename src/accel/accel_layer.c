#include "accel/accel_layer.h"

#include <string.h>

#include "accel/accel_layer_parts.h"

uint32_t accel_layer_dimension(const accel_layer *layer, const char *name) {
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    if (!strcmp(layer->dimensions[d].name, name)) return d;
  return CALM_NONE;
}

uint32_t accel_layer_tensor(const accel_layer *layer, const char *name) {
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    if (!strcmp(layer->tensors[t].name, name)) return t;
  return CALM_NONE;
}

static uint64_t rank_words(const accel_rank *rank, const uint64_t *extents) {
  uint64_t words = 1;
  for (uint32_t i = 0; i < rank->term_count; i++) {
    const accel_term *term = &rank->terms[i];
    words = accel_count_add(
        words,
        accel_count_multiply(term->coefficient, extents[term->dimension] - 1));
  }
  return words;
}

uint64_t accel_tensor_words(const accel_tensor *t, const uint64_t *extents) {
  uint64_t words = 1;
  for (uint32_t r = 0; r < t->rank_count; r++)
    words = accel_count_multiply(words, rank_words(&t->ranks[r], extents));
  return words;
}

/* ---- Equality ------------------------------------------------------------ */

static bool same_ranks(const accel_rank *a, const accel_rank *b) {
  if (a->term_count != b->term_count) return false;
  for (uint32_t i = 0; i < a->term_count; i++)
    if (a->terms[i].dimension != b->terms[i].dimension ||
        a->terms[i].coefficient != b->terms[i].coefficient)
      return false;
  return true;
}

static bool same_tensors(const accel_tensor *a, const accel_tensor *b) {
  if (strcmp(a->name, b->name) || a->read_write != b->read_write ||
      a->rank_count != b->rank_count)
    return false;
  for (uint32_t r = 0; r < a->rank_count; r++)
    if (!same_ranks(&a->ranks[r], &b->ranks[r])) return false;
  return true;
}

bool accel_layer_equal(const accel_layer *a, const accel_layer *b) {
  if (strcmp(a->shape, b->shape) || a->dimension_count != b->dimension_count ||
      a->tensor_count != b->tensor_count)
    return false;
  for (uint32_t d = 0; d < a->dimension_count; d++)
    if (a->dimensions[d].bound != b->dimensions[d].bound ||
        strcmp(a->dimensions[d].name, b->dimensions[d].name))
      return false;
  for (uint32_t t = 0; t < a->tensor_count; t++)
    if (!same_tensors(&a->tensors[t], &b->tensors[t])) return false;
  return true;
}

/* ---- From a shape to a layer --------------------------------------------- */

/* A dimension that a rank names twice moves it by the sum of both. */
static void add_term(accel_rank *rank, accel_term term) {
  for (uint32_t i = 0; i < rank->term_count; i++)
    if (rank->terms[i].dimension == term.dimension) {
      rank->terms[i].coefficient =
          accel_count_add(rank->terms[i].coefficient, term.coefficient);
      rank->terms[i].name = NULL;
      return;
    }
  rank->terms[rank->term_count++] = term;
}

static calm_status bind_rank(accel_rank *out, const accel_shape *shape,
                             const accel_shape_rank *rank,
                             const accel_binding *binding, arena *a) {
  ARENA_ARRAY(a, out->terms, rank->term_count);
  for (uint32_t i = 0; i < rank->term_count; i++) {
    const accel_shape_term *term = &rank->terms[i];
    accel_term bound = {term->dimension, term->factor, NULL};
    if (term->coefficient != CALM_NONE) {
      bound.coefficient = binding->coefficients[term->coefficient];
      bound.name = shape->coefficients[term->coefficient].name;
    }
    add_term(out, bound);
  }
  return CALM_OK;
}

static calm_status bind_tensor(accel_tensor *out, const accel_shape *shape,
                               const accel_shape_tensor *tensor,
                               const accel_binding *binding, arena *a) {
  out->name = tensor->name;
  out->read_write = tensor->read_write;
  out->rank_count = tensor->rank_count;
  ARENA_ARRAY(a, out->ranks, tensor->rank_count);
  for (uint32_t r = 0; r < tensor->rank_count; r++) {
    accel_rank *rank = &out->ranks[r];
    TRY(bind_rank(rank, shape, &tensor->ranks[r], binding, a));
    for (uint32_t i = 0; i < rank->term_count; i++)
      if (rank->terms[i].coefficient > 0)
        out->dimensions |= UINT32_C(1) << rank->terms[i].dimension;
  }
  return CALM_OK;
}

/* Beyond 2^53 a count would not be exact in a double, and nothing that runs is
   that large. */
static calm_status count_macs(accel_layer *layer, accel_place place,
                              calm_context *context) {
  layer->macs = 1;
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const accel_dimension *dimension = &layer->dimensions[d];
    if (dimension->bound == 0)
      return accel_place_fail(
          context, CALM_BAD_INPUT, place,
          "dimension %s of layer '%s' is 0; a dimension is at least 1",
          dimension->name, layer->name);
    layer->macs = accel_count_multiply(layer->macs, dimension->bound);
  }
  if (layer->macs <= ACCEL_MAX_COUNT) return CALM_OK;
  return accel_place_fail(context, CALM_BAD_INPUT, place,
                          "the dimensions of layer '%s' make up more than 2^53 "
                          "iterations",
                          layer->name);
}

static calm_status limit_tensors(const accel_layer *layer, accel_place place,
                                 calm_context *context) {
  uint64_t extents[ACCEL_MAX_DIMENSIONS];
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    extents[d] = layer->dimensions[d].bound;
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    if (accel_tensor_words(&layer->tensors[t], extents) > ACCEL_MAX_COUNT)
      return accel_place_fail(context, CALM_BAD_INPUT, place,
                              "%s of layer '%s' spans more than 2^53 words",
                              layer->tensors[t].name, layer->name);
  return CALM_OK;
}

calm_status accel_shape_bind(accel_layer *out, const accel_shape *shape,
                             const accel_binding *binding, arena *a) {
  accel_layer layer = {.name = binding->name,
                       .shape = shape->name,
                       .dimension_count = shape->dimension_count,
                       .tensor_count = shape->tensor_count,
                       .count = 1};
  ARENA_ARRAY(a, layer.dimensions, shape->dimension_count);
  ARENA_ARRAY(a, layer.tensors, shape->tensor_count);
  for (uint32_t d = 0; d < shape->dimension_count; d++)
    layer.dimensions[d] =
        (accel_dimension){shape->dimensions[d], binding->bounds[d]};
  for (uint32_t t = 0; t < shape->tensor_count; t++)
    TRY(bind_tensor(&layer.tensors[t], shape, &shape->tensors[t], binding, a));
  TRY(count_macs(&layer, binding->place, a->context));
  TRY(limit_tensors(&layer, binding->place, a->context));
  *out = layer;
  return CALM_OK;
}

/* ---- Layers that come from no file --------------------------------------- */

static void fill_in(accel_binding *b, const accel_shape *shape,
                    const accel_named_value *v) {
  for (uint32_t d = 0; d < shape->dimension_count; d++)
    if (!strcmp(shape->dimensions[d], v->name)) b->bounds[d] = v->value;
  for (uint32_t c = 0; c < shape->coefficient_count; c++)
    if (!strcmp(shape->coefficients[c].name, v->name))
      b->coefficients[c] = v->value;
}

calm_status accel_shape_fill(accel_layer *out, const accel_filling *filling,
                             arena *a) {
  accel_shape shape;
  accel_binding b = {.name = NULL};
  bool found;
  TRY(accel_shape_builtin(&shape, &found, filling->shape, a));
  if (!found)
    return context_fail(a->context, CALM_MISUSE, "no built-in shape '%s'",
                        filling->shape);
  for (uint32_t d = 0; d < shape.dimension_count; d++) b.bounds[d] = 1;
  for (uint32_t c = 0; c < shape.coefficient_count; c++) b.coefficients[c] = 1;
  for (uint32_t i = 0; i < filling->count; i++)
    fill_in(&b, &shape, &filling->values[i]);
  b.name = arena_string(a, filling->name, strlen(filling->name));
  if (!b.name) return context_no_memory(a->context);
  return accel_shape_bind(out, &shape, &b, a);
}

/* A stride of 0 would make all outputs from one window. */
static calm_status check_strides(const char *name, const accel_convolution *c,
                                 calm_context *context) {
  if ((c->stride_w > 0 || c->p <= 1) && (c->stride_h > 0 || c->q <= 1))
    return CALM_OK;
  return context_fail(context, CALM_BAD_INPUT, "the stride of layer '%s' is 0",
                      name);
}

calm_status accel_layer_convolution(accel_layer *out, const char *name,
                                    const accel_convolution *c, arena *a) {
  const accel_named_value values[] = {
      {"R", c->r},
      {"S", c->s},
      {"P", c->p},
      {"Q", c->q},
      {"C", c->c},
      {"K", c->k},
      {"N", c->n},
      {"G", c->groups},
      {"Wstride", c->stride_w},
      {"Hstride", c->stride_h},
      {"Wdilation", c->dilation_w},
      {"Hdilation", c->dilation_h},
  };
  TRY(check_strides(name, c, a->context));
  const accel_filling filling = {
      name, c->groups == 1 ? "cnn-layer" : "grouped-cnn-layer", values,
      sizeof values / sizeof *values};
  return accel_shape_fill(out, &filling, a);
}

calm_status accel_layer_gemm(accel_layer *out, const char *name, uint64_t m,
                             uint64_t n, uint64_t k, arena *a) {
  const accel_named_value values[] = {{"M", m}, {"N", n}, {"K", k}};
  const accel_filling filling = {name, "gemm_ABZ", values, 3};
  return accel_shape_fill(out, &filling, a);
}
