/*
 * The graph with regions folded: of each region the chain of whole pictures, at
 * the place of the operator that put the tiles together.
 */
#include <stdio.h>
#include <string.h>

#include "tile/tile_fold.h"

typedef struct maker {
  graph_edit *edit;
  const folder *f;
  const fold_regions *regions;
  arena *a;
  tensor_id *kept; /* per old tensor: its new id, CALM_NONE: gone */
  op_id *moved;    /* per old operator: likewise */
} maker;

/* ---- Tensors that stay --------------------------------------------------- */

static void use_operands(bool *used, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE) used[op->inputs[i]] = true;
}

static void use_region(bool *used, const maker *m, const fold_region *r) {
  used[r->source] = used[r->output] = true;
  for (uint32_t i = 1; i < r->count; i++) {
    if (!r->needed[i]) continue;
    const graph_op *op = &m->f->g->ops.data[r->pictures[i].op];
    for (uint32_t k = 0; k < op->input_count; k++)
      if (op->inputs[k] != CALM_NONE && r->pictures[i].inputs[k] == CALM_NONE)
        used[op->inputs[k]] = true;
  }
}

/* What only folded operators touched goes; what nobody touched stays. */
static calm_status find_used(bool **out, const maker *m) {
  const graph *g = m->f->g;
  bool *used, *lost;
  ARENA_ARRAY(m->f->scratch, used, g->tensors.count);
  ARENA_ARRAY(m->f->scratch, lost, g->tensors.count);
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    bool *list = m->f->taken[u] ? lost : used;
    use_operands(list, op);
    for (uint32_t i = 0; i < op->output_count; i++)
      if (op->outputs[i] != CALM_NONE) list[op->outputs[i]] = true;
  }
  for (uint32_t i = 0; i < m->regions->count; i++)
    use_region(used, m, &m->regions->list[i]);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    used[t] =
        used[t] || !lost[t] ||
        g->tensors.data[t].flags & (CALM_TENSOR_INPUT | CALM_TENSOR_OUTPUT);
  *out = used;
  return CALM_OK;
}

static calm_status keep_tensors(maker *m) {
  const graph *g = m->f->g;
  bool *used;
  TRY(find_used(&used, m));
  ARENA_ARRAY(m->f->scratch, m->kept, g->tensors.count);
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    m->kept[t] = CALM_NONE;
    if (used[t])
      TRY(graph_edit_add_tensor(
          &m->kept[t], m->edit, &g->tensors.data[t],
          &(edit_tensor){.from = t, .contents = EDIT_SAME}));
  }
  return CALM_OK;
}

/* ---- What is made -------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Up to a last part such as "/tile3" or "/slice_0". */
static size_t length_without_tile(const char *name) {
  size_t end = strlen(name);
  while (end && is_digit(name[end - 1])) end--;
  if (end == strlen(name)) return end;
  const char *slash = strrchr(name, '/');
  return slash && slash > name ? (size_t)(slash - name) : strlen(name);
}

static calm_status add_picture(tensor_id *out, maker *m, tensor_id like,
                               const char *what, const int64_t *sizes) {
  const graph *g = m->f->g;
  graph_tensor tensor = g->tensors.data[like];
  const size_t length = length_without_tile(tensor.name);
  const size_t room = length + strlen(what) + 1;
  int64_t dimensions[4];
  char *name;
  ARENA_ARRAY(m->a, name, room);
  snprintf(name, room, "%.*s%s", (int)length, tensor.name, what);
  memcpy(dimensions, tensor.dimensions, sizeof dimensions);
  for (uint32_t axis = 0; axis < FOLD_AXES; axis++)
    dimensions[fold_dimension(g, axis)] = sizes[axis];
  tensor.name = name;
  tensor.dimensions = dimensions;
  tensor.flags = 0;
  return graph_edit_add_tensor(
      out, m->edit, &tensor,
      &(edit_tensor){.from = like, .contents = EDIT_MADE});
}

static calm_status print_numbers(const char **out, maker *m,
                                 const int64_t *numbers, uint32_t count) {
  enum { DIGITS = 21 };
  char value[4 * DIGITS + 1];
  size_t used = 0;
  for (uint32_t i = 0; i < count; i++)
    used += (size_t)snprintf(value + used, sizeof value - used, "%s%lld",
                             i ? "," : "", (long long)numbers[i]);
  *out = arena_string(m->a, value, used);
  return *out ? CALM_OK : context_no_memory(m->a->context);
}

static calm_status add_paddings(tensor_id *out, maker *m, tensor_id from,
                                const int64_t before[4],
                                const int64_t after[4]) {
  enum { PAIRS = 4, WIDTH = 4 };
  static const int64_t dimensions[] = {PAIRS, 2};
  const graph_tensor tensor = {.name = "paddings",
                               .type = ELEMENT_i32,
                               .dimensions = dimensions,
                               .rank = 2,
                               .flags = CALM_TENSOR_CONST};
  uint8_t *bytes;
  ARENA_ARRAY(m->a, bytes, PAIRS * 2 * WIDTH);
  for (uint32_t i = 0; i < PAIRS * 2; i++)
    for (uint32_t b = 0; b < WIDTH; b++)
      bytes[i * WIDTH + b] =
          (uint8_t)((uint64_t)(i % 2 ? after : before)[i / 2] >> 8 * b);
  return graph_edit_add_tensor(
      out, m->edit, &tensor,
      &(edit_tensor){.from = from, .contents = EDIT_NUMBERS, .bytes = bytes});
}

/* A pad in front of a convolution; x is what the old tensor `from` became. */
static calm_status add_pad(tensor_id *x, maker *m, const fold_picture *p,
                           tensor_id from) {
  const graph *g = m->f->g;
  int64_t before[4] = {0}, after[4] = {0}, sizes[FOLD_AXES];
  tensor_id operands[2] = {*x}, padded;
  graph_attribute attributes[] = {{"before", NULL}, {"after", NULL}};
  op_id id;
  for (uint32_t axis = 0; axis < FOLD_AXES; axis++) {
    before[fold_dimension(g, axis)] = p->axes[axis].before;
    after[fold_dimension(g, axis)] = p->after[axis];
    sizes[axis] = p->axes[axis].input + p->axes[axis].before + p->after[axis];
  }
  TRY(add_picture(&padded, m, from, "/pad", sizes));
  TRY(add_paddings(&operands[1], m, from, before, after));
  TRY(print_numbers(&attributes[0].value, m, before, 4));
  TRY(print_numbers(&attributes[1].value, m, after, 4));
  *x = padded;
  return graph_edit_add_op(&id, m->edit,
                           &(graph_op){.name = "pad",
                                       .kind = OP_pad,
                                       .kind_name = op_kind_name(OP_pad),
                                       .inputs = operands,
                                       .input_count = 2,
                                       .outputs = &padded,
                                       .output_count = 1,
                                       .attributes = attributes,
                                       .attribute_count = 2},
                           &(edit_op){.from = p->op, .role = EDIT_PAD});
}

/* The attributes of a tile with the padding of the whole. */
static calm_status copy_attributes(graph_op *op, maker *m,
                                   const fold_picture *p) {
  const graph_op *old = &m->f->g->ops.data[p->op];
  const int64_t pads[] = {p->axes[0].before, p->axes[1].before, p->after[0],
                          p->after[1]};
  const bool given = p->padding == FOLD_GIVEN;
  const bool none = given && !pads[0] && !pads[1] && !pads[2] && !pads[3];
  graph_attribute said = {given ? "pads" : "pad",
                          p->padding == FOLD_SAME ? "same" : "valid"};
  uint32_t count = 0;
  bool done = !p->window || none;
  if (given) TRY(print_numbers(&said.value, m, pads, 4));
  ARENA_ARRAY(m->a, op->attributes, old->attribute_count + 1);
  for (uint32_t i = 0; i < old->attribute_count; i++) {
    const char *key = old->attributes[i].key;
    const bool padding =
        p->window && (!strcmp(key, "pad") || !strcmp(key, "pads"));
    if (!padding)
      op->attributes[count++] = old->attributes[i];
    else if (!done)
      op->attributes[count++] = said;
    done = done || padding;
  }
  if (!done) op->attributes[count++] = said;
  op->attribute_count = count;
  return CALM_OK;
}

/* ---- A region ------------------------------------------------------------ */

/* An old tensor that is a part of a picture and has its type. */
static tensor_id like_of(const maker *m, const fold_region *r, uint32_t i) {
  return i ? m->f->g->ops.data[r->pictures[i].op].outputs[0] : r->source;
}

static calm_status add_whole(tensor_id *made, maker *m, const fold_region *r,
                             uint32_t i) {
  const fold_picture *p = &r->pictures[i];
  const graph_op *old = &m->f->g->ops.data[p->op];
  graph_op op = *old;
  op_id id;
  ARENA_ARRAY(m->a, op.inputs, old->input_count);
  for (uint32_t k = 0; k < old->input_count; k++)
    op.inputs[k] = p->inputs[k] != CALM_NONE     ? made[p->inputs[k]]
                   : old->inputs[k] == CALM_NONE ? CALM_NONE
                                                 : m->kept[old->inputs[k]];
  if (p->padding == FOLD_EXPLICIT)
    TRY(add_pad(&op.inputs[0], m, p, like_of(m, r, p->inputs[0])));
  if (i == r->last)
    made[i] = m->kept[r->output];
  else
    TRY(add_picture(&made[i], m, like_of(m, r, i), "", p->sizes));
  TRY(copy_attributes(&op, m, p));
  op.outputs = &made[i];
  return graph_edit_add_op(
      &id, m->edit, &op,
      &(edit_op){.from = p->op, .role = EDIT_WINDOW, .activation = true});
}

static calm_status add_region(maker *m, const fold_region *r) {
  tensor_id *made;
  ARENA_ARRAY(m->f->scratch, made, r->count);
  made[0] = m->kept[r->source];
  for (uint32_t i = 1; i < r->count; i++)
    if (r->needed[i]) TRY(add_whole(made, m, r, i));
  return CALM_OK;
}

/* ---- Operators that stay ------------------------------------------------- */

static void map_operands(tensor_id *operands, uint32_t count, const maker *m) {
  for (uint32_t i = 0; i < count; i++)
    if (operands[i] != CALM_NONE) operands[i] = m->kept[operands[i]];
}

static calm_status keep_op(maker *m, op_id u) {
  TRY(graph_edit_add_op(
      &m->moved[u], m->edit, &m->f->g->ops.data[u],
      &(edit_op){.from = u, .role = EDIT_KEEP, .activation = true}));
  graph_op *op = &m->edit->after.ops.data[m->moved[u]];
  map_operands(op->inputs, op->input_count, m);
  map_operands(op->outputs, op->output_count, m);
  return CALM_OK;
}

static const fold_region *find_end(const maker *m, op_id u) {
  for (uint32_t i = 0; i < m->regions->count; i++)
    if (m->f->g->producer[m->regions->list[i].output] == u)
      return &m->regions->list[i];
  return NULL;
}

/* Operators that others wait for without need are in no region. */
static void renumber_waiting(const maker *m) {
  for (op_id u = 0; u < m->f->g->ops.count; u++) {
    if (m->f->taken[u]) continue;
    graph_op *op = &m->edit->after.ops.data[m->moved[u]];
    for (uint32_t i = 0; i < op->after_count; i++)
      op->after[i] = m->moved[op->after[i]];
  }
}

static calm_status make(maker *m) {
  TRY(keep_tensors(m));
  ARENA_ARRAY(m->f->scratch, m->moved, m->f->g->ops.count);
  for (uint32_t i = 0; i < m->f->g->ops.count; i++) {
    const op_id u = m->f->g->order[i];
    const fold_region *r = find_end(m, u);
    if (r)
      TRY(add_region(m, r));
    else if (!m->f->taken[u])
      TRY(keep_op(m, u));
  }
  renumber_waiting(m);
  return graph_edit_finish(m->edit, "fold");
}

calm_status fold_make(graph_edit *out, const folder *f,
                      const fold_regions *regions, arena *a) {
  graph_edit edit;
  maker m = {.edit = &edit, .f = f, .regions = regions, .a = a};
  graph_edit_init(&edit, f->g, a);
  const calm_status status = make(&m);
  if (status == CALM_OK)
    *out = edit;
  else
    graph_edit_free(&edit);
  return status;
}
