/*
 * The mark of a plan that relies on kernels: the metadata entry calm.overlap
 * beside the plan, a text that a person can read in a hex dump.
 *
 *     version 1
 *     kernels reference
 *     edition 1
 *     views reshape,slice
 *     calm 1.0.0
 *     graphs 0123456789abcdef
 *     offsets 0123456789abcdef
 *
 * The two hashes bind it to what was planned.  Graphs are taken as the file has
 * them, by numbers, so that neither names nor what a reader makes of options
 * matter.  Each line ends with a newline; keys that are not known are passed
 * over.
 */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "model/tflite_write.h"

enum { MARK_VERSION = 1, MARK_MOST = 4096, DIGITS = 16 };

/* ---- What it binds ------------------------------------------------------- */

static uint64_t hash_list(uint64_t hash, const flat_file *file,
                          flat_table table, unsigned slot) {
  const flat_vector list = flat_vector_of(file, table, slot, 4);
  hash = hash_fold(hash, list.count);
  for (uint32_t i = 0; i < list.count; i++)
    hash = hash_fold(hash, (uint32_t)flat_i32_at(file, list, i));
  return hash;
}

/* The larger of the two fields is the code; a custom one has a name. */
static uint64_t hash_code(uint64_t hash, const tflite_reader *r,
                          uint32_t index) {
  if (index >= r->codes.count) return hash_fold(hash, UINT64_MAX);
  const flat_table code = flat_table_at(&r->file, r->codes, index);
  const int32_t old =
      flat_i8(&r->file, code, TFLITE_operator_code_deprecated_builtin_code, 0);
  const int32_t new =
      flat_i32(&r->file, code, TFLITE_operator_code_builtin_code, 0);
  const flat_string name =
      flat_string_of(&r->file, code, TFLITE_operator_code_custom_code);
  hash = hash_fold(hash, (uint32_t)(old > new ? old : new));
  hash = hash_fold(hash, name.length);
  for (size_t i = 0; i < name.length; i++)
    hash = hash_fold(hash, (uint8_t)name.text[i]);
  return hash;
}

static uint64_t hash_operator(uint64_t hash, const tflite_reader *r,
                              flat_table op) {
  hash = hash_code(hash, r,
                   flat_u32(&r->file, op, TFLITE_operator_opcode_index, 0));
  hash = hash_list(hash, &r->file, op, TFLITE_operator_inputs);
  return hash_list(hash, &r->file, op, TFLITE_operator_outputs);
}

static uint64_t hash_tensors(uint64_t hash, const tflite_reader *r,
                             flat_table subgraph) {
  const flat_vector tensors =
      flat_vector_of(&r->file, subgraph, TFLITE_subgraph_tensors, 4);
  hash = hash_fold(hash, tensors.count);
  for (uint32_t i = 0; i < tensors.count; i++) {
    const flat_table tensor = flat_table_at(&r->file, tensors, i);
    hash = hash_fold(hash,
                     (uint8_t)flat_i8(&r->file, tensor, TFLITE_tensor_type, 0));
    hash = hash_list(hash, &r->file, tensor, TFLITE_tensor_shape);
  }
  return hash;
}

static uint64_t hash_operators(uint64_t hash, const tflite_reader *r,
                               flat_table subgraph, const op_id *sequence) {
  const flat_vector ops =
      flat_vector_of(&r->file, subgraph, TFLITE_subgraph_operators, 4);
  hash = hash_fold(hash, ops.count);
  for (uint32_t i = 0; i < ops.count; i++)
    hash = hash_operator(
        hash, r, flat_table_at(&r->file, ops, sequence ? sequence[i] : i));
  return hash;
}

uint64_t tflite_hash_graphs(const tflite_reader *r,
                            const op_id *const *sequences) {
  uint64_t hash = hash_fold(0, r->subgraphs.count);
  for (uint32_t i = 0; i < r->subgraphs.count; i++) {
    const flat_table subgraph = flat_table_at(&r->file, r->subgraphs, i);
    hash = hash_tensors(hash, r, subgraph);
    hash = hash_list(hash, &r->file, subgraph, TFLITE_subgraph_inputs);
    hash = hash_list(hash, &r->file, subgraph, TFLITE_subgraph_outputs);
    hash = hash_operators(hash, r, subgraph, sequences ? sequences[i] : NULL);
  }
  return hash;
}

/* ---- Writing ------------------------------------------------------------- */

calm_status tflite_write_mark(tflite_writer *w, uint64_t offsets) {
  const model_mark *mark = w->patch->mark;
  text t;
  if (!mark) return tflite_drop_named(w, TFLITE_MARK_NAME), CALM_OK;
  text_init(&t, w->model->context);
  text_format(&t, "version %d\nkernels %s\nedition %" PRIu64 "\nviews %s\n",
              MARK_VERSION, mark->kernels, mark->edition, mark->views);
  text_format(&t, "calm %s\ngraphs %016" PRIx64 "\noffsets %016" PRIx64 "\n",
              mark->tool, tflite_hash_graphs(&w->tables, w->patch->sequences),
              offsets);
  calm_status status =
      t.failed ? context_no_memory(w->model->context)
               : tflite_put_entry(w, TFLITE_MARK_NAME, t.data, t.length);
  text_free(&t);
  return status;
}

/* ---- Reading ------------------------------------------------------------- */

/* The value behind a key at the beginning of a line; length 0: there is none.
   Values are printable and have no spaces. */
typedef struct words {
  const char *text;
  size_t length;
} words;

static words find_value(words all, const char *key) {
  const size_t length = strlen(key);
  for (size_t at = 0; at < all.length;) {
    const char *line = all.text + at;
    const char *end = memchr(line, '\n', all.length - at);
    if (!end) break;
    const size_t line_length = (size_t)(end - line);
    if (line_length > length + 1 && !memcmp(line, key, length) &&
        line[length] == ' ')
      return (words){line + length + 1, line_length - length - 1};
    at += line_length + 1;
  }
  return (words){NULL, 0};
}

static bool is_plain(words value) {
  for (size_t i = 0; i < value.length; i++)
    if (value.text[i] <= ' ' || value.text[i] > '~') return false;
  return value.length > 0;
}

static bool parse_hash(uint64_t *out, words value) {
  static const char digits[] = "0123456789abcdef";
  uint64_t hash = 0;
  if (value.length != DIGITS) return false;
  for (size_t i = 0; i < DIGITS; i++) {
    const char *digit = memchr(digits, value.text[i], DIGITS);
    if (!digit) return false;
    hash = hash << 4 | (uint64_t)(digit - digits);
  }
  *out = hash;
  return true;
}

static uint64_t hash_plan(const model_offline_plan *plan) {
  uint64_t hash = 0;
  for (uint32_t i = 0;
       i < plan->word_count && (int64_t)i < plan->declared_count; i++)
    hash = hash_fold(hash, (uint32_t)plan->offsets[i]);
  return hash;
}

/* Numbers and hashes; what is wrong with them, or NULL. */
static const char *parse_numbers(model_mark *mark, const tflite_reader *r,
                                 words all) {
  uint64_t graphs, offsets;
  const words edition = find_value(all, "edition");
  if (!number_parse(&mark->edition, edition.text, edition.length))
    return "it has no edition of distances";
  if (!parse_hash(&graphs, find_value(all, "graphs")) ||
      !parse_hash(&offsets, find_value(all, "offsets")))
    return "it has no hashes";
  mark->same_graphs = graphs == tflite_hash_graphs(r, NULL);
  mark->same_offsets = offsets == hash_plan(&r->model->offline);
  return NULL;
}

/* A word under its key; an empty one if it is not there. */
static calm_status keep_word(const char **out, tflite_reader *r, words all,
                             const char *key) {
  const words value = find_value(all, key);
  *out = arena_string(&r->model->arena, is_plain(value) ? value.text : "",
                      is_plain(value) ? value.length : 0);
  return *out ? CALM_OK : context_no_memory(r->context);
}

static calm_status parse(model_mark *mark, tflite_reader *r, words all) {
  const words version = find_value(all, "version");
  if (version.length != 1 || *version.text != '0' + MARK_VERSION) {
    mark->fault = "it is of a version that this calm does not know";
    return CALM_OK;
  }
  TRY(keep_word(&mark->kernels, r, all, "kernels"));
  TRY(keep_word(&mark->views, r, all, "views"));
  TRY(keep_word(&mark->tool, r, all, "calm"));
  mark->fault = !*mark->kernels ? "it names no kernels"
                : !*mark->views ? "it names no views"
                                : parse_numbers(mark, r, all);
  return CALM_OK;
}

/* Bytes that no such text has are refused here, so that the rest may take lines
   as they come. */
calm_status tflite_read_mark(tflite_reader *r, uint32_t buffer) {
  const tflite_bytes bytes = tflite_buffer(r, buffer);
  model_mark *mark = &r->model->offline.mark;
  mark->present = true;
  mark->kernels = mark->views = mark->tool = "";
  if (buffer >= r->buffers.count)
    mark->fault = "its buffer does not exist";
  else if (bytes.size == 0)
    mark->fault = "its buffer is empty";
  else if (bytes.size > MARK_MOST)
    mark->fault = "its buffer is too long for one";
  if (mark->fault) return CALM_OK;
  return parse(mark, r,
               (words){(const char *)r->file.bytes + bytes.position,
                       (size_t)bytes.size});
}
