// The interpreter as a reactor: what the host calls, in the place of Python's own main().
//
//   _initialize()                C constructors, once, when the image is made
//   sandbar_init()               starts Python; once, when the image is made
//   sandbar_warm(ptr, len)       runs a script for its side effects on the image (imports, caches)
//   sandbar_freeze()             gets the heap ready to be the image; again after each sandbar_warm
//   sandbar_alloc(size)          memory for a request
//   sandbar_run(ptr, len)        one script, in an instance that is a fresh copy of the image
//   sandbar_scan(ptr, len)       tells what a file imports, and runs nothing
//   sandbar_live(ptr, len)       one more script in an interpreter that stays
//   sandbar_finish()             the end of an interpreter that stayed
//   sandbar_interrupt()          marks a KeyboardInterrupt as pending; the host calls it while the guest
//                                is inside a host function
//   sandbar_drain()              writes what sys.stdout and sys.stderr still hold; the host calls it after
//                                a stop or a trap
//
// Requests, by field (request.c has the form; args, env and shadow are lists, env of KEY=VALUE, shadow of modules of the
// image in whose place the script has files of its own):
//
//   warm  cwd, env, shadow, source       a cwd and environment for the time of the call; none when empty
//   run   path, cwd, scan, args, env, shadow
//   scan  path, main, source
//   live  label, cwd, renew, args, env, shadow, source
//
// Where scan is not empty, what the script imports goes to the host before anything is executed, and the host can say
// no. A source is the last field and has a NUL behind it.
#include "shim.h"

#include "pycore_import.h"
#include "pycore_interp.h"
#include "pycore_object.h"
#include "pycore_pylifecycle.h"
#include "pycore_pystate.h"
#include "pycore_pythonrun.h"

#include <errno.h>
#include <time.h>

// tick is called from the loop heads, where the host's rewriter puts the calls; nothing here calls it,
// but it must stand among the imports.
IMPORT(tick) void sandbar_tick(void);

EXPORT(sandbar_keep_tick) void sandbar_keep_tick(void) { sandbar_tick(); }

extern int _PyIO_PendingBuffered(PyObject *, PyTypeObject *, const char **, Py_ssize_t *);
extern int sandbar_immortalize(PyObject *roots);
extern int _PyIO_PendingText(PyObject *, PyTypeObject *, PyObject **, PyObject **);

PyObject *sandbar_runner, *sandbar_image_names;
static PyTypeObject *text_type, *buffered_type;
static PyObject *image_stdout, *image_stderr;

// --- the module _sandbar --------------------------------------------------------------------------

// wait(seconds) sleeps at most so long, and returns early when a signal handler has run. time.sleep
// goes on sleeping then, which an event loop cannot use.
static PyObject *
module_wait(PyObject *module, PyObject *arg)
{
    double seconds = PyFloat_AsDouble(arg);
    if (seconds == -1.0 && PyErr_Occurred()) {
        return NULL;
    }
    if (!(seconds > 0)) {
        seconds = 0;
    }
    if (seconds > 86400) {
        seconds = 86400;
    }
    struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    if (nanosleep(&t, NULL) != 0 && PyErr_CheckSignals() != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"wait", module_wait, METH_O, PyDoc_STR("wait(seconds): sleep, ending early when a signal was handled.")},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT, .m_name = "_sandbar", .m_methods = module_methods,
};

static PyObject *
module_create(void)
{
    return PyModule_Create(&module_def);
}

// --- making the image -----------------------------------------------------------------------------

static PyStatus
configure(PyConfig *config)
{
    PyStatus status;
    config->site_import = 1;
    config->install_signal_handlers = 1;
    config->safe_path = 0;
    config->module_search_paths_set = 1;
    config->buffered_stdio = 1;
#define SET(field, text) \
    status = PyConfig_SetString(config, &config->field, text); \
    if (PyStatus_Exception(status)) return status
    SET(program_name, L"python3");
    SET(executable, L"/usr/bin/python3");
    SET(base_executable, L"/usr/bin/python3");
    SET(prefix, L"/usr");
    SET(base_prefix, L"/usr");
    SET(exec_prefix, L"/usr");
    SET(base_exec_prefix, L"/usr");
    SET(platlibdir, L"lib");
    // What a native Python chooses under LANG=C.UTF-8.
    SET(filesystem_encoding, L"utf-8");
    SET(filesystem_errors, L"surrogateescape");
    SET(stdio_encoding, L"utf-8");
    SET(stdio_errors, L"surrogateescape");
#undef SET
    return PyWideStringList_Append(&config->module_search_paths, L"/usr/lib/python3.13");
}

EXPORT(sandbar_init) int
sandbar_init(void)
{
    if (PyImport_AppendInittab("_sandbar", module_create) < 0) {
        return 1;
    }
    PyPreConfig preconfig;
    PyPreConfig_InitPythonConfig(&preconfig);
    preconfig.utf8_mode = 0;
    preconfig.coerce_c_locale = 0;
    PyStatus status = Py_PreInitialize(&preconfig);
    if (PyStatus_Exception(status)) {
        return 2;
    }
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.parse_argv = 0;
    status = configure(&config);
    if (!PyStatus_Exception(status)) {
        status = Py_InitializeFromConfig(&config);
    }
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) {
        fprintf(stderr, "python: %s: %s\n", status.func ? status.func : "init", status.err_msg ? status.err_msg : "exit");
        return 3;
    }
    sandbar_runner = PyImport_ImportModule("_sandbar_runner");
    if (sandbar_runner == NULL) {
        PyErr_Print();
        return 4;
    }
    PyObject *io = PyImport_ImportModule("_io");
    if (io == NULL) {
        return 5;
    }
    text_type = (PyTypeObject *)PyObject_GetAttrString(io, "TextIOWrapper");
    buffered_type = (PyTypeObject *)PyObject_GetAttrString(io, "BufferedWriter");
    Py_DECREF(io);
    return text_type == NULL || buffered_type == NULL ? 6 : 0;
}

EXPORT(sandbar_warm) int
sandbar_warm(char *data, size_t length)
{
    struct request r = {data, data + length};
    PyObject *cwd = sandbar_field(&r);
    PyObject *env = cwd == NULL ? NULL : sandbar_fields(&r);
    PyObject *shadow = env == NULL ? NULL : sandbar_fields(&r);
    const char *source = shadow == NULL ? NULL : sandbar_source(&r);
    PyObject *done = source == NULL ? NULL : PyObject_CallMethod(sandbar_runner, "warm", "OOOy", cwd, env, shadow, source);
    Py_XDECREF(cwd);
    Py_XDECREF(env);
    Py_XDECREF(shadow);
    free(data);
    if (done == NULL) {
        int code;
        if (!_Py_HandleSystemExit(&code)) {
            PyErr_Print();
        }
        return 1;
    }
    Py_DECREF(done);
    return 0;
}

EXPORT(sandbar_freeze) int
sandbar_freeze(void)
{
    sandbar_image_names = PyObject_CallMethod(sandbar_runner, "prepare_image", NULL);
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *objects = gc == NULL || sandbar_image_names == NULL ? NULL : PyObject_CallMethod(gc, "get_objects", NULL);
    int status = objects == NULL ? -1 : sandbar_immortalize(objects);
    Py_XDECREF(objects);
    PyObject *frozen = status < 0 ? NULL : PyObject_CallMethod(gc, "freeze", NULL);
    if (frozen == NULL) {
        PyErr_Print();
        return 1;
    }
    image_stdout = Py_XNewRef(PySys_GetObject("stdout"));
    image_stderr = Py_XNewRef(PySys_GetObject("stderr"));
    return 0;
}

// --- requests -------------------------------------------------------------------------------------

EXPORT(sandbar_alloc) void *
sandbar_alloc(size_t size)
{
    return malloc(size);
}

// --- stops ----------------------------------------------------------------------------------------

EXPORT(sandbar_interrupt) void
sandbar_interrupt(void)
{
    PyErr_SetInterrupt();
}

static void
drain_piece(int fd, PyObject *piece)
{
    if (PyBytes_Check(piece)) {
        (void)write(fd, PyBytes_AS_STRING(piece), (size_t)PyBytes_GET_SIZE(piece));
    }
    else if (PyUnicode_Check(piece) && PyUnicode_IS_COMPACT_ASCII(piece)) {
        (void)write(fd, PyUnicode_DATA(piece), (size_t)PyUnicode_GET_LENGTH(piece));
    }
}

static void
drain_file(int fd, PyObject *file)
{
    PyObject *buffer, *pending;
    if (file == NULL || !_PyIO_PendingText(file, text_type, &buffer, &pending)) {
        return;
    }
    const char *start;
    Py_ssize_t length;
    if (buffer != NULL && _PyIO_PendingBuffered(buffer, buffered_type, &start, &length)) {
        (void)write(fd, start, (size_t)length);
    }
    if (pending == NULL) {
        return;
    }
    if (!PyList_Check(pending)) {
        drain_piece(fd, pending);
        return;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(pending); i++) {
        drain_piece(fd, PyList_GET_ITEM(pending, i));
    }
}

EXPORT(sandbar_drain) void
sandbar_drain(void)
{
    drain_file(1, image_stdout);
    drain_file(2, image_stderr);
}
