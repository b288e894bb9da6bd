/* What the options say of tiles. */
#include <string.h>

#include "base/number.h"
#include "plan/plan_tile.h"

/* Places in the lists of choices. */
enum { EFFORT_MAX = 1, MINIMIZE_TRAFFIC = 1, MINIMIZE_HEAD = 2 };

static bool names_tiles(const calm_options *options) {
  return options->tile && strcmp(options->tile, "none");
}

bool plan_tile_wanted(const calm_options *options) {
  return names_tiles(options) || options->effort == EFFORT_MAX;
}

void plan_tile_warn_of_unused(const calm_model *model,
                              const calm_options *options) {
  const char *unused = options->max_extra_macs              ? "--max-extra-macs"
                       : options->minimize == MINIMIZE_HEAD ? "--minimize head"
                       : !options->fold_tiles               ? "--no-fold-tiles"
                                                            : NULL;
  if (unused)
    context_log(model->context, CALM_LOG_WARNING,
                "%s has no effect without --tile, such as --tile auto", unused);
}

/* "5%", "0.5%" or "5". */
static calm_status read_extra(double *out, calm_context *context,
                              const char *given) {
  char number[16];
  size_t length = given ? strlen(given) : 0;
  *out = -1;
  if (!given) return CALM_OK;
  if (length && given[length - 1] == '%') length--;
  if (length > 0 && length < sizeof number) {
    memcpy(number, given, length);
    number[length] = '\0';
    if (number_parse_decimal(out, number)) {
      *out /= 100;
      return CALM_OK;
    }
  }
  return context_fail(context, CALM_MISUSE,
                      "--max-extra-macs is a share of the model's "
                      "multiply-accumulates, such as 5%%, not '%s'",
                      given);
}

static calm_status refuse(const plan_tile_request *r,
                          const calm_options *options, calm_context *context) {
  if (options->minimize == MINIMIZE_TRAFFIC)
    return context_fail(context, CALM_MISUSE,
                        "--minimize traffic is for the graph as it is: leave "
                        "out --tile and --effort max");
  if (r->count && options->max_extra_macs)
    return context_fail(context, CALM_MISUSE,
                        "--max-extra-macs is for --tile auto: given regions "
                        "cost what they cost");
  return CALM_OK;
}

calm_status plan_tile_read(plan_tile_request *out, const calm_model *model,
                           const calm_options *options, arena *a) {
  plan_tile_request r = {.options = *options};
  r.automatic = !names_tiles(options) || !strcmp(options->tile, "auto");
  if (!r.automatic) TRY(tile_parse(&r.regions, &r.count, options->tile, a));
  TRY(read_extra(&r.most_extra, model->context, options->max_extra_macs));
  TRY(refuse(&r, options, model->context));
  if (options->effort == EFFORT_MAX && !strcmp(options->rewrite, "none"))
    r.options.rewrite = "auto";
  r.rewrites = strcmp(r.options.rewrite, "none") != 0;
  r.options.budget_bytes = options->budget_bytes;
  *out = r;
  return CALM_OK;
}
