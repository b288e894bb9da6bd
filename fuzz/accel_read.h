/*
 * What the targets for files of accelerators share: a machine and two layers to
 * read the rest against, and what was read as a text, so that two readings can
 * be compared.
 */
#ifndef CALM_FUZZ_ACCEL_READ_H
#define CALM_FUZZ_ACCEL_READ_H

#include <math.h>
#include <string.h>

#include "accel/accel_arch.h"
#include "accel/accel_constraints.h"
#include "accel/accel_layer.h"
#include "accel/accel_nest.h"
#include "base/arena.h"
#include "base/text.h"
#include "demand.h"

static const char own_arch[] = /* for the convolution */
    "architecture:\n"
    "  version: 0.4\n"
    "  nodes:\n"
    "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64}}\n"
    "  - !Component {name: GLB, class: SRAM, attributes: {depth: 4096}}\n"
    "  - !Container {name: PE, spatial: {meshX: 8, meshY: 4}}\n"
    "  - !Parallel\n"
    "    nodes:\n"
    "    - !Component {name: W, class: storage, attributes: {depth: 64},"
    " constraints: {dataspace: {keep: [Weights]}}}\n"
    "    - !Component {name: O, class: storage, attributes: {depth: 16},"
    " constraints: {dataspace: {keep: [Outputs, Inputs]}}}\n"
    "  - !Component {name: mac, class: intmac, spatial: {meshX: 2}}\n";
static const char own_chain[] = /* for the product */
    "arch:\n"
    "  arithmetic: {instances: 32, meshX: 8}\n"
    "  storage:\n"
    "  - {name: O, entries: 16, instances: 32, meshX: 8}\n"
    "  - {name: GLB, entries: 4096, instances: 1}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1}\n";
static const char own_layer[] =
    "problem: {R: 3, S: 3, P: 8, Q: 6, C: 4, K: 16, N: 1, Wstride: 2}\n";
static const char own_product[] =
    "problem: {shape: gemm_ABZ, M: 12, N: 5, K: 7}\n";

/* A text of ours, which is always read. */
static inline accel_yaml *own_yaml(const char *yaml, arena *a) {
  accel_yaml *root;
  demand(accel_yaml_parse(&root, "own", yaml, strlen(yaml), a) == CALM_OK);
  return root;
}

static inline void own_case(accel_arch *arch, accel_layer *layer,
                            const char *arch_text, const char *layer_text,
                            arena *a) {
  demand(accel_arch_read(arch, own_yaml(arch_text, a), NULL, false, a) ==
         CALM_OK);
  demand(accel_layer_read(layer, own_yaml(layer_text, a),
                          ACCEL_DILATION_LITERAL, a) == CALM_OK);
}

/* A failure says something, and says it in one line. */
static inline bool succeeded(text *t, calm_status status, arena *a) {
  const char *message = calm_context_message(a->context);
  if (status == CALM_OK) return true;
  demand(status == CALM_BAD_INPUT || status == CALM_UNSUPPORTED);
  demand(*message != '\0' && !strchr(message, '\n'));
  text_format(t, "%s\n", message);
  return false;
}

static inline void show_level(text *t, const accel_level *l) {
  demand(l->instances >= 1 && l->instances == l->mesh_x * l->mesh_y);
  demand(l->word_bits >= 1 && l->block_words >= 1 && l->cluster >= 1);
  demand(l->capacity_words <= l->entries || l->multiple_buffering < 1);
  demand(l->read_bandwidth >= 0 && isfinite(l->read_bandwidth));
  demand(l->write_bandwidth >= 0 && isfinite(l->write_bandwidth));
  demand(l->min_utilization >= 0 && l->min_utilization <= 1);
  text_format(t, "%s %s %d%d%d %llu %llu %a %a %u %u %u %llux%llu", l->name,
              l->class_name, l->dram, l->virtual_level, l->reduction_supported,
              (unsigned long long)l->entries,
              (unsigned long long)l->capacity_words, l->multiple_buffering,
              l->min_utilization, l->word_bits, l->block_words, l->cluster,
              (unsigned long long)l->mesh_x, (unsigned long long)l->mesh_y);
  text_format(t, " bandwidth %a %a %a energy %d %a %a %a %a %a",
              l->read_bandwidth, l->write_bandwidth, l->shared_bandwidth,
              l->energy.known, l->energy.read_pj, l->energy.write_pj,
              l->energy.update_pj, l->energy.leak_pj, l->energy.address_pj);
  text_format(t, " net %u %a %a %a %a\n", l->network.word_bits,
              l->network.hop_pj, l->network.router_pj, l->network.wire_pj,
              l->network.ingress_pj);
  for (uint32_t i = 0; i < l->scale_count; i++)
    text_format(t, " scale %s %a", l->scales[i].tensor, l->scales[i].scale);
  for (uint32_t i = 0; i < l->branch.keep_count; i++)
    text_format(t, " +%s", l->branch.keeps[i]);
  for (uint32_t i = 0; i < l->branch.bypass_count; i++)
    text_format(t, " -%s", l->branch.bypasses[i]);
}

static inline void show_arch(text *t, const accel_arch *arch) {
  demand(arch->level_count > 0);
  for (uint32_t i = 0; i < arch->level_count; i++) {
    const accel_fanout fanout = accel_arch_fanout(arch, i);
    demand(fanout.x >= 1 && fanout.y >= 1);
    demand(accel_arch_find(arch, arch->levels[i].name) == i);
    show_level(t, &arch->levels[i]);
  }
  text_format(t, "%s %s %u %llux%llu %d %a\n", arch->name, arch->compute.name,
              arch->compute.word_bits, (unsigned long long)arch->compute.mesh_x,
              (unsigned long long)arch->compute.mesh_y,
              arch->compute.energy_known, arch->compute.energy_pj);
}

static inline void show_layer(text *t, const accel_layer *layer) {
  uint64_t macs = 1;
  text_format(t, "layer %s x %llu\n", layer->shape,
              (unsigned long long)layer->count);
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const accel_dimension *dimension = &layer->dimensions[d];
    demand(dimension->bound >= 1);
    demand(accel_layer_dimension(layer, dimension->name) == d);
    macs *= dimension->bound;
    text_format(t, " %s=%llu", dimension->name,
                (unsigned long long)dimension->bound);
  }
  demand(macs == layer->macs && macs <= ACCEL_MAX_COUNT);
  for (uint32_t i = 0; i < layer->tensor_count; i++) {
    const accel_tensor *tensor = &layer->tensors[i];
    text_format(t, "\n%s%s", tensor->name,
                tensor->read_write ? " written" : "");
    for (uint32_t r = 0; r < tensor->rank_count; r++) {
      text_format(t, " [");
      for (uint32_t k = 0; k < tensor->ranks[r].term_count; k++)
        text_format(t, " %u*%llu", tensor->ranks[r].terms[k].dimension,
                    (unsigned long long)tensor->ranks[r].terms[k].coefficient);
      text_format(t, " ]");
    }
  }
  text_format(t, "\n");
}

static inline void show_nest(text *t, const accel_nest *nest,
                             const accel_arch *arch) {
  demand(nest->level_count == arch->level_count);
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    const accel_loop *l = &nest->loops[i];
    demand(l->residual >= 1 && l->residual <= l->bound);
    demand(l->level < nest->level_count);
    demand(i == 0 || l->level >= nest->loops[i - 1].level);
    text_format(t, " %u:%u.%d:%llu/%llu", l->level, l->dimension, l->kind,
                (unsigned long long)l->bound, (unsigned long long)l->residual);
  }
  for (uint32_t i = 0; i < nest->level_count; i++)
    text_format(t, " kept %x %x", nest->kept[i],
                nest->unlinked ? nest->unlinked[i] : 0);
  text_format(t, "\n");
}

static inline void show_block(text *t, const accel_block_rules *b) {
  for (uint32_t i = 0; i < b->factor_count; i++)
    text_format(t, " %u%c%llu", b->factors[i].dimension,
                "=<>"[b->factors[i].relation],
                (unsigned long long)b -> factors[i].value);
  for (uint32_t i = 0; i < b->inner_count; i++)
    text_format(t, " in %u", b->inner[i]);
  for (uint32_t i = 0; i < b->outer_count; i++)
    text_format(t, " out %u", b->outer[i]);
  text_format(t, " split %u\n", b->split);
}

static inline void show_constraints(text *t, const accel_constraints *c) {
  for (uint32_t i = 0; i < c->level_count; i++) {
    demand((c->levels[i].keep & c->levels[i].bypass) == 0);
    text_format(t, "level %u: %x %x\n", i, c->levels[i].keep,
                c->levels[i].bypass);
    show_block(t, &c->levels[i].temporal);
    show_block(t, &c->levels[i].spatial);
  }
  text_format(t, "parallel %a\n", c->min_parallelism);
}

/* What a target does with a file: adds all that it read to the text. */
typedef void file_use(text *t, const accel_yaml *root, arena *a);

static inline char *use_once(file_use *use, const uint8_t *data, size_t size,
                             calm_context *context) {
  accel_yaml *root;
  arena a;
  text t;
  char *out;
  arena_init(&a, context);
  text_init(&t, context);
  text_format(&t, "\n");
  if (succeeded(&t,
                accel_yaml_parse(&root, "f.yaml", (const char *)data, size, &a),
                &a))
    use(&t, root, &a);
  arena_free(&a);
  demand(text_finish(&t, &out) == CALM_OK);
  return out;
}

/* Reading twice gives the same, and nothing is left behind. */
static inline int use_twice(file_use *use, const uint8_t *data, size_t size) {
  char *shown[2];
  for (int i = 0; i < 2; i++) {
    calm_context *context = calm_context_new(NULL);
    if (!context) return 0;
    calm_context_set_log(context, take_line, NULL);
    char *text = use_once(use, data, size, context);
    shown[i] = strdup(text);
    demand(shown[i] != NULL);
    calm_text_free(context, text);
    demand(calm_context_bytes(context) == 0);
    calm_context_free(context);
  }
  demand(!strcmp(shown[0], shown[1]));
  free(shown[0]);
  free(shown[1]);
  return 0;
}

#endif
