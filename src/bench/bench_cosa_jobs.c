/*
 * Mappers on layers, many at once.  Each is a process of its own, a copy of
 * this one, and so what it answers is a bench_try as it lies in memory there,
 * in hexadecimal digits; or the status and the message of what failed.
 */
#include <string.h>

#include "base/jobs.h"
#include "base/number.h"
#include "bench/bench_cosa_mappers.h"
#include "mapper/mapper_highs.h"

/* ---- Requests ------------------------------------------------------------ */

uint32_t bench_mapper_seeds(bench_mapper mapper) {
  switch (mapper) {
    case BENCH_RANDOM:
    case BENCH_HYBRID:
    case BENCH_HYBRID_32: return BENCH_SEEDS;
    default: return 1;
  }
}

calm_status bench_requests_add(bench_requests *out, const bench *b,
                               const bench_mapping *m, bench_mapper mapper,
                               const mapper_cosa_weights *weights,
                               bench_try *answers) {
  for (uint32_t i = 0; i < bench_mapper_seeds(mapper); i++)
    VECTOR_PUSH(
        b->context, out,
        (bench_request){m, mapper, b->options->seed + i, weights, &answers[i]});
  return CALM_OK;
}

/* ---- Answers ------------------------------------------------------------- */

enum { FOUND = 'T', FAILED = 'F', DIGITS = 2 * sizeof(bench_try) };

static void write_try(text *out, const bench_try *t) {
  static const char digits[] = "0123456789abcdef";
  unsigned char bytes[sizeof *t];
  memcpy(bytes, t, sizeof bytes);
  text_format(out, "%c", FOUND);
  for (size_t i = 0; i < sizeof bytes; i++)
    text_format(out, "%c%c", digits[bytes[i] >> 4], digits[bytes[i] & 15]);
}

static unsigned value_of(char digit) {
  return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static void read_try(bench_try *out, const char *digits) {
  unsigned char bytes[sizeof *out];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char)(value_of(digits[2 * i]) << 4 |
                               value_of(digits[2 * i + 1]));
  memcpy(out, bytes, sizeof bytes);
}

/* ---- Work ---------------------------------------------------------------- */

typedef struct measuring {
  bench *bench;
  VECTOR(const bench_request *) asked;
} measuring;

static calm_status run_item(char **out, void *payload, uint32_t item) {
  const measuring *g = payload;
  calm_context *context = g->bench->context;
  bench_try found;
  text line;
  const calm_status status =
      bench_request_run(&found, g->asked.data[item], g->bench);
  text_init(&line, context);
  if (status == CALM_OK)
    write_try(&line, &found);
  else
    text_format(&line, "%c%d%s", FAILED, (int)status,
                calm_context_message(context));
  return text_finish(&line, out);
}

static void miss(bench *b, const bench_request *r, const char *why) {
  bench_miss(b, "%s on layer %s, %s: %s", bench_mapper_names[r->mapper],
             r->mapping->layer->name, r->mapping->machine->name, why);
}

/* A fault costs one answer; anything else, such as no memory, all of them. */
static calm_status take_failure(bench *b, const bench_request *r,
                                const char *line) {
  const calm_status status = (calm_status)(line[0] - '0');
  if (status != CALM_INTERNAL)
    return context_fail(b->context, status, "%s", line + 1);
  miss(b, r, line + 1);
  return CALM_OK;
}

static calm_status take_item(void *payload, uint32_t item, const char *line,
                             const char *why) {
  const measuring *g = payload;
  const bench_request *r = g->asked.data[item];
  if (!line)
    miss(g->bench, r, why);
  else if (line[0] == FAILED)
    return take_failure(g->bench, r, line + 1);
  else if (strlen(line) == 1 + DIGITS)
    read_try(r->out, line + 1);
  else
    miss(g->bench, r, "its answer is torn");
  return CALM_OK;
}

/* ---- All of them --------------------------------------------------------- */

static bool needs_solver(const bench_request *r) {
  return r->mapper == BENCH_COSA || r->mapper == BENCH_COSA_FITTED;
}

/* Without the solver, what needs it is not begun.  Found here, it is there in
   all copies. */
static calm_status choose(measuring *g, const bench_requests *requests) {
  bench *b = g->bench;
  bool looked = false, there = false;
  for (uint32_t i = 0; i < requests->count; i++) {
    const bench_request *r = &requests->data[i];
    *r->out = (bench_try){0};
    if (needs_solver(r) && !looked) {
      const calm_status status = mapper_highs_find(b->context);
      looked = true;
      there = status == CALM_OK;
      if (status == CALM_INTERNAL)
        bench_miss(b, "%s", calm_context_message(b->context));
      else
        TRY(status);
    }
    if (there || !needs_solver(r)) VECTOR_PUSH(b->context, &g->asked, r);
  }
  return CALM_OK;
}

/* A solver in a library of its own may go down and take this process along. */
static uint32_t jobs_for(const bench *b) {
  const uint64_t asked = b->options->jobs;
  if (asked) return (uint32_t)number_smaller(asked, UINT32_MAX);
  return jobs_most() < 2 ? 2 : jobs_most();
}

calm_status bench_requests_run(bench *b, const bench_requests *requests) {
  measuring g = {.bench = b};
  const jobs_work work = {&g, "its process", run_item, take_item};
  calm_status status = choose(&g, requests);
  if (status == CALM_OK)
    status = jobs_run(b->context, g.asked.count, jobs_for(b), &work);
  VECTOR_FREE(b->context, &g.asked);
  return status;
}
