/*
 * What the user's constraints ask of a nest, as tables for the exact search:
 * which factors a dimension may have in a block of loops, which loops have no
 * place outside of which, how a fan-out may be arranged, how many multipliers
 * must be in use.  Without constraints there are no tables, and every question
 * here is answered by one look at a pointer.
 */
#ifndef CALM_MAPPER_MAPPER_RULES_H
#define CALM_MAPPER_MAPPER_RULES_H

#include <math.h>

#include "base/arena.h"
#include "mapper/mapper_label.h"

/* Of a factor: it is allowed; it is, or a multiple of it. */
enum { MAPPER_MAY_BE = 1, MAPPER_MAY_GROW = 2 };

/* The demands on one level. */
typedef struct mapper_demand {
  /* Per axis and digit: MAPPER_MAY_*; NULL: any factor. */
  const uint8_t *temporal[MAPPER_MOST_AXES], *spatial[MAPPER_MOST_AXES];
  uint32_t once;    /* dimensions without temporal loops */
  uint32_t counted; /* bit a: other temporal factors of axis a are limited */
  uint32_t inside[MAPPER_MOST_AXES];  /* dimensions that have no place outside
                                         of a temporal loop of the axis */
  uint8_t ranks[MAPPER_MOST_AXES];    /* order of spatial loops, from inside */
  const accel_block_rules *fan_rules; /* NULL: neither order nor split */
} mapper_demand;

typedef struct mapper_demands {
  const mapper_demand *levels;
  const uint8_t *quotients[MAPPER_MOST_AXES]; /* [digit * count + divisor] */
  double least_spread; /* so many multipliers must be in use */
  bool impossible;     /* a dimension of one iteration must have more */
  /* By level and node, of the temporal loops of the level; NULL: not known. */
  const uint8_t *ends; /* can they end here, and can a nest go on? */
  const float *room;   /* how many times more multipliers may come into use,
                          at most; 0: no nest goes on from here */
} mapper_demands;

/* Makes s->demands from the constraints; needs the lattice. */
calm_status mapper_rules_init(mapper_space *s, arena *a);

/* Makes `ends` and `room`; needs the fans. */
calm_status mapper_rules_look_ahead(mapper_space *s, arena *a);

bool mapper_rules_allow_factor(const accel_factor_rule *r, double factor);

/* The least number of multipliers that the constraints (not NULL) let pass. */
double mapper_rules_least_spread(const mapper_space *s);

/* ---- Spatial loops ------------------------------------------------------- */

/* May a fan-out spread these digits, one per axis? */
bool mapper_rules_allow_spread(const mapper_space *s, uint32_t level,
                               const uint32_t *digits);

/* The axes that are spread, innermost first, those on columns (bit clear in
   `rows`) before those on rows; each side in an order that the rules allow, if
   any is.  *columns: so many of them are on columns. */
uint32_t mapper_rules_arrange(uint8_t *order, uint32_t *columns,
                              const mapper_space *s, uint32_t level,
                              const uint32_t *digits, uint32_t rows);

/* May spatial loops stand like that?  For any order, not only that above. */
bool mapper_rules_allow_order(const mapper_space *s, uint32_t level,
                              const uint8_t *order, uint32_t columns,
                              uint32_t count);

/* Is the order above allowed? */
bool mapper_rules_allow_rows(const mapper_space *s, uint32_t level,
                             const uint32_t *digits, uint32_t rows);

/* ---- Temporal loops ------------------------------------------------------ */

/* What of a node a label has to remember from the start of a block. */
uint32_t mapper_rules_base(const mapper_space *s, uint32_t level,
                           uint32_t node);

/* Can it come to a nest that the constraints allow? */
bool mapper_rules_alive(const mapper_space *s, const mapper_label *l,
                        uint32_t level);

/* A block begins; a step over an axis was made; the block ends.  False: the
   label is of no use. */
bool mapper_rules_begin(mapper_label *l, const mapper_space *s, uint32_t level);
bool mapper_rules_step(mapper_label *l, const mapper_space *s, uint32_t level,
                       uint32_t axis);
bool mapper_rules_leave(const mapper_label *l, const mapper_space *s,
                        uint32_t level);

/* Of the node: how many times more multipliers may come into use. */
static inline double mapper_rules_room(const mapper_space *s, uint32_t level,
                                       uint32_t node) {
  return s->demands && s->demands->room
             ? s->demands->room[(size_t)level * s->node_count + node]
             : HUGE_VAL;
}

#endif
