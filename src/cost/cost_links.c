/*
 * Words per link, from which places of a mesh want the same.
 *
 *         column 0   1   2         A word enters at the middle of the first
 *     row 0   o      o   o         column, goes along the middle as far as any
 *             |      |   |         column wants it, and from there up and down
 *     row 1   o      o   o         each column.  Partial sums take the same
 *     ->------+------+---+         tree backwards, on links of their own.
 *     row 2   o      o   o
 *
 * What passes a link also passes those before it.  So the most loaded one is
 * the first along the middle, which carries whatever any other column than the
 * first wants, or the first one up a column: of the rows in use, the first
 * ones, no fewer lie above the middle than below it, and all columns are alike,
 * since the places of one want what those of another do, a step aside.
 *
 * In a perfect nest each distinct place of the fan-out is served as often as
 * any other, and with as many words.  A link then carries this share of a
 * tensor's words: distinct places behind the link over distinct places in all.
 */
#include "cost/cost_links.h"

#include <math.h>
#include <stdlib.h>

#include "cost/cost_scratch.h"

/* The mesh below one level, for one tensor. */
typedef struct mesh {
  const cost_shape *shape;
  const cost_spread *spread;
  const accel_loop *loops; /* of the nest */
  const double *below;     /* extents of the tiles below */
  uint32_t most_elements;
  uint64_t columns, rows; /* in use */
  uint64_t upper;         /* rows in use above the middle */
  arena *scratch;
} mesh;

static mesh mesh_of(cost_scratch *s, uint32_t tensor, uint32_t level) {
  const cost_spread *spread = &s->frame.spreads[level];
  const uint64_t rows = cost_whole(spread->y);
  const uint64_t half =
      cost_whole(fmax(s->tables.stores[level].fanout_y, spread->y)) / 2;
  return (mesh){.shape = &s->tables.shapes[tensor],
                .spread = spread,
                .loops = s->frame.nest->loops,
                .below = cost_frame_below(&s->frame, level),
                .most_elements = s->tables.most_elements,
                .columns = cost_whole(spread->x),
                .rows = rows,
                .upper = rows < half ? rows : half,
                .scratch = &s->replay};
}

/* ---- Distinct places ----------------------------------------------------- */

static bool moves(const mesh *m, const accel_loop *loop) {
  return m->shape->moving >> loop->dimension & 1;
}

/*
 * Among the first `count` places along one axis, if each loop either sets
 * places apart or does not: how many digits of those loops occur in the numbers
 * below `count`, whose other digits are of loops that move nothing.
 */
static double count_digits(const mesh *m, accel_loop_kind kind,
                           uint64_t count) {
  uint64_t weight = 1, places = 1;
  for (uint32_t i = m->spread->first_loop; i < m->spread->last_loop; i++) {
    if (m->loops[i].kind != kind) continue;
    weight *= m->loops[i].bound;
    if (moves(m, &m->loops[i])) places *= m->loops[i].bound;
  }
  double out = 0;
  for (uint32_t i = m->spread->last_loop; i-- > m->spread->first_loop;) {
    const accel_loop *loop = &m->loops[i];
    if (loop->kind != kind) continue;
    weight /= loop->bound;
    if (moves(m, loop)) {
      places /= loop->bound;
      out += cost_real(count / weight * places);
      count %= weight;
    } else if (count >= weight) {
      return out + cost_real(places);
    }
  }
  return out + cost_real(count);
}

static int compare_keys(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

/* Offsets of the places along one axis, as numbers (cost_shape.move). */
static void number_places(uint64_t *keys, const mesh *m, accel_loop_kind kind) {
  double scale[ACCEL_MAX_DIMENSIONS];
  uint64_t count = 1;
  keys[0] = 0;
  for (uint32_t i = m->spread->first_loop; i < m->spread->last_loop; i++)
    scale[m->loops[i].dimension] = m->below[m->loops[i].dimension];
  for (uint32_t i = m->spread->first_loop; i < m->spread->last_loop; i++) {
    const accel_loop *loop = &m->loops[i];
    const uint32_t d = loop->dimension;
    const uint64_t step = m->shape->move[d] * cost_whole(scale[d]);
    scale[d] *= cost_real(loop->bound);
    if (loop->kind != kind) continue;
    for (uint64_t k = count; k < count * loop->bound; k++)
      keys[k] = keys[k - count] + step;
    count *= loop->bound;
  }
}

static calm_status count_keys(double *out, const mesh *m, uint64_t columns,
                              uint64_t rows) {
  uint64_t *x, *y, *keys, count = 0;
  ARENA_ARRAY(m->scratch, x, m->columns);
  ARENA_ARRAY(m->scratch, y, m->rows);
  ARENA_ARRAY(m->scratch, keys, columns * rows);
  number_places(x, m, ACCEL_SPATIAL_X);
  number_places(y, m, ACCEL_SPATIAL_Y);
  for (uint64_t row = 0; row < rows; row++)
    for (uint64_t column = 0; column < columns; column++)
      keys[count++] = x[column] + y[row];
  qsort(keys, count, sizeof *keys, compare_keys);
  *out = 1;
  for (uint64_t i = 1; i < count; i++) *out += keys[i] != keys[i - 1];
  return CALM_OK;
}

/*
 * Among the first columns and rows.  As many are among the last ones: turned
 * around, the mesh is the same.  Where two dimensions may move the tensor along
 * one rank, offsets are compared one by one; no more of them than evaluations
 * go through.
 */
static calm_status count_places(double *out, const mesh *m, uint64_t columns,
                                uint64_t rows) {
  *out = 0;
  if (columns == 0 || rows == 0) return CALM_OK;
  if (m->spread->dimensions & m->shape->summed) {
    if (columns > m->most_elements / rows) return CALM_OK;
    return count_keys(out, m, columns, rows);
  }
  *out = count_digits(m, ACCEL_SPATIAL_X, columns) *
         count_digits(m, ACCEL_SPATIAL_Y, rows);
  return CALM_OK;
}

/* ---- Words --------------------------------------------------------------- */

/* Into a mesh, and out of it; or over its links, of all tensors together. */
typedef struct way {
  double down, up;
} way;

/*
 * What one instance of a level sends and gets.  Of a tensor that is written,
 * sums come up; what they are added to is sent down first only if the level
 * cannot add, and these words are among the ingresses.
 */
static way words_of(const cost_scratch *s, const cost_result *r,
                    uint32_t tensor, uint32_t level) {
  const uint32_t at = level * r->tensor_count + tensor;
  const double words = r->flows[at].ingresses;
  const bool adds = s->tables.stores[level].reduces;
  if (!s->tables.shapes[tensor].read_write) return (way){words, 0};
  double up = adds ? words : words / 2;
  if (r->tensors[at].kept) up = cost_real(r->tensors[at].updates);
  return (way){adds ? 0 : fmax(0, words - up), up};
}

/* Are all places served alike?  Neighbours that hand words on leave patterns of
   fewer places, which stand beside that of all. */
static bool is_even(const cost_flow *flow, double places) {
  double scatter = 0;
  for (uint32_t i = 0; i < flow->group_count; i++)
    scatter += cost_real(flow->groups[i].scatter);
  return flow->links == 0 && scatter == places;
}

enum { ALONG, UPWARDS, LINKS };

static calm_status add_tensor(way *links, const mesh *m, const cost_flow *flow,
                              way words) {
  const uint64_t behind[LINKS][2] = {{m->columns - 1, m->rows}, {1, m->upper}};
  double all, places;
  TRY(count_places(&all, m, m->columns, m->rows));
  if (all == 0 || !is_even(flow, all)) return CALM_OK;
  for (uint32_t i = 0; i < LINKS; i++) {
    TRY(count_places(&places, m, behind[i][0], behind[i][1]));
    links[i].down += words.down * places / all;
    links[i].up += words.up * places / all;
  }
  return CALM_OK;
}

static calm_status count_level(uint64_t *out, cost_scratch *s,
                               const cost_result *r, uint32_t level) {
  way links[LINKS] = {{0, 0}};
  double most = 0;
  *out = 0;
  if (!s->frame.spreads[level].dimensions) return CALM_OK;
  for (uint32_t t = 0; t < r->tensor_count; t++) {
    const mesh m = mesh_of(s, t, level);
    TRY(add_tensor(links, &m, &r->flows[level * r->tensor_count + t],
                   words_of(s, r, t, level)));
  }
  for (uint32_t i = 0; i < LINKS; i++)
    most = fmax(most, fmax(links[i].down, links[i].up));
  *out = cost_whole(most + 0.5);
  return CALM_OK;
}

calm_status cost_links_count(uint64_t *words, const cost_problem *p,
                             const accel_nest *n, const cost_result *r) {
  cost_scratch *s = p->scratch;
  cost_verdict verdict;
  calm_status status = CALM_OK;
  cost_judge(&verdict, p, n);
  for (uint32_t level = 0; level < r->level_count; level++) {
    words[level] = 0;
    if (status == CALM_OK && s->frame.perfect)
      status = count_level(&words[level], s, r, level);
  }
  arena_free(&s->replay);
  return status;
}

/* ---- Cycles -------------------------------------------------------------- */

uint64_t cost_links_cycles(uint64_t words, double words_per_cycle) {
  const double cycles = ceil(cost_real(words) / words_per_cycle);
  const double most = (double)ACCEL_MAX_COUNT;
  return cost_whole(cycles < most ? cycles : most);
}

cost_links cost_links_bound(const uint64_t *words, const double *rates,
                            uint32_t level_count) {
  cost_links most = {.level = CALM_NONE};
  for (uint32_t level = 0; level < level_count; level++) {
    if (rates[level] == 0) continue;
    const uint64_t cycles = cost_links_cycles(words[level], rates[level]);
    if (cycles > most.cycles) most = (cost_links){words[level], level, cycles};
  }
  return most;
}
