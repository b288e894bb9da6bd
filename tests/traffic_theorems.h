/*
 * What is true of Belady's rule and of accounts for any problem, sequence and
 * memory.  For the tests and the fuzz target.
 */
#ifndef CALM_TESTS_TRAFFIC_THEOREMS_H
#define CALM_TESTS_TRAFFIC_THEOREMS_H

#include "traffic_random.h"

static inline bool traffic_same_amount(const traffic_amount *a,
                                       const traffic_amount *b) {
  return a->input_bytes == b->input_bytes &&
         a->weight_bytes == b->weight_bytes &&
         a->output_bytes == b->output_bytes &&
         a->spill_read_bytes == b->spill_read_bytes &&
         a->spill_write_bytes == b->spill_write_bytes;
}

static inline bool traffic_same_result(const traffic_result *a,
                                       const traffic_result *b,
                                       const order_problem *o) {
  bool same = traffic_same_amount(&a->total, &b->total) &&
              a->used_bytes == b->used_bytes;
  for (uint32_t i = 0; i < o->touch_begin[o->buffer_count]; i++)
    same = same && a->kept_bytes[i] == b->kept_bytes[i];
  for (uint32_t s = 0; s < o->op_count; s++)
    same = same && a->streams[s] == b->streams[s] &&
           traffic_same_amount(&a->steps[s], &b->steps[s]);
  for (uint32_t b_ = 0; b_ < o->buffer_count; b_++)
    same = same && traffic_same_amount(&a->buffers[b_], &b->buffers[b_]);
  return same;
}

/* Compulsory bytes from the problem alone: no order changes them. */
static inline traffic_amount traffic_compulsory(const traffic_problem *p,
                                                uint64_t page) {
  const order_problem *o = p->order;
  traffic_amount sum = {0};
  if (page == 0) page = 1;
  for (uint32_t u = 0; u < o->op_count; u++)
    sum.weight_bytes += p->weight_bytes[u];
  for (uint32_t b = 0; b < o->buffer_count; b++) {
    const order_buffer *buffer = &o->buffers[b];
    const uint64_t bytes = (buffer->bytes + page - 1) / page * page;
    bool written = !buffer->pinned_start;
    for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
      written = written || p->writes[i];
    if (o->touch_begin[b] == o->touch_begin[b + 1]) continue;
    if (buffer->pinned_start) sum.input_bytes += bytes;
    if (buffer->pinned_end && written) sum.output_bytes += bytes;
  }
  return sum;
}

static inline bool traffic_streams_alike(const traffic_result *a,
                                         const traffic_result *b,
                                         uint32_t steps) {
  for (uint32_t s = 0; s < steps; s++)
    if (a->streams[s] != b->streams[s]) return false;
  return true;
}

/* The same problem with its buffers numbered backwards. */
static inline bool traffic_renamed(traffic_case *out, const traffic_case *c,
                                   arena *a) {
  const order_problem *o = &c->order;
  const uint32_t n = o->buffer_count, touches = o->touch_begin[n];
  order_problem p = *o;
  p.buffers = arena_calloc(a, n, sizeof *p.buffers);
  p.touch_begin = arena_calloc(a, n + 1, sizeof *p.touch_begin);
  p.touch = arena_calloc(a, touches, sizeof *p.touch);
  p.reuses = arena_calloc(a, o->reuse_count, sizeof *p.reuses);
  bool *writes = arena_calloc(a, touches, sizeof *writes);
  if (!p.buffers || !p.touch_begin || !p.touch || !p.reuses || !writes)
    return false;
  for (uint32_t b = 0, filled = 0; b < n; b++) {
    const uint32_t old = n - 1 - b;
    p.buffers[b] = o->buffers[old];
    for (uint32_t i = o->touch_begin[old]; i < o->touch_begin[old + 1]; i++) {
      writes[filled] = c->problem.writes[i];
      p.touch[filled++] = o->touch[i];
    }
    p.touch_begin[b + 1] = filled;
  }
  for (uint32_t i = 0; i < o->reuse_count; i++) {
    const order_reuse *r = &o->reuses[i];
    p.reuses[i] =
        (order_reuse){r->op, n - 1 - r->input, n - 1 - r->output, r->bytes};
  }
  *out = *c;
  out->order = p;
  out->problem.order = &out->order;
  out->problem.writes = writes;
  return order_problem_finish(&out->order, a) == CALM_OK;
}

/* NULL, or which theorem does not hold for this case. */
static inline const char *traffic_theorems_broken(const traffic_case *c,
                                                  const traffic_memory *memory,
                                                  arena *a) {
  const order_problem *o = &c->order;
  const traffic_problem *p = &c->problem;
  traffic_result r, again, other;
  const char *fault = "not judged";
  if (traffic_belady(&r, p, c->sequence, memory, a) != CALM_OK)
    return "Belady's rule fails";
  if (traffic_check(&fault, p, c->sequence, memory, &r, a) != CALM_OK || fault)
    return fault ? fault : "the judge fails";
  again.kept_bytes = r.kept_bytes;
  if (traffic_account(&again, p, c->sequence, memory, a) != CALM_OK ||
      !traffic_same_result(&r, &again, o))
    return "the account of Belady's choice differs";
  if (traffic_belady(&again, p, c->sequence, memory, a) != CALM_OK ||
      !traffic_same_result(&r, &again, o))
    return "the second time differs";

  const traffic_amount least = traffic_compulsory(p, memory->page_bytes);
  if (least.input_bytes != r.total.input_bytes ||
      least.output_bytes != r.total.output_bytes ||
      least.weight_bytes != r.total.weight_bytes)
    return "compulsory bytes depend on the order";

  uint64_t peak;
  if (order_replay(&peak, o, c->sequence, NULL, a->context) != CALM_OK)
    return "no peak";
  if (memory->page_bytes == 0 && peak <= memory->bytes &&
      (traffic_spills(&r.total) || r.used_bytes > peak))
    return "all that is live fits, and yet bytes are spilled";

  traffic_case renamed;
  if (!traffic_renamed(&renamed, c, a) ||
      traffic_belady(&other, &renamed.problem, c->sequence, memory, a) !=
          CALM_OK ||
      !traffic_same_amount(&r.total, &other.total))
    return "names of buffers matter";

  /* For pages more memory never reads more, if the same operators stream. */
  traffic_memory more = *memory;
  more.bytes += memory->page_bytes ? memory->page_bytes : 1;
  if (traffic_belady(&other, p, c->sequence, &more, a) != CALM_OK)
    return "Belady's rule fails with more memory";
  if (memory->page_bytes && traffic_streams_alike(&r, &other, o->op_count) &&
      other.total.spill_read_bytes > r.total.spill_read_bytes)
    return "with more memory more is read";

  /* A page of one byte can do what a whole buffer can, and reads least. */
  const traffic_memory bytes = {memory->bytes, 1};
  if (traffic_belady(&other, p, c->sequence, &bytes, a) != CALM_OK)
    return "Belady's rule fails with single bytes";
  if (memory->page_bytes == 0 &&
      other.total.spill_read_bytes > r.total.spill_read_bytes)
    return "single bytes read more than whole buffers";
  return NULL;
}

#endif
