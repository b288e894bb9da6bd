/*
 * The state of a search: a skyline that rises over the sections of a strip.
 *
 * All bodies that have no place yet lie at or above floor[s] in every section s
 * they live in; offset[b] is the least offset at which body b can still lie.
 * What a placed body holds above the floor of a section (because it leaves a
 * gap below, or because other sections carry it) is an obstacle there until the
 * floor reaches it.  Every change is on a trail and can be taken back.
 */
#ifndef CALM_LAYOUT_LAYOUT_SKYLINE_H
#define CALM_LAYOUT_LAYOUT_SKYLINE_H

#include "base/vector.h"
#include "layout/layout_strip.h"

typedef struct skyline_obstacle {
  int64_t low, high;
} skyline_obstacle;

typedef struct skyline_change {
  int64_t *where, old;
} skyline_change;

typedef struct skyline {
  calm_context *context;
  const layout_strip *strip;
  uint64_t capacity_bytes;
  bool failed_memory; /* the trail could not grow: the state is of no use */
  /* per section */
  int64_t *floor;
  int64_t *remaining; /* granules to come above the floor */
  int64_t *ceiling;   /* highest granule, this capacity */
  int64_t *count;     /* bodies without a place */
  int64_t *tight;     /* of those, the ones that could rest on the floor */
  int64_t *crossing;  /* bodies without a place alive at s and later */
  int64_t *set_hash;  /* two words: of bodies without a place that begin here */
  int64_t *obstacle_count;
  uint32_t *obstacle_begin;
  skyline_obstacle *obstacles;
  /* per body */
  int64_t *offset, *limit, *placed;
  int64_t *hash; /* two words */
  /* sparse sets: cells of bodies without a place come first in a section */
  uint32_t *members, *position;
  int64_t obstacles_seen; /* obstacles in all sections, dead ones included */
  /* sections to look at again */
  uint32_t *queue, queue_head, queue_count;
  uint8_t *queued;
  uint32_t conflict; /* the section in which propagation failed last */
  uint64_t work;     /* examined elements, for ticks */
  VECTOR(skyline_change) trail;
} skyline;

calm_status skyline_make(skyline *out, const layout_strip *strip, arena *a);
void skyline_free(skyline *s);

/* The empty state for an arena of that size; false if that is too small. */
bool skyline_reset(skyline *s, uint64_t capacity_bytes);

/* Give a body the offset s->offset[body].  Follow with skyline_settle. */
void skyline_place(skyline *s, uint32_t body);

/* Let nothing lie below `height` in a section any more. */
void skyline_raise(skyline *s, uint32_t section, int64_t height);

/* Draw all conclusions; false if the state has no completion. */
bool skyline_settle(skyline *s);

static inline uint32_t skyline_mark(const skyline *s) { return s->trail.count; }
void skyline_undo(skyline *s, uint32_t mark);

/* Granules of a section that will stay empty in any completion. */
static inline int64_t skyline_slack(const skyline *s, uint32_t section) {
  return s->ceiling[section] - s->floor[section] - s->remaining[section];
}

/* The cell of member `i` of a section, 0 <= i < count. */
static inline const strip_cell *skyline_member(const skyline *s,
                                               uint32_t section, int64_t i) {
  uint32_t at = s->strip->member_begin[section] + (uint32_t)i;
  return &s->strip->cells[s->members[at]];
}

/* Does the cell's body rest on the floor of its section if it goes there? */
static inline bool skyline_is_tight(const skyline *s, const strip_cell *cell) {
  return s->offset[cell->body] + cell->low == s->floor[cell->section];
}

#endif
