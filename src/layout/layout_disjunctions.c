/*
 * Offsets have limits [low, high].  The lowest offsets that the choices made so
 * far allow are a placement, unless some pair is in a gap that nobody has
 * chosen about; then one such gap is chosen about, first the side that raises a
 * limit least.  All changes are on a trail, so that a choice can be taken back.
 */
#include "layout/layout_disjunctions.h"

#include "base/number.h"
#include "base/vector.h"

typedef enum side { OPEN, BELOW, ABOVE } side;

/* offset of a - offset of b: at most `after` (BELOW) or at least `before`. */
typedef struct choice {
  uint32_t a, b;
  int64_t after, before;
  side side;
} choice;

/* What a limit or a side was. */
typedef enum mark_kind { MARK_LOW, MARK_HIGH, MARK_SIDE } mark_kind;
typedef struct mark {
  mark_kind kind;
  uint32_t index;
  int64_t old;
} mark;

typedef struct frame {
  uint32_t choice, trail;
  side second; /* the side still to be tried; OPEN: none */
} frame;

struct layout_disjunctions {
  const layout_distances *d;
  calm_context *context;
  choice *choices;
  uint32_t choice_count;
  uint32_t *of_begin, *of; /* per body: its choices */
  int64_t *low, *high;
  uint32_t *queue; /* bodies whose limits have changed; a ring */
  bool *queued;
  uint32_t head, waiting;
  VECTOR(mark) trail;
  frame *frames; /* one per choice at most */
  uint32_t depth;
  uint64_t nodes;
};

static uint64_t align_of(const layout_disjunctions *s, uint32_t body) {
  return s->d->p->bodies[body].align;
}

/* ---- Changes, and back --------------------------------------------------- */

static calm_status remember(layout_disjunctions *s, mark_kind kind,
                            uint32_t index, int64_t old) {
  VECTOR_PUSH(s->context, &s->trail, (mark){kind, index, old});
  return CALM_OK;
}

static void take_back(layout_disjunctions *s, uint32_t trail) {
  while (s->trail.count > trail) {
    const mark *m = &s->trail.data[--s->trail.count];
    switch (m->kind) {
      case MARK_LOW: s->low[m->index] = m->old; break;
      case MARK_HIGH: s->high[m->index] = m->old; break;
      case MARK_SIDE: s->choices[m->index].side = (side)m->old; break;
    }
  }
}

static void enqueue(layout_disjunctions *s, uint32_t body) {
  const uint32_t bodies = s->d->p->body_count;
  if (s->queued[body]) return;
  s->queued[body] = true;
  s->queue[(s->head + s->waiting++) % bodies] = body;
}

static uint32_t dequeue(layout_disjunctions *s) {
  const uint32_t body = s->queue[s->head];
  s->head = (s->head + 1) % s->d->p->body_count;
  s->waiting--;
  s->queued[body] = false;
  return body;
}

static calm_status raise_low(layout_disjunctions *s, uint32_t body,
                             int64_t low) {
  if (low <= s->low[body]) return CALM_OK;
  TRY(remember(s, MARK_LOW, body, s->low[body]));
  s->low[body] = (int64_t)number_round_up((uint64_t)low, align_of(s, body));
  enqueue(s, body);
  return CALM_OK;
}

/* A limit below zero is out of reach, whatever it is. */
static calm_status lower_high(layout_disjunctions *s, uint32_t body,
                              int64_t high) {
  if (high >= s->high[body]) return CALM_OK;
  TRY(remember(s, MARK_HIGH, body, s->high[body]));
  s->high[body] = high < 0 ? -1 : high - high % (int64_t)align_of(s, body);
  enqueue(s, body);
  return CALM_OK;
}

/* ---- Consequences -------------------------------------------------------- */

static calm_status enforce(layout_disjunctions *s, const choice *c) {
  if (c->side == BELOW) {
    TRY(lower_high(s, c->a, s->high[c->b] + c->after));
    return raise_low(s, c->b, s->low[c->a] - c->after);
  }
  TRY(raise_low(s, c->a, s->low[c->b] + c->before));
  return lower_high(s, c->b, s->high[c->a] - c->before);
}

/* *possible false: neither side is within reach. */
static calm_status look_at(layout_disjunctions *s, uint32_t index,
                           bool *possible) {
  choice *c = &s->choices[index];
  if (c->side == OPEN) {
    const bool below = s->low[c->a] - s->high[c->b] <= c->after;
    const bool above = s->high[c->a] - s->low[c->b] >= c->before;
    *possible = below || above;
    if (below == above) return CALM_OK;
    TRY(remember(s, MARK_SIDE, index, OPEN));
    c->side = below ? BELOW : ABOVE;
  }
  TRY(enforce(s, c));
  *possible = s->low[c->a] <= s->high[c->a] && s->low[c->b] <= s->high[c->b];
  return CALM_OK;
}

/* Until nothing changes any more; the queue is empty afterwards. */
static calm_status propagate(layout_disjunctions *s, bool *possible,
                             limits *l) {
  calm_status status = CALM_OK;
  *possible = true;
  while (s->waiting && status == CALM_OK && *possible) {
    const uint32_t body = dequeue(s);
    const uint32_t end = s->of_begin[body + 1];
    if (limits_spend(l, 1 + end - s->of_begin[body])) break;
    for (uint32_t i = s->of_begin[body];
         i < end && *possible && status == CALM_OK; i++)
      status = look_at(s, s->of[i], possible);
  }
  while (s->waiting) dequeue(s);
  return status;
}

/* ---- Search -------------------------------------------------------------- */

/* The open gap that the lowest offsets fall into and that is widest; CALM_NONE:
   they are a placement. */
static uint32_t find_violated(const layout_disjunctions *s) {
  uint32_t best = CALM_NONE;
  int64_t width = -1;
  for (uint32_t i = 0; i < s->choice_count; i++) {
    const choice *c = &s->choices[i];
    const int64_t difference = s->low[c->a] - s->low[c->b];
    if (c->side == OPEN && difference > c->after && difference < c->before &&
        c->before - c->after > width) {
      width = c->before - c->after;
      best = i;
    }
  }
  return best;
}

/* The side that raises a lowest offset by less. */
static side nearer_side(const layout_disjunctions *s, const choice *c) {
  const int64_t difference = s->low[c->a] - s->low[c->b];
  return difference - c->after <= c->before - difference ? BELOW : ABOVE;
}

static calm_status take_side(layout_disjunctions *s, uint32_t index, side to,
                             bool *possible, limits *l) {
  choice *c = &s->choices[index];
  s->nodes++;
  TRY(remember(s, MARK_SIDE, index, c->side));
  c->side = to;
  TRY(enforce(s, c));
  return propagate(s, possible, l);
}

static calm_status decide(layout_disjunctions *s, uint32_t index,
                          bool *possible, limits *l) {
  const side first = nearer_side(s, &s->choices[index]);
  s->frames[s->depth++] =
      (frame){index, s->trail.count, first == BELOW ? ABOVE : BELOW};
  return take_side(s, index, first, possible, l);
}

/* The other side of the last choice that has one; false: none has. */
static calm_status go_back(layout_disjunctions *s, bool *any, bool *possible,
                           limits *l) {
  *any = false;
  while (s->depth) {
    frame *f = &s->frames[s->depth - 1];
    const side second = f->second;
    take_back(s, f->trail);
    if (second == OPEN) {
      s->depth--;
      continue;
    }
    *any = true;
    f->second = OPEN;
    return take_side(s, f->choice, second, possible, l);
  }
  return CALM_OK;
}

static calm_status search(layout_disjunctions *s, layout_answer *out,
                          bool possible, uint64_t most_nodes, limits *l) {
  const uint64_t first = s->nodes;
  *out = LAYOUT_UNKNOWN;
  while (!limits_spend(l, s->choice_count / 8 + 1)) {
    if (!possible) {
      bool any;
      TRY(go_back(s, &any, &possible, l));
      if (!any) {
        *out = l->reason == LIMITS_NONE ? LAYOUT_NO : LAYOUT_UNKNOWN;
        return CALM_OK;
      }
      continue;
    }
    const uint32_t violated = find_violated(s);
    if (violated == CALM_NONE) {
      *out = LAYOUT_YES;
      return CALM_OK;
    }
    if (s->nodes - first >= most_nodes) return CALM_OK;
    TRY(decide(s, violated, &possible, l));
  }
  return CALM_OK;
}

/* ---- Questions ----------------------------------------------------------- */

/* False: some body alone is too large. */
static bool set_limits(layout_disjunctions *s, uint64_t arena_bytes) {
  const layout_problem *p = s->d->p;
  for (uint32_t b = 0; b < p->body_count; b++) {
    const layout_body *body = &p->bodies[b];
    if (s->d->span[b] > arena_bytes) return false;
    const uint64_t room = arena_bytes - s->d->span[b];
    if (body->fixed && body->offset > room && s->d->span[b]) return false;
    s->low[b] = body->fixed ? (int64_t)body->offset : 0;
    s->high[b] = body->fixed ? s->low[b] : (int64_t)(room - room % body->align);
    enqueue(s, b);
  }
  return true;
}

static void forget(layout_disjunctions *s) {
  s->trail.count = 0;
  s->depth = 0;
  while (s->waiting) dequeue(s);
  for (uint32_t i = 0; i < s->choice_count; i++) s->choices[i].side = OPEN;
}

calm_status layout_disjunctions_ask(layout_answer *out, layout_disjunctions *s,
                                    uint64_t *offsets, uint64_t arena_bytes,
                                    uint64_t most_nodes, limits *l) {
  bool possible;
  forget(s);
  *out = LAYOUT_NO;
  if (!set_limits(s, arena_bytes)) {
    forget(s);
    return CALM_OK;
  }
  TRY(propagate(s, &possible, l));
  if (l->reason != LIMITS_NONE) {
    *out = LAYOUT_UNKNOWN;
    return CALM_OK;
  }
  TRY(search(s, out, possible, most_nodes, l));
  if (*out == LAYOUT_YES)
    for (uint32_t b = 0; b < s->d->p->body_count; b++)
      offsets[b] = (uint64_t)s->low[b];
  return CALM_OK;
}

uint64_t layout_disjunctions_nodes(const layout_disjunctions *s) {
  return s->nodes;
}

/* ---- Making one ---------------------------------------------------------- */

/* Each pair from its smaller body. */
static calm_status list_choices(layout_disjunctions *s, arena *a) {
  const layout_distances *d = s->d;
  const uint32_t bodies = d->p->body_count;
  uint32_t *next;
  ARENA_ARRAY(a, s->choices, d->gap_begin[bodies] / 2);
  ARENA_ARRAY(a, s->of, d->gap_begin[bodies]);
  ARENA_ARRAY(a, next, bodies);
  s->of_begin = d->gap_begin; /* as many as gaps */
  for (uint32_t b = 0; b < bodies; b++) next[b] = d->gap_begin[b];
  for (uint32_t b = 0; b < bodies; b++)
    for (uint32_t i = d->gap_begin[b]; i < d->gap_begin[b + 1]; i++) {
      const layout_gap *gap = &d->gaps[i];
      if (gap->other < b) continue;
      s->choices[s->choice_count] =
          (choice){b, gap->other, gap->after, gap->before, OPEN};
      s->of[next[b]++] = s->choice_count;
      s->of[next[gap->other]++] = s->choice_count++;
    }
  return CALM_OK;
}

calm_status layout_disjunctions_new(layout_disjunctions **out,
                                    const layout_distances *d, arena *a) {
  const uint32_t bodies = d->p->body_count;
  layout_disjunctions *s = arena_calloc(a, 1, sizeof *s);
  if (!s) return context_no_memory(a->context);
  s->d = d;
  s->context = a->context;
  TRY(list_choices(s, a));
  ARENA_ARRAY(a, s->low, bodies);
  ARENA_ARRAY(a, s->high, bodies);
  ARENA_ARRAY(a, s->queue, bodies);
  ARENA_ARRAY(a, s->queued, bodies);
  ARENA_ARRAY(a, s->frames, s->choice_count);
  *out = s;
  return CALM_OK;
}

void layout_disjunctions_free(layout_disjunctions *s) {
  if (s) VECTOR_FREE(s->context, &s->trail);
}
