/*
 * Tensors of a rebuilt .tflite file: each is made like the old tensor it comes
 * from, except for what its descent changes.
 */
#include <inttypes.h>
#include <string.h>

#include "model/tflite_rebuild.h"

typedef struct making {
  tflite_rebuilder *w;
  const graph_tensor *tensor, *from; /* the new one; where it comes from */
  const edit_tensor *descent;
  flat_table table; /* of `from` */
} making;

static bool is_same(const making *m) {
  return m->descent->contents == EDIT_SAME;
}

/* ---- The table ----------------------------------------------------------- */

static void draft_storage(const making *m, flat_draft *draft, tensor_id t) {
  const uint64_t old = draft->values[TFLITE_tensor_buffer].number;
  const uint32_t buffer =
      is_same(m) ? tflite_new_buffer(m->w, (uint32_t)old) : m->w->own[t];
  flat_draft_number(draft, TFLITE_tensor_buffer, 4, buffer, 0);
  if (is_same(m)) return;
  flat_draft_number(draft, TFLITE_tensor_is_variable, 1, 0, 0);
  flat_draft_number(draft, TFLITE_tensor_external_buffer, 4, 0, 0);
  flat_draft_object(draft, TFLITE_tensor_sparsity, false);
}

/* Zeros for an operator without bias are made like its output, which may be of
   another type; then its scales are not theirs. */
static calm_status draft_type(const making *m, flat_draft *draft) {
  const bool numbers = m->descent->contents == EDIT_NUMBERS;
  if (is_same(m) || (m->tensor->type == m->from->type && !numbers))
    return CALM_OK;
  const int code = tflite_type_code(m->tensor->type);
  if (code < 0)
    return tflite_refuse(m->w, "has the type %s, which .tflite does not have",
                         element_type_name(m->tensor->type));
  flat_draft_number(draft, TFLITE_tensor_type, 1, (uint64_t)code, 0);
  flat_draft_object(draft, TFLITE_tensor_quantization, false);
  return CALM_OK;
}

static void draft_shape(const making *m, flat_draft *draft) {
  const bool open = draft->values[TFLITE_tensor_shape_signature].size &&
                    m->tensor->rank == m->from->rank &&
                    m->descent->contents == EDIT_MADE;
  if (is_same(m)) return;
  flat_draft_object(draft, TFLITE_tensor_shape, true);
  flat_draft_object(draft, TFLITE_tensor_shape_signature, open);
}

/* A name that the reader made up or made unique goes into the file, unless it
   would come out the same there: it depends on numbers and on other names. */
static bool has_own_name(const making *m, tensor_id t) {
  const flat_string own =
      flat_string_of(tflite_old_file(m->w), m->table, TFLITE_tensor_name);
  const void *nul = own.length ? memchr(own.text, '\0', own.length) : NULL;
  const size_t length =
      nul ? (size_t)((const char *)nul - own.text) : own.length;
  if (t < m->w->unmoved) return true;
  return is_same(m) && length == strlen(m->tensor->name) &&
         (length == 0 || !memcmp(own.text, m->tensor->name, length));
}

/* ---- Shapes -------------------------------------------------------------- */

static calm_status build_shape(const making *m, size_t from) {
  const graph_tensor *tensor = m->tensor;
  size_t first;
  TRY(flat_build_offsets(&first, &m->w->to, from, tensor->rank));
  for (uint32_t i = 0; i < tensor->rank; i++) {
    if (tensor->dimensions[i] > INT32_MAX)
      return tflite_refuse(m->w, "has a dimension of %" PRId64,
                           tensor->dimensions[i]);
    flat_build_set(&m->w->to, first + (size_t)i * 4,
                   (uint64_t)tensor->dimensions[i], 4);
  }
  return CALM_OK;
}

/* Dimensions that stay are as open as they were. */
static calm_status build_signature(const making *m, size_t from) {
  const flat_file *file = tflite_old_file(m->w);
  const flat_vector old =
      flat_vector_of(file, m->table, TFLITE_tensor_shape_signature, 4);
  size_t first;
  TRY(flat_build_offsets(&first, &m->w->to, from, m->tensor->rank));
  for (uint32_t i = 0; i < m->tensor->rank; i++) {
    const bool stays =
        i < old.count && m->tensor->dimensions[i] == m->from->dimensions[i];
    const int64_t size =
        stays ? flat_i32_at(file, old, i) : m->tensor->dimensions[i];
    flat_build_set(&m->w->to, first + (size_t)i * 4, (uint64_t)size, 4);
  }
  return CALM_OK;
}

/* ---- Quantization -------------------------------------------------------- */

/* The part of one scale per channel that a slice has; all of it otherwise. */
typedef struct part {
  uint32_t begin, count, whole;
} part;

static calm_status find_part(part *out, const making *m, flat_table table) {
  const flat_file *file = tflite_old_file(m->w);
  const uint32_t count =
      flat_vector_of(file, table, TFLITE_quantization_scale, 4).count;
  const int32_t axis =
      flat_i32(file, table, TFLITE_quantization_quantized_dimension, 0);
  *out = (part){0, count, count};
  if (count <= 1) return CALM_OK;
  if (axis < 0 || (uint32_t)axis >= m->from->rank ||
      (uint32_t)axis >= m->tensor->rank || m->from->dimensions[axis] != count)
    return tflite_refuse(
        m->w, "has %" PRIu32 " scales that do not fit its shape", count);
  if (m->tensor->dimensions[axis] == count) return CALM_OK;
  if (m->descent->contents != EDIT_SLICE || m->descent->axis != (uint32_t)axis)
    return tflite_refuse(m->w, "would need other scales than it has");
  out->begin = (uint32_t)m->descent->begin;
  out->count = (uint32_t)m->tensor->dimensions[axis];
  return CALM_OK;
}

static calm_status build_scales(const making *m, const flat_draft *draft,
                                const part *p, unsigned slot, unsigned size) {
  const flat_file *file = tflite_old_file(m->w);
  const size_t object = draft->values[slot].old;
  if (!object) return CALM_OK;
  flat_vector v = {object + FLAT_OFFSET_BYTES,
                   (uint32_t)flat_number(file, object, 4)};
  if (p->count != p->whole && v.count == p->whole) {
    v.position += (size_t)p->begin * size;
    v.count = p->count;
  }
  return flat_build_numbers(&m->w->to, draft->places[slot],
                            file->bytes + v.position, v.count, size);
}

static calm_status build_quantization(const making *m, size_t from,
                                      flat_table table) {
  tflite_rebuilder *w = m->w;
  flat_draft draft;
  part p;
  if (!tflite_quantization_is_plain(tflite_old_file(w), table))
    return tflite_refuse(w, "is quantized in blocks or in a way of its own");
  TRY(find_part(&p, m, table));
  TRY(flat_load(&draft, &w->copier, table,
                (flat_kind_of){TFLITE_TABLE_quantization, NULL}));
  TRY(flat_build_table(&w->to, from, &draft));
  TRY(build_scales(m, &draft, &p, TFLITE_quantization_min, 4));
  TRY(build_scales(m, &draft, &p, TFLITE_quantization_max, 4));
  TRY(build_scales(m, &draft, &p, TFLITE_quantization_scale, 4));
  return build_scales(m, &draft, &p, TFLITE_quantization_zero_point, 8);
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status build_slot(const making *m, const flat_draft *draft,
                              unsigned slot) {
  const flat_value *value = &draft->values[slot];
  const size_t from = draft->places[slot];
  if (!value->refers) return CALM_OK;
  if (slot == TFLITE_tensor_name && !value->old)
    return flat_build_text(&m->w->to, from, m->tensor->name,
                           strlen(m->tensor->name));
  if (slot == TFLITE_tensor_shape && !value->old) return build_shape(m, from);
  if (slot == TFLITE_tensor_shape_signature && !value->old)
    return build_signature(m, from);
  if (slot == TFLITE_tensor_quantization && !is_same(m))
    return build_quantization(m, from, value->old);
  return flat_copy_slot(&m->w->copier, draft, TFLITE_TABLE_tensor, slot);
}

calm_status tflite_build_tensor(tflite_rebuilder *w, size_t from, tensor_id t) {
  const graph_edit *edit = w->edit;
  const edit_tensor *descent = &edit->tensors.data[t];
  const making m = {
      w, &edit->after.tensors.data[t],
      &edit->before->tensors.data[descent->from], descent,
      flat_table_at(tflite_old_file(w), w->tensors, descent->from)};
  flat_draft draft;
  if (descent->contents > EDIT_MADE && !descent->bytes && m.tensor->bytes)
    return tflite_refuse(w, "has no bytes");
  TRY(flat_load(&draft, &w->copier, m.table,
                (flat_kind_of){TFLITE_TABLE_tensor, NULL}));
  draft_storage(&m, &draft, t);
  draft_shape(&m, &draft);
  TRY(draft_type(&m, &draft));
  if (!has_own_name(&m, t)) flat_draft_object(&draft, TFLITE_tensor_name, true);
  TRY(flat_build_table(&w->to, from, &draft));
  for (unsigned slot = 0; slot < FLAT_SLOTS; slot++)
    TRY(build_slot(&m, &draft, slot));
  return CALM_OK;
}
