/*
 * What of the old graph stays.  Weights, and nodes that only make weights, stay
 * if the new graph needs them or the old one did not, so that what lay there
 * for other reasons is not lost.  Each stands before who reads it.
 */
#include <string.h>

#include "model/onnx_rebuild.h"

static calm_status refuse(const onnx_rebuilder *b, const char *before,
                          const char *name, const char *behind) {
  return context_fail(b->r->context, CALM_UNSUPPORTED, "%s: %s '%.100s' %s",
                      b->model->path, before, name, behind);
}

/* ---- Who is who ---------------------------------------------------------- */

const graph_op *rebuild_was(const onnx_rebuilder *b, op_id u) {
  return &b->edit->before->ops.data[b->edit->ops.data[u].from];
}

const onnx_node *rebuild_source(const onnx_rebuilder *b, op_id u) {
  return &b->g->nodes.data[rebuild_was(b, u)->file_index];
}

static value_id value_of(const onnx_rebuilder *b, tensor_id t) {
  const edit_tensor *descent = &b->edit->tensors.data[t];
  if (descent->contents != EDIT_SAME) return CALM_NONE;
  return b->edit->before->tensors.data[descent->from].file_index;
}

const char *rebuild_name(const onnx_rebuilder *b, tensor_id t) {
  if (t == CALM_NONE) return "";
  const value_id v = value_of(b, t);
  return v == CALM_NONE ? b->edit->after.tensors.data[t].name
                        : b->g->values.data[v].name;
}

bool rebuild_is_whole(const onnx_rebuilder *b, op_id u) {
  const edit_op *descent = &b->edit->ops.data[u];
  const graph_op *now = &b->edit->after.ops.data[u];
  const graph_op *was = rebuild_was(b, u);
  if (descent->role != EDIT_KEEP || now->output_count != was->output_count)
    return false;
  for (uint32_t i = 0; i < now->output_count; i++) {
    const tensor_id t = now->outputs[i];
    if (t == CALM_NONE && was->outputs[i] == CALM_NONE) continue;
    if (t == CALM_NONE || value_of(b, t) == CALM_NONE ||
        b->edit->tensors.data[t].from != was->outputs[i])
      return false;
  }
  return true;
}

static calm_status find_heirs(onnx_rebuilder *b) {
  const graph *after = &b->edit->after;
  ARENA_ARRAY(&b->r->scratch, b->heirs, b->g->values.count);
  for (value_id v = 0; v < b->g->values.count; v++) b->heirs[v] = CALM_NONE;
  for (tensor_id t = 0; t < after->tensors.count; t++) {
    const value_id v = value_of(b, t);
    if (v == CALM_NONE) continue;
    if (b->heirs[v] != CALM_NONE ||
        strcmp(b->g->values.data[v].name, after->tensors.data[t].name))
      return refuse(b, "tensor", after->tensors.data[t].name,
                    "would need another name");
    b->heirs[v] = t;
  }
  return CALM_OK;
}

/* ---- Weights ------------------------------------------------------------- */

static void need_captured(bool *needed, const onnx_node *node) {
  for (uint32_t i = 0; i < node->captured_count; i++)
    needed[node->captured[i]] = true;
}

/* What nodes need that make something needed; they run before who reads them.
 */
static void need_sources(bool *needed, const onnx_graph *g) {
  for (uint32_t n = g->nodes.count; n-- > 0;) {
    const onnx_node *node = &g->nodes.data[g->order[n]];
    bool wanted = false;
    if (!node->weights_only) continue;
    for (uint32_t i = 0; i < node->output_count; i++)
      wanted |= node->outputs[i] != CALM_NONE && needed[node->outputs[i]];
    for (uint32_t i = 0; wanted && i < node->input_count; i++)
      if (node->inputs[i] != CALM_NONE) needed[node->inputs[i]] = true;
  }
}

static void need_outputs(bool *needed, const onnx_graph *g) {
  for (uint32_t i = 0; i < g->output_count; i++) needed[g->outputs[i]] = true;
}

static void find_needed_before(bool *needed, const onnx_graph *g) {
  need_outputs(needed, g);
  for (uint32_t n = 0; n < g->nodes.count; n++) {
    const onnx_node *node = &g->nodes.data[n];
    if (node->weights_only) continue;
    need_captured(needed, node);
    for (uint32_t i = 0; i < node->input_count; i++)
      if (node->inputs[i] != CALM_NONE) needed[node->inputs[i]] = true;
  }
  need_sources(needed, g);
}

static void find_needed_now(bool *needed, const onnx_rebuilder *b) {
  const graph *after = &b->edit->after;
  need_outputs(needed, b->g);
  for (op_id u = 0; u < after->ops.count; u++) {
    const graph_op *op = &after->ops.data[u];
    for (uint32_t i = 0; i < op->input_count; i++) {
      const tensor_id t = op->inputs[i];
      const value_id v = t == CALM_NONE ? t : value_of(b, t);
      if (v != CALM_NONE) needed[v] = true;
    }
    if (b->edit->ops.data[u].role == EDIT_KEEP)
      need_captured(needed, rebuild_source(b, u));
  }
  need_sources(needed, b->g);
}

/* `needed` becomes: by the new graph, or not even by the old one. */
static calm_status find_needed(bool **out, const onnx_rebuilder *b) {
  bool *before, *needed;
  ARENA_ARRAY(&b->r->scratch, before, b->g->values.count);
  ARENA_ARRAY(&b->r->scratch, needed, b->g->values.count);
  find_needed_before(before, b->g);
  for (value_id v = 0; v < b->g->values.count; v++) needed[v] = !before[v];
  find_needed_now(needed, b);
  *out = needed;
  return CALM_OK;
}

static bool keeps_node(const bool *needed, const onnx_node *node) {
  bool silent = true;
  for (uint32_t i = 0; i < node->output_count; i++) {
    if (node->outputs[i] == CALM_NONE) continue;
    if (needed[node->outputs[i]]) return true;
    silent = false;
  }
  return silent;
}

/* ---- What is gone -------------------------------------------------------- */

static calm_status find_whole(bool **out, const onnx_rebuilder *b) {
  ARENA_ARRAY(&b->r->scratch, *out, b->g->nodes.count);
  for (op_id u = 0; u < b->edit->after.ops.count; u++)
    if (rebuild_is_whole(b, u))
      (*out)[rebuild_source(b, u) - b->g->nodes.data] = true;
  return CALM_OK;
}

/* What the caller may replace is part of how the model is called. */
static bool is_gone(const onnx_rebuilder *b, value_id v, const bool *needed,
                    const bool *whole) {
  const onnx_value *value = &b->g->values.data[v];
  const unsigned kept = ONNX_VALUE_INPUT | ONNX_VALUE_DEFAULT;
  if (value->flags & kept) return false;
  if (value->producer == CALM_NONE) return !needed[v];
  const onnx_node *node = &b->g->nodes.data[value->producer];
  if (node->weights_only) return !keeps_node(needed, node);
  return b->heirs[v] == CALM_NONE && !whole[value->producer];
}

static calm_status find_gone(onnx_rebuilder *b, const bool *needed) {
  bool *whole;
  TRY(find_whole(&whole, b));
  ARENA_ARRAY(&b->r->scratch, b->gone, b->g->values.count);
  for (value_id v = 0; v < b->g->values.count; v++) {
    b->gone[v] = is_gone(b, v, needed, whole);
    if (b->gone[v] && (b->g->values.data[v].flags & ONNX_VALUE_OUTPUT))
      return refuse(b, "output", b->g->values.data[v].name, "would be gone");
  }
  return CALM_OK;
}

/* ---- Names --------------------------------------------------------------- */

/* A body reads values by their names, whatever the operands are. */
static calm_status check_captured(const onnx_rebuilder *b) {
  for (op_id u = 0; u < b->edit->after.ops.count; u++) {
    const onnx_node *node = rebuild_source(b, u);
    if (b->edit->ops.data[u].role != EDIT_KEEP) continue;
    for (uint32_t i = 0; i < node->captured_count; i++)
      if (b->gone[node->captured[i]])
        return refuse(b, "a body reads",
                      b->g->values.data[node->captured[i]].name,
                      "from outside, which would be gone");
  }
  return CALM_OK;
}

/* A new name must be new, also to bodies, which may not hide it. */
static calm_status check_name(const onnx_rebuilder *b, const char *name) {
  const value_id v = name_table_find(&b->g->names, name);
  if (v != CALM_NONE && !b->gone[v])
    return refuse(b, "tensor", name, "is there already");
  for (uint32_t i = 1; i < b->r->graphs.count; i++)
    if (name_table_find(&b->r->graphs.data[i].names, name) != CALM_NONE)
      return refuse(b, "tensor", name, "is there already, in a body");
  return CALM_OK;
}

static calm_status check_names(const onnx_rebuilder *b) {
  const graph *after = &b->edit->after;
  for (tensor_id t = 0; t < after->tensors.count; t++)
    if (value_of(b, t) == CALM_NONE)
      TRY(check_name(b, after->tensors.data[t].name));
  return CALM_OK;
}

/* ---- Places -------------------------------------------------------------- */

/* Nodes that make weights come in their own order, up to one. */
typedef struct weights_queue {
  const bool *needed;
  uint32_t *rank; /* of each node in the order of the file */
  uint32_t next;
} weights_queue;

static void place_weights(onnx_rebuilder *b, weights_queue *queue,
                          uint32_t end) {
  while (queue->next < end) {
    const uint32_t n = b->g->order[queue->next++];
    const onnx_node *node = &b->g->nodes.data[n];
    if (node->weights_only && keeps_node(queue->needed, node))
      b->places[b->place_count++] = (rebuild_place){true, n};
  }
}

static uint32_t behind_source(const onnx_rebuilder *b,
                              const weights_queue *queue, value_id v) {
  const uint32_t n = v == CALM_NONE ? CALM_NONE : b->g->values.data[v].producer;
  return n == CALM_NONE || !b->g->nodes.data[n].weights_only
             ? 0
             : queue->rank[n] + 1;
}

/* Up to which rank weights must be there: they stand where they stood. */
static uint32_t weights_before(const onnx_rebuilder *b,
                               const weights_queue *queue, op_id u) {
  const graph_op *op = &b->edit->after.ops.data[u];
  const onnx_node *node = rebuild_source(b, u);
  uint32_t end = queue->rank[node - b->g->nodes.data];
  for (uint32_t i = 0; i < op->input_count + node->captured_count; i++) {
    value_id v = CALM_NONE;
    if (i >= op->input_count)
      v = node->captured[i - op->input_count];
    else if (op->inputs[i] != CALM_NONE)
      v = value_of(b, op->inputs[i]);
    const uint32_t behind = behind_source(b, queue, v);
    if (behind > end) end = behind;
  }
  return end;
}

static bool is_renumbered(const onnx_rebuilder *b) {
  if (b->place_count != b->g->nodes.count) return true;
  for (uint32_t i = 0; i < b->place_count; i++) {
    const rebuild_place *place = &b->places[i];
    if (place->makes_weights
            ? place->index != i
            : rebuild_source(b, place->index) != &b->g->nodes.data[i] ||
                  !rebuild_is_whole(b, place->index))
      return true;
  }
  return false;
}

static calm_status find_places(onnx_rebuilder *b, const bool *needed) {
  const uint32_t nodes = b->g->nodes.count, ops = b->edit->after.ops.count;
  weights_queue queue = {.needed = needed};
  ARENA_ARRAY(&b->r->scratch, queue.rank, nodes);
  ARENA_ARRAY(&b->r->scratch, b->places, (size_t)nodes + ops);
  for (uint32_t i = 0; i < nodes; i++) queue.rank[b->g->order[i]] = i;
  for (op_id u = 0; u < ops; u++) {
    place_weights(b, &queue, weights_before(b, &queue, u));
    b->places[b->place_count++] = (rebuild_place){false, u};
  }
  place_weights(b, &queue, nodes);
  b->renumbered = is_renumbered(b);
  return CALM_OK;
}

calm_status rebuild_choose(onnx_rebuilder *b) {
  bool *needed;
  TRY(find_heirs(b));
  TRY(find_needed(&needed, b));
  TRY(find_gone(b, needed));
  TRY(check_captured(b));
  TRY(check_names(b));
  return find_places(b, needed);
}
