/*
 * Hashing (xxHash) and a table from names to 32-bit ids.  In the hostile build
 * there are but a few hashes, so that nothing can lean on them.
 */
#ifndef CALM_BASE_HASH_H
#define CALM_BASE_HASH_H

#include "base/context.h"

uint64_t hash_bytes(const void *bytes, size_t length);

/* Take another number into a hash that began with 0: the same on every machine
   and in every build, so that it may stand in a file. */
uint64_t hash_fold(uint64_t hash, uint64_t number);

typedef struct name_table {
  calm_context *context;
  struct name_slot *slots;
  uint32_t count, capacity;
} name_table;

void name_table_init(name_table *table, calm_context *context);
void name_table_free(name_table *table);

/* The id stored under a name, CALM_NONE if there is none. */
uint32_t name_table_find(const name_table *table, const char *name);

/* Store a name that is not there yet.  The string is borrowed, not copied. */
calm_status name_table_add(name_table *table, const char *name, uint32_t id);

#endif
