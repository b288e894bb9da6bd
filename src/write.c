/* Models and plans into files. */
#include "model/model.h"

/* A model that was built has not been validated yet; its text only needs names.
 */
calm_status calm_model_write(const calm_model *model, const char *path) {
  file_pieces pieces = {0};
  file_draft draft;
  arena a;
  arena_init(&a, model->context);
  calm_status status = model_pieces(&pieces, model, NULL, &a);
  if (status == CALM_OK)
    status = file_draft_write(&draft, model->context, path, &pieces);
  if (status == CALM_OK) status = file_draft_commit(&draft);
  VECTOR_FREE(model->context, &pieces);
  arena_free(&a);
  return status;
}
