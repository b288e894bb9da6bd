/*
 * Order and layout together, by proof.  The bound of the order search holds for
 * peaks; two arguments go beyond it.
 *
 * Alignment: take any plan whose offsets are multiples of A, and round every
 * size up to a multiple of A.  What lies above something begins at a multiple
 * of A, so nothing overlaps; only what lies topmost may end higher, by less
 * than the most that any size was rounded.  That is a plan of the rounded
 * graph, and so no arena is below the least peak of that graph, less this most.
 *
 * All orders: an arena is at least the peak of its order.  Orders whose peak is
 * below the best arena known (with the argument above at each step) are listed
 * depth first; sets of operators from which there is none are remembered, so
 * that without any each set is looked at once.  Each order is placed to a
 * proof, once for all that have the same lives in common.  Then the least of
 * what was found and of the bounds that stayed open holds for every order.
 */
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/vector.h"
#include "plan/planner.h"

enum {
  MOST_OPERATORS = 64,     /* sets are words */
  MOST_BUFFERS = 256,      /* keys are long */
  MOST_ORDERS = 1000,      /* placed to a proof */
  LIST_TICKS = 100000000,  /* of the list */
  PLACED_TICKS = 8000000,  /* of all that are placed for it */
  ROUNDED_TICKS = 2000000, /* of the order of the rounded graph, placed */
  PLACE_TICKS = 200000     /* of each order */
};

/* ---- Alignment ----------------------------------------------------------- */

/* By how much rounding changes a size, at most. */
static uint64_t most_rounded(const memory_problem *p, const memory_problem *by,
                             uint64_t align) {
  uint64_t most = 0;
  for (uint32_t b = 0; b < p->order.buffer_count; b++)
    most = number_larger(
        most, by->order.buffers[b].bytes - p->order.buffers[b].bytes);
  for (uint32_t u = 0; u < p->order.op_count; u++)
    if (p->order.workspace[u] % align)
      most = number_larger(most, align - p->order.workspace[u] % align);
  return most;
}

/* Are the same operators, buffers and permissions numbered alike? */
static bool is_alike(const memory_problem *a, const memory_problem *b) {
  const order_problem *x = &a->order, *y = &b->order;
  if (x->op_count != y->op_count || x->buffer_count != y->buffer_count ||
      x->reuse_count != y->reuse_count)
    return false;
  for (uint32_t i = 0; i < x->reuse_count; i++) {
    const order_reuse *r = &x->reuses[i], *s = &y->reuses[i];
    if (r->op != s->op || r->input != s->input || r->output != s->output)
      return false;
    /* Workspace that is not needed, too: what is left of it may be rounded
       less. */
    if (r->bytes > x->buffers[r->output].bytes) return false;
  }
  return !memcmp(a->op_of, b->op_of, x->op_count * sizeof *a->op_of) &&
         !memcmp(a->tensor_of, b->tensor_of,
                 x->buffer_count * sizeof *a->tensor_of);
}

calm_status plan_try_aligned(plan_candidate *best, planner *p,
                             const layout_options *options, limits *l) {
  const memory_model *memory = &p->plan->memory;
  memory_model model = *memory;
  memory_problem *rounded;
  order_result found;
  layout_result placed;
  const order_options o = plan_order_options(p->options);
  if (memory->align % memory->round || memory->align == memory->round ||
      !plan_may_try(p))
    return CALM_OK;
  ARENA_ARRAY(p->scratch, rounded, 1);
  model.round = memory->align;
  TRY(memory_problem_build(rounded, p->g, &model, p->body_arenas, p->scratch));
  if (!is_alike(&p->problem, rounded)) return CALM_OK;
  const uint64_t most = most_rounded(&p->problem, rounded, memory->align);
  if (most == 0) return CALM_OK;
  TRY(order_solve(&found, &rounded->order, &o, p->scratch, l));
  p->joint_bound = found.bound_bytes - number_smaller(found.bound_bytes, most);
  p->rounded = &rounded->order;
  if (best->layout.arena_bytes <= plan_arena_bound(p)) return CALM_OK;
  limits one = *l;
  one.max_ticks = number_smaller(one.max_ticks, one.ticks + ROUNDED_TICKS);
  TRY(plan_try_order(&placed, best, p, found.sequence, options, &one));
  l->ticks = one.ticks;
  return CALM_OK;
}

/* ---- All orders ---------------------------------------------------------- */

typedef VECTOR(uint64_t) word_vector;

/* Words of equal length, each once.  Open addressing; slots hold number + 1. */
typedef struct key_set {
  calm_context *context;
  word_vector words;
  uint32_t length, count; /* of a key; of keys */
  uint32_t *slots;
  uint32_t slot_count; /* a power of two */
} key_set;

/* The slot of a key, or the empty one where it belongs. */
static uint32_t *find_slot(const key_set *s, const uint64_t *key) {
  const size_t bytes = s->length * sizeof *key;
  uint32_t at = (uint32_t)hash_bytes(key, bytes) & (s->slot_count - 1);
  while (s->slots[at] &&
         memcmp(&s->words.data[(size_t)(s->slots[at] - 1) * s->length], key,
                bytes) != 0)
    at = (at + 1) & (s->slot_count - 1);
  return &s->slots[at];
}

static calm_status grow_slots(key_set *s) {
  const uint32_t before = s->slot_count, now = before ? 2 * before : 64;
  uint32_t *slots =
      context_reallocate(s->context, NULL, 0, now * sizeof *slots);
  if (!slots) return context_no_memory(s->context);
  memset(slots, 0, now * sizeof *slots);
  context_reallocate(s->context, s->slots, before * sizeof *slots, 0);
  s->slots = slots;
  s->slot_count = now;
  for (uint32_t i = 0; i < s->count; i++)
    *find_slot(s, &s->words.data[(size_t)i * s->length]) = i + 1;
  return CALM_OK;
}

static bool has_key(const key_set *s, const uint64_t *key) {
  return s->slot_count && *find_slot(s, key) != 0;
}

static calm_status add_key(key_set *s, const uint64_t *key) {
  if (2 * s->count >= s->slot_count) TRY(grow_slots(s));
  uint32_t *slot = find_slot(s, key);
  for (uint32_t i = 0; i < s->length; i++)
    VECTOR_PUSH(s->context, &s->words, key[i]);
  *slot = ++s->count;
  return CALM_OK;
}

static void free_keys(key_set *s) {
  VECTOR_FREE(s->context, &s->words);
  context_reallocate(s->context, s->slots, s->slot_count * sizeof *s->slots, 0);
}

/* ---- Every order --------------------------------------------------------- */

typedef struct lister {
  planner *p;
  plan_candidate *best;
  const layout_options *options;
  limits *l;
  const order_problem *problem; /* whose peaks are looked at */
  uint64_t *touchers;           /* per buffer: the operators that touch it */
  uint64_t *added; /* per buffer, then per operator for its workspace: bytes
                      that came by rounding; NULL: none did */
  uint32_t *sequence, depth;
  uint64_t done;   /* operators that have run */
  uint64_t *preds; /* per operator */
  key_set dead;    /* sets from which there is no order with hope */
  key_set seen;    /* layout problems that were solved */
  uint64_t *key;
  uint64_t open; /* an order may have an arena down to this; UINT64_MAX: all
                    are proved */
  uint64_t ticks, placed_ticks;
  bool stopped;
} lister;

static bool lives_meet(const layout_piece *a, const layout_piece *b) {
  const int64_t lower = a->lower > b->lower ? a->lower : b->lower;
  return lower < (a->upper < b->upper ? a->upper : b->upper);
}

/* All that the least arena depends on: bodies, extents, and which lives meet.
   A piece that never lives does not even meet itself. */
static void write_key(lister *s, const layout_problem *p) {
  const uint32_t bits_begin = 1 + 3 * p->piece_count;
  uint64_t bit = 0;
  memset(s->key, 0, s->seen.length * sizeof *s->key);
  s->key[0] = p->piece_count;
  for (uint32_t i = 0; i < p->piece_count; i++) {
    const layout_piece *x = &p->pieces[i];
    s->key[1 + 3 * i] = x->body;
    s->key[2 + 3 * i] = x->low;
    s->key[3 + 3 * i] = x->high;
    for (uint32_t j = 0; j <= i; j++, bit++)
      if (lives_meet(x, &p->pieces[j]))
        s->key[bits_begin + bit / 64] |= UINT64_C(1) << bit % 64;
  }
}

/* Is the layout problem of the sequence one that was solved before? */
static calm_status find_key(bool *out, lister *s, arena *a) {
  const planner *p = s->p;
  memory_placement placement;
  op_id *sequence;
  ARENA_ARRAY(a, sequence, p->g->ops.count);
  TRY(memory_expand_sequence(sequence, p->g, &p->problem, s->sequence));
  TRY(memory_placement_build(&placement, p->g, &p->plan->memory, &p->problem,
                             sequence, a));
  write_key(s, &placement.layout);
  *out = has_key(&s->seen, s->key);
  return *out ? CALM_OK : add_key(&s->seen, s->key);
}

static calm_status place_listed(lister *s) {
  bool known;
  arena a;
  layout_result placed;
  arena_init(&a, s->p->plan->context);
  calm_status status = find_key(&known, s, &a);
  arena_free(&a);
  if (status != CALM_OK || known) return status;
  if (!plan_may_try(s->p) || s->seen.count > MOST_ORDERS) {
    s->stopped = true;
    return CALM_OK;
  }
  limits one = *s->l;
  one.max_ticks = number_smaller(one.max_ticks, one.ticks + PLACE_TICKS);
  TRY(plan_try_order(&placed, s->best, s->p, s->sequence, s->options, &one));
  s->placed_ticks += one.ticks - s->l->ticks;
  s->l->ticks = one.ticks;
  if (placed.bound_bytes < placed.arena_bytes)
    s->open = number_smaller(s->open, placed.bound_bytes);
  s->stopped = s->placed_ticks > PLACED_TICKS ||
               s->best->layout.arena_bytes <= s->options->target_bytes;
  return CALM_OK;
}

static bool is_begun(const lister *s, uint32_t b, uint64_t done) {
  return s->problem->buffers[b].pinned_start || s->touchers[b] & done;
}

static bool is_over(const lister *s, uint32_t b, uint64_t done) {
  return !s->problem->buffers[b].pinned_end && !(s->touchers[b] & ~done);
}

/* What u saves by writing over an input. */
static uint64_t saving_of(const lister *s, uint32_t u) {
  const order_problem *o = s->problem;
  uint64_t most = 0;
  for (uint32_t i = o->reuse_begin[u]; i < o->reuse_begin[u + 1]; i++) {
    const order_reuse *r = &o->reuses[i];
    if (is_over(s, r->input, s->done | UINT64_C(1) << u) &&
        !is_begun(s, r->output, s->done))
      most = number_larger(most, r->bytes);
  }
  return most;
}

/*
 * No arena is smaller while u runs next: the bytes that are alive, less what
 * came by rounding to the one of them that has most of it, which may lie
 * topmost.
 */
static uint64_t least_arena_at(const lister *s, uint32_t u) {
  const order_problem *o = s->problem;
  const uint64_t now = s->done | UINT64_C(1) << u;
  uint64_t bytes = o->workspace[u];
  uint64_t most = s->added ? s->added[o->buffer_count + u] : 0;
  for (uint32_t b = 0; b < o->buffer_count; b++) {
    if (!is_begun(s, b, now) || is_over(s, b, s->done)) continue;
    bytes += o->buffers[b].bytes;
    if (s->added) most = number_larger(most, s->added[b]);
  }
  return bytes - saving_of(s, u) - most;
}

/* All orders that begin as the sequence does; is there one with hope? */
static calm_status list_orders(bool *out, lister *s) {
  bool any = false;
  if (s->depth == s->problem->op_count) {
    *out = true;
    return place_listed(s);
  }
  *out = false;
  if (has_key(&s->dead, &s->done)) return CALM_OK;
  for (uint32_t u = 0; u < s->problem->op_count && !s->stopped; u++) {
    const uint64_t bit = UINT64_C(1) << u;
    bool more = false;
    if (s->done & bit || s->preds[u] & ~s->done) continue;
    s->ticks += s->problem->buffer_count;
    s->stopped =
        s->ticks > LIST_TICKS || limits_spend(s->l, s->problem->buffer_count);
    if (least_arena_at(s, u) >= s->best->layout.arena_bytes) continue;
    s->sequence[s->depth++] = u;
    s->done |= bit;
    TRY(list_orders(&more, s));
    s->done &= ~bit;
    s->depth--;
    any = any || more;
  }
  *out = any;
  return any || s->stopped ? CALM_OK : add_key(&s->dead, &s->done);
}

/* Of the problem with rounded sizes beside the real one. */
static calm_status measure_rounding(lister *s) {
  const order_problem *o = s->problem, *real = &s->p->problem.order;
  const uint64_t align = s->p->plan->memory.align;
  if (o == real) return CALM_OK;
  ARENA_ARRAY(s->p->scratch, s->added, o->buffer_count + o->op_count);
  for (uint32_t b = 0; b < o->buffer_count; b++)
    s->added[b] = o->buffers[b].bytes - real->buffers[b].bytes;
  for (uint32_t u = 0; u < o->op_count; u++)
    s->added[o->buffer_count + u] =
        number_round_up(real->workspace[u], align) - real->workspace[u];
  return CALM_OK;
}

static calm_status begin_list(lister *s) {
  const order_problem *o = s->problem;
  arena *a = s->p->scratch;
  const uint32_t pieces = o->buffer_count + o->op_count;
  ARENA_ARRAY(a, s->sequence, o->op_count);
  ARENA_ARRAY(a, s->preds, o->op_count);
  for (uint32_t u = 0; u < o->op_count; u++)
    for (uint32_t i = o->pred_begin[u]; i < o->pred_begin[u + 1]; i++)
      s->preds[u] |= UINT64_C(1) << o->preds[i];
  ARENA_ARRAY(a, s->touchers, o->buffer_count);
  for (uint32_t b = 0; b < o->buffer_count; b++)
    for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
      s->touchers[b] |= UINT64_C(1) << o->touch[i];
  TRY(measure_rounding(s));
  s->dead.context = s->seen.context = a->context;
  s->dead.length = 1;
  s->seen.length = 2 + 3 * pieces + pieces * (pieces + 1) / 2 / 64;
  ARENA_ARRAY(a, s->key, s->seen.length);
  return CALM_OK;
}

static calm_status list_all(lister *s) {
  bool any;
  TRY(begin_list(s));
  TRY(list_orders(&any, s));
  if (s->stopped) return CALM_OK;
  s->p->plan->joint.all = true;
  s->p->joint_bound = number_larger(
      s->p->joint_bound, number_smaller(s->best->layout.arena_bytes, s->open));
  return CALM_OK;
}

calm_status plan_try_every_order(plan_candidate *best, planner *p,
                                 const layout_options *options, limits *l) {
  lister s = {.p = p,
              .best = best,
              .options = options,
              .l = l,
              .problem = p->rounded ? p->rounded : &p->problem.order,
              .open = UINT64_MAX};
  const uint32_t ops = p->problem.order.op_count;
  if (ops > MOST_OPERATORS || options->method != LAYOUT_EXACT) return CALM_OK;
  if (p->problem.order.buffer_count > MOST_BUFFERS) return CALM_OK;
  calm_status status = list_all(&s);
  free_keys(&s.dead);
  free_keys(&s.seen);
  return status;
}
