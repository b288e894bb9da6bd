/* Completion for zsh, by its own _arguments. */
#include <stdio.h>
#include <string.h>

#include "completion.h"

static const char escaped[] = "[]:\\";

static void print_name(const completion_option *o) {
  const char *no = o->on ? "no-" : "", *equals = o->value ? "=" : "";
  if (o->letter)
    printf("'(-%c --%s)'{-%c%s,--%s%s}'", o->letter, o->name, o->letter,
           o->value ? "+" : "", o->name, equals);
  else
    printf("'*--%s%s%s", no, o->name, equals);
}

static void print_option(const completion_option *o) {
  printf("        ");
  print_name(o);
  putchar('[');
  completion_print_quoted(o->help, escaped);
  putchar(']');
  if (o->value) {
    putchar(':');
    completion_print_quoted(o->kind == COMPLETE_CHOICES ? o->name : o->value,
                            escaped);
    putchar(':');
  }
  if (o->kind == COMPLETE_CHOICES) {
    putchar('(');
    completion_print_choices(o->value);
    putchar(')');
  }
  if (o->kind == COMPLETE_FILE) printf("_files");
  if (o->kind == COMPLETE_VALUE) putchar(' ');
  printf("' \\\n");
}

/* "*.(tflite|onnx|cg)" */
static void print_operands(const command *c) {
  const completion_operands operands = completion_operands_of(c);
  if (operands.words) printf("        '*:word:(%s)'\n", operands.words);
  if (operands.endings) {
    printf("        '*:file:_files -g \"*.(");
    for (const char *e = operands.endings; *e; e++)
      putchar(*e == ' ' ? '|' : *e);
    printf(")\"'\n");
  }
  if (!operands.words && !operands.endings) printf("        '*:file: '\n");
}

static void print_command(const command *c) {
  completion_option o;
  printf("    %s)\n      _arguments -s \\\n", c->name);
  for (size_t i = 0; completion_option_at(&o, c, i); i++) print_option(&o);
  print_operands(c);
  printf("      ;;\n");
}

void completion_print_zsh(void) {
  printf(
      "#compdef calm\n"
      "# Completion of calm for zsh; printed by `calm completion zsh`.\n"
      "_calm() {\n  local -a verbs\n  verbs=(\n");
  for (const command *c = commands; c->name; c++) {
    printf("    '%s:", c->name);
    completion_print_quoted(c->summary, escaped);
    printf("'\n");
  }
  printf(
      "    'help:options and examples of a command'\n  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command verbs\n    return\n  fi\n"
      "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
      "  case $verb in\n");
  for (const command *c = commands; c->name; c++) print_command(c);
  printf(
      "    help) _describe command verbs ;;\n  esac\n}\n"
      "if [ \"$funcstack[1]\" = _calm ]; then\n  _calm \"$@\"\nelse\n"
      "  compdef _calm calm\nfi\n");
}
