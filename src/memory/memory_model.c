/* The table of memory models and the text of their columns. */
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "memory/memory.h"

/* Sets of kinds as constants: KIND_SET(KINDS), where KINDS(w) gives word w. */
#define KIND(w, kind) ((uint64_t)((kind) / 64 == (w)) << (kind) % 64)
#define KIND_SET(kinds)                                                   \
  {                                                                       \
    kinds(0), kinds(1), kinds(2), kinds(3), kinds(4), kinds(5), kinds(6), \
        kinds(7)                                                          \
  }
_Static_assert(OP_KIND_WORDS == 8, "KIND_SET gives every word");

/* What can be a view at all; a split only if it has one output. */
#define VIEW_KINDS(w)                                                    \
  (KIND(w, OP_reshape) | KIND(w, OP_squeeze) | KIND(w, OP_expand_dims) | \
   KIND(w, OP_bitcast) | KIND(w, OP_stablehlo_reshape) |                 \
   KIND(w, OP_identity) | KIND(w, OP_dropout) | KIND(w, OP_split) |      \
   KIND(w, OP_split_v))

/* Kernels that copy their input, if they do anything: copied onto itself, it
   stays what it is. */
#define COPYING_KINDS(w) \
  (KIND(w, OP_reshape) | KIND(w, OP_squeeze) | KIND(w, OP_expand_dims))

/* What TensorFlow Lite declares of its kernels. */
#define LITERT_INPLACE(w)                                                  \
  (KIND(w, OP_add) | KIND(w, OP_sub) | KIND(w, OP_mul) | KIND(w, OP_div) | \
   KIND(w, OP_softmax) | KIND(w, OP_dynamic_update_slice))
#define LITERT_VIEWS(w) (COPYING_KINDS(w) | KIND(w, OP_bitcast))

/* What the CPU kernels of ONNX Runtime do; arithmetic is not among it, but for
   the sum of a fused convolution. */
#define ORT_INPLACE(w)                                                    \
  (KIND(w, OP_relu) | KIND(w, OP_leaky_relu) | KIND(w, OP_elu) |          \
   KIND(w, OP_logistic) | KIND(w, OP_tanh) | KIND(w, OP_hard_sigmoid) |   \
   KIND(w, OP_softplus) | KIND(w, OP_softsign) | KIND(w, OP_selu) |       \
   KIND(w, OP_celu) | KIND(w, OP_thresholded_relu) | KIND(w, OP_shrink) | \
   KIND(w, OP_clip) | KIND(w, OP_softmax) | KIND(w, OP_log_softmax) |     \
   KIND(w, OP_cast) | KIND(w, OP_trilu) | KIND(w, OP_scatter_elements) |  \
   KIND(w, OP_fused_conv))
#define ORT_VIEWS(w) (COPYING_KINDS(w) | KIND(w, OP_identity))

static const uint64_t view_kinds[] = KIND_SET(VIEW_KINDS);

static const memory_model models[] = {
    {.name = "plain", .align = 1, .round = 1},
    {.name = "serenity",
     .align = 1,
     .round = 1,
     .views = KIND_SET(VIEW_KINDS),
     .concat = CONCAT_ELIDE},
    {.name = "tflm",
     .align = 16,
     .round = 16,
     .views = KIND_SET(COPYING_KINDS),
     .copied = CALM_TENSOR_CONST,
     .subgraphs = SUBGRAPHS_TFLM},
    {.name = "tflm-default",
     .align = 16,
     .round = 16,
     .subgraphs = SUBGRAPHS_TFLM},
    {.name = "litert",
     .inputs = INPUTS_WHOLE_RUN,
     .align = 64,
     .round = 1,
     .inplace = KIND_SET(LITERT_INPLACE),
     .inplace_above = 4,
     .views = KIND_SET(LITERT_VIEWS),
     .copied = CALM_TENSOR_INPUT | CALM_TENSOR_CONST,
     .own_outputs = true,
     .sole_reader = true,
     .keep_unread = true,
     .variables = VARIABLES_WHOLE_RUN},
    {.name = "ort",
     .inputs = INPUTS_EXTERNAL,
     .align = 1,
     .round = 1,
     .inplace = KIND_SET(ORT_INPLACE),
     .views = KIND_SET(ORT_VIEWS),
     .own_outputs = true,
     .keep_unread = true},
};

void memory_model_use_kernels(memory_model *model, kernel_library library) {
  model->kernels = library;
  for (int kind = 0; kind < OP_OPAQUE; kind++)
    if (kernel_in_place(library, (op_kind)kind))
      bits_add(model->inplace, (uint32_t)kind);
}

memory_model memory_model_of_whole(const memory_model *model) {
  memory_model whole = *model;
  whole.overlap = false;
  bits_remove(whole.views, OP_slice);
  bits_remove(whole.views, OP_concat);
  return whole;
}

const memory_model *memory_model_find(const char *name) {
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    if (!strcmp(models[i].name, name)) return &models[i];
  return NULL;
}

bool memory_model_is_preset(const memory_model *m) {
  const memory_model *p = memory_model_find(m->name);
  return p && m->inputs == p->inputs && m->outputs == p->outputs &&
         m->align == p->align && m->round == p->round &&
         bits_equal(m->inplace, p->inplace, OP_KIND_WORDS) &&
         bits_equal(m->views, p->views, OP_KIND_WORDS) &&
         m->concat == p->concat && m->variables == p->variables &&
         m->subgraphs == p->subgraphs && m->overlap == p->overlap;
}

enum { MAX_UNIT = 1 << 30, MAX_CHOICES = 4 };

/* The columns that choose one of a few words, in the order of their enum. */
static const struct choice_column {
  const char *name;
  size_t field;
  const char *words[MAX_CHOICES];
} choice_columns[] = {
    {"inputs",
     offsetof(memory_model, inputs),
     {"until-use", "whole-run", "external"}},
    {"outputs", offsetof(memory_model, outputs), {"to-end", "external"}},
    {"concat", offsetof(memory_model, concat), {"copy", "elide"}},
    {"variables", offsetof(memory_model, variables), {"external", "whole-run"}},
    {"subgraphs", offsetof(memory_model, subgraphs), {"entry", "tflm"}},
};

static void set_choice(memory_model *model, const struct choice_column *column,
                       int choice) {
  _Static_assert(sizeof(memory_inputs) == sizeof choice &&
                     sizeof(memory_outputs) == sizeof choice &&
                     sizeof(memory_concat) == sizeof choice &&
                     sizeof(memory_variables) == sizeof choice &&
                     sizeof(memory_subgraphs) == sizeof choice,
                 "every column of words has the size of an int");
  memcpy((char *)model + column->field, &choice, sizeof choice);
}

const char *memory_model_word(const char **out_word, const memory_model *model,
                              uint32_t i) {
  int choice;
  if (i >= sizeof choice_columns / sizeof *choice_columns) return NULL;
  memcpy(&choice, (const char *)model + choice_columns[i].field, sizeof choice);
  *out_word = choice_columns[i].words[choice];
  return choice_columns[i].name;
}

/* "--NAME: 'VALUE' is not WHAT", with the message built by the caller. */
static calm_status fail_value(calm_context *context, const char *column,
                              const char *value, size_t length, text *what) {
  char *list;
  TRY(text_finish(what, &list));
  context_fail(context, CALM_MISUSE, "--%s: '%.*s' is not %s", column,
               (int)length, value, list);
  calm_text_free(context, list);
  return CALM_MISUSE;
}

static calm_status fail_choice(calm_context *context,
                               const struct choice_column *column,
                               const char *value) {
  text what;
  text_init(&what, context);
  text_format(&what, "one of ");
  for (int i = 0; i < MAX_CHOICES && column->words[i]; i++)
    text_format(&what, "%s%s", i ? ", " : "", column->words[i]);
  return fail_value(context, column->name, value, strlen(value), &what);
}

static calm_status override_choice(memory_model *model, calm_context *context,
                                   const struct choice_column *column,
                                   const char *value) {
  for (int i = 0; i < MAX_CHOICES && column->words[i]; i++)
    if (!strcmp(column->words[i], value)) {
      set_choice(model, column, i);
      return CALM_OK;
    }
  return fail_choice(context, column, value);
}

static calm_status override_unit(uint64_t *unit, calm_context *context,
                                 const char *column, const char *value) {
  uint64_t bytes;
  if (number_parse_size(&bytes, value) && bytes > 0 && bytes <= MAX_UNIT) {
    *unit = bytes;
    return CALM_OK;
  }
  return context_fail(context, CALM_MISUSE,
                      "--%s: '%s' is not a size from 1 to %d bytes", column,
                      value, MAX_UNIT);
}

/* The columns that are sets of kinds: what may be in one, and the word for all
   of it. */
typedef struct kind_column {
  const char *name, *all;
  uint64_t *set;
  bool any_kind; /* also kinds that `all` leaves out */
} kind_column;

static bool belongs(const kind_column *column, uint32_t kind) {
  return column->any_kind ? op_kind_flags((op_kind)kind) & OP_ELEMENTWISE
                          : bits_has(view_kinds, kind);
}

/* One word of the list: a kind, or all of them.  Parts of tensors can be views,
   too (memory_alias.h), but that is no identity. */
static calm_status add_kinds(const kind_column *column, uint64_t *kinds,
                             calm_context *context, const char *word,
                             size_t length) {
  text name;
  text_init(&name, context);
  text_add(&name, word, length);
  if (name.failed) {
    text_free(&name);
    return context_no_memory(context);
  }
  const op_kind kind = op_kind_find(name.data);
  const bool all = !strcmp(name.data, column->all);
  const bool known =
      kind != OP_OPAQUE && (column->any_kind || belongs(column, kind) ||
                            kind == OP_slice || kind == OP_concat);
  for (uint32_t k = 0; all && k < OP_OPAQUE; k++)
    if (belongs(column, k)) bits_add(kinds, k);
  if (known) bits_add(kinds, kind);
  text_free(&name);
  return all || known ? CALM_OK : CALM_MISUSE;
}

/* `length` bytes of the value are the word that is none of them. */
static calm_status fail_kinds(calm_context *context, const kind_column *column,
                              const char *word, size_t length) {
  text what;
  text_init(&what, context);
  text_format(&what, "none, %s, or a list of operator kinds such as ",
              column->all);
  const char *separator = "";
  for (uint32_t kind = 0; kind < OP_OPAQUE; kind++)
    if (belongs(column, kind)) {
      text_format(&what, "%s%s", separator, op_kind_name((op_kind)kind));
      separator = ",";
    }
  return fail_value(context, column->name, word, length, &what);
}

/* "none", or words between commas. */
static calm_status override_kinds(const kind_column *column,
                                  calm_context *context, const char *value) {
  uint64_t kinds[OP_KIND_WORDS] = {0};
  for (const char *word = value; strcmp(value, "none") && word;) {
    size_t length = strcspn(word, ",");
    calm_status status = add_kinds(column, kinds, context, word, length);
    if (status == CALM_MISUSE) return fail_kinds(context, column, word, length);
    TRY(status);
    word = word[length] ? word + length + 1 : NULL;
  }
  memcpy(column->set, kinds, sizeof kinds);
  return CALM_OK;
}

bool memory_same_elements(const graph_tensor *a, const graph_tensor *b) {
  const bool typed = a->type != ELEMENT_ABSTRACT && b->type != ELEMENT_ABSTRACT;
  return a->bytes == b->bytes &&
         (!typed || element_type_bits(a->type) == element_type_bits(b->type));
}

enum { FUSED_CONV_SUM = 3 }; /* the operand that is added to the result */

uint32_t memory_changed_slot(op_kind kind) {
  if (kind == OP_dynamic_update_slice || kind == OP_scatter_elements) return 0;
  return kind == OP_fused_conv ? FUSED_CONV_SUM : CALM_NONE;
}

bool memory_slot_inplace(op_kind kind, uint32_t slot) {
  const uint32_t changed = memory_changed_slot(kind);
  return changed == CALM_NONE || slot == changed;
}

void memory_model_views_word(text *out, const memory_model *model) {
  const char *separator = "";
  if (bits_equal(model->views, view_kinds, OP_KIND_WORDS)) {
    text_format(out, "identity");
    return;
  }
  for (uint32_t kind = 0; kind < OP_OPAQUE; kind++)
    if (bits_has(model->views, kind)) {
      text_format(out, "%s%s", separator, op_kind_name((op_kind)kind));
      separator = ",";
    }
  if (!*separator) text_format(out, "none");
}

calm_status memory_model_override(memory_model *model, calm_context *context,
                                  const char *column, const char *value) {
  for (size_t i = 0; i < sizeof choice_columns / sizeof *choice_columns; i++)
    if (!strcmp(choice_columns[i].name, column))
      return override_choice(model, context, &choice_columns[i], value);
  if (!strcmp(column, "align"))
    return override_unit(&model->align, context, column, value);
  if (!strcmp(column, "round"))
    return override_unit(&model->round, context, column, value);
  const kind_column kind_columns[] = {
      {"inplace", "elementwise", model->inplace, true},
      {"views", "identity", model->views, false}};
  for (size_t i = 0; i < sizeof kind_columns / sizeof *kind_columns; i++)
    if (!strcmp(column, kind_columns[i].name))
      return override_kinds(&kind_columns[i], context, value);
  return context_fail(context, CALM_MISUSE,
                      "a memory model has no column '%s'; it has inputs, "
                      "outputs, align, round, inplace, views, concat, "
                      "variables and subgraphs",
                      column);
}
