/* The options of the tool itself. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opt.h"
#include "output.h"
#include "story.h"

static int add_emission(request *r, emission e) {
  if (r->emission_count == MAX_EMISSIONS) {
    story_tell("--emit: no more than %d outputs", MAX_EMISSIONS);
    return EXIT_USAGE;
  }
  r->emissions[r->emission_count++] = e;
  return EXIT_DONE;
}

static int set_emit(request *r, const char *value) {
  emission e;
  const int code = output_parse_emission(&e, r->command, value);
  return code ? code : add_emission(r, e);
}

static int set_output(request *r, const char *value) {
  if (!strcmp(r->command->name, "plan")) {
    r->output = value;
    return EXIT_DONE;
  }
  return add_emission(r, (emission){value, CALM_FORMAT_CSV});
}

static int set_color(request *r, const char *value) {
  static const char *const words[] = {"auto", "always", "never"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(words[i], value)) {
      r->color = (color_choice)i;
      return EXIT_DONE;
    }
  story_tell("--color: '%s' is not one of auto|always|never", value);
  return EXIT_USAGE;
}

#define ALL "inspect plan check pack"

static const opt_own rows[] = {
    {{"json", ALL, NULL, NULL, "print one JSON object instead of tables"},
     0,
     NULL,
     offsetof(request, json)},
    {{"output", "plan pack", "FILE", NULL,
      "write the reordered model, or the buffers with their offsets"},
     'o',
     set_output,
     0},
    {{"in-place", "plan", NULL, NULL, "write the reordered model over MODEL"},
     0,
     NULL,
     offsetof(request, in_place)},
    {{"emit", "plan pack", "KIND=FILE", NULL,
      "write a file as well, repeatable: csv; of calm plan also plan (JSON), "
      "c-header, bufferplan, trace, model-explorer"},
     0,
     set_emit,
     0},
    {{"dump", "inspect", NULL, NULL, "print the model in calm's text form"},
     0,
     NULL,
     offsetof(request, dump)},
    {{"verbose", ALL, NULL, NULL, "list every step; tell what is going on"},
     'v',
     NULL,
     offsetof(request, verbose)},
    {{"quiet", ALL, NULL, NULL, "tell nothing on stderr but errors"},
     'q',
     NULL,
     offsetof(request, quiet)},
    {{"color", ALL, "auto|always|never", "auto", "colours in tables"},
     0,
     set_color,
     0},
    {{"help", ALL, NULL, NULL, "show this help"},
     'h',
     NULL,
     offsetof(request, help)}};

const opt_own *opt_own_at(size_t index) {
  return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

bool opt_wants_color(const request *r) {
  const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (r->color != COLOR_AUTO) return r->color == COLOR_ALWAYS;
  return isatty(STDOUT_FILENO) && !(refused && *refused) &&
         !(terminal && !strcmp(terminal, "dumb"));
}
