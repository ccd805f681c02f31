// What the parts of the scanner share: scan.c walks over statements, scan_uses.c over expressions, and scan_known.c knows
// some tests beforehand.
#ifndef SANDBAR_SCAN_TREE_H
#define SANDBAR_SCAN_TREE_H

#include "Python.h"
#include "pycore_ast.h"

// The nesting of statements and expressions that one scan goes into.
#define MAX_DEPTH 1500

struct scan {
  char *text;
  size_t length, room;
  int depth;
  int maybe;       // how many constructs around the statement may leave it out
  int guard;       // the number of the innermost try that catches ImportError, or 0
  int fallback;    // the number of the try whose handler or else clause this is, or 0
  int otherwise;   // it is the else clause
  int tries;       // the numbers given so far
  int uses;        // second pass: expressions
  int is_main;     // the file is the script, and no module
  PyObject *bound; // name -> dotted path, for names that an import binds
  PyObject *stars; // modules that were imported with *
  PyObject *own;   // names that the file itself gives
  PyObject *seen[2];  // uses that were reported, and those that are called
};

// scan.c
const char *scan_word(PyObject *name);
int scan_is_name(expr_ty e, const char *name);
void scan_report_import(struct scan *s, int line, const char *module);
void scan_report_use(struct scan *s, int line, PyObject *path, int called);
void scan_optional(struct scan *s, expr_ty e);
void scan_expressions(struct scan *s, asdl_expr_seq *list);
void scan_keywords(struct scan *s, asdl_keyword_seq *list);

// scan_uses.c
void scan_expression(struct scan *s, expr_ty e);
int scan_use_of(struct scan *s, expr_ty e, int called);

// scan_known.c
int scan_known(struct scan *s, expr_ty test);

#endif
