/* How a layer's nest was found: by which mapper, and what is known of it. */
#include "report/report_map.h"

/* A value of the objective, with its unit. */
static void add_value(text *out, const calm_mapping *m, double value) {
  const report_unit unit = report_energy_unit(value);
  switch (m->objective) {
    case MAPPER_ENERGY:
    case MAPPER_DELAY_ENERGY:
      text_format(out, "%s %s", report_energy(value, unit).text, unit.name);
      break;
    case MAPPER_DELAY:
      text_format(out, "%s cycles", report_real(value).text);
      break;
    case MAPPER_EDP:
      text_format(out, "%s J x cycles", report_four(value * 1e-12).text);
      break;
    default: text_format(out, "%s", report_four(value).text);
  }
}

static const char *claim_of(mapper_objective objective) {
  switch (objective) {
    case MAPPER_ENERGY: return "no nest needs less energy";
    case MAPPER_DELAY: return "no nest is faster";
    case MAPPER_EDP: return "no nest has a lower EDP";
    case MAPPER_DELAY_ENERGY:
      return "no nest is faster, and none that is as fast needs less energy";
    default: return "nothing is better in both energy and cycles";
  }
}

void report_map_count(text *out, uint64_t n, const char *singular) {
  text_format(out, "%s %s%s", report_number(n).text, singular,
              n == 1 ? "" : "s");
}

static void add_search(text *out, const map_layer *l) {
  text_format(out, " (");
  report_map_count(out, l->result.states, "state");
  text_format(out, ", ");
  report_map_count(out, l->result.rounds, "threshold");
  text_format(out, ")");
}

/* Value and bound, where the difference is open. */
static void add_gap(text *out, const calm_mapping *m, const map_layer *l) {
  const double gap = report_map_gap(m, l);
  if (!report_map_has_value(m, l)) {
    text_format(out, "not all are proved to be best");
    return;
  }
  add_value(out, m, l->result.value);
  if (gap < 0) {
    text_format(out, ", no bound is known");
    return;
  }
  text_format(out, ", at least ");
  add_value(out, m, l->result.bound);
  text_format(out, " is proved, gap %s", report_share(gap, 1).text);
}

static void add_exact(text *out, const calm_mapping *m, const map_layer *l) {
  switch (l->result.outcome) {
    case CALM_OPTIMAL:
      text_format(out, "proved that %s", claim_of(m->objective));
      if (!report_map_has_value(m, l)) break;
      text_format(out, " than ");
      add_value(out, m, l->result.value);
      break;
    case CALM_FEASIBLE: add_gap(out, m, l); break;
    case CALM_INFEASIBLE: text_format(out, "proved that there is none"); break;
    case CALM_LIMIT: text_format(out, "nothing found"); break;
  }
  add_search(out, l);
}

static void add_cosa(text *out, const map_layer *l) {
  const mapper_cosa_terms *t = &l->terms;
  if (!map_layer_is_mapped(l)) {
    text_format(out, "no nest");
    return;
  }
  text_format(out, "its own objective is %.6g, at least %.6g; ", t->objective,
              t->bound);
  text_format(out, "utilization %.4g, compute %.4g, traffic %.4g",
              t->utilization, t->compute, t->traffic);
}

static void add_samples(text *out, const map_layer *l) {
  const mapper_result *r = &l->result;
  text_format(out, map_layer_is_mapped(l) ? "the best of " : "no nest: ");
  report_map_count(out, r->valid, "valid nest");
  text_format(out, " among %s drawn", report_number(r->samples).text);
}

void report_map_choice(text *out, const char *option, uint32_t choice) {
  size_t length;
  const char *name = options_choice_name(&length, option, choice);
  text_format(out, "%.*s", (int)length, name);
}

void report_map_mapper(text *out, const calm_mapping *m) {
  text_format(out, "mapper ");
  report_map_choice(out, "mapper", m->method);
  text_format(out, ", objective ");
  report_map_choice(out, "objective", m->objective);
}

static report_tone tone_of(const map_layer *l) {
  if (!map_layer_is_mapped(l)) return TONE_BAD;
  return l->result.outcome == CALM_OPTIMAL ? TONE_GOOD : TONE_OPEN;
}

static calm_status write_search(text *out, const calm_mapping *m,
                                const map_layer *l) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "%s: ", report_map_status(l));
  if (l->error != CALM_OK)
    text_format(&words, "%s", l->reason ? l->reason : "");
  else if (m->method == MAP_EXACT)
    add_exact(&words, m, l);
  else if (m->method == MAP_COSA)
    add_cosa(&words, l);
  else
    add_samples(&words, l);
  if (m->timing) text_format(&words, "; %.3f s", l->seconds);
  return report_hanging_text(out, &words);
}

calm_status report_map_outcome(text *out, const calm_mapping *m,
                               const map_layer *l, bool color) {
  text words;
  text_init(&words, out->context);
  report_map_mapper(&words, m);
  TRY(report_hanging_text(out, &words));
  text_format(out, "%s", report_tone_begin(tone_of(l), color));
  TRY(write_search(out, m, l));
  text_format(out, "%s", report_tone_end(color));
  if (l->error != CALM_OK || !l->reason) return CALM_OK;
  text_init(&words, out->context);
  text_format(&words, "%s", l->reason);
  return report_hanging_text(out, &words);
}
