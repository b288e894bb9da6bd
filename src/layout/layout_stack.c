#include "layout/layout_stack.h"

#include <string.h>

#include "base/number.h"

#if CALM_HOSTILE
enum { CHUNK_PIECES = 4 };
#else
enum { CHUNK_PIECES = 256 };
#endif

typedef struct stacked {
  uint64_t low, high; /* bytes of the arena */
  int64_t lower, upper;
} stacked;

/* Pieces that follow each other by `low`. */
typedef struct stack_chunk {
  uint32_t count;
  uint64_t highest;
  stacked pieces[CHUNK_PIECES];
} stack_chunk;

/* Each split leaves two halves. */
calm_status layout_stack_make(layout_stack *out, const layout_problem *p,
                              arena *a) {
  layout_stack stack = {.arena = a, .made = 1};
  const size_t most = (size_t)p->piece_count / (CHUNK_PIECES / 2);
  ARENA_ARRAY(a, stack.chunks, most + 2);
  ARENA_ARRAY(a, stack.chunks[0], 1);
  layout_stack_clear(&stack);
  *out = stack;
  return CALM_OK;
}

void layout_stack_clear(layout_stack *stack) {
  stack->count = 1;
  stack->chunks[0]->count = 0;
  stack->chunks[0]->highest = 0;
}

static void measure_chunk(stack_chunk *chunk) {
  chunk->highest = 0;
  for (uint32_t i = 0; i < chunk->count; i++)
    if (chunk->pieces[i].high > chunk->highest)
      chunk->highest = chunk->pieces[i].high;
}

/* Move the upper half of a full chunk into one of its own. */
static calm_status split_chunk(layout_stack *stack, uint32_t at) {
  stack_chunk *full = stack->chunks[at], *upper;
  if (full->count < CHUNK_PIECES) return CALM_OK;
  if (stack->made == stack->count) {
    ARENA_ARRAY(stack->arena, stack->chunks[stack->made], 1);
    stack->made++;
  }
  upper = stack->chunks[stack->count];
  memmove(&stack->chunks[at + 2], &stack->chunks[at + 1],
          (stack->count - at - 1) * sizeof *stack->chunks);
  stack->chunks[at + 1] = upper;
  stack->count++;
  upper->count = CHUNK_PIECES / 2;
  full->count = CHUNK_PIECES - upper->count;
  memcpy(upper->pieces, &full->pieces[full->count],
         upper->count * sizeof *upper->pieces);
  measure_chunk(full);
  measure_chunk(upper);
  return CALM_OK;
}

/* The last chunk whose first piece begins at `low` or below, or the first. */
static uint32_t find_chunk(const layout_stack *stack, uint64_t low) {
  uint32_t first = 0, end = stack->count;
  while (end - first > 1) {
    const uint32_t middle = first + (end - first) / 2;
    if (stack->chunks[middle]->pieces[0].low <= low)
      first = middle;
    else
      end = middle;
  }
  return first;
}

calm_status layout_stack_add(layout_stack *stack, const layout_piece *piece,
                             uint64_t offset) {
  const stacked added = {offset + piece->low, offset + piece->high,
                         piece->lower, piece->upper};
  TRY(split_chunk(stack, find_chunk(stack, added.low)));
  stack_chunk *chunk = stack->chunks[find_chunk(stack, added.low)];
  uint32_t at = chunk->count;
  while (at > 0 && chunk->pieces[at - 1].low > added.low) at--;
  memmove(&chunk->pieces[at + 1], &chunk->pieces[at],
          (chunk->count - at) * sizeof *chunk->pieces);
  chunk->pieces[at] = added;
  chunk->count++;
  if (added.high > chunk->highest) chunk->highest = added.high;
  return CALM_OK;
}

/* Raise an offset above the pieces of one chunk that are in the way.  True: the
   rest lies beyond. */
static bool pass_chunk(uint64_t *offset, const stack_chunk *chunk,
                       const layout_piece *piece, uint64_t align) {
  for (uint32_t i = 0; i < chunk->count; i++) {
    const stacked *other = &chunk->pieces[i];
    if (other->low >= *offset + piece->high) return true;
    if (other->high > *offset + piece->low && other->lower < piece->upper &&
        piece->lower < other->upper)
      *offset = number_round_up(other->high - piece->low, align);
  }
  return false;
}

static uint64_t fit_piece(const layout_stack *stack, const layout_piece *piece,
                          uint64_t offset, uint64_t align, uint64_t *work) {
  for (uint32_t i = 0; i < stack->count; i++) {
    const stack_chunk *chunk = stack->chunks[i];
    *work += 1;
    if (chunk->highest <= offset + piece->low) continue;
    *work += chunk->count;
    if (pass_chunk(&offset, chunk, piece, align)) break;
  }
  return offset;
}

/* What one piece needs may be in the way of another. */
uint64_t layout_stack_fit(const layout_stack *stack, const layout_problem *p,
                          uint32_t body, uint64_t from, uint64_t *work) {
  uint64_t offset = from, before;
  do {
    before = offset;
    for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++)
      offset =
          fit_piece(stack, &p->pieces[i], offset, p->bodies[body].align, work);
  } while (offset != before &&
           p->piece_begin[body + 1] - p->piece_begin[body] > 1);
  return offset;
}
