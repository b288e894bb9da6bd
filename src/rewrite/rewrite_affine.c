/* Multiplications and additions by constants become one. */
#include "rewrite/rewrite_parts.h"

const rewrite_hooks rewrite_affine_hooks = {0};
