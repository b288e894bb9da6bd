/*
 * Timeloop's mapping: a list of directives, each on the temporal or the spatial
 * loops of a level, or on what it keeps.  They fill in one block of loops per
 * level and kind, from which the nest is made.  What no directive says takes
 * Timeloop's default: factor 1, the order of the shape, all on X, kept.
 */
#include <string.h>

#include "accel/accel_names.h"
#include "accel/accel_nest_parts.h"

/* The loops of one kind at one level. */
typedef struct block {
  accel_place place; /* of its directive; file NULL: none yet */
  uint64_t bound[ACCEL_MAX_DIMENSIONS], residual[ACCEL_MAX_DIMENSIONS];
  uint32_t order[ACCEL_MAX_DIMENSIONS]; /* all dimensions, innermost first */
  uint32_t split;                       /* so many of them are on X */
  bool given;
} block;

typedef struct mapping_reader {
  accel_subject subject;
  block *temporal, *spatial; /* per level */
  accel_nest *nest;
} mapping_reader;

/* ---- Blocks -------------------------------------------------------------- */

static void default_block(block *b, const accel_layer *layer) {
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    b->bound[d] = b->residual[d] = 1;
    b->order[d] = d;
  }
  b->split = layer->dimension_count;
}

/* The listed dimensions, innermost first, then the others in the shape's
   order. */
static void complete_order(block *b, const accel_order *listed,
                           uint32_t dimensions) {
  uint32_t seen = 0, count = 0;
  for (uint32_t i = 0; i < listed->inner_count; i++) {
    seen |= UINT32_C(1) << listed->inner[i];
    b->order[count++] = listed->inner[i];
  }
  for (uint32_t d = 0; d < dimensions; d++)
    if (!(seen >> d & 1)) b->order[count++] = d;
}

static calm_status read_factors(block *b, const accel_subject *s,
                                const accel_yaml *value) {
  accel_factors factors;
  uint32_t seen = 0;
  TRY(accel_factors_read(&factors, s, value));
  for (uint32_t i = 0; i < factors.count; i++) {
    const accel_factor *f = &factors.items[i];
    const uint32_t d = f->rule.dimension;
    const char *name = s->layer->dimensions[d].name;
    if (f->rule.relation != ACCEL_EQUAL)
      return accel_place_fail(s->context, CALM_BAD_INPUT, f->rule.place,
                              "a limit on %s; a mapping has factors, limits "
                              "belong into constraints",
                              name);
    if (seen >> d & 1)
      return accel_place_fail(s->context, CALM_BAD_INPUT, f->rule.place,
                              "%s has two factors in one directive", name);
    seen |= UINT32_C(1) << d;
    b->bound[d] = f->rule.value;
    b->residual[d] = f->residual ? f->residual : f->rule.value;
  }
  return CALM_OK;
}

static calm_status read_order(block *b, const accel_subject *s,
                              const accel_yaml *value) {
  accel_order order;
  if (!value) return CALM_OK;
  TRY(accel_order_read(&order, s, value));
  if (order.outer_count)
    return accel_place_fail(s->context, CALM_BAD_INPUT, value->place,
                            "'_' in the order of a mapping; it belongs into "
                            "constraints");
  complete_order(b, &order, s->layer->dimension_count);
  return CALM_OK;
}

/* ---- Directives ---------------------------------------------------------- */

static calm_status read_loops(mapping_reader *r, const accel_yaml *directive,
                              block *b, uint32_t level, const char *kind) {
  const accel_subject *s = &r->subject;
  if (b->given)
    return accel_place_fail(s->context, CALM_BAD_INPUT, directive->place,
                            "the %s loops of %s are in line %u already", kind,
                            s->arch->levels[level].name, b->place.line);
  b->given = true;
  b->place = directive->place;
  TRY(read_factors(b, s, accel_directive_get(directive, "factors")));
  return read_order(b, s, accel_directive_get(directive, "permutation"));
}

/* Without a fan-out there are no spatial loops, and no neighbours.  Timeloop
   refuses the directive even if all of its factors are 1; as it then says
   nothing, calm lets it pass. */
static calm_status check_fanout(const mapping_reader *r, const block *b,
                                uint32_t level) {
  const accel_subject *s = &r->subject;
  const accel_fanout f = accel_arch_fanout(s->arch, level);
  if (f.x > 1 || f.y > 1) return CALM_OK;
  r->nest->unlinked[level] = 0;
  const char *below =
      level ? s->arch->levels[level - 1].name : s->arch->compute.name;
  const bool mesh = level && s->arch->levels[level - 1].virtual_level;
  for (uint32_t d = 0; d < s->layer->dimension_count; d++)
    if (b->bound[d] > 1)
      return accel_place_fail(
          s->context, CALM_BAD_INPUT, b->place,
          "spatial loops at %s, which has as many instances as %s below it: "
          "there is nothing to spread %s over%s",
          s->arch->levels[level].name, below, s->layer->dimensions[d].name,
          mesh ? "; give that mesh as the target" : "");
  return CALM_OK;
}

/* All on X is Timeloop's default even where there is a single column. */
static void warn_of_missing_split(const mapping_reader *r, const block *b,
                                  uint32_t level) {
  const accel_subject *s = &r->subject;
  const accel_fanout f = accel_arch_fanout(s->arch, level);
  bool any = false;
  for (uint32_t d = 0; d < s->layer->dimension_count; d++)
    any |= b->bound[d] > 1;
  if (any && f.x == 1 && f.y > 1 && b->split > 0)
    context_log(s->context, CALM_LOG_WARNING,
                "%s:%u: without 'split' spatial loops are along X, where %s "
                "has a single column; 'split: 0' puts them along Y",
                b->place.file, b->place.line, s->arch->levels[level].name);
}

static calm_status read_spatial(mapping_reader *r, const accel_yaml *directive,
                                uint32_t level) {
  const accel_subject *s = &r->subject;
  block *b = &r->spatial[level];
  const accel_yaml *split = accel_directive_get(directive, "split");
  TRY(read_loops(r, directive, b, level, "spatial"));
  if (split)
    TRY(accel_split_read(&b->split, s, split));
  else
    warn_of_missing_split(r, b, level);
  TRY(accel_tensors_read(&r->nest->unlinked[level], s,
                         accel_directive_get(directive, "no_link_transfer")));
  return check_fanout(r, b, level);
}

/* Of a tensor in both lists Timeloop takes the bypass. */
static calm_status read_tensors(mapping_reader *r, const accel_yaml *directive,
                                uint32_t level) {
  const accel_subject *s = &r->subject;
  uint32_t keep, bypass;
  TRY(accel_directive_tensors(&keep, &bypass, s, directive));
  for (uint32_t t = 0; t < s->layer->tensor_count; t++)
    if (keep & bypass & UINT32_C(1) << t)
      context_log(s->context, CALM_LOG_WARNING,
                  "%s:%u: %s is both kept and bypassed at %s; bypassed counts",
                  directive->place.file, directive->place.line,
                  s->layer->tensors[t].name, s->arch->levels[level].name);
  r->nest->kept[level] |= keep;
  r->nest->kept[level] &= ~bypass;
  return CALM_OK;
}

static calm_status read_directive(mapping_reader *r,
                                  const accel_yaml *directive) {
  const accel_subject *s = &r->subject;
  accel_directive_type type;
  uint32_t level;
  if (directive->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(s->context, CALM_BAD_INPUT, directive->place,
                            "a directive has keys: target, type, ...");
  const accel_yaml *word = accel_yaml_get(directive, "type");
  if (!word)
    return accel_place_fail(s->context, CALM_BAD_INPUT, directive->place,
                            "a directive without 'type': temporal, spatial or "
                            "datatype");
  TRY(accel_directive_read_type(&type, s, word));
  TRY(accel_directive_find_level(&level, s, directive, type));
  TRY(accel_directive_check_keys(s, directive, type, false));
  switch (type) {
    case ACCEL_DIRECTIVE_TEMPORAL:
      return read_loops(r, directive, &r->temporal[level], level, "temporal");
    case ACCEL_DIRECTIVE_SPATIAL: return read_spatial(r, directive, level);
    case ACCEL_DIRECTIVE_TENSORS: return read_tensors(r, directive, level);
    default:
      return accel_place_fail(s->context, CALM_BAD_INPUT, word->place,
                              "'%s' is a constraint, not part of a mapping; "
                              "'constraints:' has room for it",
                              word->text);
  }
}

/* ---- The nest ------------------------------------------------------------ */

static void add_loop(accel_nest *nest, const block *b, uint32_t dimension,
                     uint32_t level, accel_loop_kind kind) {
  if (b->bound[dimension] <= 1) return;
  nest->loops[nest->loop_count++] =
      (accel_loop){.bound = b->bound[dimension],
                   .residual = b->residual[dimension],
                   .dimension = dimension,
                   .level = level,
                   .kind = kind};
}

static calm_status make_loops(mapping_reader *r) {
  accel_nest *nest = r->nest;
  const uint32_t dimensions = r->subject.layer->dimension_count;
  ARENA_ARRAY(r->subject.arena, nest->loops,
              (size_t)nest->level_count * dimensions * 2);
  for (uint32_t level = 0; level < nest->level_count; level++) {
    const block *spatial = &r->spatial[level], *temporal = &r->temporal[level];
    for (uint32_t i = 0; i < dimensions; i++)
      add_loop(nest, spatial, spatial->order[i], level,
               i < spatial->split ? ACCEL_SPATIAL_X : ACCEL_SPATIAL_Y);
    for (uint32_t i = 0; i < dimensions; i++)
      add_loop(nest, temporal, temporal->order[i], level, ACCEL_TEMPORAL);
  }
  return CALM_OK;
}

/* Kept unless something says otherwise, such as the node of a version 0.4
   architecture. */
static calm_status default_kept(mapping_reader *r, uint32_t level) {
  uint32_t keep, bypass;
  TRY(accel_node_tensors(&keep, &bypass, &r->subject, level));
  r->nest->kept[level] = accel_tensors_all(r->subject.layer) & ~bypass;
  return CALM_OK;
}

static calm_status default_split(mapping_reader *r, uint32_t level) {
  const accel_yaml *node = accel_node_group(r->subject.arch, level, "spatial");
  const accel_yaml *split = node ? accel_directive_get(node, "split") : NULL;
  if (!split) return CALM_OK;
  return accel_split_read(&r->spatial[level].split, &r->subject, split);
}

static calm_status begin_mapping(mapping_reader *r) {
  const uint32_t levels = r->subject.arch->level_count;
  arena *a = r->subject.arena;
  r->nest->level_count = levels;
  ARENA_ARRAY(a, r->nest->kept, levels);
  ARENA_ARRAY(a, r->nest->unlinked, levels);
  ARENA_ARRAY(a, r->temporal, levels);
  ARENA_ARRAY(a, r->spatial, levels);
  for (uint32_t level = 0; level < levels; level++) {
    default_block(&r->temporal[level], r->subject.layer);
    default_block(&r->spatial[level], r->subject.layer);
    TRY(default_kept(r, level));
    TRY(default_split(r, level));
  }
  return CALM_OK;
}

static calm_status no_section(const accel_yaml *root, const accel_subject *s) {
  const accel_listing found = accel_names_list(root->keys, root->count);
  return accel_place_fail(s->context, CALM_BAD_INPUT, root->place,
                          "no section 'mapping' in this file%s%s%s",
                          *found.text ? "; it has " : "", found.text,
                          accel_constraints_present(root)
                              ? " (constraints leave a mapping open, they "
                                "are none)"
                              : "");
}

/* `mapping`: the list itself; {targets: ...} and {nodes: ...} are what people
   bring along from other files. */
static calm_status find_list(const accel_yaml **out, const accel_yaml *root,
                             const accel_subject *s) {
  const accel_yaml *list = accel_yaml_get(root, "mapping");
  if (!list) return no_section(root, s);
  if (accel_yaml_get(list, "nodes"))
    return accel_place_fail(s->context, CALM_UNSUPPORTED, list->place,
                            "a tree of loops (fused mapping) is not "
                            "supported; a list of directives is");
  if (accel_yaml_get(list, "targets")) list = accel_yaml_get(list, "targets");
  if (list->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(s->context, CALM_BAD_INPUT, list->place,
                            "a mapping is a list of directives: - {target: "
                            "..., type: temporal, factors: ...}");
  *out = list;
  return CALM_OK;
}

calm_status accel_nest_read(accel_nest *out, const accel_yaml *root,
                            const accel_arch *arch, const accel_layer *layer,
                            arena *a) {
  accel_nest nest = {0};
  mapping_reader r = {.subject = {arch, layer, a->context, a}, .nest = &nest};
  const accel_yaml *list;
  TRY(find_list(&list, root, &r.subject));
  TRY(begin_mapping(&r));
  for (uint32_t i = 0; i < list->count; i++)
    TRY(read_directive(&r, list->items[i]));
  TRY(make_loops(&r));
  *out = nest;
  return CALM_OK;
}
