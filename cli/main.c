/* calm, the command line tool: finds the command and runs it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "help.h"
#include "nearest.h"
#include "opt.h"
#include "output.h"
#include "progress.h"
#include "story.h"

static int run_request(request *r, int count, char **words) {
  int code = opt_parse(r, count, words);
  if (code) return code;
  if (r->help) {
    help_print_command(r->command);
    return EXIT_DONE;
  }
  code = output_check(r);
  if (code) return code;
  progress_begin(r);
  code = r->command->run(r);
  progress_erase();
  return code;
}

static int run_command(const command *c, int count, char **words) {
  request r = {.command = c, .context = calm_context_new(NULL)};
  if (!r.context || calm_options_new(&r.options, r.context)) {
    story_tell("out of memory");
    calm_context_free(r.context);
    return EXIT_LIMIT;
  }
  story_begin(&r);
  story_catch_interrupt(r.context);
  const int code = run_request(&r, count, words);
  story_catch_interrupt(NULL);
  calm_options_free(r.options);
  calm_context_free(r.context);
  return code;
}

static int refuse_command(const char *word) {
  nearest n = nearest_to(word, strlen(word));
  for (const command *c = commands; c->name; c++) nearest_try(&n, c->name);
  if (n.best)
    story_tell("unknown command '%s'; did you mean %s?", word, n.best);
  else
    story_tell("unknown command '%s'; see calm --help", word);
  return EXIT_USAGE;
}

static int print_help(int count, char **words) {
  const command *c = count ? find_command(words[0]) : NULL;
  const bool rules = count && !strcmp(words[0], "rules");
  if (count && !c && !rules) return refuse_command(words[0]);
  if (count > 1) {
    story_tell("one operand too many: '%s'; see calm --help", words[1]);
    return EXIT_USAGE;
  }
  if (c)
    help_print_command(c);
  else if (rules)
    help_print_rules();
  else
    help_print_tool();
  return EXIT_DONE;
}

static bool is_one_of(const char *word, const char *a, const char *b) {
  return !strcmp(word, a) || !strcmp(word, b);
}

static int dispatch(int count, char **words) {
  if (count == 0) {
    story_tell("a command is missing; see calm --help");
    return EXIT_USAGE;
  }
  const command *c = find_command(words[0]);
  if (c) return run_command(c, count - 1, words + 1);
  if (is_one_of(words[0], "help", "--help") || !strcmp(words[0], "-h"))
    return print_help(count - 1, words + 1);
  if (!strcmp(words[0], "--version")) {
    printf("calm %s\n", calm_version());
    return EXIT_DONE;
  }
  if (strcmp(words[0], "--man")) return refuse_command(words[0]);
  man_print();
  return EXIT_DONE;
}

/* A reader of stdout that went away, or a limit on the size of files, is an
   error like a full disk; what failed before has been told. */
int main(int count, char **words) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  output_open_standard();
  const int code = count > 0 ? dispatch(count - 1, words + 1) : EXIT_USAGE;
  return code == EXIT_DONE ? output_text("") : code;
}
