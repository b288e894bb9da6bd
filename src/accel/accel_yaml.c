#include "accel/accel_yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "base/vector.h"

/* Nothing that people write is deeper; libyaml itself has no limit. */
enum { MAX_DEPTH = 64 };
/* Merging copies keys, so a small file could ask for many of them. */
enum { MAX_NODES = 1000000 };

typedef struct anchor {
  const char *name;
  accel_yaml *node;
} anchor;

/* A collection that is not closed yet. */
typedef struct open_node {
  accel_yaml *node;
  VECTOR(accel_yaml *) items;
  VECTOR(const char *) keys;
  VECTOR(accel_place) places;
  bool has_key; /* of a mapping: the last key waits for its value */
} open_node;

typedef struct builder {
  arena *arena;
  calm_context *context;
  const char *file;
  yaml_parser_t parser;
  open_node open[MAX_DEPTH];
  uint32_t depth;
  VECTOR(anchor) anchors;
  accel_yaml *root;
  uint32_t nodes, documents;
} builder;

calm_status accel_place_fail(calm_context *context, calm_status status,
                             accel_place place, const char *format, ...) {
  char what[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  if (!place.file) return context_fail(context, status, "%s", what);
  return context_fail(context, status, "%s:%u:%u: %s", place.file, place.line,
                      place.column, what);
}

bool accel_yaml_same_key(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
      return false;
  return *a == *b;
}

static uint32_t find_key(const accel_yaml *node, const char *key) {
  for (uint32_t i = 0; i < node->count; i++)
    if (accel_yaml_same_key(node->keys[i], key)) return i;
  return CALM_NONE;
}

accel_yaml *accel_yaml_get(const accel_yaml *node, const char *key) {
  if (!node || node->kind != ACCEL_YAML_MAPPING) return NULL;
  const uint32_t i = find_key(node, key);
  return i == CALM_NONE ? NULL : node->items[i];
}

/* ---- Merging ------------------------------------------------------------- */

/* A mapping with room for `count` keys. */
static calm_status new_mapping(accel_yaml **out, const accel_yaml *like,
                               uint32_t count, arena *a) {
  accel_yaml *m;
  ARENA_ARRAY(a, m, 1);
  *m = *like;
  m->count = 0;
  ARENA_ARRAY(a, m->keys, count);
  ARENA_ARRAY(a, m->key_places, count);
  ARENA_ARRAY(a, m->items, count);
  *out = m;
  return CALM_OK;
}

static void put(accel_yaml *m, const accel_yaml *from, uint32_t i) {
  m->keys[m->count] = from->keys[i];
  m->key_places[m->count] = from->key_places[i];
  m->items[m->count++] = from->items[i];
}

/* The keys of `own` with those of `more` that it lacks; with `deep`, mappings
   that both have are merged likewise. */
static calm_status merged(accel_yaml **out, accel_yaml *own,
                          const accel_yaml *more, bool deep, uint32_t depth,
                          arena *a) {
  accel_yaml *m;
  TRY(new_mapping(&m, own, own->count + more->count, a));
  for (uint32_t i = 0; i < own->count; i++) put(m, own, i);
  for (uint32_t i = 0; i < more->count; i++) {
    const uint32_t at = find_key(m, more->keys[i]);
    if (at == CALM_NONE) {
      put(m, more, i);
    } else if (deep && depth < MAX_DEPTH &&
               m->items[at]->kind == ACCEL_YAML_MAPPING &&
               more->items[i]->kind == ACCEL_YAML_MAPPING) {
      TRY(merged(&m->items[at], m->items[at], more->items[i], true, depth + 1,
                 a));
    }
  }
  *out = m;
  return CALM_OK;
}

static bool is_merge(const char *key) {
  return !strcmp(key, "<<") || !strcmp(key, "<<<");
}

static calm_status count_nodes(builder *b, uint32_t more, accel_place place) {
  if (more > MAX_NODES - b->nodes)
    return accel_place_fail(b->context, CALM_UNSUPPORTED, place,
                            "more than %d keys and values, those that are "
                            "merged included",
                            MAX_NODES);
  b->nodes += more;
  return CALM_OK;
}

/* `into` with what stands under a merge key: a mapping or a list of them. */
static calm_status merge_value(builder *b, accel_yaml **into,
                               const accel_yaml *value, bool deep) {
  if (value->kind == ACCEL_YAML_MAPPING) {
    TRY(count_nodes(b, (*into)->count + value->count, value->place));
    return merged(into, *into, value, deep, 0, b->arena);
  }
  if (value->kind == ACCEL_YAML_SCALAR)
    return accel_place_fail(b->context, CALM_BAD_INPUT, value->place,
                            "only a mapping, or a list of them, can be merged");
  for (uint32_t i = 0; i < value->count; i++) {
    const accel_yaml *item = value->items[i];
    if (item->kind != ACCEL_YAML_MAPPING)
      return accel_place_fail(b->context, CALM_BAD_INPUT, item->place,
                              "only a mapping can be merged");
    TRY(count_nodes(b, (*into)->count + item->count, item->place));
    TRY(merged(into, *into, item, deep, 0, b->arena));
  }
  return CALM_OK;
}

/* Replace a mapping's merge keys by what they bring. */
static calm_status resolve_merges(builder *b, accel_yaml *node) {
  accel_yaml *own;
  bool any = false;
  for (uint32_t i = 0; i < node->count; i++) any |= is_merge(node->keys[i]);
  if (!any) return CALM_OK;
  TRY(new_mapping(&own, node, node->count, b->arena));
  for (uint32_t i = 0; i < node->count; i++)
    if (!is_merge(node->keys[i])) put(own, node, i);
  for (uint32_t i = 0; i < node->count; i++)
    if (is_merge(node->keys[i]))
      TRY(merge_value(b, &own, node->items[i], node->keys[i][2] == '<'));
  *node = *own;
  return CALM_OK;
}

/* ---- Events -------------------------------------------------------------- */

static accel_place place_of(const builder *b, yaml_mark_t mark) {
  return (accel_place){b->file, (uint32_t)mark.line + 1,
                       (uint32_t)mark.column + 1};
}

static calm_status new_node(builder *b, accel_yaml **out, accel_yaml_kind kind,
                            const yaml_char_t *tag, const yaml_event_t *event) {
  TRY(count_nodes(b, 1, place_of(b, event->start_mark)));
  ARENA_ARRAY(b->arena, *out, 1);
  (*out)->kind = kind;
  (*out)->place = place_of(b, event->start_mark);
  if (!tag) return CALM_OK;
  (*out)->tag =
      arena_string(b->arena, (const char *)tag, strlen((const char *)tag));
  return (*out)->tag ? CALM_OK : context_no_memory(b->context);
}

/* A name for a node: of several with one name the last counts, as YAML says. */
static calm_status name_node(builder *b, const yaml_char_t *name,
                             accel_yaml *node) {
  if (!name) return CALM_OK;
  const char *copy =
      arena_string(b->arena, (const char *)name, strlen((const char *)name));
  if (!copy) return context_no_memory(b->context);
  VECTOR_PUSH(b->context, &b->anchors, (anchor){copy, node});
  return CALM_OK;
}

static calm_status add_key(builder *b, open_node *top, const accel_yaml *key) {
  if (key->kind != ACCEL_YAML_SCALAR)
    return accel_place_fail(b->context, CALM_BAD_INPUT, key->place,
                            "a key must be a word, not a list or a mapping");
  for (uint32_t i = 0; i < top->keys.count; i++)
    if (accel_yaml_same_key(top->keys.data[i], key->text))
      return accel_place_fail(
          b->context, CALM_BAD_INPUT, key->place,
          "the key '%s' stands here twice; the other one is in line %u",
          key->text, top->places.data[i].line);
  VECTOR_PUSH(b->context, &top->keys, key->text);
  VECTOR_PUSH(b->context, &top->places, key->place);
  top->has_key = true;
  return CALM_OK;
}

/* A complete node, or one that was just opened, into what holds it. */
static calm_status attach(builder *b, accel_yaml *node) {
  if (b->depth == 0) {
    b->root = node;
    return CALM_OK;
  }
  open_node *top = &b->open[b->depth - 1];
  if (top->node->kind == ACCEL_YAML_MAPPING && !top->has_key)
    return add_key(b, top, node);
  top->has_key = false;
  VECTOR_PUSH(b->context, &top->items, node);
  return CALM_OK;
}

static calm_status open_collection(builder *b, accel_yaml *node) {
  if (b->depth == MAX_DEPTH)
    return accel_place_fail(b->context, CALM_UNSUPPORTED, node->place,
                            "nested more than %d deep", MAX_DEPTH);
  open_node *top = b->depth ? &b->open[b->depth - 1] : NULL;
  if (top && top->node->kind == ACCEL_YAML_MAPPING && !top->has_key)
    return add_key(b, top, node);
  TRY(attach(b, node));
  b->open[b->depth++] = (open_node){.node = node};
  return CALM_OK;
}

#define COPY_OUT(b, out, v)                                                   \
  do {                                                                        \
    ARENA_ARRAY((b)->arena, (out), (v)->count);                               \
    if ((v)->count) memcpy((out), (v)->data, (v)->count * sizeof *(v)->data); \
  } while (0)

static calm_status fill_collection(builder *b, open_node *top) {
  accel_yaml *node = top->node;
  node->count = top->items.count;
  COPY_OUT(b, node->items, &top->items);
  if (node->kind == ACCEL_YAML_SEQUENCE) return CALM_OK;
  COPY_OUT(b, node->keys, &top->keys);
  COPY_OUT(b, node->key_places, &top->places);
  return resolve_merges(b, node);
}

static void drop_open(builder *b, open_node *top) {
  VECTOR_FREE(b->context, &top->items);
  VECTOR_FREE(b->context, &top->keys);
  VECTOR_FREE(b->context, &top->places);
}

static calm_status close_collection(builder *b) {
  open_node *top = &b->open[b->depth - 1];
  const calm_status status = fill_collection(b, top);
  drop_open(b, top);
  b->depth--;
  return status;
}

static calm_status take_scalar(builder *b, const yaml_event_t *event) {
  accel_yaml *node;
  TRY(new_node(b, &node, ACCEL_YAML_SCALAR, event->data.scalar.tag, event));
  const char *bytes = (const char *)event->data.scalar.value;
  if (memchr(bytes, '\0', event->data.scalar.length))
    return accel_place_fail(b->context, CALM_BAD_INPUT, node->place,
                            "a NUL character");
  node->text = arena_string(b->arena, bytes, event->data.scalar.length);
  if (!node->text) return context_no_memory(b->context);
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  TRY(name_node(b, event->data.scalar.anchor, node));
  return attach(b, node);
}

static bool is_open(const builder *b, const accel_yaml *node) {
  for (uint32_t i = 0; i < b->depth; i++)
    if (b->open[i].node == node) return true;
  return false;
}

static calm_status take_alias(builder *b, const yaml_event_t *event) {
  const char *name = (const char *)event->data.alias.anchor;
  for (uint32_t i = b->anchors.count; i-- > 0;) {
    if (strcmp(b->anchors.data[i].name, name)) continue;
    if (is_open(b, b->anchors.data[i].node))
      return accel_place_fail(b->context, CALM_BAD_INPUT,
                              place_of(b, event->start_mark),
                              "*%s stands inside of what it names", name);
    return attach(b, b->anchors.data[i].node);
  }
  return accel_place_fail(b->context, CALM_BAD_INPUT,
                          place_of(b, event->start_mark),
                          "nothing above is named &%s", name);
}

static calm_status take_event(builder *b, const yaml_event_t *event) {
  accel_yaml *node;
  switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
      if (b->documents++ == 0) return CALM_OK;
      return accel_place_fail(b->context, CALM_UNSUPPORTED,
                              place_of(b, event->start_mark),
                              "a second document; give each its own file");
    case YAML_SCALAR_EVENT: return take_scalar(b, event);
    case YAML_ALIAS_EVENT: return take_alias(b, event);
    case YAML_SEQUENCE_START_EVENT:
      TRY(new_node(b, &node, ACCEL_YAML_SEQUENCE,
                   event->data.sequence_start.tag, event));
      TRY(name_node(b, event->data.sequence_start.anchor, node));
      return open_collection(b, node);
    case YAML_MAPPING_START_EVENT:
      TRY(new_node(b, &node, ACCEL_YAML_MAPPING, event->data.mapping_start.tag,
                   event));
      TRY(name_node(b, event->data.mapping_start.anchor, node));
      return open_collection(b, node);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return close_collection(b);
    default: return CALM_OK;
  }
}

static calm_status syntax_error(builder *b) {
  if (b->parser.error == YAML_MEMORY_ERROR)
    return context_no_memory(b->context);
  const char *problem = b->parser.problem ? b->parser.problem : "not YAML";
  return accel_place_fail(b->context, CALM_BAD_INPUT,
                          place_of(b, b->parser.problem_mark), "%s", problem);
}

static calm_status take_events(builder *b) {
  yaml_event_t event;
  for (bool done = false; !done;) {
    if (!yaml_parser_parse(&b->parser, &event)) return syntax_error(b);
    done = event.type == YAML_STREAM_END_EVENT;
    const calm_status status = take_event(b, &event);
    yaml_event_delete(&event);
    TRY(status);
  }
  return CALM_OK;
}

static calm_status parse(builder *b, const char *bytes, size_t length) {
  if (!yaml_parser_initialize(&b->parser)) return context_no_memory(b->context);
  yaml_parser_set_input_string(&b->parser, (const unsigned char *)bytes,
                               length);
  const calm_status status = take_events(b);
  yaml_parser_delete(&b->parser);
  while (b->depth > 0) drop_open(b, &b->open[--b->depth]);
  VECTOR_FREE(b->context, &b->anchors);
  return status;
}

/* ---- Whole files --------------------------------------------------------- */

/* Templates would be read as mappings inside mappings, or not at all. */
static calm_status refuse_templates(calm_context *context, const char *name,
                                    const char *bytes, size_t length) {
  accel_place at = {name, 1, 1};
  bool comment = false;
  for (size_t i = 0; i + 1 < length; i++, at.column++) {
    if (bytes[i] == '\n') {
      at.line++;
      at.column = 0;
      comment = false;
    }
    comment |= bytes[i] == '#';
    if (comment || bytes[i] != '{') continue;
    if (bytes[i + 1] == '{' || bytes[i + 1] == '%')
      return accel_place_fail(context, CALM_UNSUPPORTED, at,
                              "a template (jinja: '{%c'); render the file "
                              "first, calm reads plain YAML",
                              bytes[i + 1]);
  }
  return CALM_OK;
}

calm_status accel_yaml_parse(accel_yaml **out, const char *name,
                             const char *bytes, size_t length, arena *a) {
  builder b = {.arena = a, .context = a->context};
  b.file = arena_string(a, name, strlen(name));
  if (!b.file) return context_no_memory(a->context);
  TRY(refuse_templates(a->context, b.file, bytes, length));
  TRY(parse(&b, bytes, length));
  const accel_place top = {b.file, 1, 1};
  if (!b.root) {
    ARENA_ARRAY(a, b.root, 1);
    b.root->kind = ACCEL_YAML_MAPPING;
    b.root->place = top;
  }
  if (b.root->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(a->context, CALM_BAD_INPUT, b.root->place,
                            "a file begins with keys, such as 'problem:'");
  *out = b.root;
  return CALM_OK;
}

calm_status accel_yaml_open(accel_yaml **out, const char *path, arena *a) {
  file_map map;
  TRY(file_map_open(&map, a->context, path));
  const calm_status status =
      accel_yaml_parse(out, path, (const char *)map.bytes, map.length, a);
  file_map_close(&map);
  return status;
}

/* Two values of one top-level key. */
static calm_status join_values(accel_yaml **into, accel_yaml *more, arena *a) {
  if ((*into)->kind != ACCEL_YAML_MAPPING || more->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(a->context, CALM_BAD_INPUT, more->place,
                            "%s:%u has this section already",
                            (*into)->place.file, (*into)->place.line);
  for (uint32_t i = 0; i < more->count; i++) {
    const uint32_t at = find_key(*into, more->keys[i]);
    if (at != CALM_NONE && !accel_yaml_same_key(more->keys[i], "version"))
      return accel_place_fail(a->context, CALM_BAD_INPUT, more->key_places[i],
                              "%s:%u has '%s' already",
                              (*into)->key_places[at].file,
                              (*into)->key_places[at].line, more->keys[i]);
  }
  return merged(into, *into, more, false, 0, a);
}

calm_status accel_yaml_join(accel_yaml **out, accel_yaml *const *roots,
                            uint32_t count, arena *a) {
  accel_yaml *all = roots[0];
  for (uint32_t r = 1; r < count; r++) {
    accel_yaml *both;
    TRY(new_mapping(&both, all, all->count + roots[r]->count, a));
    for (uint32_t i = 0; i < all->count; i++) put(both, all, i);
    for (uint32_t i = 0; i < roots[r]->count; i++) {
      const uint32_t at = find_key(all, roots[r]->keys[i]);
      if (at == CALM_NONE)
        put(both, roots[r], i);
      else
        TRY(join_values(&both->items[at], roots[r]->items[i], a));
    }
    all = both;
  }
  *out = all;
  return CALM_OK;
}
