/*
 * Why a peak is what it is.  The floor is the largest working set of any one
 * operator: what it touches, what is pinned through the whole run, and its
 * workspace, less the best it could ever save in place.  No order is below.
 * A remedy is another value of one column of the memory model; each that might
 * help is tried, and its effect on the floor and on the same order is measured,
 * not guessed.
 */
#include "memory/memory_explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "memory/memory_check.h"

typedef enum remedy_concern {
  FREED_OPERATORS,       /* those that cost nothing under the remedy */
  OVERWRITING_OPERATORS, /* those that gain a permission in place */
  FLAGGED_TENSORS,       /* those with the flag that cost something before */
  TOGETHER               /* several options: no details */
} remedy_concern;

enum { MAX_OVERRIDES = 3 };

/* In the order in which equals are listed, combinations last. */
static const struct remedy_row {
  struct {
    const char *column, *value;
  } overrides[MAX_OVERRIDES];
  remedy_concern concern;
  unsigned flag;
  const char *one, *many; /* what becomes of them */
} rows[] = {
    {{{"views", "identity"}},
     FREED_OPERATORS,
     0,
     "costs nothing",
     "cost nothing"},
    {{{"concat", "elide"}},
     FREED_OPERATORS,
     0,
     "costs nothing if its readers read the operands where they are",
     "cost nothing if their readers read the operands where they are"},
    {{{"inplace", "elementwise"}},
     OVERWRITING_OPERATORS,
     0,
     "may write over an input that dies there",
     "may write over an input that dies there"},
    {{{"inputs", "until-use"}},
     FLAGGED_TENSORS,
     CALM_TENSOR_INPUT,
     "goes after its last use",
     "go after their last use"},
    {{{"inputs", "external"}},
     FLAGGED_TENSORS,
     CALM_TENSOR_INPUT,
     "lies outside the arena",
     "lie outside the arena"},
    {{{"outputs", "external"}},
     FLAGGED_TENSORS,
     CALM_TENSOR_OUTPUT,
     "lies outside the arena",
     "lie outside the arena"},
    {{{"variables", "external"}},
     FLAGGED_TENSORS,
     CALM_TENSOR_VARIABLE,
     "lies outside the arena",
     "lie outside the arena"},
    {.overrides = {{"views", "identity"}, {"concat", "elide"}},
     .concern = TOGETHER},
    {.overrides = {{"views", "identity"}, {"inplace", "elementwise"}},
     .concern = TOGETHER},
    {.overrides = {{"concat", "elide"}, {"inplace", "elementwise"}},
     .concern = TOGETHER},
    {.overrides = {{"views", "identity"},
                   {"concat", "elide"},
                   {"inplace", "elementwise"}},
     .concern = TOGETHER},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* The largest working set of any one operator of an order problem. */
typedef struct memory_floor {
  uint64_t bytes;
  uint32_t op;       /* the first order operator that needs it, or CALM_NONE */
  uint64_t *savings; /* per order operator: its largest permission in place */
} memory_floor;

typedef struct explainer {
  const graph *g;
  const memory_model *model;
  const uint64_t *body_arena;
  const op_id *sequence;
  arena *a;
  arena scratch;
  memory_problem problem;
  memory_profile profile;
  memory_floor floor;
  memory_explanation out;
} explainer;

/* ---- Who is alive -------------------------------------------------------- */

typedef struct sized_tensor {
  uint64_t bytes;
  tensor_id tensor;
} sized_tensor;

static int compare_sizes(const void *left, const void *right) {
  const sized_tensor *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
  return (a->tensor > b->tensor) - (a->tensor < b->tensor);
}

/* Sort by size and keep the ids. */
static calm_status rank_tensors(tensor_id **out, sized_tensor *tensors,
                                uint32_t count, arena *a) {
  tensor_id *ids;
  ARENA_ARRAY(a, ids, count);
  if (count) qsort(tensors, count, sizeof *tensors, compare_sizes);
  for (uint32_t i = 0; i < count; i++) ids[i] = tensors[i].tensor;
  *out = ids;
  return CALM_OK;
}

static calm_status list_alive(explainer *e) {
  sized_tensor *alive;
  uint32_t count = 0;
  ARENA_ARRAY(&e->scratch, alive, e->g->tensors.count);
  for (tensor_id t = 0; t < e->g->tensors.count; t++) {
    const memory_life *life = &e->profile.lives[t];
    if (life->counted && life->first <= e->out.step &&
        e->out.step <= life->last)
      alive[count++] = (sized_tensor){life->bytes, t};
  }
  e->out.alive_count = count;
  return rank_tensors(&e->out.alive, alive, count, e->a);
}

/* ---- The floor ----------------------------------------------------------- */

static bool whole_run(const order_buffer *buffer) {
  return buffer->pinned_start && buffer->pinned_end;
}

/* What u needs beside the whole-run buffers. */
static uint64_t working_set(const order_problem *o, uint32_t u) {
  uint64_t bytes = o->workspace[u];
  for (uint32_t i = o->uses_begin[u]; i < o->uses_begin[u + 1]; i++)
    if (!whole_run(&o->buffers[o->uses[i]]))
      bytes += o->buffers[o->uses[i]].bytes;
  return bytes;
}

/* The largest permission of each operator, whatever the order. */
static calm_status best_savings(uint64_t **out, const order_problem *o,
                                arena *scratch) {
  uint64_t *savings;
  ARENA_ARRAY(scratch, savings, o->op_count);
  for (uint32_t i = 0; i < o->reuse_count; i++)
    if (o->reuses[i].bytes > savings[o->reuses[i].op])
      savings[o->reuses[i].op] = o->reuses[i].bytes;
  *out = savings;
  return CALM_OK;
}

/* `always` is what whole-run buffers take at every step. */
static calm_status find_floor(memory_floor *out, const order_problem *o,
                              arena *scratch) {
  memory_floor f = {.op = CALM_NONE};
  uint64_t always = 0;
  TRY(best_savings(&f.savings, o, scratch));
  for (uint32_t b = 0; b < o->buffer_count; b++)
    if (whole_run(&o->buffers[b])) always += o->buffers[b].bytes;
  f.bytes = always;
  for (uint32_t u = 0; u < o->op_count; u++) {
    const uint64_t bytes = always + working_set(o, u) - f.savings[u];
    if (f.op != CALM_NONE && bytes <= f.bytes) continue;
    f.bytes = bytes;
    f.op = u;
  }
  *out = f;
  return CALM_OK;
}

/* Whole-run buffers, and those that operator u touches. */
static void mark_alive(bool *alive, const order_problem *o, uint32_t u) {
  for (uint32_t b = 0; b < o->buffer_count; b++)
    alive[b] = whole_run(&o->buffers[b]);
  if (u == CALM_NONE) return;
  for (uint32_t i = o->uses_begin[u]; i < o->uses_begin[u + 1]; i++)
    alive[o->uses[i]] = true;
}

static calm_status list_floor(explainer *e) {
  const order_problem *o = &e->problem.order;
  bool *is_alive;
  sized_tensor *alive;
  uint32_t count = 0;
  ARENA_ARRAY(&e->scratch, is_alive, o->buffer_count);
  ARENA_ARRAY(&e->scratch, alive, o->buffer_count);
  mark_alive(is_alive, o, e->floor.op);
  for (uint32_t b = 0; b < o->buffer_count; b++)
    if (is_alive[b])
      alive[count++] =
          (sized_tensor){o->buffers[b].bytes, e->problem.tensor_of[b]};
  e->out.floor_alive_count = count;
  return rank_tensors(&e->out.floor_alive, alive, count, e->a);
}

static calm_status explain_floor(explainer *e) {
  TRY(find_floor(&e->floor, &e->problem.order, &e->scratch));
  const uint32_t u = e->floor.op;
  e->out.floor_bytes = e->floor.bytes;
  e->out.floor_op = u == CALM_NONE ? CALM_NONE : e->problem.op_of[u];
  return list_floor(e);
}

/* ---- Remedies ------------------------------------------------------------ */

/* What a remedy would make of the graph. */
typedef struct trial {
  memory_model model;
  memory_problem problem;
  memory_floor floor;
  memory_remedy effect;
} trial;

static bool can_overwrite(const memory_problem *p, const memory_floor *f,
                          op_id op) {
  const uint32_t u = p->order_op_of[op];
  return u != CALM_NONE && f->savings[u] > 0;
}

static bool concerns_op(const explainer *e, const struct remedy_row *row,
                        const trial *t, op_id op) {
  if (row->concern == FREED_OPERATORS)
    return t->problem.order_op_of[op] == CALM_NONE &&
           e->problem.order_op_of[op] != CALM_NONE;
  return can_overwrite(&t->problem, &t->floor, op) &&
         !can_overwrite(&e->problem, &e->floor, op);
}

/* The name that stands first, and how many there are: of operators the one that
   sets the floor, else the one that sets the peak, else the first. */
static const char *pick_op(const explainer *e, const struct remedy_row *row,
                           const trial *t, uint32_t *count) {
  op_id chosen = CALM_NONE;
  for (op_id op = 0; op < e->g->ops.count; op++) {
    if (!concerns_op(e, row, t, op)) continue;
    ++*count;
    if (chosen == CALM_NONE || op == e->out.floor_op ||
        (op == e->out.op && chosen != e->out.floor_op))
      chosen = op;
  }
  return chosen == CALM_NONE ? NULL : e->g->ops.data[chosen].name;
}

/* Of tensors, the largest. */
static const char *pick_tensor(const explainer *e, const struct remedy_row *row,
                               uint32_t *count) {
  const graph_tensor *chosen = NULL;
  for (tensor_id t = 0; t < e->g->tensors.count; t++) {
    const graph_tensor *tensor = &e->g->tensors.data[t];
    if (!(tensor->flags & row->flag) || tensor->flags & CALM_TENSOR_CONST)
      continue;
    ++*count;
    if (!chosen || tensor->bytes > chosen->bytes) chosen = tensor;
  }
  return chosen ? chosen->name : NULL;
}

/* Whom it concerns, and what becomes of them. */
static void describe_concern(const explainer *e, const struct remedy_row *row,
                             const trial *t, text *words) {
  uint32_t count = 0;
  const char *name = row->concern == FLAGGED_TENSORS
                         ? pick_tensor(e, row, &count)
                         : pick_op(e, row, t, &count);
  if (!name) return;
  text_format(words, ": %s", name);
  if (count > 1) text_format(words, " and %" PRIu32 " more", count - 1);
  text_format(words, " %s", count > 1 ? row->many : row->one);
}

static calm_status write_remedy(explainer *e, const struct remedy_row *row,
                                trial *t) {
  text words;
  char *line;
  text_init(&words, e->a->context);
  for (int i = 0; i < MAX_OVERRIDES && row->overrides[i].column; i++)
    text_format(&words, "%s--%s %s", i ? " " : "", row->overrides[i].column,
                row->overrides[i].value);
  if (row->concern == TOGETHER)
    text_format(&words, ": together");
  else
    describe_concern(e, row, t, &words);
  TRY(text_finish(&words, &line));
  t->effect.text = arena_string(e->a, line, strlen(line));
  calm_text_free(e->a->context, line);
  return t->effect.text ? CALM_OK : context_no_memory(e->a->context);
}

/* Least floor first, then least peak; equals as in the table, and combinations
   behind all single options. */
static void insert_remedy(memory_explanation *out, memory_remedy remedy,
                          bool single) {
  uint32_t at = out->remedy_count++;
  for (; single && at > 0; at--) {
    const memory_remedy *before = &out->remedies[at - 1];
    if (before->floor_bytes < remedy.floor_bytes ||
        (before->floor_bytes == remedy.floor_bytes &&
         before->peak_bytes <= remedy.peak_bytes))
      break;
    out->remedies[at] = *before;
  }
  out->remedies[at] = remedy;
}

/* Does it lower floor or peak?  A combination has to do so beyond everything
   that is listed already. */
static bool helps(const explainer *e, const struct remedy_row *row,
                  const memory_remedy *remedy) {
  uint64_t floor_bytes = e->out.floor_bytes, peak_bytes = e->out.peak_bytes;
  for (uint32_t i = 0; row->concern == TOGETHER && i < e->out.remedy_count;
       i++) {
    const memory_remedy *other = &e->out.remedies[i];
    if (other->floor_bytes < floor_bytes) floor_bytes = other->floor_bytes;
    if (other->peak_bytes < peak_bytes) peak_bytes = other->peak_bytes;
  }
  return remedy->floor_bytes < floor_bytes || remedy->peak_bytes < peak_bytes;
}

static calm_status measure(const explainer *e, trial *t, arena *scratch) {
  memory_profile profile;
  TRY(memory_problem_build(&t->problem, e->g, &t->model, e->body_arena,
                           scratch));
  TRY(find_floor(&t->floor, &t->problem.order, scratch));
  TRY(memory_simulate(&profile, e->g, &t->model, e->body_arena, e->sequence,
                      scratch));
  t->effect.floor_bytes = t->floor.bytes;
  t->effect.peak_bytes = profile.peak_bytes;
  return CALM_OK;
}

/* *changed: every option makes a difference to the model.  If one does not, the
   row says nothing that a shorter one would not say. */
static calm_status override_model(bool *changed, explainer *e,
                                  const struct remedy_row *row,
                                  memory_model *model) {
  *changed = true;
  for (int i = 0; i < MAX_OVERRIDES && row->overrides[i].column; i++) {
    const memory_model before = *model;
    TRY(memory_model_override(model, e->a->context, row->overrides[i].column,
                              row->overrides[i].value));
    if (!memcmp(&before, model, sizeof before)) *changed = false;
  }
  return CALM_OK;
}

/* A remedy that calm itself cannot handle on this graph is none. */
static calm_status try_remedy(explainer *e, const struct remedy_row *row,
                              arena *scratch) {
  trial t = {.model = *e->model};
  bool changed;
  TRY(override_model(&changed, e, row, &t.model));
  if (!changed) return CALM_OK;
  calm_status status = measure(e, &t, scratch);
  if (status == CALM_UNSUPPORTED) return CALM_OK;
  TRY(status);
  if (!helps(e, row, &t.effect)) return CALM_OK;
  TRY(write_remedy(e, row, &t));
  insert_remedy(&e->out, t.effect, row->concern != TOGETHER);
  return CALM_OK;
}

static calm_status try_remedies(explainer *e) {
  ARENA_ARRAY(e->a, e->out.remedies, ROW_COUNT);
  for (size_t i = 0; i < ROW_COUNT; i++) {
    arena scratch;
    arena_init(&scratch, e->a->context);
    calm_status status = try_remedy(e, &rows[i], &scratch);
    arena_free(&scratch);
    TRY(status);
  }
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status explain(explainer *e) {
  TRY(memory_simulate(&e->profile, e->g, e->model, e->body_arena, e->sequence,
                      &e->scratch));
  TRY(memory_problem_build(&e->problem, e->g, e->model, e->body_arena,
                           &e->scratch));
  e->out.step = e->profile.peak_step;
  e->out.peak_bytes = e->profile.peak_bytes;
  e->out.op = e->g->ops.count ? e->sequence[e->out.step] : CALM_NONE;
  TRY(list_alive(e));
  TRY(explain_floor(e));
  return try_remedies(e);
}

calm_status memory_explain(memory_explanation *out, const graph *g,
                           const memory_model *model,
                           const uint64_t *body_arena, const op_id *sequence,
                           arena *a) {
  explainer e = {.g = g,
                 .model = model,
                 .body_arena = body_arena,
                 .sequence = sequence,
                 .a = a};
  arena_init(&e.scratch, a->context);
  calm_status status = explain(&e);
  arena_free(&e.scratch);
  if (status == CALM_OK) *out = e.out;
  return status;
}
