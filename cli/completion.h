/*
 * Completion scripts for shells, made from the tables that the tool runs on, so
 * that they know what the tool knows.  completion.c says what can follow, each
 * completion_SHELL.c writes it down for its shell.
 */
#ifndef CALM_CLI_COMPLETION_H
#define CALM_CLI_COMPLETION_H

#include "cli.h"

typedef enum completion_kind {
  COMPLETE_SWITCH,  /* no value */
  COMPLETE_CHOICES, /* words between '|' */
  COMPLETE_FILE,
  COMPLETE_VALUE /* one that nobody can guess */
} completion_kind;

typedef struct completion_option {
  const char *name, *help, *value;
  char letter; /* 0: none */
  bool on;     /* a switch that begins on: --no-NAME is of use */
  completion_kind kind;
} completion_option;

/* Option number `index` of a command; false past the last. */
bool completion_option_at(completion_option *out, const command *c,
                          size_t index);

/* What the operands of a command are: words between spaces, or files of these
   endings between spaces; NULL: neither. */
typedef struct completion_operands {
  const char *words, *endings;
} completion_operands;
completion_operands completion_operands_of(const command *c);

/* Print words with spaces between them, where a list has '|'. */
void completion_print_choices(const char *choices);

/* Print words of which some letters get a backslash in front; what ends a text
   in single quotes is written as '\''. */
void completion_print_quoted(const char *words, const char *escaped);

void completion_print_bash(void);
void completion_print_zsh(void);
void completion_print_fish(void);

#endif
