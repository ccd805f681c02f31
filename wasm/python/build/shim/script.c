// Scripts: a file that is run as __main__ in a fresh interpreter, and sources that are run one after another in one that
// stays. Each is parsed once; between the parser and the compiler the host may ask what it imports.
#include "shim.h"

#include "pycore_ast.h"
#include "pycore_compile.h"
#include "pycore_import.h"
#include "pycore_parser.h"
#include "pycore_pyarena.h"
#include "pycore_runtime.h"
#include "scan.h"

#include <errno.h>

extern void sqlite3_randomness(int, void *);

// is_set reports whether a flag of a request is on.
static int
is_set(PyObject *flag)
{
    return PyUnicode_GET_LENGTH(flag) > 0;
}

// stays tells the host what the tree imports, and reports whether the script is to run here.
static int
stays(mod_ty mod, int is_main)
{
    size_t length;
    char *text = sandbar_scan_tree(mod, is_main, &length);
    int refused = sandbar_found(text, length);
    free(text);
    return !refused;
}

// compiled makes code of a tree.
static PyObject *
compiled(mod_ty mod, PyObject *name, PyCompilerFlags *flags, PyArena *arena)
{
    return mod == NULL ? NULL : (PyObject *)_PyAST_Compile(mod, name, flags, -1, arena);
}

// --- a fresh interpreter ----------------------------------------------------------------------------

// load parses and compiles the file. It gives NULL with an exception set, or without one when the script is not to
// run here.
static PyObject *
load(FILE *f, PyObject *path, PyObject *scan)
{
    PyArena *arena = _PyArena_New();
    if (arena == NULL) {
        return NULL;
    }
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    PyObject *code = NULL;
    mod_ty mod = _PyParser_ASTFromFile(f, path, NULL, Py_file_input, NULL, NULL, &flags, NULL, arena);
    code = compiled(mod, path, &flags, arena);
    // Only now: what cannot be compiled belongs here, where the error is told.
    if (code != NULL && is_set(scan) && !stays(mod, 1)) {
        Py_CLEAR(code);
    }
    _PyArena_Free(arena);
    return code;
}

// run_file runs the file as __main__, as _PyRun_SimpleFile does.
static int
run_file(PyObject *path, PyObject *scan)
{
    PyObject *main = PyImport_AddModuleRef("__main__");
    if (main == NULL) {
        return sandbar_exit_code();
    }
    const char *name = PyUnicode_AsUTF8(path);
    FILE *f = name == NULL ? NULL : fopen(name, "rb");
    if (f == NULL) {
        PyErr_Clear();
        PySys_FormatStderr("python3: can't open file %R: [Errno %d] %s\n", path, errno, strerror(errno));
        Py_DECREF(main);
        return 2;
    }
    PyObject *code = load(f, path, scan);
    fclose(f);
    PyObject *value = NULL;
    if (code != NULL) {
        PyObject *dict = PyModule_GetDict(main);
        value = PyEval_EvalCode(code, dict, dict);
        Py_DECREF(code);
    }
    // The module must be gone, but for sys.modules, before its end is looked after.
    Py_DECREF(main);
    if (value == NULL) {
        return PyErr_Occurred() ? sandbar_exit_code() : RESULT_AWAY;
    }
    Py_DECREF(value);
    return 0;
}

EXPORT(sandbar_run) int
sandbar_run(char *data, size_t length)
{
    struct request r = {data, data + length};
    PyObject *path = sandbar_field(&r);
    PyObject *cwd = path == NULL ? NULL : sandbar_field(&r);
    PyObject *scan = cwd == NULL ? NULL : sandbar_field(&r);
    PyObject *args = scan == NULL ? NULL : sandbar_fields(&r);
    PyObject *env = args == NULL ? NULL : sandbar_fields(&r);
    PyObject *shadow = env == NULL ? NULL : sandbar_fields(&r);
    free(data);
    sqlite3_randomness(0, NULL);  // it has a generator of its own, which would go on from the image's
    PyObject *done = shadow == NULL ? NULL : PyObject_CallMethod(sandbar_runner, "prepare", "OOOOO", path, cwd, args, env, shadow);
    int code = done == NULL ? sandbar_exit_code() : run_file(path, scan);
    Py_XDECREF(done);
    Py_XDECREF(path);
    Py_XDECREF(cwd);
    Py_XDECREF(scan);
    Py_XDECREF(args);
    Py_XDECREF(env);
    Py_XDECREF(shadow);
    if (code == RESULT_AWAY) {
        return code;
    }
    if (sandbar_end() < 0 && code == 0) {
        code = 120;
    }
    return code;
}

EXPORT(sandbar_scan) int
sandbar_scan(char *data, size_t length)
{
    struct request r = {data, data + length};
    PyObject *path = sandbar_field(&r);
    PyObject *is_main = path == NULL ? NULL : sandbar_field(&r);
    const char *source = is_main == NULL ? NULL : sandbar_source(&r);
    PyArena *arena = source == NULL ? NULL : _PyArena_New();
    int status = 1;
    if (arena != NULL) {
        PyCompilerFlags flags = _PyCompilerFlags_INIT;
        mod_ty mod = _PyParser_ASTFromString(source, path, Py_file_input, &flags, arena);
        if (mod != NULL) {
            stays(mod, is_set(is_main));
            status = 0;
        }
        _PyArena_Free(arena);
    }
    PyErr_Clear();
    Py_XDECREF(path);
    Py_XDECREF(is_main);
    free(data);
    return status;
}

// --- an interpreter that stays ----------------------------------------------------------------------

// show_value gives the host the repr of a value, and keeps the value as "_".
static int
show_value(PyObject *value)
{
    if (value == Py_None) {
        return 0;
    }
    PyObject *show = PyObject_GetAttrString(sandbar_runner, "show");
    PyObject *text = show == NULL ? NULL : PyObject_CallOneArg(show, value);  // it may be a tuple
    Py_XDECREF(show);
    if (text == NULL) {
        return -1;
    }
    sandbar_value(PyBytes_AS_STRING(text), (size_t)PyBytes_GET_SIZE(text));
    Py_DECREF(text);
    return 0;
}

// last_expression takes the last statement off the tree when it is an expression.
static mod_ty
last_expression(mod_ty mod, PyArena *arena)
{
    asdl_stmt_seq *body = mod->v.Module.body;
    Py_ssize_t n = asdl_seq_LEN(body);
    if (n == 0 || asdl_seq_GET(body, n - 1)->kind != Expr_kind) {
        return NULL;
    }
    expr_ty last = asdl_seq_GET(body, n - 1)->v.Expr.value;
    body->size--;
    return _PyAST_Expression(last, arena);
}

// parts are the code of a source: all but the last statement when that is an expression, and the expression.
struct parts {
    PyObject *body, *last;
};

// split parses and compiles a source. It returns 0, or -1 with an exception set.
static int
split(const char *source, PyObject *label, struct parts *p)
{
    PyArena *arena = _PyArena_New();
    if (arena == NULL) {
        return -1;
    }
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    int status = -1;
    mod_ty mod = _PyParser_ASTFromString(source, label, Py_file_input, &flags, arena);
    if (mod != NULL) {
        mod_ty last = last_expression(mod, arena);
        // What "from __future__" in the first part asks for holds in the second too: flags keep it.
        p->body = compiled(mod, label, &flags, arena);
        p->last = p->body == NULL || last == NULL ? NULL : compiled(last, label, &flags, arena);
        status = p->body == NULL || (last != NULL && p->last == NULL) ? -1 : 0;
    }
    _PyArena_Free(arena);
    return status;
}

// evaluate runs code in __main__.
static PyObject *
evaluate(PyObject *code)
{
    PyObject *main = PyImport_AddModuleRef("__main__");
    PyObject *dict = main == NULL ? NULL : PyModule_GetDict(main);
    PyObject *value = dict == NULL ? NULL : PyEval_EvalCode(code, dict, dict);
    Py_XDECREF(main);
    return value;
}

// run_parts runs both parts and returns 0, or -1 with an exception set.
static int
run_parts(struct parts *p)
{
    PyObject *value = evaluate(p->body);
    if (value != NULL && p->last != NULL) {
        Py_SETREF(value, evaluate(p->last));
    }
    int status = value == NULL ? -1 : p->last == NULL ? 0 : show_value(value);
    Py_XDECREF(value);
    return status;
}

EXPORT(sandbar_live) int
sandbar_live(char *data, size_t length)
{
    struct request r = {data, data + length};
    PyObject *label = sandbar_field(&r);
    PyObject *cwd = label == NULL ? NULL : sandbar_field(&r);
    PyObject *renew = cwd == NULL ? NULL : sandbar_field(&r);
    PyObject *args = renew == NULL ? NULL : sandbar_fields(&r);
    PyObject *env = args == NULL ? NULL : sandbar_fields(&r);
    PyObject *shadow = env == NULL ? NULL : sandbar_fields(&r);
    const char *source = shadow == NULL ? NULL : sandbar_source(&r);
    struct parts p = {NULL, NULL};
    int status = -1;
    if (source != NULL) {
        if (is_set(renew)) {
            sqlite3_randomness(0, NULL);
        }
        PyObject *begun = PyObject_CallMethod(sandbar_runner, "begin", "OOOOOyi", label, cwd, args, env, shadow, source,
                                              is_set(renew));
        Py_XDECREF(begun);
        status = begun == NULL ? -1 : split(source, label, &p);
    }
    free(data);
    Py_XDECREF(label);
    Py_XDECREF(cwd);
    Py_XDECREF(renew);
    Py_XDECREF(args);
    Py_XDECREF(env);
    Py_XDECREF(shadow);
    if (status == 0) {
        status = run_parts(&p);
    }
    Py_XDECREF(p.body);
    Py_XDECREF(p.last);
    int code = status < 0 ? sandbar_exit_code() : 0;
    if (sandbar_flush() < 0 && code == 0) {
        code = 120;
    }
    return code;
}

EXPORT(sandbar_finish) int
sandbar_finish(void)
{
    return sandbar_end();
}
