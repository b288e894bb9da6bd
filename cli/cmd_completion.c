/* calm completion bash|zsh|fish */
#include <string.h>

#include "cmd.h"
#include "completion.h"
#include "story.h"

int cmd_completion(request *r) {
  static const struct {
    const char *shell;
    void (*print)(void);
  } known[] = {{"bash", completion_print_bash},
               {"zsh", completion_print_zsh},
               {"fish", completion_print_fish}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i].shell, r->operands[0])) {
      known[i].print();
      return EXIT_DONE;
    }
  story_tell("there is no completion for '%s'; there is bash, zsh, fish",
             r->operands[0]);
  return EXIT_USAGE;
}
