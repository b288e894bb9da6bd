/*
 * A spatial accelerator: levels of memory around an array of multiply-
 * accumulate units, each level some instances on a mesh, with what each access
 * costs.  Read from Timeloop's files of versions 0.1 (`arch`), 0.2 and 0.3
 * (`architecture: subtree`) and 0.4 (`architecture: nodes`).  Levels are
 * numbered from the innermost; everything lives in the caller's arena.
 *
 *     DRAM          levels[2]   1 instance
 *      | network of level 2
 *     GlobalBuffer  levels[1]   1 instance
 *      | network of level 1, fan-out 64
 *     PEBuffer      levels[0]   64 instances
 *      | network of level 0
 *     MAC           compute     64 instances
 */
#ifndef CALM_ACCEL_ACCEL_ARCH_H
#define CALM_ACCEL_ACCEL_ARCH_H

#include "accel/accel_yaml.h"

#define ACCEL_UNLIMITED UINT64_MAX

/* What leads from a level to the next inner one.  Absent energies are 0. */
typedef struct accel_network {
  uint32_t word_bits;
  double hop_pj;     /* energy-per-hop, or what follows from the wires */
  double router_pj;  /* router-energy */
  double wire_pj;    /* wire-energy, per bit and millimetre */
  double tile_width; /* micrometres, of a hop; given, or from areas */
  double ingress_pj; /* energy-per-ingress */
  bool hop_given;    /* energy-per-hop is in the file */
  uint64_t fill_cycles, drain_cycles; /* network_fill_latency, _drain_ */
} accel_network;

/* What is done to a level that keeps a tensor; a set of them is bits. */
typedef enum accel_action {
  ACCEL_READ = 1,
  ACCEL_WRITE = 2, /* fills */
  ACCEL_UPDATE = 4
} accel_action;

/* Why the energy of an action is not known. */
typedef enum accel_lack {
  ACCEL_LACKS_SIZE,  /* there are no tables, and the formulas need it */
  ACCEL_LACKS_TABLE, /* there are tables, but none for this component */
  ACCEL_LACKS_ACTION /* its table has not all actions */
} accel_lack;

/* Picojoules per access of one block (a vector of block_words words).  What is
   not known is 0, and accel_energy.h tells whether that matters. */
typedef struct accel_energy {
  double read_pj, write_pj, update_pj; /* write serves fills */
  double leak_pj;                      /* per cycle and instance */
  double address_pj;                   /* address generation; < 0: none given */
  bool known;                          /* all actions are; if not: */
  uint32_t unknown;                    /* ... which are not (accel_action) */
  accel_lack lack;                     /* ... and why */
  accel_place source;                  /* ... of the tables, or the table */
} accel_energy;

/* How much bandwidth a word of some tensor takes. */
typedef struct accel_scale {
  const char *tensor;
  double scale;
  accel_place place;
} accel_scale;

/* Where a level stands in a version 0.4 `!Parallel`: a tensor that one branch
   keeps is bypassed in all others, and each tensor must be kept by one.  "*"
   stands for all tensors.  Of parallels inside of each other: what the inner
   branch keeps, and what is bypassed by any. */
typedef struct accel_branch {
  accel_place place; /* of the (inner) !Parallel; no file: it is in none */
  const char **keeps, **bypasses; /* names of tensors */
  uint32_t keep_count, bypass_count;
} accel_branch;

typedef struct accel_level {
  const char *name;       /* as in the file, without [0..15] */
  const char *class_name; /* "" in version 0.1 */
  accel_place place;
  bool dram;
  bool virtual_level; /* a mesh of a version 0.4 container: holds no tensor */
  uint64_t entries;   /* words; ACCEL_UNLIMITED if not given */
  uint64_t capacity_words; /* floor(entries / multiple_buffering) */
  double multiple_buffering;
  double min_utilization; /* of the capacity */
  uint32_t word_bits, block_words, cluster;
  uint64_t instances, mesh_x, mesh_y; /* mesh_x * mesh_y == instances */
  double read_bandwidth, write_bandwidth,
      shared_bandwidth; /* words per cycle and instance; 0: no limit */
  accel_scale *scales;
  uint32_t scale_count;
  double area_um2;          /* of an instance; 0 if not given */
  bool reduction_supported; /* false at DRAM unless the file says otherwise */
  accel_energy energy;
  accel_network network;         /* towards the next inner level */
  const accel_yaml *constraints; /* version 0.4: a mapping of `temporal`,
                                    `spatial`, `dataspace`, as written; of a
                                    mesh its `spatial` only; NULL if none */
  accel_branch branch;           /* version 0.4 */
} accel_level;

typedef struct accel_compute {
  const char *name; /* Timeloop's "__ARITH__" if the file has none */
  accel_place place;
  uint32_t word_bits;
  uint64_t instances, mesh_x, mesh_y;
  double energy_pj; /* of one operation */
  double area_um2;  /* 0 if not given */
  bool energy_known;
} accel_compute;

typedef struct accel_arch {
  const char *name; /* of its first file, without folder and suffix */
  accel_compute compute;
  accel_level *levels; /* innermost first */
  uint32_t level_count;
} accel_arch;

/*
 * The machine that a tree (accel_yaml_open, accel_yaml_join) describes.
 * Energies of a level: its `vector-access-energy`, else those of the ERT in
 * `ert` (NULL: none given; then `ERT` or `ERT_summary` in the same tree), else
 * Timeloop's built-in formulas (PAT).  Of the compute units: the ERT, else
 * their `energy`, else the formula.  A level's energies that cannot be had are
 * `unknown`; those of the compute units are an error if `energy` is true.
 * CALM_BAD_INPUT for an unknown or wrong key, CALM_UNSUPPORTED for a construct
 * that calm does not read; both with file:line:column and the remedy.
 */
calm_status accel_arch_read(accel_arch *out, const accel_yaml *root,
                            const accel_yaml *ert, bool energy, arena *a);

/* Columns and rows of the fan-out below a level: how many times the next inner
   level (or the compute array) stands on the mesh per instance. */
typedef struct accel_fanout {
  uint64_t x, y;
} accel_fanout;
accel_fanout accel_arch_fanout(const accel_arch *arch, uint32_t level);

/* The id of a level by its name, CALM_NONE if there is none. */
uint32_t accel_arch_find(const accel_arch *arch, const char *name);

#endif
