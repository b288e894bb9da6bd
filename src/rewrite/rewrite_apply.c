/*
 * The graph with some sites rewritten.  Three walks over the graph:
 *
 * 1. forwards: which sites act.  A site is nothing without the concat in front
 *    of it, which may be one that a site before it opens.
 * 2. any way: which of the concats are needed in one piece: by readers that do
 *    not act, or by the outside.  One that nobody opens stays as it is.
 * 3. forwards: what stands for each operator is made where it stood.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_work.h"

static const rewrite_site *site_at(const rewrite_maker *m, uint32_t i) {
  return &m->sites->sites[i];
}

static rewrite_fate *fate_of(const rewrite_maker *m, tensor_id t) {
  return &m->work->fates[m->work->fates[t].head];
}

/* ---- Which sites act ----------------------------------------------------- */

static calm_status index_sites(rewrite_maker *m) {
  rewrite_work *w = m->work;
  const uint32_t ops = m->g->ops.count;
  ARENA_ARRAY(m->a, w->site_begin, (size_t)ops + 2);
  ARENA_ARRAY(m->a, w->sites_by_op, m->sites->count);
  for (uint32_t i = 0; i < m->sites->count; i++)
    w->site_begin[site_at(m, i)->op + 2]++;
  for (uint32_t i = 2; i < ops + 2; i++)
    w->site_begin[i] += w->site_begin[i - 1];
  for (uint32_t i = 0; i < m->sites->count; i++)
    w->sites_by_op[w->site_begin[site_at(m, i)->op + 1]++] = i;
  return CALM_OK;
}

/* A taken site of a rule of its own acts unless another has one of its
   operators already. */
static calm_status cover(rewrite_maker *m, uint32_t i) {
  const rewrite_site *site = site_at(m, i);
  const rewrite_hooks *hooks = rewrite_hooks_of(site->rule);
  op_id alone = site->op, *covered = &alone;
  uint32_t count = 1;
  if (hooks->cover) TRY(hooks->cover(&covered, &count, m->g, site, m->a));
  for (uint32_t j = 0; j < count; j++)
    if (m->work->cover[covered[j]] != CALM_NONE) return CALM_OK;
  for (uint32_t j = 0; j < count; j++) m->work->cover[covered[j]] = i;
  m->work->acting[i] = true;
  return CALM_OK;
}

static calm_status cover_all(rewrite_maker *m, const bool *taken) {
  for (uint32_t i = 0; i < m->sites->count; i++)
    if (taken[i] && !site_at(m, i)->refusal &&
        site_at(m, i)->concat == CALM_NONE)
      TRY(cover(m, i));
  return CALM_OK;
}

/* Lay out the sites of an operator by the concats that they are at. */
static void turn_to(const rewrite_maker *m, op_id u) {
  rewrite_work *w = m->work;
  if (w->turned_to == u) return;
  w->turned_to = u;
  for (uint32_t i = w->site_begin[u]; i < w->site_begin[u + 1]; i++) {
    const uint32_t s = w->sites_by_op[i];
    if (site_at(m, s)->concat == CALM_NONE) continue;
    w->site_at[site_at(m, s)->concat] = s;
    w->reader[site_at(m, s)->concat] = u;
  }
}

/* The site at which an operator reads a tensor; CALM_NONE. */
static uint32_t find_site(const rewrite_maker *m, op_id u, tensor_id t) {
  if (t == CALM_NONE || fate_of(m, t)->source == CALM_NONE) return CALM_NONE;
  const op_id source = fate_of(m, t)->source;
  turn_to(m, u);
  return m->work->reader[source] == u ? m->work->site_at[source] : CALM_NONE;
}

static uint32_t acting_site(const rewrite_maker *m, op_id u, tensor_id t) {
  const uint32_t s = find_site(m, u, t);
  return s != CALM_NONE && m->work->acting[s] ? s : CALM_NONE;
}

/* Sites at concats: those whose operand is there in parts. */
static void decide_sites(rewrite_maker *m, op_id u, const bool *taken) {
  const graph_op *op = &m->g->ops.data[u];
  for (uint32_t i = 0; i < op->input_count; i++) {
    const uint32_t s = find_site(m, u, op->inputs[i]);
    if (s == CALM_NONE || site_at(m, s)->refusal || !taken[s]) continue;
    m->work->acting[s] = true;
    if (site_at(m, s)->rule != REWRITE_kernels) continue;
    rewrite_fate *y = fate_of(m, rewrite_output(op));
    y->source = u;
    y->concat = op->kind == OP_concat ? u : fate_of(m, op->inputs[i])->concat;
  }
}

/* Concats that some site could open. */
static calm_status mark_openable(bool **out, const rewrite_maker *m) {
  ARENA_ARRAY(m->a, *out, m->g->ops.count);
  for (uint32_t i = 0; i < m->sites->count; i++) {
    const rewrite_site *site = site_at(m, i);
    if (site->concat != CALM_NONE && !site->refusal &&
        m->g->ops.data[site->concat].kind == OP_concat)
      (*out)[site->concat] = true;
  }
  return CALM_OK;
}

static void open_concat(const rewrite_maker *m, op_id u) {
  rewrite_fate *y = fate_of(m, rewrite_output(&m->g->ops.data[u]));
  y->source = y->concat = u;
}

static calm_status decide(rewrite_maker *m, const bool *taken) {
  bool *openable;
  TRY(mark_openable(&openable, m));
  for (uint32_t i = 0; i < m->g->ops.count; i++) {
    const op_id u = m->g->order[i];
    const graph_op *op = &m->g->ops.data[u];
    const uint32_t c = m->work->cover[u];
    if (c != CALM_NONE && site_at(m, c)->rule == REWRITE_noops)
      m->work->fates[rewrite_output(op)].head =
          m->work->fates[rewrite_handed_on(m->g, u)].head;
    if (c != CALM_NONE) continue;
    decide_sites(m, u, taken);
    if (openable[u]) open_concat(m, u);
  }
  return CALM_OK;
}

/* ---- What is needed in one piece ----------------------------------------- */

static bool hands_on(const rewrite_maker *m, op_id u) {
  const uint32_t c = m->work->cover[u];
  return c != CALM_NONE && site_at(m, c)->rule == REWRITE_noops;
}

/* Is it parts of something else than a concat?  In one piece nobody knew it,
   if nobody reads it. */
static bool stands_for_concat(const rewrite_maker *m, tensor_id t) {
  const op_id source = m->work->fates[t].source;
  return source != CALM_NONE && m->g->ops.data[source].kind != OP_concat;
}

static calm_status decide_wholes(rewrite_maker *m) {
  const graph *g = m->g;
  bool *divided;
  ARENA_ARRAY(m->a, divided, g->tensors.count);
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    for (uint32_t i = 0; i < op->input_count && !hands_on(m, u); i++) {
      const tensor_id t = op->inputs[i];
      if (t == CALM_NONE) continue;
      if (acting_site(m, u, t) == CALM_NONE)
        fate_of(m, t)->whole = true;
      else
        divided[m->work->fates[t].head] = true;
    }
  }
  for (tensor_id t = 0; t < g->tensors.count; t++)
    m->work->fates[t].whole |=
        (g->tensors.data[t].flags & CALM_TENSOR_OUTPUT) ||
        (!divided[t] && !stands_for_concat(m, t));
  return CALM_OK;
}

/* ---- Making it ----------------------------------------------------------- */

static calm_status make_wholes(tensor_id *out, rewrite_maker *m,
                               const tensor_id *ids, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) TRY(rewrite_whole(&out[i], m, ids[i]));
  return CALM_OK;
}

/* Whoever an operator waits for is kept as well. */
static calm_status keep(rewrite_maker *m, op_id u) {
  const edit_op descent = {.from = u, .role = EDIT_KEEP, .activation = true};
  const graph_op *old = &m->g->ops.data[u];
  graph_op op = *old;
  ARENA_ARRAY(m->a, op.inputs, old->input_count);
  ARENA_ARRAY(m->a, op.outputs, old->output_count);
  ARENA_ARRAY(m->a, op.after, old->after_count);
  TRY(make_wholes(op.inputs, m, old->inputs, old->input_count));
  TRY(make_wholes(op.outputs, m, old->outputs, old->output_count));
  for (uint32_t i = 0; i < old->after_count; i++)
    op.after[i] = m->work->made_of[old->after[i]];
  m->work->made_of[u] = m->work->ops.count;
  return rewrite_make_op(m, &op, &descent);
}

/* The operands of a concat, those apart that are there in parts. */
static calm_status list_parts(rewrite_parts *out, rewrite_maker *m, op_id u) {
  const graph_op *op = &m->g->ops.data[u];
  rewrite_part *list;
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->input_count; i++)
    count += acting_site(m, u, op->inputs[i]) == CALM_NONE
                 ? 1
                 : fate_of(m, op->inputs[i])->parts.count;
  ARENA_ARRAY(m->a, list, count);
  *out = (rewrite_parts){list, count};
  for (uint32_t i = 0; i < op->input_count; i++) {
    const rewrite_parts *parts = &fate_of(m, op->inputs[i])->parts;
    if (acting_site(m, u, op->inputs[i]) == CALM_NONE) {
      TRY(rewrite_whole(&list->tensor, m, op->inputs[i]));
      list->channels =
          rewrite_channels(m->g, &m->g->tensors.data[op->inputs[i]]);
      list++;
    } else {
      memcpy(list, parts->list, parts->count * sizeof *list);
      list += parts->count;
    }
  }
  return CALM_OK;
}

/* "-1" and "3" are one axis of four; of another rank it is written anew. */
static calm_status set_axis(graph_op *op, rewrite_maker *m, op_id concat,
                            tensor_id y) {
  const graph *g = m->g;
  const tensor_id x = rewrite_output(&g->ops.data[concat]);
  const uint32_t rank = g->tensors.data[y].rank;
  if (rank == g->tensors.data[x].rank) return CALM_OK;
  for (uint32_t i = 0; i < op->attribute_count; i++) {
    if (strcmp(op->attributes[i].key, "axis")) continue;
    char *value;
    ARENA_ARRAY(m->a, value, 12);
    snprintf(value, 12, "%" PRIu32, rewrite_channel_axis(g, rank));
    op->attributes[i].value = value;
  }
  return CALM_OK;
}

/* Put some parts of an operator's output together, as `out`. */
static calm_status join_as(rewrite_maker *m, op_id u, const char *name,
                           const rewrite_parts *parts, tensor_id out) {
  const tensor_id y = rewrite_output(&m->g->ops.data[u]);
  const edit_op descent = {.from = fate_of(m, y)->concat, .role = EDIT_CONCAT};
  graph_op op;
  TRY(rewrite_imitate(&op, m, &m->g->ops.data[descent.from], NULL));
  TRY(set_axis(&op, m, descent.from, y));
  op.name = name;
  ARENA_ARRAY(m->a, op.inputs, (size_t)parts->count + 1);
  for (uint32_t i = 0; i < parts->count; i++)
    op.inputs[i] = parts->list[i].tensor;
  op.input_count = parts->count;
  op.outputs = op.inputs + parts->count;
  op.outputs[0] = out;
  op.output_count = 1;
  return rewrite_make_op(m, &op, &descent);
}

/* Neighbouring parts become one. */
static calm_status join_some(rewrite_part *out, rewrite_maker *m, op_id u,
                             const rewrite_parts *some, uint32_t number) {
  const tensor_id y = rewrite_output(&m->g->ops.data[u]);
  const edit_tensor descent = {.from = y, .contents = EDIT_MADE};
  graph_tensor t = m->g->tensors.data[y];
  rewrite_part made = {0};
  const char *name;
  for (uint32_t i = 0; i < some->count; i++)
    made.channels += some->list[i].channels;
  t.flags = 0;
  TRY(rewrite_name(&t.name, m, t.name, "c", number));
  TRY(rewrite_name(&name, m, m->g->ops.data[u].name, "c", number));
  TRY(rewrite_resize(&t, m, rewrite_channel_axis(m->g, t.rank), made.channels));
  TRY(rewrite_make_tensor(&made.tensor, m, &t, &descent));
  *out = made;
  return join_as(m, u, name, some, made.tensor);
}

/* As many as a concat can have: runs of them are joined first. */
static calm_status join_runs(rewrite_parts *io, rewrite_maker *m, op_id u) {
  const uint32_t most = m->sites->options.most_operands;
  uint32_t number = 0;
  while (most > 1 && io->count > most) {
    rewrite_part *list;
    uint32_t count = 0;
    ARENA_ARRAY(m->a, list, (size_t)io->count / most + 1);
    for (uint32_t i = 0; i < io->count; i += most) {
      const uint32_t left = io->count - i;
      const rewrite_parts run = {io->list + i, left < most ? left : most};
      if (run.count == 1)
        list[count++] = run.list[0];
      else
        TRY(join_some(&list[count++], m, u, &run, ++number));
    }
    *io = (rewrite_parts){list, count};
  }
  return CALM_OK;
}

/* Put the parts of an operator's output together. */
static calm_status join(rewrite_maker *m, op_id u, const rewrite_parts *parts) {
  rewrite_parts some = *parts;
  tensor_id whole;
  TRY(join_runs(&some, m, u));
  TRY(rewrite_whole(&whole, m, rewrite_output(&m->g->ops.data[u])));
  return join_as(m, u, m->g->ops.data[u].name, &some, whole);
}

static bool is_divided(const rewrite_maker *m, op_id u) {
  const graph_op *op = &m->g->ops.data[u];
  for (uint32_t i = 0; i < op->input_count; i++)
    if (acting_site(m, u, op->inputs[i]) != CALM_NONE) return true;
  return false;
}

static calm_status make_concat(rewrite_maker *m, op_id u) {
  const bool flattened = is_divided(m, u);
  if (rewrite_output(&m->g->ops.data[u]) == CALM_NONE) return keep(m, u);
  rewrite_fate *fate = fate_of(m, rewrite_output(&m->g->ops.data[u]));
  rewrite_parts parts;
  if (!flattened && fate->source == CALM_NONE) return keep(m, u);
  TRY(list_parts(&parts, m, u));
  fate->parts = parts;
  if (!fate->whole) return CALM_OK;
  return flattened ? join(m, u, &parts) : keep(m, u);
}

static calm_status make_divided(rewrite_maker *m, op_id u) {
  const graph_op *op = &m->g->ops.data[u];
  rewrite_spot spot = {.u = u};
  rewrite_parts parts;
  while (acting_site(m, u, op->inputs[spot.slot]) == CALM_NONE) spot.slot++;
  const uint32_t site = acting_site(m, u, op->inputs[spot.slot]);
  spot.parts = fate_of(m, op->inputs[spot.slot])->parts;
  TRY(rewrite_hooks_of(site_at(m, site)->rule)->divide(&parts, m, &spot));
  if (parts.count == 0) return CALM_OK;
  rewrite_fate *fate = fate_of(m, rewrite_output(op));
  fate->parts = parts;
  return fate->whole ? join(m, u, &parts) : CALM_OK;
}

static calm_status make_covered(rewrite_maker *m, op_id u) {
  const rewrite_site *site = site_at(m, m->work->cover[u]);
  const rewrite_hooks *hooks = rewrite_hooks_of(site->rule);
  return hooks->make && site->op == u ? hooks->make(m, site) : CALM_OK;
}

static calm_status make(rewrite_maker *m, op_id u) {
  if (m->work->cover[u] != CALM_NONE) return make_covered(m, u);
  if (m->g->ops.data[u].kind == OP_concat) return make_concat(m, u);
  return is_divided(m, u) ? make_divided(m, u) : keep(m, u);
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status prepare(rewrite_maker *m) {
  rewrite_work *w = m->work;
  ARENA_ARRAY(m->a, w->fates, m->g->tensors.count);
  ARENA_ARRAY(m->a, w->acting, m->sites->count);
  ARENA_ARRAY(m->a, w->site_at, m->g->ops.count);
  ARENA_ARRAY(m->a, w->reader, m->g->ops.count);
  ARENA_ARRAY(m->a, w->cover, m->g->ops.count);
  ARENA_ARRAY(m->a, w->made_of, m->g->ops.count);
  for (tensor_id t = 0; t < m->g->tensors.count; t++)
    w->fates[t] = (rewrite_fate){
        .head = t, .source = CALM_NONE, .made = CALM_NONE, .slices = CALM_NONE};
  for (op_id u = 0; u < m->g->ops.count; u++)
    w->cover[u] = w->made_of[u] = w->reader[u] = CALM_NONE;
  w->turned_to = CALM_NONE;
  return index_sites(m);
}

static calm_status rewrite(graph_edit *edit, rewrite_maker *m,
                           const bool *taken) {
  TRY(prepare(m));
  TRY(cover_all(m, taken));
  TRY(decide(m, taken));
  TRY(decide_wholes(m));
  for (uint32_t i = 0; i < m->g->ops.count; i++) TRY(make(m, m->g->order[i]));
  return rewrite_settle(edit, m);
}

calm_status rewrite_apply(graph_edit *out, const rewrite_sites *sites,
                          const bool *taken, arena *a) {
  rewrite_work work = {0};
  rewrite_maker m = {sites->g, sites, a, &work};
  graph_edit edit;
  graph_edit_init(&edit, sites->g, a);
  const calm_status status = rewrite(&edit, &m, taken);
  VECTOR_FREE(a->context, &work.tensors);
  VECTOR_FREE(a->context, &work.ops);
  if (status == CALM_OK)
    *out = edit;
  else
    graph_edit_free(&edit);
  return status;
}
