// Immortal objects (PEP 683): the interpreter counts no references to them. Every object of the image is
// made one, so that a run does not write to each page whose objects it only looks at, and the kernel does
// not copy that page. No object of the image ever needs to die: the image as a whole is put back.
#include "Python.h"
#include "pycore_dict.h"
#include "pycore_object.h"

#include <stdlib.h>
#include <string.h>

struct work {
  PyObject **items;
  size_t count, room;
  int failed;
};

static int mark(PyObject *op, void *arg) {
  struct work *w = arg;
  if (op == NULL || _Py_IsImmortal(op)) {
    return 0;
  }
  if (w->count == w->room) {
    size_t room = w->room == 0 ? 4096 : w->room * 2;
    PyObject **items = realloc(w->items, room * sizeof *items);
    if (items == NULL) {
      w->failed = 1;
      return -1;
    }
    w->items = items;
    w->room = room;
  }
  op->ob_refcnt = _Py_IMMORTAL_REFCNT;
  w->items[w->count++] = op;
  return 0;
}

// mark_hidden marks what tp_traverse passes over because it cannot be part of a cycle.
static void mark_hidden(PyObject *op, struct work *w) {
  if (PyDict_Check(op)) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(op, &at, &key, &value)) {
      mark(key, w);
      mark(value, w);
    }
  } else if (PyCode_Check(op)) {
    PyCodeObject *code = (PyCodeObject *)op;
    PyObject *parts[] = {code->co_consts,     code->co_names, code->co_exceptiontable, code->co_localsplusnames,
                         code->co_localspluskinds, code->co_filename, code->co_name, code->co_qualname,
                         code->co_linetable};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
      mark(parts[i], w);
    }
  } else if (PyType_Check(op) && (((PyTypeObject *)op)->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    PyHeapTypeObject *type = (PyHeapTypeObject *)op;
    mark(type->ht_name, w);
    mark(type->ht_qualname, w);
    mark(type->ht_slots, w);
  } else if (PyObject_TypeCheck(op, &PyMethodDescr_Type) || Py_IS_TYPE(op, &PyWrapperDescr_Type) ||
             Py_IS_TYPE(op, &PyMemberDescr_Type) || Py_IS_TYPE(op, &PyGetSetDescr_Type)) {
    mark(((PyDescrObject *)op)->d_name, w);
    mark(((PyDescrObject *)op)->d_qualname, w);
  }
}

// sandbar_immortalize marks the objects of a list, and all that can be reached from them.
int sandbar_immortalize(PyObject *roots) {
  struct work w = {0};
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(roots); i++) {
    mark(PyList_GET_ITEM(roots, i), &w);
  }
  while (w.count > 0 && !w.failed) {
    PyObject *op = w.items[--w.count];
    mark((PyObject *)Py_TYPE(op), &w);
    mark_hidden(op, &w);
    traverseproc traverse = Py_TYPE(op)->tp_traverse;
    if (traverse != NULL && PyObject_IS_GC(op)) {
      traverse(op, mark, &w);
    }
  }
  if (w.items != NULL) {
    memset(w.items, 0, w.room * sizeof *w.items);  // zero pages are not stored in the image
    free(w.items);
  }
  return w.failed ? -1 : 0;
}
