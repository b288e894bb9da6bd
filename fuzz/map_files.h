/*
 * What the targets of the mapping pipeline share: a folder of their own with a
 * machine and a layer, so small that mapping takes no time.  It goes when the
 * program ends.
 */
#ifndef CALM_FUZZ_MAP_FILES_H
#define CALM_FUZZ_MAP_FILES_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "demand.h"

static const char map_arch[] =
    "architecture:\n"
    "  version: 0.4\n"
    "  nodes:\n"
    "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64,"
    " datawidth: 8, shared_bandwidth: 2}}\n"
    "  - !Component {name: GLB, class: SRAM, attributes: {depth: 24,"
    " datawidth: 8}}\n"
    "  - !Container {name: PE, spatial: {meshX: 2}}\n"
    "  - !Component {name: O, class: storage, attributes: {depth: 4,"
    " datawidth: 8}, constraints: {dataspace: {keep: [Outputs]}}}\n"
    "  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}\n";
static const char map_layer_file[] =
    "problem: {R: 2, S: 1, P: 4, Q: 1, C: 2, K: 4, N: 1}\n";

enum { MAP_PATH = 64 };
static char map_folder[] = "/tmp/calm-fuzz-XXXXXX";

static inline void map_path(char *out, const char *name) {
  snprintf(out, MAP_PATH, "%s/%s", map_folder, name);
}

static inline void map_write(const char *name, const void *bytes,
                             size_t length) {
  char path[MAP_PATH];
  map_path(path, name);
  FILE *file = fopen(path, "wb");
  demand(file && fwrite(bytes, 1, length, file) == length);
  demand(fclose(file) == 0);
}

static inline void map_remove(const char *name) {
  char path[MAP_PATH];
  map_path(path, name);
  unlink(path);
}

static inline void map_clear(void) {
  map_remove("arch.yaml");
  map_remove("layer.yaml");
  map_remove("work");
  rmdir(map_folder);
}

/* Once. */
static inline void map_prepare(void) {
  static bool prepared;
  if (prepared) return;
  prepared = true;
  demand(mkdtemp(map_folder) != NULL);
  map_write("arch.yaml", map_arch, strlen(map_arch));
  map_write("layer.yaml", map_layer_file, strlen(map_layer_file));
  atexit(map_clear);
}

#endif
