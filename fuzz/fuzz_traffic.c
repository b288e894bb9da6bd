/*
 * What is kept on chip, by Belady's rule and by anybody's choice.  The first
 * eight bytes are the seed of a problem and a sequence, the next five the
 * memory: they keep the theorems of tests/traffic_theorems.h, and small ones
 * are compared with all choices.  The bytes that follow are a choice of their
 * own: either account and judge refuse it, or they agree on what it costs, and
 * in pages it reads no less than Belady's.
 */
#include <stdint.h>
#include <string.h>

#include "demand.h"
#include "traffic_theorems.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEED_BYTES = 8, HEAD_BYTES = SEED_BYTES + 5, MOST_TRIED = 4000 };

/* Sizes times a power of two, up to 2^46, so that sums come near what can be
   counted. */
static void stretch(traffic_case *c, uint8_t shift) {
  for (uint32_t b = 0; b < c->order.buffer_count; b++)
    c->order.buffers[b].bytes <<= shift;
  for (uint32_t u = 0; u < c->order.op_count; u++)
    c->order.workspace[u] <<= shift;
  for (uint32_t i = 0; i < c->order.reuse_count; i++)
    c->order.reuses[i].bytes <<= shift;
}

static void try_all_choices(const traffic_case *c, const traffic_memory *memory,
                            arena *a) {
  static traffic_referee f;
  traffic_result r;
  if (!traffic_referee_run(&f, c, memory, MOST_TRIED)) return;
  demand(traffic_belady(&r, &c->problem, c->sequence, memory, a) == CALM_OK);
  demand(traffic_spills(&r.total) >= f.least_spills);
  demand(r.total.spill_read_bytes >= f.least_reads);
  demand(memory->page_bytes == 0 || r.total.spill_read_bytes == f.least_reads);
}

/* Each entry of order->touch keeps what a byte says, and the rest nothing. */
static void try_choice(const traffic_case *c, const traffic_memory *memory,
                       const uint8_t *data, size_t size, arena *a) {
  const order_problem *o = &c->order;
  const uint32_t touches = o->touch_begin[o->buffer_count];
  traffic_result best, r = {0};
  const char *fault = NULL;
  r.kept_bytes = arena_calloc(a, touches, sizeof *r.kept_bytes);
  demand(r.kept_bytes != NULL);
  demand(traffic_belady(&best, &c->problem, c->sequence, memory, a) == CALM_OK);
  for (uint32_t i = 0; i < touches && i < size; i++)
    r.kept_bytes[i] = data[i] < 128 ? data[i] : best.kept_bytes[i];
  if (traffic_account(&r, &c->problem, c->sequence, memory, a) == CALM_OK) {
    demand(traffic_check(&fault, &c->problem, c->sequence, memory, &r, a) ==
           CALM_OK);
    demand(fault == NULL);
    demand(memory->page_bytes == 0 ||
           r.total.spill_read_bytes >= best.total.spill_read_bytes);
  } else {
    best.kept_bytes = r.kept_bytes;
    demand(traffic_check(&fault, &c->problem, c->sequence, memory, &best, a) ==
           CALM_OK);
    demand(fault != NULL);
  }
}

static void try_bytes(const uint8_t *data, size_t size, arena *a) {
  uint64_t seed;
  traffic_case c;
  memcpy(&seed, data, SEED_BYTES);
  random_state random = random_from_seed(seed);
  const uint8_t *head = data + SEED_BYTES;
  const uint32_t most = 1 + head[0] % ORDER_RANDOM_MAX_OPS;
  demand(traffic_random_make(&c, &random, most, a));
  const uint8_t shift = head[1] % 8 ? 0 : (uint8_t)(head[1] / 8 * 3 / 2);
  stretch(&c, shift);
  const traffic_memory memory = {(uint64_t)(head[2] + (head[4] & 1 ? 256 : 0))
                                     << shift,
                                 (uint64_t)(head[3] % 16) << shift};
  const char *broken = traffic_theorems_broken(&c, &memory, a);
  demand(broken == NULL);
  if (shift == 0 && most <= 8) try_all_choices(&c, &memory, a);
  try_choice(&c, &memory, data + HEAD_BYTES, size - HEAD_BYTES, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < HEAD_BYTES) return 0;
  calm_context *context = calm_context_new(NULL);
  if (!context) return 0;
  arena a;
  arena_init(&a, context);
  try_bytes(data, size, &a);
  arena_free(&a);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
