#include "graph/graph_window.h"

#include <stdlib.h>

#include "base/number.h"
#include "graph/graph_edit.h"
