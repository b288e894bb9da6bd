/*
 * Sizes that the file leaves open.  A dimension may carry a symbol, such as
 * 'batch', or nothing at all; memory can only be planned once each is a number.
 * --dim NAME=N sizes a symbol everywhere, --dim INPUT:AXIS=N one dimension of
 * an input, whatever the file says there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/onnx_parts.h"

static calm_status read_dim(onnx_reader *r, const char *option) {
  const char *equals = strrchr(option, '=');
  uint64_t size;
  onnx_dim dim = {0};
  if (!equals || equals == option ||
      !number_parse(&size, equals + 1, strlen(equals + 1)) || size > INT64_MAX)
    return context_fail(r->context, CALM_MISUSE,
                        "--dim: '%s' is not NAME=N, such as batch=1", option);
  dim.size = (int64_t)size;
  dim.name = arena_string(&r->scratch, option, (size_t)(equals - option));
  if (!dim.name) return context_no_memory(r->context);
  VECTOR_PUSH(r->context, &r->dims, dim);
  return CALM_OK;
}

calm_status onnx_read_dims(onnx_reader *r) {
  for (option_LIST item = r->model->dims; item; item = item->next)
    TRY(read_dim(r, item->text));
  return CALM_OK;
}

/* The last option of a name counts. */
static int64_t take_size(onnx_reader *r, const char *name) {
  int64_t size = ONNX_UNKNOWN;
  for (uint32_t i = 0; i < r->dims.count; i++) {
    onnx_dim *dim = &r->dims.data[i];
    if (strcmp(dim->name, name)) continue;
    dim->used = true;
    size = dim->size;
  }
  return size;
}

calm_status onnx_size_symbol(int64_t *out, onnx_reader *r, const char *symbol) {
  if (name_table_find(&r->symbol_names, symbol) == CALM_NONE) {
    TRY(name_table_add(&r->symbol_names, symbol, r->symbols.count));
    VECTOR_PUSH(r->context, &r->symbols, symbol);
  }
  *out = take_size(r, symbol);
  return CALM_OK;
}

/* The file may have 0 for a size that was not known when it was written. */
static bool is_open(const onnx_value *input, uint32_t axis) {
  return input->shape.dims[axis] == ONNX_UNKNOWN;
}

static calm_status name_axis(const char **out, onnx_reader *r,
                             const char *input, uint32_t axis) {
  size_t size = strlen(input) + 16;
  char *name = arena_calloc(&r->scratch, size, 1);
  if (!name) return context_no_memory(r->context);
  snprintf(name, size, "%s:%" PRIu32, input, axis);
  *out = name;
  return CALM_OK;
}

calm_status onnx_size_input(onnx_reader *r, onnx_value *input) {
  uint32_t rank = input->shape.rank == ONNX_NO_RANK ? 0 : input->shape.rank;
  for (uint32_t axis = 0; r->dims.count && axis < rank; axis++) {
    const char *name;
    TRY(name_axis(&name, r, input->name, axis));
    int64_t size = take_size(r, name);
    if (size != ONNX_UNKNOWN) input->shape.dims[axis] = size;
  }
  return CALM_OK;
}

/* ---- What is wrong ------------------------------------------------------- */

enum { SHOWN = 8 };

/* A list that may become too long for a message. */
typedef struct open_list {
  text text;
  uint32_t count;
} open_list;

static void list_item(open_list *list, const char *before, const char *item,
                      const char *behind) {
  if (list->count++ < SHOWN)
    text_format(&list->text, "%s%s%s%s", list->count > 1 ? " " : "", before,
                item, behind);
  else if (list->count == SHOWN + 1)
    text_format(&list->text, " ...");
}

static calm_status fail_unused(onnx_reader *r, const onnx_dim *dim) {
  open_list known = {.count = 0};
  text_init(&known.text, r->context);
  for (uint32_t i = 0; i < r->symbols.count; i++)
    list_item(&known, "", r->symbols.data[i], "");
  calm_status status = context_fail(
      r->context, CALM_MISUSE,
      "--dim: %s has no open size '%s'; %s%s; a dimension of an input is "
      "INPUT:AXIS",
      r->file.path, dim->name, known.count ? "there is " : "it names none",
      known.text.data ? known.text.data : "");
  text_free(&known.text);
  return status;
}

/* Per value of the entry: it is an output, or some node reads it. */
static calm_status find_read(bool **out, onnx_reader *r) {
  const onnx_graph *g = &r->graphs.data[0];
  bool *read;
  ARENA_ARRAY(&r->scratch, read, g->values.count);
  for (value_id v = 0; v < g->values.count; v++)
    read[v] = (g->values.data[v].flags & ONNX_VALUE_OUTPUT) > 0;
  for (uint32_t n = 0; n < g->nodes.count; n++) {
    const onnx_node *node = &g->nodes.data[n];
    for (uint32_t i = 0; i < node->input_count; i++)
      if (node->inputs[i] != CALM_NONE) read[node->inputs[i]] = true;
    for (uint32_t i = 0; i < node->captured_count; i++)
      read[node->captured[i]] = true;
  }
  *out = read;
  return CALM_OK;
}

/* Each symbol once, and each dimension without one. */
static calm_status list_open(open_list *open, onnx_reader *r,
                             name_table *listed, const onnx_value *input) {
  for (uint32_t axis = 0; axis < input->shape.rank; axis++) {
    const char *symbol =
        input->shape.symbols ? input->shape.symbols[axis] : NULL;
    if (!is_open(input, axis)) continue;
    if (!symbol) TRY(name_axis(&symbol, r, input->name, axis));
    if (name_table_find(listed, symbol) != CALM_NONE) continue;
    TRY(name_table_add(listed, symbol, 0));
    list_item(open, "--dim ", symbol, "=N");
  }
  return CALM_OK;
}

static calm_status check_inputs(onnx_reader *r, open_list *open,
                                name_table *listed) {
  const onnx_graph *g = &r->graphs.data[0];
  bool *read;
  TRY(find_read(&read, r));
  for (uint32_t i = 0; i < g->input_count; i++) {
    const onnx_value *input = &g->values.data[g->inputs[i]];
    if ((input->flags & ONNX_VALUE_OPAQUE) || !read[g->inputs[i]]) continue;
    if (input->shape.rank == ONNX_NO_RANK)
      return context_fail(r->context, CALM_UNSUPPORTED,
                          "%s: byte %zu: the file says no shape for input "
                          "'%s'; export the model with shapes of its inputs",
                          r->file.path, input->position, input->name);
    TRY(list_open(open, r, listed, input));
  }
  if (open->count == 0) return CALM_OK;
  if (open->text.failed) return context_no_memory(r->context);
  return context_fail(r->context, CALM_UNSUPPORTED,
                      "%s: sizes of inputs are left open; fix them with %s",
                      r->file.path, open->text.data);
}

calm_status onnx_check_dims(onnx_reader *r) {
  open_list open = {.count = 0};
  name_table listed;
  for (uint32_t i = 0; i < r->dims.count; i++)
    if (!r->dims.data[i].used) return fail_unused(r, &r->dims.data[i]);
  text_init(&open.text, r->context);
  name_table_init(&listed, r->context);
  calm_status status = check_inputs(r, &open, &listed);
  name_table_free(&listed);
  text_free(&open.text);
  return status;
}
