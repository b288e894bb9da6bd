/* The commands of the tool: from this table come dispatch, help, and the man
   page. */
#include <stddef.h>
#include <string.h>

#include "cmd.h"

static const char *const inspect_examples[] = {
    "calm inspect net.tflite",
    "what is in it, and what sets its peak",
    "calm inspect net.cg --memory serenity -v",
    "every step and tensor under another memory model",
    "calm inspect net.tflite --dump > net.cg",
    "the graph in calm's own text form",
    "calm inspect net.tflite --onchip 64K",
    "what moves between 64 KiB on chip and the rest",
    NULL};

static const char *const plan_examples[] = {
    "calm plan net.tflite",
    "the least peak and arena, with a proof",
    "calm plan net.tflite -o planned.tflite",
    "write the model in that order, with its offline plan",
    "calm plan net.onnx --dim batch=1 -o net-less.onnx",
    "the same network with its nodes in that order",
    "calm plan net.onnx --rewrite auto -o rewritten.onnx",
    "the same outputs from a graph that needs less memory",
    "calm plan net.tflite --kernels portable --overlap on -o less.tflite",
    "outputs over dying inputs, as all kernel libraries allow it",
    "calm plan net.tflite --tile auto --budget 64K -o tiled.tflite",
    "compute parts of it in tiles: as few extra operations as fit",
    "calm plan net.tflite --effort max --kernels reference --overlap on",
    "all there is against memory, and what each of it bought",
    "calm plan net.cg --memory serenity --json",
    "as one JSON object",
    "calm plan net.tflite --budget 256K --emit plan=net.json",
    "keep the plan; exit 1 if it needs more than 256 KiB",
    "calm plan big.cg --time-limit 5",
    "the best order that 5 seconds find",
    "calm plan net.tflite --minimize traffic --onchip 64K",
    "the order that moves least to and from 64 KiB on chip",
    NULL};

static const char *const check_examples[] = {
    "calm check net.tflite",
    "the plan that the model carries",
    "calm check net.tflite --kernels cmsis-nn-c",
    "is it right for a build with these kernels?",
    "calm check net.tflite net.json",
    "a plan written by --emit plan=net.json",
    NULL};

static const char *const pack_examples[] = {
    "calm pack buffers.csv", "the least arena, with a proof",
    "calm pack buffers.csv -o placed.csv --budget 1M",
    "write the offsets; exit 1 if they need more than 1 MiB", NULL};

static const char *const eval_examples[] = {
    "calm eval --arch simba.yaml --problem layer.yaml --mapping nest.yaml",
    "its accesses, cycles and energy, level by level",
    "calm eval --arch a.yaml --problem l.yaml --mapping n.yaml --cost timeloop",
    "as Timeloop counts them by default",
    "calm eval --arch a.yaml --problem l.yaml --mapping n.yaml --mapping "
    "o.yaml",
    "what differs between two nests",
    "calm eval --arch all-in-one.yaml --no-energy --json",
    "counts and cycles alone, as one JSON object",
    NULL};

static const char *const map_examples[] = {
    "calm map --arch simba.yaml --constraints keep.yaml --problem layer.yaml",
    "the loop nest of least energy times delay, with a proof",
    "calm map --arch simba.yaml --problem layer.yaml --bypass search -o "
    "nest.yaml",
    "finds what to keep where, too; the nest as Timeloop reads it",
    "calm map --arch simba.yaml --problem layer.yaml --explain",
    "what each level has to carry, carries, and is held back by",
    "calm map --arch simba.yaml --problem layer.yaml --objective pareto",
    "every nest that no other beats in both energy and cycles",
    "calm map --arch simba.yaml net.onnx --objective energy --journal net.log",
    "every layer of a network; a second run goes on where this one ended",
    "calm map --arch simba.yaml net.onnx --mapper cosa -o nests/",
    "by CoSA's integer program; a file per layer",
    "calm map --arch simba.yaml --calibrate -o weights.json",
    "weights for it that suit the machine: --cosa-weights weights.json",
    "calm map --arch simba.yaml --problem layer.yaml --mapper random --valid "
    "100",
    "the best of 100 valid nests that were drawn",
    "calm map --arch simba.yaml net.onnx --mapper hybrid --emit csv=layers.csv",
    "drawn tilings in all their orders; a line per layer for spreadsheets",
    NULL};

static const char *const sweep_examples[] = {
    "calm sweep designs.yaml",
    "map all layers on all designs; go on where an earlier run ended",
    "calm sweep designs.yaml --export csv -o designs.csv",
    "a line per point, for spreadsheets and notebooks",
    "calm sweep designs.yaml --export html -o designs.html",
    "a page with the front of energy and cycles",
    "calm sweep designs.yaml --retry --jobs 8",
    "once more what failed, in eight processes",
    NULL};

static const char *const report_examples[] = {
    "calm plan net.tflite --json > net.json; calm report net.json -o net.html",
    "live bytes, arena and graph of a plan, in any browser",
    "calm report before.json after.json -o both.html --title 'What it bought'",
    "several beside each other",
    "calm sweep designs.yaml --json > designs.json; calm report designs.json "
    "-o designs.html",
    "the front of energy and cycles",
    NULL};

static const char *const completion_examples[] = {
    "source <(calm completion bash)",
    "in this bash, or in ~/.bashrc in every one; make install does it for all",
    "calm completion zsh > ~/.zfunc/_calm",
    "in a folder of zsh's $fpath",
    "calm completion fish > ~/.config/fish/completions/calm.fish",
    "for fish",
    NULL};

static const char *const bench_examples[] = {
    "calm bench serenity",
    "every table of the paper, its figures beside ours",
    "calm bench cosa -o results",
    "the same in files: results/cosa.md, a CSV per table, an SVG per figure",
    "calm bench serenity --only figure10 --no-timing --json",
    "one section, the same bytes in each run",
    "calm bench --list",
    "the papers and their sections",
    NULL};

const command commands[] = {
    {"inspect", "MODEL", 1, 1, cmd_inspect,
     "what is in a model, and what sets its peak",
     "Shows operators, tensors and the live bytes of every step in file order; "
     "names the step that sets the peak, who is alive there, the least that "
     "any order needs, and what would lower it.",
     inspect_examples},
    {"plan", "MODEL", 1, 1, cmd_plan,
     "find the order and the arena that need least memory",
     "Finds an order of the operators with the least peak of live bytes, and a "
     "place for every tensor in the least arena.  Both come with a proof, or "
     "with a proven bound and the gap to it if a limit ended the search.  The "
     "plan is checked by independent code before it is shown.",
     plan_examples},
    {"check", "MODEL [PLAN.json]", 1, 2, cmd_check,
     "verify a plan, or the plan inside a model",
     "Recomputes from the model which tensors are alive at each step of the "
     "plan, and says every overlap, misalignment or overflow in words.  "
     "Without PLAN.json it checks the plan that the model itself carries.",
     check_examples},
    {"pack", "BUFFERS.csv", 1, 1, cmd_pack,
     "place buffers of known lifetimes in the least arena",
     "Reads a CSV file with the columns id, lower, upper and size, and "
     "optionally offset (fixed), alignment and group (equal group, equal "
     "offset).  A buffer lives from step lower to step upper, upper excluded.",
     pack_examples},
    {"eval", "--arch FILE ...", 0, 0, cmd_eval,
     "what a loop nest costs on an accelerator",
     "Reads an architecture (Timeloop's YAML, versions 0.1 to 0.4), a layer "
     "and "
     "a loop nest, and counts what each level of memory reads and writes, the "
     "cycles and the energy.  A nest that does not fit the machine is told so, "
     "with exit code 1; one that is too much to be counted, with 4.",
     eval_examples},
    {"map", "--arch FILE [MODEL]", 0, 1, cmd_map,
     "find loop nests for layers on an accelerator",
     "Finds for each layer, of problem files or of a model, a loop nest of "
     "least energy, delay or their product, with a proof, or with a proven "
     "bound if a limit ended the search.  Equal layers are mapped once.  "
     "Limits "
     "are those of each layer.  The exit code is that of the worst layer: a "
     "fault in calm or its solver, then what cannot be read, then a limit, "
     "then a layer that has no nest.",
     map_examples},
    {"sweep", "SWEEP.yaml", 1, 1, cmd_sweep,
     "map many layers on many accelerators",
     "Reads models or layers, architectures with ranges of values, mappers and "
     "objectives from a file, and maps every layer on every design, in "
     "processes of their own.  Results go into a database as they come: a run "
     "that was stopped goes on where it ended, no point is run twice, and one "
     "that fails is recorded and stops no other.",
     sweep_examples},
    {"report", "FILE.json ...", 1, MAX_OPERANDS, cmd_report,
     "make a page to look at from what calm said as JSON",
     "Reads what other commands print with --json, and makes one file of HTML "
     "of it, which opens from the disk, asks nothing of the network and holds "
     "the data itself.  Several documents are compared.",
     report_examples},
    {"bench", "PAPER", 0, 1, cmd_bench,
     "make the tables and figures of a paper anew",
     "Measures what a paper reports, on the same networks or layers, and shows "
     "it next to the paper's own figures: PAPER is serenity (orders and arenas "
     "of irregularly wired networks) or cosa (loop nests on spatial "
     "accelerators).  What it needs is part of calm, but for the solver HiGHS, "
     "without which CoSA's own mapper is left out (exit code 5).",
     bench_examples},
    {"completion", "SHELL", 1, 1, cmd_completion,
     "print what lets a shell complete words of calm",
     "Prints a script for bash, zsh or fish, with which Tab completes "
     "commands, "
     "options, the values of options that have a few, and files by their "
     "endings.",
     completion_examples},
    {NULL, NULL, 0, 0, NULL, NULL, NULL, NULL}};

const exit_meaning exit_meanings[] = {
    {EXIT_DONE, "done, with a proof or with a stated gap"},
    {EXIT_GOAL_MISSED,
     "done, but a goal was missed: --budget, a fault found, no valid mapping"},
    {EXIT_USAGE, "the command line is wrong"},
    {EXIT_FILE,
     "an input is unreadable or unsupported, or an output cannot be written"},
    {EXIT_LIMIT, "a limit was hit before there was any answer"},
    {EXIT_INTERNAL, "a fault in calm, or a solver that is missing or failed"},
    {EXIT_INTERRUPTED, "interrupted before there was any answer"},
    {EXIT_DONE, NULL}};

const command *find_command(const char *name) {
  for (const command *c = commands; c->name; c++)
    if (!strcmp(c->name, name)) return c;
  return NULL;
}
