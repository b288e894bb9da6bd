/*
 * Layouts in which pairs may share bytes.  The first eight bytes are the seed
 * of a small problem, and the rest changes it: pieces, distances, alignments,
 * fixed offsets.  Whatever comes of it is refused, or placed so that the
 * referee finds no fault, and bound <= least <= arena for the least arena of
 * all, if there are few offsets to try.
 */
#include <stdint.h>
#include <string.h>

#include "demand.h"
#include "layout_reliefs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEED_BYTES = 8, CHANGE_BYTES = 3, MOST_TICKS = 2000000 };

static bool may_be_relieved(const small_problem *s, const layout_relief *r) {
  const layout_piece *in = &s->pieces[r->input], *out = &s->pieces[r->output];
  return in->body != out->body && relief_common(in, out) == 1 &&
         r->distance <= (int64_t)(out->high - out->low);
}

/* Reliefs that a change of their pieces has made senseless are dropped. */
static void drop_reliefs(small_problem *s) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->p.relief_count; i++)
    if (may_be_relieved(s, &s->reliefs[i])) s->reliefs[kept++] = s->reliefs[i];
  s->p.relief_count = kept;
}

static void change_problem(small_problem *s, const uint8_t *change) {
  layout_piece *piece = &s->pieces[change[1] % s->p.piece_count];
  layout_body *body = &s->bodies[change[1] % s->p.body_count];
  const uint8_t value = change[2];
  switch (change[0] % 6) {
    case 0: piece->high = piece->low + value % 8; break;
    case 1: piece->lower = value % 8 - 2; break;
    case 2: piece->upper = value % 8 - 2; break;
    case 3:
      if (!body->fixed) body->align = 1 + value % 16;
      break;
    case 4:
      body->fixed = true;
      body->offset = body->align * (value % 4);
      break;
    case 5:
      if (s->p.relief_count)
        s->reliefs[change[1] % s->p.relief_count].distance = value % 16 - 8;
      break;
  }
}

static bool solve(layout_result *out, const layout_problem *p,
                  layout_method method, arena *a) {
  limits l;
  layout_fault fault;
  layout_options options = layout_options_default();
  options.method = method;
  limits_init(&l, a->context);
  l.max_ticks = MOST_TICKS;
  if (layout_solve(out, p, &options, a, &l) != CALM_OK) return false;
  demand(layout_check(&fault, p, out->offsets, out->arena_bytes, a->context) ==
         CALM_OK);
  demand(fault.kind == LAYOUT_SOUND);
  demand(out->bound_bytes <= out->arena_bytes);
  demand((out->outcome == CALM_OPTIMAL) ==
         (out->bound_bytes == out->arena_bytes));
  return true;
}

static void solve_all(small_problem *s, arena *a) {
  layout_result size, greedy, exact, again;
  if (!solve(&size, &s->p, LAYOUT_SIZE, a)) return;
  demand(solve(&greedy, &s->p, LAYOUT_GREEDY, a));
  demand(solve(&exact, &s->p, LAYOUT_EXACT, a));
  demand(solve(&again, &s->p, LAYOUT_EXACT, a));
  demand(greedy.arena_bytes <= size.arena_bytes);
  demand(exact.ticks == again.ticks);
  demand(exact.arena_bytes == again.arena_bytes);
  if (s->p.body_count > 5 || size.arena_bytes > 40) return;
  const uint64_t least = brute_arena(&s->p, 0);
  demand(greedy.bound_bytes <= least && least <= greedy.arena_bytes);
  demand(exact.bound_bytes <= least && least <= exact.arena_bytes);
}

static void try_bytes(const uint8_t *data, size_t size, arena *a) {
  uint64_t seed;
  small_problem s;
  memcpy(&seed, data, SEED_BYTES);
  random_state random = random_from_seed(seed);
  relief_random(&s, &random);
  for (size_t i = SEED_BYTES; i + CHANGE_BYTES <= size; i += CHANGE_BYTES)
    change_problem(&s, data + i);
  drop_reliefs(&s);
  solve_all(&s, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < SEED_BYTES || size > SEED_BYTES + 64 * CHANGE_BYTES) return 0;
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
