#include "graph/graph_lexer.h"

#include <string.h>

void lexer_init(lexer *l, calm_context *context, const char *path,
                const char *bytes, size_t length) {
  *l = (lexer){.context = context,
               .path = path,
               .bytes = bytes,
               .length = length,
               .line = 1};
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  if (length >= 3 && !memcmp(bytes, byte_order_mark, 3)) l->at = 3;
}

void lexer_free(lexer *l) { VECTOR_FREE(l->context, &l->buffer); }

bool lexer_is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || (c && strchr("_.:/+-", c));
}

static bool is_value(char c) { return c == ',' || lexer_is_bare(c); }

static graph_place place_at(const lexer *l, size_t at) {
  size_t column = at - l->line_begin + 1;
  return (graph_place){l->line,
                       column > UINT32_MAX ? UINT32_MAX : (uint32_t)column};
}

static bool at_line_end(const lexer *l, size_t at) {
  if (at < l->length && l->bytes[at] == '\r') at++;
  return at == l->length || l->bytes[at] == '\n';
}

static void skip_spaces(lexer *l) {
  while (l->at < l->length &&
         (l->bytes[l->at] == ' ' || l->bytes[l->at] == '\t'))
    l->at++;
  if (l->at < l->length && l->bytes[l->at] == '#')
    while (!at_line_end(l, l->at)) l->at++;
}

/* Make the buffer, with a NUL behind it, the text of the current token. */
static calm_status set_text(lexer *l) {
  l->token.kind = TOKEN_NAME;
  l->token.length = l->buffer.count;
  VECTOR_PUSH(l->context, &l->buffer, '\0');
  l->token.text = l->buffer.data;
  return CALM_OK;
}

static calm_status read_bare(lexer *l, bool (*belongs)(char)) {
  for (; l->at < l->length && belongs(l->bytes[l->at]); l->at++)
    VECTOR_PUSH(l->context, &l->buffer, l->bytes[l->at]);
  return set_text(l);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static calm_status read_hex(lexer *l, char *out) {
  size_t at = l->at + 2;
  int high = at < l->length ? hex_digit(l->bytes[at]) : -1;
  int low = at + 1 < l->length ? hex_digit(l->bytes[at + 1]) : -1;
  if (high < 0 || low < 0)
    return graph_fail(l->context, l->path, place_at(l, l->at),
                      "\\x needs two hexadecimal digits, as in \\x09");
  if (high == 0 && low == 0)
    return graph_fail(l->context, l->path, place_at(l, l->at),
                      "a name cannot hold a zero byte");
  *out = (char)(high * 16 + low);
  l->at += 4;
  return CALM_OK;
}

static calm_status read_escape(lexer *l, char *out) {
  char c = l->at + 1 < l->length ? l->bytes[l->at + 1] : '\0';
  if (c == 'x') return read_hex(l, out);
  if (c != '"' && c != '\\' && c != 'n')
    return graph_fail(l->context, l->path, place_at(l, l->at),
                      "unknown escape; there are \\\" \\\\ \\n and \\xHH");
  *out = c == 'n' ? '\n' : c;
  l->at += 2;
  return CALM_OK;
}

static calm_status read_character(lexer *l, char *out) {
  char c = l->bytes[l->at];
  if (c == '\\') return read_escape(l, out);
  if (c == '\0')
    return graph_fail(l->context, l->path, place_at(l, l->at),
                      "a name cannot hold a zero byte");
  *out = c;
  l->at++;
  return CALM_OK;
}

static calm_status read_quoted(lexer *l) {
  l->token.quoted = true;
  l->at++;
  while (!at_line_end(l, l->at) && l->bytes[l->at] != '"') {
    char c = 0;
    TRY(read_character(l, &c));
    VECTOR_PUSH(l->context, &l->buffer, c);
  }
  if (at_line_end(l, l->at))
    return graph_fail(l->context, l->path, l->token.place,
                      "a quote is not closed on its line; add \" (a line break "
                      "inside is written \\n)");
  l->at++;
  return set_text(l);
}

static calm_status read_line_end(lexer *l) {
  if (l->at < l->length && l->bytes[l->at] == '\r') l->at++;
  l->token.kind = TOKEN_END_OF_TEXT;
  if (l->at == l->length) return CALM_OK;
  l->token.kind = TOKEN_END_OF_LINE;
  l->line_begin = ++l->at;
  l->line++;
  return CALM_OK;
}

static calm_status take(lexer *l, token_kind kind, size_t bytes) {
  l->token.kind = kind;
  l->at += bytes;
  return CALM_OK;
}

static calm_status read_dash(lexer *l) {
  char after = l->at + 1 < l->length ? l->bytes[l->at + 1] : '\0';
  if (after == '>') return take(l, TOKEN_ARROW, 2);
  if (!lexer_is_bare(after)) return take(l, TOKEN_ABSENT, 1);
  return read_bare(l, lexer_is_bare);
}

/* Stand at a token and have nothing of it yet. */
static void begin_token(lexer *l) {
  skip_spaces(l);
  l->buffer.count = 0;
  l->token = (token){.text = "", .place = place_at(l, l->at)};
}

calm_status lexer_next(lexer *l) {
  begin_token(l);
  if (at_line_end(l, l->at)) return read_line_end(l);
  char c = l->bytes[l->at];
  switch (c) {
    case '"': return read_quoted(l);
    case '-': return read_dash(l);
    case '(': return take(l, TOKEN_OPEN, 1);
    case ')': return take(l, TOKEN_CLOSE, 1);
    case '[': return take(l, TOKEN_OPEN_SHAPE, 1);
    case ']': return take(l, TOKEN_CLOSE_SHAPE, 1);
    case ',': return take(l, TOKEN_COMMA, 1);
    case '=': return take(l, TOKEN_EQUALS, 1);
    default: break;
  }
  if (lexer_is_bare(c)) return read_bare(l, lexer_is_bare);
  return graph_fail(l->context, l->path, l->token.place,
                    "byte 0x%02X cannot stand here; names with such characters "
                    "are written in double quotes",
                    (unsigned)(unsigned char)c);
}

calm_status lexer_next_value(lexer *l) {
  begin_token(l);
  if (l->at < l->length && is_value(l->bytes[l->at]))
    return read_bare(l, is_value);
  return lexer_next(l);
}
