#include "layout/layout_probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "layout/layout_problem.h"

#if CALM_HOSTILE
enum { FEWEST_PIECES = 0, CHUNK_GAPS = 4 };
#else
enum { FEWEST_PIECES = 1024, CHUNK_GAPS = 128 };
#endif

typedef struct gap {
  uint64_t low, high;
} gap;

/* Gaps that follow each other.  A list of chunks is short enough to be walked,
   and a chunk short enough to be shifted. */
typedef struct gap_chunk {
  uint32_t count;
  uint64_t widest; /* bytes of its widest gap */
  gap gaps[CHUNK_GAPS];
} gap_chunk;

/* ---- Where to watch ------------------------------------------------------ */

static int by_value(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static int64_t nth_begin(const layout_overlap *index, uint32_t n) {
  return index->problem->pieces[index->sorted[n]].lower;
}

/* The first step at which most pieces are alive. */
static calm_status find_crowd(int64_t *out, const layout_overlap *index,
                              arena *a) {
  const layout_problem *p = index->problem;
  int64_t *uppers;
  uint32_t ended = 0, most = 0;
  ARENA_ARRAY(a, uppers, p->piece_count);
  for (uint32_t i = 0; i < p->piece_count; i++) uppers[i] = p->pieces[i].upper;
  qsort(uppers, p->piece_count, sizeof *uppers, by_value);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    const int64_t step = nth_begin(index, i);
    while (uppers[ended] <= step) ended++;
    if (i + 1 - ended <= most) continue;
    most = i + 1 - ended;
    *out = step;
  }
  return CALM_OK;
}

/* A problem of n pieces needs no more chunks than it fills: each split leaves
   two halves. */
static calm_status add_probe(layout_probes *probes, int64_t step) {
  for (uint32_t i = 0; i < probes->count; i++)
    if (probes->probes[i].step == step) return CALM_OK;
  layout_probe *probe = &probes->probes[probes->count];
  const size_t most = (size_t)probes->problem->piece_count / (CHUNK_GAPS / 2);
  *probe = (layout_probe){.step = step, .made = 1};
  ARENA_ARRAY(probes->arena, probe->chunks, most + 2);
  ARENA_ARRAY(probes->arena, probe->chunks[0], 1);
  probes->count++;
  return CALM_OK;
}

calm_status layout_probes_make(layout_probes *out, const layout_problem *p,
                               const layout_overlap *index, arena *a) {
  layout_probes probes = {.problem = p, .arena = a};
  const uint32_t n = p->piece_count;
  if (n > FEWEST_PIECES) {
    int64_t crowd = 0;
    probes.unit = layout_offset_unit(p);
    if (probes.unit == 0) probes.unit = 1;
    TRY(find_crowd(&crowd, index, a));
    TRY(add_probe(&probes, crowd));
    for (uint64_t i = 1; i < PROBES_MOST; i++)
      TRY(add_probe(&probes,
                    nth_begin(index, (uint32_t)(n * i / PROBES_MOST))));
  }
  layout_probes_clear(&probes);
  *out = probes;
  return CALM_OK;
}

void layout_probes_clear(layout_probes *probes) {
  for (uint32_t i = 0; i < probes->count; i++) {
    layout_probe *probe = &probes->probes[i];
    probe->count = 1;
    probe->chunks[0]->count = 1;
    probe->chunks[0]->gaps[0] = (gap){0, UINT64_MAX};
    probe->chunks[0]->widest = UINT64_MAX;
  }
}

/* ---- Taking bytes -------------------------------------------------------- */

static void measure_chunk(gap_chunk *chunk) {
  chunk->widest = 0;
  for (uint32_t i = 0; i < chunk->count; i++) {
    const uint64_t bytes = chunk->gaps[i].high - chunk->gaps[i].low;
    if (bytes > chunk->widest) chunk->widest = bytes;
  }
}

/* Move the upper half of a full chunk into one of its own. */
static calm_status split_chunk(layout_probe *probe, uint32_t at, arena *a) {
  gap_chunk *full = probe->chunks[at], *upper;
  if (full->count < CHUNK_GAPS) return CALM_OK;
  if (probe->made == probe->count) {
    ARENA_ARRAY(a, probe->chunks[probe->made], 1);
    probe->made++;
  }
  upper = probe->chunks[probe->count];
  memmove(&probe->chunks[at + 2], &probe->chunks[at + 1],
          (probe->count - at - 1) * sizeof *probe->chunks);
  probe->chunks[at + 1] = upper;
  probe->count++;
  upper->count = CHUNK_GAPS / 2;
  full->count = CHUNK_GAPS - upper->count;
  memcpy(upper->gaps, &full->gaps[full->count],
         upper->count * sizeof *upper->gaps);
  measure_chunk(full);
  measure_chunk(upper);
  return CALM_OK;
}

/* Leave of gap `at` what lies on either side of the bytes taken. */
static void cut_gap(gap_chunk *chunk, uint32_t at, gap taken) {
  const gap whole = chunk->gaps[at];
  gap rest[2];
  uint32_t kept = 0;
  if (whole.low < taken.low) rest[kept++] = (gap){whole.low, taken.low};
  if (taken.high < whole.high) rest[kept++] = (gap){taken.high, whole.high};
  memmove(&chunk->gaps[at + kept], &chunk->gaps[at + 1],
          (chunk->count - at - 1) * sizeof *chunk->gaps);
  memcpy(&chunk->gaps[at], rest, kept * sizeof *rest);
  chunk->count += kept - 1;
  measure_chunk(chunk);
}

/* The chunk whose last gap is the first to reach above `low`. */
static uint32_t find_chunk(const layout_probe *probe, uint64_t low) {
  uint32_t i = 0;
  for (; i + 1 < probe->count; i++) {
    const gap_chunk *chunk = probe->chunks[i];
    if (chunk->count && chunk->gaps[chunk->count - 1].high > low) break;
  }
  return i;
}

static calm_status take(layout_probe *probe, gap taken, arena *a) {
  uint32_t at = find_chunk(probe, taken.low), i = 0;
  TRY(split_chunk(probe, at, a));
  at = find_chunk(probe, taken.low);
  gap_chunk *chunk = probe->chunks[at];
  while (chunk->gaps[i].high <= taken.low) i++;
  cut_gap(chunk, i, taken);
  return CALM_OK;
}

static bool is_watched(const layout_probe *probe, const layout_piece *piece) {
  return piece->lower <= probe->step && probe->step < piece->upper;
}

/* Bytes between an end and the next multiple of the unit are of no use to
   anyone, and would only be a gap too narrow. */
calm_status layout_probes_add(layout_probes *probes, const layout_piece *piece,
                              uint64_t offset) {
  for (uint32_t i = 0; i < probes->count; i++) {
    if (!is_watched(&probes->probes[i], piece)) continue;
    const uint64_t high = number_round_up(offset + piece->high, probes->unit);
    TRY(take(&probes->probes[i], (gap){offset + piece->low, high},
             probes->arena));
  }
  return CALM_OK;
}

/* ---- Questions ----------------------------------------------------------- */

/* The lowest offset from `from` on at which the piece lies in the gap; the
   caller sees whether it ends there. */
static uint64_t enter_gap(const gap *g, const layout_piece *piece,
                          uint64_t from, uint64_t align) {
  if (g->low <= from + piece->low) return from;
  return number_round_up(g->low - piece->low, align);
}

/* The last gap has no end, so that there is an answer. */
static uint64_t first_fit(const layout_probe *probe, const layout_piece *piece,
                          uint64_t from, uint64_t align, uint64_t *work) {
  const uint64_t bytes = piece->high - piece->low;
  for (uint32_t i = find_chunk(probe, from + piece->low); i < probe->count;
       i++) {
    const gap_chunk *chunk = probe->chunks[i];
    *work += 1;
    if (chunk->widest < bytes) continue;
    *work += chunk->count;
    for (uint32_t k = 0; k < chunk->count; k++) {
      const gap *g = &chunk->gaps[k];
      const uint64_t offset = enter_gap(g, piece, from, align);
      if (offset + piece->high <= g->high) return offset;
    }
  }
  return from;
}

/* Each probe raises the offset past what it sees.  Once around is not always
   the least that all agree on, but a bound all the same. */
uint64_t layout_probes_bound(const layout_probes *probes, uint32_t body,
                             uint64_t *work) {
  const layout_problem *p = probes->problem;
  uint64_t offset = 0;
  if (probes->count == 0) return 0;
  for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++)
    for (uint32_t k = 0; k < probes->count; k++)
      if (is_watched(&probes->probes[k], &p->pieces[i]))
        offset = first_fit(&probes->probes[k], &p->pieces[i], offset,
                           p->bodies[body].align, work);
  return offset;
}
