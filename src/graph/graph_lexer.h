/*
 * The words of the text form: names (bare or quoted), punctuation, the end of a
 * line.  Comments and spaces vanish here, and so does the difference between
 * line endings.  Messages name the place.
 */
#ifndef CALM_GRAPH_GRAPH_LEXER_H
#define CALM_GRAPH_GRAPH_LEXER_H

#include "graph/graph.h"

typedef enum token_kind {
  TOKEN_END_OF_TEXT,
  TOKEN_END_OF_LINE,
  TOKEN_NAME,
  TOKEN_ABSENT, /* a lone - */
  TOKEN_ARROW,
  TOKEN_OPEN,
  TOKEN_CLOSE,
  TOKEN_OPEN_SHAPE,
  TOKEN_CLOSE_SHAPE,
  TOKEN_COMMA,
  TOKEN_EQUALS
} token_kind;

typedef struct token {
  token_kind kind;
  bool quoted;
  const char
      *text; /* of a name, escapes resolved; valid until the next token */
  size_t length;
  graph_place place;
} token;

typedef struct lexer {
  calm_context *context;
  const char *path;
  const char *bytes;
  size_t length, at, line_begin;
  uint32_t line;
  VECTOR(char) buffer;
  token token; /* the current one */
} lexer;

void lexer_init(lexer *l, calm_context *context, const char *path,
                const char *bytes, size_t length);
void lexer_free(lexer *l);

/* Go on to the next token. */
calm_status lexer_next(lexer *l);

/* The same where the value of an attribute must come: a bare one may hold
   commas, and - is a value like any other. */
calm_status lexer_next_value(lexer *l);

/* May the character stand in a bare name? */
bool lexer_is_bare(char c);

#endif
