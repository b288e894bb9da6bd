#include "mapper/mapper_prune.h"

#include <math.h>

#include "mapper/mapper_blocks.h"

/*
 * A label whose bound is not below the threshold waits: the least such bound
 * among the children of a label says when they are worth another look.  Then
 * those below the last such bound are there already; so a child's score must be
 * the same at each look, and no less than what its kind of spread was judged
 * by.
 */

static double smaller(double a, double b) { return a < b ? a : b; }

double mapper_prune_score(const mapper_search *m, const mapper_floor *f) {
  switch (m->objective) {
    case MAPPER_DELAY: return f->cycles;
    case MAPPER_EDP: return f->energy_pj * f->cycles;
    default: return f->energy_pj;
  }
}

/* Of a front: can nothing that costs as much be new? */
static bool is_beaten(const mapper_search *m, const mapper_floor *f) {
  return mapper_front_covers(m->front, f) ||
         (m->rounded && !mapper_front_hides(m->front, f));
}

/* Can nothing that costs so much be of use? */
static bool is_too_much(mapper_search *m, const mapper_floor *f, double score) {
  if (f->cycles > m->cap * (1 + 1e-12)) {
    if (f->cycles < m->capped) m->capped = f->cycles;
    return true;
  }
  if (m->front && is_beaten(m, f)) return true;
  if (score < m->threshold) return false;
  if (score < m->waiting) m->waiting = score;
  return true;
}

/* With more kinds than this, to look at all of them takes longer than to have
   the label. */
enum { MOST_KINDS_AHEAD = 48 };

/*
 * The next fan-out cannot serve all tensors to the full.  If one of its kinds
 * is below what was handled, so was the label; if none of them is below the
 * threshold, it waits.  Else, its score must not be below what was handled.
 */
static bool is_hopeless_ahead(mapper_search *m, mapper_label *l,
                              uint32_t level) {
  mapper_prospect *p = &m->ahead;
  const bool is_new = l->score >= m->handled;
  double least = HUGE_VAL, capped = HUGE_VAL;
  if (m->front || !mapper_prospect_look_ahead(p, l, level, MOST_KINDS_AHEAD))
    return false;
  const mapper_fan *fan = &m->space->fans[p->level];
  const uint32_t first = p->lucky[p->level];
  for (uint32_t i = 0; i < fan->kind_count; i++) {
    const uint32_t kind = i == 0 ? first : i <= first ? i - 1 : i;
    const mapper_floor f = mapper_prospect_floor(p, &fan->kinds[kind]);
    if (f.cycles > m->cap * (1 + 1e-12))
      capped = smaller(capped, f.cycles);
    else
      least = smaller(least, mapper_prune_score(m, &f) * (1 - 1e-12));
    if (least < m->handled || (is_new && least < m->threshold)) {
      p->lucky[p->level] = kind;
      return false;
    }
  }
  if (l->score < least) l->score = least;
  if (least < m->threshold) return false;
  m->waiting = smaller(m->waiting, least);
  m->capped = smaller(m->capped, capped);
  return true;
}

bool mapper_prune_label(mapper_search *m, mapper_label *l, uint32_t level) {
  mapper_floor f = mapper_bound_label(m->space, l, level);
  if (m->rounded) f.energy_pj += mapper_blocks_more(m->space, l, level);
  l->score = mapper_prune_score(m, &f) * (1 - 1e-12);
  if (l->score < m->floor) l->score = m->floor;
  if (m->spread > 0 && fmod(m->spread, l->spread) != 0) return true;
  if (m->rules->no_bound) return false;
  return is_too_much(m, &f, l->score) || is_hopeless_ahead(m, l, level);
}

bool mapper_prune_child(mapper_search *m, mapper_label *l, uint32_t level) {
  if (mapper_prune_label(m, l, level)) return true;
  return !m->rules->no_bound && l->score < m->handled;
}

/* ---- Kinds --------------------------------------------------------------- */

static bool is_possible(const mapper_search *m, uint32_t node, uint32_t level,
                        const mapper_kind *kind) {
  const mapper_spread *spreads = &m->space->fans[level].spreads[kind->first];
  for (uint32_t i = 0; i < kind->count; i++)
    if (mapper_space_spread(m->space, node, &spreads[i]) != CALM_NONE)
      return true;
  return false;
}

/* If no spread of the kind is possible here, nothing waits for it. */
bool mapper_prune_kind(double *floor, mapper_search *m, const mapper_label *l,
                       const mapper_kind *kind) {
  if (m->rules->no_bound) return false;
  const double waiting = m->waiting, capped = m->capped;
  const mapper_floor f = mapper_prospect_floor(&m->prospect, kind);
  *floor = mapper_prune_score(m, &f) * (1 - 1e-12);
  if (*floor < l->score) *floor = l->score;
  if (!is_too_much(m, &f, *floor)) return false;
  if ((m->waiting < waiting || m->capped < capped) &&
      !is_possible(m, l->node, m->prospect.level, kind))
    m->waiting = waiting, m->capped = capped;
  return true;
}
