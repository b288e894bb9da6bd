/*
 * What given decisions cost.  Each buffer is followed by itself through its
 * visits, as nothing it costs depends on another; only whether all that is kept
 * fits on chip is a question to all of them, and it is asked first.
 */
#include <inttypes.h>

#include "base/number.h"
#include "traffic/traffic_problem.h"

typedef struct account {
  traffic_run run;
  const uint64_t *kept;
  traffic_result *r;
  uint64_t page_bytes;
  uint64_t moved_bytes;
  calm_context *context;
} account;

/* ---- Does it fit? -------------------------------------------------------- */

/* What is kept over each step, and over the boundary before each: at first by
   how much that differs from the one before, modulo 2^64. */
typedef struct kept_over {
  uint64_t *steps, *boundaries; /* one more of either than there are steps */
} kept_over;

/*
 * A gap from step s to step t spans the steps between them, and the boundaries
 * before s + 1 to before t:
 *
 *      s    s+1        t-1    t
 *      #  |  .  | ... | .  |  #
 */
static void keep(kept_over *k, uint32_t from, uint32_t to, uint64_t bytes) {
  k->steps[from + 1] += bytes;
  k->steps[to] -= bytes;
  k->boundaries[from + 1] += bytes;
  k->boundaries[to + 1] -= bytes;
}

static bool possible(const account *c, const traffic_visit *v, uint64_t kept) {
  if (v->last) return kept == 0;
  const uint64_t bytes = c->run.bytes[v->buffer];
  return c->page_bytes ? kept <= bytes && kept % c->page_bytes == 0
                       : kept == 0 || kept == bytes;
}

static calm_status add_kept(const account *c, kept_over *k) {
  const order_problem *o = c->run.p->order;
  for (uint32_t i = 0; i < o->touch_begin[o->buffer_count]; i++) {
    const traffic_visit *v = &c->run.visits[i];
    const uint64_t kept = c->kept[v->entry];
    if (!possible(c, v, kept))
      return context_fail(c->context, CALM_MISUSE,
                          "buffer %" PRIu32 " cannot keep %" PRIu64
                          " bytes behind step %" PRIu32,
                          v->buffer, kept, v->step);
    if (!v->last) keep(k, v->step, v[1].step, kept);
  }
  for (uint32_t s = 0; s < o->op_count; s++) {
    k->steps[s + 1] += k->steps[s];
    k->boundaries[s + 1] += k->boundaries[s];
  }
  return CALM_OK;
}

/* What is on chip at a step: while it runs, or, if it streams, before or after,
   whichever is more. */
static uint64_t on_chip(const account *c, const kept_over *k, uint32_t s) {
  return traffic_run_streams(&c->run, s)
             ? number_larger(k->boundaries[s], k->boundaries[s + 1])
             : c->run.need_bytes[s] + k->steps[s];
}

static calm_status check_steps(account *c, const kept_over *k) {
  for (uint32_t s = 0; s < c->run.p->order->op_count; s++) {
    const uint64_t bytes = on_chip(c, k, s);
    if (bytes > c->run.memory_bytes)
      return context_fail(c->context, CALM_MISUSE,
                          "step %" PRIu32 " has %" PRIu64
                          " bytes on chip, and there are %" PRIu64,
                          s, bytes, c->run.memory_bytes);
    c->r->streams[s] = traffic_run_streams(&c->run, s);
    if (!c->r->streams[s] && bytes > c->r->used_bytes) c->r->used_bytes = bytes;
  }
  return CALM_OK;
}

static calm_status check_room(account *c, arena *scratch) {
  kept_over k;
  ARENA_ARRAY(scratch, k.steps, (size_t)c->run.p->order->op_count + 1);
  ARENA_ARRAY(scratch, k.boundaries, (size_t)c->run.p->order->op_count + 1);
  TRY(add_kept(c, &k));
  return check_steps(c, &k);
}

/* ---- What it costs ------------------------------------------------------- */

static void add(traffic_amount *to, const traffic_amount *what) {
  to->input_bytes += what->input_bytes;
  to->weight_bytes += what->weight_bytes;
  to->output_bytes += what->output_bytes;
  to->spill_read_bytes += what->spill_read_bytes;
  to->spill_write_bytes += what->spill_write_bytes;
}

/* `what` has one amount in it, of so many bytes; weights are of no buffer. */
static calm_status charge(account *c, uint32_t step, uint32_t buffer,
                          uint64_t bytes, traffic_amount what) {
  if (!number_add(&c->moved_bytes, c->moved_bytes, bytes))
    return context_fail(c->context, CALM_BAD_INPUT,
                        "more than %" PRIu64 " bytes are moved",
                        (uint64_t)NUMBER_MAX_BYTES);
  add(&c->r->total, &what);
  add(&c->r->steps[step], &what);
  if (buffer != CALM_NONE) add(&c->r->buffers[buffer], &what);
  return CALM_OK;
}

/*
 * Over the gap before this visit some bytes were not kept.  Those of them that
 * have no copy off chip had to leave as soon as the step before was done, and
 * all of them are read now.
 */
static calm_status charge_gap(account *c, const traffic_visit *v,
                              uint64_t *offchip) {
  const uint64_t missing = c->run.bytes[v->buffer] - c->kept[v[-1].entry];
  if (missing > *offchip) {
    const uint64_t written = missing - *offchip;
    TRY(charge(c, v[-1].step + 1, v->buffer, written,
               (traffic_amount){.spill_write_bytes = written}));
    *offchip = missing;
  }
  return charge(c, v->step, v->buffer, missing,
                (traffic_amount){.spill_read_bytes = missing});
}

/* The last state of an output leaves as soon as it is made, which it has to do
   once in any case: then it may go at any later time. */
static calm_status charge_buffer(account *c, uint32_t buffer) {
  const order_problem *o = c->run.p->order;
  const uint64_t bytes = c->run.bytes[buffer];
  const bool input = o->buffers[buffer].pinned_start;
  uint64_t offchip = input ? bytes : 0;
  for (uint32_t i = o->touch_begin[buffer]; i < o->touch_begin[buffer + 1];
       i++) {
    const traffic_visit *v = &c->run.visits[i];
    if (!v->first)
      TRY(charge_gap(c, v, &offchip));
    else if (input)
      TRY(charge(c, v->step, buffer, bytes,
                 (traffic_amount){.input_bytes = bytes}));
    if (v->writes_output)
      TRY(charge(c, v->step, buffer, bytes,
                 (traffic_amount){.output_bytes = bytes}));
    if (v->writes) offchip = v->writes_output ? bytes : 0;
  }
  return CALM_OK;
}

static calm_status charge_all(account *c, const uint32_t *sequence) {
  const traffic_problem *p = c->run.p;
  for (uint32_t s = 0; s < p->order->op_count; s++) {
    const uint64_t bytes = p->weight_bytes[sequence[s]];
    TRY(charge(c, s, CALM_NONE, bytes,
               (traffic_amount){.weight_bytes = bytes}));
  }
  for (uint32_t b = 0; b < p->order->buffer_count; b++)
    TRY(charge_buffer(c, b));
  return CALM_OK;
}

static calm_status settle(account *c, const traffic_problem *p,
                          const uint32_t *sequence,
                          const traffic_memory *memory, arena *a,
                          arena *scratch) {
  TRY(traffic_run_build(&c->run, p, sequence, memory, scratch));
  ARENA_ARRAY(a, c->r->steps, p->order->op_count);
  ARENA_ARRAY(a, c->r->buffers, p->order->buffer_count);
  ARENA_ARRAY(a, c->r->streams, p->order->op_count);
  TRY(check_room(c, scratch));
  return charge_all(c, sequence);
}

calm_status traffic_account(traffic_result *out, const traffic_problem *p,
                            const uint32_t *sequence,
                            const traffic_memory *memory, arena *a) {
  arena scratch;
  arena_init(&scratch, a->context);
  traffic_result r = {.kept_bytes = out->kept_bytes};
  account c = {.kept = out->kept_bytes,
               .r = &r,
               .page_bytes = memory->page_bytes,
               .context = a->context};
  const calm_status status = settle(&c, p, sequence, memory, a, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) *out = r;
  return status;
}
