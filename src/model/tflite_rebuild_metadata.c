/*
 * What speaks of tensors and operators of a rebuilt .tflite file by number:
 * signatures, control edges, the offline plan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/tflite_rebuild.h"

/* ---- Control edges ------------------------------------------------------- */

static bool is_called(const tflite_rebuilder *w, flat_vector entries,
                      uint32_t i, const char *name) {
  const flat_file *file = tflite_old_file(w);
  return tflite_is_called(flat_string_of(file, flat_table_at(file, entries, i),
                                         TFLITE_metadata_name),
                          name);
}

static flat_vector old_entries(const tflite_rebuilder *w) {
  return flat_vector_of(tflite_old_file(w), w->tables.root,
                        TFLITE_model_metadata, 4);
}

/* Those of the entry graph as it is now, and then those of the others. */
static calm_status replace_edges(tflite_rebuilder *w) {
  tflite_reader *r = &w->tables;
  const graph *g = &w->edit->after;
  const uint32_t count = r->edges.count;
  tflite_edge *old;
  ARENA_ARRAY(&r->scratch, old, count);
  if (count) memcpy(old, r->edges.data, count * sizeof *old);
  r->edges.count = 0;
  for (op_id u = 0; u < g->ops.count; u++)
    for (uint32_t i = 0; i < g->ops.data[u].after_count; i++)
      VECTOR_PUSH(r->context, &r->edges,
                  (tflite_edge){.from = g->ops.data[u].after[i], .to = u});
  for (uint32_t i = 0; i < count; i++)
    if (old[i].subgraph) VECTOR_PUSH(r->context, &r->edges, old[i]);
  return CALM_OK;
}

static calm_status make_places(const op_id ***out, tflite_rebuilder *w) {
  const uint32_t graphs = w->model->graphs.count;
  const op_id **places;
  op_id *identity;
  uint32_t most = w->edit->after.ops.count;
  for (uint32_t i = 1; i < graphs; i++)
    if (w->model->graphs.data[i].ops.count > most)
      most = w->model->graphs.data[i].ops.count;
  ARENA_ARRAY(&w->tables.scratch, places, graphs);
  ARENA_ARRAY(&w->tables.scratch, identity, most);
  for (op_id u = 0; u < most; u++) identity[u] = u;
  for (uint32_t i = 0; i < graphs; i++) places[i] = identity;
  *out = places;
  return CALM_OK;
}

/* An entry that says nothing, or in a way that is not known, stays. */
calm_status tflite_describe_edges(tflite_rebuilder *w) {
  const flat_file *file = tflite_old_file(w);
  const flat_vector entries = old_entries(w);
  uint32_t found = CALM_NONE;
  const op_id **places;
  for (uint32_t i = 0; i < entries.count; i++)
    if (is_called(w, entries, i, TFLITE_EDGES_NAME)) found = i;
  if (found != CALM_NONE)
    TRY(tflite_read_edges(&w->tables,
                          flat_u32(file, flat_table_at(file, entries, found),
                                   TFLITE_metadata_buffer, 0)));
  const bool had_some = w->tables.edges.count > 0;
  TRY(replace_edges(w));
  if (!had_some && w->tables.edges.count == 0) return CALM_OK;
  if (w->tables.edge_lists == 0) w->tables.edge_lists = 1;
  TRY(make_places(&places, w));
  tflite_write_edges(&w->edges, &w->tables, places);
  w->edges_change = true;
  return w->edges.failed ? context_no_memory(w->model->context) : CALM_OK;
}

/* ---- Entries ------------------------------------------------------------- */

bool tflite_keeps_entry(const tflite_rebuilder *w, flat_vector entries,
                        uint32_t i) {
  if (is_called(w, entries, i, TFLITE_PLAN_NAME) ||
      is_called(w, entries, i, TFLITE_MARK_NAME))
    return false;
  return !w->edges_change || !is_called(w, entries, i, TFLITE_EDGES_NAME);
}

uint32_t tflite_count_entries(const tflite_rebuilder *w) {
  const flat_vector entries = old_entries(w);
  uint32_t count = w->edges_change;
  for (uint32_t i = 0; i < entries.count; i++)
    count += tflite_keeps_entry(w, entries, i);
  return count;
}

static calm_status build_entry(tflite_rebuilder *w, size_t from,
                               flat_table entry) {
  flat_draft draft;
  TRY(flat_load(&draft, &w->copier, entry,
                (flat_kind_of){TFLITE_TABLE_metadata, NULL}));
  const uint64_t old = draft.values[TFLITE_metadata_buffer].number;
  flat_draft_number(&draft, TFLITE_metadata_buffer, 4,
                    tflite_new_buffer(w, (uint32_t)old), 0);
  TRY(flat_build_table(&w->to, from, &draft));
  return flat_copy_slots(&w->copier, &draft, TFLITE_TABLE_metadata);
}

static calm_status build_edges_entry(tflite_rebuilder *w, size_t from) {
  flat_draft draft = {0};
  flat_draft_object(&draft, TFLITE_metadata_name, true);
  flat_draft_number(&draft, TFLITE_metadata_buffer, 4, w->edges_store, 0);
  TRY(flat_build_table(&w->to, from, &draft));
  return flat_build_text(&w->to, draft.places[TFLITE_metadata_name],
                         TFLITE_EDGES_NAME, strlen(TFLITE_EDGES_NAME));
}

calm_status tflite_build_metadata(tflite_rebuilder *w, size_t from) {
  const flat_vector entries = old_entries(w);
  size_t next;
  TRY(flat_build_offsets(&next, &w->to, from, tflite_count_entries(w)));
  for (uint32_t i = 0; i < entries.count; i++) {
    if (!tflite_keeps_entry(w, entries, i)) continue;
    TRY(build_entry(w, next, flat_table_at(tflite_old_file(w), entries, i)));
    next += FLAT_OFFSET_BYTES;
  }
  return w->edges_change ? build_edges_entry(w, next) : CALM_OK;
}

/* ---- Signatures ---------------------------------------------------------- */

static calm_status build_map(tflite_rebuilder *w, size_t from, flat_table map,
                             bool of_entry) {
  flat_draft draft;
  TRY(flat_load(&draft, &w->copier, map,
                (flat_kind_of){TFLITE_TABLE_tensor_map, NULL}));
  if (of_entry) {
    int32_t t;
    const uint64_t old = draft.values[TFLITE_tensor_map_tensor_index].number;
    TRY(tflite_renumber(&t, w, (int64_t)old));
    flat_draft_number(&draft, TFLITE_tensor_map_tensor_index, 4, (uint32_t)t,
                      0);
  }
  TRY(flat_build_table(&w->to, from, &draft));
  return flat_copy_slots(&w->copier, &draft, TFLITE_TABLE_tensor_map);
}

static calm_status build_maps(tflite_rebuilder *w, const flat_draft *draft,
                              flat_table signature, unsigned slot,
                              bool of_entry) {
  const flat_file *file = tflite_old_file(w);
  const flat_vector old = flat_vector_of(file, signature, slot, 4);
  size_t first;
  if (!draft->values[slot].old) return CALM_OK;
  TRY(flat_build_offsets(&first, &w->to, draft->places[slot], old.count));
  for (uint32_t i = 0; i < old.count; i++)
    TRY(build_map(w, first + (size_t)i * 4, flat_table_at(file, old, i),
                  of_entry));
  return CALM_OK;
}

static calm_status build_signature(tflite_rebuilder *w, size_t from,
                                   flat_table signature) {
  flat_draft draft;
  TRY(flat_load(&draft, &w->copier, signature,
                (flat_kind_of){TFLITE_TABLE_signature, NULL}));
  const bool of_entry =
      draft.values[TFLITE_signature_subgraph_index].number == 0;
  TRY(flat_build_table(&w->to, from, &draft));
  TRY(build_maps(w, &draft, signature, TFLITE_signature_inputs, of_entry));
  TRY(build_maps(w, &draft, signature, TFLITE_signature_outputs, of_entry));
  TRY(flat_copy_slot(&w->copier, &draft, TFLITE_TABLE_signature,
                     TFLITE_signature_signature_key));
  return flat_copy_slot(&w->copier, &draft, TFLITE_TABLE_signature,
                        TFLITE_signature_deprecated_tag);
}

static bool names_gone(const tflite_rebuilder *w, flat_table signature,
                       unsigned slot) {
  const flat_file *file = tflite_old_file(w);
  const flat_vector maps = flat_vector_of(file, signature, slot, 4);
  for (uint32_t i = 0; i < maps.count; i++) {
    const uint32_t t = flat_u32(file, flat_table_at(file, maps, i),
                                TFLITE_tensor_map_tensor_index, 0);
    if (t < w->edit->before->tensors.count && w->becomes[t] == CALM_NONE)
      return true;
  }
  return false;
}

/* Inputs and outputs of the graph are never taken away.  A signature that names
   something else was left over by a tool that put other operators in. */
static bool keeps_signature(const tflite_rebuilder *w, flat_table signature) {
  if (flat_u32(tflite_old_file(w), signature, TFLITE_signature_subgraph_index,
               0))
    return true;
  return !names_gone(w, signature, TFLITE_signature_inputs) &&
         !names_gone(w, signature, TFLITE_signature_outputs);
}

calm_status tflite_build_signatures(tflite_rebuilder *w, size_t from,
                                    flat_vector old) {
  const flat_file *file = tflite_old_file(w);
  size_t next;
  uint32_t count = 0;
  for (uint32_t i = 0; i < old.count; i++)
    count += keeps_signature(w, flat_table_at(file, old, i));
  if (count < old.count)
    context_log(w->model->context, CALM_LOG_WARNING,
                "%s: a signature names a tensor inside the graph that is taken "
                "away; the signature goes with it",
                w->model->path);
  TRY(flat_build_offsets(&next, &w->to, from, count));
  for (uint32_t i = 0; i < old.count; i++) {
    const flat_table signature = flat_table_at(file, old, i);
    snprintf(w->copier.whose, sizeof w->copier.whose, "signature %" PRIu32, i);
    if (!keeps_signature(w, signature)) continue;
    TRY(build_signature(w, next, signature));
    next += FLAT_OFFSET_BYTES;
  }
  w->copier.whose[0] = '\0';
  return CALM_OK;
}
