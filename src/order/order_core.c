#include "order/order_core.h"

#include <assert.h>

#include "base/bits.h"
#include "base/number.h"
#include "base/random.h"

/* Buffers that span more operators than this keep touchers that a direct edge
   does not rule out; superfluous ones cost time, never correctness. */
#if CALM_HOSTILE
enum { LONGEST_WINDOW = 0 };
#else
enum { LONGEST_WINDOW = 1024 };
#endif

/* What building needs and the core does not. */
typedef struct builder {
  const order_problem *p;
  order_core *core;
  arena *scratch;
  bool *touched;     /* per operator: touches the buffer at hand */
  bool *beyond;      /* per operator: another toucher comes before / after */
  uint32_t *span_of; /* buffer -> span, CALM_NONE if it costs nothing */
  uint32_t *first_begin, *firsts; /* span -> touchers that can be the first */
  uint32_t *last_begin, *lasts;   /* span -> touchers that can be the last */
  uint32_t *birth_of; /* span -> row of births, CALM_NONE: born with one */
  uint32_t *death_of; /* span -> row of deaths, CALM_NONE: pinned */
  const order_reuse **spared_first; /* group of births -> the first permission
                                       that spares workspace */
  uint32_t *spared_over; /* buffer -> operators that are spared workspace by
                            writing over it */
} builder;

uint64_t order_core_unit(const order_problem *p) {
  uint64_t unit = 0;
  for (uint32_t b = 0; b < p->buffer_count; b++)
    unit = number_gcd(unit, p->buffers[b].bytes);
  for (uint32_t u = 0; u < p->op_count; u++)
    unit = number_gcd(unit, p->workspace[u]);
  for (uint32_t r = 0; r < p->reuse_count; r++)
    unit = number_gcd(unit, p->reuses[r].bytes);
  return unit ? unit : 1;
}

/* ---- First and last touchers --------------------------------------------- */

/* Rows of neighbours: what is before an operator, or after it. */
typedef struct neighbours {
  const uint32_t *begin, *ops;
} neighbours;

/* Does u touch the buffer, or come beyond an operator that does? */
static bool is_beyond(const builder *k, uint32_t u, const neighbours *before,
                      uint32_t from, uint32_t to) {
  for (uint32_t i = before->begin[u]; i < before->begin[u + 1]; i++) {
    const uint32_t v = before->ops[i];
    if (v >= from && v <= to && (k->touched[v] || k->beyond[v])) return true;
  }
  return false;
}

/* Exactly, by a walk over all operators between the first toucher and the last
   one, against the direction of `before`. */
static void find_beyond(builder *k, const uint32_t *t, uint32_t count,
                        const neighbours *before, bool ascending) {
  const uint32_t from = t[0], to = t[count - 1];
  for (uint32_t i = 0; i <= to - from; i++) {
    const uint32_t u = ascending ? from + i : to - i;
    k->beyond[u] = is_beyond(k, u, before, from, to);
  }
}

static uint64_t count_edges(const neighbours *n, const uint32_t *t,
                            uint32_t count) {
  uint64_t edges = 0;
  for (uint32_t i = 0; i < count; i++)
    edges += n->begin[t[i] + 1] - n->begin[t[i]];
  return edges;
}

/* By direct edges between touchers alone, seen from the side that has fewer of
   them: one operator with thousands of operands touches thousands of buffers.
 */
static void find_directly_beyond(builder *k, const uint32_t *t, uint32_t count,
                                 const neighbours *before,
                                 const neighbours *after) {
  const bool back =
      count_edges(before, t, count) <= count_edges(after, t, count);
  const neighbours *n = back ? before : after;
  for (uint32_t i = 0; i < count; i++) k->beyond[t[i]] = false;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = n->begin[t[i]]; j < n->begin[t[i] + 1]; j++)
      if (k->touched[n->ops[j]]) k->beyond[back ? t[i] : n->ops[j]] = true;
}

/* Keep in `out` the touchers without a toucher before them; with the rows the
   other way round, those without one after them. */
static uint32_t keep_ends(builder *k, const uint32_t *t, uint32_t count,
                          bool first, uint32_t *out) {
  const neighbours preds = {k->p->pred_begin, k->p->preds};
  const neighbours succs = {k->p->succ_begin, k->p->succs};
  const neighbours *before = first ? &preds : &succs;
  uint32_t kept = 0;
  if (t[count - 1] - t[0] > LONGEST_WINDOW)
    find_directly_beyond(k, t, count, before, first ? &succs : &preds);
  else if (count > 1)
    find_beyond(k, t, count, before, first);
  else
    k->beyond[t[0]] = false;
  for (uint32_t i = 0; i < count; i++)
    if (!k->beyond[t[i]]) out[kept++] = t[i];
  assert(kept > 0);
  return kept;
}

/* The span of one buffer that has bytes and touchers. */
static void add_span(builder *k, uint32_t b) {
  const order_problem *p = k->p;
  order_core *c = k->core;
  const uint32_t s = c->span_count++;
  const uint32_t *t = p->touch + p->touch_begin[b];
  const uint32_t count = p->touch_begin[b + 1] - p->touch_begin[b];
  const order_buffer *buffer = &p->buffers[b];
  for (uint32_t i = 0; i < count; i++) k->touched[t[i]] = true;
  uint32_t first = 0, last = 0;
  if (!buffer->pinned_start)
    first = keep_ends(k, t, count, true, k->firsts + k->first_begin[s]);
  if (!buffer->pinned_end)
    last = keep_ends(k, t, count, false, k->lasts + k->last_begin[s]);
  for (uint32_t i = 0; i < count; i++) k->touched[t[i]] = false;
  k->first_begin[s + 1] = k->first_begin[s] + first;
  k->last_begin[s + 1] = k->last_begin[s] + last;
  c->spans[s] = (order_span){buffer->bytes / c->unit, CALM_NONE, CALM_NONE};
  c->span_of[b] = s;
}

/* Buffers pinned on both sides are a constant; a buffer that nobody touches is
   live only if it is one of those. */
static void add_buffer(builder *k, uint32_t b) {
  const order_buffer *buffer = &k->p->buffers[b];
  const uint64_t bytes = buffer->bytes / k->core->unit;
  const bool touched = k->p->touch_begin[b] < k->p->touch_begin[b + 1];
  const bool constant = buffer->pinned_start && buffer->pinned_end;
  k->core->span_of[b] = CALM_NONE;
  if (buffer->pinned_start && (touched || constant))
    k->core->start_bytes += bytes;
  if (buffer->pinned_end && (touched || constant)) k->core->end_bytes += bytes;
  if (constant) k->core->fixed_bytes += bytes;
  if (bytes > 0 && touched && !constant) add_span(k, b);
}

static calm_status find_spans(builder *k, arena *a) {
  const order_problem *p = k->p;
  order_core *c = k->core;
  const uint32_t touches = p->touch_begin[p->buffer_count];
  ARENA_ARRAY(k->scratch, k->touched, c->op_count);
  ARENA_ARRAY(k->scratch, k->beyond, c->op_count);
  ARENA_ARRAY(a, c->span_of, p->buffer_count);
  ARENA_ARRAY(a, c->spans, p->buffer_count);
  ARENA_ARRAY(k->scratch, k->first_begin, p->buffer_count + 1);
  ARENA_ARRAY(k->scratch, k->last_begin, p->buffer_count + 1);
  ARENA_ARRAY(k->scratch, k->firsts, touches);
  ARENA_ARRAY(k->scratch, k->lasts, touches);
  for (uint32_t b = 0; b < p->buffer_count; b++) add_buffer(k, b);
  return CALM_OK;
}

/* ---- Groups -------------------------------------------------------------- */

/* Grouping in progress: groups with the same lowest operator form a chain, in
   which an equal row is looked for. */
typedef struct grouping {
  order_groups g;
  uint32_t *newest, *older; /* by operator; by group */
} grouping;

static uint32_t find_group(const grouping *k, const uint32_t *row,
                           uint32_t length) {
  uint32_t i = k->newest[row[0]];
  while (i != CALM_NONE &&
         (k->g.begin[i + 1] - k->g.begin[i] != length ||
          memcmp(k->g.ops + k->g.begin[i], row, length * sizeof *row) != 0))
    i = k->older[i];
  return i;
}

static uint32_t add_group(grouping *k, const uint32_t *row, uint32_t length) {
  const uint32_t i = k->g.count++;
  k->older[i] = k->newest[row[0]];
  k->newest[row[0]] = i;
  memcpy(k->g.ops + k->g.begin[i], row, length * sizeof *row);
  k->g.begin[i + 1] = k->g.begin[i] + length;
  return i;
}

static calm_status reserve_groups(grouping *k, uint32_t op_count, uint32_t rows,
                                  uint32_t entries, arena *scratch, arena *a) {
  ARENA_ARRAY(scratch, k->newest, op_count);
  ARENA_ARRAY(scratch, k->older, rows);
  ARENA_ARRAY(a, k->g.bytes, rows);
  ARENA_ARRAY(a, k->g.begin, rows + 1);
  ARENA_ARRAY(a, k->g.ops, entries);
  memset(k->newest, 0xff, op_count * sizeof *k->newest);
  return CALM_OK;
}

/* Merge equal rows of spans; rows shorter than `least` are in no group. */
static calm_status group_rows(order_groups *out, uint32_t **out_group_of,
                              const builder *b, const uint32_t *row_begin,
                              const uint32_t *rows, uint32_t least, arena *a) {
  const order_core *c = b->core;
  grouping k = {0};
  uint32_t *group_of;
  ARENA_ARRAY(b->scratch, group_of, c->span_count);
  TRY(reserve_groups(&k, c->op_count, c->span_count, row_begin[c->span_count],
                     b->scratch, a));
  for (uint32_t s = 0; s < c->span_count; s++) {
    const uint32_t length = row_begin[s + 1] - row_begin[s];
    const uint32_t *row = rows + row_begin[s];
    group_of[s] = CALM_NONE;
    if (length < least) continue;
    group_of[s] = find_group(&k, row, length);
    if (group_of[s] == CALM_NONE) group_of[s] = add_group(&k, row, length);
    k.g.bytes[group_of[s]] += c->spans[s].bytes;
  }
  *out = k.g;
  *out_group_of = group_of;
  return CALM_OK;
}

static calm_status index_groups(order_groups *g, uint32_t op_count, arena *a) {
  ARENA_ARRAY(a, g->of_begin, op_count + 2);
  ARENA_ARRAY(a, g->of, g->begin[g->count]);
  for (uint32_t i = 0; i < g->begin[g->count]; i++)
    g->of_begin[g->ops[i] + 2]++;
  for (uint32_t u = 2; u < op_count + 2; u++)
    g->of_begin[u] += g->of_begin[u - 1];
  for (uint32_t r = 0; r < g->count; r++)
    for (uint32_t i = g->begin[r]; i < g->begin[r + 1]; i++)
      g->of[g->of_begin[g->ops[i] + 1]++] = r;
  return CALM_OK;
}

/* The nodes between which a span is live. */
static void find_ends(builder *k, uint32_t s) {
  order_core *c = k->core;
  const uint32_t *first = k->firsts + k->first_begin[s];
  const uint32_t *last = k->lasts + k->last_begin[s];
  const uint32_t first_count = k->first_begin[s + 1] - k->first_begin[s];
  const uint32_t last_count = k->last_begin[s + 1] - k->last_begin[s];
  if (first_count == 1) {
    c->spans[s].birth = first[0];
    c->born[first[0]] += c->spans[s].bytes;
  } else if (first_count > 1) {
    c->spans[s].birth = c->op_count + k->birth_of[s];
  }
  if (last_count == 1)
    c->spans[s].death = last[0];
  else if (last_count > 1)
    c->spans[s].death = c->op_count + c->births.count + k->death_of[s];
}

static calm_status find_groups(builder *k, arena *a) {
  order_core *c = k->core;
  ARENA_ARRAY(a, c->born, c->op_count);
  TRY(group_rows(&c->births, &k->birth_of, k, k->first_begin, k->firsts, 2, a));
  TRY(group_rows(&c->deaths, &k->death_of, k, k->last_begin, k->lasts, 1, a));
  TRY(index_groups(&c->births, c->op_count, a));
  TRY(index_groups(&c->deaths, c->op_count, a));
  for (uint32_t s = 0; s < c->span_count; s++) find_ends(k, s);
  return CALM_OK;
}

/* ---- Operators ----------------------------------------------------------- */

static bool row_has(const uint32_t *begin, const uint32_t *rows, uint32_t row,
                    uint32_t op) {
  for (uint32_t i = begin[row]; i < begin[row + 1]; i++)
    if (rows[i] == op) return true;
  return false;
}

static bool same_rows(const uint32_t *begin, const uint32_t *rows, uint32_t a,
                      uint32_t b) {
  const uint32_t count = begin[a + 1] - begin[a];
  return count == begin[b + 1] - begin[b] &&
         (count == 0 ||
          !memcmp(rows + begin[a], rows + begin[b], count * sizeof *rows));
}

/* Two operators that touch nothing but buffers of the same size, one to be
   overwritten and the one to begin, and that the same operators wait for. */
static bool are_alike(const order_problem *p, const order_reuse *a,
                      const order_reuse *b) {
  return a->output == b->output && a->bytes == b->bytes &&
         p->buffers[a->input].bytes == p->buffers[a->output].bytes &&
         p->buffers[b->input].bytes == p->buffers[b->output].bytes &&
         p->workspace[a->op] == p->workspace[b->op] &&
         p->uses_begin[a->op + 1] - p->uses_begin[a->op] == 2 &&
         p->uses_begin[b->op + 1] - p->uses_begin[b->op] == 2 &&
         same_rows(p->succ_begin, p->succs, a->op, b->op);
}

static bool spares(const order_problem *p, const order_reuse *r) {
  return r->bytes > p->buffers[r->output].bytes;
}

/* How many operators each buffer spares workspace. */
static void count_spared(builder *k) {
  const order_problem *p = k->p;
  for (uint32_t r = 0; r < p->reuse_count; r++)
    if (spares(p, &p->reuses[r])) k->spared_over[p->reuses[r].input]++;
}

/* What always begins with the same operator can be begun by no other. */
static void note_spared(builder *k, uint32_t birth, const order_reuse *reuse,
                        uint64_t workspace) {
  order_core *c = k->core;
  if (birth == CALM_NONE || workspace == 0) return;
  if (c->spared[birth] == 0) {
    k->spared_first[birth] = reuse;
    c->alike[birth] = true;
  }
  if (k->spared_over[reuse->input] > 1 ||
      !are_alike(k->p, k->spared_first[birth], reuse))
    c->alike[birth] = false;
  c->spared[birth] = number_larger(c->spared[birth], workspace);
  c->any_spared = true;
}

/* A permission holds in no state at all if the operator never is the last
   toucher of its input, or never the first of its output. */
static void add_permission(builder *k, uint32_t r, uint32_t *count) {
  order_core *c = k->core;
  const order_reuse *reuse = &k->p->reuses[r];
  const uint32_t input = c->span_of[reuse->input];
  const uint32_t output = c->span_of[reuse->output];
  assert(reuse->input != reuse->output);
  if (reuse->bytes == 0 || input == CALM_NONE || output == CALM_NONE) return;
  if (!row_has(k->last_begin, k->lasts, input, reuse->op)) return;
  if (!row_has(k->first_begin, k->firsts, output, reuse->op)) return;
  const uint64_t bytes = reuse->bytes / c->unit;
  assert(reuse->bytes <=
         k->p->workspace[reuse->op] +
             number_smaller(k->p->buffers[reuse->input].bytes,
                            k->p->buffers[reuse->output].bytes));
  const uint64_t begun = c->spans[output].bytes;
  const uint64_t spared = bytes > begun ? bytes - begun : 0;
  c->permissions[(*count)++] = (order_permission){
      reuse->op, k->death_of[input], k->birth_of[output], bytes, spared};
  note_spared(k, k->birth_of[output], reuse, spared);
  c->permission_begin[reuse->op + 1] = *count;
  if (bytes > c->reuse[reuse->op]) c->reuse[reuse->op] = bytes;
}

static calm_status find_permissions(builder *k, arena *a) {
  order_core *c = k->core;
  uint32_t count = 0;
  ARENA_ARRAY(a, c->permissions, k->p->reuse_count);
  ARENA_ARRAY(a, c->permission_begin, c->op_count + 1);
  ARENA_ARRAY(a, c->reuse, c->op_count);
  ARENA_ARRAY(a, c->spared, c->births.count);
  ARENA_ARRAY(a, c->alike, c->births.count);
  ARENA_ARRAY(k->scratch, k->spared_first, c->births.count);
  ARENA_ARRAY(k->scratch, k->spared_over, k->p->buffer_count);
  count_spared(k);
  for (uint32_t r = 0; r < k->p->reuse_count; r++) add_permission(k, r, &count);
  for (uint32_t u = 0; u < c->op_count; u++)
    if (c->permission_begin[u + 1] < c->permission_begin[u])
      c->permission_begin[u + 1] = c->permission_begin[u];
  c->plain = count == 0;
  return CALM_OK;
}

static uint32_t last_successor(const order_core *c, uint32_t u) {
  const uint32_t end = c->succ_begin[u + 1];
  return c->succ_begin[u] < end ? c->succs[end - 1] : u;
}

static calm_status describe_ops(builder *k, uint64_t seed, arena *a) {
  order_core *c = k->core;
  random_state r = random_from_seed(seed);
  ARENA_ARRAY(a, c->workspace, c->op_count);
  ARENA_ARRAY(a, c->reach, c->op_count);
  ARENA_ARRAY(a, c->key, c->op_count);
  ARENA_ARRAY(a, c->eventful, c->words);
  for (uint32_t u = 0; u < c->op_count; u++) {
    c->workspace[u] = k->p->workspace[u] / c->unit;
    if (c->workspace[u]) c->plain = false;
    c->reach[u] = last_successor(c, u);
    if (c->pred_begin[u] == c->pred_begin[u + 1]) c->last_source = u;
#if !CALM_HOSTILE
    c->key[u] = random_next(&r);
#endif
    if (c->workspace[u] || c->deaths.of_begin[u] < c->deaths.of_begin[u + 1])
      bits_add(c->eventful, u);
  }
  (void)r;
  return CALM_OK;
}

static calm_status build(builder *k, uint64_t seed, arena *a) {
  TRY(find_spans(k, a));
  TRY(find_groups(k, a));
  TRY(find_permissions(k, a));
  return describe_ops(k, seed, a);
}

calm_status order_core_build(order_core *out, const order_problem *p,
                             uint64_t unit, uint64_t seed, arena *a) {
  order_core core = {.problem = p,
                     .op_count = p->op_count,
                     .words = bits_words(p->op_count),
                     .pred_begin = p->pred_begin,
                     .preds = p->preds,
                     .succ_begin = p->succ_begin,
                     .succs = p->succs,
                     .unit = unit};
  arena scratch;
  arena_init(&scratch, a->context);
  builder k = {.p = p, .core = &core, .scratch = &scratch};
  const calm_status status = build(&k, seed, a);
  arena_free(&scratch);
  if (status == CALM_OK) *out = core;
  return status;
}
