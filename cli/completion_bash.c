/* Completion for bash, without the package bash-completion. */
#include <stdio.h>
#include <string.h>

#include "completion.h"

/* Bash takes "--name=value" apart at the '='. */
static const char head[] =
    "# Completion of calm for bash; printed by `calm completion bash`.\n"
    "_calm() {\n"
    "  local word=${COMP_WORDS[COMP_CWORD]}\n"
    "  local name=${COMP_WORDS[COMP_CWORD-1]}\n"
    "  local verb=${COMP_WORDS[1]} options= words= endings= ending\n"
    "  [ \"$name\" = = ] && name=${COMP_WORDS[COMP_CWORD-2]}\n"
    "  [ \"$word\" = = ] && word=\n"
    "  COMPREPLY=()\n";

static const char tail[] =
    "  if [ -n \"$words\" ] && [[ $word != -* ]]; then\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
    "  elif [ -n \"$endings\" ] && [[ $word != -* ]]; then\n"
    "    compopt -o filenames 2> /dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -d -- \"$word\")\n"
    "    for ending in $endings; do\n"
    "      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < \\\n"
    "        <(compgen -f -X \"!*.$ending\" -- \"$word\")\n"
    "    done\n"
    "  else\n"
    "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
    "  fi\n"
    "}\n"
    "complete -F _calm calm\n";

static void print_verbs(void) {
  printf("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words=\"");
  for (const command *c = commands; c->name; c++) printf("%s ", c->name);
  printf("help\"\n    options=\"--help --version --man\"\n  fi\n");
}

static void print_value(const command *c, const completion_option *o) {
  if (o->kind == COMPLETE_SWITCH) return;
  printf("    \"%s --%s\"", c->name, o->name);
  if (o->letter) printf(" | \"%s -%c\"", c->name, o->letter);
  printf(")\n");
  if (o->kind == COMPLETE_CHOICES) {
    printf("      COMPREPLY=($(compgen -W \"");
    completion_print_choices(o->value);
    printf("\" -- \"$word\"))\n");
  }
  if (o->kind == COMPLETE_FILE)
    printf(
        "      compopt -o filenames 2> /dev/null\n"
        "      mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n");
  printf("      return ;;\n");
}

static void print_values(void) {
  completion_option o;
  printf("  case \"$verb $name\" in\n");
  for (const command *c = commands; c->name; c++)
    for (size_t i = 0; completion_option_at(&o, c, i); i++) print_value(c, &o);
  printf("  esac\n");
}

static void print_options(const command *c) {
  completion_option o;
  const completion_operands operands = completion_operands_of(c);
  printf("    %s)\n      options=\"", c->name);
  for (size_t i = 0; completion_option_at(&o, c, i); i++)
    printf("--%s%s ", o.on ? "no-" : "", o.name);
  printf("\"\n");
  if (operands.words) printf("      words=\"%s\"\n", operands.words);
  if (operands.endings) printf("      endings=\"%s\"\n", operands.endings);
  printf("      ;;\n");
}

void completion_print_bash(void) {
  fputs(head, stdout);
  print_values();
  printf("  case $verb in\n");
  for (const command *c = commands; c->name; c++) print_options(c);
  printf("    help)\n      words=\"rules");
  for (const command *c = commands; c->name; c++) printf(" %s", c->name);
  printf("\"\n      ;;\n  esac\n");
  print_verbs();
  fputs(tail, stdout);
}
