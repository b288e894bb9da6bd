/*
 * Graph inputs that a run overwrites.  A runtime that places by itself may well
 * reuse the bytes of an input after its last use; a plan does so more often,
 * and whoever sets an input once and runs many times will notice.
 */
#include <string.h>

#include "pipeline.h"

/* A model may have very many inputs; these are looked at. */
enum { MOST_INPUTS = 64 };

/* One model and where all of it lies. */
typedef struct laid_out {
  const tflm_model *model;
  const memory_model *memory;
  tflm_head head;
  uint32_t *first; /* per graph: the number of its first tensor */
  bool *shares;    /* per tensor of the entry: it hands on bytes of the input
                      that is looked at */
} laid_out;

static bool hands_on(const laid_out *l, const graph_op *op) {
  if (!bits_has(l->memory->views, op->kind)) return false;
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE && l->shares[op->inputs[i]]) return true;
  return false;
}

/* What is copied onto itself is not overwritten. */
static void follow_input(laid_out *l, tensor_id input) {
  const graph *g = &l->model->graphs[0];
  memset(l->shares, 0, g->tensors.count * sizeof *l->shares);
  l->shares[input] = true;
  for (uint32_t step = 0; step < g->ops.count; step++) {
    const graph_op *op = &g->ops.data[l->model->sequences[0][step]];
    if (!hands_on(l, op)) continue;
    for (uint32_t i = 0; i < op->output_count; i++)
      if (op->outputs[i] != CALM_NONE) l->shares[op->outputs[i]] = true;
  }
}

static bool meets(uint64_t low, uint64_t bytes, uint64_t other,
                  uint64_t other_bytes) {
  return other != UINT64_MAX && low < other + other_bytes &&
         other < low + bytes;
}

static bool is_written(const laid_out *l, uint32_t graph, tensor_id t) {
  const struct graph *g = &l->model->graphs[graph];
  return graph > 0 || (g->producer[t] != CALM_NONE && !l->shares[t]);
}

static bool is_overwritten(laid_out *l, tensor_id input) {
  const memory_scratch *s = l->model->scratch;
  const uint64_t low = l->head.offsets[input];
  const uint64_t bytes = l->model->graphs[0].tensors.data[input].bytes;
  if (low == UINT64_MAX) return false;
  follow_input(l, input);
  for (uint32_t i = 0; i < l->model->count; i++)
    for (tensor_id t = 0; t < l->model->graphs[i].tensors.count; t++)
      if (is_written(l, i, t) &&
          meets(low, bytes, l->head.offsets[l->first[i] + t],
                l->model->graphs[i].tensors.data[t].bytes))
        return true;
  for (uint32_t k = 0; k < s->begin[s->op_begin[l->model->count]]; k++)
    if (meets(low, bytes, l->head.scratch_offsets[k], s->bytes[k])) return true;
  return false;
}

static calm_status lay_out(laid_out *out, const tflm_model *model,
                           const memory_model *memory, arena *a) {
  uint32_t next = 0;
  *out = (laid_out){.model = model, .memory = memory};
  ARENA_ARRAY(a, out->first, model->count);
  ARENA_ARRAY(a, out->shares, model->graphs[0].tensors.count);
  for (uint32_t i = 0; i < model->count; i++) {
    out->first[i] = next;
    next += model->graphs[i].tensors.count;
  }
  return tflm_predict(&out->head, model, a);
}

/* The input of that name; rewriting keeps names and may change numbers. */
static tensor_id find_input(const graph *g, const char *name) {
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if ((g->tensors.data[t].flags & CALM_TENSOR_INPUT) &&
        !strcmp(g->tensors.data[t].name, name))
      return t;
  return CALM_NONE;
}

calm_status pipeline_find_lost_inputs(pipeline_lost_inputs *out,
                                      const tflm_model *planned,
                                      const tflm_model *untouched,
                                      const memory_model *memory, arena *a) {
  const graph *g = &planned->graphs[0];
  uint32_t looked = 0;
  memory_model alone = *memory_model_find("tflm-default");
  laid_out now, before;
  *out = (pipeline_lost_inputs){NULL, 0};
  memset(alone.views, 0, sizeof alone.views);
  TRY(lay_out(&now, planned, memory, a));
  TRY(lay_out(&before, untouched, &alone, a));
  for (tensor_id t = 0; t < g->tensors.count && looked < MOST_INPUTS; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    if (!(tensor->flags & CALM_TENSOR_INPUT)) continue;
    looked++;
    const tensor_id old = find_input(&untouched->graphs[0], tensor->name);
    if (old == CALM_NONE || !is_overwritten(&now, t) ||
        is_overwritten(&before, old))
      continue;
    if (out->count++ == 0) out->name = tensor->name;
  }
  return CALM_OK;
}
