/*
 * The judge.  A chip is played through, step by step: how many bytes of each
 * buffer are on chip, and how many have a copy off chip.  Written from
 * traffic.h alone, and sharing nothing with the other files of this room: what
 * they believe must not decide whether they were right.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/number.h"
#include "traffic/traffic.h"

/* A touch as its operator sees it. */
typedef struct operand {
  uint32_t buffer, entry; /* entry: of order->touch */
} operand;

typedef struct chip {
  const traffic_problem *p;
  const order_problem *o;
  const traffic_memory *memory;
  const traffic_result *r;
  uint64_t capacity; /* in whole pages, as all below */
  uint64_t *size;    /* per buffer */
  uint64_t *on_chip, *off_chip;
  uint64_t on_chip_bytes; /* of all buffers */
  uint32_t *touches_left, *writes_left;
  bool *there;             /* there is something to be read */
  uint32_t *operand_begin; /* per operator */
  operand *operands;
  traffic_result seen; /* what the result should be */
  uint64_t moved;
  const char *fault;
  calm_status status; /* no memory for a fault */
  arena *a, *scratch;
} chip;

/* Say what is wrong.  Always false, which ends the game. */
static bool blame(chip *c, const char *format, ...) PRINTF_LIKE(2, 3);

static bool blame(chip *c, const char *format, ...) {
  char words[200];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  if (length > 0 && (size_t)length < sizeof words)
    c->fault = arena_string(c->a, words, (size_t)length);
  if (!c->fault) c->status = context_no_memory(c->a->context);
  return false;
}

/* ---- The sequence -------------------------------------------------------- */

static calm_status check_sequence(bool *out_fine, chip *c,
                                  const uint32_t *sequence) {
  const order_problem *o = c->o;
  bool *ran;
  ARENA_ARRAY(c->scratch, ran, o->op_count);
  *out_fine = false;
  for (uint32_t s = 0; s < o->op_count; s++) {
    const uint32_t u = sequence[s];
    if (u >= o->op_count || ran[u]) {
      blame(c, "step %" PRIu32 ": %s", s,
            u < o->op_count ? "its operator has run before"
                            : "there is no such operator");
      return c->status;
    }
    ran[u] = true;
    for (uint32_t i = o->pred_begin[u]; i < o->pred_begin[u + 1]; i++)
      if (!ran[o->preds[i]]) {
        blame(c,
              "step %" PRIu32 ": operator %" PRIu32
              " runs before operator %" PRIu32 ", which must precede it",
              s, u, o->preds[i]);
        return c->status;
      }
  }
  *out_fine = true;
  return CALM_OK;
}

/* ---- The chip before it runs --------------------------------------------- */

/* Rounded up to whole pages; *total grows by it. */
static bool round_up(uint64_t *out, uint64_t *total, const chip *c,
                     uint64_t bytes) {
  const uint64_t page = c->memory->page_bytes;
  if (page) {
    uint64_t pages = bytes / page;
    if (bytes % page) pages++;
    if (!number_multiply(&bytes, pages, page)) return false;
  }
  *out = bytes;
  return number_add(total, *total, bytes);
}

static bool measure(chip *c) {
  uint64_t total = 0, bytes;
  bool fits = true;
  for (uint32_t b = 0; b < c->o->buffer_count; b++)
    fits = fits && round_up(&c->size[b], &total, c, c->o->buffers[b].bytes);
  for (uint32_t u = 0; u < c->o->op_count; u++)
    fits = fits && round_up(&bytes, &total, c, c->o->workspace[u]);
  return fits || blame(c, "pages of %" PRIu64 " bytes are too large",
                       c->memory->page_bytes);
}

/* Who has which operands, from the lists of touches alone. */
static calm_status list_operands(chip *c) {
  const order_problem *o = c->o;
  const uint32_t touches = o->touch_begin[o->buffer_count];
  uint32_t *next;
  ARENA_ARRAY(c->scratch, next, o->op_count);
  for (uint32_t i = 0; i < touches; i++) c->operand_begin[o->touch[i] + 1]++;
  for (uint32_t u = 0; u < o->op_count; u++) {
    c->operand_begin[u + 1] += c->operand_begin[u];
    next[u] = c->operand_begin[u];
  }
  for (uint32_t b = 0; b < o->buffer_count; b++)
    for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
      c->operands[next[o->touch[i]]++] = (operand){b, i};
  return CALM_OK;
}

static calm_status prepare(chip *c) {
  const order_problem *o = c->o;
  const uint64_t page = c->memory->page_bytes;
  c->capacity = page ? c->memory->bytes / page * page : c->memory->bytes;
  ARENA_ARRAY(c->scratch, c->size, o->buffer_count);
  ARENA_ARRAY(c->scratch, c->on_chip, o->buffer_count);
  ARENA_ARRAY(c->scratch, c->off_chip, o->buffer_count);
  ARENA_ARRAY(c->scratch, c->touches_left, o->buffer_count);
  ARENA_ARRAY(c->scratch, c->writes_left, o->buffer_count);
  ARENA_ARRAY(c->scratch, c->there, o->buffer_count);
  ARENA_ARRAY(c->scratch, c->operand_begin, (size_t)o->op_count + 1);
  ARENA_ARRAY(c->scratch, c->operands, o->touch_begin[o->buffer_count]);
  ARENA_ARRAY(c->scratch, c->seen.steps, (size_t)o->op_count + 1);
  ARENA_ARRAY(c->scratch, c->seen.buffers, o->buffer_count);
  for (uint32_t b = 0; b < o->buffer_count; b++) {
    c->there[b] = o->buffers[b].pinned_start;
    c->touches_left[b] = o->touch_begin[b + 1] - o->touch_begin[b];
    for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
      c->writes_left[b] += c->p->writes[i];
  }
  return list_operands(c);
}

/* ---- One step ------------------------------------------------------------ */

static bool has_operand(const chip *c, uint32_t u, uint32_t buffer) {
  for (uint32_t i = c->operand_begin[u]; i < c->operand_begin[u + 1]; i++)
    if (c->operands[i].buffer == buffer) return true;
  return false;
}

/* The input is needed by nobody else, the output is not there yet. */
static bool may_overwrite(const chip *c, const order_reuse *w) {
  const uint32_t touches =
      c->o->touch_begin[w->output + 1] - c->o->touch_begin[w->output];
  return c->touches_left[w->input] == 1 &&
         !c->o->buffers[w->input].pinned_end &&
         c->touches_left[w->output] == touches && !c->there[w->output] &&
         has_operand(c, w->op, w->input) && has_operand(c, w->op, w->output);
}

/* Operands and workspace, where one operand lies over another. */
static uint64_t overwriting(const chip *c, const order_reuse *w,
                            uint64_t operands) {
  const uint64_t in = c->o->buffers[w->input].bytes;
  const uint64_t out = c->o->buffers[w->output].bytes;
  const uint64_t page = c->memory->page_bytes ? c->memory->page_bytes : 1;
  uint64_t workspace = c->o->workspace[w->op], ignored = 0;
  uint64_t shared = in < out ? in : out;
  if (w->bytes < shared) {
    shared = w->bytes / page * page;
  } else {
    const uint64_t spared = w->bytes - shared;
    workspace -= spared < workspace ? spared : workspace;
    (void)round_up(&shared, &ignored, c, shared);
  }
  ignored = 0;
  (void)round_up(&workspace, &ignored, c, workspace);
  return operands + workspace - shared;
}

static uint64_t working_set(const chip *c, uint32_t u) {
  uint64_t operands = 0, workspace = 0, ignored = 0;
  for (uint32_t i = c->operand_begin[u]; i < c->operand_begin[u + 1]; i++)
    operands += c->size[c->operands[i].buffer];
  (void)round_up(&workspace, &ignored, c, c->o->workspace[u]);
  uint64_t least = operands + workspace;
  for (uint32_t i = 0; i < c->o->reuse_count; i++) {
    const order_reuse *w = &c->o->reuses[i];
    if (w->op != u || !may_overwrite(c, w)) continue;
    const uint64_t bytes = overwriting(c, w, operands);
    if (bytes < least) least = bytes;
  }
  return least;
}

static void add_to(traffic_amount *sum, const traffic_amount *more) {
  sum->input_bytes += more->input_bytes;
  sum->weight_bytes += more->weight_bytes;
  sum->output_bytes += more->output_bytes;
  sum->spill_read_bytes += more->spill_read_bytes;
  sum->spill_write_bytes += more->spill_write_bytes;
}

/* So many bytes cross the border; `what` has them under their reason. */
static bool move(chip *c, uint32_t step, uint32_t buffer, uint64_t bytes,
                 traffic_amount what) {
  if (!number_add(&c->moved, c->moved, bytes))
    return blame(
        c, "step %" PRIu32 ": more bytes are moved than can be counted", step);
  add_to(&c->seen.total, &what);
  add_to(&c->seen.steps[step], &what);
  if (buffer != CALM_NONE) add_to(&c->seen.buffers[buffer], &what);
  return true;
}

/* All of an operand gets on chip, and the operator does with it what it does.
   An operand that is not there yet is made there. */
static bool take_in(chip *c, uint32_t step, const operand *x) {
  const uint32_t b = x->buffer;
  const order_buffer *buffer = &c->o->buffers[b];
  const uint64_t absent = c->size[b] - c->on_chip[b];
  const bool first =
      c->touches_left[b] == c->o->touch_begin[b + 1] - c->o->touch_begin[b];
  const bool writes = c->p->writes[x->entry] || !c->there[b];
  c->writes_left[b] -= c->p->writes[x->entry];
  c->on_chip[b] += absent;
  c->on_chip_bytes += absent;
  if (c->there[b] && first) {
    c->off_chip[b] = c->size[b];
    if (!move(c, step, b, absent, (traffic_amount){.input_bytes = absent}))
      return false;
  } else if (c->there[b]) {
    if (!move(c, step, b, absent, (traffic_amount){.spill_read_bytes = absent}))
      return false;
  }
  c->there[b] = true;
  if (!writes) return true;
  c->off_chip[b] = 0;
  if (!buffer->pinned_end || c->writes_left[b]) return true;
  c->off_chip[b] = c->size[b];
  return move(c, step, b, c->size[b],
              (traffic_amount){.output_bytes = c->size[b]});
}

/* After the operator, what is not to be kept leaves before the next step. */
static bool let_go(chip *c, uint32_t step, const operand *x) {
  const uint32_t b = x->buffer;
  const uint64_t kept = c->r->kept_bytes[x->entry],
                 page = c->memory->page_bytes;
  const bool over = --c->touches_left[b] == 0;
  if (kept > c->size[b] || (over && kept) ||
      (page ? kept % page != 0 : kept != 0 && kept != c->size[b]))
    return blame(
        c, "step %" PRIu32 ": buffer %" PRIu32 " cannot keep %" PRIu64 " bytes",
        step, b, kept);
  const uint64_t leaving = c->on_chip[b] - kept;
  c->on_chip[b] = kept;
  c->on_chip_bytes -= leaving;
  if (over || leaving <= c->off_chip[b]) return true;
  const uint64_t written = leaving - c->off_chip[b];
  c->off_chip[b] = leaving;
  return move(c, step + 1, b, written,
              (traffic_amount){.spill_write_bytes = written});
}

/* What is on chip while the operator runs. */
static bool check_room(chip *c, uint32_t step, uint32_t u) {
  const uint64_t need = working_set(c, u);
  uint64_t others = c->on_chip_bytes;
  for (uint32_t i = c->operand_begin[u]; i < c->operand_begin[u + 1]; i++)
    others -= c->on_chip[c->operands[i].buffer];
  if (c->r->streams[step] != (need > c->capacity))
    return blame(c,
                 "step %" PRIu32 " needs %" PRIu64 " of %" PRIu64
                 " bytes, and %s to stream",
                 step, need, c->capacity,
                 c->r->streams[step] ? "is said" : "is not said");
  if (need > c->capacity) return true;
  if (need + others > c->seen.used_bytes) c->seen.used_bytes = need + others;
  return need + others <= c->capacity ||
         blame(c,
               "step %" PRIu32 " has %" PRIu64
               " bytes on chip, and there are %" PRIu64,
               step, need + others, c->capacity);
}

static bool check_boundary(chip *c, uint32_t step) {
  return c->on_chip_bytes <= c->capacity ||
         blame(c,
               "behind step %" PRIu32 " %" PRIu64
               " bytes are kept, and there are %" PRIu64,
               step, c->on_chip_bytes, c->capacity);
}

static bool play_step(chip *c, uint32_t step, uint32_t u) {
  const operand *x = &c->operands[c->operand_begin[u]];
  const uint32_t count = c->operand_begin[u + 1] - c->operand_begin[u];
  const uint64_t weights = c->p->weight_bytes[u];
  if (!check_room(c, step, u) ||
      !move(c, step, CALM_NONE, weights,
            (traffic_amount){.weight_bytes = weights}))
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (!take_in(c, step, &x[i])) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!let_go(c, step, &x[i])) return false;
  return check_boundary(c, step);
}

/* ---- What the result says ------------------------------------------------ */

enum { FIELDS = 5 };

static const char *const field_names[FIELDS] = {
    "input_bytes", "weight_bytes", "output_bytes", "spill_read_bytes",
    "spill_write_bytes"};

static void list_fields(uint64_t out[FIELDS], const traffic_amount *a) {
  out[0] = a->input_bytes;
  out[1] = a->weight_bytes;
  out[2] = a->output_bytes;
  out[3] = a->spill_read_bytes;
  out[4] = a->spill_write_bytes;
}

static bool check_amount(chip *c, const char *where, const traffic_amount *said,
                         const traffic_amount *seen) {
  uint64_t is[FIELDS], should_be[FIELDS];
  list_fields(is, said);
  list_fields(should_be, seen);
  for (uint32_t i = 0; i < FIELDS; i++)
    if (is[i] != should_be[i])
      return blame(c, "%s: %s is %" PRIu64 ", and not %" PRIu64, where,
                   field_names[i], should_be[i], is[i]);
  return true;
}

/* Those of all steps or of all buffers. */
static bool check_list(chip *c, const char *what, uint32_t count,
                       const traffic_amount *said, const traffic_amount *seen) {
  char where[32];
  for (uint32_t i = 0; i < count; i++) {
    snprintf(where, sizeof where, "%s %" PRIu32, what, i);
    if (!check_amount(c, where, &said[i], &seen[i])) return false;
  }
  return true;
}

static bool check_amounts(chip *c) {
  const traffic_result *said = c->r, *seen = &c->seen;
  return check_list(c, "step", c->o->op_count, said->steps, seen->steps) &&
         check_list(c, "buffer", c->o->buffer_count, said->buffers,
                    seen->buffers) &&
         check_amount(c, "in all", &said->total, &seen->total) &&
         (said->used_bytes == seen->used_bytes ||
          blame(c, "used_bytes is %" PRIu64 ", and not %" PRIu64,
                seen->used_bytes, said->used_bytes));
}

static calm_status judge(chip *c, const uint32_t *sequence) {
  bool fine;
  TRY(check_sequence(&fine, c, sequence));
  if (!fine) return CALM_OK;
  TRY(prepare(c));
  fine = measure(c);
  for (uint32_t s = 0; fine && s < c->o->op_count; s++)
    fine = play_step(c, s, sequence[s]);
  if (fine) check_amounts(c);
  return c->status;
}

calm_status traffic_check(const char **out_fault, const traffic_problem *p,
                          const uint32_t *sequence,
                          const traffic_memory *memory, const traffic_result *r,
                          arena *a) {
  arena scratch;
  arena_init(&scratch, a->context);
  chip c = {.p = p,
            .o = p->order,
            .memory = memory,
            .r = r,
            .a = a,
            .scratch = &scratch};
  const calm_status status = judge(&c, sequence);
  arena_free(&scratch);
  if (status == CALM_OK) *out_fault = c.fault;
  return status;
}
