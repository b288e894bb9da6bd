/*
 * The nest that Timeloop prints for people (`timeloop-mapper.map.txt`), which
 * its own programs cannot read.  Levels from the outermost, each with what it
 * keeps, and its loops:
 *
 *     GlobalBuffer [ Inputs:9831 (9831) Outputs:6272 (6272) ]
 *     -------------------------------------------------------
 *     |       for P in [0:14,3)
 *     |         for K in [0:4) (Spatial-Y)
 */
#include <string.h>

#include "accel/accel_nest_parts.h"
#include "base/number.h"
#include "base/vector.h"

typedef struct reader {
  accel_subject subject;
  const char *name;     /* of the file */
  const char *at, *end; /* what is left of a line */
  const char *line_start;
  uint32_t line;
  accel_place word;         /* where the last name or number begins */
  VECTOR(accel_loop) loops; /* outermost first */
  accel_nest *nest;
  uint32_t level; /* of the last heading; CALM_NONE: none yet */
} reader;

static accel_place here(const reader *r) {
  return (accel_place){r->name, r->line, (uint32_t)(r->at - r->line_start) + 1};
}

static void skip_spaces(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
    r->at++;
}

/* Does `word` come next?  Then it is passed. */
static bool take(reader *r, const char *word) {
  const size_t length = strlen(word);
  skip_spaces(r);
  if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length))
    return false;
  r->at += length;
  return true;
}

static calm_status expect(reader *r, const char *word) {
  if (take(r, word)) return CALM_OK;
  return accel_place_fail(r->subject.context, CALM_BAD_INPUT, here(r),
                          "'%s' is missing", word);
}

/* Up to one of `stops`, a space, or the end of the line; in the arena. */
static calm_status take_name(char **out, reader *r, const char *stops) {
  skip_spaces(r);
  r->word = here(r);
  const char *start = r->at;
  while (r->at < r->end && *r->at != ' ' && !strchr(stops, *r->at)) r->at++;
  *out = arena_string(r->subject.arena, start, (size_t)(r->at - start));
  return *out ? CALM_OK : context_no_memory(r->subject.context);
}

static calm_status take_number(uint64_t *out, reader *r) {
  skip_spaces(r);
  r->word = here(r);
  const char *start = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
  if (number_parse(out, start, (size_t)(r->at - start)) &&
      *out <= ACCEL_MAX_COUNT)
    return CALM_OK;
  return accel_place_fail(r->subject.context, CALM_BAD_INPUT, r->word,
                          "a number is missing, or too large");
}

/* ---- Lines --------------------------------------------------------------- */

static calm_status take_tensor(reader *r) {
  uint64_t words;
  char *name;
  TRY(take_name(&name, r, ":(]"));
  const uint32_t t = accel_layer_tensor(r->subject.layer, name);
  if (t == CALM_NONE)
    return accel_subject_no_tensor(&r->subject, r->word, name);
  r->nest->kept[r->level] |= UINT32_C(1) << t;
  if (take(r, ":")) TRY(take_number(&words, r));
  if (!take(r, "(")) return CALM_OK;
  TRY(take_number(&words, r));
  return expect(r, ")");
}

static calm_status read_heading(reader *r) {
  char *name;
  TRY(take_name(&name, r, "["));
  const uint32_t level = accel_arch_find(r->subject.arch, name);
  if (level == CALM_NONE)
    return accel_subject_no_level(&r->subject, r->word, name);
  if (r->level == CALM_NONE ? level + 1 != r->nest->level_count
                            : level + 1 != r->level)
    return accel_place_fail(r->subject.context, CALM_BAD_INPUT, r->word,
                            "'%s' does not follow here: all levels of the "
                            "architecture are listed, outermost first",
                            name);
  r->level = level;
  TRY(expect(r, "["));
  while (!take(r, "]"))
    if (r->at == r->end)
      return expect(r, "]");
    else
      TRY(take_tensor(r));
  return CALM_OK;
}

/* As in mapping files, a dimension has one loop over time at a level, and one
   over space. */
static calm_status check_repeated(const reader *r, const accel_loop *l) {
  for (uint32_t i = r->loops.count; i-- > 0;) {
    const accel_loop *other = &r->loops.data[i];
    if (other->level != l->level) break;
    if (other->dimension == l->dimension &&
        (other->kind == ACCEL_TEMPORAL) == (l->kind == ACCEL_TEMPORAL))
      return accel_place_fail(
          r->subject.context, CALM_BAD_INPUT, here(r),
          "%s has two %s loops at %s",
          r->subject.layer->dimensions[l->dimension].name,
          l->kind == ACCEL_TEMPORAL ? "temporal" : "spatial",
          r->subject.arch->levels[l->level].name);
  }
  return CALM_OK;
}

static calm_status check_loop(const reader *r, const accel_loop *l) {
  if (l->bound == 0)
    return accel_place_fail(r->subject.context, CALM_BAD_INPUT, r->word,
                            "a loop of no iterations");
  if (l->residual >= 1 && l->residual <= l->bound) return check_repeated(r, l);
  return accel_place_fail(r->subject.context, CALM_BAD_INPUT, r->word,
                          "the last pass has %llu of %llu iterations",
                          (unsigned long long)l->residual,
                          (unsigned long long)l->bound);
}

static calm_status read_loop(reader *r) {
  accel_loop l = {.level = r->level, .kind = ACCEL_TEMPORAL};
  char *name;
  if (r->level == CALM_NONE)
    return accel_place_fail(r->subject.context, CALM_BAD_INPUT, here(r),
                            "a loop before the first level");
  TRY(expect(r, "for"));
  TRY(take_name(&name, r, "["));
  l.dimension = accel_layer_dimension(r->subject.layer, name);
  if (l.dimension == CALM_NONE)
    return accel_subject_no_dimension(&r->subject, r->word, name);
  TRY(expect(r, "in"));
  TRY(expect(r, "[0:"));
  TRY(take_number(&l.bound, r));
  l.residual = l.bound;
  if (take(r, ",")) TRY(take_number(&l.residual, r));
  TRY(expect(r, ")"));
  if (take(r, "(Spatial-X)")) l.kind = ACCEL_SPATIAL_X;
  if (take(r, "(Spatial-Y)")) l.kind = ACCEL_SPATIAL_Y;
  TRY(check_loop(r, &l));
  if (l.bound > 1) VECTOR_PUSH(r->subject.context, &r->loops, l);
  return CALM_OK;
}

static calm_status read_line(reader *r) {
  skip_spaces(r);
  if (r->at == r->end || *r->at == '-') return CALM_OK;
  if (!take(r, "|")) {
    TRY(read_heading(r));
  } else if (take(r, "<<")) {
    r->at = r->end;
  } else {
    TRY(read_loop(r));
  }
  skip_spaces(r);
  if (r->at == r->end) return CALM_OK;
  return accel_place_fail(r->subject.context, CALM_BAD_INPUT, here(r),
                          "'%.*s' does not belong here", (int)(r->end - r->at),
                          r->at);
}

/* Some editors put a mark before the first character of a file. */
static bool begins_with_mark(const char *bytes, size_t length) {
  return length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3);
}

static calm_status read_lines(reader *r, const char *bytes, size_t length) {
  const char *end = bytes + length;
  if (begins_with_mark(bytes, length)) bytes += 3;
  while (bytes < end) {
    const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
    r->line++;
    r->line_start = r->at = bytes;
    r->end = stop ? stop : end;
    TRY(read_line(r));
    bytes = stop ? stop + 1 : end;
  }
  if (r->level == 0) return CALM_OK;
  return accel_place_fail(r->subject.context, CALM_BAD_INPUT, here(r),
                          "the nest ends before the innermost level, %s",
                          r->subject.arch->levels[0].name);
}

/* ---- The nest ------------------------------------------------------------ */

/* Innermost first; within a level X before Y before time. */
static calm_status order_loops(reader *r) {
  accel_nest *nest = r->nest;
  ARENA_ARRAY(r->subject.arena, nest->loops, r->loops.count);
  for (uint32_t level = 0; level < nest->level_count; level++)
    for (int kind = ACCEL_SPATIAL_X; kind <= ACCEL_TEMPORAL; kind++)
      for (uint32_t i = r->loops.count; i-- > 0;)
        if (r->loops.data[i].level == level &&
            (int)r->loops.data[i].kind == kind)
          nest->loops[nest->loop_count++] = r->loops.data[i];
  return CALM_OK;
}

calm_status accel_nest_read_printed(accel_nest *out, const accel_source *source,
                                    const accel_subject *subject) {
  accel_nest nest = {.level_count = subject->arch->level_count};
  reader r = {.subject = *subject, .level = CALM_NONE, .nest = &nest};
  ARENA_ARRAY(subject->arena, nest.kept, nest.level_count);
  ARENA_ARRAY(subject->arena, nest.unlinked, nest.level_count);
  r.name = arena_string(subject->arena, source->name, strlen(source->name));
  if (!r.name) return context_no_memory(subject->context);
  calm_status status = read_lines(&r, source->bytes, source->length);
  if (status == CALM_OK) status = order_loops(&r);
  VECTOR_FREE(subject->context, &r.loops);
  if (status == CALM_OK) *out = nest;
  return status;
}
