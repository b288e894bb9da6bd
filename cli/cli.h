/*
 * What the files of the tool share: the table of commands, what a command line
 * asks for, and exit codes.  The tool uses the public header only.
 *
 *   main.c      finds the command and runs it
 *   commands.c  the table of commands and exit codes
 *   opt.c       words of a command line -> a request
 *   help.c      help of the tool and of a command; man.c the same in roff
 *   story.c     stderr: errors, warnings, progress; Ctrl-C
 *   progress.c  a bar there
 *   completion.c  what shells complete; completion_SHELL.c for each
 *   output.c    stdout and files; nests.c files of calm map
 *   cmd_*.c     one command each
 */
#ifndef CALM_CLI_CLI_H
#define CALM_CLI_CLI_H

#include "calm/calm.h"

enum exit_code {
  EXIT_DONE = 0,
  EXIT_GOAL_MISSED = 1,
  EXIT_USAGE = 2,
  EXIT_FILE = 3,
  EXIT_LIMIT = 4,
  EXIT_INTERNAL = 5,
  EXIT_INTERRUPTED = 130
};

enum {
  MAX_OPERANDS = 1024,
  MAX_EMISSIONS = 16,
  MAX_PARTS = 16,
  MAX_INPUTS = 16,
  MAX_PROBLEMS = 4096
};

typedef struct request request;

typedef struct command {
  const char *name;
  const char *operands; /* "MODEL [PLAN.json]" */
  int least_operands, most_operands;
  int (*run)(request *r);
  const char *summary;         /* part of a line */
  const char *description;     /* paragraphs of lines, for the manual */
  const char *const *examples; /* command, what it does, ..., NULL */
} command;

typedef struct exit_meaning {
  enum exit_code code;
  const char *meaning;
} exit_meaning;

extern const command commands[];           /* ends with a NULL name */
extern const exit_meaning exit_meanings[]; /* ends with a NULL meaning */

/* NULL if there is no such command. */
const command *find_command(const char *name);

typedef enum when_choice { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } when_choice;

/* A file to be written beside the result on stdout. */
typedef struct emission {
  const char *path;
  calm_format format;
  bool page; /* of what the format says */
} emission;

/* What a command line asks for: operands, the options of the library, and the
   tool's own. */
struct request {
  const command *command;
  calm_context *context;
  calm_options *options;
  const char *operands[MAX_OPERANDS];
  int operand_count;
  emission emissions[MAX_EMISSIONS];
  int emission_count;
  const char *output; /* the model or mappings to be written; NULL: none */
  const char *inputs[MAX_INPUTS]; /* files that options of the library name */
  int input_count;
  const char *arch[MAX_PARTS]; /* calm eval, calm map: what they are about */
  const char *mappings[2];
  const char *problems[MAX_PROBLEMS];
  const char *journal, *dumped; /* calm map; NULL: none */
  int arch_count, mapping_count, problem_count;
  const char *database, *export_kind; /* calm sweep; NULL: not given */
  const char *title;                  /* calm report; NULL: not given */
  when_choice color, progress;
  bool retry;
  bool calibrate, json, list, dump, in_place, quiet, verbose, help;
};

#endif
