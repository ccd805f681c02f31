// The interpreter as a reactor: what the host calls, in the place of Python's own main().
//
//   _initialize()                C constructors, once, when the image is made
//   sandbar_init()               starts Python; once, when the image is made
//   sandbar_warm(ptr, len)       runs a script for its side effects on the image (imports, caches)
//   sandbar_freeze()             gets the heap ready to be the image
//   sandbar_alloc(size)          memory for a request
//   sandbar_run(ptr, len)        one script, in an instance that is a fresh copy of the image
//   sandbar_interrupt()          marks a KeyboardInterrupt as pending; the host calls it while the guest
//                                is inside a host function
//   sandbar_drain()              writes what sys.stdout and sys.stderr still hold; the host calls it after
//                                a stop or a trap
//
// A request is a row of fields, each a little-endian uint32 length and so many bytes: the script's path,
// the working directory, then the number of arguments as a field of four bytes and the arguments, then
// the environment in the same way, each KEY=VALUE.
#include "Python.h"
#include "pycore_import.h"
#include "pycore_interp.h"
#include "pycore_object.h"
#include "pycore_pylifecycle.h"
#include "pycore_pystate.h"
#include "pycore_pythonrun.h"
#include "structmember.h"

#include <errno.h>
#include <stdint.h>
#include <time.h>

#define EXPORT(name) __attribute__((export_name(#name), used))
#define IMPORT(name) __attribute__((import_module("sandbar"), import_name(#name)))

// tick is called from the loop heads, where the host's rewriter puts the calls; nothing here calls it,
// but it must stand among the imports.
IMPORT(tick) void sandbar_tick(void);
// advice gives the host one line for the user about a limit of this tier.
IMPORT(advice) void sandbar_advice(const char *text, size_t length);

EXPORT(sandbar_keep_tick) void sandbar_keep_tick(void) { sandbar_tick(); }

// The result of sandbar_run: the exit code in the low 8 bits, and these.
#define RESULT_MEMORY 0x100  // an uncaught MemoryError ended the script

extern void _PyModule_Clear(PyObject *);
extern int _PyIO_PendingBuffered(PyObject *, PyTypeObject *, const char **, Py_ssize_t *);
extern int sandbar_immortalize(PyObject *roots);
extern int _PyIO_PendingText(PyObject *, PyTypeObject *, PyObject **, PyObject **);

static PyObject *runner;       // the module _sandbar_runner
static PyObject *image_names;  // the names in sys.modules when the image was made: a frozenset
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
    runner = PyImport_ImportModule("_sandbar_runner");
    if (runner == NULL) {
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
sandbar_warm(const char *source, size_t length)
{
    PyObject *done = PyObject_CallMethod(runner, "warm", "y#", source, (Py_ssize_t)length);
    if (done == NULL) {
        PyErr_Print();
        return 1;
    }
    Py_DECREF(done);
    return 0;
}

EXPORT(sandbar_freeze) int
sandbar_freeze(void)
{
    image_names = PyObject_CallMethod(runner, "prepare_image", NULL);
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *objects = gc == NULL || image_names == NULL ? NULL : PyObject_CallMethod(gc, "get_objects", NULL);
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

// --- a run ----------------------------------------------------------------------------------------

EXPORT(sandbar_alloc) void *
sandbar_alloc(size_t size)
{
    return malloc(size);
}

struct request {
    const char *at, *end;
};

// field takes the next field of a request. The host wrote it; a short one is a fault of ours.
static PyObject *
field(struct request *r)
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

static PyObject *
fields(struct request *r)
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
        PyObject *s = field(r);
        if (s == NULL || PyList_Append(list, s) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(s);
    }
    return list;
}

// exit_code is what pymain does with an exception that nobody caught: SystemExit gives its code, every
// other is printed and gives 1.
static int
exit_code(void)
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
    PyObject *advice = PyObject_CallMethod(runner, "advise", "O", exc);
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

// run_main runs the file as __main__, as _PyRun_SimpleFile does.
static int
run_main(PyObject *path)
{
    PyObject *main = PyImport_AddModuleRef("__main__");
    if (main == NULL) {
        return exit_code();
    }
    PyObject *dict = PyModule_GetDict(main);
    const char *name = PyUnicode_AsUTF8(path);
    FILE *f = name == NULL ? NULL : fopen(name, "rb");
    if (f == NULL) {
        PyErr_Clear();
        PySys_FormatStderr("python3: can't open file %R: [Errno %d] %s\n", path, errno, strerror(errno));
        Py_DECREF(main);
        return 2;
    }
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    PyObject *value = PyRun_FileExFlags(f, name, Py_file_input, dict, dict, 1, &flags);
    // The module must be gone, but for sys.modules, before its end is looked after.
    Py_DECREF(main);
    if (value == NULL) {
        return exit_code();
    }
    Py_DECREF(value);
    return 0;
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

static int
flush_files(void)
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
        if (PySet_Contains(image_names, name) != 0) {
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

// finish does what Py_FinalizeEx does and a script can notice: it joins threads, calls the atexit
// functions, flushes, and lets the script's objects die so that their __del__ runs and their files are
// flushed. The rest of the interpreter is thrown away by the host.
static int
finish(void)
{
    PyObject *done = PyObject_CallMethod(runner, "finish", NULL);
    if (done == NULL) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(done);
    int status = flush_files();
    PyGC_Collect();
    reset_sys();
    PyObject *weak = remove_modules();
    PyGC_Collect();
    if (weak != NULL) {
        clear_modules(weak);
        Py_DECREF(weak);
        PyGC_Collect();
    }
    if (flush_files() < 0) {
        status = -1;
    }
    return status;
}

EXPORT(sandbar_run) int
sandbar_run(char *data, size_t length)
{
    struct request r = {data, data + length};
    PyObject *path = field(&r);
    PyObject *cwd = path == NULL ? NULL : field(&r);
    PyObject *args = cwd == NULL ? NULL : fields(&r);
    PyObject *env = args == NULL ? NULL : fields(&r);
    free(data);
    PyObject *done = env == NULL ? NULL : PyObject_CallMethod(runner, "prepare", "OOOO", path, cwd, args, env);
    int code;
    if (done == NULL) {
        code = exit_code();
    }
    else {
        Py_DECREF(done);
        code = run_main(path);
    }
    Py_XDECREF(path);
    Py_XDECREF(cwd);
    Py_XDECREF(args);
    Py_XDECREF(env);
    if (finish() < 0 && code == 0) {
        code = 120;
    }
    return code;
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
