/* Loop nests that were found, in every format: one layer as its nest with all
   that it costs, several as a table. */
#include "report/report_map.h"

#include <string.h>

#include "report/report_facts.h"
#include "report/report_map_explain.h"

void report_map_evaluation(calm_evaluation *out, const calm_mapping *m,
                           const map_layer *l) {
  *out = (calm_evaluation){.context = m->context,
                           .arch = m->arch,
                           .layer = *report_map_layer(l),
                           .problem = {.options = m->cost},
                           .energy = m->energy,
                           .nest_count = 1};
  out->layer.name = l->name;
  out->nests[0] = (eval_nest){
      .path = l->name, .nest = l->result.nest, .result = l->result.cost};
  if (!map_layer_is_mapped(l))
    out->nests[0].reason = l->reason ? l->reason : report_map_status(l);
}

/* ---- One layer ----------------------------------------------------------- */

/* What a layer is padded to, which its figures are of. */
static calm_status write_padding(text *out, const map_layer *l) {
  const accel_layer *padded = l->result.padded;
  if (!padded || padded->macs == l->layer.macs) return CALM_OK;
  text_format(out, "  padded from %s multiply-accumulates\n",
              report_number(l->layer.macs).text);
  return CALM_OK;
}

static calm_status write_layer(text *out, const calm_mapping *m,
                               const map_layer *l, eval_view *v,
                               arena *scratch) {
  calm_evaluation e;
  report_map_evaluation(&e, m, l);
  if (l->layer.dimension_count) TRY(report_eval_subject(out, &e));
  TRY(write_padding(out, l));
  TRY(report_map_outcome(out, m, l, v->color));
  if (!map_layer_is_mapped(l)) return CALM_OK;
  TRY(report_eval_look(v, &e, &e.nests[0], scratch));
  TRY(report_map_front(out, m, l, v->complete, v->color));
  text_format(out, "\n");
  TRY(report_eval_headline(out, v));
  text_format(out, "\n");
  TRY(report_eval_nest(out, &e, v->nest, scratch));
  TRY(report_eval_figures(out, v));
  return v->complete || m->explain ? report_map_explain_words(out, v, scratch)
                                   : CALM_OK;
}

/* ---- Several ------------------------------------------------------------- */

static calm_status write_subject(text *out, const calm_mapping *m) {
  const uint64_t all = m->arch.compute.instances;
  uint64_t count = 0;
  text words;
  text_init(&words, out->context);
  for (uint32_t i = 0; i < m->layer_count; i++)
    count = accel_count_add(count, m->layers[i].count);
  report_map_count(&words, m->layer_count, "layer");
  if (m->network)
    text_format(&words, ", %s in the network", report_number(count).text);
  TRY(report_hanging_text(out, &words));
  text_init(&words, out->context);
  text_format(&words, "on %s: ", m->arch.name);
  report_map_count(&words, all, "multiplier");
  text_format(&words, "; cost model ");
  report_map_choice(&words, "cost", m->cost.model);
  text_format(&words, "; ");
  report_map_mapper(&words, m);
  return report_hanging_text(out, &words);
}

static uint32_t count_proved(const calm_mapping *m) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < m->layer_count; i++)
    count += map_layer_is_mapped(&m->layers[i]) &&
             m->layers[i].result.outcome == CALM_OPTIMAL;
  return count;
}

static void write_share_of_layers(text *out, const char *what, uint32_t part,
                                  const calm_mapping *m, bool color) {
  const bool all = part == m->layer_count;
  text_format(out, "  %-12s %s", what,
              report_tone_begin(all ? TONE_GOOD : TONE_OPEN, color));
  text_format(out, "%s of ", report_number(part).text);
  report_map_count(out, m->layer_count, "layer");
  text_format(out, "%s\n", report_tone_end(color));
}

/* A sum has the sum of the bounds, and how much may be saved at most. */
static void write_total_gap(text *out, const calm_mapping *m) {
  const bool energy = m->objective == MAPPER_ENERGY;
  const double value = energy ? m->total_energy_pj : (double)m->total_cycles;
  double bound;
  if (!report_map_total_bound(&bound, m) || value <= 0) return;
  const double gap = bound < value ? (value - bound) / value : 0;
  const report_unit unit = report_energy_unit(bound);
  text_format(out, "  gap          %s: at least ", report_share(gap, 1).text);
  if (energy)
    text_format(out, "%s %s", report_energy(bound, unit).text, unit.name);
  else
    text_format(out, "%s cycles", report_real(bound).text);
  text_format(out, " is proved of all that is mapped\n");
}

/* Of what is mapped: each layer as often as the network has it. */
static void write_totals(text *out, const calm_mapping *m, bool color) {
  const double pj = m->total_energy_pj;
  const report_unit unit = report_energy_unit(pj);
  text_format(out, "\n");
  write_share_of_layers(out, "mapped", m->mapped_count, m, color);
  if (m->method == MAP_EXACT)
    write_share_of_layers(out, "proved", count_proved(m), m, color);
  if (m->mapped_count == 0) return;
  if (count_proved(m) < m->mapped_count) write_total_gap(out, m);
  text_format(out, "  cycles       %s%s%s",
              report_tone_begin(TONE_TITLE, color),
              report_number(m->total_cycles).text, report_tone_end(color));
  text_format(out, "; %s multiply-accumulates\n",
              report_number(m->total_macs).text);
  text_format(out, "  utilization  %s\n",
              report_share(report_map_utilization(m), 1).text);
  if (!m->energy) return;
  text_format(out, "  energy       %s%s %s%s",
              report_tone_begin(TONE_TITLE, color),
              report_energy(pj, unit).text, unit.name, report_tone_end(color));
  if (m->total_macs)
    text_format(out, "; %.4g pJ per multiply-accumulate",
                pj / (double)m->total_macs);
  text_format(out, "\n  EDP          %s J x cycles\n",
              report_four(pj * (double)m->total_cycles * 1e-12).text);
}

/* Of one layer of several: all there is to tell, or why it costs what it
   does. */
static calm_status write_part(text *out, const calm_mapping *m,
                              const map_layer *l, eval_view *v,
                              arena *scratch) {
  calm_evaluation e;
  if (!v->complete && !map_layer_is_mapped(l)) return CALM_OK;
  text_format(out, "\n");
  TRY(report_heading(out, l->name, v->color));
  if (v->complete) return write_layer(out, m, l, v, scratch);
  report_map_evaluation(&e, m, l);
  TRY(report_eval_look(v, &e, &e.nests[0], scratch));
  return report_map_explain_words(out, v, scratch);
}

/* A front has no total: which of its nests are counted? */
static calm_status write_front_note(text *out, const calm_mapping *m) {
  text words;
  if (m->objective != MAPPER_PARETO || m->mapped_count == 0) return CALM_OK;
  text_format(out, "\n");
  text_init(&words, out->context);
  text_format(&words,
              "The totals, the table and the files of -o have the fastest nest "
              "of each layer; its front has as many nests as the table says "
              "(--emit csv=FILE lists them, --json has their loops).");
  return report_hanging_text(out, &words);
}

static calm_status write_network(text *out, const calm_mapping *m, eval_view *v,
                                 arena *scratch) {
  TRY(write_subject(out, m));
  write_totals(out, m, v->color);
  TRY(write_front_note(out, m));
  TRY(report_map_layers(out, m, v->complete, v->color));
  if (!v->complete && !m->explain) return CALM_OK;
  for (uint32_t i = 0; i < m->layer_count; i++)
    TRY(write_part(out, m, &m->layers[i], v, scratch));
  return CALM_OK;
}

static calm_status write_table(text *out, const calm_mapping *m, bool complete,
                               bool color, arena *scratch) {
  eval_view v = {.complete = complete, .color = color};
  TRY(report_heading(out, m->source, color));
  if (m->network || m->layer_count != 1)
    return write_network(out, m, &v, scratch);
  return write_layer(out, m, &m->layers[0], &v, scratch);
}

/* ---- All of it ----------------------------------------------------------- */

/* A nest is a file of its own. */
static calm_status check_single(const calm_mapping *m) {
  if (m->layer_count != 1)
    return context_fail(m->context, CALM_MISUSE,
                        "a nest is written of one layer, not of %u",
                        (unsigned)m->layer_count);
  if (!map_layer_is_mapped(&m->layers[0]))
    return context_fail(m->context, CALM_MISUSE,
                        "there is no nest of layer \"%s\" to be written",
                        m->layers[0].name);
  return CALM_OK;
}

static calm_status write_nest(text *out, const calm_mapping *m,
                              calm_format format, arena *scratch) {
  calm_evaluation e;
  char *words;
  TRY(check_single(m));
  report_map_evaluation(&e, m, &m->layers[0]);
  if (format == CALM_FORMAT_NEST)
    return report_eval_nest(out, &e, &e.nests[0], scratch);
  TRY(accel_nest_write(&words, &e.nests[0].nest, &e.arch, &e.layer,
                       m->context));
  text_add(out, words, strlen(words));
  calm_text_free(m->context, words);
  return CALM_OK;
}

static calm_status render(text *out, const calm_mapping *m, calm_format format,
                          bool color, arena *scratch) {
  switch (format) {
    case CALM_FORMAT_JSON:
      return report_json_write(out, report_map_json(scratch, m));
    case CALM_FORMAT_CSV: return report_map_csv(out, m, scratch);
    case CALM_FORMAT_MAPPING:
    case CALM_FORMAT_NEST: return write_nest(out, m, format, scratch);
    case CALM_FORMAT_TABLE:
    case CALM_FORMAT_LONG:
      return write_table(out, m, format == CALM_FORMAT_LONG, color, scratch);
    default: break;
  }
  return context_fail(m->context, CALM_MISUSE,
                      "a mapping cannot be shown in this format");
}

calm_status calm_mapping_render(char **out, const calm_mapping *m,
                                calm_format format, bool color) {
  text t;
  arena scratch;
  text_init(&t, m->context);
  arena_init(&scratch, m->context);
  calm_status status = render(&t, m, format, color, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
