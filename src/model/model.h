/*
 * A model: the graphs of one file, the arena they live in, and what calm has to
 * remember of the file.  Reading decides the format by content.
 */
#ifndef CALM_MODEL_MODEL_H
#define CALM_MODEL_MODEL_H

#include "base/file.h"
#include "base/options.h"
#include "graph/graph_edit.h"
#include "graph/graph_text.h"

typedef enum model_format {
  MODEL_BUILT,
  MODEL_CG,
  MODEL_TFLITE,
  MODEL_ONNX
} model_format;

/*
 * The mark of an offline plan in which tensors share bytes as only certain
 * kernels allow: the metadata entry calm.overlap, a text of lines "key value".
 */
typedef struct model_mark {
  bool present;
  const char *fault;   /* why it says nothing, such as "its buffer is empty";
                          NULL if it does: */
  const char *kernels; /* the library, as --kernels calls it */
  const char *views;   /* kinds that hand on bytes, as --views has them */
  const char *tool;    /* the version of calm that wrote it */
  uint64_t edition;    /* of the library's distances */
  bool same_graphs;    /* operators, operands and shapes are those that were
                          planned, in that order */
  bool same_offsets;   /* and so are the offsets */
} model_mark;

/* OfflineMemoryAllocation as found in a .tflite file. */
typedef struct model_offline_plan {
  bool present;
  int32_t version, subgraph; /* words 0 and 1, which runtimes ignore */
  int32_t declared_count;    /* word 2: tensors over all subgraphs */
  uint32_t word_count;       /* offsets really there (may differ: a fault) */
  const int32_t *offsets;    /* in the arena, word_count of them */
  uint32_t entries;          /* metadata entries of that name; the last wins */
  const char *fault; /* why there are no offsets at all, such as "its buffer is
                        empty"; NULL if there are */
  model_mark mark;
} model_offline_plan;

struct calm_model {
  calm_context *context;
  arena arena;
  const char *path; /* for messages; "graph" for a built one */
  model_format format;
  file_map map;        /* the bytes of the file, or of a caller's memory */
  bool mapped;         /* map is to be closed */
  bool altered;        /* map differs from the file: it was rewritten */
  graph_vector graphs; /* the first is the entry */
  bool finished;       /* built models are finished when first used */
  bool rewritten;      /* made by rewriting the entry of another one */
  bool fixed_weights;  /* initializers that an .onnx file lists as inputs, too,
                          are not to be replaced by callers */
  option_LIST dims;    /* --dim NAME=N, for formats that leave sizes open */
  uint64_t weight_bytes;
  int64_t opset; /* of an .onnx file: of the standard domain; 0: none named */
  model_offline_plan offline;
  const struct onnx_origin *origins; /* of an .onnx file: where the bytes of
                                        each value of the entry are */
  const char *external; /* where a weight lies that is in another file, as the
                           file says; NULL: all are inside */
  const char *const *metadata_names;
  uint32_t metadata_count;
};

/* The two ends of a model's life.  The struct, `path` and the map belong to the
   caller; what was read does not refer to the bytes of the map. */
void model_init(calm_model *model, calm_context *context, const char *path);
void model_clear(calm_model *model);

/* Warn if the operators of a finished graph stand in an order that they cannot
   run in. */
void model_warn_about_order(const calm_model *model, const graph *g);

/* Link the graphs and validate them: the end of reading. */
calm_status model_finish_graphs(calm_model *model);

/* The same for a built model, if that has not happened yet. */
calm_status model_finish(calm_model *model);

/*
 * Read the file whose map is open; its content decides the format.  A failure
 * is CALM_BAD_INPUT or CALM_UNSUPPORTED and says at which byte or line what was
 * found and what would be right.
 */
calm_status model_read(calm_model *model);

/* What becomes of the offline plan inside a .tflite file. */
typedef enum model_plan_action {
  MODEL_PLAN_WRITE, /* replace it by the offsets given */
  MODEL_PLAN_STRIP, /* leave none */
  MODEL_PLAN_KEEP   /* only right if nothing is reordered */
} model_plan_action;

/* What is to change in the file of a model, per graph. */
typedef struct model_patch {
  const op_id *const *sequences;  /* [graph][step]: its operators in order */
  const uint64_t *const *offsets; /* [graph][tensor]; UINT64_MAX: none */
  model_plan_action plan;         /* .tflite only */
  const char *note;       /* .onnx only: a line for its metadata, or NULL */
  const model_mark *mark; /* .tflite only: what the offsets rely on (kernels,
                             views, tool, edition); NULL: on nothing, and a mark
                             that was there goes with its plan */
} model_patch;

/*
 * The file of a model with `patch` applied (NULL: as it is), as pieces to be
 * written one after the other: spans of the model's map, which are not read,
 * and small blocks in `a`.  A .cg file is written anew if there is a patch.
 * CALM_MISUSE if the model has no file any more (calm_model_parse);
 * CALM_UNSUPPORTED if the file's objects overlap so that they cannot be moved.
 * The pieces are freed by VECTOR_FREE, also after a failure.
 */
calm_status model_pieces(file_pieces *out, const calm_model *model,
                         const model_patch *patch, arena *a);

/* Exact changes of a whole model. */
typedef enum model_rewriting {
  MODEL_TO_INT8, /* uint8 becomes int8 where every value stays what it is */
  MODEL_REMOVE_NOOPS, /* operators that only hand on their input leave */
  MODEL_DILATE_1X1    /* convolutions of 1x1 get a dilation, which means nothing
                         to them, but another kernel of CMSIS-NN */
} model_rewriting;

/*
 * Rewrite a model that was opened from a file: its graphs are then those of the
 * file that model_pieces writes.  CALM_UNSUPPORTED, with the model as it was,
 * if the format or an operator does not allow it.
 */
calm_status model_rewrite(calm_model *model, model_rewriting kind);
calm_status tflite_rewrite(calm_model *model, model_rewriting kind);
calm_status tflite_dilate(calm_model *model);
calm_status onnx_remove_noops(calm_model *model);

/*
 * The bytes of a constant of the entry graph, little-endian, as its type and
 * dimensions say: a part of the map, or in `a` where the file spells them
 * otherwise.  CALM_UNSUPPORTED with the reason if they are not in the file.
 */
calm_status model_constant(const uint8_t **out, uint64_t *length,
                           const calm_model *model, tensor_id t, arena *a);

/*
 * The file of `model` with the entry graph of `edit` in place of its own, which
 * is edit->before; the constants of the edit are filled in.  What only the old
 * graph needed is gone, everything else is kept.  The graph that is then read
 * has the ids of edit->after; in .onnx files, which do not number their
 * tensors, those of operators only.  An offline plan and what else speaks of
 * tensors by number goes or is renumbered.  The bytes lie in `a`.
 * CALM_UNSUPPORTED, naming what is in the way.
 */
calm_status model_rebuild(const uint8_t **out, size_t *length,
                          const calm_model *model, const graph_edit *edit,
                          arena *a);

/* The formats' own. */
calm_status tflite_constant(const uint8_t **out, uint64_t *length,
                            const calm_model *model, tensor_id t, arena *a);
calm_status tflite_rebuild(const uint8_t **out, size_t *length,
                           const calm_model *model, const graph_edit *edit,
                           arena *a);
calm_status onnx_constant(const uint8_t **out, uint64_t *length,
                          const calm_model *model, tensor_id t, arena *a);
calm_status onnx_rebuild(const uint8_t **out, size_t *length,
                         const calm_model *model, const graph_edit *edit,
                         arena *a);

/* The formats' own, called by model_pieces when there is a patch. */
calm_status tflite_pieces(file_pieces *out, const calm_model *model,
                          const model_patch *patch, arena *a);
calm_status onnx_pieces(file_pieces *out, const calm_model *model,
                        const model_patch *patch, arena *a);

/* Do the bytes look like a .tflite file (identifier "TFL3" at offset 4)? */
bool tflite_recognise(const uint8_t *bytes, size_t length);

/* Fill a model whose map is open from its .tflite bytes. */
calm_status tflite_read(calm_model *model);

/* Do the bytes look like an ONNX model (protobuf, with an IR version and a
   graph)? */
bool onnx_recognise(const uint8_t *bytes, size_t length);

/* Fill a model whose map is open from its .onnx bytes, under its `dims`. */
calm_status onnx_read(calm_model *model);

#endif
