/* A program's first lines must not matter: nothing comes before the header. */
#include <calm/calm.h>
/* And a second time: it guards itself. */
#include <calm/calm.h>

calm_status first_call(calm_context **out);

calm_status first_call(calm_context **out) {
  *out = calm_context_new(NULL);
  return *out ? CALM_OK : CALM_NO_MEMORY;
}
