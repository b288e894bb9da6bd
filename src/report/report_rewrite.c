#include "report/report_rewrite.h"

#include <string.h>

#include "report/report_name.h"
#include "report/report_table.h"

enum { MOST_SITES = 12 /* of those rewritten, in a short table */ };

/* ---- For people ---------------------------------------------------------- */

static bool is_applied(const plan_site *site) { return !site->reason; }

static const char *describe_partials(const plan_rewriting *r) {
  if (!strcmp(r->partials, "accumulate"))
    return "kernels add partial results to what is there";
  if (!strcmp(r->partials, "add-inplace"))
    return "partial results are added in place";
  return "partial results are added into a third tensor";
}

static void add_counts(text *out, const plan_rewriting *r) {
  text_format(out, "%s of ", report_number(r->applied).text);
  text_format(out, "%s %s rewritten", report_number(r->site_count).text,
              r->site_count == 1 ? "site is" : "sites are");
  if (r->applied) text_format(out, ", %s", describe_partials(r));
  if (strcmp(r->accumulator, "same"))
    text_format(out, ", those of quantised tensors as %s", r->accumulator);
}

/* How many were left alone for each reason, the most frequent first where they
   are equally old. */
static void add_reasons(text *out, const plan_rewriting *r) {
  for (uint32_t i = 0; i < r->site_count; i++) {
    uint32_t count = 0;
    bool told = is_applied(&r->sites[i]);
    for (uint32_t k = 0; !told && k < r->site_count; k++) {
      if (is_applied(&r->sites[k]) ||
          strcmp(r->sites[k].reason, r->sites[i].reason))
        continue;
      told = k < i;
      count++;
    }
    if (told) continue;
    text_format(out, "; %s not: %s", report_number(count).text,
                r->sites[i].reason);
  }
}

static void add_proof(text *out, const plan_rewriting *r) {
  if (strcmp(r->mode, "auto")) return;
  if (r->proof)
    text_format(out, "; no choice of sites has a lower peak (proved: %s",
                r->proof);
  else
    text_format(out, "; that no other choice is better is not proved (");
  text_format(out, "%s%s planned)", r->proof ? "; " : "",
              report_number(r->judged).text);
}

static calm_status add_paragraph(text *out, const plan_rewriting *r) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "%s: ", r->mode);
  if (r->site_count == 0)
    text_format(&words, "there is nothing to rewrite");
  else
    add_counts(&words, r);
  add_reasons(&words, r);
  if (r->site_count) add_proof(&words, r);
  text_format(out, "  rewrite ");
  return report_wrapped_text(out, &words, 10, 10);
}

static void add_gain(report_table *t, int64_t gain) {
  if (gain == UNKNOWN_GAIN)
    report_table_cell(t, "%s", "");
  else
    report_table_cell(t, "%s%s", gain < 0 ? "-" : "",
                      report_number((uint64_t)(gain < 0 ? -gain : gain)).text);
}

static void add_row(report_table *t, const plan_site *site) {
  report_table_name(t, site->name);
  report_table_cell(t, "%s", site->kind);
  add_gain(t, site->bytes_alone);
  if (!is_applied(site)) {
    report_table_cell(t, "%s", site->reason);
    return;
  }
  add_gain(t, site->bytes_together);
  add_gain(t, site->operators);
}

/* What became of the sites that are rewritten, or the reasons of the others. */
static calm_status add_table(text *out, const plan_rewriting *r, bool applied,
                             uint32_t most, bool color) {
  static const report_column chosen[] = {{"site", COLUMN_NAME},
                                         {"rule", COLUMN_WORDS},
                                         {"saves alone", COLUMN_NUMBER},
                                         {"together", COLUMN_NUMBER},
                                         {"operators", COLUMN_NUMBER}},
                             others[] = {{"site left alone", COLUMN_NAME},
                                         {"rule", COLUMN_WORDS},
                                         {"saves alone", COLUMN_NUMBER},
                                         {"because", COLUMN_WORDS}};
  report_table t;
  uint32_t shown = 0;
  report_table_init(&t, out->context, applied ? chosen : others,
                    applied ? 5 : 4);
  for (uint32_t i = 0; i < r->site_count && shown < most; i++) {
    if (is_applied(&r->sites[i]) != applied) continue;
    add_row(&t, &r->sites[i]);
    shown++;
  }
  TRY(report_table_finish(&t, out, color));
  if (applied && shown < r->applied)
    text_format(out, "  and %s more; -v lists all sites\n",
                report_number(r->applied - shown).text);
  text_format(out, "\n");
  return CALM_OK;
}

calm_status report_rewrite(text *out, const calm_plan *plan, bool complete,
                           bool color) {
  const plan_rewriting *r = &plan->rewriting;
  if (!r->partials) return CALM_OK;
  TRY(add_paragraph(out, r));
  const bool left = complete && r->applied < r->site_count;
  if (r->applied || left) text_format(out, "\n");
  if (r->applied)
    TRY(add_table(out, r, true, complete ? UINT32_MAX : MOST_SITES, color));
  return left ? add_table(out, r, false, UINT32_MAX, color) : CALM_OK;
}

/* ---- For programs -------------------------------------------------------- */

static json_t *gain_value(int64_t gain) {
  return gain == UNKNOWN_GAIN ? json_null() : json_integer((json_int_t)gain);
}

static json_t *list_sites(arena *scratch, const plan_rewriting *r) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < r->site_count; i++) {
    const plan_site *site = &r->sites[i];
    list = report_json_append(
        list, json_pack("{s:o, s:s, s:b, s:o, s:o, s:o, s:o}", "name",
                        report_json_name(scratch, site->name), "kind",
                        site->kind, "applied", is_applied(site), "bytes_alone",
                        gain_value(site->bytes_alone), "bytes_together",
                        gain_value(site->bytes_together), "operators",
                        gain_value(site->operators), "reason",
                        report_json_name(scratch, site->reason)));
  }
  return list;
}

json_t *report_json_rewrite(arena *scratch, const calm_plan *plan) {
  const plan_rewriting *r = &plan->rewriting;
  json_t *object = json_pack("{s:s, s:o}", "mode", r->mode ? r->mode : "none",
                             "sites", list_sites(scratch, r));
  if (!r->partials) return object;
  return report_json_merge(
      object,
      json_pack("{s:s, s:s, s:b, s:o, s:I, s:I}", "partials", r->partials,
                "accumulator", r->accumulator, "proved", r->proof != NULL,
                "proof", report_json_name(scratch, r->proof), "judged",
                (json_int_t)r->judged, "applied", (json_int_t)r->applied));
}
