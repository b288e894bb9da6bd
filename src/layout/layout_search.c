/*
 * Bodies are put on the skyline from below, and the question at each step is
 * not which body comes next but which body lies on the floor of one section:
 * the section with the fewest candidates, among all valleys of the skyline.
 * Where no empty granule is left the next body is often forced.  One more
 * branch says that nothing lies on that floor; it lifts the floor to the next
 * height at which something can begin.
 *
 * Why nothing is lost: take a completion in which no body can be moved down.
 * In any section either some body begins at the floor, or the lowest one there
 * rests, in one of its sections, on an obstacle or on a body without a place;
 * next_height() is a lower bound of where it then begins.
 *
 * After a choice the time line may fall apart; parts are solved one by one, and
 * a part that fails refutes the choice.  Frames live on a stack of their own.
 */
#include "layout/layout_search.h"

#include "layout/layout_restart.h"

/* Choices that are no bodies. */
#define LEAVE_EMPTY UINT32_MAX
#define BEGIN (UINT32_MAX - 1)

calm_status layout_search_make(layout_search *out, const layout_strip *strip,
                               const layout_options *options, arena *a,
                               limits *l) {
  uint64_t room = l->max_bytes == UINT64_MAX ? l->max_bytes : l->max_bytes / 2;
  *out = (layout_search){.strip = strip, .options = options, .l = l};
  ARENA_ARRAY(a, out->score, strip->body_count);
  ARENA_ARRAY(a, out->weight, strip->section_count);
  for (uint32_t i = 0; i < strip->section_count; i++) out->weight[i] = 1;
  out->random = random_from_seed(options->seed);
  failures_init(&out->failures, l->context, room);
  return skyline_make(&out->sky, strip, a);
}

void layout_search_free(layout_search *s) {
  if (!s->l) return;
  calm_context *context = s->l->context;
  skyline_free(&s->sky);
  failures_free(&s->failures);
  VECTOR_FREE(context, &s->frames);
  VECTOR_FREE(context, &s->choices);
  VECTOR_FREE(context, &s->parts);
}

/* ---- Where to branch ----------------------------------------------------- */

/* The best section seen so far. */
typedef struct pick {
  uint32_t section; /* CALM_NONE: none yet */
  uint64_t choices, weight;
  int64_t slack;
} pick;

static pick rate_section(const layout_search *s, uint32_t section) {
  int64_t slack = skyline_slack(&s->sky, section);
  return (pick){section, (uint64_t)s->sky.tight[section] + (slack > 0),
                s->weighted ? s->weight[section] : 1, slack};
}

/* Fewer choices per conflict, then less slack, then the lower floor. */
static bool is_better(const layout_search *s, const pick *a, const pick *b) {
  if (b->section == CALM_NONE) return true;
  uint64_t left = a->choices * b->weight, right = b->choices * a->weight;
  if (left != right) return left < right;
  if (a->slack != b->slack) return a->slack < b->slack;
  return s->sky.floor[a->section] < s->sky.floor[b->section];
}

/* Is there nothing left to place beside the valley, or a higher floor? */
static bool is_wall(const layout_search *s, uint32_t section, bool inside,
                    int64_t floor) {
  return !inside || s->sky.count[section] == 0 || s->sky.floor[section] > floor;
}

/* The first section behind a run of equal floors that begins at `begin`. */
static uint32_t run_end(const layout_search *s, const search_part *part,
                        uint32_t begin) {
  uint32_t end = begin + 1;
  while (end <= part->last && s->sky.count[end] &&
         s->sky.floor[end] == s->sky.floor[begin])
    end++;
  return end;
}

static int64_t lowest_floor(const layout_search *s, const search_part *part) {
  int64_t lowest = INT64_MAX;
  for (uint32_t i = part->first; i <= part->last; i++)
    if (s->sky.count[i] && s->sky.floor[i] < lowest) lowest = s->sky.floor[i];
  return lowest;
}

/* Any section would do; valleys keep obstacles away. */
static uint32_t choose_section(const layout_search *s,
                               const search_part *part) {
  pick best = {.section = CALM_NONE};
  int64_t most = s->options->all_valleys ? INT64_MAX : lowest_floor(s, part);
  for (uint32_t i = part->first, end; i <= part->last; i = end) {
    end = i + 1;
    if (s->sky.count[i] == 0) continue;
    end = run_end(s, part, i);
    int64_t floor = s->sky.floor[i];
    if (floor > most || !is_wall(s, i - 1, i > part->first, floor) ||
        !is_wall(s, end, end <= part->last, floor))
      continue;
    for (uint32_t j = i; j < end; j++) {
      pick one = rate_section(s, j);
      if (is_better(s, &one, &best)) best = one;
    }
  }
  return best.section;
}

/* ---- What can lie there -------------------------------------------------- */

/* Of equal bodies without a place only the first is tried. */
static bool is_second_twin(const layout_search *s, uint32_t body) {
  uint32_t twin = s->strip->bodies[body].twin;
  return twin != CALM_NONE && !s->sky.placed[twin];
}

static calm_status push_choice(layout_search *s, uint32_t begin,
                               uint32_t body) {
  VECTOR_PUSH(s->l->context, &s->choices, body);
  uint32_t *list = s->choices.data + begin;
  uint32_t i = s->choices.count - begin - 1;
  for (; i > 0 && s->score[list[i - 1]] < s->score[body]; i--)
    list[i] = list[i - 1];
  list[i] = body;
  return CALM_OK;
}

static calm_status push_choices(layout_search *s, uint32_t section) {
  uint32_t begin = s->choices.count;
  for (int64_t i = 0; i < s->sky.count[section]; i++) {
    const strip_cell *cell = skyline_member(&s->sky, section, i);
    if (skyline_is_tight(&s->sky, cell) && !is_second_twin(s, cell->body))
      TRY(push_choice(s, begin, cell->body));
  }
  if (skyline_slack(&s->sky, section) > 0)
    VECTOR_PUSH(s->l->context, &s->choices, LEAVE_EMPTY);
  return CALM_OK;
}

/* ---- Nothing lies there: how high is the next beginning? ----------------- */

static int64_t highest_low(const layout_search *s, const strip_cell *cell) {
  return s->strip->grid->spans[cell->span_end - 1].low;
}

static int64_t lowest_high(const layout_search *s, const strip_cell *cell) {
  return s->strip->grid->spans[cell->span_begin].high;
}

/* Boxes that meet in a section lie on the same sides everywhere: what is above
   the lowest of a section cannot carry it elsewhere. */
static bool cannot_carry(const strip_body *above, const strip_body *lowest,
                         uint32_t section) {
  return above->box && lowest->box && above->first <= section &&
         section <= above->last;
}

/*
 * Where the tight body of `base` begins in its section if it is the lowest
 * there, does not lie on the floor and cannot be moved down: it rests on
 * something without a place, or on an obstacle, in one of its sections.
 */
static int64_t next_height_of(layout_search *s, const strip_cell *base) {
  const skyline *sky = &s->sky;
  const strip_body *body = &s->strip->bodies[base->body];
  int64_t floor = sky->floor[base->section], least = INT64_MAX;
  for (uint32_t c = body->cell_begin; c < body->cell_end; c++) {
    const strip_cell *cell = &s->strip->cells[c];
    uint32_t t = cell->section;
    int64_t shift = base->low - highest_low(s, cell);
    for (int64_t i = 0; i < sky->count[t] && least > floor; i++) {
      const strip_cell *other = skyline_member(sky, t, i);
      const strip_body *below = &s->strip->bodies[other->body];
      if (below == body || cannot_carry(below, body, base->section)) continue;
      int64_t top = sky->offset[other->body] + lowest_high(s, other) + shift;
      if (top < least) least = top;
    }
    const skyline_obstacle *o = &sky->obstacles[sky->obstacle_begin[t]];
    for (int64_t i = 0; i < sky->obstacle_count[t]; i++)
      if (o[i].high > sky->floor[t] &&
          o[i].high - cell->low + base->low > floor &&
          o[i].high + shift < least)
        least = o[i].high + shift;
    s->sky.work += (uint64_t)sky->count[t];
  }
  if (least == INT64_MAX) return least;
  if (least <= floor) least = floor + 1;
  int64_t at = least - base->low, rest = at % body->align;
  return least + (rest ? body->align - rest : 0);
}

/* INT64_MAX: nothing could ever begin above an empty floor. */
static int64_t next_height(layout_search *s, uint32_t section) {
  int64_t least = INT64_MAX;
  for (int64_t i = 0; i < s->sky.count[section]; i++) {
    const strip_cell *cell = skyline_member(&s->sky, section, i);
    int64_t height = s->sky.offset[cell->body] + cell->low;
    if (height == s->sky.floor[section]) height = next_height_of(s, cell);
    if (height < least) least = height;
  }
  return least;
}

/* ---- Frames -------------------------------------------------------------- */

static calm_status push_frame(layout_search *s, search_frame frame) {
  frame.choice_begin = frame.choice_next = s->choices.count;
  frame.part_begin = frame.part_next = s->parts.count;
  frame.mark = skyline_mark(&s->sky);
  VECTOR_PUSH(s->l->context, &s->frames, frame);
  return CALM_OK;
}

/* Begin with a part, unless it is known to fail. */
static calm_status open_frame(bool *opened, layout_search *s,
                              search_part part) {
  search_frame frame = {.part = part};
  *opened = false;
  if (s->options->memory) {
    frame.keys = failures_key(&s->sky, part);
    if (failures_has(&s->failures, &frame.keys, &s->sky, part)) return CALM_OK;
  }
  frame.section = choose_section(s, &part);
  s->sky.work += part.last - part.first + 1;
  TRY(push_frame(s, frame));
  *opened = true;
  return push_choices(s, frame.section);
}

/* Drop a frame with its choices and parts; the state stays as it is. */
static void pop_frame(layout_search *s) {
  const search_frame *f = &s->frames.data[--s->frames.count];
  s->choices.count = f->choice_begin;
  s->parts.count = f->part_begin;
}

static void insert_part(layout_search *s, uint32_t begin) {
  search_part *list = s->parts.data + begin;
  uint32_t i = s->parts.count - begin - 1;
  search_part part = list[i];
  for (; i > 0 && list[i - 1].last - list[i - 1].first > part.last - part.first;
       i--)
    list[i] = list[i - 1];
  list[i] = part;
}

/* The parts that are left of a part, short ones first. */
static calm_status push_parts(layout_search *s, const search_part *part) {
  uint32_t begin = s->parts.count, i = part->first, end;
  for (; i <= part->last; i = end + 1) {
    end = i;
    while (s->sky.crossing[end] && end < part->last) end++;
    if (!s->options->decompose) end = part->last;
    bool any = false;
    for (uint32_t j = i; j <= end; j++) any = any || s->sky.count[j];
    if (!any) continue;
    VECTOR_PUSH(s->l->context, &s->parts, (search_part){i, end});
    insert_part(s, begin);
  }
  return CALM_OK;
}

/* ---- The search ---------------------------------------------------------- */

static bool apply(layout_search *s, uint32_t section, uint32_t choice) {
  if (choice == BEGIN) return true;
  s->nodes++;
  if (choice == LEAVE_EMPTY) {
    int64_t height = next_height(s, section);
    if (height > s->sky.ceiling[section]) return false;
    skyline_raise(&s->sky, section, height);
  } else {
    skyline_place(&s->sky, choice);
  }
  if (skyline_settle(&s->sky)) return true;
  s->weight[s->sky.conflict]++;
  return false;
}

/* Take the next choice of the top frame that is not refuted at once. */
static calm_status advance(bool *advanced, layout_search *s) {
  search_frame *f = &s->frames.data[s->frames.count - 1];
  *advanced = false;
  while (f->choice_next < s->choices.count) {
    skyline_undo(&s->sky, f->mark);
    s->parts.count = f->part_next = f->part_begin;
    if (!apply(s, f->section, s->choices.data[f->choice_next++])) {
      if (s->sky.failed_memory) return context_no_memory(s->l->context);
      continue;
    }
    f->chosen = *advanced = true;
    return push_parts(s, &f->part);
  }
  skyline_undo(&s->sky, f->mark);
  return CALM_OK;
}

static void remember_failure(layout_search *s) {
  const search_frame *f = &s->frames.data[s->frames.count - 1];
  if (s->options->memory && s->frames.count > 1)
    failures_add(&s->failures, &f->keys, &s->sky, f->part);
}

/* Another choice for the top frame, or, where there is none, for its parent. */
static calm_status backtrack(layout_search *s) {
  while (s->frames.count) {
    bool advanced;
    TRY(advance(&advanced, s));
    if (advanced) return CALM_OK;
    remember_failure(s);
    pop_frame(s);
  }
  return CALM_OK;
}

/* True: go on with what was opened or finished; false: this choice failed. */
static calm_status go_on(bool *well, layout_search *s) {
  search_frame *f = &s->frames.data[s->frames.count - 1];
  *well = f->chosen;
  if (!f->chosen) return CALM_OK;
  if (f->part_next < s->parts.count)
    return open_frame(well, s, s->parts.data[f->part_next++]);
  pop_frame(s);
  return CALM_OK;
}

static bool is_spent(layout_search *s) {
  uint64_t work = s->sky.work + 1;
  s->sky.work = 0;
  return limits_spend(s->l, work) || s->nodes >= s->stop_at;
}

/* From the state after reset to an answer. */
static calm_status run(layout_answer *out, layout_search *s) {
  search_part whole = {0, s->strip->section_count - 1};
  s->frames.count = s->choices.count = s->parts.count = 0;
  TRY(push_frame(s, (search_frame){.part = whole}));
  VECTOR_PUSH(s->l->context, &s->choices, BEGIN);
  bool well = false;
  while (s->frames.count) {
    if (is_spent(s)) {
      skyline_undo(&s->sky, s->frames.data[0].mark);
      *out = LAYOUT_UNDECIDED;
      return CALM_OK;
    }
    TRY(go_on(&well, s));
    if (!well) TRY(backtrack(s));
  }
  *out = well ? LAYOUT_FITS : LAYOUT_FITS_NOT;
  return CALM_OK;
}

/* ---- Restarts ------------------------------------------------------------ */

static calm_status restart(layout_answer *out, layout_search *s,
                           uint64_t nodes) {
  if (s->options->memory) TRY(failures_grow(&s->failures));
  s->stop_at = s->nodes + nodes;
  return run(out, s);
}

/* A quarter of the budget goes to one run without restarts: without a memory of
   failures only that can refute. */
calm_status layout_search_decide(layout_answer *out, layout_search *s,
                                 uint64_t capacity_bytes, uint64_t budget) {
  uint64_t end = s->nodes + budget, last = s->nodes + budget / 4 * 3;
  *out = LAYOUT_FITS_NOT;
  bool possible = skyline_reset(&s->sky, capacity_bytes);
  if (s->sky.failed_memory) return context_no_memory(s->l->context);
  if (!possible) return CALM_OK;
  do {
    uint64_t nodes = layout_restart_begin(s);
    TRY(restart(out, s, nodes < end - s->nodes ? nodes : end - s->nodes));
  } while (*out == LAYOUT_UNDECIDED && s->nodes < last &&
           s->l->reason == LIMITS_NONE);
  if (*out != LAYOUT_UNDECIDED || s->nodes >= end) return CALM_OK;
  return restart(out, s, end - s->nodes);
}

/* ---- The answer ---------------------------------------------------------- */

static int64_t highest_end(const layout_search *s, const strip_lid *lid) {
  int64_t highest = 0;
  for (uint32_t b = 0; b < s->strip->body_count; b++) {
    const strip_body *body = &s->strip->bodies[b];
    int64_t end = s->sky.offset[b] + body->size;
    if (body->first <= lid->last && body->last >= lid->first && end > highest)
      highest = end;
  }
  return highest;
}

/* Lids of one part, which follow each other, are stacked. */
void layout_search_offsets(const layout_search *s, uint64_t *offsets) {
  const layout_strip *strip = s->strip;
  uint64_t next = 0;
  for (uint32_t b = 0; b < strip->body_count; b++)
    offsets[strip->bodies[b].body] =
        (uint64_t)s->sky.offset[b] * strip->grid->granule;
  for (uint32_t i = 0; i < strip->lid_count; i++) {
    const strip_lid *lid = &strip->lids[i];
    if (i == 0 || strip->lids[i - 1].first != lid->first)
      next = (uint64_t)highest_end(s, lid) * strip->grid->granule;
    offsets[lid->body] = next;
    next += strip->grid->end_bytes[lid->body];
  }
}
