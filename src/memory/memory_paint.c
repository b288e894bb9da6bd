#include "memory/memory_paint.h"

#include <string.h>

void painting_free(painting *p) { VECTOR_FREE(p->context, &p->segments); }

/* The first segment that ends behind a byte. */
static uint32_t find(const painting *p, uint64_t byte) {
  uint32_t low = 0, high = p->segments.count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (p->segments.data[middle].end <= byte)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static calm_status insert(painting *p, uint32_t at, paint_segment segment) {
  VECTOR_RESERVE(p->context, &p->segments, 1);
  paint_segment *s = &p->segments.data[at];
  memmove(s + 1, s, (p->segments.count - at) * sizeof *s);
  *s = segment;
  p->segments.count++;
  return CALM_OK;
}

static paint_segment behind(paint_segment segment, uint64_t byte) {
  segment.from += byte - segment.begin;
  segment.begin = byte;
  return segment;
}

/* Cut [begin, end) out of all segments; *at is where it was. */
static calm_status cut(painting *p, uint32_t *at, uint64_t begin,
                       uint64_t end) {
  uint32_t i = find(p, begin), gone = 0;
  paint_segment *s = p->segments.data;
  if (i < p->segments.count && s[i].begin < begin) {
    const paint_segment whole = s[i];
    s[i++].end = begin;
    if (whole.end > end) TRY(insert(p, i, behind(whole, end)));
    s = p->segments.data;
  }
  while (i + gone < p->segments.count && s[i + gone].end <= end) gone++;
  if (gone)
    memmove(s + i, s + i + gone, (p->segments.count - i - gone) * sizeof *s);
  p->segments.count -= gone;
  if (i < p->segments.count && s[i].begin < end) s[i] = behind(s[i], end);
  *at = i;
  return CALM_OK;
}

static bool continues(const paint_segment *s, const paint_segment *next) {
  return s->end == next->begin && s->owner == next->owner &&
         s->from + (s->end - s->begin) == next->from;
}

calm_status painting_put(painting *p, paint_segment segment) {
  uint32_t at;
  if (segment.begin >= segment.end) return CALM_OK;
  TRY(cut(p, &at, segment.begin, segment.end));
  if (at && continues(&p->segments.data[at - 1], &segment)) {
    p->segments.data[at - 1].end = segment.end;
    return CALM_OK;
  }
  return insert(p, at, segment);
}

bool painting_holds(uint64_t *out_byte, uint32_t *out_owner, const painting *p,
                    paint_segment segment) {
  uint32_t i = find(p, segment.begin);
  for (uint64_t byte = segment.begin; byte < segment.end; i++) {
    const paint_segment *s =
        i < p->segments.count ? &p->segments.data[i] : NULL;
    const bool there = s && s->begin <= byte;
    if (!there || s->owner != segment.owner ||
        s->from + (byte - s->begin) != segment.from + (byte - segment.begin)) {
      *out_byte = byte;
      *out_owner = there ? s->owner : CALM_NONE;
      return false;
    }
    byte = s->end;
  }
  return true;
}
