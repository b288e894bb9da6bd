/* Completion for fish: a line for each word that may follow. */
#include <stdio.h>
#include <string.h>

#include "completion.h"

/* In single quotes a backslash and a quote have one in front of them. */
static void print_text(const char *words) {
  putchar('\'');
  for (const char *c = words; *c; c++) {
    if (*c == '\'' || *c == '\\') putchar('\\');
    putchar(*c);
  }
  putchar('\'');
}

static void print_option(const command *c, const completion_option *o) {
  printf("complete -c calm -n '__fish_seen_subcommand_from %s' -l %s%s",
         c->name, o->on ? "no-" : "", o->name);
  if (o->letter) printf(" -s %c", o->letter);
  if (o->kind == COMPLETE_FILE) printf(" -r -F");
  if (o->kind == COMPLETE_VALUE) printf(" -x");
  if (o->kind == COMPLETE_CHOICES) {
    printf(" -x -a '");
    completion_print_choices(o->value);
    putchar('\'');
  }
  printf(" -d ");
  print_text(o->help);
  putchar('\n');
}

/* Files of each ending come before others. */
static void print_suffixes(const char *endings) {
  while (*endings) {
    const int length = (int)strcspn(endings, " ");
    printf("(__fish_complete_suffix .%.*s)", length, endings);
    endings += length;
    endings += strspn(endings, " ");
  }
}

static void print_operands(const command *c) {
  const completion_operands operands = completion_operands_of(c);
  if (operands.words)
    printf("complete -c calm -n '__fish_seen_subcommand_from %s' -a '%s'\n",
           c->name, operands.words);
  if (operands.endings) {
    printf("complete -c calm -n '__fish_seen_subcommand_from %s' -k -a '",
           c->name);
    print_suffixes(operands.endings);
    printf("'\n");
  }
}

static void print_command(const command *c) {
  completion_option o;
  printf("complete -c calm -n __fish_use_subcommand -a %s -d ", c->name);
  print_text(c->summary);
  putchar('\n');
  print_operands(c);
  for (size_t i = 0; completion_option_at(&o, c, i); i++) print_option(c, &o);
}

void completion_print_fish(void) {
  printf(
      "# Completion of calm for fish; printed by `calm completion fish`.\n"
      "complete -c calm -f\n");
  for (const command *c = commands; c->name; c++) print_command(c);
  printf(
      "complete -c calm -n __fish_use_subcommand -a help -d 'options and "
      "examples of a command'\n");
}
