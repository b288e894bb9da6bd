/* The table of memory models and the text of their columns. */
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "memory/memory.h"

static const memory_model models[] = {
    {.name = "plain", .align = 1, .round = 1},
    {.name = "serenity",
     .align = 1,
     .round = 1,
     .views = VIEWS_IDENTITY,
     .concat = CONCAT_ELIDE},
    {.name = "tflm-default", .align = 16, .round = 16},
};

const memory_model *memory_model_find(const char *name) {
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    if (!strcmp(models[i].name, name)) return &models[i];
  return NULL;
}

enum { MAX_UNIT = 1 << 30, MAX_CHOICES = 4 };

/* The columns that choose one of a few words, in the order of their enum. */
static const struct choice_column {
  const char *name;
  size_t field;
  const char *words[MAX_CHOICES];
} choice_columns[] = {
    {"inputs",
     offsetof(memory_model, inputs),
     {"until-use", "whole-run", "external"}},
    {"outputs", offsetof(memory_model, outputs), {"to-end", "external"}},
    {"views", offsetof(memory_model, views), {"none", "identity"}},
    {"concat", offsetof(memory_model, concat), {"copy", "elide"}},
    {"variables", offsetof(memory_model, variables), {"external", "whole-run"}},
};

static void set_choice(memory_model *model, const struct choice_column *column,
                       int choice) {
  _Static_assert(sizeof(memory_inputs) == sizeof choice &&
                     sizeof(memory_outputs) == sizeof choice &&
                     sizeof(memory_views) == sizeof choice &&
                     sizeof(memory_concat) == sizeof choice &&
                     sizeof(memory_variables) == sizeof choice,
                 "every column of words has the size of an int");
  memcpy((char *)model + column->field, &choice, sizeof choice);
}

/* "--NAME: 'VALUE' is not WHAT", with the message built by the caller. */
static calm_status fail_value(calm_context *context, const char *column,
                              const char *value, text *what) {
  char *list;
  TRY(text_finish(what, &list));
  context_fail(context, CALM_MISUSE, "--%s: '%s' is not %s", column, value,
               list);
  calm_text_free(context, list);
  return CALM_MISUSE;
}

static calm_status fail_choice(calm_context *context,
                               const struct choice_column *column,
                               const char *value) {
  text what;
  text_init(&what, context);
  text_format(&what, "one of ");
  for (int i = 0; i < MAX_CHOICES && column->words[i]; i++)
    text_format(&what, "%s%s", i ? ", " : "", column->words[i]);
  return fail_value(context, column->name, value, &what);
}

static calm_status override_choice(memory_model *model, calm_context *context,
                                   const struct choice_column *column,
                                   const char *value) {
  for (int i = 0; i < MAX_CHOICES && column->words[i]; i++)
    if (!strcmp(column->words[i], value)) {
      set_choice(model, column, i);
      return CALM_OK;
    }
  return fail_choice(context, column, value);
}

static calm_status override_unit(uint64_t *unit, calm_context *context,
                                 const char *column, const char *value) {
  uint64_t bytes;
  if (number_parse_size(&bytes, value) && bytes > 0 && bytes <= MAX_UNIT) {
    *unit = bytes;
    return CALM_OK;
  }
  return context_fail(context, CALM_MISUSE,
                      "--%s: '%s' is not a size from 1 to %d bytes", column,
                      value, MAX_UNIT);
}

static void add_elementwise_kinds(uint64_t *kinds) {
  for (uint32_t kind = 0; kind < OP_OPAQUE; kind++)
    if (op_kind_flags((op_kind)kind) & OP_ELEMENTWISE) bits_add(kinds, kind);
}

/* One word of the list: a kind, or all element-wise ones. */
static calm_status add_kinds(uint64_t *kinds, calm_context *context,
                             const char *word, size_t length) {
  text name;
  text_init(&name, context);
  text_add(&name, word, length);
  if (name.failed) {
    text_free(&name);
    return context_no_memory(context);
  }
  op_kind kind = op_kind_find(name.data);
  bool all = !strcmp(name.data, "elementwise");
  if (all)
    add_elementwise_kinds(kinds);
  else if (kind != OP_OPAQUE)
    bits_add(kinds, kind);
  text_free(&name);
  return all || kind != OP_OPAQUE ? CALM_OK : CALM_MISUSE;
}

static calm_status fail_kinds(calm_context *context, const char *value) {
  text what;
  text_init(&what, context);
  text_format(&what, "none, elementwise, or a list of operator kinds such as ");
  const char *separator = "";
  for (uint32_t kind = 0; kind < OP_OPAQUE; kind++)
    if (op_kind_flags((op_kind)kind) & OP_ELEMENTWISE) {
      text_format(&what, "%s%s", separator, op_kind_name((op_kind)kind));
      separator = ",";
    }
  return fail_value(context, "inplace", value, &what);
}

/* "none", or words between commas. */
static calm_status override_inplace(memory_model *model, calm_context *context,
                                    const char *value) {
  uint64_t kinds[OP_KIND_WORDS] = {0};
  for (const char *word = value; strcmp(value, "none") && word;) {
    size_t length = strcspn(word, ",");
    calm_status status = add_kinds(kinds, context, word, length);
    if (status == CALM_MISUSE) return fail_kinds(context, value);
    TRY(status);
    word = word[length] ? word + length + 1 : NULL;
  }
  memcpy(model->inplace, kinds, sizeof kinds);
  return CALM_OK;
}

calm_status memory_model_override(memory_model *model, calm_context *context,
                                  const char *column, const char *value) {
  for (size_t i = 0; i < sizeof choice_columns / sizeof *choice_columns; i++)
    if (!strcmp(choice_columns[i].name, column))
      return override_choice(model, context, &choice_columns[i], value);
  if (!strcmp(column, "align"))
    return override_unit(&model->align, context, column, value);
  if (!strcmp(column, "round"))
    return override_unit(&model->round, context, column, value);
  if (!strcmp(column, "inplace"))
    return override_inplace(model, context, value);
  return context_fail(context, CALM_MISUSE,
                      "a memory model has no column '%s'; it has inputs, "
                      "outputs, align, round, inplace, views, concat and "
                      "variables",
                      column);
}
