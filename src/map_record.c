/*
 * A mapper's answer for a layer as one line of JSON.  Nests are written loop by
 * loop, in numbers, for not all of them can be said in Timeloop's files.  What
 * comes back is not believed: a line may be from a file that somebody edited or
 * from a process that went wrong.  The nest is judged, held against the
 * constraints and costed here, and figures are those of this evaluation.
 */
#include <math.h>
#include <string.h>

#include "map_parts.h"
#include "report/report_json.h"

/* ---- Subjects ------------------------------------------------------------ */

/* The problem file without the comment in its first line, which has the name.
 */
calm_status map_layer_subject(const char **out, const accel_layer *layer,
                              arena *a) {
  char *file;
  TRY(accel_layer_write(&file, layer, a->context));
  const char *body = strchr(file, '\n');
  const calm_status status = pipeline_keep_text(out, body ? body : file, a);
  calm_text_free(a->context, file);
  return status;
}

/* ---- Writing ------------------------------------------------------------- */

/* There are no infinities in JSON. */
static json_t *real(double x) {
  return isfinite(x) ? json_real(x) : json_null();
}

static json_t *write_loop(const accel_loop *l) {
  return json_pack("[i,i,i,I,I]", (int)l->level, (int)l->dimension,
                   (int)l->kind, (json_int_t)l->bound, (json_int_t)l->residual);
}

static json_t *write_nest(const accel_nest *n) {
  json_t *loops = json_array(), *kept = json_array();
  for (uint32_t i = 0; i < n->loop_count; i++)
    loops = report_json_append(loops, write_loop(&n->loops[i]));
  for (uint32_t l = 0; l < n->level_count; l++)
    kept = report_json_append(kept, json_integer(n->kept[l]));
  json_t *nest = report_json_member(json_object(), "loops", loops);
  return report_json_member(nest, "kept", kept);
}

static json_t *write_bounds(const accel_layer *layer) {
  json_t *bounds = json_array();
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    bounds = report_json_append(
        bounds, json_integer((json_int_t)layer->dimensions[d].bound));
  return bounds;
}

static json_t *write_terms(const mapper_cosa_terms *t) {
  const double terms[] = {t->utilization, t->compute, t->traffic, t->objective,
                          t->bound};
  json_t *list = json_array();
  for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
    list = report_json_append(list, real(terms[i]));
  return list;
}

static json_t *write_front(const mapper_result *r) {
  json_t *front = json_array();
  for (uint32_t i = 0; i < r->front_count; i++)
    front = report_json_append(front, write_nest(&r->front[i].nest));
  return front;
}

/* What there is if the mapper came to an end. */
static json_t *write_result(json_t *o, const map_layer *l) {
  const mapper_result *r = &l->result;
  o = report_json_member(o, "value", real(r->value));
  o = report_json_member(o, "bound", real(r->bound));
  o = report_json_member(o, "states", report_json_number(r->states));
  o = report_json_member(o, "rounds", report_json_number(r->rounds));
  o = report_json_member(o, "samples", report_json_number(r->samples));
  o = report_json_member(o, "valid", report_json_number(r->valid));
  o = report_json_member(o, "terms", write_terms(&l->terms));
  o = report_json_member(o, "allowed", json_boolean(l->terms.allowed));
  if (!map_layer_is_mapped(l)) return o;
  if (r->padded) o = report_json_member(o, "bounds", write_bounds(r->padded));
  o = report_json_member(o, "nest", write_nest(&r->nest));
  o = report_json_member(o, "cycles", report_json_number(r->cost.cycles));
  o = report_json_member(o, "energy_pj", real(r->cost.energy_pj));
  return r->front_count ? report_json_member(o, "front", write_front(r)) : o;
}

static calm_status write_line(char **out, json_t *o, calm_context *context) {
  text t;
  char *line = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(o);
  if (!line) return context_no_memory(context);
  text_init(&t, context);
  text_add(&t, line, strlen(line));
  free(line);
  return text_finish(&t, out);
}

static calm_status write_record(char **out, const map_layer *l, arena *a) {
  const char *subject;
  TRY(map_layer_subject(&subject, &l->layer, a));
  json_t *o =
      report_json_member(json_object(), "layer", report_json_name(a, subject));
  o = report_json_member(o, "error", json_integer(l->error));
  o = report_json_member(o, "reason", report_json_name(a, l->reason));
  o = report_json_member(o, "seconds", real(l->seconds));
  o = report_json_member(o, "outcome", json_integer(l->result.outcome));
  if (l->error == CALM_OK) o = write_result(o, l);
  return write_line(out, o, a->context);
}

calm_status map_record_write(char **out, const map_layer *l,
                             const map_run *run) {
  arena scratch;
  arena_init(&scratch, run->mapping->context);
  const calm_status status = write_record(out, l, &scratch);
  arena_free(&scratch);
  return status;
}

/* ---- Reading numbers ----------------------------------------------------- */

/* Everything that is read looks whether it is there and within bounds; the
   first that is not makes the whole line no record. */
typedef struct reader {
  const map_run *run;
  arena *arena;
  const json_t *root;
  bool wrong;
} reader;

static uint64_t take_whole(reader *r, const json_t *value, uint64_t most) {
  const json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;
  if (n >= 0 && (uint64_t)n <= most) return (uint64_t)n;
  r->wrong = true;
  return 0;
}

static uint64_t take_count(reader *r, const char *key) {
  return take_whole(r, json_object_get(r->root, key), INT64_MAX);
}

static double take_real(reader *r, const json_t *value) {
  if (json_is_null(value)) return 0;
  r->wrong |= !json_is_number(value);
  return json_number_value(value);
}

/* They would do something to a terminal, or make two lines of one. */
static bool has_controls(const char *words) {
  for (; *words; words++)
    if ((unsigned char)*words < ' ' || *words == 127) return true;
  return false;
}

static const char *take_text(reader *r, const char *key) {
  const json_t *value = json_object_get(r->root, key);
  const char *copy = NULL;
  if (json_is_null(value)) return NULL;
  if (json_is_string(value))
    copy = arena_string(r->arena, json_string_value(value),
                        json_string_length(value));
  r->wrong |= !copy || has_controls(copy);
  return copy;
}

/* ---- Reading nests ------------------------------------------------------- */

enum { MOST_LOOPS = 128 }; /* each doubles a count of at most 2^53 */

static bool stands_after(const accel_loop *l, const accel_loop *before) {
  if (l->level != before->level) return l->level > before->level;
  return l->kind == ACCEL_TEMPORAL || before->kind != ACCEL_TEMPORAL;
}

static accel_loop read_loop(reader *r, const json_t *item,
                            const accel_layer *layer) {
  const calm_mapping *m = r->run->mapping;
  const accel_loop l = {
      .level = (uint32_t)take_whole(r, json_array_get(item, 0),
                                    m->arch.level_count - 1),
      .dimension = (uint32_t)take_whole(r, json_array_get(item, 1),
                                        layer->dimension_count - 1),
      .kind = (accel_loop_kind)take_whole(r, json_array_get(item, 2),
                                          ACCEL_TEMPORAL),
      .bound = take_whole(r, json_array_get(item, 3), ACCEL_MAX_COUNT),
      .residual = take_whole(r, json_array_get(item, 4), ACCEL_MAX_COUNT)};
  r->wrong |= l.bound < 2 || l.residual < 1 || l.residual > l.bound;
  return l;
}

static calm_status read_nest(accel_nest *out, reader *r, const json_t *nest,
                             const accel_layer *layer) {
  const json_t *loops = json_object_get(nest, "loops");
  const json_t *kept = json_object_get(nest, "kept");
  accel_nest n = {.loop_count = (uint32_t)json_array_size(loops),
                  .level_count = r->run->mapping->arch.level_count};
  r->wrong |= json_array_size(loops) > MOST_LOOPS ||
              json_array_size(kept) != n.level_count;
  if (r->wrong) return CALM_OK;
  ARENA_ARRAY(r->arena, n.loops, n.loop_count);
  ARENA_ARRAY(r->arena, n.kept, n.level_count);
  for (uint32_t i = 0; i < n.loop_count; i++) {
    n.loops[i] = read_loop(r, json_array_get(loops, i), layer);
    r->wrong |= i > 0 && !stands_after(&n.loops[i], &n.loops[i - 1]);
  }
  for (uint32_t l = 0; l < n.level_count; l++)
    n.kept[l] = (uint32_t)take_whole(r, json_array_get(kept, l),
                                     (UINT64_C(1) << layer->tensor_count) - 1);
  *out = n;
  return CALM_OK;
}

/* ---- The layer that a nest is of ----------------------------------------- */

/* With larger bounds, the same layer. */
static calm_status read_padded(const accel_layer **out, reader *r,
                               const accel_layer *layer) {
  const json_t *bounds = json_object_get(r->root, "bounds");
  accel_layer *padded;
  *out = NULL;
  if (!bounds) return CALM_OK;
  ARENA_ARRAY(r->arena, padded, 1);
  *padded = *layer;
  padded->macs = 1;
  ARENA_ARRAY(r->arena, padded->dimensions, layer->dimension_count);
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    accel_dimension *dimension = &padded->dimensions[d];
    *dimension = layer->dimensions[d];
    const uint64_t bound =
        take_whole(r, json_array_get(bounds, d), ACCEL_MAX_COUNT);
    r->wrong |= bound < dimension->bound;
    dimension->bound = bound;
    padded->macs = accel_count_multiply(padded->macs, bound);
  }
  r->wrong |= padded->macs > ACCEL_MAX_COUNT;
  *out = padded;
  return CALM_OK;
}

/* ---- Judging ------------------------------------------------------------- */

static calm_status refuse(map_layer *l, const char *reason) {
  l->error = CALM_INTERNAL;
  l->reason = reason;
  return CALM_OK;
}

/* A nest that cannot run: what the mapper says is wrong, and nothing of it is
   shown. */
static calm_status evaluate(cost_result *out, map_layer *l,
                            const accel_nest *nest, arena *a) {
  const char *reason = NULL;
  TRY(cost_result_init(out, &l->problem, a));
  TRY(cost_evaluate(out, &l->problem, nest));
  if (out->verdict.fault != COST_VALID)
    TRY(pipeline_verdict(&reason, &out->verdict, &l->problem, a));
  else
    TRY(pipeline_broken_rule(&reason, &l->constraints, nest, &l->problem, a));
  return reason ? refuse(l, reason) : CALM_OK;
}

/* The exact mapper knows model `exact` and the fan-out of each level; a nest
   that is costed by other rules than it was looked for is just a nest. */
static bool is_judged_alike(const calm_mapping *m) {
  return m->method != MAP_EXACT ||
         (m->cost.model == COST_EXACT && m->cost.fanout == COST_FANOUT_LEVEL);
}

static void drop_proof(map_layer *l, const calm_mapping *m) {
  mapper_result *r = &l->result;
  r->outcome = CALM_FEASIBLE;
  r->bound = 0;
  l->reason = r->reason =
      m->cost.model == COST_EXACT
          ? "the exact mapper proves under --fanout level only"
          : "the exact mapper proves under --cost exact only";
}

static bool is_about(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

/* What the mapper said of its nest, against what it costs. */
static bool is_confirmed(const map_layer *l, const calm_mapping *m,
                         const json_t *root) {
  const cost_result *cost = &l->result.cost;
  const double cycles = json_number_value(json_object_get(root, "cycles"));
  const double energy = json_number_value(json_object_get(root, "energy_pj"));
  return is_about(cycles, (double)cost->cycles) &&
         (!m->energy || is_about(energy, cost->energy_pj));
}

/* No bound is above what a nest is worth, and a proof has no gap. */
static bool is_bounded(const mapper_result *r) {
  if (r->outcome == CALM_OPTIMAL) return is_about(r->bound, r->value);
  return r->bound >= 0 && r->bound <= r->value * (1 + 1e-9);
}

/* The exact mapper proves something about this very number.  The front of
   PARETO has no single one, and that of BALANCE is CoSA's own. */
static calm_status settle_value(map_layer *l, const calm_mapping *m,
                                const json_t *root) {
  mapper_result *r = &l->result;
  const bool alike = is_judged_alike(m);
  if (!alike) drop_proof(l, m);
  if (alike && !is_confirmed(l, m, root))
    return refuse(l, "the nest does not cost what the mapper said");
  if (m->objective == MAPPER_PARETO || m->objective == MAPPER_BALANCE)
    return CALM_OK;
  const bool known = m->energy || m->objective == MAPPER_DELAY;
  const double value = known ? mapper_value_of(m->objective, &r->cost) : 0;
  if (m->method == MAP_EXACT && alike && !is_about(r->value, value))
    return refuse(l, "the nest is not worth what the mapper said");
  r->value = value;
  if (!is_bounded(r)) return refuse(l, "the bound is not one of this nest");
  return CALM_OK;
}

static calm_status read_front(map_layer *l, reader *r) {
  const json_t *front = json_object_get(r->root, "front");
  mapper_result *result = &l->result;
  const accel_layer *layer = l->problem.layer;
  result->front_count = (uint32_t)json_array_size(front);
  ARENA_ARRAY(r->arena, result->front, result->front_count);
  for (uint32_t i = 0; i < result->front_count; i++) {
    mapper_point *point = &result->front[i];
    TRY(read_nest(&point->nest, r, json_array_get(front, i), layer));
    if (r->wrong) return CALM_OK;
    TRY(evaluate(&point->cost, l, &point->nest, r->arena));
    if (l->error) return CALM_OK;
  }
  return CALM_OK;
}

static calm_status read_mapped(map_layer *l, reader *r) {
  const calm_mapping *m = r->run->mapping;
  mapper_result *result = &l->result;
  TRY(read_padded(&result->padded, r, &l->layer));
  if (r->wrong) return CALM_OK;
  const accel_layer *layer = result->padded ? result->padded : &l->layer;
  TRY(cost_problem_init(&l->problem, &m->arch, layer, &m->cost, r->arena));
  TRY(read_nest(&result->nest, r, json_object_get(r->root, "nest"), layer));
  if (r->wrong) return CALM_OK;
  TRY(evaluate(&result->cost, l, &result->nest, r->arena));
  if (!l->error) TRY(settle_value(l, m, r->root));
  return l->error ? CALM_OK : read_front(l, r);
}

/* ---- A line -------------------------------------------------------------- */

static void read_terms(mapper_cosa_terms *out, reader *r) {
  const json_t *list = json_object_get(r->root, "terms");
  double *terms[] = {&out->utilization, &out->compute, &out->traffic,
                     &out->objective, &out->bound};
  for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
    *terms[i] = take_real(r, json_array_get(list, i));
  out->allowed = json_is_true(json_object_get(r->root, "allowed"));
}

static calm_status read_result(map_layer *l, reader *r) {
  mapper_result *result = &l->result;
  result->value = take_real(r, json_object_get(r->root, "value"));
  result->bound = take_real(r, json_object_get(r->root, "bound"));
  result->states = take_count(r, "states");
  result->rounds = take_count(r, "rounds");
  result->samples = take_count(r, "samples");
  result->valid = take_count(r, "valid");
  read_terms(&l->terms, r);
  result->reason = l->reason;
  return map_layer_is_mapped(l) && !r->wrong ? read_mapped(l, r) : CALM_OK;
}

static calm_status read_record(map_layer *l, reader *r) {
  l->reason = take_text(r, "reason");
  l->seconds = take_real(r, json_object_get(r->root, "seconds"));
  l->error = (calm_status)take_whole(r, json_object_get(r->root, "error"),
                                     CALM_INTERNAL);
  l->result.outcome = (calm_outcome)take_whole(
      r, json_object_get(r->root, "outcome"), CALM_LIMIT);
  r->wrong |= !map_layer_is_mapped(l) && !l->reason;
  if (l->error == CALM_OK && !r->wrong) TRY(read_result(l, r));
  if (!r->wrong) return CALM_OK;
  return context_fail(r->arena->context, CALM_BAD_INPUT,
                      "a line of results is not complete");
}

calm_status map_record_read(map_layer *l, const char *line,
                            const map_run *run) {
  const map_layer before = *l; /* its tables will refer to where it is */
  json_t *root = json_loads(line, 0, NULL);
  reader r = {.run = run, .arena = &run->mapping->arena, .root = root};
  const calm_status status = read_record(l, &r);
  json_decref(root);
  if (status != CALM_OK) *l = before;
  return status;
}
