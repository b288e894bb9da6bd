/* Why a nest costs what it costs, as JSON: docs/json.md describes each field.
 */
#include "report/report_map_explain.h"

static void add(json_t **o, const char *key, json_t *value) {
  *o = report_json_member(*o, key, value);
}

static void number(json_t **o, const char *key, uint64_t n) {
  add(o, key, report_json_number(n));
}

static json_t *level_name(arena *scratch, const calm_evaluation *e,
                          uint32_t level) {
  if (level == CALM_NONE) return json_null();
  return report_json_name(scratch, e->arch.levels[level].name);
}

static json_t *load_of(arena *scratch, const calm_evaluation *e,
                       const map_load *l) {
  json_t *o = json_object();
  add(&o, "level", level_name(scratch, e, l->level));
  add(&o, "tensor",
      report_json_name(scratch, e->layer.tensors[l->tensor].name));
  add(&o, "compulsory_words", report_json_count(l->least));
  add(&o, "words", report_json_count(map_load_carried(l)));
  add(&o, "reads", report_json_count(l->reads));
  add(&o, "fills", report_json_count(l->fills));
  add(&o, "updates", report_json_count(l->updates));
  add(&o, "energy_pj",
      e->energy ? report_json_real(l->energy_pj) : json_null());
  return o;
}

static json_t *next_of(arena *scratch, const calm_evaluation *e,
                       const map_room *r) {
  if (r->next == 0) return json_null();
  json_t *o = json_object();
  add(&o, "dimension",
      report_json_name(scratch, e->layer.dimensions[r->dimension].name));
  number(&o, "from", r->from);
  number(&o, "to", r->to);
  number(&o, "words", r->next);
  add(&o, "fits", json_boolean(!map_room_is_full(r)));
  return o;
}

static json_t *room_of(arena *scratch, const calm_evaluation *e,
                       const map_room *r) {
  json_t *o = json_object();
  add(&o, "level", level_name(scratch, e, r->level));
  number(&o, "used_words", r->used);
  number(&o, "capacity_words", r->capacity);
  add(&o, "largest",
      r->largest == CALM_NONE
          ? json_null()
          : report_json_name(scratch, e->layer.tensors[r->largest].name));
  number(&o, "largest_words", r->largest_words);
  add(&o, "next", next_of(scratch, e, r));
  return o;
}

static json_t *pace_of(arena *scratch, const calm_evaluation *e,
                       const map_pace *p) {
  const bool limited = p->bandwidth != NULL;
  json_t *o = json_object();
  add(&o, "level", level_name(scratch, e, p->level));
  add(&o, "bandwidth", report_json_name(scratch, p->bandwidth));
  add(&o, "words_per_cycle",
      limited ? report_json_real(p->available) : json_null());
  add(&o, "needed_words_per_cycle",
      limited ? report_json_real(p->needed) : json_null());
  return o;
}

static json_t *fan_of(arena *scratch, const calm_evaluation *e,
                      const map_fan *f) {
  json_t *o = json_object();
  add(&o, "level", level_name(scratch, e, f->level));
  number(&o, "x", f->x);
  number(&o, "y", f->y);
  number(&o, "used_x", f->used_x);
  number(&o, "used_y", f->used_y);
  return o;
}

json_t *report_map_explain_json(arena *scratch, const calm_evaluation *e,
                                const eval_nest *n) {
  map_explanation x;
  if (report_map_explain(&x, e, n, scratch) != CALM_OK) return NULL;
  json_t *o = json_object(), *loads = json_array();
  json_t *rooms = json_array(), *fans = json_array();
  for (uint32_t i = 0; i < x.load_count; i++)
    loads = report_json_append(loads, load_of(scratch, e, &x.loads[i]));
  for (uint32_t i = 0; i < x.room_count; i++)
    rooms = report_json_append(rooms, room_of(scratch, e, &x.rooms[i]));
  for (uint32_t i = 0; i < x.fan_count; i++)
    fans = report_json_append(fans, fan_of(scratch, e, &x.fans[i]));
  add(&o, "loads", loads);
  add(&o, "capacities", rooms);
  add(&o, "pace", pace_of(scratch, e, &x.pace));
  add(&o, "fanouts", fans);
  return o;
}
