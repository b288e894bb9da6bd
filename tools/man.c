/*
 * Prints the manual page calm(1).  What an option is called, takes and does
 * comes from the library's table, so that page, --help and parser agree; what
 * surrounds the options is written here.
 */
#include <calm/calm.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *operands, *text;
} verbs[] = {
    {"inspect", "MODEL",
     "What is in a model: its operators and tensors, the bytes that are alive "
     "at each step in file order, and the step that sets the peak, who is "
     "alive there and what would lower it. With --dump, the graph in calm's "
     "text form."},
    {"plan", "MODEL",
     "Find the order of operators with the least peak and the arena with the "
     "least size, each with a proof or with a stated gap, check the result, "
     "and show it beside what the model's runtime would do by itself."},
    {"check", "MODEL [PLAN.json]",
     "Verify a plan, or the plan inside the model: every overlap, "
     "misalignment and overflow is named."},
    {"pack", "BUFFERS.csv",
     "Place buffers of known lifetimes in one arena. The file has the columns "
     "id, lower, upper, size, and may have offset, alignment and group."},
};

static const struct {
  const char *option, *value, *text;
} tool_options[] = {
    {"json", NULL, "print one JSON object instead of tables"},
    {"emit", "KIND=FILE",
     "also write the plan to a file: plan (JSON) or csv; may be repeated"},
    {"output", "FILE", "where the main result is written; -o for short"},
    {"dump", NULL, "inspect: print the graph in calm's text form"},
    {"quiet", NULL, "no progress and no warnings on standard error"},
    {"verbose", NULL, "tell on standard error what each stage does"},
    {"help", NULL, "list the options of a verb"},
    {"version", NULL, "print the version"},
};

static const struct {
  const char *code, *text;
} exit_codes[] = {
    {"0", "done"},
    {"1", "done, but the goal was missed: a budget, a fault found by check"},
    {"2", "the command line is wrong"},
    {"3", "an input is unreadable or unsupported, or an output not writable"},
    {"4", "a limit was hit before there was any answer"},
    {"5", "a fault of calm or of a solver"},
    {"130", "interrupted before there was any answer"},
};

/* Text for roff: a hyphen is a minus that can be searched for and copied, and
   a period or quote never begins a line. */
static void print_text(const char *text) {
  if (*text == '.' || *text == '\'') fputs("\\&", stdout);
  for (; *text; text++) {
    if (*text == '-' || *text == '\\') putchar('\\');
    putchar(*text == '\\' ? 'e' : *text);
  }
}

static void print_tag(const char *name, const char *value) {
  fputs(".TP\n.B ", stdout);
  print_text(name);
  if (value) {
    fputs(" \\fI", stdout);
    print_text(value);
    fputs("\\fR", stdout);
  }
  putchar('\n');
}

static void print_option(const char *name, const char *value,
                         const char *text) {
  char tag[64];
  snprintf(tag, sizeof tag, "--%s", name);
  print_tag(tag, value);
  print_text(text);
}

static void print_verbs(void) {
  puts(".SH VERBS");
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    char tag[64];
    snprintf(tag, sizeof tag, "calm %s", verbs[i].name);
    print_tag(tag, verbs[i].operands);
    print_text(verbs[i].text);
    putchar('\n');
  }
}

static void print_options(void) {
  puts(
      ".SH OPTIONS\n"
      "Sizes are bytes and may be written 64K, 64KiB or 1M; switches take on\n"
      "or off. The verbs that an option belongs to stand in brackets.");
  const calm_option_info *info;
  for (size_t i = 0; (info = calm_option_at(i)); i++) {
    print_option(info->name, info->value ? info->value : "on|off", info->help);
    if (info->initial) {
      fputs(" (default ", stdout);
      print_text(info->initial);
      fputs(")", stdout);
    }
    printf(" [%s]\n", info->verbs);
  }
  puts(".SH OPTIONS OF THE TOOL");
  for (size_t i = 0; i < sizeof tool_options / sizeof *tool_options; i++) {
    print_option(tool_options[i].option, tool_options[i].value,
                 tool_options[i].text);
    putchar('\n');
  }
}

static void print_exit_codes(void) {
  puts(".SH EXIT STATUS");
  for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++) {
    print_tag(exit_codes[i].code, NULL);
    print_text(exit_codes[i].text);
    putchar('\n');
  }
}

int main(void) {
  printf(".TH CALM 1 \"\" \"calm %s\" \"User Commands\"\n", calm_version());
  puts(
      ".SH NAME\n"
      "calm \\- plan the memory of neural networks\n"
      ".SH SYNOPSIS\n"
      ".B calm\n"
      ".I verb operand\n"
      "[\\fIoptions\\fR]\n"
      ".SH DESCRIPTION\n"
      "In which order should the operators of a network run, and where in one\n"
      "arena does each tensor lie, so that the least memory is needed?\n"
      ".B calm\n"
      "reads .tflite files and its own text form (.cg) and answers with a\n"
      "proof, or with a value, a bound and the gap between them.\n"
      "Results go to standard output, the story to standard error.\n"
      "The first interrupt stops a search and shows the best found so far.");
  print_verbs();
  print_options();
  print_exit_codes();
  puts(
      ".SH ENVIRONMENT\n"
      ".TP\n"
      ".B NO_COLOR\n"
      "no colours on a terminal\n"
      ".SH EXAMPLES\n"
      ".nf\n"
      "calm plan net.tflite\n"
      "calm plan net.tflite \\-\\-budget 256K \\-\\-emit plan=plan.json\n"
      "calm inspect net.tflite \\-\\-memory plain\n"
      "calm check net.tflite plan.json\n"
      ".fi");
  return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
