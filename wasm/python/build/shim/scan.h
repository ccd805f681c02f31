// The scanner of imports: see scan.c.
#ifndef SANDBAR_SCAN_H
#define SANDBAR_SCAN_H

#include <stddef.h>

struct _mod;

// sandbar_scan_tree writes down what a module's tree imports and uses. The caller frees the text, which is NULL when
// there is nothing.
char *sandbar_scan_tree(struct _mod *mod, int is_main, size_t *length);

#endif
