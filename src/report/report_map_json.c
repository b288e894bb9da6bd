/* Mapped layers as JSON: docs/json.md describes each field. */
#include "report/report_facts.h"
#include "report/report_map.h"
#include "report/report_map_explain.h"

/* A member each, in the order of a report. */
static void add(json_t **o, const char *key, json_t *value) {
  *o = report_json_member(*o, key, value);
}

static void number(json_t **o, const char *key, uint64_t n) {
  add(o, key, report_json_number(n));
}

static void name(json_t **o, const char *key, const char *word,
                 arena *scratch) {
  add(o, key, report_json_name(scratch, word));
}

static void real_if(json_t **o, const char *key, bool known, double n) {
  add(o, key, known ? report_json_real(n) : json_null());
}

/* ---- Nests --------------------------------------------------------------- */

/* null if Timeloop's files have no way to say it. */
static json_t *mapping_of(arena *scratch, const calm_mapping *m,
                          const map_layer *l, const accel_nest *nest) {
  char *words;
  const calm_status status =
      accel_nest_write(&words, nest, &m->arch, report_map_layer(l), m->context);
  if (status == CALM_UNSUPPORTED) return json_null();
  if (status != CALM_OK) return NULL;
  json_t *out = report_json_name(scratch, words);
  calm_text_free(m->context, words);
  return out;
}

static void add_costs(json_t **o, const calm_mapping *m, const cost_result *r) {
  number(o, "cycles", r->cycles);
  real_if(o, "energy_pj", m->energy, r->energy_pj);
  real_if(o, "edp", m->energy, r->edp);
}

static json_t *list_front(arena *scratch, const calm_mapping *m,
                          const map_layer *l) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < l->result.front_count; i++) {
    const mapper_point *p = &l->result.front[i];
    json_t *o = json_object();
    add_costs(&o, m, &p->cost);
    add(&o, "mapping", mapping_of(scratch, m, l, &p->nest));
    list = report_json_append(list, o);
  }
  return list;
}

/* ---- How it was found ---------------------------------------------------- */

/* What an exact search claims, and what it closed to claim it. */
static json_t *certificate_of(const calm_mapping *m, const map_layer *l) {
  const mapper_result *r = &l->result;
  const bool valued = report_map_has_value(m, l);
  if (m->method != MAP_EXACT || l->error != CALM_OK) return json_null();
  json_t *o = json_object();
  add(&o, "proved",
      json_boolean(r->outcome == CALM_OPTIMAL ||
                   r->outcome == CALM_INFEASIBLE));
  real_if(&o, "value", valued, r->value);
  real_if(&o, "bound", valued && r->bound > 0, r->bound);
  number(&o, "states", r->states);
  number(&o, "rounds", r->rounds);
  return o;
}

static json_t *terms_of(const map_layer *l) {
  const mapper_cosa_terms *t = &l->terms;
  json_t *o = json_object();
  add(&o, "utilization", report_json_real(t->utilization));
  add(&o, "compute", report_json_real(t->compute));
  add(&o, "traffic", report_json_real(t->traffic));
  add(&o, "objective", report_json_real(t->objective));
  add(&o, "bound", report_json_real(t->bound));
  return o;
}

/* {"R": 3, ...} */
static json_t *dimensions_of(arena *scratch, const accel_layer *layer) {
  json_t *o = json_object();
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const accel_dimension *dimension = &layer->dimensions[d];
    const char *key =
        report_name_escaped(scratch, dimension->name, ESCAPE_INVALID);
    if (!key) {
      json_decref(o);
      return NULL;
    }
    number(&o, key, dimension->bound);
  }
  return o;
}

static void add_coefficient(json_t **o, const accel_term *term,
                            arena *scratch) {
  if (!term->name) return;
  const char *key = report_name_escaped(scratch, term->name, ESCAPE_INVALID);
  if (!key) {
    json_decref(*o);
    *o = NULL;
  }
  if (key && !json_object_get(*o, key)) number(o, key, term->coefficient);
}

/* {"Wstride": 2, ...}: strides and dilations, as a problem file names them. */
static json_t *coefficients_of(arena *scratch, const accel_layer *layer) {
  json_t *o = json_object();
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    for (uint32_t r = 0; r < layer->tensors[t].rank_count; r++) {
      const accel_rank *rank = &layer->tensors[t].ranks[r];
      for (uint32_t i = 0; i < rank->term_count; i++)
        add_coefficient(&o, &rank->terms[i], scratch);
    }
  return o;
}

static void add_method(json_t **o, arena *scratch, const calm_mapping *m,
                       const map_layer *l) {
  add(o, "certificate", certificate_of(m, l));
  if (m->method == MAP_COSA) {
    add(o, "cosa", map_layer_is_mapped(l) ? terms_of(l) : json_null());
    add(o, "padded",
        l->result.padded ? dimensions_of(scratch, l->result.padded)
                         : json_null());
  }
  if (m->method == MAP_RANDOM || m->method == MAP_HYBRID) {
    number(o, "samples", l->result.samples);
    number(o, "valid", l->result.valid);
  }
  if (m->timing) add(o, "seconds", report_json_real(l->seconds));
}

/* ---- A layer ------------------------------------------------------------- */

/* The kind of a failure; the values of calm_status are fixed. */
static json_t *error_of(const map_layer *l) {
  static const char *const names[] = {[CALM_NO_MEMORY] = "no-memory",
                                      [CALM_MISUSE] = "misuse",
                                      [CALM_BAD_INPUT] = "bad-input",
                                      [CALM_UNSUPPORTED] = "unsupported",
                                      [CALM_IO] = "io",
                                      [CALM_INTERNAL] = "internal"};
  return l->error == CALM_OK ? json_null() : json_string(names[l->error]);
}

/* What the nest costs, as in calm/eval/1, the nest, and why it costs that; the
   same members whether there is a nest or not. */
static void add_nest(json_t **o, arena *scratch, const calm_mapping *m,
                     const map_layer *l) {
  const bool mapped = map_layer_is_mapped(l);
  const eval_nest *n;
  calm_evaluation e;
  report_map_evaluation(&e, m, l);
  n = &e.nests[0];
  *o = report_json_merge(*o, report_eval_json_figures(scratch, &e, n));
  add(o, "mapping", mapped ? mapping_of(scratch, m, l, &n->nest) : json_null());
  add(o, "explanation",
      mapped ? report_map_explain_json(scratch, &e, n) : json_null());
}

static json_t *layer_of(arena *scratch, const calm_mapping *m,
                        const map_layer *l) {
  const bool valued = report_map_has_value(m, l);
  const double gap = report_map_gap(m, l);
  json_t *o = json_object();
  name(&o, "name", l->name, scratch);
  number(&o, "count", l->count);
  name(&o, "shape", l->layer.shape, scratch);
  add(&o, "dimensions", dimensions_of(scratch, &l->layer));
  add(&o, "coefficients", coefficients_of(scratch, &l->layer));
  number(&o, "macs", l->layer.macs);
  add(&o, "status", json_string(report_map_status(l)));
  add(&o, "error", error_of(l));
  name(&o, "reason", l->reason, scratch);
  real_if(&o, "value", valued, l->result.value);
  real_if(&o, "bound", valued && l->result.bound > 0, l->result.bound);
  real_if(&o, "gap", gap >= 0, gap);
  add_nest(&o, scratch, m, l);
  if (m->objective == MAPPER_PARETO)
    add(&o, "front", list_front(scratch, m, l));
  add_method(&o, scratch, m, l);
  return o;
}

/* ---- All of it ----------------------------------------------------------- */

static json_t *list_skipped(arena *scratch, const calm_mapping *m) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < m->skipped_count; i++) {
    json_t *o = json_object();
    name(&o, "name", m->skipped[i].name, scratch);
    name(&o, "reason", m->skipped[i].reason, scratch);
    list = report_json_append(list, o);
  }
  return list;
}

static json_t *total_of(const calm_mapping *m) {
  const double cycles = (double)m->total_cycles;
  double bound;
  const bool bounded = report_map_total_bound(&bound, m);
  json_t *o = json_object();
  number(&o, "layers", m->layer_count);
  number(&o, "mapped", m->mapped_count);
  number(&o, "macs", m->total_macs);
  number(&o, "cycles", m->total_cycles);
  real_if(&o, "energy_pj", m->energy, m->total_energy_pj);
  real_if(&o, "edp", m->energy, m->total_energy_pj * cycles);
  add(&o, "utilization", report_json_real(report_map_utilization(m)));
  real_if(&o, "bound", bounded, bound);
  return o;
}

json_t *report_map_json(arena *scratch, const calm_mapping *m) {
  json_t *o = json_object(), *layers = json_array();
  for (uint32_t i = 0; i < m->layer_count; i++)
    layers = report_json_append(layers, layer_of(scratch, m, &m->layers[i]));
  add(&o, "schema", json_string("calm/map/1"));
  name(&o, "arch", m->arch.name, scratch);
  name(&o, "source", m->source, scratch);
  add(&o, "cost", report_json_choice("cost", m->cost.model));
  add(&o, "fanout",
      report_json_choice("fanout", EVAL_FANOUT_RULES + m->cost.fanout));
  add(&o, "mapper", report_json_choice("mapper", m->method));
  add(&o, "objective", report_json_choice("objective", m->objective));
  add(&o, "layers", layers);
  add(&o, "skipped", list_skipped(scratch, m));
  add(&o, "total", total_of(m));
  add(&o, "provenance", report_json_provenance(scratch, &m->changed));
  return o;
}
