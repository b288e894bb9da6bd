#include "base/arena.h"

#include <string.h>

#if CALM_HOSTILE
enum { FIRST_BLOCK_BYTES = 0 }; /* each allocation has its own block */
#else
enum { FIRST_BLOCK_BYTES = 4096 };
#endif
enum { ALIGNMENT = _Alignof(max_align_t), LARGEST_STEP_BYTES = 1 << 20 };

struct arena_block {
  struct arena_block *older;
  size_t bytes; /* of the whole block, this header included */
  size_t used;
};

static size_t align_up(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void arena_init(arena *a, calm_context *context) {
  a->context = context;
  a->blocks = NULL;
}

void arena_free(arena *a) {
  while (a->blocks) {
    struct arena_block *block = a->blocks;
    a->blocks = block->older;
    context_reallocate(a->context, block, block->bytes, 0);
  }
}

size_t arena_bytes(const arena *a) {
  size_t bytes = 0;
  for (const struct arena_block *b = a->blocks; b; b = b->older)
    bytes += b->bytes;
  return bytes;
}

/* Blocks double up to a megabyte, so that small graphs stay small. */
static struct arena_block *add_block(arena *a, size_t needed) {
  size_t header = align_up(sizeof(struct arena_block));
  size_t step = a->blocks ? a->blocks->bytes * 2 : FIRST_BLOCK_BYTES;
  if (FIRST_BLOCK_BYTES == 0) step = 0;
  if (step > LARGEST_STEP_BYTES) step = LARGEST_STEP_BYTES;
  size_t bytes = header + needed;
  if (bytes < step) bytes = step;
  struct arena_block *block = context_reallocate(a->context, NULL, 0, bytes);
  if (!block) return NULL;
  *block = (struct arena_block){a->blocks, bytes, header};
  a->blocks = block;
  return block;
}

void *arena_calloc(arena *a, size_t count, size_t size) {
  if (size && count > (SIZE_MAX / 4) / size) return NULL;
  size_t bytes = align_up(count * size);
  if (bytes == 0) bytes = ALIGNMENT;
  struct arena_block *block = a->blocks;
  if (!block || block->bytes - block->used < bytes) block = add_block(a, bytes);
  if (!block) return NULL;
  void *memory = (char *)block + block->used;
  block->used += bytes;
  return memset(memory, 0, bytes);
}

char *arena_string(arena *a, const char *text, size_t length) {
  char *copy = arena_calloc(a, length + 1, 1);
  if (copy) memcpy(copy, text, length);
  return copy;
}
