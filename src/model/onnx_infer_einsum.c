#include <ctype.h>
#include <string.h>

#include "model/onnx_infer.h"

/*
 * Einsum: "bij,bjk->bik", blanks anywhere.  Each letter is a dimension; the
 * dots stand for those in front that have no letter and broadcast.  Without an
 * arrow the output has the dots and then, in alphabetical order, the letters
 * that occur once.
 */
enum { LETTERS = 128 };

typedef struct einsum {
  infer_node *n;
  onnx_shape *sizes; /* by letter, one dimension each */
  uint32_t uses[LETTERS];
} einsum;

static bool is_letter(char c) { return isalpha((unsigned char)c) != 0; }

/* Letters of one term; *dots: are there dots in it? */
static uint32_t count_letters(bool *dots, const char *term, size_t length) {
  uint32_t letters = 0;
  *dots = false;
  for (size_t i = 0; i < length; i++) {
    letters += is_letter(term[i]);
    *dots |= term[i] == '.';
  }
  return letters;
}

static calm_status note_size(einsum *e, char letter, const onnx_shape *in,
                             uint32_t i) {
  uint32_t at = (uint32_t)letter % LETTERS;
  e->uses[at]++;
  int64_t known = e->sizes->dims[at];
  if (known == ONNX_UNKNOWN || known == 1) infer_copy(e->sizes, at, in, i);
  return CALM_OK;
}

static calm_status read_term(einsum *e, uint32_t operand, const char *term,
                             size_t length) {
  const onnx_shape *in = infer_input_shape(e->n, operand);
  bool dots;
  uint32_t letters = count_letters(&dots, term, length), at = 0;
  if (!in) return infer_conflict(e->n, "has no operand for each term");
  if (dots ? in->rank < letters : in->rank != letters)
    return infer_conflict(e->n, "has a term that does not fit its operand");
  uint32_t hidden = in->rank - letters;
  for (size_t i = 0; i < length; i++) {
    if (is_letter(term[i])) TRY(note_size(e, term[i], in, at++));
    if (term[i] != '.' || (i && term[i - 1] == '.')) continue;
    onnx_shape part = {in->dims + at, in->symbols ? in->symbols + at : NULL,
                       hidden};
    TRY(infer_broadcast(e->n, 1, &e->n->outputs[1].shape, &part));
    at += hidden;
  }
  return CALM_OK;
}

static calm_status write_explicit(einsum *e, const char *term) {
  const onnx_shape dots = e->n->outputs[1].shape;
  bool has_dots;
  uint32_t letters = count_letters(&has_dots, term, strlen(term)), at = 0;
  onnx_shape *out;
  TRY(infer_make(&out, e->n, 0, letters + (has_dots ? dots.rank : 0)));
  for (size_t i = 0; term[i]; i++) {
    if (is_letter(term[i]))
      infer_copy(out, at++, e->sizes, (uint32_t)term[i] % LETTERS);
    if (term[i] != '.' || (i && term[i - 1] == '.')) continue;
    for (uint32_t k = 0; k < dots.rank; k++) infer_copy(out, at++, &dots, k);
  }
  return CALM_OK;
}

static calm_status write_implicit(einsum *e) {
  char term[LETTERS + 4] = "...";
  size_t length = 3;
  for (uint32_t letter = 0; letter < LETTERS; letter++)
    if (e->uses[letter] == 1) term[length++] = (char)letter;
  term[length] = '\0';
  return write_explicit(e, term);
}

static bool all_ranked(const infer_node *n) {
  for (uint32_t i = 0; i < n->node->input_count; i++)
    if (!infer_input_shape(n, i)) return false;
  return true;
}

calm_status infer_einsum(infer_node *n) {
  const onnx_attribute *a = onnx_find(n->node, "equation");
  n->outputs[0].type = infer_input_type(n, 0);
  if (!a || !a->s || !all_ranked(n)) return CALM_OK;
  int64_t dims[LETTERS];
  const char *symbols[LETTERS] = {NULL};
  onnx_shape sizes = {dims, symbols, LETTERS}, *none;
  einsum e = {.n = n, .sizes = &sizes};
  for (uint32_t i = 0; i < LETTERS; i++) dims[i] = ONNX_UNKNOWN;
  TRY(infer_make(&none, n, 1, 0));
  const char *term = a->s, *arrow = strstr(a->s, "->");
  const char *end = arrow ? arrow : a->s + strlen(a->s);
  for (uint32_t operand = 0; term <= end; operand++) {
    const char *comma = memchr(term, ',', (size_t)(end - term));
    const char *stop = comma ? comma : end;
    TRY(read_term(&e, operand, term, (size_t)(stop - term)));
    term = stop + 1;
  }
  TRY(arrow ? write_explicit(&e, arrow + 2) : write_implicit(&e));
  n->outputs[1] = (onnx_value){.shape.rank = ONNX_NO_RANK};
  return CALM_OK;
}
