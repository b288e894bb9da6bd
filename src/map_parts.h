/*
 * What the files of the mapping pipeline share.  A layer takes this way:
 *
 *   map.c          all layers, and their totals
 *   map_options.c  what options ask for, and what does not go together
 *   map_layers.c   the layers of problem files or of a model, equal ones once
 *   map_solve.c    one layer: what may be kept where, and a mapper's answer
 *   map_record.c   that answer as a line of JSON, and back; the nest that comes
 *                  back is judged and costed anew
 *   map_journal.c  lines of earlier runs
 *   map_identity.c is it what it was before?
 *   map_weights.c  CoSA's weights, as a file
 *   map_calibrate.c  ... fitted to a machine
 *
 * An answer always becomes a line, whether it was found in this process, in
 * another one, or by an earlier run: nothing else is believed.
 */
#ifndef CALM_MAP_PARTS_H
#define CALM_MAP_PARTS_H

#include "map.h"
#include "mapper/mapper_sample.h"
#include "pipeline_accel.h"

/* A run: the result to be filled and all that it is made from. */
typedef struct map_run {
  calm_mapping *mapping;
  const calm_map_files *files;
  const calm_options *options;
  pipeline_machine machine;
  mapper_rules rules;
  mapper_cosa_options cosa;
  mapper_sampling sampling;
} map_run;

/* Method, objective and the mappers' own options.  CALM_MISUSE for what no
   mapper does; CALM_BAD_INPUT for an objective that needs energies without
   them. */
calm_status map_read_options(map_run *run);
calm_status map_read_cosa(map_run *run); /* CoSA's alone */
bool map_needs_energy(const calm_mapping *m);

/* Do the options suit this number of layers? */
calm_status map_check_layers(const map_run *run);

/* Are all energies known that nests may need?  If the objective does without,
   mapping->energy says it. */
calm_status map_check_energies(const map_run *run);

/* Opens the files of the machine and reads it, with energies if they are
 * wanted.
 */
calm_status map_read_machine(map_run *run);

/* Fills mapping->layers and ->skipped, without answers. */
calm_status map_layers_find(map_run *run);

/* ---- One layer ----------------------------------------------------------- */

/* Constraints for this layer, and whether it can be asked for at all; what is
   wrong with it goes into l->error and l->reason. */
calm_status map_layer_prepare(map_layer *l, const map_run *run);

/* Per level, bit t: may tensor t be kept there? */
calm_status map_layer_may_keep(uint32_t **out, const map_layer *l,
                               const calm_mapping *m, arena *a);

/* What a mapper is asked.  It borrows from layer and run. */
calm_status map_layer_problem(mapper_problem *out, const map_layer *l,
                              const map_run *run, arena *a);

/* Asks the mapper; fills result, terms, seconds, or error and reason.  What is
   found lives in `a`.  Fails only where there is no memory to tell why. */
calm_status map_layer_solve(map_layer *l, const map_run *run, arena *a);

/* ---- Lines --------------------------------------------------------------- */

/* The answer for a layer.  Free with calm_text_free. */
calm_status map_record_write(char **out, const map_layer *l,
                             const map_run *run);

/* Takes an answer over into the layer of the mapping that it is for.
   CALM_BAD_INPUT if it is none.  A nest that is not valid, or does not cost
   what was said, is an error of the layer. */
calm_status map_record_read(map_layer *l, const char *line, const map_run *run);

/* What makes a layer that it is, whatever its name; it is in the line. */
calm_status map_layer_subject(const char **out, const accel_layer *layer,
                              arena *a);

/* ---- Identities ---------------------------------------------------------- */

/* Equal if and only if what was read is the same, but for hashes that collide.
 */
typedef struct map_identity {
  char digits[40];
} map_identity;

/* The files of the architecture. */
calm_status map_identity_of_machine(map_identity *out, const map_run *run);

/* These, energies, weights, constraints, and calm's version. */
calm_status map_identity_of_run(map_identity *out, const map_run *run);

/* ---- Weights ------------------------------------------------------------- */

/* From the file of --cosa-weights.  CALM_BAD_INPUT if they are for another
   machine. */
calm_status map_weights_read(mapper_cosa_weights *out, const map_run *run);
calm_status map_weights_write(char **out, const mapper_cosa_weights *w,
                              const map_run *run);

/* ---- Journals ------------------------------------------------------------ */

typedef struct map_journal {
  calm_context *context;
  const char *path; /* NULL: there is none, and nothing is done */
  int file;         /* -1: nothing is added (any more) */
  bool torn;        /* its last line has no end */
  map_identity key;
  const char *options, *limits;
  const char **subjects; /* per layer */
} map_journal;

/* Opens a journal, or begins one, and takes over the answers that it has: then
   done[layer].  CALM_BAD_INPUT if the file is something else. */
calm_status map_journal_open(map_journal *out, const map_run *run, bool *done);
calm_status map_journal_add(map_journal *j, const char *answer);
void map_journal_close(map_journal *j);

#endif
