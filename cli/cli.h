/*
 * What the commands share: parsed arguments, the context with its story on
 * stderr, and exit codes.  The tool uses the public header only.
 */
#ifndef CALM_CLI_CLI_H
#define CALM_CLI_CLI_H

#include "calm/calm.h"

enum exit_code {
  EXIT_DONE = 0,
  EXIT_GOAL_MISSED = 1, /* a budget, a fault found by check */
  EXIT_USAGE = 2,
  EXIT_INPUT = 3,    /* unreadable or unsupported input, unwritable output */
  EXIT_LIMIT = 4,    /* a limit before any answer */
  EXIT_INTERNAL = 5, /* a fault of ours */
  EXIT_INTERRUPTED = 130
};

enum { MAX_OPERANDS = 2, MAX_EMITS = 16 };

/* Options of the tool itself. */
typedef struct settings {
  bool json, quiet, verbose, dump, help;
  const char *output;
  const char *emits[MAX_EMITS]; /* "KIND=FILE" */
  int emit_count;
} settings;

typedef struct arguments {
  calm_context *context;
  calm_options *options;
  settings settings;
  const char *operands[MAX_OPERANDS];
  int operand_count;
} arguments;

typedef struct command {
  const char *name;
  const char *operands; /* "MODEL" */
  const char *summary;  /* one line */
  const char *examples; /* lines of the help */
  int least_operands, most_operands;
  int (*run)(arguments *arguments);
} command;

extern const command commands[]; /* ends with a NULL name */

/* Parse what stands behind the verb.  EXIT_DONE, or EXIT_USAGE with a message
   printed. */
int parse_arguments(arguments *out, const command *command, int count,
                    char **words);

void print_command_help(const command *command);

/* Print the message of a failed call; its exit code. */
int report_failure(const calm_context *context, calm_status status);

/* Print a rendered text to stdout and free it. */
int print_text(calm_context *context, calm_status status, char *text);

int run_inspect(arguments *arguments);
int run_plan(arguments *arguments);
int run_check(arguments *arguments);
int run_pack(arguments *arguments);

#endif
