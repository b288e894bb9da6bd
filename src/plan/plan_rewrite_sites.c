/*
 * What a plan says of the sites: rewritten or why not, what each is worth and
 * what it costs.  Alone: against nothing rewritten; together: what would be
 * lost without it.  That is two questions per site; where the effort for them
 * runs out, the rest is not known.
 */
#include <string.h>

#include "plan/plan_rewrite_judge.h"

static calm_status copy_text(const char **out, const char *words, arena *a) {
  *out = words ? arena_string(a, words, strlen(words)) : NULL;
  return words && !*out ? context_no_memory(a->context) : CALM_OK;
}

static calm_status add_site(calm_plan *plan, plan_site **out,
                            const rewrite_site *site, const char *reason) {
  plan_site *s = &plan->rewriting.sites[plan->rewriting.site_count];
  *s = (plan_site){.kind = calm_rule_at(site->rule)->name,
                   .bytes_alone = UNKNOWN_GAIN,
                   .bytes_together = UNKNOWN_GAIN};
  TRY(copy_text(&s->name, site->name, &plan->arena));
  TRY(copy_text(&s->reason, reason, &plan->arena));
  plan->rewriting.site_count++;
  if (!reason) plan->rewriting.applied++;
  *out = s;
  return CALM_OK;
}

/* Room for more. */
static calm_status reserve(calm_plan *plan, uint32_t more) {
  plan_rewriting *r = &plan->rewriting;
  plan_site *sites;
  ARENA_ARRAY(&plan->arena, sites, (size_t)r->site_count + more);
  if (r->site_count) memcpy(sites, r->sites, r->site_count * sizeof *sites);
  r->sites = sites;
  return CALM_OK;
}

calm_status plan_record_harmless(calm_plan *plan, const rewrite_sites *sites,
                                 const bool *taken) {
  plan_site *recorded;
  const char *reason = plan->round_count ? NULL : "nothing would be gained";
  TRY(reserve(plan, sites->count));
  for (uint32_t i = 0; i < sites->count; i++)
    if (taken[i]) TRY(add_site(plan, &recorded, &sites->sites[i], reason));
  return CALM_OK;
}

/* ---- What sites are worth ------------------------------------------------ */

typedef struct worth {
  plan_judge *j;
  bool *one, *none, *chosen; /* per site */
  uint64_t none_peak, chosen_peak;
  uint32_t chosen_ops;
} worth;

/* Rewriting the graph costs time before the search for an order does. */
static bool is_spent(worth *w) {
  enum { TICKS_PER_OP = 16 };
  return limits_spend(w->j->l, TICKS_PER_OP * (uint64_t)w->chosen_ops) ||
         limits_look(w->j->l);
}

/* UINT64_MAX: not known, for want of effort. */
static calm_status exact_peak(uint64_t *out, worth *w, const bool *taken) {
  rewrite_peak peak = {UINT64_MAX, 0};
  if (!is_spent(w)) TRY(plan_judge_peak(&peak, w->j, taken, UINT64_MAX));
  *out = peak.peak_bytes == peak.bound_bytes ? peak.peak_bytes : UINT64_MAX;
  return CALM_OK;
}

static int64_t difference(uint64_t more, uint64_t less) {
  return more == UINT64_MAX || less == UINT64_MAX
             ? UNKNOWN_GAIN
             : (int64_t)more - (int64_t)less;
}

static calm_status begin_worth(worth *w, plan_judge *j, const bool *taken,
                               arena *a) {
  const uint32_t count = j->sites->count;
  *w = (worth){.j = j};
  ARENA_ARRAY(a, w->one, count);
  ARENA_ARRAY(a, w->none, count);
  ARENA_ARRAY(a, w->chosen, count);
  for (uint32_t i = 0; i < count; i++) {
    const rewrite_site *site = &j->sites->sites[i];
    w->none[i] = site->harmless && taken[i];
    w->chosen[i] = taken[i];
  }
  TRY(plan_count_ops(&w->chosen_ops, j, w->chosen));
  TRY(exact_peak(&w->none_peak, w, w->none));
  return exact_peak(&w->chosen_peak, w, w->chosen);
}

static calm_status weigh_alone(plan_site *s, worth *w, uint32_t i) {
  uint64_t alone;
  const bool was = w->none[i];
  w->none[i] = true;
  calm_status status = exact_peak(&alone, w, w->none);
  w->none[i] = was;
  s->bytes_alone = difference(w->none_peak, alone);
  return status;
}

static calm_status weigh_together(plan_site *s, worth *w, uint32_t i) {
  uint64_t without;
  uint32_t ops;
  s->operators = UNKNOWN_GAIN;
  if (is_spent(w)) return CALM_OK;
  w->chosen[i] = false;
  calm_status status = exact_peak(&without, w, w->chosen);
  if (status == CALM_OK) status = plan_count_ops(&ops, w->j, w->chosen);
  w->chosen[i] = true;
  TRY(status);
  s->bytes_together = difference(without, w->chosen_peak);
  s->operators = w->chosen_ops > ops ? w->chosen_ops - ops : 0;
  return CALM_OK;
}

/* Is what it reads no concat unless another site is rewritten? */
static bool has_to_be_opened(const graph *g, const rewrite_site *site) {
  return site->concat != CALM_NONE &&
         g->ops.data[site->concat].kind != OP_concat;
}

static const char *reason_of(const plan_rewriting *r, const graph *g,
                             const rewrite_site *site, bool taken) {
  if (taken) return NULL;
  if (site->refusal) return site->refusal;
  if (!strcmp(r->mode, "auto")) return "nothing would be gained";
  if (!strcmp(r->mode, "all")) return "it is not reached from its concat";
  if (!strcmp(r->mode, "paper")) return "the paper does not select it";
  if (has_to_be_opened(g, site))
    return "it was not asked for with the site that opens it";
  return "it was not asked for";
}

calm_status plan_record_sites(calm_plan *plan, plan_judge *j,
                              const bool *taken) {
  worth w;
  arena scratch;
  arena_init(&scratch, plan->context);
  calm_status status = reserve(plan, j->sites->count);
  if (status == CALM_OK) status = begin_worth(&w, j, taken, &scratch);
  for (uint32_t i = 0; status == CALM_OK && i < j->sites->count; i++) {
    const rewrite_site *site = &j->sites->sites[i];
    plan_site *s;
    status = add_site(plan, &s, site,
                      reason_of(&plan->rewriting, j->sites->g, site, taken[i]));
    if (status == CALM_OK && !site->refusal) status = weigh_alone(s, &w, i);
    if (status == CALM_OK && taken[i]) status = weigh_together(s, &w, i);
  }
  arena_free(&scratch);
  return status;
}
