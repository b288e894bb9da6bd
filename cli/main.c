/* calm, the command line tool: finds the command and runs it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

const command commands[] = {
    {"inspect", "MODEL", "what is in a model, and what sets its peak",
     "  calm inspect net.tflite\n  calm inspect net.cg --dump\n", 1, 1,
     run_inspect},
    {"plan", "MODEL", "find the order and the arena that need least",
     "  calm plan net.cg\n  calm plan net.cg --memory serenity --json\n"
     "  calm plan net.cg --budget 256K --emit plan=plan.json\n",
     1, 1, run_plan},
    {"check", "MODEL [PLAN.json]",
     "verify a plan, or the plan inside the model",
     "  calm check net.tflite\n  calm check net.cg plan.json\n", 1, 2,
     run_check},
    {"pack", "BUFFERS.csv", "place buffers of known lifetimes in one arena",
     "  calm pack buffers.csv -o placed.csv\n", 1, 1, run_pack},
    {NULL, NULL, NULL, NULL, 0, 0, NULL}};

static calm_context *interrupted_context;

/* The first Ctrl-C asks for the best so far, the second one ends it. */
static void on_interrupt(int number) {
  calm_context_interrupt(interrupted_context);
  signal(number, SIG_DFL);
}

static void tell_story(void *payload, calm_log_level level, const char *line) {
  const settings *s = payload;
  if (s->quiet || (level == CALM_LOG_DETAIL && !s->verbose)) return;
  if (level == CALM_LOG_PROGRESS && !s->verbose && !isatty(STDERR_FILENO))
    return;
  fprintf(stderr, "calm: %s%s\n", level == CALM_LOG_WARNING ? "warning: " : "",
          line);
}

int report_failure(const calm_context *context, calm_status status) {
  fprintf(stderr, "calm: %s\n", calm_context_message(context));
  switch (status) {
    case CALM_MISUSE: return EXIT_USAGE;
    case CALM_BAD_INPUT:
    case CALM_UNSUPPORTED:
    case CALM_IO: return EXIT_INPUT;
    default: return EXIT_INTERNAL;
  }
}

int print_text(calm_context *context, calm_status status, char *text) {
  if (status) return report_failure(context, status);
  fputs(text, stdout);
  calm_text_free(context, text);
  if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_DONE;
  fprintf(stderr, "calm: cannot write to standard output\n");
  return EXIT_INPUT;
}

static int print_help(void) {
  puts(
      "calm plans the memory of neural networks: the order of operators and\n"
      "the place of tensors that need least, with a proof.\n");
  for (const command *c = commands; c->name; c++)
    printf("  calm %-8s %-18s %s\n", c->name, c->operands, c->summary);
  puts("\ncalm VERB --help lists the options of a verb.");
  return EXIT_DONE;
}

static int run_command(const command *c, int count, char **words) {
  arguments a = {.context = calm_context_new(NULL)};
  if (!a.context || calm_options_new(&a.options, a.context)) {
    fputs("calm: out of memory\n", stderr);
    calm_context_free(a.context);
    return EXIT_INTERNAL;
  }
  interrupted_context = a.context;
  signal(SIGINT, on_interrupt);
  calm_context_set_log(a.context, tell_story, &a.settings);
  int code = parse_arguments(&a, c, count, words);
  if (code == EXIT_DONE && a.settings.help)
    print_command_help(c);
  else if (code == EXIT_DONE)
    code = c->run(&a);
  signal(SIGINT, SIG_DFL);
  calm_options_free(a.options);
  calm_context_free(a.context);
  return code;
}

int main(int count, char **words) {
  if (count < 2 || !strcmp(words[1], "--help") || !strcmp(words[1], "help"))
    return print_help();
  if (!strcmp(words[1], "--version")) {
    printf("calm %s\n", calm_version());
    return EXIT_DONE;
  }
  for (const command *c = commands; c->name; c++)
    if (!strcmp(c->name, words[1])) return run_command(c, count - 2, words + 2);
  fprintf(stderr, "calm: unknown command '%s'; see calm --help\n", words[1]);
  return EXIT_USAGE;
}
