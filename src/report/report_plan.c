/* A plan for people, and as CSV. */
#include "report/report_plan.h"

#include <inttypes.h>
#include <string.h>

#include "report/report_blocks.h"
#include "report/report_emit.h"
#include "report/report_name.h"
#include "report/report_picture.h"
#include "report/report_rewrite.h"
#include "report/report_runtime.h"
#include "report/report_steps.h"
#include "report/report_tiling.h"
#include "report/report_traffic.h"

/* The order as it was found for --minimize traffic. */
static report_search search_for_traffic(const calm_plan *plan) {
  const plan_least_traffic *least = &plan->traffic.least;
  return (report_search){.what = "order",
                         .method = plan->order_method,
                         .nothing = "no order spills less than",
                         .effort = "states",
                         .outcome = plan->summary.order_outcome,
                         .value = least->spill_bytes,
                         .bound = least->bound_bytes,
                         .effort_count = least->states,
                         .ticks = least->ticks,
                         .stopped = least->stopped,
                         .timing = plan->timing,
                         .seconds = plan->order_seconds};
}

report_search report_plan_order(const calm_plan *plan) {
  if (plan->traffic.least.wanted) return search_for_traffic(plan);
  return (report_search){.what = "order",
                         .method = plan->order_method,
                         .nothing = "no order needs less than",
                         .effort = "states",
                         .outcome = plan->summary.order_outcome,
                         .value = plan->summary.peak_bytes,
                         .bound = plan->summary.peak_bound_bytes,
                         .effort_count = plan->order.states,
                         .ticks = plan->order.ticks,
                         .stopped = plan->order.stopped,
                         .timing = plan->timing,
                         .seconds = plan->order_seconds};
}

report_search report_plan_layout(const calm_plan *plan) {
  return (report_search){.what = "layout",
                         .method = plan->layout_method,
                         .nothing = plan->any_order
                                        ? "no arena is smaller than"
                                        : "this order fits no arena below",
                         .effort = "nodes",
                         .outcome = plan->summary.layout_outcome,
                         .value = plan->summary.arena_bytes,
                         .bound = plan->summary.arena_bound_bytes,
                         .effort_count = plan->layout.nodes,
                         .ticks = plan->layout.ticks,
                         .stopped = plan->layout.stopped,
                         .timing = plan->timing,
                         .seconds = plan->layout_seconds};
}

bool report_plan_places(const calm_plan *plan, tensor_id tensor) {
  return plan->profile.lives[tensor].counted &&
         plan->offsets[tensor] != UINT64_MAX;
}

bool report_plan_places_workspace(const calm_plan *plan, op_id op) {
  return plan->workspace_bytes[op] > 0 &&
         plan->workspace_offsets[op] != UINT64_MAX;
}

/* ---- Table --------------------------------------------------------------- */

static void add_difference(report_table *t, uint64_t before, uint64_t now) {
  const bool saved = now <= before;
  const uint64_t bytes = saved ? before - now : now - before;
  const char *sign = saved ? "" : "-";
  report_table_cell(t, "%s%s", sign, report_number(bytes).text);
  report_table_cell(t, "%s%s", sign, report_percent(bytes, before).text);
}

static calm_status write_gain(text *out, const calm_plan *plan, bool color) {
  static const report_column columns[] = {{"", COLUMN_WORDS},
                                          {"order", COLUMN_WORDS},
                                          {"peak bytes", COLUMN_NUMBER},
                                          {"", COLUMN_NUMBER},
                                          {"arena bytes", COLUMN_NUMBER},
                                          {"", COLUMN_NUMBER}};
  const calm_plan_summary *s = &plan->summary;
  report_table t;
  report_table_init(&t, out->context, columns, 6);
  report_table_cell(&t, "before");
  report_table_cell(&t, "%s", plan->baseline_order);
  report_table_number(&t, s->baseline_peak_bytes);
  report_table_cell(&t, "%s", "");
  report_table_number(&t, s->baseline_arena_bytes);
  report_table_cell(&t, "%s", "");
  report_table_cell(&t, "after");
  report_table_cell(&t, "%s", plan->order_method);
  report_table_number(&t, s->peak_bytes);
  report_table_cell(&t, "%s", "");
  report_table_number(&t, s->arena_bytes);
  report_table_cell(&t, "%s", "");
  report_table_cell(&t, "saved");
  report_table_cell(&t, "%s", "");
  add_difference(&t, s->baseline_peak_bytes, s->peak_bytes);
  add_difference(&t, s->baseline_arena_bytes, s->arena_bytes);
  return report_table_finish(&t, out, color);
}

static void write_count(text *out, const char *what, uint64_t count) {
  if (count == UINT64_MAX)
    text_format(out, "more %s than can be counted", what);
  else
    text_format(out, "%s %s", report_number(count).text, what);
}

static void write_counts(text *out, const calm_plan *plan) {
  if (!plan->counted) return;
  text_format(out, "  counted ");
  write_count(out, "down-sets", plan->order.downsets);
  text_format(out, ", ");
  write_count(out, "topological orders", plan->order.orders);
  text_format(out, "\n");
}

/* What the arena loses because tensors do not fit together without holes. */
static void write_holes(text *out, const calm_plan *plan) {
  const calm_plan_summary *s = &plan->summary;
  if (s->arena_bytes == s->peak_bytes) {
    text_format(out, "  holes   none: the arena equals the peak\n");
    return;
  }
  const uint64_t bytes =
      s->arena_bytes > s->peak_bytes ? s->arena_bytes - s->peak_bytes : 0;
  text_format(out, "  holes   %s bytes beyond the peak, %s of the arena\n",
              report_number(bytes).text,
              report_percent(bytes, s->arena_bytes).text);
}

/* What was tried because the first order did not pack. */
static void write_joint(text *out, const calm_plan *plan) {
  const plan_joint *j = &plan->joint;
  const uint64_t arena_bytes = plan->summary.arena_bytes;
  if (j->orders == 0) return;
  text_format(out, "  orders  %s other%s placed%s",
              report_number(j->orders).text, j->orders == 1 ? "" : "s",
              j->all ? ", all that could need less" : "");
  if (arena_bytes < j->first_bytes)
    text_format(out, ": %s bytes less than the first",
                report_number(j->first_bytes - arena_bytes).text);
  text_format(out, "\n");
  if (plan->summary.peak_bytes > j->least_peak_bytes)
    text_format(out, "  %-7s the least peak, of another order, is %s bytes\n",
                "", report_number(j->least_peak_bytes).text);
}

/* Of an order that was chosen for something else. */
static void write_peak(text *out, const calm_plan *plan) {
  const calm_plan_summary *s = &plan->summary;
  if (!plan->traffic.least.wanted) return;
  text_format(out, "  peak    %s bytes; ", report_number(s->peak_bytes).text);
  text_format(out, "no order needs less than %s\n",
              report_number(s->peak_bound_bytes).text);
}

/* What has to fit into a budget, where that is more than the arena shown. */
static const char *what_budget_is_for(const calm_plan *plan) {
  const bool tail =
      plan_is_for(plan, "tflm") && plan->runtime.tail.bytes != UINT64_MAX;
  return tail ? " for head and tail" : "";
}

/* Of all plans; tiles may need less than their graph without them. */
static uint64_t bound_of_budget(const calm_plan *plan) {
  if (plan->tiling.mode) return 0;
  return plan->any_order ? plan->summary.arena_bound_bytes
                         : plan->summary.peak_bound_bytes;
}

static void write_searches(text *out, const calm_plan *plan, bool color) {
  const report_search order = report_plan_order(plan);
  const report_search layout = report_plan_layout(plan);
  report_outcome(out, &order, color);
  write_counts(out, plan);
  write_peak(out, plan);
  report_outcome(out, &layout, color);
  write_holes(out, plan);
  write_joint(out, plan);
  report_budget(out, plan->budget_bytes, what_budget_is_for(plan),
                plan_needed_bytes(plan), bound_of_budget(plan), color);
}

/* ---- Picture ------------------------------------------------------------- */

static const char *workspace_name(arena *scratch, const char *op) {
  static const char before[] = "workspace of ";
  char *name = arena_calloc(scratch, sizeof before + strlen(op), 1);
  if (!name) return NULL;
  strcpy(name, before);
  return strcat(name, op);
}

static calm_status picture_block_of(picture_block *out, const report_block *b,
                                    arena *scratch) {
  const char *name = b->scratch ? workspace_name(scratch, b->name) : b->name;
  if (!name) return context_no_memory(scratch->context);
  *out = (picture_block){.name = name,
                         .low = b->offset,
                         .high = b->offset + b->bytes,
                         .from = b->first,
                         .past = (uint64_t)b->last + 1};
  return CALM_OK;
}

/* Do two blocks share bytes at the one step where `in` ends and `successor`
   begins? */
static bool meet(const picture_block *in, const picture_block *successor) {
  return in != successor && in->from < in->past &&
         successor->from < successor->past && in->past == successor->from + 1 &&
         in->from <= successor->from && in->low < successor->high &&
         successor->low < in->high;
}

/* In CSV no two buffers may share bytes at a step, but an input that dies and
   the output that takes its place do.  That step is given to one of them. */
static void part_in_place(picture_block *blocks, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < count; j++) {
      picture_block *in = &blocks[i], *successor = &blocks[j];
      if (!meet(in, successor)) continue;
      if (in->from < successor->from || successor->past == in->past)
        in->past--;
      else
        successor->from++;
    }
}

static calm_status list_blocks(picture *out, const calm_plan *plan,
                               calm_format format, arena *scratch) {
  report_blocks list;
  picture_block *blocks;
  TRY(report_blocks_list(&list, plan, scratch));
  ARENA_ARRAY(scratch, blocks, list.count);
  for (uint32_t i = 0; i < list.count; i++)
    TRY(picture_block_of(&blocks[i], &list.data[i], scratch));
  if (format == CALM_FORMAT_CSV &&
      bits_count(plan->memory.inplace, OP_KIND_WORDS))
    part_in_place(blocks, list.count);
  *out = (picture){.blocks = blocks,
                   .count = list.count,
                   .bytes = plan->summary.arena_bytes,
                   .steps = plan->graph->ops.count};
  return CALM_OK;
}

/* ---- CSV ----------------------------------------------------------------- */

static void write_csv(text *out, const picture *p) {
  layout_csv_write_header(out);
  for (uint32_t i = 0; i < p->count; i++) {
    const picture_block *b = &p->blocks[i];
    char number[16]; /* an empty id would be refused */
    snprintf(number, sizeof number, "#%" PRIu32, i);
    layout_csv_write_row(out, *b->name ? b->name : number, (int64_t)b->from,
                         (int64_t)b->past, b->high - b->low, b->low);
  }
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status write_table(text *out, const calm_plan *plan,
                               const picture *p, bool complete, bool color) {
  TRY(report_title(out, plan->model, &plan->facts, &plan->memory, color));
  text_format(out, "\n");
  TRY(write_gain(out, plan, color));
  text_format(out, "\n");
  TRY(report_rewrite(out, plan, complete, color));
  TRY(report_tiling(out, plan, complete, color));
  write_searches(out, plan, color);
  TRY(report_runtime(out, plan));
  TRY(report_traffic(out, &plan->traffic, color));
  if (p->bytes) text_format(out, "\n  the arena over the steps of the order\n");
  TRY(report_picture(out, p, color));
  if (!complete) return CALM_OK;
  text_format(out, "\n");
  TRY(report_steps(out, plan->graph, plan->sequence, &plan->profile, color));
  text_format(out, "\n");
  TRY(report_tensors(out, plan->graph, &plan->profile, plan->offsets, color));
  return report_traffic_lists(out, &plan->traffic, color);
}

/* What needs no picture. */
static calm_status render_file(text *out, const calm_plan *plan,
                               calm_format format, arena *scratch) {
  switch (format) {
    case CALM_FORMAT_BUFFERPLAN: return report_bufferplan(out, plan, scratch);
    case CALM_FORMAT_C_HEADER: return report_header(out, plan, scratch);
    case CALM_FORMAT_TRACE: return report_trace(out, plan, scratch);
    case CALM_FORMAT_MODEL_EXPLORER: return report_explorer(out, plan, scratch);
    case CALM_FORMAT_TRAFFIC:
      return report_traffic_csv(out, &plan->traffic, scratch);
    case CALM_FORMAT_FRONT: return report_front_svg(out, plan, scratch);
    case CALM_FORMAT_FRONT_CSV: return report_front_csv(out, plan);
    case CALM_FORMAT_MAPPING:
    case CALM_FORMAT_NEST:
      return context_fail(plan->context, CALM_MISUSE,
                          "a plan has no loop nest");
    case CALM_FORMAT_JSON:
    case CALM_FORMAT_TABLE:
    case CALM_FORMAT_CSV:
    case CALM_FORMAT_LONG: break;
  }
  return report_json_write(out, report_plan_json(scratch, plan));
}

static bool needs_picture(calm_format format) {
  return format == CALM_FORMAT_TABLE || format == CALM_FORMAT_LONG ||
         format == CALM_FORMAT_CSV;
}

static calm_status render(text *out, const calm_plan *plan, calm_format format,
                          bool color, arena *scratch) {
  picture p;
  if (!needs_picture(format)) return render_file(out, plan, format, scratch);
  TRY(list_blocks(&p, plan, format, scratch));
  if (format == CALM_FORMAT_CSV) {
    write_csv(out, &p);
    return CALM_OK;
  }
  return write_table(out, plan, &p, format == CALM_FORMAT_LONG, color);
}

calm_status calm_plan_render(char **out, const calm_plan *plan,
                             calm_format format, bool color) {
  text t;
  arena scratch;
  text_init(&t, plan->context);
  arena_init(&scratch, plan->context);
  calm_status status = render(&t, plan, format, color, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
