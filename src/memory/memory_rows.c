#include "memory/memory_rows.h"

#include <assert.h>

/* Elided concats of elided concats can make quadratically many ids.  A gigabyte
   of them is no network any more. */
enum { MAX_ITEMS = 1 << 28 };

calm_status memory_rows_init(memory_rows *out, uint32_t rows, uint32_t ids,
                             arena *a) {
  memory_rows r = {.context = a->context};
  ARENA_ARRAY(a, r.begin, rows);
  ARENA_ARRAY(a, r.end, rows);
  ARENA_ARRAY(a, r.taken_by, ids);
  *out = r;
  return CALM_OK;
}

void memory_rows_free(memory_rows *rows) {
  VECTOR_FREE(rows->context, &rows->items);
}

void memory_rows_open(memory_rows *rows, uint32_t row) {
  rows->open = row;
  rows->begin[row] = rows->end[row] = rows->items.count;
}

calm_status memory_rows_add(memory_rows *rows, uint32_t id) {
  if (rows->taken_by[id] == rows->open + 1) return CALM_OK;
  if (rows->items.count >= MAX_ITEMS)
    return context_fail(rows->context, CALM_UNSUPPORTED,
                        "the graph's elided concats are nested too deeply: "
                        "more than %d operands in all",
                        MAX_ITEMS);
  VECTOR_PUSH(rows->context, &rows->items, id);
  rows->taken_by[id] = rows->open + 1;
  rows->end[rows->open] = rows->items.count;
  return CALM_OK;
}

calm_status memory_rows_add_row(memory_rows *rows, uint32_t row) {
  assert(row != rows->open);
  for (uint32_t i = rows->begin[row]; i < rows->end[row]; i++)
    TRY(memory_rows_add(rows, rows->items.data[i]));
  return CALM_OK;
}
