// The scanner: what a script imports, and what it uses of what it imports, from its syntax tree. Nothing of
// the script is executed. What it finds is text for the host, which decides where the script runs; package
// imports has the grammar. It forgives: a tree that is nested too deeply, or more findings than fit, are passed over.
#include "scan.h"
#include "scan_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The bytes of findings of one scan.
#define MAX_TEXT (256 << 10)

static void statements(struct scan *s, asdl_stmt_seq *body);

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

// scan_word gives a name that can stand in a line of findings, or NULL.
const char *
scan_word(PyObject *name)
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

void
scan_report_import(struct scan *s, int line, const char *module)
{
    if (module != NULL) {
        report(s, "import %d %s %d %d 0 %s\n", line, flags(s), s->guard, s->fallback, module);
    }
}

void
scan_report_use(struct scan *s, int line, PyObject *path, int called)
{
    if (PySet_Contains(s->seen[called], path) == 0 && PySet_Add(s->seen[called], path) == 0) {
        const char *text = scan_word(path);
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
        scan_report_import(s, st->lineno, scan_word(a->name));
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
    const char *from = module == NULL ? "." : scan_word(module);
    asdl_alias_seq *names = st->v.ImportFrom.names;
    for (Py_ssize_t i = 0; from != NULL && i < asdl_seq_LEN(names); i++) {
        alias_ty a = asdl_seq_GET(names, i);
        const char *name = scan_word(a->name);
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

int
scan_is_name(expr_ty e, const char *name)
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
        if (scan_is_name(type, names[i])) {
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
        if (scan_is_name(last->v.Expr.value->v.Call.func, ends[i])) {
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
            scan_expression(s, h->v.ExceptHandler.type);
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
        if (e->kind != Call_kind || !scan_is_name(e->v.Call.func, "suppress")) {
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

// --- statements -------------------------------------------------------------------------------------

static void
maybe_statements(struct scan *s, asdl_stmt_seq *body)
{
    s->maybe++;
    statements(s, body);
    s->maybe--;
}

void
scan_optional(struct scan *s, expr_ty e)
{
    if (e != NULL && s->uses) {
        scan_expression(s, e);
    }
}

void
scan_expressions(struct scan *s, asdl_expr_seq *list)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(list); i++) {
        scan_optional(s, asdl_seq_GET(list, i));
    }
}

void
scan_keywords(struct scan *s, asdl_keyword_seq *list)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(list); i++) {
        scan_optional(s, asdl_seq_GET(list, i)->value);
    }
}

static void
function(struct scan *s, arguments_ty args, asdl_stmt_seq *body, asdl_expr_seq *decorators)
{
    scan_expressions(s, decorators);
    scan_expressions(s, args->defaults);
    scan_expressions(s, args->kw_defaults);
    // What a handler calls later has its own chance to be caught.
    int guard = s->guard, fallback = s->fallback, otherwise = s->otherwise;
    s->guard = s->fallback = s->otherwise = 0;
    maybe_statements(s, body);
    s->guard = guard;
    s->fallback = fallback;
    s->otherwise = otherwise;
}

static void
class_statement(struct scan *s, stmt_ty st)
{
    if (s->uses) {
        for (Py_ssize_t i = 0; i < asdl_seq_LEN(st->v.ClassDef.bases); i++) {
            expr_ty base = asdl_seq_GET(st->v.ClassDef.bases, i);
            if (!scan_use_of(s, base, 1)) {
                scan_expression(s, base);
            }
        }
    }
    scan_keywords(s, st->v.ClassDef.keywords);
    scan_expressions(s, st->v.ClassDef.decorator_list);
    statements(s, st->v.ClassDef.body);
}

static void
if_statement(struct scan *s, stmt_ty st)
{
    int entered = s->maybe;
    for (;;) {
        int value = scan_known(s, st->v.If.test);
        scan_optional(s, st->v.If.test);
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
        scan_optional(s, asdl_seq_GET(items, i)->context_expr);
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
    scan_optional(s, st->v.Match.subject);
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(st->v.Match.cases); i++) {
        match_case_ty c = asdl_seq_GET(st->v.Match.cases, i);
        scan_optional(s, c->guard);
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
        scan_optional(s, st->v.For.iter);
        maybe_statements(s, st->v.For.body);
        maybe_statements(s, st->v.For.orelse);
        break;
    case While_kind:
        scan_optional(s, st->v.While.test);
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
        scan_optional(s, st->v.Return.value);
        break;
    case Assign_kind:
        for (Py_ssize_t i = 0; i < asdl_seq_LEN(st->v.Assign.targets); i++) {
            expr_ty target = asdl_seq_GET(st->v.Assign.targets, i);
            if (target->kind == Name_kind) {
                own(s, target->v.Name.id);
            }
        }
        scan_expressions(s, st->v.Assign.targets);
        scan_optional(s, st->v.Assign.value);
        break;
    case AugAssign_kind:
        scan_optional(s, st->v.AugAssign.target);
        scan_optional(s, st->v.AugAssign.value);
        break;
    case AnnAssign_kind:
        scan_optional(s, st->v.AnnAssign.value);
        break;
    case Raise_kind:
        scan_optional(s, st->v.Raise.exc);
        scan_optional(s, st->v.Raise.cause);
        break;
    case Assert_kind:
        scan_optional(s, st->v.Assert.test);
        scan_optional(s, st->v.Assert.msg);
        break;
    case Expr_kind:
        scan_optional(s, st->v.Expr.value);
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
