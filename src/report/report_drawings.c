#include "report/report_drawings.h"

#include <stdlib.h>
#include <string.h>

#include "report/report_layers.h"
#include "report/report_name.h"
#include "report/report_region.h"

enum { MOST_NODES = 40, MOST_SITES = 24, LABEL_COLUMNS = 24 };
enum { PEAK_RINGS = 6 };

/* ---- A drawing ----------------------------------------------------------- */

/* An edge of the drawing, for a tensor between two operators of the region. */
typedef struct link {
  uint32_t tensor, from, to; /* positions within the region; CALM_NONE: none */
} link;

typedef struct links {
  link *data;
  uint32_t count;
} links;

static uint32_t place_in(const region *r, uint32_t op) {
  for (uint32_t i = 0; i < r->count; i++)
    if (r->ops[i] == op) return i;
  return CALM_NONE;
}

/* What comes from outside, or goes there, has one end. */
static calm_status find_links(links *out, const region *r, arena *a) {
  const region_graph *g = r->graph;
  size_t most = 0;
  for (uint32_t i = 0; i < r->count; i++)
    most += g->input_begin[r->ops[i] + 1] - g->input_begin[r->ops[i]];
  out->count = 0;
  ARENA_ARRAY(a, out->data, most);
  for (uint32_t i = 0; i < r->count; i++) {
    const uint32_t op = r->ops[i];
    for (uint32_t k = g->input_begin[op]; k < g->input_begin[op + 1]; k++) {
      const uint32_t t = g->inputs[k], from = g->producer[t];
      if (g->hidden[t]) continue;
      const bool inside = from != CALM_NONE && r->inside[from];
      out->data[out->count++] =
          (link){t, inside ? place_in(r, from) : CALM_NONE, i};
    }
  }
  return CALM_OK;
}

/* Wide enough for its name, which a page shortens to so many columns. */
static double width_of(const char *name) {
  const size_t length = strlen(name);
  const double columns =
      length < LABEL_COLUMNS ? (double)length : LABEL_COLUMNS;
  return 24 + 7.2 * (columns < 5 ? 5 : columns);
}

static calm_status lay_out(report_layers *out, const region *r,
                           const links *all, arena *a) {
  report_layers l = {.node_count = r->count};
  ARENA_ARRAY(a, l.nodes, r->count);
  ARENA_ARRAY(a, l.edges, all->count);
  for (uint32_t i = 0; i < r->count; i++)
    l.nodes[i].width = width_of(r->graph->names[r->ops[i]]);
  for (uint32_t i = 0; i < all->count; i++)
    if (all->data[i].from != CALM_NONE)
      l.edges[l.edge_count++] =
          (report_edge){.from = all->data[i].from, .to = all->data[i].to};
  TRY(report_layers_place(&l, a));
  *out = l;
  return CALM_OK;
}

/* Half units are fine enough, and short. */
static json_t *number(double n) {
  const double halves = (double)(int64_t)(n * 2 + 0.5) / 2;
  return report_json_count(halves);
}

static json_t *write_point(report_point p) {
  return json_pack("[o, o]", number(p.x), number(p.y));
}

static json_t *write_nodes(const region *r, const report_layers *l) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < r->count; i++) {
    const report_node *n = &l->nodes[i];
    list = report_json_append(
        list,
        json_pack("{s:I, s:o, s:o, s:o, s:i, s:b}", "op", (json_int_t)r->ops[i],
                  "x", number(n->corner.x), "y", number(n->corner.y), "width",
                  number(n->width), "height", (int)REPORT_NODE_HEIGHT, "focus",
                  (int)r->focus[r->ops[i]]));
  }
  return list;
}

static json_t *end_of(uint32_t place) {
  return place == CALM_NONE ? json_null() : json_integer((json_int_t)place);
}

/* What comes from outside hangs above its reader. */
static json_t *write_stub(const report_node *n) {
  const report_point below = {n->corner.x + n->width / 2, n->corner.y};
  const report_point above = {below.x, below.y - REPORT_DRAWING_MARGIN / 2.0};
  return json_pack("[o, o]", write_point(above), write_point(below));
}

static json_t *write_path(const report_edge *edge) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < edge->point_count; i++)
    list = report_json_append(list, write_point(edge->points[i]));
  return list;
}

static json_t *write_edges(const links *all, const report_layers *l) {
  json_t *list = json_array();
  uint32_t inside = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    const link *k = &all->data[i];
    json_t *points = k->from == CALM_NONE ? write_stub(&l->nodes[k->to])
                                          : write_path(&l->edges[inside++]);
    list = report_json_append(
        list, json_pack("{s:I, s:o, s:o, s:o}", "tensor", (json_int_t)k->tensor,
                        "from", end_of(k->from), "to", end_of(k->to), "points",
                        points));
  }
  return list;
}

/* What a drawing is of. */
typedef struct subject {
  const char *kind, *title, *site, *graph;
} subject;

static calm_status draw(json_t **drawings, const region *r, const subject *s,
                        arena *a) {
  links all;
  report_layers l;
  if (r->count == 0) return CALM_OK;
  TRY(find_links(&all, r, a));
  TRY(lay_out(&l, r, &all, a));
  *drawings = report_json_append(
      *drawings,
      json_pack("{s:s, s:s, s:s?, s:s, s:o, s:o, s:o, s:o}", "kind", s->kind,
                "title", s->title, "site", s->site, "graph", s->graph, "width",
                number(l.width), "height", number(l.height), "nodes",
                write_nodes(r, &l), "edges", write_edges(&all, &l)));
  return CALM_OK;
}

/* ---- The peak ------------------------------------------------------------ */

/* The operator of the peak, those that make what is alive then, and those
   around. */
static calm_status draw_peak(json_t **drawings, const json_t *data,
                             const region_graph *g, arena *a) {
  const subject s = {"peak", "Around the peak", NULL, "plan"};
  const json_t *order = json_object_get(data, "order");
  const json_int_t step =
      json_integer_value(json_object_get(order, "peak_step"));
  const char *name = json_string_value(json_array_get(
      json_object_get(order, "sequence"), step < 0 ? 0 : (size_t)step));
  region r;
  TRY(region_begin(&r, g, MOST_NODES, a));
  if (name) region_add(&r, name_table_find(&g->ops, name), true);
  region_grow(&r, PEAK_RINGS);
  return draw(drawings, &r, &s, a);
}

/* ---- Sites --------------------------------------------------------------- */

static bool is_new(const region_graph *plan, uint32_t op,
                   const region_graph *original) {
  return name_table_find(&original->ops, plan->names[op]) == CALM_NONE;
}

static calm_status draw_before(json_t **drawings, region *before,
                               const subject *s, arena *a) {
  region_grow(before, 1);
  return draw(drawings, before, s, a);
}

/* What is left of the region, and what is new beside it. */
static calm_status draw_after(json_t **drawings, const region *before,
                              const region_graph *plan, const subject *s,
                              arena *a) {
  const region_graph *original = before->graph;
  region after;
  TRY(region_begin(&after, plan, MOST_NODES, a));
  for (uint32_t i = 0; i < before->count; i++)
    region_add(&after,
               name_table_find(&plan->ops, original->names[before->ops[i]]),
               false);
  const uint32_t old = after.count;
  region_grow(&after, 2);
  uint32_t kept = old;
  for (uint32_t i = old; i < after.count; i++) {
    const uint32_t op = after.ops[i];
    after.inside[op] = is_new(plan, op, original);
    after.focus[op] = after.inside[op];
    if (after.inside[op]) after.ops[kept++] = op;
  }
  after.count = kept;
  return draw(drawings, &after, s, a);
}

/* "CONCAT>CONV" names two operators; a name may have that letter itself. */
static calm_status add_site(region *r, const char *name, arena *a) {
  const name_table *ops = &r->graph->ops;
  if (region_add(r, name_table_find(ops, name), true)) return CALM_OK;
  for (const char *end; *name; name = *end ? end + 1 : end) {
    end = name + strcspn(name, ">");
    const char *part = arena_string(a, name, (size_t)(end - name));
    if (!part) return context_no_memory(a->context);
    region_add(r, name_table_find(ops, part), true);
  }
  return CALM_OK;
}

static calm_status draw_site(json_t **drawings, const char *name,
                             const region_graph *original,
                             const region_graph *plan, arena *a) {
  const subject before = {"site", "Before", name, "original"};
  const subject after = {"site", "After", name, "plan"};
  region r;
  TRY(region_begin(&r, original, MOST_NODES, a));
  TRY(add_site(&r, name, a));
  if (r.count == 0) return CALM_OK;
  TRY(draw_before(drawings, &r, &before, a));
  return draw_after(drawings, &r, plan, &after, a);
}

static calm_status draw_sites(json_t **drawings, const json_t *data,
                              const region_graph *original,
                              const region_graph *plan, arena *a) {
  const json_t *sites =
      json_object_get(json_object_get(data, "rewrite"), "sites");
  uint32_t drawn = 0;
  for (size_t i = 0; i < json_array_size(sites) && drawn < MOST_SITES; i++) {
    const json_t *site = json_array_get(sites, i);
    const char *name = json_string_value(json_object_get(site, "name"));
    if (!name || !json_is_true(json_object_get(site, "applied"))) continue;
    TRY(draw_site(drawings, name, original, plan, a));
    drawn++;
  }
  return CALM_OK;
}

/* ---- All of them --------------------------------------------------------- */

static calm_status draw_with_original(json_t **drawings, const json_t *data,
                                      const region_graph *plan, arena *a) {
  region_graph original;
  bool found;
  TRY(region_graph_read(&original, &found, json_object_get(data, "original"),
                        a));
  const calm_status status =
      found ? draw_sites(drawings, data, &original, plan, a) : CALM_OK;
  region_graph_free(&original);
  return status;
}

static calm_status draw_all(json_t **drawings, const json_t *data, arena *a) {
  region_graph plan;
  bool found;
  TRY(region_graph_read(&plan, &found, data, a));
  calm_status status = CALM_OK;
  if (found) status = draw_peak(drawings, data, &plan, a);
  if (found && status == CALM_OK)
    status = draw_with_original(drawings, data, &plan, a);
  region_graph_free(&plan);
  return status;
}

static bool is_plan(const json_t *data) {
  const char *schema = json_string_value(json_object_get(data, "schema"));
  return schema && !strcmp(schema, "calm/plan/1");
}

calm_status report_drawings_make(json_t **out, const json_t *data,
                                 calm_context *context) {
  arena scratch;
  json_t *drawings = json_array();
  arena_init(&scratch, context);
  calm_status status =
      is_plan(data) ? draw_all(&drawings, data, &scratch) : CALM_OK;
  arena_free(&scratch);
  if (status == CALM_OK && !drawings) status = context_no_memory(context);
  if (status == CALM_OK)
    *out = drawings;
  else
    json_decref(drawings);
  return status;
}
