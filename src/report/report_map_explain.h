/*
 * Why a nest costs what it costs: what each level has to carry at least and
 * does carry, which capacity keeps tiles from being larger, what sets the pace,
 * which multipliers idle.  Figures are gathered from an evaluation of a valid
 * nest, and told in words or in JSON.
 */
#ifndef CALM_REPORT_REPORT_MAP_EXPLAIN_H
#define CALM_REPORT_REPORT_MAP_EXPLAIN_H

#include "report/report_eval.h"

/* A tensor at a level that keeps it; words are those of all instances. */
typedef struct map_load {
  uint32_t level, tensor;
  double least; /* words that any nest reads, fills or updates there, but for
                   rounding, if the same levels keep the tensor */
  double reads, fills, updates; /* of this nest */
  double energy_pj;
} map_load;

/* How full a level of limited capacity is; words are those of an instance. */
typedef struct map_room {
  uint32_t level;
  uint64_t used, capacity;
  uint32_t largest; /* the tensor that takes most */
  uint64_t largest_words;
  uint64_t next;      /* words if one loop outside came in with its smallest
                         factor: the least over all loops that would make a tile
                         larger; 0: there is none */
  uint32_t dimension; /* of that loop ... */
  uint64_t from, to;  /* ... and its steps in a tile, before and then */
} map_room;

/* What the cycles depend on. */
typedef struct map_pace {
  uint32_t level;           /* CALM_NONE: the multipliers */
  const char *bandwidth;    /* "read", "write" or "shared"; NULL likewise */
  double available, needed; /* words a cycle and instance: what there are, and
                               what multipliers that never wait would take */
} map_pace;

/* The mesh below a level, and what of it is in use. */
typedef struct map_fan {
  uint32_t level;
  uint64_t x, y, used_x, used_y;
} map_fan;

/* Levels stand outermost first. */
typedef struct map_explanation {
  map_load *loads;
  map_room *rooms;
  map_fan *fans; /* of more than one instance */
  uint32_t load_count, room_count, fan_count;
  map_pace pace;
} map_explanation;

calm_status report_map_explain(map_explanation *out, const calm_evaluation *e,
                               const eval_nest *n, arena *scratch);

/* Does no larger tile fit? */
static inline bool map_room_is_full(const map_room *r) {
  return r->next > r->capacity;
}

static inline double map_load_carried(const map_load *l) {
  return l->reads + l->fills + l->updates;
}

/* Beginning with an empty line. */
calm_status report_map_explain_words(text *out, const eval_view *v,
                                     arena *scratch);

json_t *report_map_explain_json(arena *scratch, const calm_evaluation *e,
                                const eval_nest *n);

/* ---- Parts of the explanation -------------------------------------------- */

calm_status report_map_loads(map_explanation *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch);
calm_status report_map_rooms(map_explanation *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch);

#endif
