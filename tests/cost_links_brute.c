#include "cost_links_brute.h"

#include <math.h>
#include <string.h>

/*
 * A mesh whose links count.  Link `c` of `along` leads from column c to the
 * next one; `across` has one link for each column and row, the one that leads
 * there from the row nearer the middle (half as long, where the middle lies
 * between two rows).  There is none to a row in the middle itself.  Without
 * spatial loops what is below a level is next to it.
 */
typedef struct mesh {
  const accel_nest *nest;
  uint32_t first, end; /* spatial loops of the level */
  uint32_t columns, rows;
  double middle;
  double *along, *across;
  double sent; /* words that enter */
} mesh;

static uint32_t product(const mesh *m, accel_loop_kind kind) {
  uint64_t out = 1;
  for (uint32_t k = m->first; k < m->end; k++)
    if (m->nest->loops[k].kind == kind) out *= m->nest->loops[k].bound;
  return (uint32_t)out;
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static mesh make_mesh(const cost_pieces *c, uint32_t level, arena *a) {
  const accel_arch *arch = &c->arch;
  mesh m = {.nest = &c->nest,
            .first = referee_begin(&c->nest, level),
            .end = referee_temporal(&c->nest, level)};
  m.columns = product(&m, ACCEL_SPATIAL_X);
  m.rows = product(&m, ACCEL_SPATIAL_Y);
  const uint64_t y =
      level ? arch->levels[level - 1].mesh_y : arch->compute.mesh_y;
  const uint64_t built = most(m.rows, y / arch->levels[level].mesh_y);
  m.middle = (double)(built - 1) / 2;
  m.along = referee_memory(a, m.columns, sizeof *m.along);
  m.across = referee_memory(a, (size_t)m.columns * m.rows, sizeof *m.across);
  return m;
}

/* Where the nest puts a place: the digits of its loops along X make up the
   column, those along Y the row. */
static void locate(uint32_t *column, uint32_t *row, const mesh *m,
                   uint32_t place) {
  uint64_t x = 1, y = 1, at[2] = {0, 0};
  for (uint32_t k = m->first; k < m->end; k++) {
    const accel_loop *l = &m->nest->loops[k];
    const uint64_t digit = place % l->bound;
    place /= (uint32_t)l->bound;
    if (l->kind == ACCEL_SPATIAL_X)
      at[0] += digit * x, x *= l->bound;
    else
      at[1] += digit * y, y *= l->bound;
  }
  *column = (uint32_t)at[0], *row = (uint32_t)at[1];
}

/* The tree to some places, walked backwards from each of them; a link that was
   passed before is of the tree already. */
typedef struct tree {
  bool *along, *across;
} tree;

static void grow(tree *t, const mesh *m, uint32_t column, uint32_t row) {
  while (row != m->middle) {
    t->across[column * m->rows + row] = true;
    if (row < m->middle && row + 1 > m->middle) break;
    if (row > m->middle && row - 1 < m->middle) break;
    row = row < m->middle ? row + 1 : row - 1;
  }
  while (column > 0) t->along[--column] = true;
}

static bool same(const referee_given *a, const referee_given *b) {
  return a->count == b->count &&
         !memcmp(a->words, b->words, a->count * sizeof *a->words);
}

static void load_tree(mesh *m, const tree *t, double words) {
  m->sent += words;
  for (uint32_t i = 0; i < m->columns; i++) m->along[i] += words * t->along[i];
  for (uint32_t i = 0; i < m->columns * m->rows; i++)
    m->across[i] += words * t->across[i];
}

static void watch(void *data, const referee_given *given, uint32_t places) {
  mesh *m = data;
  bool done[4096] = {false}, along[4096], across[4096];
  if (places > 4096) abort();
  for (uint32_t i = 0; i < places; i++) {
    if (done[i] || given[i].count == 0) continue;
    tree t = {along, across};
    memset(along, 0, sizeof along), memset(across, 0, sizeof across);
    for (uint32_t j = i; j < places; j++) {
      uint32_t column, row;
      if (done[j] || !same(&given[i], &given[j])) continue;
      done[j] = true;
      locate(&column, &row, m, j);
      grow(&t, m, column, row);
    }
    load_tree(m, &t, given[i].count);
  }
}

/* ---- Over all tensors ---------------------------------------------------- */

/* How many words of a tensor really go down and come up (docs/cost-model.md,
   Networks). */
static void count_words(double *down, double *up, const cost_pieces *c,
                        const cost_result *r, uint32_t tensor, uint32_t level) {
  const uint32_t at = level * r->tensor_count + tensor;
  const double words = r->flows[at].ingresses;
  *down = words, *up = 0;
  if (!c->layer.tensors[tensor].read_write) return;
  if (c->arch.levels[level].reduction_supported) {
    *down = 0;
    *up = r->tensors[at].kept ? (double)r->tensors[at].updates : words;
  } else {
    *up = r->tensors[at].kept ? (double)r->tensors[at].updates : words / 2;
    *down = fmax(0, words - *up);
  }
}

static double largest(const double *of, uint32_t count) {
  double out = 0;
  for (uint32_t i = 0; i < count; i++) out = fmax(out, of[i]);
  return out;
}

static void add(double *to, const double *from, uint32_t count, double times) {
  for (uint32_t i = 0; i < count; i++) to[i] += from[i] * times;
}

double cost_links_brute(const cost_pieces *c, const cost_result *counted,
                        uint32_t level, arena *a) {
  mesh down = make_mesh(c, level, a), up = make_mesh(c, level, a);
  if (down.first == down.end) return 0;
  const uint32_t places = down.columns * down.rows;
  for (uint32_t t = 0; t < counted->tensor_count; t++) {
    double go_down, go_up;
    mesh m = make_mesh(c, level, a);
    referee_watch(c, t, level, watch, &m, a);
    count_words(&go_down, &go_up, c, counted, t, level);
    add(down.along, m.along, m.columns, go_down / m.sent);
    add(down.across, m.across, places, go_down / m.sent);
    add(up.along, m.along, m.columns, go_up / m.sent);
    add(up.across, m.across, places, go_up / m.sent);
  }
  return fmax(
      fmax(largest(down.along, down.columns), largest(down.across, places)),
      fmax(largest(up.along, up.columns), largest(up.across, places)));
}

double cost_links_brute_hops(const cost_pieces *c, uint32_t tensor,
                             uint32_t level, arena *a) {
  mesh m = make_mesh(c, level, a);
  double hops = 0;
  if (m.first == m.end) return 0;
  referee_watch(c, tensor, level, watch, &m, a);
  for (uint32_t i = 0; i < m.columns; i++) hops += m.along[i];
  for (uint32_t i = 0; i < m.columns * m.rows; i++)
    hops += m.across[i] * fmin(1, fabs(i % m.rows - m.middle));
  return hops;
}
