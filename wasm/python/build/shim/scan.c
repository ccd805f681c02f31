// The scanner: what a script imports, and what it uses of what it imports, from its syntax tree. Nothing of
// the script is executed. What it finds is text for the host, which decides where the script runs; package
// imports has the grammar. It forgives: a tree that is nested too deeply, or more findings than fit, are passed over.
#include "Python.h"
#include "pycore_ast.h"

#include "scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The bounds of one scan: nesting of statements and expressions, and bytes of findings.
#define MAX_DEPTH 1500
#define MAX_TEXT (256 << 10)

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

static void statements(struct scan *s, asdl_stmt_seq *body);
static void expression(struct scan *s, expr_ty e);

// --- the findings -----------------------------------------------------------------------------------

static void
report(struct scan *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || s->length + (size_t)n > MAX_TEXT) {
        return;
    }
    if (s->length + (size_t)n + 1 > s->room) {
        size_t room = (s->length + (size_t)n + 1) * 2;
        char *text = realloc(s->text, room);
        if (text == NULL) {
            return;
        }
        s->text = text;
        s->room = room;
    }
    va_start(args, format);
    vsnprintf(s->text + s->length, (size_t)n + 1, format, args);
    va_end(args);
    s->length += (size_t)n;
}

// word gives a name that can stand in a line of findings, or NULL.
static const char *
word(PyObject *name)
{
    Py_ssize_t length;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, &length);
    if (text == NULL) {
        PyErr_Clear();
        return NULL;
    }
    if (length == 0 || length > 500) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f) {
            return NULL;
        }
    }
    return text;
}

static const char *
flags(struct scan *s)
{
    return s->maybe > 0 ? s->otherwise ? "me" : "m" : "-";
}

static void
report_import(struct scan *s, int line, const char *module)
{
    if (module != NULL) {
        report(s, "import %d %s %d %d 0 %s\n", line, flags(s), s->guard, s->fallback, module);
    }
}

static void
report_use(struct scan *s, int line, PyObject *path, int called)
{
    if (PySet_Contains(s->seen[called], path) == 0 && PySet_Add(s->seen[called], path) == 0) {
        const char *text = word(path);
        if (text != NULL) {
            report(s, "use %d %s%s %s\n", line, s->maybe > 0 ? "m" : "", called ? "c" : s->maybe > 0 ? "" : "-", text);
        }
    }
    PyErr_Clear();
}

// own notes a name that the file itself gives.
static void
own(struct scan *s, PyObject *name)
{
    if (!s->uses && PySet_Add(s->own, name) < 0) {
        PyErr_Clear();
    }
}

// bind notes that name stands for path.
static void
bind(struct scan *s, PyObject *name, PyObject *path)
{
    if (name == NULL || path == NULL || PyDict_SetItem(s->bound, name, path) < 0) {
        PyErr_Clear();
    }
}

// --- imports ----------------------------------------------------------------------------------------

static void
import_names(struct scan *s, stmt_ty st)
{
    asdl_alias_seq *names = st->v.Import.names;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(names); i++) {
        alias_ty a = asdl_seq_GET(names, i);
        report_import(s, st->lineno, word(a->name));
        if (a->asname != NULL) {
            bind(s, a->asname, a->name);
            continue;
        }
        Py_ssize_t dot = PyUnicode_FindChar(a->name, '.', 0, PyUnicode_GET_LENGTH(a->name), 1);
        PyObject *top = PyUnicode_Substring(a->name, 0, dot < 0 ? PyUnicode_GET_LENGTH(a->name) : dot);
        bind(s, top, top);
        Py_XDECREF(top);
    }
}

static void
import_from(struct scan *s, stmt_ty st)
{
    PyObject *module = st->v.ImportFrom.module;
    int level = st->v.ImportFrom.level;
    if (level == 0 && module != NULL && PyUnicode_EqualToUTF8(module, "__future__")) {
        return;
    }
    const char *from = module == NULL ? "." : word(module);
    asdl_alias_seq *names = st->v.ImportFrom.names;
    for (Py_ssize_t i = 0; from != NULL && i < asdl_seq_LEN(names); i++) {
        alias_ty a = asdl_seq_GET(names, i);
        const char *name = word(a->name);
        if (name == NULL) {
            continue;
        }
        report(s, "from %d %s %d %d %d %s %s\n", st->lineno, flags(s), s->guard, s->fallback, level, from, name);
        if (level > 0) {
            continue;
        }
        if (strcmp(name, "*") == 0) {
            if (PyList_Append(s->stars, module) < 0) {
                PyErr_Clear();
            }
            continue;
        }
        PyObject *path = PyUnicode_FromFormat("%U.%U", module, a->name);
        bind(s, a->asname != NULL ? a->asname : a->name, path);
        Py_XDECREF(path);
    }
}

// --- guards -----------------------------------------------------------------------------------------

static int
is_name(expr_ty e, const char *name)
{
    if (e->kind == Attribute_kind) {
        return PyUnicode_EqualToUTF8(e->v.Attribute.attr, name);
    }
    return e->kind == Name_kind && PyUnicode_EqualToUTF8(e->v.Name.id, name);
}

// catches reports whether an except clause of this type catches an ImportError.
static int
catches(expr_ty type)
{
    static const char *const names[] = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"};
    if (type == NULL) {
        return 1;
    }
    if (type->kind == Tuple_kind) {
        for (Py_ssize_t i = 0; i < asdl_seq_LEN(type->v.Tuple.elts); i++) {
            if (catches(asdl_seq_GET(type->v.Tuple.elts, i))) {
                return 1;
            }
        }
        return 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_name(type, names[i])) {
            return 1;
        }
    }
    return 0;
}

// gives_up reports whether a handler ends in raise, or in a call that ends the script.
static int
gives_up(asdl_stmt_seq *body)
{
    static const char *const ends[] = {"exit", "quit", "_exit", "abort"};
    stmt_ty last = asdl_seq_GET(body, asdl_seq_LEN(body) - 1);
    if (last->kind == Raise_kind) {
        return 1;
    }
    if (last->kind != Expr_kind || last->v.Expr.value->kind != Call_kind) {
        return 0;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (is_name(last->v.Expr.value->v.Call.func, ends[i])) {
            return 1;
        }
    }
    return 0;
}

static void
try_statement(struct scan *s, asdl_stmt_seq *body, asdl_excepthandler_seq *handlers, asdl_stmt_seq *orelse,
              asdl_stmt_seq *finalbody)
{
    int guards = 0;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(handlers) && !guards; i++) {
        excepthandler_ty h = asdl_seq_GET(handlers, i);
        if (catches(h->v.ExceptHandler.type)) {
            guards = !gives_up(h->v.ExceptHandler.body);
            break;
        }
    }
    int outer_guard = s->guard, outer_fallback = s->fallback, outer_otherwise = s->otherwise;
    int number = guards ? ++s->tries : 0;
    if (guards) {
        s->guard = number;
    }
    statements(s, body);
    s->guard = outer_guard;
    s->maybe++;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(handlers); i++) {
        excepthandler_ty h = asdl_seq_GET(handlers, i);
        if (s->uses && h->v.ExceptHandler.type != NULL) {
            expression(s, h->v.ExceptHandler.type);
        }
        if (guards && catches(h->v.ExceptHandler.type)) {
            s->fallback = number;
            s->otherwise = 0;
        }
        statements(s, h->v.ExceptHandler.body);
        s->fallback = outer_fallback;
        s->otherwise = outer_otherwise;
    }
    if (guards) {
        s->fallback = number;
        s->otherwise = 1;
    }
    statements(s, orelse);
    s->fallback = outer_fallback;
    s->otherwise = outer_otherwise;
    s->maybe--;
    statements(s, finalbody);
}

// suppresses reports whether a with statement is contextlib.suppress of an ImportError.
static int
suppresses(asdl_withitem_seq *items)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(items); i++) {
        expr_ty e = asdl_seq_GET(items, i)->context_expr;
        if (e->kind != Call_kind || !is_name(e->v.Call.func, "suppress")) {
            continue;
        }
        for (Py_ssize_t k = 0; k < asdl_seq_LEN(e->v.Call.args); k++) {
            if (catches(asdl_seq_GET(e->v.Call.args, k))) {
                return 1;
            }
        }
    }
    return 0;
}

// --- tests that are known beforehand ----------------------------------------------------------------

// is_attribute reports whether e is module.name, whatever module stands for.
static int
is_attribute(expr_ty e, const char *module, const char *name)
{
    return e->kind == Attribute_kind && PyUnicode_EqualToUTF8(e->v.Attribute.attr, name) &&
           e->v.Attribute.value->kind == Name_kind && PyUnicode_EqualToUTF8(e->v.Attribute.value->v.Name.id, module);
}

static int
is_text(expr_ty e, const char *text)
{
    return e->kind == Constant_kind && PyUnicode_Check(e->v.Constant.value) &&
           PyUnicode_EqualToUTF8(e->v.Constant.value, text);
}

// version_test compares sys.version_info, or a slice of it, with a tuple of up to two numbers.
static int
version_test(expr_ty e, cmpop_ty op, expr_ty with)
{
    static const long version[] = {PY_MAJOR_VERSION, PY_MINOR_VERSION};
    int sliced = e->kind == Subscript_kind && e->v.Subscript.slice->kind == Slice_kind;
    Py_ssize_t n = with->kind == Tuple_kind ? asdl_seq_LEN(with->v.Tuple.elts) : 0;
    if (!is_attribute(sliced ? e->v.Subscript.value : e, "sys", "version_info") || n < 1 || n > 2) {
        return -1;
    }
    int order = 0;
    for (Py_ssize_t i = 0; i < n && order == 0; i++) {
        expr_ty part = asdl_seq_GET(with->v.Tuple.elts, i);
        if (part->kind != Constant_kind || !PyLong_Check(part->v.Constant.value)) {
            return -1;
        }
        int overflow;
        long wanted = PyLong_AsLongAndOverflow(part->v.Constant.value, &overflow);
        if (overflow != 0) {
            return -1;
        }
        order = version[i] < wanted ? -1 : version[i] > wanted;
    }
    if (order == 0 && (!sliced || n == 1)) {
        order = 1;  // (3, 13, ...) is more than (3, 13)
    }
    switch (op) {
    case Lt:
        return order < 0;
    case LtE:
        return order <= 0;
    case Gt:
        return order > 0;
    case GtE:
        return order >= 0;
    default:
        return -1;
    }
}

// platform_test knows that neither this tier nor the native one is Windows or macOS.
static int
platform_test(expr_ty e, expr_ty with)
{
    if (is_attribute(e, "os", "name")) {
        return is_text(with, "posix") ? 1 : is_text(with, "nt") ? 0 : -1;
    }
    if (is_attribute(e, "sys", "platform")) {
        return is_text(with, "win32") || is_text(with, "darwin") || is_text(with, "cygwin") ? 0 : -1;
    }
    return -1;
}

// known gives the value of a test where it is certain before the script runs: 1, 0, or -1.
static int
known(struct scan *s, expr_ty e)
{
    if (is_name(e, "TYPE_CHECKING")) {
        return 0;
    }
    if (e->kind == UnaryOp_kind && e->v.UnaryOp.op == Not) {
        int value = is_name(e->v.UnaryOp.operand, "TYPE_CHECKING") ? 0 : -1;
        return value < 0 ? -1 : !value;
    }
    if (e->kind != Compare_kind || asdl_seq_LEN(e->v.Compare.comparators) != 1) {
        return -1;
    }
    cmpop_ty op = (cmpop_ty)asdl_seq_GET(e->v.Compare.ops, 0);
    expr_ty left = e->v.Compare.left, right = asdl_seq_GET(e->v.Compare.comparators, 0);
    int value = version_test(left, op, right);
    if (value >= 0 || (op != Eq && op != NotEq)) {
        return value;
    }
    value = platform_test(left, right);
    if (value < 0 && is_name(left, "__name__") && is_text(right, "__main__")) {
        value = s->is_main;
    }
    return value < 0 || op == Eq ? value : !value;
}

// --- statements -------------------------------------------------------------------------------------

static void
maybe_statements(struct scan *s, asdl_stmt_seq *body)
{
    s->maybe++;
    statements(s, body);
    s->maybe--;
}

static void
optional(struct scan *s, expr_ty e)
{
    if (e != NULL && s->uses) {
        expression(s, e);
    }
}

static void
expressions(struct scan *s, asdl_expr_seq *list)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(list); i++) {
        optional(s, asdl_seq_GET(list, i));
    }
}

static void
keywords(struct scan *s, asdl_keyword_seq *list)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(list); i++) {
        optional(s, asdl_seq_GET(list, i)->value);
    }
}

static void
function(struct scan *s, arguments_ty args, asdl_stmt_seq *body, asdl_expr_seq *decorators)
{
    expressions(s, decorators);
    expressions(s, args->defaults);
    expressions(s, args->kw_defaults);
    // What a handler calls later has its own chance to be caught.
    int guard = s->guard, fallback = s->fallback, otherwise = s->otherwise;
    s->guard = s->fallback = s->otherwise = 0;
    maybe_statements(s, body);
    s->guard = guard;
    s->fallback = fallback;
    s->otherwise = otherwise;
}

static int use_of(struct scan *s, expr_ty e, int called);

static void
class_statement(struct scan *s, stmt_ty st)
{
    if (s->uses) {
        for (Py_ssize_t i = 0; i < asdl_seq_LEN(st->v.ClassDef.bases); i++) {
            expr_ty base = asdl_seq_GET(st->v.ClassDef.bases, i);
            if (!use_of(s, base, 1)) {
                expression(s, base);
            }
        }
    }
    keywords(s, st->v.ClassDef.keywords);
    expressions(s, st->v.ClassDef.decorator_list);
    statements(s, st->v.ClassDef.body);
}

static void
if_statement(struct scan *s, stmt_ty st)
{
    int entered = s->maybe;
    for (;;) {
        int value = known(s, st->v.If.test);
        optional(s, st->v.If.test);
        int here = s->maybe;
        s->maybe += value < 0;
        if (value != 0) {
            statements(s, st->v.If.body);
        }
        s->maybe = here + (value < 0);
        asdl_stmt_seq *orelse = st->v.If.orelse;
        if (value == 1) {
            break;
        }
        // A chain of elif is nested in the tree, and can be long.
        if (asdl_seq_LEN(orelse) != 1 || asdl_seq_GET(orelse, 0)->kind != If_kind) {
            statements(s, orelse);
            break;
        }
        st = asdl_seq_GET(orelse, 0);
    }
    s->maybe = entered;
}

static void
with_statement(struct scan *s, asdl_withitem_seq *items, asdl_stmt_seq *body)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(items); i++) {
        optional(s, asdl_seq_GET(items, i)->context_expr);
    }
    int guard = s->guard;
    if (suppresses(items)) {
        s->guard = ++s->tries;
    }
    statements(s, body);
    s->guard = guard;
}

static void
match_statement(struct scan *s, stmt_ty st)
{
    optional(s, st->v.Match.subject);
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(st->v.Match.cases); i++) {
        match_case_ty c = asdl_seq_GET(st->v.Match.cases, i);
        optional(s, c->guard);
        maybe_statements(s, c->body);
    }
}

static void
statement(struct scan *s, stmt_ty st)
{
    switch (st->kind) {
    case Import_kind:
        if (!s->uses) {
            import_names(s, st);
        }
        break;
    case ImportFrom_kind:
        if (!s->uses) {
            import_from(s, st);
        }
        break;
    case FunctionDef_kind:
        own(s, st->v.FunctionDef.name);
        function(s, st->v.FunctionDef.args, st->v.FunctionDef.body, st->v.FunctionDef.decorator_list);
        break;
    case AsyncFunctionDef_kind:
        own(s, st->v.AsyncFunctionDef.name);
        function(s, st->v.AsyncFunctionDef.args, st->v.AsyncFunctionDef.body, st->v.AsyncFunctionDef.decorator_list);
        break;
    case ClassDef_kind:
        own(s, st->v.ClassDef.name);
        class_statement(s, st);
        break;
    case If_kind:
        if_statement(s, st);
        break;
    case For_kind:
    case AsyncFor_kind:  // the same fields in the same order
        optional(s, st->v.For.iter);
        maybe_statements(s, st->v.For.body);
        maybe_statements(s, st->v.For.orelse);
        break;
    case While_kind:
        optional(s, st->v.While.test);
        maybe_statements(s, st->v.While.body);
        maybe_statements(s, st->v.While.orelse);
        break;
    case With_kind:
    case AsyncWith_kind:
        with_statement(s, st->v.With.items, st->v.With.body);
        break;
    case Match_kind:
        match_statement(s, st);
        break;
    case Try_kind:
    case TryStar_kind:
        try_statement(s, st->v.Try.body, st->v.Try.handlers, st->v.Try.orelse, st->v.Try.finalbody);
        break;
    case Return_kind:
        optional(s, st->v.Return.value);
        break;
    case Assign_kind:
        for (Py_ssize_t i = 0; i < asdl_seq_LEN(st->v.Assign.targets); i++) {
            expr_ty target = asdl_seq_GET(st->v.Assign.targets, i);
            if (target->kind == Name_kind) {
                own(s, target->v.Name.id);
            }
        }
        expressions(s, st->v.Assign.targets);
        optional(s, st->v.Assign.value);
        break;
    case AugAssign_kind:
        optional(s, st->v.AugAssign.target);
        optional(s, st->v.AugAssign.value);
        break;
    case AnnAssign_kind:
        optional(s, st->v.AnnAssign.value);
        break;
    case Raise_kind:
        optional(s, st->v.Raise.exc);
        optional(s, st->v.Raise.cause);
        break;
    case Assert_kind:
        optional(s, st->v.Assert.test);
        optional(s, st->v.Assert.msg);
        break;
    case Expr_kind:
        optional(s, st->v.Expr.value);
        break;
    case Delete_kind:
    case TypeAlias_kind:
    case Global_kind:
    case Nonlocal_kind:
    case Pass_kind:
    case Break_kind:
    case Continue_kind:
        break;
    }
}

static void
statements(struct scan *s, asdl_stmt_seq *body)
{
    if (s->depth >= MAX_DEPTH) {
        return;
    }
    s->depth++;
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(body); i++) {
        statement(s, asdl_seq_GET(body, i));
    }
    s->depth--;
}

// --- expressions ------------------------------------------------------------------------------------

// resolve gives what a dotted path stands for when an import has bound its first name, as a new reference; NULL for all
// else. Dotted says whether e is a dotted path at all: nothing else is in it.
static PyObject *
resolve(struct scan *s, expr_ty e, int *dotted)
{
    PyObject *names[16];
    size_t n = 0;
    while (e->kind == Attribute_kind) {
        if (n < sizeof names / sizeof *names) {
            names[n] = e->v.Attribute.attr;
        }
        n++;
        e = e->v.Attribute.value;
    }
    *dotted = e->kind == Name_kind;
    PyObject *path = *dotted ? PyDict_GetItemWithError(s->bound, e->v.Name.id) : NULL;
    Py_XINCREF(path);
    while (n > 0 && path != NULL && n <= sizeof names / sizeof *names) {
        Py_SETREF(path, PyUnicode_FromFormat("%U.%U", path, names[--n]));
    }
    PyErr_Clear();
    return path;
}

// star_uses reports a call of a name that nothing binds but perhaps one of the modules that were imported with *.
static void
star_uses(struct scan *s, expr_ty e)
{
    if (PyList_GET_SIZE(s->stars) == 0 || PySet_Contains(s->own, e->v.Name.id) != 0) {
        return;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(s->stars); i++) {
        PyObject *name = PyUnicode_FromFormat("%U.%U", PyList_GET_ITEM(s->stars, i), e->v.Name.id);
        if (name != NULL) {
            report_use(s, e->lineno, name, 1);
        }
        Py_XDECREF(name);
    }
    PyErr_Clear();
}

// use_of reports what e stands for. It returns whether e is a dotted path.
static int
use_of(struct scan *s, expr_ty e, int called)
{
    int dotted;
    PyObject *path = resolve(s, e, &dotted);
    if (path != NULL) {
        report_use(s, e->lineno, path, called);
        Py_DECREF(path);
    }
    else if (e->kind == Name_kind && called) {
        star_uses(s, e);
    }
    return dotted;
}

// imports_by_name reports whether a function is one that imports what its first argument names. Path is what it stands
// for, or NULL.
static int
imports_by_name(expr_ty f, PyObject *path)
{
    static const char *const names[] = {"importlib.import_module", "importlib.__import__", "builtins.__import__"};
    if (path == NULL) {
        return f->kind == Name_kind && PyUnicode_EqualToUTF8(f->v.Name.id, "__import__");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (PyUnicode_EqualToUTF8(path, names[i])) {
            return 1;
        }
    }
    return 0;
}

// import_call reports __import__("name") and importlib.import_module("name").
static void
import_call(struct scan *s, expr_ty e)
{
    expr_ty name = asdl_seq_GET(e->v.Call.args, 0);
    if (name->kind == Constant_kind && PyUnicode_Check(name->v.Constant.value)) {
        const char *module = word(name->v.Constant.value);
        if (module != NULL && module[0] != '.') {
            report_import(s, e->lineno, module);
        }
    }
}

static void
call(struct scan *s, expr_ty e)
{
    expr_ty f = e->v.Call.func;
    int dotted;
    PyObject *path = resolve(s, f, &dotted);
    if (asdl_seq_LEN(e->v.Call.args) > 0 && imports_by_name(f, path)) {
        import_call(s, e);
    }
    if (path != NULL) {
        report_use(s, e->lineno, path, 1);
        Py_DECREF(path);
    }
    else if (f->kind == Name_kind) {
        star_uses(s, f);
    }
    else if (!dotted) {
        expression(s, f);
    }
    expressions(s, e->v.Call.args);
    keywords(s, e->v.Call.keywords);
}

static void
generators(struct scan *s, asdl_comprehension_seq *list)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(list); i++) {
        comprehension_ty c = asdl_seq_GET(list, i);
        expression(s, c->iter);
        expressions(s, c->ifs);
    }
}

static void
parts(struct scan *s, expr_ty e)
{
    switch (e->kind) {
    case BoolOp_kind:
        expressions(s, e->v.BoolOp.values);
        break;
    case NamedExpr_kind:
        expression(s, e->v.NamedExpr.value);
        break;
    case BinOp_kind:
        expression(s, e->v.BinOp.left);
        expression(s, e->v.BinOp.right);
        break;
    case UnaryOp_kind:
        expression(s, e->v.UnaryOp.operand);
        break;
    case Lambda_kind:
        expressions(s, e->v.Lambda.args->defaults);
        expressions(s, e->v.Lambda.args->kw_defaults);
        s->maybe++;
        expression(s, e->v.Lambda.body);
        s->maybe--;
        break;
    case IfExp_kind:
        expression(s, e->v.IfExp.test);
        s->maybe++;
        expression(s, e->v.IfExp.body);
        expression(s, e->v.IfExp.orelse);
        s->maybe--;
        break;
    case Dict_kind:
        expressions(s, e->v.Dict.keys);  // a key is NULL for **value
        expressions(s, e->v.Dict.values);
        break;
    case Set_kind:
        expressions(s, e->v.Set.elts);
        break;
    case ListComp_kind:
    case SetComp_kind:
    case GeneratorExp_kind:  // the same fields in the same order
        generators(s, e->v.ListComp.generators);
        expression(s, e->v.ListComp.elt);
        break;
    case DictComp_kind:
        generators(s, e->v.DictComp.generators);
        expression(s, e->v.DictComp.key);
        expression(s, e->v.DictComp.value);
        break;
    case Await_kind:
        expression(s, e->v.Await.value);
        break;
    case Yield_kind:
        optional(s, e->v.Yield.value);
        break;
    case YieldFrom_kind:
        expression(s, e->v.YieldFrom.value);
        break;
    case Compare_kind:
        expression(s, e->v.Compare.left);
        expressions(s, e->v.Compare.comparators);
        break;
    case Call_kind:
        call(s, e);
        break;
    case FormattedValue_kind:
        expression(s, e->v.FormattedValue.value);
        optional(s, e->v.FormattedValue.format_spec);
        break;
    case JoinedStr_kind:
        expressions(s, e->v.JoinedStr.values);
        break;
    case Attribute_kind:
        if (!use_of(s, e, 0)) {
            expression(s, e->v.Attribute.value);
        }
        break;
    case Subscript_kind:
        expression(s, e->v.Subscript.value);
        expression(s, e->v.Subscript.slice);
        break;
    case Starred_kind:
        expression(s, e->v.Starred.value);
        break;
    case Name_kind:
        if (e->v.Name.ctx == Load) {
            use_of(s, e, 0);
        }
        break;
    case List_kind:
        expressions(s, e->v.List.elts);
        break;
    case Tuple_kind:
        expressions(s, e->v.Tuple.elts);
        break;
    case Slice_kind:
        optional(s, e->v.Slice.lower);
        optional(s, e->v.Slice.upper);
        optional(s, e->v.Slice.step);
        break;
    case Constant_kind:
        break;
    }
}

static void
expression(struct scan *s, expr_ty e)
{
    if (s->depth >= MAX_DEPTH) {
        return;
    }
    s->depth++;
    parts(s, e);
    s->depth--;
}

char *
sandbar_scan_tree(mod_ty mod, int is_main, size_t *length)
{
    struct scan s = {.is_main = is_main};
    s.bound = PyDict_New();
    s.stars = PyList_New(0);
    s.own = PySet_New(NULL);
    s.seen[0] = PySet_New(NULL);
    s.seen[1] = PySet_New(NULL);
    if (s.bound != NULL && s.stars != NULL && s.own != NULL && s.seen[0] != NULL && s.seen[1] != NULL && mod->kind == Module_kind) {
        statements(&s, mod->v.Module.body);
        s.uses = 1;
        s.tries = 0;  // the same walk gives the same numbers
        statements(&s, mod->v.Module.body);
    }
    PyErr_Clear();
    Py_XDECREF(s.bound);
    Py_XDECREF(s.stars);
    Py_XDECREF(s.own);
    Py_XDECREF(s.seen[0]);
    Py_XDECREF(s.seen[1]);
    *length = s.length;
    return s.text;
}
