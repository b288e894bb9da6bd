/* Levels and compute units from their attributes, by Timeloop's rules for what
   a file leaves out and for what follows from what. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accel/accel_arch_attributes.h"
#include "base/number.h"

enum { DEFAULT_WORD_BITS = 16 };

/* One component on its way. */
typedef struct maker {
  calm_context *context;
  const accel_component *c;
  accel_attributes given;
} maker;

#define FAIL_AT(m, value, ...)                                         \
  accel_place_fail((m)->context, CALM_BAD_INPUT, (value)->node->place, \
                   __VA_ARGS__)

/* ---- Whole numbers ------------------------------------------------------- */

/* A count of which there is at least one, in 32 bits. */
static calm_status take_count(uint32_t *out, const maker *m,
                              const accel_value *value, uint32_t otherwise,
                              const char *what) {
  *out = otherwise;
  if (!value->node) return CALM_OK;
  if (value->integer == 0 || value->integer > UINT32_MAX)
    return FAIL_AT(m, value, "%s of %s is %s; it must be 1 or more%s", what,
                   m->c->name, value->node->text,
                   value->integer ? ", below 2^32" : "");
  *out = (uint32_t)value->integer;
  return CALM_OK;
}

static calm_status not_zero(const maker *m, const accel_value *value,
                            const char *what) {
  if (!value->node || value->integer) return CALM_OK;
  return FAIL_AT(m, value, "%s of %s is 0; it must be 1 or more", what,
                 m->c->name);
}

static calm_status too_large(const maker *m, const accel_value *value,
                             const char *what) {
  return FAIL_AT(m, value, "with %s here, %s has more than 2^62 %s",
                 value->node->text, m->c->name, what);
}

/* ---- Instances and their mesh -------------------------------------------- */

typedef struct mesh {
  uint64_t instances, x, y;
} mesh;

static calm_status mesh_mismatch(const maker *m, const mesh *is) {
  const accel_value *at =
      m->given.mesh_x.node ? &m->given.mesh_x : &m->given.mesh_y;
  const accel_place place = at->node ? at->node->place : m->c->place;
  char columns[48] = "", rows[48] = "";
  if (is->x)
    snprintf(columns, sizeof columns, " meshX %llu", (unsigned long long)is->x);
  if (is->y)
    snprintf(rows, sizeof rows, " meshY %llu", (unsigned long long)is->y);
  return accel_place_fail(m->context, CALM_BAD_INPUT, place,
                          "%s has %llu instances, which%s%s does not divide "
                          "into whole columns and rows",
                          m->c->name, (unsigned long long)is->instances,
                          columns, rows);
}

/* What is missing follows: all in one row, or as many rows as it takes. */
static calm_status complete_mesh(mesh *is, const maker *m) {
  if (!is->instances) {
    if (!is->x || !is->y)
      return accel_place_fail(m->context, CALM_BAD_INPUT, m->c->place,
                              "'instances' of %s is missing (or both meshX and "
                              "meshY)",
                              m->c->name);
    if (!number_multiply(&is->instances, is->x, is->y))
      return too_large(m, &m->given.mesh_x, "instances");
  }
  if (!is->x && !is->y) is->x = is->instances;
  if (!is->x) {
    if (is->instances % is->y) return mesh_mismatch(m, is);
    is->x = is->instances / is->y;
  }
  if (!is->y) {
    if (is->instances % is->x) return mesh_mismatch(m, is);
    is->y = is->instances / is->x;
  }
  if (is->instances % is->x || is->instances / is->x != is->y)
    return mesh_mismatch(m, is);
  return CALM_OK;
}

/* Instances in the attributes count before those of the place in the file, as
   in Timeloop.  A mesh of the containers around is no matter of attributes. */
static calm_status take_side(uint64_t *side, const maker *m,
                             const accel_value *value, const char *what) {
  TRY(not_zero(m, value, what));
  if (!value->node) return CALM_OK;
  if (*side && *side != value->integer)
    return FAIL_AT(m, value,
                   "%s %s of %s contradicts the %llu of its containers", what,
                   value->node->text, m->c->name, (unsigned long long)*side);
  *side = value->integer;
  return CALM_OK;
}

static calm_status set_mesh(mesh *out, const maker *m) {
  const accel_attributes *g = &m->given;
  mesh is = {m->c->instances, m->c->mesh_x, m->c->mesh_y};
  TRY(not_zero(m, &g->instances, "instances"));
  if (g->instances.node) is.instances = g->instances.integer;
  TRY(take_side(&is.x, m, &g->mesh_x, "meshX"));
  TRY(take_side(&is.y, m, &g->mesh_y, "meshY"));
  TRY(complete_mesh(&is, m));
  *out = is;
  return CALM_OK;
}

/* ---- Words, blocks, clusters --------------------------------------------- */

static calm_status width_mismatch(const maker *m, const accel_level *l,
                                  bool with_cluster) {
  char cluster[48] = "";
  if (with_cluster)
    snprintf(cluster, sizeof cluster, " x cluster_size %u", l->cluster);
  return FAIL_AT(m, &m->given.width,
                 "width %s of %s is no multiple of word_bits %u x block_size "
                 "%u%s",
                 m->given.width.node->text, m->c->name, l->word_bits,
                 l->block_words, cluster);
}

/* The width of a line is word bits x block x cluster; the one of the latter two
   that is not given follows, and without both the line is one block. */
static calm_status divide_width(accel_level *l, const maker *m) {
  const accel_attributes *g = &m->given;
  const uint64_t width = g->width.integer;
  const uint64_t block_bits = (uint64_t)l->word_bits * l->block_words;
  if (width == 0 || width > UINT32_MAX || width % block_bits)
    return width_mismatch(m, l, false);
  const uint64_t blocks = width / block_bits;
  if (g->cluster_size.node) {
    if (blocks % l->cluster) return width_mismatch(m, l, true);
    if (!g->block_size.node)
      l->block_words = (uint32_t)(blocks / l->cluster);
    else if (blocks != l->cluster)
      return FAIL_AT(m, &g->width,
                     "width %s of %s is not word_bits %u x block_size %u x "
                     "cluster_size %u",
                     g->width.node->text, m->c->name, l->word_bits,
                     l->block_words, l->cluster);
  } else if (g->block_size.node) {
    l->cluster = (uint32_t)blocks;
  } else {
    l->block_words = (uint32_t)blocks;
  }
  return CALM_OK;
}

static calm_status set_words(accel_level *l, const maker *m) {
  const accel_attributes *g = &m->given;
  TRY(take_count(&l->word_bits, m, &g->word_bits, DEFAULT_WORD_BITS,
                 "word_bits"));
  TRY(take_count(&l->block_words, m, &g->block_size, 1, "block_size"));
  TRY(take_count(&l->cluster, m, &g->cluster_size, 1, "cluster_size"));
  if (g->width.node) TRY(divide_width(l, m));
  if (!l->dram || l->cluster == 1) return CALM_OK;
  return accel_place_fail(m->context, CALM_BAD_INPUT, m->c->place,
                          "%s is DRAM and has clusters of %u instances; DRAM "
                          "cannot be clustered",
                          m->c->name, l->cluster);
}

/* ---- Capacity ------------------------------------------------------------ */

static calm_status two_sizes(const maker *m, const char *other) {
  return FAIL_AT(m, &m->given.size_kb,
                 "%s has both 'sizeKB' and '%s'; give one of them", m->c->name,
                 other);
}

static calm_status entries_from_depth(accel_level *l, const maker *m) {
  const accel_attributes *g = &m->given;
  uint64_t words;
  if (!number_multiply(&words, g->depth.integer, l->block_words))
    return too_large(m, &g->depth, "words");
  if (!g->entries.node)
    l->entries = words;
  else if (words != l->entries)
    context_log(m->context, CALM_LOG_WARNING,
                "%s:%u: entries of %s is %llu, depth x block is %llu; the "
                "entries count, as in Timeloop",
                g->depth.node->place.file, g->depth.node->place.line,
                m->c->name, (unsigned long long)l->entries,
                (unsigned long long)words);
  return CALM_OK;
}

static calm_status entries_from_kilobytes(accel_level *l, const maker *m) {
  const accel_attributes *g = &m->given;
  uint64_t bits;
  if (g->entries.node) return two_sizes(m, "entries");
  if (g->depth.node) return two_sizes(m, "depth");
  if (!number_multiply(&bits, g->size_kb.integer, 1024 * 8))
    return too_large(m, &g->size_kb, "bits");
  l->entries = bits / l->word_bits;
  return CALM_OK;
}

/* `entries`, else depth x block, else the kilobytes; else any number. */
static calm_status set_entries(accel_level *l, const maker *m) {
  const accel_attributes *g = &m->given;
  l->entries = ACCEL_UNLIMITED;
  if (g->entries.node) {
    l->entries = g->entries.integer;
    if (l->entries > NUMBER_MAX_BYTES)
      return too_large(m, &g->entries, "words");
  }
  if (g->size_kb.node) return entries_from_kilobytes(l, m);
  if (g->depth.node) return entries_from_depth(l, m);
  return CALM_OK;
}

static calm_status set_buffering(accel_level *l, const maker *m) {
  const accel_attributes *g = &m->given;
  l->multiple_buffering = 1;
  if (g->multiple_buffering.node)
    l->multiple_buffering = g->multiple_buffering.real;
  if (l->multiple_buffering <= 0)
    return FAIL_AT(m, &g->multiple_buffering,
                   "multiple_buffering of %s is 0; 1 is single, 2 double "
                   "buffering",
                   m->c->name);
  l->capacity_words = l->entries;
  if (l->entries == ACCEL_UNLIMITED) return CALM_OK;
  const double words = floor((double)l->entries / l->multiple_buffering);
  if (words > (double)NUMBER_MAX_BYTES)
    return too_large(m, &g->multiple_buffering, "words");
  l->capacity_words = (uint64_t)words;
  return CALM_OK;
}

static calm_status set_utilization(accel_level *l, const maker *m) {
  const accel_value *least = &m->given.min_utilization;
  if (!least->node || least->real == 0) return CALM_OK;
  if (least->real > 1)
    return FAIL_AT(m, least, "min_utilization of %s is %s, more than the whole",
                   m->c->name, least->node->text);
  if (l->entries == ACCEL_UNLIMITED)
    return FAIL_AT(m, least,
                   "min_utilization of %s needs a capacity: 'entries', 'depth' "
                   "or 'sizeKB'",
                   m->c->name);
  l->min_utilization = least->real;
  return CALM_OK;
}

static calm_status set_size(accel_level *l, const maker *m) {
  TRY(set_entries(l, m));
  TRY(set_buffering(l, m));
  return set_utilization(l, m);
}

/* ---- Bandwidth ----------------------------------------------------------- */

static calm_status take_rate(double *out, const maker *m,
                             const accel_value *value, const char *what) {
  if (!value->node) return CALM_OK;
  if (value->real <= 0)
    return FAIL_AT(m, value, "%s of %s is 0; leave it out if nothing limits it",
                   what, m->c->name);
  *out = value->real;
  return CALM_OK;
}

/* One figure for both ways is half for each. */
static calm_status halve_bandwidth(accel_level *l, const maker *m) {
  double both = 0;
  const accel_value *value = &m->given.bandwidth;
  TRY(take_rate(&both, m, value, "bandwidth"));
  l->read_bandwidth = l->write_bandwidth = both / 2;
  if (value->node)
    context_log(m->context, CALM_LOG_WARNING,
                "%s:%u: bandwidth %s of %s is read as Timeloop reads it: half "
                "for reads, half for writes; read_bandwidth, write_bandwidth "
                "or shared_bandwidth say it exactly",
                value->node->place.file, value->node->place.line,
                value->node->text, m->c->name);
  return CALM_OK;
}

static calm_status take_scales(accel_level *l, const maker *m, arena *a) {
  const accel_yaml *node = m->given.scales.node;
  if (!node) return CALM_OK;
  ARENA_ARRAY(a, l->scales, node->count);
  for (uint32_t i = 0; i < node->count; i++) {
    l->scales[i].tensor = node->keys[i];
    l->scales[i].place = node->key_places[i];
    TRY(accel_yaml_real(&l->scales[i].scale, m->context, node->items[i],
                        "a bandwidth scale"));
    if (l->scales[i].scale < 0)
      return accel_place_fail(m->context, CALM_BAD_INPUT, node->items[i]->place,
                              "the bandwidth scale of %s is negative",
                              node->keys[i]);
  }
  l->scale_count = node->count;
  return CALM_OK;
}

static calm_status set_bandwidth(accel_level *l, const maker *m, arena *a) {
  const accel_attributes *g = &m->given;
  TRY(halve_bandwidth(l, m));
  TRY(take_rate(&l->read_bandwidth, m, &g->read_bandwidth, "read_bandwidth"));
  TRY(take_rate(&l->write_bandwidth, m, &g->write_bandwidth,
                "write_bandwidth"));
  TRY(take_rate(&l->shared_bandwidth, m, &g->shared_bandwidth,
                "shared_bandwidth"));
  return take_scales(l, m, a);
}

/* ---- Network and energies ------------------------------------------------ */

static calm_status check_network_type(const maker *m) {
  const accel_value *type = &m->given.network_type;
  if (!type->node || !strcmp(type->word, "1:1") || !strcmp(type->word, "1:N"))
    return CALM_OK;
  const bool known = !strcmp(type->word, "M:N");
  return accel_place_fail(
      m->context, known ? CALM_UNSUPPORTED : CALM_BAD_INPUT, type->node->place,
      known ? "network_type of %s is %s: calm does not cost distributed "
              "multicast"
            : "network_type of %s is '%s'; Timeloop knows 1:1, 1:N and M:N",
      m->c->name, type->word);
}

static calm_status set_network(accel_level *l, const maker *m) {
  const accel_attributes *g = &m->given;
  accel_network *n = &l->network;
  TRY(check_network_type(m));
  TRY(take_count(&n->word_bits, m, &g->network_word_bits, l->word_bits,
                 "network_word_bits"));
  n->hop_given = g->energy_per_hop.node != NULL;
  n->hop_pj = g->energy_per_hop.real;
  n->router_pj = g->router_energy.real;
  n->wire_pj = g->wire_energy.real;
  n->tile_width = g->tile_width.real;
  n->ingress_pj = g->energy_per_ingress.real;
  n->fill_cycles = g->network_fill_latency.integer;
  n->drain_cycles = g->network_drain_latency.integer;
  return CALM_OK;
}

/* Energies that the file gives count before all tables and formulas. */
static void set_energy(accel_level *l, const maker *m) {
  const accel_attributes *g = &m->given;
  accel_energy *e = &l->energy;
  e->known = g->vector_access_energy.node != NULL;
  e->read_pj = e->write_pj = e->update_pj = g->vector_access_energy.real;
  e->address_pj = g->addr_gen_energy.node ? g->addr_gen_energy.real : -1;
  l->area_um2 = g->cluster_area.real / l->cluster;
}

/* ---- Both kinds of component --------------------------------------------- */

static bool is_dram(const maker *m) {
  const accel_value *technology = &m->given.technology;
  return strstr(m->c->class_name, "DRAM") ||
         (technology->node && !strcmp(technology->word, "DRAM"));
}

calm_status accel_arch_make_level(accel_level *out, calm_context *context,
                                  const accel_component *c, arena *a) {
  maker m = {.context = context, .c = c};
  mesh at;
  TRY(accel_attributes_read(&m.given, context, c, ACCEL_KEY_LEVEL));
  TRY(set_mesh(&at, &m));
  accel_level l = {.name = c->name,
                   .class_name = c->class_name,
                   .place = c->place,
                   .instances = at.instances,
                   .mesh_x = at.x,
                   .mesh_y = at.y};
  l.dram = is_dram(&m);
  l.reduction_supported = m.given.reduction_supported.node
                              ? m.given.reduction_supported.truth
                              : !l.dram;
  TRY(set_words(&l, &m));
  TRY(set_size(&l, &m));
  TRY(set_bandwidth(&l, &m, a));
  TRY(set_network(&l, &m));
  set_energy(&l, &m);
  *out = l;
  return CALM_OK;
}

calm_status accel_arch_make_compute(accel_compute *out, calm_context *context,
                                    const accel_component *c) {
  maker m = {.context = context, .c = c};
  mesh at;
  TRY(accel_attributes_read(&m.given, context, c, ACCEL_KEY_COMPUTE));
  TRY(set_mesh(&at, &m));
  accel_compute u = {.name = c->name,
                     .place = c->place,
                     .instances = at.instances,
                     .mesh_x = at.x,
                     .mesh_y = at.y,
                     .energy_pj = m.given.energy.real,
                     .energy_known = m.given.energy.node != NULL,
                     .area_um2 = m.given.area.real};
  TRY(take_count(&u.word_bits, &m, &m.given.operand_bits, DEFAULT_WORD_BITS,
                 "word_bits"));
  *out = u;
  return CALM_OK;
}
