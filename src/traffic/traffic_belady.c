/*
 * Belady's rule: when there is no room, that goes which is needed again last.
 * One walk through the steps.  Whatever can stay on chip does, until a step has
 * no room for it; what is on chip when a buffer is touched again was kept over
 * the gap, and the rest was not.
 *
 * Why no choice reads less in pages: a page that is kept over a gap is an
 * interval, and saves one read.  Each moment (a step that does not stream, or a
 * boundary beside one that does) lets so many of the intervals over it be kept.
 * Where a moment has too many, some have to go, and of two of them the one that
 * ends later is in the way of all that the other is in the way of from here on;
 * before here there was room for both.  Whole buffers differ in width, and
 * writes depend on what went before: there this argument does not hold, and
 * traffic_choose (traffic.h) finds what is least.
 *
 * The candidates stand in a heap, that of the farthest next use on top.
 * Entries of buffers that have been touched since lie at its bottom, where they
 * harm nobody: their next use is no later than now.
 */
#include "base/number.h"
#include "traffic/traffic_problem.h"

/* A buffer with bytes on chip that may go. */
typedef struct candidate {
  const traffic_visit *next; /* the touch that needs it */
  uint64_t bytes;            /* on chip */
  uint64_t copied;           /* of all its bytes, those with a copy off chip */
  bool clean;                /* some can go without being written */
} candidate;

typedef struct belady {
  traffic_run run;
  uint64_t *kept;     /* per entry of order->touch: what is asked for */
  uint64_t *resident; /* per buffer: bytes on chip that are needed again */
  uint64_t *offchip;  /* per buffer: bytes with a copy off chip */
  uint64_t resident_bytes;
  candidate *heap;
  candidate *gone; /* of this step */
  uint32_t heap_count, gone_count;
  bool pages;
  const traffic_visit **next; /* per buffer on chip: its next touch */
} belady;

/* ---- The heap ------------------------------------------------------------ */

/* Which of two buffers that are alike up to their next touch has the farther
   one after that, and so on?  Negative: a. */
static int compare_futures(const traffic_visit *a, const traffic_visit *b) {
  for (;; a++, b++) {
    if (a->step != b->step) return a->step > b->step ? -1 : 1;
    if (a->writes != b->writes) return a->writes ? -1 : 1;
    if (a->writes_output != b->writes_output) return a->writes_output ? -1 : 1;
    if (a->last || b->last) return b->last - a->last;
  }
}

/*
 * The farthest next use goes first.  Among equals one that costs no write, then
 * the larger one.  Buffers that still differ in anything are told apart by it,
 * so that only those that are alike in all are left to their numbers, and
 * renaming buffers changes no sum.
 */
static bool goes_before(const candidate *a, const candidate *b,
                        const uint64_t *bytes) {
  const uint32_t i = a->next->buffer, j = b->next->buffer;
  if (a->next->step != b->next->step) return a->next->step > b->next->step;
  if (a->clean != b->clean) return a->clean;
  if (a->bytes != b->bytes) return a->bytes > b->bytes;
  if (bytes[i] != bytes[j]) return bytes[i] > bytes[j];
  if (a->copied != b->copied) return a->copied > b->copied;
  const int order = compare_futures(a->next, b->next);
  return order ? order < 0 : i < j;
}

static void swap(candidate *a, candidate *b) {
  const candidate c = *a;
  *a = *b;
  *b = c;
}

static void push(belady *y, candidate c) {
  uint32_t i = y->heap_count++;
  y->heap[i] = c;
  for (; i && goes_before(&y->heap[i], &y->heap[(i - 1) / 2], y->run.bytes);
       i = (i - 1) / 2)
    swap(&y->heap[i], &y->heap[(i - 1) / 2]);
}

static candidate pop(belady *y) {
  const candidate top = y->heap[0];
  y->heap[0] = y->heap[--y->heap_count];
  for (uint32_t i = 0, child; (child = 2 * i + 1) < y->heap_count; i = child) {
    if (child + 1 < y->heap_count &&
        goes_before(&y->heap[child + 1], &y->heap[child], y->run.bytes))
      child++;
    if (!goes_before(&y->heap[child], &y->heap[i], y->run.bytes)) break;
    swap(&y->heap[child], &y->heap[i]);
  }
  return top;
}

/* ---- Leaving and staying ------------------------------------------------- */

static uint64_t missing(const belady *y, uint32_t buffer) {
  return y->run.bytes[buffer] - y->resident[buffer];
}

static void offer(belady *y, uint32_t buffer) {
  push(y, (candidate){y->next[buffer], y->resident[buffer], y->offchip[buffer],
                      missing(y, buffer) < y->offchip[buffer]});
}

static void take(belady *y, uint32_t buffer, uint64_t bytes) {
  y->resident[buffer] -= bytes;
  y->resident_bytes -= bytes;
}

static void give(belady *y, uint32_t buffer, uint64_t bytes) {
  y->resident[buffer] += bytes;
  y->resident_bytes += bytes;
}

/* Of a buffer in pages no more goes than has to, and first what has a copy:
   then another buffer's pages may be cheaper. */
static void drop_pages(belady *y, const candidate *c, uint64_t excess) {
  uint64_t bytes = number_smaller(excess, y->resident[c->next->buffer]);
  if (c->clean)
    bytes = number_smaller(
        bytes, y->offchip[c->next->buffer] - missing(y, c->next->buffer));
  take(y, c->next->buffer, bytes);
  if (y->resident[c->next->buffer]) offer(y, c->next->buffer);
}

static void drop_buffer(belady *y, const candidate *c) {
  take(y, c->next->buffer, c->bytes);
  y->gone[y->gone_count++] = *c;
}

/* The last one to go may have been large: of those before it, some may fit
   now.  The first to be needed comes first. */
static void take_back(belady *y, uint64_t room) {
  while (y->gone_count) {
    const candidate *c = &y->gone[--y->gone_count];
    if (c->bytes > room - y->resident_bytes) continue;
    give(y, c->next->buffer, c->bytes);
    offer(y, c->next->buffer);
  }
}

/* Let no more than `room` bytes stay that are needed later than now. */
static void make_room(belady *y, uint64_t room) {
  while (y->resident_bytes > room) {
    const candidate c = pop(y);
    if (y->pages)
      drop_pages(y, &c, y->resident_bytes - room);
    else
      drop_buffer(y, &c);
  }
  take_back(y, room);
}

/* ---- The walk ------------------------------------------------------------ */

/* A touched buffer is none of those that may stay or go. */
static void arrive(belady *y, const traffic_visit *v) {
  const uint32_t b = v->buffer;
  if (v->first) {
    y->offchip[b] =
        y->run.p->order->buffers[b].pinned_start ? y->run.bytes[b] : 0;
  } else {
    y->kept[v[-1].entry] = y->resident[b];
    y->offchip[b] = number_larger(y->offchip[b], missing(y, b));
    take(y, b, y->resident[b]);
  }
  if (v->writes) y->offchip[b] = v->writes_output ? y->run.bytes[b] : 0;
}

static void leave(belady *y, const traffic_visit *v) {
  if (v->last || y->run.bytes[v->buffer] == 0) return;
  y->next[v->buffer] = &v[1];
  give(y, v->buffer, y->run.bytes[v->buffer]);
  offer(y, v->buffer);
}

/* What streams needs no room, but what stays of it does. */
static void run_step(belady *y, uint32_t step) {
  const traffic_run *r = &y->run;
  const uint32_t begin = r->step_begin[step], end = r->step_begin[step + 1];
  for (uint32_t i = begin; i < end; i++)
    arrive(y, &r->visits[r->step_visits[i]]);
  if (!traffic_run_streams(r, step))
    make_room(y, r->memory_bytes - r->need_bytes[step]);
  for (uint32_t i = begin; i < end; i++)
    leave(y, &r->visits[r->step_visits[i]]);
  if (traffic_run_streams(r, step)) make_room(y, r->memory_bytes);
}

static calm_status decide(belady *y, const traffic_problem *p,
                          const uint32_t *sequence,
                          const traffic_memory *memory, arena *scratch) {
  const order_problem *o = p->order;
  const uint32_t touches = o->touch_begin[o->buffer_count];
  TRY(traffic_run_build(&y->run, p, sequence, memory, scratch));
  ARENA_ARRAY(scratch, y->resident, o->buffer_count);
  ARENA_ARRAY(scratch, y->offchip, o->buffer_count);
  ARENA_ARRAY(scratch, y->next, o->buffer_count);
  ARENA_ARRAY(scratch, y->heap, touches);
  ARENA_ARRAY(scratch, y->gone, touches);
  for (uint32_t s = 0; s < o->op_count; s++) run_step(y, s);
  return CALM_OK;
}

calm_status traffic_belady(traffic_result *out, const traffic_problem *p,
                           const uint32_t *sequence,
                           const traffic_memory *memory, arena *a) {
  belady y = {.pages = memory->page_bytes > 0};
  arena scratch;
  ARENA_ARRAY(a, y.kept, p->order->touch_begin[p->order->buffer_count]);
  arena_init(&scratch, a->context);
  calm_status status = decide(&y, p, sequence, memory, &scratch);
  arena_free(&scratch);
  if (status != CALM_OK) return status;
  traffic_result r = {.kept_bytes = y.kept};
  status = traffic_account(&r, p, sequence, memory, a);
  if (status == CALM_OK) *out = r;
  return status;
}
