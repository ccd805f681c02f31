// How a script ends: its exit code, what it still holds in buffers, and the part of the interpreter's own end that a
// script can notice.
#include "shim.h"

#include "pycore_pylifecycle.h"
#include "pycore_pythonrun.h"

extern void _PyModule_Clear(PyObject *);

// sandbar_exit_code is what pymain does with an exception that nobody caught: SystemExit gives its code, every
// other is printed and gives 1.
int
sandbar_exit_code(void)
{
    int code;
    if (_Py_HandleSystemExit(&code)) {
        return code & 0xff;
    }
    int result = 1;
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        result = 130;
    }
    else if (PyErr_ExceptionMatches(PyExc_MemoryError)) {
        result |= RESULT_MEMORY;
    }
    PyObject *exc = PyErr_GetRaisedException();
    PyObject *advice = PyObject_CallMethod(sandbar_runner, "advise", "O", exc);
    if (advice == NULL) {
        PyErr_Clear();
    }
    else if (PyUnicode_Check(advice)) {
        Py_ssize_t length;
        const char *text = PyUnicode_AsUTF8AndSize(advice, &length);
        if (text == NULL) {
            PyErr_Clear();
        }
        else {
            sandbar_advice(text, (size_t)length);
        }
    }
    Py_XDECREF(advice);
    PyErr_SetRaisedException(exc);
    // SystemExit raised by the excepthook itself is handled in there; it would call exit().
    PyErr_Print();
    return result;
}

static int
flush_file(const char *name)
{
    PyObject *file = PySys_GetObject(name);
    if (file == NULL || file == Py_None) {
        return 0;
    }
    Py_INCREF(file);
    int status = 0;
    PyObject *closed = PyObject_GetAttrString(file, "closed");
    int is_closed = closed == NULL ? 0 : PyObject_IsTrue(closed);
    Py_XDECREF(closed);
    PyErr_Clear();
    if (is_closed == 0) {
        PyObject *done = PyObject_CallMethod(file, "flush", NULL);
        if (done == NULL) {
            PyErr_WriteUnraisable(file);
            status = -1;
        }
        Py_XDECREF(done);
    }
    Py_DECREF(file);
    return status;
}

int
sandbar_flush(void)
{
    int status = flush_file("stdout");
    if (flush_file("stderr") < 0) {
        PyErr_Clear();
    }
    return status;
}

// remove_modules takes the modules that the script brought out of sys.modules, in the order in which
// they came, and gives weak references to them.
static PyObject *
remove_modules(void)
{
    PyObject *weak = PyList_New(0);
    PyObject *modules = PySys_GetObject("modules");
    if (weak == NULL || modules == NULL || !PyDict_CheckExact(modules)) {
        PyErr_Clear();
        return weak;
    }
    // Setting the value of a key that is there does not disturb PyDict_Next, and nothing dies yet: the
    // modules are kept until all are found.
    PyObject *found = PyList_New(0);
    PyObject *name, *module;
    Py_ssize_t at = 0;
    while (found != NULL && PyDict_Next(modules, &at, &name, &module)) {
        if (PySet_Contains(sandbar_image_names, name) != 0) {
            PyErr_Clear();
            continue;
        }
        if (PyModule_Check(module)) {
            PyObject *ref = PyWeakref_NewRef(module, NULL);
            if (ref != NULL) {
                PyList_Append(weak, ref);
                Py_DECREF(ref);
            }
        }
        PyList_Append(found, module);
        PyErr_Clear();
        PyDict_SetItem(modules, name, Py_None);
    }
    Py_XDECREF(found);
    PyErr_Clear();
    return weak;
}

static void
clear_modules(PyObject *weak)
{
    for (Py_ssize_t i = PyList_GET_SIZE(weak) - 1; i >= 0; i--) {
        PyObject *module = NULL;
        if (PyWeakref_GetRef(PyList_GET_ITEM(weak, i), &module) == 1) {
            _PyModule_Clear(module);
            Py_DECREF(module);
        }
        PyErr_Clear();
    }
}

static void
reset_sys(void)
{
    static const char *const gone[] = {"path", "argv", "ps1", "ps2", "last_exc", "last_type", "last_value",
                                       "last_traceback", "path_importer_cache", "meta_path", "path_hooks", NULL};
    static const char *const files[] = {"stdin", "__stdin__", "stdout", "__stdout__", "stderr", "__stderr__", NULL};
    for (const char *const *p = gone; *p != NULL; p++) {
        PySys_SetObject(*p, Py_None);
    }
    for (const char *const *p = files; *p != NULL; p += 2) {
        PyObject *original = PySys_GetObject(p[1]);
        PySys_SetObject(p[0], original == NULL ? Py_None : original);
    }
    PyErr_Clear();
}

// sandbar_end does what Py_FinalizeEx does and a script can notice: it joins threads, calls the atexit
// functions, flushes, and lets the script's objects die so that their __del__ runs and their files are
// flushed. The rest of the interpreter is thrown away by the host.
int
sandbar_end(void)
{
    PyObject *done = PyObject_CallMethod(sandbar_runner, "finish", NULL);
    if (done == NULL) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(done);
    int status = sandbar_flush();
    PyGC_Collect();
    reset_sys();
    PyObject *weak = remove_modules();
    PyGC_Collect();
    if (weak != NULL) {
        clear_modules(weak);
        Py_DECREF(weak);
        PyGC_Collect();
    }
    if (sandbar_flush() < 0) {
        status = -1;
    }
    return status;
}

