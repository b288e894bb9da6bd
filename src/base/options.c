#include "base/options.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"

typedef enum option_type {
  CHOICE,
  TEXT,
  SIZE,
  NUMBER,
  SECONDS,
  SWITCH,
  LIST
} option_type;

static const struct option_row {
  calm_option_info info;
  option_type type;
  size_t field;
} rows[] = {
#define OPTION(field, name, type, verbs, value, initial, help) \
  {{name, verbs, value, initial, help}, type, offsetof(calm_options, field)},
#include "base/options.def"
#undef OPTION
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

const calm_option_info *calm_option_at(size_t index) {
  return index < ROW_COUNT ? &rows[index].info : NULL;
}

static const struct option_row *find_row(const char *name) {
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (!strcmp(rows[i].info.name, name)) return &rows[i];
  return NULL;
}

/* Step over `count` choices in "a|b|c". */
static const char *skip_choices(const char *choices, uint32_t count) {
  for (; count; count--) {
    choices = strchr(choices, '|');
    if (!choices) return NULL;
    choices++;
  }
  return choices;
}

const char *options_choice_name(size_t *length, const char *option,
                                uint32_t choice) {
  const char *name = skip_choices(find_row(option)->info.value, choice);
  assert(name);
  *length = strcspn(name, "|");
  return name;
}

static bool parse_choice(uint32_t *out, const char *choices,
                         const char *value) {
  size_t length = strlen(value);
  for (uint32_t i = 0;; i++) {
    const char *name = skip_choices(choices, i);
    if (!name) return false;
    if (strcspn(name, "|") == length && !memcmp(name, value, length)) {
      *out = i;
      return true;
    }
  }
}

static bool parse_switch(bool *out, const char *value) {
  *out = !strcmp(value, "on");
  return *out || !strcmp(value, "off");
}

static bool parse_text(calm_options *options, const char **out,
                       const char *value) {
  *out = arena_string(&options->arena, value, strlen(value));
  return *out != NULL;
}

static bool append_text(calm_options *options, option_LIST *list,
                        const char *value) {
  option_item *item = arena_calloc(&options->arena, 1, sizeof *item);
  if (!item || !parse_text(options, &item->text, value)) return false;
  if (!*list) {
    *list = item;
    return true;
  }
  option_LIST last = *list;
  while (last->next) last = last->next;
  ((option_item *)(uintptr_t)last)->next = item;
  return true;
}

static bool parse(calm_options *options, const struct option_row *row,
                  const char *value) {
  void *field = (char *)options + row->field;
  switch (row->type) {
    case CHOICE: return parse_choice(field, row->info.value, value);
    case TEXT: return parse_text(options, field, value);
    case SIZE: return number_parse_size(field, value);
    case NUMBER: return number_parse(field, value, strlen(value));
    case SECONDS: return number_parse_decimal(field, value);
    case SWITCH: return parse_switch(field, value);
    case LIST: return append_text(options, field, value);
  }
  return false;
}

static const char *describe_value(const struct option_row *row) {
  switch (row->type) {
    case CHOICE: return row->info.value;
    case TEXT:
    case LIST: return "a text";
    case SIZE: return "a size such as 65536, 64K or 1M";
    case NUMBER: return "a whole number from 0 to 2^64-1";
    case SECONDS: return "seconds such as 10 or 0.5";
    case SWITCH: return "on or off";
  }
  return "";
}

static calm_status set_row(calm_options *options, const struct option_row *row,
                           const char *value) {
  if (parse(options, row, value)) return CALM_OK;
  if (row->type == TEXT || row->type == LIST)
    return context_no_memory(options->arena.context);
  return context_fail(options->arena.context, CALM_MISUSE,
                      "--%s: '%s' is not %s%s", row->info.name, value,
                      row->type == CHOICE ? "one of " : "",
                      describe_value(row));
}

/* What has another default for another verb is a row for each, all of them
   set. */
calm_status calm_options_set(calm_options *options, const char *name,
                             const char *value) {
  bool known = false;
  for (size_t i = 0; i < ROW_COUNT; i++) {
    if (strcmp(rows[i].info.name, name)) continue;
    TRY(set_row(options, &rows[i], value));
    known = true;
  }
  if (known) return CALM_OK;
  return context_fail(options->arena.context, CALM_MISUSE,
                      "unknown option '%s'", name);
}

static void set_absent(calm_options *options, const struct option_row *row) {
  void *field = (char *)options + row->field;
  const uint64_t absent = UINT64_MAX;
  if (row->type == SIZE || row->type == NUMBER)
    memcpy(field, &absent, sizeof absent);
}

static calm_status set_defaults(calm_options *options) {
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (rows[i].info.initial)
      TRY(set_row(options, &rows[i], rows[i].info.initial));
    else
      set_absent(options, &rows[i]);
  return CALM_OK;
}

calm_status calm_options_new(calm_options **out, calm_context *context) {
  calm_options *options = context_reallocate(context, NULL, 0, sizeof *options);
  if (!options) return context_no_memory(context);
  memset(options, 0, sizeof *options);
  arena_init(&options->arena, context);
  calm_status status = set_defaults(options);
  if (status == CALM_OK)
    *out = options;
  else
    calm_options_free(options);
  return status;
}

void calm_options_free(calm_options *options) {
  if (!options) return;
  calm_context *context = options->arena.context;
  arena_free(&options->arena);
  context_reallocate(context, options, sizeof *options, 0);
}
