/*
 * Which sites a graph has.  One walk in topological order, in which every site
 * that can be rewritten is: the output of a concat over channels is then known
 * as its parts, and so is that of an operator that works on parts, so that the
 * readers of either are sites.
 */
#include <string.h>

#include "rewrite/rewrite_parts.h"

enum {
  MAX_PARTS = 1024,       /* of one operator */
  MAX_ALL_PARTS = 1 << 18 /* of a graph, counted as leaves */
};

/* What is known of a tensor once every site is taken. */
typedef struct value {
  tensor_id head; /* what it is another name of; itself, mostly */
  op_id source;   /* the operator that it is parts of; CALM_NONE: it is one
                     piece */
  rewrite_parts parts;
  uint64_t leaves;     /* what parts come to if theirs count one by one, and so
                          on: nested concats may double them */
  const char *refusal; /* of a concat that has to stay; no parts then */
  op_id reader;        /* the operator that is looked at, */
  uint32_t reads;      /* how many of its operands this is, */
  bool taken;          /* and whether it can do with the parts */
  bool opened;         /* some reader can */
} value;

typedef struct walk {
  rewrite_finder f;
  arena scratch;
  value *values;
  op_id *root; /* per operator: towards the one that names its group */
  bool *open;  /* per such root: a concat of its group stays */
  uint64_t leaf_count;
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

static void open_group_if(walk *w, op_id u, bool stays) {
  if (stays) w->open[find_root(w, u)] = true;
}

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

/* ---- Sites at concats ---------------------------------------------------- */

static value *value_of(walk *w, tensor_id t) {
  return &w->values[w->values[t].head];
}

/* Count for each operand how often it is read here. */
static void turn_to(walk *w, op_id u) {
  const graph_op *op = &w->f.g->ops.data[u];
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) continue;
    value *v = value_of(w, op->inputs[i]);
    if (v->reader != u) v->reads = 0;
    v->reader = u;
    v->reads++;
  }
}

static const char *refuse_many(const walk *w, uint64_t parts, uint64_t leaves) {
  if (parts > MAX_PARTS) return "it would become more than 1024 operators";
  if (leaves > MAX_ALL_PARTS - w->leaf_count)
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
  if (v->reads > 1) return "it reads the concat twice";
  return refuse_many(w, v->parts.count, v->leaves);
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
  w->values[out].leaves = value_of(w, in)->leaves;
  w->root[spot->u] = find_root(w, value_of(w, in)->source);
  open_group_if(w, spot->u, g->tensors.data[out].flags & CALM_TENSOR_OUTPUT);
  return CALM_OK;
}

/* Operand `slot` is a concat, or stands for one: can the operator do with its
   parts?  Not if there is a `refusal` already. */
static calm_status visit_spot(walk *w, op_id u, uint32_t slot,
                              const char *refusal) {
  const graph_op *op = &w->f.g->ops.data[u];
  value *v = value_of(w, op->inputs[slot]);
  const rewrite_spot spot = {u, slot, v->parts};
  bool known;
  const rewrite_rule rule = rewrite_rule_at_concat(&known, op);
  v->taken = false;
  open_group_if(w, v->source, !w->f.options->rules[rule]);
  if (!w->f.options->rules[rule] || (v->refusal && !known)) return CALM_OK;
  const char *own = refuse_spot(w, &spot, v, rule);
  if (own) refusal = own;
  TRY(add_concat_site(w, rule, u, v->source, refusal));
  v->taken = !refusal;
  v->opened |= v->taken;
  open_group_if(w, v->source, !v->taken);
  if (refusal || op->kind == OP_concat) return CALM_OK;
  w->leaf_count += v->leaves;
  return rule == REWRITE_kernels ? derive_parts(w, &spot) : CALM_OK;
}

static calm_status visit_reader(walk *w, op_id u) {
  const graph_op *op = &w->f.g->ops.data[u];
  turn_to(w, u);
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) continue;
    value *v = value_of(w, op->inputs[i]);
    if (v->source == CALM_NONE || v->reader == CALM_NONE) continue;
    TRY(visit_spot(w, u, i, NULL));
    v->reader = CALM_NONE;
  }
  return CALM_OK;
}

/* ---- Concats, once their operands are known ------------------------------ */

/* Which operands of a concat are taken apart themselves: a site each, even if
   the concat itself has to stay.  *out: how many parts that makes. */
static calm_status visit_nested(uint64_t *out, walk *w, op_id u,
                                const char *refusal) {
  const graph_op *op = &w->f.g->ops.data[u];
  *out = 0;
  turn_to(w, u);
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) continue;
    value *v = value_of(w, op->inputs[i]);
    if (v->source != CALM_NONE && v->reader == u) {
      const uint64_t more = (uint64_t)v->parts.count * v->reads;
      const char *many = refuse_many(w, *out + more, 0);
      TRY(visit_spot(w, u, i, refusal ? refusal : many));
      v->reader = CALM_NONE;
    }
    *out += v->source != CALM_NONE && v->taken ? v->parts.count : 1;
  }
  return CALM_OK;
}

/* Operands that stay have leaves all the same: some other reader may have taken
   them apart. */
static uint64_t count_leaves(walk *w, op_id u) {
  const graph_op *op = &w->f.g->ops.data[u];
  uint64_t count = 0;
  for (uint32_t i = 0; i < op->input_count && count <= MAX_ALL_PARTS; i++) {
    const value *v =
        op->inputs[i] == CALM_NONE ? NULL : value_of(w, op->inputs[i]);
    count += v && v->source != CALM_NONE && !v->refusal ? v->leaves : 1;
  }
  return count;
}

static calm_status list_parts(walk *w, op_id u, uint64_t count) {
  const graph *g = w->f.g;
  const graph_op *op = &g->ops.data[u];
  rewrite_part *list;
  uint32_t filled = 0;
  ARENA_ARRAY(&w->scratch, list, count);
  for (uint32_t i = 0; i < op->input_count; i++) {
    const value *v = value_of(w, op->inputs[i]);
    if (v->source != CALM_NONE && v->taken) {
      memcpy(list + filled, v->parts.list, v->parts.count * sizeof *list);
      filled += v->parts.count;
      join_groups(w, u, v->source);
    } else {
      list[filled++] = (rewrite_part){
          CALM_NONE, rewrite_channels(g, &g->tensors.data[op->inputs[i]])};
    }
  }
  w->values[op->outputs[0]].parts = (rewrite_parts){list, filled};
  w->leaf_count += w->values[op->outputs[0]].leaves;
  return CALM_OK;
}

/* Why a concat has to stay whatever its readers are, though it may have other
   operands.  A concat of one operand is a no-op. */
static const char *refuse_opening(const walk *w, op_id u, uint64_t parts,
                                  uint64_t leaves) {
  const graph_op *op = &w->f.g->ops.data[u];
  if (w->f.g->tensors.data[rewrite_output(op)].flags & CALM_TENSOR_OUTPUT)
    return "the concat is an output of the graph";
  if (op->input_count < 2) return "the concat has one operand";
  return refuse_many(w, parts, leaves);
}

/* Groups of operands that end here do not end without a concat. */
static void open_groups_of(walk *w, op_id u) {
  const graph_op *op = &w->f.g->ops.data[u];
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE) {
      const value *v = value_of(w, op->inputs[i]);
      if (v->source != CALM_NONE) open_group_if(w, v->source, true);
    }
}

static calm_status visit_concat(walk *w, op_id u) {
  const tensor_id out = rewrite_output(&w->f.g->ops.data[u]);
  const char *refusal = rewrite_refuse_concat(&w->f, u);
  uint64_t count;
  TRY(visit_nested(&count, w, u, refusal));
  if (out == CALM_NONE) return CALM_OK;
  const uint64_t leaves = count_leaves(w, u);
  if (!refusal) refusal = refuse_opening(w, u, count, leaves);
  w->values[out].source = u;
  w->values[out].leaves = leaves;
  w->values[out].refusal = refusal;
  if (!refusal) return list_parts(w, u, count);
  open_groups_of(w, u);
  return CALM_OK;
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
    w->values[t] = (value){.head = t, .source = CALM_NONE, .reader = CALM_NONE};
  for (op_id u = 0; u < g->ops.count; u++) w->root[u] = u;
  return CALM_OK;
}

/* A concat that nobody opens stays, even if nobody reads it. */
static void open_unread(walk *w) {
  const graph *g = w->f.g;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const value *v = &w->values[t];
    if (v->source != CALM_NONE && g->ops.data[v->source].kind == OP_concat)
      open_group_if(w, v->source, !v->opened);
  }
}

/* Groups get numbers in the order of their first sites.  A concat that has to
   stay has none. */
static calm_status number_groups(rewrite_sites *out, walk *w) {
  uint32_t *number;
  ARENA_ARRAY(&w->scratch, number, w->f.g->ops.count);
  ARENA_ARRAY(w->f.a, out->closed, out->count);
  open_unread(w);
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
