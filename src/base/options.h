/*
 * The options of the library, as one struct made from one table (options.def).
 */
#ifndef CALM_BASE_OPTIONS_H
#define CALM_BASE_OPTIONS_H

#include "base/arena.h"

/* The C type of each type of option. */
typedef uint32_t option_CHOICE; /* index into the choices of the value column */
typedef const char *option_TEXT; /* NULL: not given */
typedef uint64_t option_SIZE;    /* bytes; UINT64_MAX: not given */
typedef uint64_t option_NUMBER;  /* UINT64_MAX: not given */
typedef double option_SECONDS;
typedef bool option_SWITCH;

/* All values of an option that may be given several times, as given. */
typedef struct option_item {
  const char *text;
  const struct option_item *next;
} option_item;
typedef const option_item *option_LIST; /* NULL: not given */

struct calm_options {
  arena arena;
#define OPTION(field, name, type, verbs, value, initial, help) \
  option_##type field;
#include "base/options.def"
#undef OPTION
};

/* How many rows the table has. */
enum {
  OPTIONS_COUNT = 0
#define OPTION(field, name, type, verbs, value, initial, help) +1
#include "base/options.def"
#undef OPTION
};

/* An option that has another value than its default. */
typedef struct option_given {
  const char *name, *value;
} option_given;

typedef struct options_changed {
  const option_given *data;
  uint32_t count;
} options_changed;

/* Those of a verb, but for what changes no answer (threads, jobs, timing), in
   the order of the table; in the arena. */
calm_status options_changed_find(options_changed *out,
                                 const calm_options *options, const char *verb,
                                 arena *a);

/* The name of the chosen one among a CHOICE's values, e.g. "exact"; the result
   points into the table and ends at '|' or NUL, *length tells where. */
const char *options_choice_name(size_t *length, const char *option,
                                uint32_t choice);

#endif
