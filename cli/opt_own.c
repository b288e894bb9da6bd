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
  if (strcmp(r->command->name, "eval") && strcmp(r->command->name, "pack")) {
    r->output = value;
    return EXIT_DONE;
  }
  return add_emission(r, (emission){value, strcmp(r->command->name, "eval")
                                               ? CALM_FORMAT_CSV
                                               : CALM_FORMAT_MAPPING});
}

static int add_path(const char **list, int *count, int most, const char *name,
                    const char *path) {
  if (*count == most) {
    story_tell("--%s: no more than %d files", name, most);
    return EXIT_USAGE;
  }
  list[(*count)++] = path;
  return EXIT_DONE;
}

static int set_arch(request *r, const char *value) {
  return add_path(r->arch, &r->arch_count, MAX_PARTS, "arch", value);
}

static int set_mapping(request *r, const char *value) {
  return add_path(r->mappings, &r->mapping_count, 2, "mapping", value);
}

static int set_problem(request *r, const char *value) {
  const bool several = !strcmp(r->command->name, "map");
  if (!several) r->problem_count = 0; /* the last one counts */
  return add_path(r->problems, &r->problem_count, MAX_PROBLEMS, "problem",
                  value);
}

static int set_journal(request *r, const char *value) {
  r->journal = value;
  return EXIT_DONE;
}

static int set_database(request *r, const char *value) {
  r->database = value;
  return EXIT_DONE;
}

static int set_export(request *r, const char *value) {
  static const char *const words[] = {"csv", "json", "html"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(words[i], value)) {
      r->export_kind = words[i];
      return EXIT_DONE;
    }
  story_tell("--export: '%s' is not one of csv|json|html", value);
  return EXIT_USAGE;
}

static int set_title(request *r, const char *value) {
  r->title = value;
  return EXIT_DONE;
}

static int set_when(when_choice *out, const char *name, const char *value) {
  static const char *const words[] = {"auto", "always", "never"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(words[i], value)) {
      *out = (when_choice)i;
      return EXIT_DONE;
    }
  story_tell("--%s: '%s' is not one of auto|always|never", name, value);
  return EXIT_USAGE;
}

static int set_color(request *r, const char *value) {
  return set_when(&r->color, "color", value);
}

static int set_progress(request *r, const char *value) {
  return set_when(&r->progress, "progress", value);
}

#define ALL "inspect plan check pack eval map sweep bench"
#define TOLD ALL " report"

static const opt_own rows[] = {
    {{"arch", "eval map", "FILE", NULL,
      "the accelerator; repeatable for its parts"},
     0,
     set_arch,
     0},
    {{"problem", "eval map", "FILE", NULL,
      "the layer; without it the `problem` section of --arch; of calm map "
      "repeatable"},
     0,
     set_problem,
     0},
    {{"mapping", "eval", "FILE", NULL,
      "the loop nest, or two to be compared; without it the `mapping` section "
      "of --arch"},
     0,
     set_mapping,
     0},
    {{"calibrate", "map", NULL, NULL,
      "fit cosa's weights to the accelerator, and print them or write them to "
      "-o FILE, for --cosa-weights"},
     0,
     NULL,
     offsetof(request, calibrate)},
    {{"journal", "map", "FILE", NULL,
      "add each layer to this file once it is mapped; those that it has are "
      "not mapped again"},
     0,
     set_journal,
     0},
    {{"database", "sweep", "FILE", NULL,
      "where results are kept (SQLite); without it SWEEP.db beside SWEEP.yaml"},
     0,
     set_database,
     0},
    {{"retry", "sweep", NULL, NULL, "run the points that failed once more"},
     0,
     NULL,
     offsetof(request, retry)},
    {{"export", "sweep", "csv|json|html", NULL,
      "print all points, or write them to -o FILE: a line each, one JSON "
      "object, or a page to look at"},
     0,
     set_export,
     0},
    {{"json", ALL, NULL, NULL, "print one JSON object instead of tables"},
     0,
     NULL,
     offsetof(request, json)},
    {{"list", "bench", NULL, NULL, "list the papers and their sections"},
     0,
     NULL,
     offsetof(request, list)},
    {{"output", "plan pack eval map sweep bench report", "FILE", NULL,
      "write the reordered model, the buffers with their offsets, or the loop "
      "nest as Timeloop reads it; of calm map also a folder, for a file per "
      "layer; of calm sweep what --export says; of calm report the page; of "
      "calm bench a folder"},
     'o',
     set_output,
     0},
    {{"in-place", "plan", NULL, NULL, "write the reordered model over MODEL"},
     0,
     NULL,
     offsetof(request, in_place)},
    {{"emit", "inspect plan check pack eval map", "KIND=FILE", NULL,
      "write a file as well, repeatable: html, a page to look at; csv; of calm "
      "plan also plan (JSON), "
      "c-header, bufferplan, trace, model-explorer, front (with --tile auto or "
      "--effort max), traffic (with --onchip, of calm inspect, too); of calm "
      "eval and calm map mapping, nest"},
     0,
     set_emit,
     0},
    {{"dump", "inspect", NULL, NULL, "print the model in calm's text form"},
     0,
     NULL,
     offsetof(request, dump)},
    {{"title", "report", "TEXT", NULL, "what stands above the page"},
     0,
     set_title,
     0},
    {{"verbose", ALL, NULL, NULL, "list every step; tell what is going on"},
     'v',
     NULL,
     offsetof(request, verbose)},
    {{"quiet", TOLD " completion", NULL, NULL,
      "tell nothing on stderr but errors"},
     'q',
     NULL,
     offsetof(request, quiet)},
    {{"color", ALL, "auto|always|never", "auto", "colours in tables"},
     0,
     set_color,
     0},
    {{"progress", ALL, "auto|always|never", "auto",
      "a bar on stderr with the time that is left; auto: on a terminal"},
     0,
     set_progress,
     0},
    {{"help", TOLD " completion", NULL, NULL, "show this help"},
     'h',
     NULL,
     offsetof(request, help)}};

const opt_own *opt_own_at(size_t index) {
  return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

bool opt_wants_color(const request *r) {
  const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (r->color != WHEN_AUTO) return r->color == WHEN_ALWAYS;
  return isatty(STDOUT_FILENO) && !(refused && *refused) &&
         !(terminal && !strcmp(terminal, "dumb"));
}
