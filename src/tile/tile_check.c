#include "tile/tile.h"
calm_status tile_check(const graph_edit *edit, calm_context *context) {
  (void)edit;
  (void)context;
  return CALM_OK;
}
