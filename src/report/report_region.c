#include "report/report_region.h"

#include <string.h>

/* ---- Reading ------------------------------------------------------------- */

static size_t count_operands(const json_t *operators, const char *key) {
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(operators); i++)
    count +=
        json_array_size(json_object_get(json_array_get(operators, i), key));
  return count;
}

/* All operands of a kind, those that are no tensors left out. */
static calm_status read_operands(uint32_t **out_begin, uint32_t **out,
                                 const json_t *operators, const char *key,
                                 uint32_t tensors, arena *a) {
  uint32_t count = 0, *begin, *list;
  ARENA_ARRAY(a, begin, json_array_size(operators) + 1);
  ARENA_ARRAY(a, list, count_operands(operators, key));
  for (size_t i = 0; i < json_array_size(operators); i++) {
    const json_t *own = json_object_get(json_array_get(operators, i), key);
    for (size_t k = 0; k < json_array_size(own); k++) {
      const json_t *operand = json_array_get(own, k);
      const json_int_t t = json_integer_value(operand);
      if (json_is_integer(operand) && t >= 0 && t < (json_int_t)tensors)
        list[count++] = (uint32_t)t;
    }
    begin[i + 1] = count;
  }
  *out_begin = begin;
  *out = list;
  return CALM_OK;
}

static calm_status index_tensors(region_graph *g, arena *a) {
  const uint32_t reads = g->input_begin[g->op_count];
  uint32_t *fill;
  ARENA_ARRAY(a, g->producer, g->tensor_count);
  ARENA_ARRAY(a, g->reader_begin, g->tensor_count + 1);
  ARENA_ARRAY(a, g->readers, reads);
  ARENA_ARRAY(a, fill, g->tensor_count);
  for (uint32_t t = 0; t < g->tensor_count; t++) g->producer[t] = CALM_NONE;
  for (uint32_t op = 0; op < g->op_count; op++)
    for (uint32_t i = g->output_begin[op]; i < g->output_begin[op + 1]; i++)
      g->producer[g->outputs[i]] = op;
  for (uint32_t i = 0; i < reads; i++) g->reader_begin[g->inputs[i] + 1]++;
  for (uint32_t t = 0; t < g->tensor_count; t++)
    g->reader_begin[t + 1] += g->reader_begin[t];
  for (uint32_t op = 0; op < g->op_count; op++)
    for (uint32_t i = g->input_begin[op]; i < g->input_begin[op + 1]; i++) {
      const uint32_t t = g->inputs[i];
      g->readers[g->reader_begin[t] + fill[t]++] = op;
    }
  return CALM_OK;
}

static calm_status read_names(region_graph *g, const json_t *operators,
                              arena *a) {
  ARENA_ARRAY(a, g->names, g->op_count);
  for (uint32_t op = 0; op < g->op_count; op++) {
    const char *name = json_string_value(
        json_object_get(json_array_get(operators, op), "name"));
    g->names[op] = name ? name : "";
    if (name && name_table_find(&g->ops, name) == CALM_NONE)
      TRY(name_table_add(&g->ops, name, op));
  }
  return CALM_OK;
}

static calm_status read_hidden(region_graph *g, const json_t *tensors,
                               arena *a) {
  bool *hidden;
  ARENA_ARRAY(a, hidden, g->tensor_count);
  for (uint32_t t = 0; t < g->tensor_count; t++) {
    const char *role =
        json_string_value(json_object_get(json_array_get(tensors, t), "role"));
    hidden[t] = role && !strcmp(role, "const");
  }
  g->hidden = hidden;
  return CALM_OK;
}

static calm_status read_all(region_graph *g, const json_t *operators,
                            const json_t *tensors, arena *a) {
  TRY(read_names(g, operators, a));
  TRY(read_hidden(g, tensors, a));
  TRY(read_operands(&g->input_begin, &g->inputs, operators, "inputs",
                    g->tensor_count, a));
  TRY(read_operands(&g->output_begin, &g->outputs, operators, "outputs",
                    g->tensor_count, a));
  return index_tensors(g, a);
}

calm_status region_graph_read(region_graph *out, bool *found,
                              const json_t *holder, arena *a) {
  const json_t *operators = json_object_get(holder, "operators");
  const json_t *tensors = json_object_get(holder, "tensors");
  region_graph g = {.op_count = (uint32_t)json_array_size(operators),
                    .tensor_count = (uint32_t)json_array_size(tensors)};
  *found = g.op_count && g.tensor_count;
  name_table_init(&g.ops, a->context);
  const calm_status status =
      *found ? read_all(&g, operators, tensors, a) : CALM_OK;
  if (status == CALM_OK)
    *out = g;
  else
    name_table_free(&g.ops);
  return status;
}

void region_graph_free(region_graph *g) { name_table_free(&g->ops); }

/* ---- Choosing ------------------------------------------------------------ */

calm_status region_begin(region *out, const region_graph *g, uint32_t most,
                         arena *a) {
  region r = {.graph = g, .most = most};
  ARENA_ARRAY(a, r.inside, g->op_count);
  ARENA_ARRAY(a, r.focus, g->op_count);
  ARENA_ARRAY(a, r.ops, most);
  *out = r;
  return CALM_OK;
}

bool region_add(region *r, uint32_t op, bool focus) {
  if (op >= r->graph->op_count || r->inside[op] || r->count == r->most)
    return false;
  r->inside[op] = true;
  r->focus[op] = focus;
  r->ops[r->count++] = op;
  return true;
}

/* What is computed of constants alone is as good as one. */
static bool reads_constants_only(const region_graph *g, uint32_t op) {
  for (uint32_t i = g->input_begin[op]; i < g->input_begin[op + 1]; i++)
    if (!g->hidden[g->inputs[i]]) return false;
  return true;
}

static void add_neighbours(region *r, uint32_t op) {
  const region_graph *g = r->graph;
  for (uint32_t i = g->input_begin[op]; i < g->input_begin[op + 1]; i++) {
    const uint32_t from = g->producer[g->inputs[i]];
    if (from != CALM_NONE && !reads_constants_only(g, from))
      region_add(r, from, false);
  }
  for (uint32_t i = g->output_begin[op]; i < g->output_begin[op + 1]; i++) {
    const uint32_t t = g->outputs[i];
    for (uint32_t k = g->reader_begin[t]; k < g->reader_begin[t + 1]; k++)
      region_add(r, g->readers[k], false);
  }
}

void region_grow(region *r, uint32_t rings) {
  uint32_t begin = 0;
  for (uint32_t ring = 0; ring < rings; ring++) {
    const uint32_t end = r->count;
    for (uint32_t i = begin; i < end; i++) add_neighbours(r, r->ops[i]);
    begin = end;
  }
}
