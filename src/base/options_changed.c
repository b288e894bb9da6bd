/* The options that have another value than their default, as texts. */
#include <inttypes.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"

/* ---- Are two values one? ------------------------------------------------- */

static bool same_CHOICE(option_CHOICE a, option_CHOICE b) { return a == b; }
static bool same_SWITCH(option_SWITCH a, option_SWITCH b) { return a == b; }
static bool same_NUMBER(option_NUMBER a, option_NUMBER b) { return a == b; }
static bool same_SIZE(option_SIZE a, option_SIZE b) { return a == b; }
static bool same_SECONDS(option_SECONDS a, option_SECONDS b) {
  return a >= b && a <= b;
}
static bool same_TEXT(option_TEXT a, option_TEXT b) {
  return a && b ? !strcmp(a, b) : a == b;
}
static bool same_LIST(option_LIST a, option_LIST b) { return a == b; }

/* ---- Values as they are set ---------------------------------------------- */

static void write_CHOICE(text *t, const char *name, option_CHOICE value) {
  size_t length;
  const char *word = options_choice_name(&length, name, value);
  text_add(t, word, length);
}
static void write_SWITCH(text *t, const char *name, option_SWITCH value) {
  (void)name;
  text_format(t, "%s", value ? "on" : "off");
}
static void write_NUMBER(text *t, const char *name, option_NUMBER value) {
  (void)name;
  text_format(t, "%" PRIu64, value);
}
static void write_SIZE(text *t, const char *name, option_SIZE value) {
  write_NUMBER(t, name, value);
}
static void write_SECONDS(text *t, const char *name, option_SECONDS value) {
  (void)name;
  text_format(t, "%.17g", value);
}
static void write_TEXT(text *t, const char *name, option_TEXT value) {
  (void)name;
  text_format(t, "%s", value ? value : "");
}
static void write_LIST(text *t, const char *name, option_LIST value) {
  (void)name;
  for (option_LIST item = value; item; item = item->next)
    text_format(t, "%s%s", item->text, item->next ? "," : "");
}

/* ---- All of them --------------------------------------------------------- */

/* A word between spaces. */
static bool is_word_of(const char *words, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') &&
        (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

/* Those that change no answer differ from run to run, and must not show. */
static bool belongs(const char *name, const char *verbs, const char *verb) {
  return is_word_of(verbs, verb) &&
         !is_word_of("threads jobs timing journal", name);
}

static calm_status keep(options_changed *out, const calm_options *options,
                        const calm_options *initial, const char *verb,
                        arena *a) {
  option_given *given;
  text t;
  uint32_t count = 0;
  ARENA_ARRAY(a, given, OPTIONS_COUNT);
#define OPTION(field, option, type, verbs, value_, initial_, help) \
  if (belongs(option, verbs, verb) &&                              \
      !same_##type(options->field, initial->field)) {              \
    text_init(&t, a->context);                                     \
    write_##type(&t, option, options->field);                      \
    given[count].name = option;                                    \
    TRY(text_keep(&t, &given[count++].value, a));                  \
  }
#include "base/options.def"
#undef OPTION
  *out = (options_changed){given, count};
  return CALM_OK;
}

calm_status options_changed_find(options_changed *out,
                                 const calm_options *options, const char *verb,
                                 arena *a) {
  calm_options *initial;
  TRY(calm_options_new(&initial, a->context));
  const calm_status status = keep(out, options, initial, verb, a);
  calm_options_free(initial);
  return status;
}
