/* The manual page, made from the tables that the tool itself runs on. */
#include <stdio.h>

#include "help.h"
#include "opt.h"

/* A text in roff: hyphens are minus signs, a line begins with no control
   character. */
static void print_plain(const char *words) {
  if (*words == '.' || *words == '\'') fputs("\\&", stdout);
  for (; *words; words++)
    if (*words == '\\')
      fputs("\\e", stdout);
    else if (*words == '-')
      fputs("\\-", stdout);
    else
      putchar(*words);
}

static void print_line(const char *before, const char *words,
                       const char *behind) {
  fputs(before, stdout);
  print_plain(words);
  puts(behind);
}

static void print_option(const calm_option_info *info, char letter) {
  char usage[HELP_USAGE];
  help_write_usage(usage, info, letter);
  print_line(".TP\n\\fB", usage, "\\fR");
  print_line("", info->help, ".");
  if (info->initial) print_line("Default: ", info->initial, ".");
  print_line("Commands: ", info->verbs, ".");
}

static void print_command(const command *c) {
  printf(".SS calm %s ", c->name);
  print_line("", c->operands, "");
  print_line("", c->description, "");
  for (const char *const *e = c->examples; *e; e += 2) {
    print_line(".TP\n\\fB", e[0], "\\fR");
    print_line("", e[1], "");
  }
}

static void print_rules(void) {
  const calm_rule_info *rule;
  puts(".SH REWRITING\nThe rules of \\-\\-rewrite:");
  for (size_t i = 0; (rule = calm_rule_at(i)); i++) {
    print_line(".TP\n\\fB", rule->name, "\\fR");
    print_line("From: ", rule->needs, ".\n.br");
    print_line("Identity: ", rule->identity, ".\n.br");
    print_line("Cost: ", rule->cost, ".\n.br");
    print_line("Off: \\-\\-no\\-", rule->option, ".");
  }
}

static void print_environment(void) {
  puts(
      ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n"
      "If set and not empty, tables have no colours unless "
      "\\-\\-color=always.\n"
      ".TP\n\\fBTERM\\fR\n"
      "If it is dumb, likewise.\n"
      ".TP\n\\fBCALM_HIGHS\\fR\n"
      "The library of the solver HiGHS, for \\-\\-mapper=cosa.  Without it, "
      "one is\nlooked for where the system has its libraries, and in the "
      "Python package\nhighsbox of "
      "\\fBVIRTUAL_ENV\\fR, of the environment that calm lies in, of the user\n"
      "and of the system.\n"
      ".SH SIGNALS\n"
      "The first interrupt (Ctrl\\-C) stops a search and gives the best so "
      "far;\nthe second one ends calm.");
}

void man_print(void) {
  const calm_option_info *info;
  const opt_own *own;
  printf(".TH CALM 1 \"\" \"calm %s\" \"User Commands\"\n", calm_version());
  puts(
      ".SH NAME\ncalm \\- plan the memory and the loop nests of neural "
      "networks\n.SH SYNOPSIS");
  for (const command *c = commands; c->name; c++) {
    printf("\\fBcalm %s\\fR ", c->name);
    print_line("", c->operands, " [\\fIOPTIONS\\fR]\n.br");
  }
  puts(
      ".SH DESCRIPTION\n"
      "In which order should the operators of a network run, and where in one\n"
      "arena does each tensor lie, so that the least memory is needed?  calm\n"
      "answers with a proof, or with a bound and the gap to it, here as for\n"
      "its other question: which loop nest of a layer costs least on a "
      "spatial\naccelerator, and what does a given one cost?\n"
      "Results go to stdout, everything else to stderr.\n"
      "Sizes are written 65536, 64K, 64KiB or 1M (K is 1024).\n"
      ".SH COMMANDS");
  for (const command *c = commands; c->name; c++) print_command(c);
  puts(".SH OPTIONS");
  for (size_t i = 0; (own = opt_own_at(i)); i++)
    print_option(&own->info, own->letter);
  for (size_t i = 0; (info = calm_option_at(i)); i++) print_option(info, 0);
  print_rules();
  puts(".SH EXIT STATUS");
  for (const exit_meaning *e = exit_meanings; e->meaning; e++) {
    printf(".TP\n\\fB%d\\fR\n", e->code);
    print_line("", e->meaning, "");
  }
  print_environment();
}
