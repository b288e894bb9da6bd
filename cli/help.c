#include "help.h"

#include <stdio.h>
#include <string.h>

#include "opt.h"

enum { LINE_COLUMNS = 80, HELP_COLUMN = 32, RULE_COLUMN = 12 };

void help_print_tool(void) {
  puts(
      "calm plans the memory of neural networks: in which order the operators\n"
      "run and where each tensor lies, so that the least memory is needed, "
      "with a\nproof; and it finds the loop nests that cost least on "
      "accelerators.\n");
  for (const command *c = commands; c->name; c++)
    printf("  calm %-10s %-19s %s\n", c->name, c->operands, c->summary);
  puts(
      "\n  calm help COMMAND, calm COMMAND --help   options and examples\n"
      "  calm help rules                          what --rewrite knows\n"
      "  calm --version                           the version\n"
      "  calm --man                               the manual page, in roff\n\n"
      "Results go to stdout, everything else to stderr.  Exit codes:\n");
  for (const exit_meaning *e = exit_meanings; e->meaning; e++)
    printf("  %3d  %s\n", e->code, e->meaning);
}

void help_write_usage(char *out, const calm_option_info *info, char letter) {
  char before[8] = "";
  const bool on = !info->value && info->initial && !strcmp(info->initial, "on");
  if (letter) snprintf(before, sizeof before, "-%c, ", letter);
  snprintf(out, HELP_USAGE, "%s--%s%s%s%s", before, on ? "[no-]" : "",
           info->name, info->value ? " " : "", info->value ? info->value : "");
}

/* Words, wrapped into the columns from `indent` on. */
static void print_wrapped(const char *words, int indent, int column) {
  while (*words) {
    const int length = (int)strcspn(words, " ");
    if (column > indent && column + 1 + length > LINE_COLUMNS) {
      printf("\n%*s", indent, "");
      column = indent;
    }
    column += printf("%s%.*s", column > indent ? " " : "", length, words);
    words += length;
    words += strspn(words, " ");
  }
  putchar('\n');
}

static void print_option(const calm_option_info *info, char letter) {
  char usage[HELP_USAGE], help[256];
  help_write_usage(usage, info, letter);
  int column = printf("%*s%s", letter ? 2 : 6, "", usage);
  if (column > HELP_COLUMN - 2) column = printf("\n") - 1;
  printf("%*s", HELP_COLUMN - column, "");
  const bool told = info->initial && strcmp(info->initial, "off");
  snprintf(help, sizeof help, "%s%s%s%s", info->help, told ? " [" : "",
           told ? info->initial : "", told ? "]" : "");
  print_wrapped(help, HELP_COLUMN, HELP_COLUMN);
}

void help_print_command(const command *c) {
  const calm_option_info *info;
  const opt_own *own;
  printf("calm %s %s [OPTIONS]\n\n", c->name, c->operands);
  print_wrapped(c->description, 0, 0);
  puts("\nExamples:");
  for (const char *const *e = c->examples; *e; e += 2)
    printf("  %s\n      %s\n", e[0], e[1]);
  puts("\nOptions:");
  for (size_t i = 0; (own = opt_own_at(i)); i++)
    if (opt_belongs(&own->info, c)) print_option(&own->info, own->letter);
  for (size_t i = 0; (info = calm_option_at(i)); i++)
    if (opt_belongs(info, c)) print_option(info, 0);
}

static void print_labelled(const char *label, const char *words) {
  print_wrapped(words, RULE_COLUMN, printf("  %-*s", RULE_COLUMN - 2, label));
}

void help_print_rules(void) {
  const calm_rule_info *rule;
  puts("The rules by which calm plan --rewrite finds what it may rewrite.\n");
  for (size_t i = 0; (rule = calm_rule_at(i)); i++) {
    printf("%s, off with --no-%s\n", rule->name, rule->option);
    print_labelled("from", rule->needs);
    print_labelled("identity", rule->identity);
    print_labelled("cost", rule->cost);
    putchar('\n');
  }
  puts("Which sites are rewritten, and what each saves: docs/rewriting.md.");
}
