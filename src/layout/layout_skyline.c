#include "layout/layout_skyline.h"

#include "base/random.h"

/* ---- Making and resetting ------------------------------------------------ */

static calm_status make_sections(skyline *s, arena *a) {
  uint32_t count = s->strip->section_count;
  ARENA_ARRAY(a, s->floor, count);
  ARENA_ARRAY(a, s->remaining, count);
  ARENA_ARRAY(a, s->ceiling, count);
  ARENA_ARRAY(a, s->count, count);
  ARENA_ARRAY(a, s->tight, count);
  ARENA_ARRAY(a, s->crossing, count);
  ARENA_ARRAY(a, s->set_hash, (size_t)count * 2);
  ARENA_ARRAY(a, s->obstacle_count, count);
  ARENA_ARRAY(a, s->obstacle_begin, (size_t)count + 1);
  ARENA_ARRAY(a, s->queue, count);
  ARENA_ARRAY(a, s->queued, count);
  return CALM_OK;
}

/* Room for every span and every wall of each section. */
static calm_status make_obstacles(skyline *s, arena *a) {
  const layout_strip *strip = s->strip;
  for (uint32_t w = 0; w < strip->wall_count; w++)
    s->obstacle_begin[strip->walls[w].section + 1]++;
  for (uint32_t c = 0; c < strip->cell_count; c++) {
    const strip_cell *cell = &strip->cells[c];
    s->obstacle_begin[cell->section + 1] += cell->span_end - cell->span_begin;
  }
  for (uint32_t i = 0; i < strip->section_count; i++)
    s->obstacle_begin[i + 1] += s->obstacle_begin[i];
  ARENA_ARRAY(a, s->obstacles, s->obstacle_begin[strip->section_count]);
  return CALM_OK;
}

calm_status skyline_make(skyline *out, const layout_strip *strip, arena *a) {
  skyline *s = out;
  *s = (skyline){.context = a->context, .strip = strip};
  TRY(make_sections(s, a));
  TRY(make_obstacles(s, a));
  ARENA_ARRAY(a, s->offset, strip->body_count);
  ARENA_ARRAY(a, s->limit, strip->body_count);
  ARENA_ARRAY(a, s->placed, strip->body_count);
  ARENA_ARRAY(a, s->hash, (size_t)strip->body_count * 2);
  ARENA_ARRAY(a, s->members, strip->cell_count);
  ARENA_ARRAY(a, s->position, strip->cell_count);
  random_state random = random_from_seed(strip->body_count);
  for (size_t i = 0; i < (size_t)strip->body_count * 2; i++)
    s->hash[i] = (int64_t)random_next(&random);
  return CALM_OK;
}

void skyline_free(skyline *s) { VECTOR_FREE(s->context, &s->trail); }

static void push(skyline *s, uint32_t section) {
  if (s->queued[section]) return;
  uint32_t size = s->strip->section_count, at = s->queue_head + s->queue_count;
  s->queue[at < size ? at : at - size] = section;
  s->queued[section] = 1;
  s->queue_count++;
}

static uint32_t pop(skyline *s) {
  uint32_t section = s->queue[s->queue_head++];
  if (s->queue_head == s->strip->section_count) s->queue_head = 0;
  s->queue_count--;
  s->queued[section] = 0;
  return section;
}

/* The capacity in granules, of each section and for each body. */
static bool set_capacity(skyline *s, uint64_t bytes) {
  const layout_strip *strip = s->strip;
  uint64_t granule = strip->grid->granule;
  s->capacity_bytes = bytes;
  for (uint32_t i = 0; i < strip->section_count; i++) {
    if (strip->lid_bytes[i] > bytes) return false;
    uint64_t room = bytes - strip->lid_bytes[i] + strip->padding[i];
    s->ceiling[i] = (int64_t)(room / granule);
  }
  for (uint32_t b = 0; b < strip->body_count; b++) {
    const strip_body *body = &strip->bodies[b];
    uint64_t room = bytes - strip->lid_bytes[body->first];
    if (body->end_bytes > room) return false;
    s->limit[b] = (int64_t)((room - body->end_bytes) / granule);
  }
  return true;
}

static void clear_sections(skyline *s) {
  const layout_strip *strip = s->strip;
  for (uint32_t i = 0; i < strip->section_count; i++) {
    s->floor[i] = s->remaining[i] = s->tight[i] = 0;
    s->set_hash[2 * i] = s->set_hash[2 * i + 1] = 0;
    s->crossing[i] = s->obstacle_count[i] = s->count[i] = 0;
    s->queued[i] = 0;
  }
  s->queue_head = s->queue_count = 0;
  s->obstacles_seen = 0;
  s->trail.count = 0;
}

static void add_members(skyline *s) {
  const layout_strip *strip = s->strip;
  for (uint32_t c = 0; c < strip->cell_count; c++) {
    const strip_cell *cell = &strip->cells[c];
    uint32_t at = strip->member_begin[cell->section] +
                  (uint32_t)s->count[cell->section]++;
    s->members[at] = c;
    s->position[c] = at;
    s->remaining[cell->section] += cell->size;
  }
  for (uint32_t b = 0; b < strip->body_count; b++) {
    const strip_body *body = &strip->bodies[b];
    s->offset[b] = s->placed[b] = 0;
    s->set_hash[2 * body->first] ^= s->hash[2 * b];
    s->set_hash[2 * body->first + 1] ^= s->hash[2 * b + 1];
    for (uint32_t i = body->first; i < body->last; i++) s->crossing[i]++;
  }
}

static void add_obstacle(skyline *s, uint32_t section, int64_t low,
                         int64_t high) {
  uint32_t at =
      s->obstacle_begin[section] + (uint32_t)s->obstacle_count[section]++;
  s->obstacles[at] = (skyline_obstacle){low, high};
  s->obstacles_seen++;
}

bool skyline_reset(skyline *s, uint64_t capacity_bytes) {
  const layout_strip *strip = s->strip;
  clear_sections(s);
  if (!set_capacity(s, capacity_bytes)) return false;
  add_members(s);
  for (uint32_t w = 0; w < strip->wall_count; w++) {
    const strip_wall *wall = &strip->walls[w];
    add_obstacle(s, wall->section, wall->low, wall->high);
    s->remaining[wall->section] += wall->high - wall->low;
  }
  for (uint32_t i = 0; i < strip->section_count; i++) push(s, i);
  return skyline_settle(s);
}

/* ---- Changing and undoing ------------------------------------------------ */

static void change(skyline *s, int64_t *where, int64_t value) {
  if (s->trail.count == s->trail.capacity) {
    void *grown =
        vector_grown(s->context, s->trail.data, &s->trail.capacity,
                     sizeof *s->trail.data, (uint64_t)s->trail.count + 1);
    if (!grown) {
      s->failed_memory = true;
      return;
    }
    s->trail.data = grown;
  }
  s->trail.data[s->trail.count++] = (skyline_change){where, *where};
  *where = value;
}

/* Counts of members grow back over the very members that were swapped out. */
void skyline_undo(skyline *s, uint32_t mark) {
  while (s->trail.count > mark) {
    const skyline_change *c = &s->trail.data[--s->trail.count];
    *c->where = c->old;
  }
}

static void remove_member(skyline *s, uint32_t cell_index) {
  uint32_t section = s->strip->cells[cell_index].section;
  uint32_t last =
      s->strip->member_begin[section] + (uint32_t)s->count[section] - 1;
  uint32_t at = s->position[cell_index], other = s->members[last];
  s->members[at] = other;
  s->position[other] = at;
  s->members[last] = cell_index;
  s->position[cell_index] = last;
  change(s, &s->count[section], s->count[section] - 1);
}

/* Obstacles that the floor reaches become part of what is below it. */
void skyline_raise(skyline *s, uint32_t section, int64_t height) {
  int64_t old = s->floor[section], remaining = s->remaining[section];
  skyline_obstacle *o = &s->obstacles[s->obstacle_begin[section]];
  bool absorbed = s->obstacle_count[section] > 0;
  while (absorbed) {
    absorbed = false;
    for (int64_t i = 0; i < s->obstacle_count[section]; i++) {
      if (o[i].low < old || o[i].low > height || o[i].high <= old) continue;
      if (o[i].high <= height) continue;
      height = o[i].high;
      absorbed = true;
    }
  }
  for (int64_t i = 0; i < s->obstacle_count[section]; i++)
    if (o[i].low >= old && o[i].high <= height)
      remaining -= o[i].high - o[i].low;
  change(s, &s->floor[section], height);
  change(s, &s->remaining[section], remaining);
  push(s, section);
}

/* The spans of a placed body: the first may lie on the floor and lift it, the
   others are obstacles above. */
static void put_spans(skyline *s, const strip_cell *cell) {
  const layout_span *spans = s->strip->grid->spans;
  uint32_t section = cell->section, i = cell->span_begin;
  int64_t at = s->offset[cell->body];
  bool lifts = at + cell->low == s->floor[section];
  uint32_t rest = cell->span_end - i - lifts;
  if (rest) {
    int64_t count = s->obstacle_count[section], seen = s->obstacles_seen;
    change(s, &s->obstacle_count[section], count);
    change(s, &s->obstacles_seen, seen);
    for (uint32_t j = i + lifts; j < cell->span_end; j++)
      add_obstacle(s, section, at + spans[j].low, at + spans[j].high);
  }
  if (!lifts) return;
  int64_t size = spans[i].high - spans[i].low;
  change(s, &s->remaining[section], s->remaining[section] - size);
  skyline_raise(s, section, at + spans[i].high);
}

void skyline_place(skyline *s, uint32_t body) {
  const strip_body *b = &s->strip->bodies[body];
  change(s, &s->placed[body], 1);
  for (uint32_t i = 0; i < 2; i++) {
    int64_t *hash = &s->set_hash[2 * b->first + i];
    change(s, hash, *hash ^ s->hash[2 * body + i]);
  }
  for (uint32_t i = b->first; i < b->last; i++)
    change(s, &s->crossing[i], s->crossing[i] - 1);
  for (uint32_t c = b->cell_begin; c < b->cell_end; c++) {
    remove_member(s, c);
    put_spans(s, &s->strip->cells[c]);
    push(s, s->strip->cells[c].section);
  }
  s->work += b->cell_end - b->cell_begin;
}

/* ---- Conclusions --------------------------------------------------------- */

static int64_t align_up(int64_t height, int64_t align) {
  int64_t rest = height % align;
  return rest ? height + (align - rest) : height;
}

/* The least offset from `at` on where the body passes the obstacles of one
   cell's section. */
static int64_t pass_obstacles(const skyline *s, const strip_cell *cell,
                              int64_t at, int64_t align) {
  const layout_span *spans = s->strip->grid->spans;
  const skyline_obstacle *o = &s->obstacles[s->obstacle_begin[cell->section]];
  bool moved = s->obstacle_count[cell->section] > 0;
  while (moved) {
    moved = false;
    for (int64_t i = 0; i < s->obstacle_count[cell->section]; i++) {
      if (o[i].high <= s->floor[cell->section]) continue;
      for (uint32_t j = cell->span_begin; j < cell->span_end; j++)
        if (at + spans[j].low < o[i].high && at + spans[j].high > o[i].low) {
          at = align_up(o[i].high - spans[j].low, align);
          moved = true;
        }
    }
  }
  return at;
}

/* The same for all its sections; stops once the limit is passed. */
static int64_t pass_all_obstacles(skyline *s, uint32_t body, int64_t at) {
  const strip_body *b = &s->strip->bodies[body];
  for (bool moved = true; moved && at <= s->limit[body];) {
    moved = false;
    for (uint32_t c = b->cell_begin; c < b->cell_end; c++) {
      int64_t higher = pass_obstacles(s, &s->strip->cells[c], at, b->align);
      moved = moved || higher != at;
      at = higher;
      if (at > s->limit[body]) break;
    }
    s->work += b->cell_end - b->cell_begin;
  }
  return at;
}

/* A body lifted off the floors it could have rested on; a floor on which
   nothing can rest any more is looked at again. */
static bool lift_body(skyline *s, uint32_t body, int64_t at) {
  const strip_body *b = &s->strip->bodies[body];
  if (at > s->limit[body]) return false;
  for (uint32_t c = b->cell_begin; c < b->cell_end; c++) {
    const strip_cell *cell = &s->strip->cells[c];
    uint32_t t = cell->section;
    if (s->queued[t] || !skyline_is_tight(s, cell)) continue;
    change(s, &s->tight[t], s->tight[t] - 1);
    if (s->tight[t] == 0) push(s, t);
  }
  s->work += b->cell_end - b->cell_begin;
  change(s, &s->offset[body], at);
  return true;
}

/* Lift the members of a section to its floor and over obstacles.  *lowest: the
   lowest place at which one of them can begin, *tight: how many can there. */
static bool lift_members(skyline *s, uint32_t section, int64_t *lowest,
                         int64_t *tight) {
  *lowest = INT64_MAX;
  *tight = 0;
  s->work += (uint64_t)s->count[section];
  for (int64_t i = 0; i < s->count[section]; i++) {
    const strip_cell *cell = skyline_member(s, section, i);
    uint32_t body = cell->body;
    int64_t at = s->offset[body], least = s->floor[section] - cell->low;
    if (at < least) at = align_up(least, s->strip->bodies[body].align);
    if (s->obstacles_seen) at = pass_all_obstacles(s, body, at);
    if (at != s->offset[body] && !lift_body(s, body, at)) return false;
    if (at + cell->low < *lowest) {
      *lowest = at + cell->low;
      *tight = 0;
    }
    *tight += at + cell->low == *lowest;
  }
  return true;
}

static int64_t lowest_obstacle(const skyline *s, uint32_t section) {
  const skyline_obstacle *o = &s->obstacles[s->obstacle_begin[section]];
  int64_t lowest = INT64_MAX;
  for (int64_t i = 0; i < s->obstacle_count[section]; i++)
    if (o[i].low >= s->floor[section] && o[i].low < lowest) lowest = o[i].low;
  return lowest;
}

/* Members and floor of a section determine each other: lift members to the
   floor, the floor to the lowest of them, or over an obstacle and again. */
static bool settle_section(skyline *s, uint32_t section) {
  int64_t lowest, tight;
  for (;;) {
    if (!lift_members(s, section, &lowest, &tight)) return false;
    int64_t obstacle = lowest_obstacle(s, section);
    int64_t target = lowest < obstacle ? lowest : obstacle;
    if (target == s->floor[section] && obstacle > target) break;
    skyline_raise(s, section, target);
    if (s->floor[section] == target) break;
  }
  change(s, &s->tight[section], tight);
  return skyline_slack(s, section) >= 0;
}

static void clear_queue(skyline *s) {
  while (s->queue_count) pop(s);
}

bool skyline_settle(skyline *s) {
  while (s->queue_count) {
    uint32_t section = s->queue[s->queue_head];
    if (s->count[section] && !settle_section(s, section)) {
      s->conflict = section;
      clear_queue(s);
      return false;
    }
    pop(s);
    if (s->failed_memory) {
      clear_queue(s);
      return false;
    }
  }
  return true;
}
