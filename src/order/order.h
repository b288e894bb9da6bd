/*
 * The order room.  Given operators with precedence edges and buffers that live
 * from the first operator that touches them to the last, in which order do the
 * operators run so that the largest sum of live bytes is least?  This room
 * knows no graphs: it solves plain arrays.
 *
 * For a set S of operators already run (closed under predecessors) a buffer is
 * live if (pinned_start or S touches it) and (pinned_end or S does not contain
 * all its touchers); mem(S) sums the live ones.  Running u from S costs
 * mem(S) + new(u) + workspace(u) - reuse(u, S): `new` are the buffers that u
 * touches first, and `reuse` is the largest permission of u whose input nobody
 * else still needs and whose output is not there yet.
 */
#ifndef CALM_ORDER_ORDER_H
#define CALM_ORDER_ORDER_H

#include "base/arena.h"
#include "base/limits.h"

typedef struct order_buffer {
  uint64_t bytes;
  bool pinned_start; /* live from the beginning */
  bool pinned_end;   /* live to the end */
} order_buffer;

/* Operator `op` may write buffer `output` over buffer `input` when no other
   operator needs `input` any more and `output` is not there yet; this saves
   `bytes`: at most the smaller of the two, and, if they have any bytes, what it
   then needs no more of its workspace. */
typedef struct order_reuse {
  uint32_t op, input, output;
  uint64_t bytes;
} order_reuse;

/* Operators are numbered topologically: every edge goes to a higher number, so
   0, 1, 2, ... is a valid order, and it is the one called "file". */
typedef struct order_problem {
  uint32_t op_count, buffer_count, reuse_count;
  order_buffer *buffers;
  uint32_t *touch_begin, *touch; /* buffer b: touch[touch_begin[b] .. [b+1]],
                                    ascending, each once */
  uint32_t *uses_begin, *uses;   /* operator u: the buffers it touches */
  uint32_t *pred_begin, *preds;  /* ascending, each once */
  uint32_t *succ_begin, *succs;
  uint64_t *workspace;   /* per operator, bytes */
  order_reuse *reuses;   /* ascending by op */
  uint32_t *reuse_begin; /* operator u: reuses[reuse_begin[u] .. [u+1]] */
  uint32_t *level;       /* longest-path depth of each operator */
} order_problem;

typedef enum order_method {
  ORDER_FILE,   /* 0, 1, 2, ... */
  ORDER_LEVEL,  /* Kahn by depth, ties by number */
  ORDER_DFS,    /* depth first from the sinks */
  ORDER_GREEDY, /* list scheduling with look-ahead */
  ORDER_DP,     /* SERENITY's dynamic programming */
  ORDER_EXACT   /* block search with a certificate */
} order_method;

typedef struct order_options {
  order_method method;
  uint64_t seed;
  /* dp: each of the paper's three techniques may be left out */
  bool dp_cuts;   /* divide and conquer at cut points */
  bool dp_budget; /* adaptive soft budgeting */
  bool count;     /* count down-sets and topological orders (dp, no budget) */
  /* exact: each pruning rule may be switched off */
  bool blocks;     /* leave a state only by minimal buffer-freeing sets */
  bool commit;     /* a block that does not raise mem is taken alone */
  bool root_bound; /* max-flow bound at the root */
  bool groups;     /* bound by who is last or first of several */
  bool reverse;    /* search the reversed problem, too */
  bool series;     /* merge series-parallel problems by hills and valleys */
  bool windows;    /* search parts of the order by themselves, too */
  uint64_t
      target_bytes; /* stop once an order at or below this is found; 0: none */
  uint64_t ceiling_bytes; /* exact: stop once no order below this is possible;
                             0: none.  Then bound_bytes reaches it, and the
                             outcome is feasible if the order found does not
                             happen to meet the bound. */
} order_options;

typedef struct order_result {
  calm_outcome outcome;
  uint32_t *sequence; /* in the caller's arena; operators in running order */
  uint64_t peak_bytes, bound_bytes;
  uint64_t states; /* distinct sets stored */
  uint64_t ticks;
  uint64_t downsets;     /* if counted, else 0; UINT64_MAX if more than fit */
  uint64_t orders;       /* likewise */
  uint32_t segments;     /* parts that dp cut the problem into */
  limits_reason stopped; /* why a search ended early */
} order_result;

/* The defaults: exact, every rule and technique on. */
order_options order_options_default(void);

/* Fill uses_*, succs, reuse_begin and level from touch_*, preds and reuses;
   check the numbering (assert).  Arrays are taken from the arena.  Bytes that
   do not fit NUMBER_MAX_BYTES together are bad input. */
calm_status order_problem_finish(order_problem *p, arena *a);

/* The same problem backwards: edges reversed, operator u becomes n - 1 - u, the
   pins swapped, and the input and output of each reuse.  An order costs at each
   operator what the reversed order costs there in the reversed problem. */
calm_status order_problem_reverse(order_problem *out, const order_problem *p,
                                  arena *a);

/* A bound that costs nothing: the largest working set of an operator, what is
   live before the first and after the last.  No order is below it. */
uint64_t order_working_set(const order_problem *p);

/* Solve.  The sequence is taken from `a`; scratch is freed before return.
   Always yields a valid sequence, also when a limit stops it at once. */
calm_status order_solve(order_result *out, const order_problem *p,
                        const order_options *options, arena *a, limits *l);

/* The peak of a sequence; step_bytes (per step, may be NULL) gets the bytes
   while each operator runs. */
calm_status order_replay(uint64_t *out_peak, const order_problem *p,
                         const uint32_t *sequence, uint64_t *step_bytes,
                         calm_context *context);

#endif
