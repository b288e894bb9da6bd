/*
 * The referee.  It uses nothing of the other files of this room: what they
 * believe about collisions must not decide whether they were right.
 */
#include "layout/layout.h"

static bool report(layout_fault *out, layout_fault_kind kind, uint32_t a,
                   uint32_t b, int64_t step) {
  *out = (layout_fault){kind, a, b, step};
  return true;
}

static bool occupies(const layout_piece *p) {
  return p->lower < p->upper && p->low < p->high;
}

static bool check_offset(layout_fault *out, const layout_problem *p,
                         uint32_t body, uint64_t offset) {
  const layout_body *b = &p->bodies[body];
  if (b->fixed && offset != b->offset)
    return report(out, LAYOUT_MOVED, body, CALM_NONE, 0);
  if (offset % b->align != 0)
    return report(out, LAYOUT_MISALIGNED, body, CALM_NONE, 0);
  return false;
}

static bool check_end(layout_fault *out, const layout_piece *piece,
                      uint64_t offset, uint64_t arena_bytes) {
  if (!occupies(piece)) return false;
  if (offset <= arena_bytes && piece->high <= arena_bytes - offset)
    return false;
  return report(out, LAYOUT_OUTSIDE, piece->body, CALM_NONE, piece->lower);
}

static bool check_pair(layout_fault *out, const layout_piece *a,
                       const layout_piece *b, const uint64_t *offsets) {
  if (a->body == b->body || !occupies(a) || !occupies(b)) return false;
  int64_t lower = a->lower > b->lower ? a->lower : b->lower;
  int64_t upper = a->upper < b->upper ? a->upper : b->upper;
  if (lower >= upper) return false;
  uint64_t at = offsets[a->body], bt = offsets[b->body];
  if (at + a->high <= bt + b->low || bt + b->high <= at + a->low) return false;
  return report(out, LAYOUT_OVERLAP, a->body, b->body, lower);
}

/* Ends are compared with the arena before pairs, so that no sum of a pair
   wraps. */
bool layout_check(layout_fault *out, const layout_problem *p,
                  const uint64_t *offsets, uint64_t arena_bytes) {
  for (uint32_t b = 0; b < p->body_count; b++)
    if (check_offset(out, p, b, offsets[b])) return true;
  for (uint32_t i = 0; i < p->piece_count; i++)
    if (check_end(out, &p->pieces[i], offsets[p->pieces[i].body], arena_bytes))
      return true;
  for (uint32_t i = 0; i < p->piece_count; i++)
    for (uint32_t j = i + 1; j < p->piece_count; j++)
      if (check_pair(out, &p->pieces[i], &p->pieces[j], offsets)) return true;
  return false;
}
