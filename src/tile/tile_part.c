/* A region as numbers: its operators as windows, its tensors by their sizes. */
#include <inttypes.h>
#include <string.h>

#include "tile/tile_work.h"

calm_status tile_fail(const tile_part *part, calm_context *context,
                      const char *reason) {
  text t;
  text_init(&t, context);
  tile_print(&t, &part->region);
  const calm_status status = context_fail(context, CALM_UNSUPPORTED, "%s: %s",
                                          t.data ? t.data : "region", reason);
  text_free(&t);
  return status;
}

/* Names the operator, if it is one that could be in no region. */
static calm_status refuse_part(const tile_part *part, calm_context *context,
                               const char *reason) {
  const graph *g = part->g;
  for (uint32_t i = part->region.first;
       i <= part->region.last && i < g->ops.count; i++) {
    const char *own = tile_refuse_op(g, g->order[i]);
    if (!own || strcmp(own, reason) != 0) continue;
    const graph_op *op = &g->ops.data[g->order[i]];
    text t;
    text_init(&t, context);
    text_format(&t, "operator %u, '%s' (%s): %s", i, op->name,
                op_kind_name(op->kind), reason);
    const calm_status status = tile_fail(part, context, t.data ? t.data : own);
    text_free(&t);
    return status;
  }
  return tile_fail(part, context, reason);
}

static tile_tensor describe(const tile_part *part, tensor_id id) {
  const graph_tensor *t = &part->g->tensors.data[id];
  tile_tensor described = {.id = id, .last_reader = CALM_NONE};
  for (uint32_t i = 0; i < TILE_AXES; i++)
    described.sizes[i] = t->dimensions[part->axes[i]];
  described.pixel_bytes =
      t->bytes / (uint64_t)(described.sizes[0] * described.sizes[1]);
  return described;
}

static uint32_t find(const tile_part *part, tensor_id id) {
  for (uint32_t i = part->tensor_count; i-- > 0;)
    if (part->tensors[i].id == id) return i;
  return CALM_NONE;
}

static calm_status list_slots(tile_part *part, uint32_t step, arena *a) {
  tile_step *s = &part->steps[step];
  const graph_op *op = &part->g->ops.data[s->op];
  uint32_t *slots;
  ARENA_ARRAY(a, slots, op->input_count);
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    slots[i] = CALM_NONE;
    if (t == CALM_NONE || (part->g->tensors.data[t].flags & CALM_TENSOR_CONST))
      continue;
    slots[i] = find(part, t);
    if (slots[i] == CALM_NONE) {
      slots[i] = 0;
      part->tensors[0] = describe(part, t);
    }
    part->tensors[slots[i]].last_reader = step;
  }
  s->slots = slots;
  return CALM_OK;
}

/* A pad and an operator that works element by element are windows of one
   element. */
static void find_axes(tile_step *s, const tile_part *part) {
  const graph_op *op = &part->g->ops.data[s->op];
  const tile_tensor *y = &part->tensors[s->output];
  int64_t before[GRAPH_MAX_RANK] = {0};
  graph_window window;
  if (s->kind == TILE_WINDOW) {
    graph_window_of(&window, part->g, s->op);
    s->axes[TILE_ROWS] = window.rows;
    s->axes[TILE_COLUMNS] = window.columns;
    return;
  }
  if (s->kind == TILE_PADDING) graph_op_numbers(before, op, "before");
  for (uint32_t i = 0; i < TILE_AXES; i++) {
    const int64_t input = s->kind == TILE_POINT
                              ? y->sizes[i]
                              : part->tensors[s->slots[0]].sizes[i];
    s->axes[i] =
        (window_axis){input, y->sizes[i], 1, 1, 1, before[part->axes[i]]};
  }
}

static calm_status add_step(tile_part *part, op_id u, arena *a) {
  const graph_op *op = &part->g->ops.data[u];
  tile_step *s = &part->steps[part->step_count];
  s->op = u;
  s->kind = tile_is_window(op->kind) ? TILE_WINDOW
            : op->kind == OP_pad     ? TILE_PADDING
                                     : TILE_POINT;
  s->pool = op->kind == OP_average_pool2d || op->kind == OP_max_pool2d;
  TRY(list_slots(part, part->step_count, a));
  s->output = part->tensor_count++;
  part->tensors[s->output] = describe(part, op->outputs[0]);
  find_axes(s, part);
  part->step_count++;
  return CALM_OK;
}

calm_status tile_part_of(tile_part *out, const graph *g,
                         const tile_region *region, arena *a) {
  tile_part part = {.g = g, .region = *region, .tensor_count = 1};
  uint32_t rows, columns;
  const char *reason =
      tile_refuse(g, region->first, region->last, &rows, &columns);
  if (reason) return refuse_part(&part, a->context, reason);
  const uint32_t count = region->last - region->first + 1;
  for (uint32_t i = 0; i < TILE_AXES; i++) part.axes[i] = tile_dimension(g, i);
  ARENA_ARRAY(a, part.steps, count);
  ARENA_ARRAY(a, part.tensors, (size_t)count + 1);
  part.tensors[0].id = CALM_NONE;
  for (uint32_t i = region->first; i <= region->last; i++)
    TRY(add_step(&part, g->order[i], a));
  for (uint32_t i = 1; i < part.tensor_count; i++)
    if (part.tensors[i].last_reader == CALM_NONE) part.output = i;
  *out = part;
  return CALM_OK;
}
