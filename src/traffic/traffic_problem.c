/* From a sequence to visits, and what a step needs while it runs. */
#include "traffic/traffic_problem.h"

#include <assert.h>
#include <inttypes.h>

#include "base/number.h"

typedef struct builder {
  traffic_run run;
  const order_problem *o;
  const uint32_t *sequence;
  uint64_t page_bytes;
  uint32_t *visited; /* per buffer: touches up to the step being built */
  arena *a;
} builder;

/* ---- Whole pages --------------------------------------------------------- */

static calm_status fail_total(calm_context *context) {
  return context_fail(context, CALM_BAD_INPUT,
                      "in whole pages, all buffers and workspaces together "
                      "exceed %" PRIu64 " bytes",
                      (uint64_t)NUMBER_MAX_BYTES);
}

/* The bytes of the pages that hold so many, false if they are too many. */
static bool pad(uint64_t *out, const builder *b, uint64_t bytes) {
  const uint64_t page = b->page_bytes;
  *out = bytes;
  return page == 0 ||
         number_multiply(out, bytes / page + (bytes % page > 0), page);
}

/* The bytes of the pages that so many fill. */
static uint64_t cut(const builder *b, uint64_t bytes) {
  return b->page_bytes ? bytes - bytes % b->page_bytes : bytes;
}

/* Whoever comes after adds up without looking. */
static calm_status pad_buffers(builder *b) {
  uint64_t total = 0, workspace;
  ARENA_ARRAY(b->a, b->run.bytes, b->o->buffer_count);
  for (uint32_t i = 0; i < b->o->buffer_count; i++)
    if (!pad(&b->run.bytes[i], b, b->o->buffers[i].bytes) ||
        !number_add(&total, total, b->run.bytes[i]))
      return fail_total(b->a->context);
  for (uint32_t u = 0; u < b->o->op_count; u++)
    if (!pad(&workspace, b, b->o->workspace[u]) ||
        !number_add(&total, total, workspace))
      return fail_total(b->a->context);
  return CALM_OK;
}

/* ---- What a step needs --------------------------------------------------- */

/* Its input dies here and its output begins here, as order.h has it. */
static bool holds(const builder *b, const order_reuse *reuse) {
  const uint32_t *begin = b->o->touch_begin;
  const uint32_t in = reuse->input, out = reuse->output;
  return b->visited[in] == begin[in + 1] - begin[in] &&
         !b->o->buffers[in].pinned_end && b->visited[out] == 1 &&
         !b->o->buffers[out].pinned_start;
}

/*
 * What a permission leaves to be had: `need` less the overlap.  Where one
 * buffer lies in the other altogether, so do its pages; otherwise only the
 * pages are saved that the overlap fills.
 */
static uint64_t reduce(const builder *b, const order_reuse *reuse,
                       uint64_t touched, uint64_t workspace) {
  const uint64_t smaller = number_smaller(b->o->buffers[reuse->input].bytes,
                                          b->o->buffers[reuse->output].bytes);
  const uint64_t overlap = number_smaller(reuse->bytes, smaller);
  const uint64_t spared = number_smaller(reuse->bytes - overlap, workspace);
  uint64_t saved, needed;
  if (overlap == smaller)
    (void)pad(&saved, b, overlap);
  else
    saved = cut(b, overlap);
  (void)pad(&needed, b, workspace - spared);
  return touched + needed - saved;
}

static uint64_t need(const builder *b, uint32_t u) {
  const order_problem *o = b->o;
  uint64_t touched = 0, least;
  for (uint32_t i = o->uses_begin[u]; i < o->uses_begin[u + 1]; i++)
    touched += b->run.bytes[o->uses[i]];
  (void)pad(&least, b, o->workspace[u]);
  least += touched;
  for (uint32_t i = o->reuse_begin[u]; i < o->reuse_begin[u + 1]; i++)
    if (holds(b, &o->reuses[i]))
      least = number_smaller(
          least, reduce(b, &o->reuses[i], touched, o->workspace[u]));
  return least;
}

/* ---- Visits -------------------------------------------------------------- */

/* Where operator u stands among the touchers of a buffer. */
static uint32_t find_entry(const order_problem *o, uint32_t buffer,
                           uint32_t u) {
  uint32_t low = o->touch_begin[buffer], high = o->touch_begin[buffer + 1];
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (o->touch[middle] <= u)
      low = middle;
    else
      high = middle;
  }
  assert(o->touch[low] == u);
  return low;
}

static uint32_t visit(builder *b, uint32_t buffer, uint32_t step) {
  const order_problem *o = b->o;
  const uint32_t entry = find_entry(o, buffer, b->sequence[step]);
  const bool first = b->visited[buffer] == 0;
  const uint32_t v = o->touch_begin[buffer] + b->visited[buffer]++;
  b->run.visits[v] =
      (traffic_visit){.buffer = buffer,
                      .step = step,
                      .entry = entry,
                      .first = first,
                      .last = v + 1 == o->touch_begin[buffer + 1],
                      .writes = b->run.p->writes[entry] ||
                                (first && !o->buffers[buffer].pinned_start)};
  return v;
}

static void mark_last_writer(builder *b, uint32_t buffer) {
  const uint32_t *begin = &b->o->touch_begin[buffer];
  for (uint32_t v = begin[1]; v-- > begin[0];)
    if (b->run.visits[v].writes) {
      b->run.visits[v].writes_output = true;
      return;
    }
}

static calm_status walk(builder *b) {
  const order_problem *o = b->o;
  uint32_t filled = 0;
  for (uint32_t s = 0; s < o->op_count; s++) {
    const uint32_t u = b->sequence[s];
    for (uint32_t i = o->uses_begin[u]; i < o->uses_begin[u + 1]; i++)
      b->run.step_visits[filled++] = visit(b, o->uses[i], s);
    b->run.step_begin[s + 1] = filled;
    b->run.need_bytes[s] = need(b, u);
  }
  for (uint32_t i = 0; i < o->buffer_count; i++)
    if (o->buffers[i].pinned_end) mark_last_writer(b, i);
  return CALM_OK;
}

calm_status traffic_run_build(traffic_run *out, const traffic_problem *p,
                              const uint32_t *sequence,
                              const traffic_memory *memory, arena *a) {
  const order_problem *o = p->order;
  const uint32_t touches = o->touch_begin[o->buffer_count];
  builder b = {.run = {.p = p},
               .o = o,
               .sequence = sequence,
               .page_bytes = memory->page_bytes,
               .a = a};
  b.run.memory_bytes = cut(&b, memory->bytes);
  TRY(pad_buffers(&b));
  ARENA_ARRAY(a, b.visited, o->buffer_count);
  ARENA_ARRAY(a, b.run.visits, touches);
  ARENA_ARRAY(a, b.run.step_visits, touches);
  ARENA_ARRAY(a, b.run.step_begin, (size_t)o->op_count + 1);
  ARENA_ARRAY(a, b.run.need_bytes, o->op_count);
  TRY(walk(&b));
  *out = b.run;
  return CALM_OK;
}
