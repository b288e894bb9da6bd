/*
 * Which sites a graph has.  One walk in topological order, in which every site
 * that can be rewritten is: the output of a concat over channels is then known
 * as its parts, and so is that of an operator that works on parts, so that the
 * readers of either are sites.
 */
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_parts.h"

enum {
  MAX_PARTS = 1024,       /* of one operator */
  MAX_ALL_PARTS = 1 << 18 /* of a graph: nested concats double them */
};

/* What is known of a tensor once every site is taken. */
typedef struct value {
  tensor_id head; /* what it is another name of; itself, mostly */
  op_id source;   /* the operator that it is parts of; CALM_NONE: it is one
                     piece */
  rewrite_parts parts;
  const char *refusal; /* of a concat that has to stay; no parts then */
} value;

typedef struct walk {
  rewrite_finder f;
  arena scratch;
  value *values;
  op_id *root; /* per operator: towards the one that names its group */
  bool *open;  /* per such root: a concat of its group stays */
  uint32_t part_count;
} walk;

/* ---- Groups -------------------------------------------------------------- */

static op_id find_root(const walk *w, op_id u) {
  while (w->root[u] != u) {
    w->root[u] = w->root[w->root[u]];
    u = w->root[u];
  }
  return u;
}

static void join_groups(walk *w, op_id a, op_id b) {
  a = find_root(w, a);
  b = find_root(w, b);
  if (a == b) return;
  w->root[a > b ? a : b] = a > b ? b : a;
  w->open[a > b ? b : a] |= w->open[a > b ? a : b];
}

static void open_group(walk *w, op_id u) { w->open[find_root(w, u)] = true; }

/* ---- Adding sites -------------------------------------------------------- */

static calm_status copy_name(const char **out, arena *a, const char *concat,
                             const char *op) {
  const size_t head = strlen(concat), tail = strlen(op);
  char *name;
  ARENA_ARRAY(a, name, head + tail + 2);
  memcpy(name, concat, head);
  if (head) name[head] = '>';
  memcpy(name + head + (head > 0), op, tail);
  *out = name;
  return CALM_OK;
}

calm_status rewrite_add_site(rewrite_finder *f, rewrite_rule rule, op_id u,
                             const char *refusal, bool harmless) {
  rewrite_site site = {.rule = rule,
                       .op = u,
                       .concat = CALM_NONE,
                       .refusal = refusal,
                       .group = CALM_NONE,
                       .harmless = harmless};
  TRY(copy_name(&site.name, f->a, "", f->g->ops.data[u].name));
  VECTOR_PUSH(f->a->context, &f->sites, site);
  return CALM_OK;
}

static calm_status add_concat_site(walk *w, rewrite_rule rule, op_id u,
                                   op_id concat, const char *refusal) {
  const graph *g = w->f.g;
  rewrite_site site = {.rule = rule,
                       .op = u,
                       .concat = concat,
                       .refusal = refusal,
                       .group = CALM_NONE};
  TRY(copy_name(&site.name, w->f.a, g->ops.data[concat].name,
                g->ops.data[u].name));
  VECTOR_PUSH(w->f.a->context, &w->f.sites, site);
  return CALM_OK;
}

/* ---- Concats ------------------------------------------------------------- */

static bool is_missing(const graph *g, tensor_id t) {
  return g->producer[t] == CALM_NONE &&
         !(g->tensors.data[t].flags & CALM_TENSOR_INPUT);
}

static const char *refuse_operand(const graph *g, tensor_id t,
                                  const graph_tensor *y) {
  if (t == CALM_NONE) return "an operand of the concat is absent";
  const graph_tensor *x = &g->tensors.data[t];
  if (x->flags & CALM_TENSOR_CONST)
    return "an operand of the concat is a constant";
  if ((x->flags & CALM_TENSOR_VARIABLE) || is_missing(g, t))
    return "an operand of the concat is a variable";
  if (x->dynamic) return "dimensions of the concat are open";
  if (x->bytes == 0) return "an operand of the concat is empty";
  if (x->type != y->type)
    return "the operands of the concat differ in their element type";
  if (x->quantization != y->quantization)
    return "the concat rescales its operands";
  return NULL;
}

/* All dimensions but that of channels are those of the output. */
static bool joins_channels(const graph *g, const graph_tensor *x,
                           const graph_tensor *y) {
  const uint32_t axis = rewrite_channel_axis(g, y->rank);
  if (y->type == ELEMENT_ABSTRACT) return true;
  if (axis == CALM_NONE || x->rank != y->rank) return false;
  for (uint32_t i = 0; i < y->rank; i++)
    if (i != axis && x->dimensions[i] != y->dimensions[i]) return false;
  return true;
}

/* The axis as it is written, counted from the front or from the back. */
static bool says_channels(const graph *g, const graph_op *op, uint32_t rank) {
  const char *said = graph_op_attribute(op, "axis");
  const uint32_t axis = rewrite_channel_axis(g, rank);
  if (!said) return true;
  const long value = strtol(said, NULL, 10);
  return value == (long)axis || value + (long)rank == (long)axis;
}

static const char *refuse_shape(const graph *g, const graph_op *op,
                                const graph_tensor *y) {
  uint64_t channels = 0;
  if (y->type != ELEMENT_ABSTRACT && !says_channels(g, op, y->rank))
    return "the concat is not over channels";
  for (uint32_t i = 0; i < op->input_count; i++) {
    const graph_tensor *x = &g->tensors.data[op->inputs[i]];
    if (!joins_channels(g, x, y)) return "the concat is not over channels";
    channels += rewrite_channels(g, x);
  }
  return channels == rewrite_channels(g, y) ? NULL
                                            : "the concat is not over channels";
}

/* Why a concat has to stay whatever its readers are. */
static const char *refuse_concat(const rewrite_finder *f, op_id u) {
  const graph *g = f->g;
  const graph_op *op = &g->ops.data[u];
  const tensor_id out = rewrite_output(op);
  if (out == CALM_NONE) return "the concat has no output";
  const graph_tensor *y = &g->tensors.data[out];
  if (f->bound[u]) return "other operators wait for the concat, or it for them";
  if (graph_op_attribute(op, "activation"))
    return "the concat has an activation of its own";
  if (y->flags & CALM_TENSOR_OUTPUT)
    return "the concat is an output of the graph";
  if (y->flags & CALM_TENSOR_VARIABLE) return "the concat is a variable";
  if (y->dynamic) return "dimensions of the concat are open";
  for (uint32_t i = 0; i < op->input_count; i++) {
    const char *refusal = refuse_operand(g, op->inputs[i], y);
    if (refusal) return refusal;
  }
  return refuse_shape(g, op, y);
}

/* ---- Sites at concats ---------------------------------------------------- */

static value *value_of(walk *w, tensor_id t) {
  return &w->values[w->values[t].head];
}

/* How many operands of an operator are this one. */
static uint32_t count_reads(walk *w, const graph_op *op, const value *v) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->input_count; i++)
    count += op->inputs[i] != CALM_NONE && value_of(w, op->inputs[i]) == v;
  return count;
}

static const char *refuse_many(const walk *w, uint32_t parts) {
  if (parts > MAX_PARTS) return "it would become more than 1024 operators";
  if (parts > MAX_ALL_PARTS - w->part_count)
    return "too many operators have been made already";
  return NULL;
}

/* What holds for readers of every kind. */
static const char *refuse_reader(walk *w, const rewrite_spot *spot,
                                 const value *v) {
  const graph *g = w->f.g;
  const graph_op *op = &g->ops.data[spot->u];
  const tensor_id out = rewrite_output(op);
  if (v->refusal) return v->refusal;
  if (out == CALM_NONE) return "it has several outputs, or none";
  if (w->f.bound[spot->u]) return "other operators wait for it, or it for them";
  if (op->kind == OP_concat) return NULL;
  if (g->tensors.data[out].dynamic) return "its dimensions are open";
  if (g->tensors.data[out].flags & CALM_TENSOR_VARIABLE)
    return "it writes a variable";
  if (count_reads(w, op, v) > 1) return "it reads the concat twice";
  return refuse_many(w, v->parts.count);
}

static const char *refuse_spot(walk *w, const rewrite_spot *spot,
                               const value *v, rewrite_rule rule) {
  const char *refusal = refuse_reader(w, spot, v);
  return refusal ? refusal : rewrite_hooks_of(rule)->refuse(&w->f, spot);
}

/* The parts of what an operator makes of parts. */
static calm_status derive_parts(walk *w, const rewrite_spot *spot) {
  const graph *g = w->f.g;
  const tensor_id in = g->ops.data[spot->u].inputs[spot->slot];
  const tensor_id out = rewrite_output(&g->ops.data[spot->u]);
  const uint64_t x = rewrite_channels(g, &g->tensors.data[in]);
  const uint64_t y = rewrite_channels(g, &g->tensors.data[out]);
  rewrite_part *list;
  ARENA_ARRAY(&w->scratch, list, spot->parts.count);
  for (uint32_t i = 0; i < spot->parts.count; i++) {
    list[i].tensor = CALM_NONE;
    rewrite_scale(&list[i].channels, spot->parts.list[i].channels, x, y);
  }
  w->values[out].source = spot->u;
  w->values[out].parts = (rewrite_parts){list, spot->parts.count};
  w->root[spot->u] = find_root(w, value_of(w, in)->source);
  if (g->tensors.data[out].flags & CALM_TENSOR_OUTPUT) open_group(w, spot->u);
  return CALM_OK;
}

/* Operand `slot` is a concat, or stands for one: *out_taken if the operator can
   do with its parts. */
static calm_status visit_spot(bool *out_taken, walk *w, op_id u, uint32_t slot,
                              const char *refusal) {
  const graph_op *op = &w->f.g->ops.data[u];
  const value *v = value_of(w, op->inputs[slot]);
  rewrite_spot spot = {u, slot, v->parts};
  bool known;
  const rewrite_rule rule = rewrite_rule_at_concat(&known, op);
  *out_taken = false;
  if (!w->f.options->rules[rule] || (v->refusal && !known)) return CALM_OK;
  const char *own = refuse_spot(w, &spot, v, rule);
  if (own) refusal = own;
  TRY(add_concat_site(w, rule, u, v->source, refusal));
  *out_taken = !refusal;
  if (refusal || op->kind == OP_concat) return CALM_OK;
  w->part_count += v->parts.count;
  return rule == REWRITE_kernels ? derive_parts(w, &spot) : CALM_OK;
}

/* Has an operand before this one the same value? */
static bool seen_before(walk *w, const graph_op *op, uint32_t slot) {
  for (uint32_t i = 0; i < slot; i++)
    if (op->inputs[i] != CALM_NONE &&
        value_of(w, op->inputs[i]) == value_of(w, op->inputs[slot]))
      return true;
  return false;
}

static calm_status visit_reader(walk *w, op_id u) {
  const graph_op *op = &w->f.g->ops.data[u];
  for (uint32_t i = 0; i < op->input_count; i++) {
    bool taken;
    if (op->inputs[i] == CALM_NONE) continue;
    const op_id source = value_of(w, op->inputs[i])->source;
    if (source == CALM_NONE || seen_before(w, op, i)) continue;
    TRY(visit_spot(&taken, w, u, i, NULL));
    if (!taken) open_group(w, source);
  }
  return CALM_OK;
}

/* ---- Concats, once their operands are known ------------------------------ */

/* Which operands of a concat are taken apart themselves: a site each, the
   refusal of the concat itself being theirs. */
static calm_status visit_nested(bool **out, uint32_t *out_count, walk *w,
                                op_id u, const char *refusal) {
  const graph_op *op = &w->f.g->ops.data[u];
  uint64_t count = 0;
  ARENA_ARRAY(&w->scratch, *out, op->input_count);
  for (uint32_t i = 0; i < op->input_count; i++) {
    const value *v =
        op->inputs[i] == CALM_NONE ? NULL : value_of(w, op->inputs[i]);
    if (v && v->source != CALM_NONE && seen_before(w, op, i)) {
      for (uint32_t j = 0; j < i; j++)
        if (op->inputs[j] != CALM_NONE && value_of(w, op->inputs[j]) == v)
          (*out)[i] = (*out)[j];
    } else if (v && v->source != CALM_NONE) {
      const uint64_t parts = (uint64_t)v->parts.count * count_reads(w, op, v);
      const char *own = refusal;
      if (!own)
        own = refuse_many(w, parts + count > MAX_PARTS
                                 ? MAX_PARTS + 1
                                 : (uint32_t)(parts + count));
      TRY(visit_spot(&(*out)[i], w, u, i, own));
      if (!(*out)[i]) open_group(w, v->source);
    }
    count += (*out)[i] ? v->parts.count : 1;
  }
  *out_count = (uint32_t)count;
  return CALM_OK;
}

static calm_status list_parts(walk *w, op_id u, const bool *nested,
                              uint32_t count) {
  const graph *g = w->f.g;
  const graph_op *op = &g->ops.data[u];
  rewrite_part *list;
  uint32_t filled = 0;
  ARENA_ARRAY(&w->scratch, list, count);
  for (uint32_t i = 0; i < op->input_count; i++) {
    const value *v = value_of(w, op->inputs[i]);
    if (nested[i]) {
      memcpy(list + filled, v->parts.list, v->parts.count * sizeof *list);
      filled += v->parts.count;
      join_groups(w, u, v->source);
    } else {
      list[filled++] = (rewrite_part){
          CALM_NONE, rewrite_channels(g, &g->tensors.data[op->inputs[i]])};
    }
  }
  w->values[op->outputs[0]].parts = (rewrite_parts){list, filled};
  w->part_count += filled;
  return CALM_OK;
}

/* A concat of one operand is a no-op. */
static calm_status visit_concat(walk *w, op_id u) {
  const graph_op *op = &w->f.g->ops.data[u];
  const char *refusal = refuse_concat(&w->f, u);
  const tensor_id out = rewrite_output(op);
  bool *nested;
  uint32_t count;
  if (!refusal && op->input_count < 2) refusal = "the concat has one operand";
  TRY(visit_nested(&nested, &count, w, u, refusal));
  if (!refusal) refusal = refuse_many(w, count);
  if (out == CALM_NONE) return CALM_OK;
  w->values[out].source = u;
  w->values[out].refusal = refusal;
  return refusal ? CALM_OK : list_parts(w, u, nested, count);
}

/* ---- The walk ------------------------------------------------------------ */

static calm_status visit(walk *w, op_id u) {
  const uint32_t before = w->f.sites.count;
  for (uint32_t rule = 0; rule < REWRITE_RULES; rule++) {
    const rewrite_hooks *hooks = rewrite_hooks_of(rule);
    if (hooks->find && w->f.options->rules[rule]) TRY(hooks->find(&w->f, u));
  }
  for (uint32_t i = before; i < w->f.sites.count; i++) {
    const rewrite_site *site = &w->f.sites.data[i];
    if (site->rule != REWRITE_noops || site->refusal) continue;
    w->values[w->f.g->ops.data[u].outputs[0]].head =
        w->values[rewrite_handed_on(w->f.g, u)].head;
    return CALM_OK;
  }
  return w->f.g->ops.data[u].kind == OP_concat ? visit_concat(w, u)
                                               : visit_reader(w, u);
}

static calm_status mark_bound(bool **out, const graph *g, arena *a) {
  ARENA_ARRAY(a, *out, g->ops.count);
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    (*out)[u] |= op->after_count || op->body_count || op->workspace_bytes ||
                 graph_op_stateful(op);
    for (uint32_t i = 0; i < op->after_count; i++) (*out)[op->after[i]] = true;
  }
  return CALM_OK;
}

static calm_status prepare(walk *w) {
  const graph *g = w->f.g;
  TRY(mark_bound(&w->f.bound, g, &w->scratch));
  ARENA_ARRAY(&w->scratch, w->values, g->tensors.count);
  ARENA_ARRAY(&w->scratch, w->root, g->ops.count);
  ARENA_ARRAY(&w->scratch, w->open, g->ops.count);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    w->values[t] = (value){.head = t, .source = CALM_NONE};
  for (op_id u = 0; u < g->ops.count; u++) w->root[u] = u;
  return CALM_OK;
}

/* Groups get numbers in the order of their first sites.  A concat that has to
   stay has none. */
static calm_status number_groups(rewrite_sites *out, walk *w) {
  uint32_t *number;
  ARENA_ARRAY(&w->scratch, number, w->f.g->ops.count);
  ARENA_ARRAY(w->f.a, out->closed, out->count);
  for (uint32_t i = 0; i < out->count; i++) {
    rewrite_site *site = &out->sites[i];
    if (site->concat == CALM_NONE) continue;
    const tensor_id y = w->f.g->ops.data[site->concat].outputs[0];
    if (w->values[y].refusal) continue;
    const op_id root = find_root(w, site->concat);
    if (!number[root]) number[root] = ++out->group_count;
    site->group = number[root] - 1;
    out->closed[site->group] = !w->open[root];
  }
  return CALM_OK;
}

static calm_status collect(rewrite_sites *out, walk *w) {
  TRY(prepare(w));
  for (uint32_t i = 0; i < w->f.g->ops.count; i++)
    TRY(visit(w, w->f.g->order[i]));
  *out = (rewrite_sites){
      .g = w->f.g, .options = *w->f.options, .count = w->f.sites.count};
  ARENA_ARRAY(w->f.a, out->sites, out->count);
  if (out->count)
    memcpy(out->sites, w->f.sites.data, out->count * sizeof *out->sites);
  return number_groups(out, w);
}

calm_status rewrite_find_sites(rewrite_sites *out, const graph *g,
                               const rewrite_options *options, arena *a) {
  walk w = {.f = {.g = g, .options = options, .a = a}};
  arena_init(&w.scratch, a->context);
  calm_status status = collect(out, &w);
  VECTOR_FREE(a->context, &w.f.sites);
  arena_free(&w.scratch);
  return status;
}

void rewrite_take_paper(bool *taken, const rewrite_sites *sites) {
  for (uint32_t i = 0; i < sites->count; i++) {
    const rewrite_site *site = &sites->sites[i];
    taken[i] = false;
    if (site->refusal || site->concat == CALM_NONE) continue;
    const graph_op *concat = &sites->g->ops.data[site->concat];
    const graph_op *op = &sites->g->ops.data[site->op];
    taken[i] = site->rule == REWRITE_channels
                   ? concat->kind == OP_concat && concat->input_count > 2
                   : op->kind == OP_depthwise_conv2d;
  }
}
