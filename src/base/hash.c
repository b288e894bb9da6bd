#include "base/hash.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#if CALM_HOSTILE
enum { FIRST_SLOTS = 2 };
#else
enum { FIRST_SLOTS = 64 };
#endif

/* In the hostile build a hash is one of these few. */
enum { HOSTILE_HASHES = 64 };

struct name_slot {
  const char *name; /* NULL: free */
  uint32_t id;
};

uint64_t hash_bytes(const void *bytes, size_t length) {
  const uint64_t hash = XXH3_64bits(bytes, length);
  return CALM_HOSTILE ? hash % HOSTILE_HASHES : hash;
}

uint64_t hash_fold(uint64_t hash, uint64_t number) {
  uint8_t bytes[16];
  for (unsigned i = 0; i < 8; i++) {
    bytes[i] = (uint8_t)(hash >> 8 * i);
    bytes[8 + i] = (uint8_t)(number >> 8 * i);
  }
  return XXH3_64bits(bytes, sizeof bytes);
}

void name_table_init(name_table *table, calm_context *context) {
  *table = (name_table){context, NULL, 0, 0};
}

void name_table_free(name_table *table) {
  context_reallocate(table->context, table->slots,
                     table->capacity * sizeof *table->slots, 0);
  name_table_init(table, table->context);
}

/* Linear probing; there is always a free slot. */
static struct name_slot *find_slot(const name_table *table, const char *name) {
  uint32_t mask = table->capacity - 1;
  uint32_t i = (uint32_t)hash_bytes(name, strlen(name)) & mask;
  while (table->slots[i].name && strcmp(table->slots[i].name, name))
    i = (i + 1) & mask;
  return &table->slots[i];
}

uint32_t name_table_find(const name_table *table, const char *name) {
  if (table->capacity == 0) return CALM_NONE;
  const struct name_slot *slot = find_slot(table, name);
  return slot->name ? slot->id : CALM_NONE;
}

static calm_status double_table(name_table *table) {
  uint32_t capacity = table->capacity ? table->capacity * 2 : FIRST_SLOTS;
  if (capacity < table->capacity) return context_no_memory(table->context);
  name_table bigger = {table->context, NULL, table->count, capacity};
  size_t bytes = capacity * sizeof *bigger.slots;
  bigger.slots = context_reallocate(table->context, NULL, 0, bytes);
  if (!bigger.slots) return context_no_memory(table->context);
  memset(bigger.slots, 0, bytes);
  for (uint32_t i = 0; i < table->capacity; i++)
    if (table->slots[i].name)
      *find_slot(&bigger, table->slots[i].name) = table->slots[i];
  name_table_free(table);
  *table = bigger;
  return CALM_OK;
}

calm_status name_table_add(name_table *table, const char *name, uint32_t id) {
  if ((table->count + UINT64_C(1)) * 4 > table->capacity * UINT64_C(3))
    TRY(double_table(table));
  struct name_slot *slot = find_slot(table, name);
  assert(!slot->name);
  *slot = (struct name_slot){name, id};
  table->count++;
  return CALM_OK;
}
