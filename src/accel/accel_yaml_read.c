/*
 * From libyaml's events to trees.  A node is complete when it is closed; then
 * its merge keys are resolved and its weight (its nodes, as if each alias were
 * a copy) and its height are known, so that an alias costs what it stands for.
 */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "accel/accel_yaml_parts.h"
#include "base/file.h"
#include "base/number.h"
#include "base/vector.h"

/* Names are looked for one by one; a file is read as a whole. */
enum { MAX_ANCHORS = 1024, MAX_BYTES = 1 << 26 };

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
  const char *file, *bytes;
  size_t length;
  yaml_parser_t parser;
  open_node open[ACCEL_YAML_DEPTH];
  uint32_t depth;
  VECTOR(anchor) anchors;
  accel_yaml *root;
  uint32_t left, documents;
  size_t brace; /* 1 + where a '{' stood, if it was the last event */
} builder;

/* ---- Merge keys ---------------------------------------------------------- */

static bool is_merge(const char *key) {
  return !strcmp(key, "<<") || !strcmp(key, "<<<");
}

/* `into` with what stands under a merge key: a mapping or a list of them. */
static calm_status merge_value(builder *b, accel_yaml **into,
                               const accel_yaml *value, bool deep) {
  if (value->kind == ACCEL_YAML_MAPPING)
    return accel_yaml_merge(into, value, deep, &b->left, b->arena);
  if (value->kind == ACCEL_YAML_SCALAR)
    return accel_place_fail(b->context, CALM_BAD_INPUT, value->place,
                            "only a mapping, or a list of them, can be merged");
  for (uint32_t i = 0; i < value->count; i++) {
    const accel_yaml *item = value->items[i];
    if (item->kind != ACCEL_YAML_MAPPING)
      return accel_place_fail(b->context, CALM_BAD_INPUT, item->place,
                              "only a mapping can be merged");
    TRY(accel_yaml_merge(into, item, deep, &b->left, b->arena));
  }
  return CALM_OK;
}

/* Replace a mapping's merge keys by what they bring. */
static calm_status resolve_merges(builder *b, accel_yaml *node) {
  accel_yaml *own;
  bool any = false;
  for (uint32_t i = 0; i < node->count; i++) any |= is_merge(node->keys[i]);
  if (!any) return CALM_OK;
  TRY(accel_yaml_new_mapping(&own, node, node->count, b->arena));
  for (uint32_t i = 0; i < node->count; i++)
    if (!is_merge(node->keys[i])) accel_yaml_put(own, node, i);
  for (uint32_t i = 0; i < node->count; i++)
    if (is_merge(node->keys[i]))
      TRY(merge_value(b, &own, node->items[i], node->keys[i][2] == '<'));
  accel_yaml_measure(own);
  *node = *own;
  return accel_yaml_spend(&b->left, own->weight, b->context, own->place);
}

/* ---- Events -------------------------------------------------------------- */

static accel_place place_of(const builder *b, yaml_mark_t mark) {
  return (accel_place){b->file, (uint32_t)mark.line + 1,
                       (uint32_t)mark.column + 1};
}

static calm_status new_node(builder *b, accel_yaml **out, accel_yaml_kind kind,
                            const yaml_char_t *tag, const yaml_event_t *event) {
  TRY(accel_yaml_spend(&b->left, 1, b->context,
                       place_of(b, event->start_mark)));
  ARENA_ARRAY(b->arena, *out, 1);
  (*out)->kind = kind;
  (*out)->height = (*out)->weight = 1;
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
  if (b->anchors.count == MAX_ANCHORS)
    return accel_place_fail(b->context, CALM_UNSUPPORTED, node->place,
                            "more than %d anchors", MAX_ANCHORS);
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
  if (top->keys.count == ACCEL_YAML_KEYS)
    return accel_place_fail(b->context, CALM_UNSUPPORTED, key->place,
                            "a mapping of more than %d keys", ACCEL_YAML_KEYS);
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
  if (b->depth == ACCEL_YAML_DEPTH)
    return accel_place_fail(b->context, CALM_UNSUPPORTED, node->place,
                            "nested more than %d deep", ACCEL_YAML_DEPTH);
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
  if (node->kind == ACCEL_YAML_MAPPING) {
    COPY_OUT(b, node->keys, &top->keys);
    COPY_OUT(b, node->key_places, &top->places);
    TRY(resolve_merges(b, node));
  }
  accel_yaml_measure(node);
  return CALM_OK;
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

static calm_status refuse_include(const builder *b, accel_place at) {
  return accel_place_fail(b->context, CALM_UNSUPPORTED, at,
                          "an !include; give each file by itself, calm joins "
                          "them");
}

static calm_status refuse_template(const builder *b, accel_place at) {
  return accel_place_fail(b->context, CALM_UNSUPPORTED, at,
                          "a template (jinja); render the file first, calm "
                          "reads plain YAML");
}

/* `{{` outside of quotes is a mapping whose key is a mapping, by the rules. */
static calm_status check_brace(builder *b, const yaml_event_t *event) {
  const size_t last = b->brace;
  b->brace = 0;
  if (event->type != YAML_MAPPING_START_EVENT ||
      event->data.mapping_start.style != YAML_FLOW_MAPPING_STYLE)
    return CALM_OK;
  if (last && last == event->start_mark.index)
    return refuse_template(b, place_of(b, event->start_mark));
  b->brace = event->start_mark.index + 1;
  return CALM_OK;
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
  if (!node->quoted && (strstr(node->text, "{{") || strstr(node->text, "{%")))
    return refuse_template(b, node->place);
  if (node->tag && !strncmp(node->tag, "!include", 8))
    return refuse_include(b, node->place);
  TRY(name_node(b, event->data.scalar.anchor, node));
  return attach(b, node);
}

static bool is_open(const builder *b, const accel_yaml *node) {
  for (uint32_t i = 0; i < b->depth; i++)
    if (b->open[i].node == node) return true;
  return false;
}

/* An alias counts as the copy that it stands for. */
static calm_status attach_alias(builder *b, accel_yaml *node,
                                accel_place place) {
  if (b->depth + node->height > ACCEL_YAML_DEPTH)
    return accel_place_fail(b->context, CALM_UNSUPPORTED, place,
                            "nested more than %d deep", ACCEL_YAML_DEPTH);
  TRY(accel_yaml_spend(&b->left, node->weight, b->context, place));
  return attach(b, node);
}

static calm_status take_alias(builder *b, const yaml_event_t *event) {
  const char *name = (const char *)event->data.alias.anchor;
  const accel_place place = place_of(b, event->start_mark);
  for (uint32_t i = b->anchors.count; i-- > 0;) {
    if (strcmp(b->anchors.data[i].name, name)) continue;
    if (is_open(b, b->anchors.data[i].node))
      return accel_place_fail(b->context, CALM_BAD_INPUT, place,
                              "*%s stands inside of what it names", name);
    return attach_alias(b, b->anchors.data[i].node, place);
  }
  return accel_place_fail(b->context, CALM_BAD_INPUT, place,
                          "nothing above is named &%s", name);
}

static calm_status take_event(builder *b, const yaml_event_t *event) {
  accel_yaml *node;
  TRY(check_brace(b, event));
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

/* ---- What is no YAML ----------------------------------------------------- */

static bool has_text(const char *line, size_t length, const char *text) {
  const size_t wanted = strlen(text);
  for (size_t i = 0; i + wanted <= length; i++)
    if (!memcmp(line + i, text, wanted)) return true;
  return false;
}

static bool begins_with(const char *line, size_t length, const char *text) {
  while (length && (*line == ' ' || *line == '\t')) line++, length--;
  return has_text(line, number_smaller(length, strlen(text)), text);
}

/* Templates and includes that are no YAML either: looked for up to the line in
   which reading ended. */
static calm_status explain(const builder *b, accel_place at) {
  const char *line = b->bytes, *end = b->bytes + b->length;
  for (uint32_t number = 1; line < end && number <= at.line; number++) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    const size_t length = (size_t)((next ? next : end) - line);
    const accel_place here = {b->file, number, 1};
    if (begins_with(line, length, "!include")) return refuse_include(b, here);
    if (begins_with(line, length, "{{") || begins_with(line, length, "{%") ||
        (number == at.line &&
         (has_text(line, length, "{{") || has_text(line, length, "{%"))))
      return refuse_template(b, here);
    line = next ? next + 1 : end;
  }
  return CALM_OK;
}

/* A tab in the indentation of the line at which reading ended.  libyaml ends at
   it, or later because it joined that line to the one before. */
static calm_status refuse_tab(const builder *b, accel_place at) {
  const char *line = b->bytes, *end = b->bytes + b->length;
  for (uint32_t number = 1; line < end && number < at.line; line++)
    number += *line == '\n';
  for (at.column = 1; line < end && *line == ' '; line++) at.column++;
  if (line == end || *line != '\t' || b->parser.flow_level > 0) return CALM_OK;
  return accel_place_fail(b->context, CALM_BAD_INPUT, at,
                          "a tab; YAML indents with spaces");
}

/* libyaml says where in bytes if characters are wrong, by a mark otherwise. */
static accel_place place_of_problem(const builder *b) {
  if (b->parser.error != YAML_READER_ERROR)
    return place_of(b, b->parser.problem_mark);
  accel_place at = {b->file, 1, 1};
  const size_t offset = b->parser.problem_offset;
  for (size_t i = 0; i < offset && i < b->length; i++) {
    at.column = b->bytes[i] == '\n' ? 1 : at.column + 1;
    at.line += b->bytes[i] == '\n';
  }
  return at;
}

static calm_status syntax_error(builder *b) {
  if (b->parser.error == YAML_MEMORY_ERROR)
    return context_no_memory(b->context);
  const char *problem = b->parser.problem ? b->parser.problem : "not YAML";
  const accel_place at = place_of_problem(b);
  TRY(explain(b, at));
  TRY(refuse_tab(b, at));
  return accel_place_fail(b->context, CALM_BAD_INPUT, at, "%s", problem);
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

static calm_status parse(builder *b) {
  if (!yaml_parser_initialize(&b->parser)) return context_no_memory(b->context);
  yaml_parser_set_input_string(&b->parser, (const unsigned char *)b->bytes,
                               b->length);
  const calm_status status = take_events(b);
  yaml_parser_delete(&b->parser);
  while (b->depth > 0) drop_open(b, &b->open[--b->depth]);
  VECTOR_FREE(b->context, &b->anchors);
  return status;
}

/* ---- Whole files --------------------------------------------------------- */

static calm_status parse_all(builder *b) {
  const accel_place top = {b->file, 1, 1};
  if (b->length > MAX_BYTES)
    return accel_place_fail(b->context, CALM_UNSUPPORTED, top,
                            "a file of more than %d MiB", MAX_BYTES >> 20);
  TRY(parse(b));
  if (!b->root) {
    ARENA_ARRAY(b->arena, b->root, 1);
    b->root->kind = ACCEL_YAML_MAPPING;
    b->root->place = top;
    accel_yaml_measure(b->root);
  }
  if (b->root->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(b->context, CALM_BAD_INPUT, b->root->place,
                            "a file begins with keys, such as 'problem:'");
  return CALM_OK;
}

calm_status accel_yaml_parse(accel_yaml **out, const char *name,
                             const char *bytes, size_t length, arena *a) {
  builder b = {.arena = a, .context = a->context, .left = ACCEL_YAML_NODES};
  b.file = arena_string(a, name, strlen(name));
  if (!b.file) return context_no_memory(a->context);
  b.bytes = bytes;
  b.length = length;
  TRY(parse_all(&b));
  *out = b.root;
  return CALM_OK;
}

/* Timeloop's older files are in the syntax of libconfig; what YAML makes of
   them says nothing to anybody. */
static calm_status refuse_libconfig(calm_context *context, const char *path) {
  const size_t length = strlen(path);
  if (length < 4 || strcmp(path + length - 4, ".cfg")) return CALM_OK;
  return context_fail(context, CALM_UNSUPPORTED,
                      "%s: a libconfig file, which Timeloop used before YAML; "
                      "write 'key = value;' as 'key: value', { } as nested "
                      "keys and ( ) as a list, in a .yaml file",
                      path);
}

calm_status accel_yaml_open(accel_yaml **out, const char *path, arena *a) {
  file_map map;
  TRY(refuse_libconfig(a->context, path));
  TRY(file_map_open(&map, a->context, path));
  const calm_status status =
      accel_yaml_parse(out, path, (const char *)map.bytes, map.length, a);
  file_map_close(&map);
  return status;
}
