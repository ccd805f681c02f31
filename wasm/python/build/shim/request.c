// Requests: the host's words to the shim. A request is a row of fields, each a little-endian uint32 length and so many
// bytes; a list is the number of its fields, as four bytes, and the fields.
#include "shim.h"

// sandbar_field takes the next field of a request. The host wrote it; a short one is a fault of ours.
PyObject *
sandbar_field(struct request *r)
{
    uint32_t length;
    if (r->end - r->at < (ptrdiff_t)sizeof length) {
        PyErr_SetString(PyExc_SystemError, "sandbar: short request");
        return NULL;
    }
    memcpy(&length, r->at, sizeof length);
    r->at += sizeof length;
    if ((size_t)(r->end - r->at) < length) {
        PyErr_SetString(PyExc_SystemError, "sandbar: short request");
        return NULL;
    }
    PyObject *s = PyUnicode_DecodeFSDefaultAndSize(r->at, (Py_ssize_t)length);
    r->at += length;
    return s;
}

PyObject *
sandbar_fields(struct request *r)
{
    uint32_t count;
    if (r->end - r->at < (ptrdiff_t)sizeof count) {
        PyErr_SetString(PyExc_SystemError, "sandbar: short request");
        return NULL;
    }
    memcpy(&count, r->at, sizeof count);
    r->at += sizeof count;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        PyObject *s = sandbar_field(r);
        if (s == NULL || PyList_Append(list, s) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(s);
    }
    return list;
}


// sandbar_source gives the last field of a request as C text.
const char *
sandbar_source(struct request *r)
{
    uint32_t length;
    if (r->end - r->at > (ptrdiff_t)sizeof length) {
        memcpy(&length, r->at, sizeof length);
        const char *text = r->at + sizeof length;
        if ((size_t)(r->end - text) == (size_t)length + 1 && text[length] == 0) {
            return text;
        }
    }
    PyErr_SetString(PyExc_SystemError, "sandbar: short request");
    return NULL;
}
