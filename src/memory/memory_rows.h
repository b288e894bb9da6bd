/*
 * A relation under construction: rows of 32-bit ids, written one row after the
 * other, each id at most once in a row.  A finished row may be copied into a
 * later one, which is how views and elided concats hand on what stands behind
 * them.  Private to the memory room.
 */
#ifndef CALM_MEMORY_MEMORY_ROWS_H
#define CALM_MEMORY_MEMORY_ROWS_H

#include "base/arena.h"
#include "base/vector.h"

typedef struct memory_rows {
  calm_context *context;
  uint32_t *begin, *end; /* row r: items.data[begin[r] .. end[r]] */
  uint32_t *taken_by;    /* id -> the last row that took it, plus 1 */
  VECTOR(uint32_t) items;
  uint32_t open; /* the row being written */
} memory_rows;

/* `rows` empty rows of ids below `ids`.  The vector is freed by
   memory_rows_free, everything else dies with the arena. */
calm_status memory_rows_init(memory_rows *out, uint32_t rows, uint32_t ids,
                             arena *a);
void memory_rows_free(memory_rows *rows);

/* Begin a row that has not been written; it stays open until the next call. */
void memory_rows_open(memory_rows *rows, uint32_t row);

/* Put an id, or all ids of a finished row, into the open row.  CALM_UNSUPPORTED
   when the whole relation becomes absurdly large. */
calm_status memory_rows_add(memory_rows *rows, uint32_t id);
calm_status memory_rows_add_row(memory_rows *rows, uint32_t row);

/* A finished row: how many ids, and which. */
static inline uint32_t memory_rows_count(const memory_rows *rows,
                                         uint32_t row) {
  return rows->end[row] - rows->begin[row];
}

static inline const uint32_t *memory_rows_at(const memory_rows *rows,
                                             uint32_t row) {
  return rows->items.data ? rows->items.data + rows->begin[row] : NULL;
}

#endif
