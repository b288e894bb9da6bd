/*
 * What stands in a layer is a slot: a node, or the place at which a long edge
 * passes.  Segments join slots of neighbouring layers.
 */
#include "report/report_layers.h"

#include <stdlib.h>
#include <string.h>

enum { ORDER_SWEEPS = 8, PLACE_SWEEPS = 8, PASS_WIDTH = 8 };

typedef struct slot {
  uint32_t node; /* CALM_NONE: an edge passes */
  uint32_t layer, place;
  double width, center, wanted;
  uint32_t above_begin, above_end, below_begin, below_end; /* of neighbours */
} slot;

typedef struct segment {
  uint32_t from, to; /* slots */
} segment;

typedef struct layout {
  report_layers *l;
  arena *arena;
  slot *slots;
  segment *segments;
  uint32_t slot_count, segment_count, layer_count;
  uint32_t *rows, *row_begin; /* slots by layer, in their order */
  uint32_t *above, *below;    /* neighbours of slots, by above_begin, ... */
  uint32_t *first_slot;       /* per edge: the first one that it passes */
} layout;

/* ---- Layers -------------------------------------------------------------- */

/* Longest paths.  Nodes on a circle stay at the top. */
static calm_status find_layers(layout *o) {
  report_layers *l = o->l;
  uint32_t *waiting, *ready, ready_count = 0;
  ARENA_ARRAY(o->arena, waiting, l->node_count);
  ARENA_ARRAY(o->arena, ready, l->node_count);
  for (uint32_t e = 0; e < l->edge_count; e++) waiting[l->edges[e].to]++;
  for (uint32_t n = 0; n < l->node_count; n++)
    if (!waiting[n]) ready[ready_count++] = n;
  for (uint32_t i = 0; i < ready_count; i++)
    for (uint32_t e = 0; e < l->edge_count; e++) {
      const report_edge *edge = &l->edges[e];
      if (edge->from != ready[i]) continue;
      report_node *to = &l->nodes[edge->to];
      const uint32_t layer = l->nodes[edge->from].layer + 1;
      if (to->layer < layer) to->layer = layer;
      if (--waiting[edge->to] == 0) ready[ready_count++] = edge->to;
    }
  for (uint32_t n = 0; n < l->node_count; n++)
    if (l->nodes[n].layer >= o->layer_count)
      o->layer_count = l->nodes[n].layer + 1;
  return CALM_OK;
}

static uint32_t span_of(const report_layers *l, const report_edge *edge) {
  const uint32_t from = l->nodes[edge->from].layer;
  const uint32_t to = l->nodes[edge->to].layer;
  return to > from ? to - from : 0;
}

/* ---- Slots --------------------------------------------------------------- */

static uint32_t add_slot(layout *o, uint32_t node, uint32_t layer,
                         double width) {
  o->slots[o->slot_count] =
      (slot){.node = node, .layer = layer, .width = width};
  return o->slot_count++;
}

static void add_passes(layout *o, uint32_t e) {
  const report_edge *edge = &o->l->edges[e];
  const uint32_t span = span_of(o->l, edge);
  uint32_t from = edge->from;
  o->first_slot[e] = o->slot_count;
  for (uint32_t i = 1; i < span; i++) {
    const uint32_t layer = o->l->nodes[edge->from].layer + i;
    const uint32_t pass = add_slot(o, CALM_NONE, layer, PASS_WIDTH);
    o->segments[o->segment_count++] = (segment){from, pass};
    from = pass;
  }
  if (span) o->segments[o->segment_count++] = (segment){from, edge->to};
}

static calm_status make_slots(layout *o) {
  const report_layers *l = o->l;
  size_t slots = l->node_count, segments = 0;
  for (uint32_t e = 0; e < l->edge_count; e++) {
    const uint32_t span = span_of(l, &l->edges[e]);
    segments += span;
    slots += span ? span - 1 : 0;
  }
  ARENA_ARRAY(o->arena, o->slots, slots);
  ARENA_ARRAY(o->arena, o->segments, segments);
  ARENA_ARRAY(o->arena, o->first_slot, l->edge_count);
  for (uint32_t n = 0; n < l->node_count; n++)
    add_slot(o, n, l->nodes[n].layer, l->nodes[n].width);
  for (uint32_t e = 0; e < l->edge_count; e++) add_passes(o, e);
  return CALM_OK;
}

/* Both lists of neighbours, by counting. */
static calm_status link_slots(layout *o) {
  ARENA_ARRAY(o->arena, o->above, o->segment_count);
  ARENA_ARRAY(o->arena, o->below, o->segment_count);
  for (uint32_t i = 0; i < o->segment_count; i++) {
    o->slots[o->segments[i].to].above_end++;
    o->slots[o->segments[i].from].below_end++;
  }
  uint32_t above = 0, below = 0;
  for (uint32_t i = 0; i < o->slot_count; i++) {
    slot *s = &o->slots[i];
    const uint32_t ups = s->above_end, downs = s->below_end;
    s->above_begin = s->above_end = above;
    s->below_begin = s->below_end = below;
    above += ups;
    below += downs;
  }
  for (uint32_t i = 0; i < o->segment_count; i++) {
    const segment *g = &o->segments[i];
    o->above[o->slots[g->to].above_end++] = g->from;
    o->below[o->slots[g->from].below_end++] = g->to;
  }
  return CALM_OK;
}

static calm_status make_rows(layout *o) {
  ARENA_ARRAY(o->arena, o->rows, o->slot_count);
  ARENA_ARRAY(o->arena, o->row_begin, o->layer_count + 1);
  for (uint32_t i = 0; i < o->slot_count; i++)
    o->row_begin[o->slots[i].layer + 1]++;
  for (uint32_t r = 0; r < o->layer_count; r++)
    o->row_begin[r + 1] += o->row_begin[r];
  for (uint32_t r = 0; r < o->layer_count; r++) {
    uint32_t at = o->row_begin[r];
    for (uint32_t i = 0; i < o->slot_count; i++)
      if (o->slots[i].layer == r) {
        o->slots[i].place = at - o->row_begin[r];
        o->rows[at++] = i;
      }
  }
  return CALM_OK;
}

/* ---- Sweeps -------------------------------------------------------------- */

/* The mean over the neighbours of one side; `none` if there are none. */
static double mean_of(const layout *o, const slot *s, bool above, bool centers,
                      double none) {
  const uint32_t begin = above ? s->above_begin : s->below_begin;
  const uint32_t end = above ? s->above_end : s->below_end;
  const uint32_t *list = above ? o->above : o->below;
  double sum = 0;
  for (uint32_t i = begin; i < end; i++) {
    const slot *other = &o->slots[list[i]];
    sum += centers ? other->center : other->place;
  }
  return end > begin ? sum / (end - begin) : none;
}

/* Rows are short, and nearly in order. */
static void sort_row(layout *o, uint32_t r) {
  uint32_t *row = o->rows + o->row_begin[r];
  const uint32_t count = o->row_begin[r + 1] - o->row_begin[r];
  for (uint32_t i = 1; i < count; i++) {
    const uint32_t moved = row[i];
    uint32_t at = i;
    for (; at && o->slots[row[at - 1]].wanted > o->slots[moved].wanted; at--)
      row[at] = row[at - 1];
    row[at] = moved;
  }
  for (uint32_t i = 0; i < count; i++) o->slots[row[i]].place = i;
}

static void order_row(layout *o, uint32_t r, bool above) {
  for (uint32_t i = o->row_begin[r]; i < o->row_begin[r + 1]; i++) {
    slot *s = &o->slots[o->rows[i]];
    s->wanted = mean_of(o, s, above, false, s->place);
  }
  sort_row(o, r);
}

/*
 * Each slot wants to stand below the mean of its neighbours.  Pushed to the
 * right until all have room, or pushed to the left, all keep their distance;
 * so do the means of both.
 */
static void place_row(layout *o, uint32_t r, bool above) {
  const uint32_t begin = o->row_begin[r], end = o->row_begin[r + 1];
  double limit = -1e300;
  for (uint32_t i = begin; i < end; i++) {
    slot *s = &o->slots[o->rows[i]];
    s->wanted = mean_of(o, s, above, true, s->center);
    const double right =
        s->wanted > limit + s->width / 2 ? s->wanted : limit + s->width / 2;
    limit = right + s->width / 2 + REPORT_NODE_GAP;
    s->center = right;
  }
  limit = 1e300;
  for (uint32_t i = end; i-- > begin;) {
    slot *s = &o->slots[o->rows[i]];
    const double left =
        s->wanted < limit - s->width / 2 ? s->wanted : limit - s->width / 2;
    limit = left - s->width / 2 - REPORT_NODE_GAP;
    s->center = (s->center + left) / 2;
  }
}

static void sweep(layout *o, uint32_t sweeps,
                  void (*visit)(layout *, uint32_t, bool)) {
  for (uint32_t i = 0; i < sweeps; i++)
    for (uint32_t r = 0; r < o->layer_count; r++)
      visit(o, i % 2 ? o->layer_count - 1 - r : r, i % 2 == 0);
}

/* ---- Coordinates --------------------------------------------------------- */

static double top_of(uint32_t layer) {
  return REPORT_DRAWING_MARGIN +
         (double)layer * (REPORT_NODE_HEIGHT + REPORT_LAYER_GAP);
}

static void set_nodes(layout *o) {
  report_layers *l = o->l;
  double least = 1e300, most = 0;
  for (uint32_t i = 0; i < o->slot_count; i++)
    if (o->slots[i].center - o->slots[i].width / 2 < least)
      least = o->slots[i].center - o->slots[i].width / 2;
  for (uint32_t i = 0; i < o->slot_count; i++) {
    slot *s = &o->slots[i];
    s->center += REPORT_DRAWING_MARGIN - least;
    if (s->center + s->width / 2 > most) most = s->center + s->width / 2;
    if (s->node == CALM_NONE) continue;
    l->nodes[s->node].corner =
        (report_point){s->center - s->width / 2, top_of(s->layer)};
  }
  l->width = most + REPORT_DRAWING_MARGIN;
  l->height = o->layer_count ? top_of(o->layer_count - 1) + REPORT_NODE_HEIGHT +
                                   REPORT_DRAWING_MARGIN
                             : 0;
}

/* Through each layer that it passes straight down. */
static calm_status set_points(layout *o, uint32_t e) {
  report_edge *edge = &o->l->edges[e];
  const uint32_t span = span_of(o->l, edge);
  uint32_t count = 0;
  if (!span) return CALM_OK;
  ARENA_ARRAY(o->arena, edge->points, 2 * span);
  const slot *from = &o->slots[edge->from], *to = &o->slots[edge->to];
  edge->points[count++] =
      (report_point){from->center, top_of(from->layer) + REPORT_NODE_HEIGHT};
  for (uint32_t i = 0; i + 1 < span; i++) {
    const slot *pass = &o->slots[o->first_slot[e] + i];
    edge->points[count++] = (report_point){pass->center, top_of(pass->layer)};
    edge->points[count++] =
        (report_point){pass->center, top_of(pass->layer) + REPORT_NODE_HEIGHT};
  }
  edge->points[count++] = (report_point){to->center, top_of(to->layer)};
  edge->point_count = count;
  return CALM_OK;
}

calm_status report_layers_place(report_layers *l, arena *a) {
  layout o = {.l = l, .arena = a};
  l->width = l->height = 0;
  if (l->node_count == 0) return CALM_OK;
  TRY(find_layers(&o));
  TRY(make_slots(&o));
  TRY(link_slots(&o));
  TRY(make_rows(&o));
  sweep(&o, ORDER_SWEEPS, order_row);
  sweep(&o, PLACE_SWEEPS, place_row);
  set_nodes(&o);
  for (uint32_t e = 0; e < l->edge_count; e++) TRY(set_points(&o, e));
  return CALM_OK;
}
