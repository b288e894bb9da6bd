/*
 * The simulation of a run, as its two files share it: what is stored behind
 * each tensor, and who needs that (memory_simulate_storage.c), and the run
 * itself (memory_simulate.c).  All of it lies in the scratch of one simulation.
 */
#ifndef CALM_MEMORY_MEMORY_SIMULATE_H
#define CALM_MEMORY_MEMORY_SIMULATE_H

#include "base/number.h"
#include "base/vector.h"
#include "memory/memory_check.h"

typedef VECTOR(tensor_id) tensor_list;

typedef struct simulation {
  const graph *g;
  const memory_model *model;
  const uint64_t *body_arena;
  const uint64_t *workspace; /* per operator, bodies included, or NULL: what
                                the graph and body_arena say */
  calm_context *context;
  memory_profile *profile;
  /* Per tensor, of interest for stored ones: */
  uint32_t *needs; /* operators still to run that read or write it */
  bool *touched;   /* some operator has to do with it, be it only a view */
  bool *kept;      /* it must survive the run */
  bool *outside;   /* it lies in memory of the caller */
  bool *alive;
  tensor_id *origin; /* itself, or what a view is, after all, a view of, or the
                        sum that it is a part of */
  bool *joined;      /* an elided concat makes it */
  tensor_id *sole; /* the stored tensor that is all there is behind it, NOTHING
                      or SEVERAL */
  uint32_t *seen;  /* the walk that last met it */
  uint32_t walk;
  tensor_list found; /* result of the walks since it was last emptied */
  tensor_list path;  /* still to be visited by a walk */
  uint64_t live_bytes;
} simulation;

/* No ids: these are the last two, and no graph has so many tensors. */
static const tensor_id SEVERAL = UINT32_MAX, NOTHING = UINT32_MAX - 1;

static inline const graph_tensor *tensor_of(const simulation *s, tensor_id t) {
  return &s->g->tensors.data[t];
}

static inline uint32_t reading_slots(const simulation *s, tensor_id t) {
  return s->g->reader_begin[t + 1] - s->g->reader_begin[t];
}

static inline uint64_t rounded(const simulation *s, tensor_id t) {
  return number_round_up(tensor_of(s, t)->bytes, s->model->round);
}

/* Does a stored tensor occupy the arena at all? */
bool simulation_occupies(const simulation *s, tensor_id t);

/* The rounded workspace of an operator; UINT64_MAX if it is out of reach. */
uint64_t simulation_scratch_of(const simulation *s, const graph_op *op);

/* Empty `found`; then add to it the stored tensors behind t, or behind all that
   an operator reads and writes, each once. */
void simulation_forget(simulation *s);
calm_status simulation_follow(simulation *s, tensor_id t);
calm_status simulation_follow_operands(simulation *s, const graph_op *op);

/* All that is known before the first step, but for needs; and the needs, with
   the operators that do nothing. */
calm_status simulation_find_storage(simulation *s);
calm_status simulation_find_needs(simulation *s, bool *idle);

/* Fill lives and step_bytes where rows of tensors are told apart
   (memory_simulate_rows.c). */
calm_status simulation_run_rows(simulation *s, const op_id *sequence,
                                arena *scratch);

#endif
