// What the parts of the shim share.
#ifndef SANDBAR_SHIM_H
#define SANDBAR_SHIM_H

#include "Python.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name), used))
#define IMPORT(name) __attribute__((import_module("sandbar"), import_name(#name)))

// The result of sandbar_run and sandbar_live: the exit code in the low 8 bits, and these.
#define RESULT_MEMORY 0x100  // an uncaught MemoryError ended the script
#define RESULT_AWAY 0x200    // the host did not want it to run here; nothing was executed

// advice gives the host one line for the user about a limit of this tier.
IMPORT(advice) void sandbar_advice(const char *text, size_t length);
// found gives the host what a script imports. It returns 0 when the script may run here.
IMPORT(found) int sandbar_found(const char *text, size_t length);
// value gives the host the repr of the last expression.
IMPORT(value) void sandbar_value(const char *text, size_t length);

extern PyObject *sandbar_runner;       // the module _sandbar_runner
extern PyObject *sandbar_image_names;  // the names in sys.modules when the image was made: a frozenset

struct request {
    const char *at, *end;
};

// request.c
PyObject *sandbar_field(struct request *r);
PyObject *sandbar_fields(struct request *r);
const char *sandbar_source(struct request *r);

// end.c
int sandbar_exit_code(void);
int sandbar_flush(void);
int sandbar_end(void);

#endif
