/* What an access costs: from tables that Accelergy writes (ERT, ERT_summary,
   ART for areas), from the architecture itself, or by Timeloop's built-in
   formulas (PAT). */
#include <math.h>
#include <string.h>

#include "accel/accel_arch_parts.h"

/* A section of tables, one for each component.  Version 0.2 has a mapping from
   names to actions, later ones a list of {name, actions}. */
typedef struct reference {
  calm_context *context;
  const accel_yaml *tables; /* NULL: there is none */
} reference;

enum { MAX_SYNONYMS = 6 };
typedef const char *const synonyms[MAX_SYNONYMS]; /* the first found counts */

static synonyms reads = {"random_read", "read"};
static synonyms fills = {"random_fill", "random_write", "fill", "write"};
static synonyms updates = {"random_update", "random_write", "update", "write"};
static synonyms leaks = {"leak"};
static synonyms computes = {"mac_random", "mult_random", "mac", "mult",
                            "compute"};
static synonyms transfers = {"transfer_random"};

/* ---- Finding the tables -------------------------------------------------- */

static calm_status open_section(reference *out, const accel_yaml *section,
                                const char *key) {
  const accel_yaml *tables = accel_yaml_get(section, key);
  const accel_yaml *version = accel_yaml_get(section, "version");
  const char *spelled;
  if (version) TRY(accel_yaml_text(&spelled, out->context, version, "version"));
  if (!tables || tables->kind == ACCEL_YAML_SCALAR)
    return accel_place_fail(out->context, CALM_BAD_INPUT, section->place,
                            "no '%s' in this section of energies", key);
  out->tables = tables;
  return CALM_OK;
}

static calm_status open_root(reference *out, const accel_yaml *root) {
  const accel_yaml *ert = accel_yaml_get(root, "ERT");
  const accel_yaml *summary = accel_yaml_get(root, "ERT_summary");
  if (ert) return open_section(out, ert, "tables");
  if (summary) return open_section(out, summary, "table_summary");
  return CALM_OK;
}

static calm_status open_reference(reference *out, const accel_yaml *root,
                                  const accel_yaml *ert) {
  TRY(open_root(out, ert ? ert : root));
  if (!ert || out->tables) return CALM_OK;
  return accel_place_fail(out->context, CALM_BAD_INPUT, ert->place,
                          "no energies: looked for a section 'ERT' or "
                          "'ERT_summary'");
}

/* ---- One table ----------------------------------------------------------- */

/* "chip.PE[0..15].buffer[1..4]" is the table of `buffer`. */
static bool names_component(const char *full, const char *name) {
  size_t end = strlen(full);
  if (end && full[end - 1] == ']') {
    const char *bracket = strrchr(full, '[');
    if (bracket) end = (size_t)(bracket - full);
  }
  size_t begin = end;
  while (begin > 0 && full[begin - 1] != '.') begin--;
  return end - begin == strlen(name) &&
         !memcmp(full + begin, name, end - begin);
}

/* The name and the content of table `i`. */
static calm_status open_table(const char **name, const accel_yaml **content,
                              const reference *r, uint32_t i) {
  const accel_yaml *item = r->tables->items[i];
  *content = item;
  if (r->tables->kind == ACCEL_YAML_MAPPING) {
    *name = r->tables->keys[i];
    return CALM_OK;
  }
  const accel_yaml *named = accel_yaml_get(item, "name");
  if (!named)
    return accel_place_fail(r->context, CALM_BAD_INPUT, item->place,
                            "a table without the 'name' of its component");
  return accel_yaml_text(name, r->context, named, "name");
}

/* The table of a component, NULL if there is none; of several the last one, as
   in Timeloop. */
static calm_status find_table(const accel_yaml **out, const reference *r,
                              const char *name) {
  *out = NULL;
  for (uint32_t i = 0; r->tables && i < r->tables->count; i++) {
    const char *full;
    const accel_yaml *content;
    TRY(open_table(&full, &content, r, i));
    if (!names_component(full, name)) continue;
    if (*out)
      context_log(r->context, CALM_LOG_WARNING,
                  "%s:%u: a second table for %s; it counts, not the one in "
                  "line %u",
                  content->place.file, content->place.line, name,
                  (*out)->place.line);
    *out = content;
  }
  return CALM_OK;
}

/* ---- Energies of actions ------------------------------------------------- */

typedef struct dearest {
  double pj;
  bool found;
} dearest;

static calm_status take_number(double *out, const reference *r,
                               const accel_yaml *entry, const char *key) {
  const accel_yaml *value = accel_yaml_get(entry, key);
  double number;
  if (!value)
    return accel_place_fail(r->context, CALM_BAD_INPUT, entry->place,
                            "an entry without '%s'", key);
  TRY(accel_yaml_real(&number, r->context, value, key));
  TRY(accel_arch_check_figure(r->context, value, key, number));
  *out = number;
  return CALM_OK;
}

static calm_status weigh_entry(dearest *best, const reference *r,
                               const accel_yaml *entry) {
  double pj;
  TRY(take_number(&pj, r, entry, "energy"));
  if (!best->found || pj > best->pj) best->pj = pj;
  best->found = true;
  return CALM_OK;
}

/* An action may stand several times, each time with other arguments: the
   dearest counts. */
static calm_status weigh_list(dearest *best, const reference *r,
                              const accel_yaml *actions, const char *action) {
  if (actions->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(r->context, CALM_BAD_INPUT, actions->place,
                            "'actions' is a list");
  for (uint32_t i = 0; i < actions->count; i++) {
    const accel_yaml *named = accel_yaml_get(actions->items[i], "name");
    const char *name = "";
    if (!named)
      return accel_place_fail(r->context, CALM_BAD_INPUT,
                              actions->items[i]->place,
                              "an action without a 'name'");
    TRY(accel_yaml_text(&name, r->context, named, "name"));
    if (!strcmp(name, action)) TRY(weigh_entry(best, r, actions->items[i]));
  }
  return CALM_OK;
}

static calm_status weigh_mapping(dearest *best, const reference *r,
                                 const accel_yaml *actions,
                                 const char *action) {
  const accel_yaml *entry = accel_yaml_get(actions, action);
  if (!entry) return CALM_OK;
  if (entry->kind != ACCEL_YAML_SEQUENCE) return weigh_entry(best, r, entry);
  for (uint32_t i = 0; i < entry->count; i++)
    TRY(weigh_entry(best, r, entry->items[i]));
  return CALM_OK;
}

/* What an action is given, of two entries alike. */
static bool same_arguments(const accel_yaml *a, const accel_yaml *b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind || a->count != b->count) return false;
  if (a->kind == ACCEL_YAML_SCALAR) return !strcmp(a->text, b->text);
  for (uint32_t i = 0; i < a->count; i++) {
    const accel_yaml *other = a->kind == ACCEL_YAML_MAPPING
                                  ? accel_yaml_get(b, a->keys[i])
                                  : b->items[i];
    if (!other || !same_arguments(a->items[i], other)) return false;
  }
  return true;
}

/* An entry of an action of which the last one had the same arguments. */
static void warn_of_same(const reference *r, const accel_yaml *last,
                         const accel_yaml *entry, const char *name,
                         const char *component) {
  if (!last || !same_arguments(accel_yaml_get(last, "arguments"),
                               accel_yaml_get(entry, "arguments")))
    return;
  context_log(r->context, CALM_LOG_WARNING,
              "%s:%u: '%s' of %s stands in line %u too; the dearer one counts",
              entry->place.file, entry->place.line, name, component,
              last->place.line);
}

static void warn_of_repeated(const reference *r, const accel_yaml *table,
                             const char *component) {
  static const char *const names[] = {
      "random_read", "read",       "random_fill",    "random_write",
      "fill",        "write",      "leak",           "random_update",
      "update",      "mac_random", "mult_random",    "mac",
      "mult",        "compute",    "transfer_random"};
  const accel_yaml *actions = accel_yaml_get(table, "actions");
  if (!actions || actions->kind != ACCEL_YAML_SEQUENCE) return;
  for (uint32_t n = 0; n < sizeof names / sizeof *names; n++) {
    const accel_yaml *last = NULL;
    for (uint32_t i = 0; i < actions->count; i++) {
      const accel_yaml *entry = actions->items[i];
      const accel_yaml *name = accel_yaml_get(entry, "name");
      if (!name || name->kind != ACCEL_YAML_SCALAR ||
          strcmp(name->text, names[n]))
        continue;
      warn_of_same(r, last, entry, names[n], component);
      last = entry;
    }
  }
}

/* What the first of the synonyms that the table has costs. */
static calm_status find_energy(dearest *out, const reference *r,
                               const accel_yaml *table,
                               const char *const *names) {
  const bool listed = r->tables->kind == ACCEL_YAML_SEQUENCE;
  const accel_yaml *actions = listed ? accel_yaml_get(table, "actions") : table;
  *out = (dearest){0};
  for (uint32_t n = 0; actions && n < MAX_SYNONYMS && names[n]; n++) {
    if (listed)
      TRY(weigh_list(out, r, actions, names[n]));
    else
      TRY(weigh_mapping(out, r, actions, names[n]));
    if (out->found) return CALM_OK;
  }
  return CALM_OK;
}

/* ... of an action that no machine works without. */
static calm_status need_energy(double *out, const reference *r,
                               const accel_yaml *table,
                               const char *const *names, const char *component,
                               const char *action) {
  dearest best;
  TRY(find_energy(&best, r, table, names));
  if (!best.found)
    return accel_place_fail(r->context, CALM_BAD_INPUT, table->place,
                            "the table of %s has no energy of '%s'", component,
                            action);
  *out = best.pj;
  return CALM_OK;
}

/* ---- Levels -------------------------------------------------------------- */

/* DRAM: 200 pJ for 16 bits.  SRAM: a line through 1 pJ at 0.5 KB and 6 pJ at
   100 KB for 16 bits.  One cluster pays its share of the line it is in. */
static double formula_energy(const accel_level *l) {
  const double line = (double)((uint64_t)l->word_bits * l->block_words) *
                      (l->dram ? 1 : l->cluster);
  if (l->dram) return 200.0 * line / 16;
  if (l->entries == 0) return 0;
  const uint64_t lines =
      l->entries / l->block_words + (l->entries % l->block_words != 0);
  const double kilobytes = line * (double)lines / (8 * 1024);
  const double slope = (6.0 - 1.0) / (100.0 - 0.5);
  const double per_16_bits = slope * (kilobytes - 0.5) + 1.0;
  return per_16_bits * line / 16 / l->cluster;
}

/* Nothing is known of a level, unless more is found out later. */
static void lack_all(accel_level *l, accel_lack lack, accel_place source) {
  l->energy.unknown = ACCEL_READ | ACCEL_WRITE | ACCEL_UPDATE;
  l->energy.lack = lack;
  l->energy.source = source;
}

static void level_by_formula(accel_level *l) {
  if (!l->dram && l->entries == ACCEL_UNLIMITED) {
    lack_all(l, ACCEL_LACKS_SIZE, l->place);
    return;
  }
  const double pj = formula_energy(l);
  l->energy.read_pj = l->energy.write_pj = l->energy.update_pj = pj;
  l->energy.known = true;
}

static calm_status level_by_table(accel_level *l, const reference *r,
                                  const accel_yaml *table) {
  dearest read, write, update, leak;
  lack_all(l, ACCEL_LACKS_ACTION, table->place);
  TRY(find_energy(&read, r, table, reads));
  TRY(find_energy(&write, r, table, fills));
  TRY(find_energy(&update, r, table, updates));
  TRY(find_energy(&leak, r, table, leaks));
  accel_energy *e = &l->energy;
  e->read_pj = read.pj;
  e->write_pj = write.pj;
  e->update_pj = update.pj;
  e->leak_pj = leak.pj;
  e->unknown = (read.found ? 0 : ACCEL_READ) | (write.found ? 0 : ACCEL_WRITE) |
               (update.found ? 0 : ACCEL_UPDATE);
  e->known = !e->unknown;
  return CALM_OK;
}

/* A mesh holds nothing and has no table; a level whose author gave the energy
   is not looked up.  Timeloop's front end calls what stands for a mesh a
   dummy_storage. */
static calm_status read_level(accel_level *l, const reference *r,
                              bool required) {
  const accel_yaml *table;
  l->energy.known |= l->virtual_level;
  if (l->energy.known) return CALM_OK;
  TRY(find_table(&table, r, l->name));
  if (table) {
    const calm_status status = level_by_table(l, r, table);
    warn_of_repeated(r, table, l->name);
    return required || status != CALM_BAD_INPUT ? status : CALM_OK;
  }
  if (!r->tables || l->entries == 0 || !strcmp(l->class_name, "dummy_storage"))
    level_by_formula(l);
  else
    lack_all(l, ACCEL_LACKS_TABLE, r->tables->place);
  return CALM_OK;
}

/* ---- Compute units ------------------------------------------------------- */

static calm_status missing_table(const reference *r, const accel_compute *u) {
  return accel_place_fail(
      r->context, CALM_BAD_INPUT, r->tables->place,
      "no table for %s (%s:%u) among the energies; add one, or its 'energy', "
      "or leave all tables out for Timeloop's formulas, or use --no-energy",
      u->name, u->place.file ? u->place.file : "-", u->place.line);
}

/* Here a table counts before the file's own figure, as in Timeloop. */
static calm_status read_compute(accel_compute *u, const reference *r,
                                bool required) {
  const accel_yaml *table;
  TRY(find_table(&table, r, u->name));
  if (table) {
    const calm_status status =
        need_energy(&u->energy_pj, r, table, computes, u->name, "compute");
    warn_of_repeated(r, table, u->name);
    u->energy_known |= status == CALM_OK;
    return required || status != CALM_BAD_INPUT ? status : CALM_OK;
  }
  if (u->energy_known) return CALM_OK;
  if (r->tables) return required ? missing_table(r, u) : CALM_OK;
  const double share = (double)u->word_bits / 16.0;
  u->energy_pj = 1.0 * share * share;
  u->energy_known = true;
  return CALM_OK;
}

/* ---- Wires --------------------------------------------------------------- */

/* Timeloop keeps what wires follow from in single precision. */
static calm_status take_single(double *figure, const reference *r,
                               const accel_yaml *table, const char *what) {
  const float single = (float)*figure;
  if (!isfinite(single))
    return accel_place_fail(r->context, CALM_BAD_INPUT, table->place,
                            "%s is %g; more than single precision holds", what,
                            *figure);
  *figure = (double)single;
  return CALM_OK;
}

/* A table for a component named wire costs the wires of all networks. */
static calm_status read_wires(accel_arch *arch, const reference *r) {
  const accel_yaml *table;
  TRY(find_table(&table, r, "wire"));
  if (!table) TRY(find_table(&table, r, "Wire"));
  if (!table) return CALM_OK;
  double pj;
  TRY(need_energy(&pj, r, table, transfers, "the wires", "transfer_random"));
  warn_of_repeated(r, table, "the wires");
  TRY(take_single(&pj, r, table, "the energy of wires"));
  for (uint32_t i = 0; pj > 0 && i < arch->level_count; i++)
    arch->levels[i].network.wire_pj = pj;
  return CALM_OK;
}

static calm_status read_area(double *area, const reference *r,
                             const char *name) {
  const accel_yaml *table;
  TRY(find_table(&table, r, name));
  if (!table) return CALM_OK;
  TRY(take_number(area, r, table, "area"));
  return take_single(area, r, table, "area");
}

/* Areas come with energies in a section of their own. */
static calm_status read_areas(accel_arch *arch, calm_context *context,
                              const accel_yaml *root) {
  reference r = {.context = context};
  const accel_yaml *section = accel_yaml_get(root, "ART");
  if (!section) return CALM_OK;
  TRY(open_section(&r, section, "tables"));
  TRY(read_area(&arch->compute.area_um2, &r, arch->compute.name));
  for (uint32_t i = 0; i < arch->level_count; i++)
    TRY(read_area(&arch->levels[i].area_um2, &r, arch->levels[i].name));
  return CALM_OK;
}

/* One hop of a network crosses what hangs below one port of it: a square of the
   area of one inner instance with all that is inside of it. */
static void derive_hops(accel_arch *arch) {
  double area = arch->compute.area_um2;
  for (uint32_t i = 0; i < arch->level_count; i++) {
    accel_level *l = &arch->levels[i];
    accel_network *n = &l->network;
    const accel_fanout fanout = accel_arch_fanout(arch, i);
    if (n->tile_width == 0) n->tile_width = sqrt(area);
    if (!n->hop_given && n->wire_pj > 0)
      n->hop_pj = n->word_bits * (n->tile_width / 1000) * n->wire_pj;
    area = l->area_um2 + area * (double)(fanout.x * fanout.y);
  }
}

calm_status accel_energy_read(accel_arch *arch, const accel_yaml *root,
                              const accel_yaml *ert, bool required,
                              calm_context *context) {
  reference r = {.context = context};
  TRY(open_reference(&r, root, ert));
  for (uint32_t i = 0; i < arch->level_count; i++)
    TRY(read_level(&arch->levels[i], &r, required));
  TRY(read_compute(&arch->compute, &r, required));
  TRY(read_wires(arch, &r));
  if (r.tables) TRY(read_areas(arch, context, ert ? ert : root));
  derive_hops(arch);
  return CALM_OK;
}
