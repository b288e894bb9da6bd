/* An evaluation as JSON: docs/json.md describes each field. */
#include "report/report_eval.h"
#include "report/report_facts.h"

/* ---- Numbers ------------------------------------------------------------- */

static json_t *energy_of(const calm_evaluation *e, double pj) {
  return e->energy ? report_json_real(pj) : json_null();
}

static json_t *unless_unlimited(uint64_t n) {
  return n == ACCEL_UNLIMITED ? json_null() : report_json_number(n);
}

/* A member each, in the order of a report. */
static void number(json_t **o, const char *key, uint64_t n) {
  *o = report_json_member(*o, key, report_json_number(n));
}

static void add(json_t **o, const char *key, json_t *value) {
  *o = report_json_member(*o, key, value);
}

/* ---- Levels -------------------------------------------------------------- */

static json_t *tensor_of(arena *scratch, const calm_evaluation *e,
                         uint32_t tensor, const cost_tensor *t) {
  json_t *o = json_object();
  add(&o, "name", report_json_name(scratch, e->layer.tensors[tensor].name));
  number(&o, "tile_words", t->tile_words);
  number(&o, "partition_words", t->partition_words);
  number(&o, "reads", t->reads);
  number(&o, "fills", t->fills);
  number(&o, "updates", t->updates);
  number(&o, "temporal_reductions", t->temporal_reductions);
  number(&o, "address_generations", t->address_generations);
  number(&o, "clusters", t->clusters);
  add(&o, "energy_pj", energy_of(e, t->energy_pj));
  add(&o, "address_energy_pj", energy_of(e, t->address_pj));
  return o;
}

static json_t *list_kept(arena *scratch, const calm_evaluation *e,
                         const cost_result *r, uint32_t level) {
  json_t *list = json_array();
  for (uint32_t t = 0; t < r->tensor_count; t++) {
    const cost_tensor *kept = report_eval_tensor(r, level, t);
    if (kept->kept)
      list = report_json_append(list, tensor_of(scratch, e, t, kept));
  }
  return list;
}

/* Picojoules per access of a block of words. */
static json_t *vector_energy(const calm_evaluation *e, const accel_energy *v) {
  json_t *o = json_object();
  if (!e->energy || !v->known) {
    json_decref(o);
    return json_null();
  }
  add(&o, "read_pj", report_json_real(v->read_pj));
  add(&o, "write_pj", report_json_real(v->write_pj));
  add(&o, "update_pj", report_json_real(v->update_pj));
  return o;
}

static json_t *level_of(arena *scratch, const calm_evaluation *e,
                        const cost_result *r, uint32_t level) {
  const accel_level *a = &e->arch.levels[level];
  const cost_level *l = &r->levels[level];
  json_t *o = json_object();
  add(&o, "name", report_json_name(scratch, a->name));
  number(&o, "instances", l->instances);
  number(&o, "cycles", l->cycles);
  add(&o, "slowdown", report_json_real(l->slowdown));
  number(&o, "used_words", l->used_words);
  add(&o, "capacity_words", unless_unlimited(a->capacity_words));
  add(&o, "word_bits", report_json_number(a->word_bits));
  add(&o, "block_words", report_json_number(a->block_words));
  add(&o, "energy_pj", energy_of(e, l->energy_pj));
  add(&o, "leak_energy_pj", energy_of(e, l->leak_pj));
  add(&o, "vector_energy", vector_energy(e, &a->energy));
  add(&o, "tensors", list_kept(scratch, e, r, level));
  return o;
}

static json_t *list_levels(arena *scratch, const calm_evaluation *e,
                           const cost_result *r, const eval_levels *levels) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < levels->count; i++)
    list = report_json_append(list, level_of(scratch, e, r, levels->ids[i]));
  return list;
}

/* ---- Networks ------------------------------------------------------------ */

static json_t *list_groups(const cost_flow *f) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < f->group_count; i++) {
    const cost_group *g = &f->groups[i];
    json_t *group = json_array();
    group = report_json_append(group, report_json_number(g->multicast));
    group = report_json_append(group, report_json_number(g->scatter));
    group = report_json_append(group, report_json_count(g->accesses));
    list = report_json_append(list, group);
  }
  return list;
}

static json_t *flow_of(arena *scratch, const calm_evaluation *e,
                       uint32_t tensor, const cost_flow *f) {
  json_t *o = json_object();
  add(&o, "name", report_json_name(scratch, e->layer.tensors[tensor].name));
  number(&o, "fanout", f->fanout);
  add(&o, "ingresses", report_json_count(f->ingresses));
  add(&o, "multicast", report_json_real(report_eval_multicast(f)));
  add(&o, "hops", report_json_real(f->hops));
  number(&o, "spatial_reductions", f->spatial_reductions);
  add(&o, "link_transfers", report_json_count(f->links));
  add(&o, "energy_pj", energy_of(e, f->energy_pj));
  add(&o, "link_energy_pj", energy_of(e, f->link_pj));
  add(&o, "groups", list_groups(f));
  return o;
}

static json_t *list_flows(arena *scratch, const calm_evaluation *e,
                          const cost_result *r, uint32_t level) {
  json_t *list = json_array();
  for (uint32_t t = 0; t < r->tensor_count; t++)
    list = report_json_append(
        list, flow_of(scratch, e, t, report_eval_flow(r, level, t)));
  return list;
}

/* What --links adds to a network. */
static void add_links(json_t **o, const calm_evaluation *e, const eval_nest *n,
                      uint32_t level) {
  if (!n->link_words) return;
  const double rate = e->link_rates[level];
  number(o, "busiest_link_words", n->link_words[level]);
  add(o, "link_words_per_cycle",
      rate > 0 ? report_json_real(rate) : json_null());
  add(o, "link_cycles",
      rate > 0
          ? report_json_number(cost_links_cycles(n->link_words[level], rate))
          : json_null());
}

static json_t *list_networks(arena *scratch, const calm_evaluation *e,
                             const eval_nest *n, const eval_levels *levels) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < levels->count; i++) {
    json_t *o = json_object();
    add(&o, "from",
        report_json_name(scratch, e->arch.levels[levels->ids[i]].name));
    add(&o, "to", report_json_name(scratch, report_eval_below(e, levels, i)));
    add(&o, "tensors", list_flows(scratch, e, &n->result, levels->ids[i]));
    add_links(&o, e, n, levels->ids[i]);
    list = report_json_append(list, o);
  }
  return list;
}

/* ---- One nest ------------------------------------------------------------ */

static json_t *fault_of(const eval_nest *n) {
  if (n->result.verdict.fault != COST_VALID)
    return json_string(cost_fault_name(n->result.verdict.fault));
  return n->breaks_rule ? json_string("constraint") : json_null();
}

/* What was evaluated, by whose rules, and whether it is valid. */
static json_t *head_of(arena *scratch, const calm_evaluation *e,
                       const eval_nest *n) {
  json_t *o = json_object();
  const cost_options *cost = &e->problem.options;
  add(&o, "schema", json_string("calm/eval/1"));
  add(&o, "arch", report_json_name(scratch, e->arch.name));
  add(&o, "layer", report_json_name(scratch, e->layer.name));
  add(&o, "mapping", report_json_name(scratch, n->path));
  add(&o, "cost", report_json_choice("cost", cost->model));
  add(&o, "fanout",
      report_json_choice("fanout", EVAL_FANOUT_RULES + cost->fanout));
  add(&o, "valid", json_boolean(!n->reason));
  add(&o, "fault", fault_of(n));
  add(&o, "reason", report_json_name(scratch, n->reason));
  number(&o, "macs", e->layer.macs);
  return o;
}

/* The same members whether there are figures or not. */
static void add_nothing(json_t **o) {
  static const char *const keys[] = {
      "computes",          "multipliers", "compute_cycles", "cycles",
      "limiting_level",    "utilization", "energy_pj",      "compute_energy_pj",
      "network_energy_pj", "edp"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    add(o, keys[i], json_null());
  add(o, "levels", json_array());
  add(o, "networks", json_array());
}

static void add_figures(json_t **o, arena *scratch, const calm_evaluation *e,
                        const eval_nest *n, const eval_levels *levels) {
  const cost_result *r = &n->result;
  number(o, "computes", r->computes);
  number(o, "multipliers", r->multipliers);
  number(o, "compute_cycles", r->compute_cycles);
  number(o, "cycles", r->cycles);
  add(o, "limiting_level",
      r->limiting_level == CALM_NONE
          ? json_null()
          : report_json_name(scratch, e->arch.levels[r->limiting_level].name));
  if (n->link_words) number(o, "link_cycles", n->links.cycles);
  add(o, "utilization", report_json_real(r->utilization));
  add(o, "energy_pj", energy_of(e, r->energy_pj));
  add(o, "compute_energy_pj", energy_of(e, r->compute_pj));
  add(o, "network_energy_pj", energy_of(e, r->network_pj));
  add(o, "edp", energy_of(e, r->edp));
  add(o, "levels", list_levels(scratch, e, r, levels));
  add(o, "networks", list_networks(scratch, e, n, levels));
}

json_t *report_eval_json_figures(arena *scratch, const calm_evaluation *e,
                                 const eval_nest *n) {
  eval_levels levels;
  if (report_eval_levels(&levels, e, n, scratch) != CALM_OK) return NULL;
  json_t *o = json_object();
  if (n->reason)
    add_nothing(&o);
  else
    add_figures(&o, scratch, e, n, &levels);
  return o;
}

static json_t *evaluation_of(arena *scratch, const calm_evaluation *e,
                             const eval_nest *n) {
  return report_json_merge(head_of(scratch, e, n),
                           report_eval_json_figures(scratch, e, n));
}

/* ---- Two nests ----------------------------------------------------------- */

static json_t *change_of(arena *scratch, const calm_evaluation *e,
                         const eval_change *c) {
  json_t *o = json_object();
  add(&o, "level", report_json_name(scratch, c->level));
  add(&o, "below", report_json_name(scratch, c->below));
  add(&o, "tensor", report_json_name(scratch, c->tensor));
  add(&o, "reads", report_json_count(c->reads));
  add(&o, "fills", report_json_count(c->fills));
  add(&o, "updates", report_json_count(c->updates));
  add(&o, "energy_pj", energy_of(e, c->after_pj - c->before_pj));
  return o;
}

/* Second less first; null if there is nothing to be compared. */
static json_t *difference_of(arena *scratch, const calm_evaluation *e) {
  const calm_evaluation_summary *a = &e->nests[0].summary;
  const calm_evaluation_summary *b = &e->nests[1].summary;
  eval_changes list;
  if (!calm_evaluation_valid(e)) return json_null();
  if (report_eval_changes(&list, e, scratch) != CALM_OK) return NULL;
  json_t *o = json_object(), *changes = json_array();
  for (uint32_t i = 0; i < list.count; i++)
    changes = report_json_append(changes, change_of(scratch, e, &list.data[i]));
  add(&o, "cycles", report_json_count((double)b->cycles - (double)a->cycles));
  add(&o, "energy_pj", energy_of(e, b->energy_pj - a->energy_pj));
  add(&o, "edp", energy_of(e, b->edp - a->edp));
  add(&o, "utilization", report_json_real(b->utilization - a->utilization));
  add(&o, "changes", changes);
  return o;
}

static json_t *provenance_of(arena *scratch, const calm_evaluation *e) {
  return report_json_provenance(scratch, &e->changed);
}

json_t *report_eval_json(arena *scratch, const calm_evaluation *e) {
  if (e->nest_count == 1)
    return report_json_member(evaluation_of(scratch, e, &e->nests[0]),
                              "provenance", provenance_of(scratch, e));
  json_t *o = json_object(), *list = json_array();
  for (uint32_t i = 0; i < e->nest_count; i++)
    list = report_json_append(list, evaluation_of(scratch, e, &e->nests[i]));
  add(&o, "schema", json_string("calm/eval-difference/1"));
  add(&o, "evaluations", list);
  add(&o, "difference", difference_of(scratch, e));
  add(&o, "provenance", provenance_of(scratch, e));
  return o;
}
