// What a script uses of what it imports, and imports by name: the expressions of its syntax tree.
#include "scan_tree.h"

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
            scan_report_use(s, e->lineno, name, 1);
        }
        Py_XDECREF(name);
    }
    PyErr_Clear();
}

// scan_use_of reports what e stands for. It returns whether e is a dotted path.
int
scan_use_of(struct scan *s, expr_ty e, int called)
{
    int dotted;
    PyObject *path = resolve(s, e, &dotted);
    if (path != NULL) {
        scan_report_use(s, e->lineno, path, called);
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
        const char *module = scan_word(name->v.Constant.value);
        if (module != NULL && module[0] != '.') {
            scan_report_import(s, e->lineno, module);
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
        scan_report_use(s, e->lineno, path, 1);
        Py_DECREF(path);
    }
    else if (f->kind == Name_kind) {
        star_uses(s, f);
    }
    else if (!dotted) {
        scan_expression(s, f);
    }
    scan_expressions(s, e->v.Call.args);
    scan_keywords(s, e->v.Call.keywords);
}

static void
generators(struct scan *s, asdl_comprehension_seq *list)
{
    for (Py_ssize_t i = 0; i < asdl_seq_LEN(list); i++) {
        comprehension_ty c = asdl_seq_GET(list, i);
        scan_expression(s, c->iter);
        scan_expressions(s, c->ifs);
    }
}

static void
parts(struct scan *s, expr_ty e)
{
    switch (e->kind) {
    case BoolOp_kind:
        scan_expressions(s, e->v.BoolOp.values);
        break;
    case NamedExpr_kind:
        scan_expression(s, e->v.NamedExpr.value);
        break;
    case BinOp_kind:
        scan_expression(s, e->v.BinOp.left);
        scan_expression(s, e->v.BinOp.right);
        break;
    case UnaryOp_kind:
        scan_expression(s, e->v.UnaryOp.operand);
        break;
    case Lambda_kind:
        scan_expressions(s, e->v.Lambda.args->defaults);
        scan_expressions(s, e->v.Lambda.args->kw_defaults);
        s->maybe++;
        scan_expression(s, e->v.Lambda.body);
        s->maybe--;
        break;
    case IfExp_kind:
        scan_expression(s, e->v.IfExp.test);
        s->maybe++;
        scan_expression(s, e->v.IfExp.body);
        scan_expression(s, e->v.IfExp.orelse);
        s->maybe--;
        break;
    case Dict_kind:
        scan_expressions(s, e->v.Dict.keys);  // a key is NULL for **value
        scan_expressions(s, e->v.Dict.values);
        break;
    case Set_kind:
        scan_expressions(s, e->v.Set.elts);
        break;
    case ListComp_kind:
    case SetComp_kind:
    case GeneratorExp_kind:  // the same fields in the same order
        generators(s, e->v.ListComp.generators);
        scan_expression(s, e->v.ListComp.elt);
        break;
    case DictComp_kind:
        generators(s, e->v.DictComp.generators);
        scan_expression(s, e->v.DictComp.key);
        scan_expression(s, e->v.DictComp.value);
        break;
    case Await_kind:
        scan_expression(s, e->v.Await.value);
        break;
    case Yield_kind:
        scan_optional(s, e->v.Yield.value);
        break;
    case YieldFrom_kind:
        scan_expression(s, e->v.YieldFrom.value);
        break;
    case Compare_kind:
        scan_expression(s, e->v.Compare.left);
        scan_expressions(s, e->v.Compare.comparators);
        break;
    case Call_kind:
        call(s, e);
        break;
    case FormattedValue_kind:
        scan_expression(s, e->v.FormattedValue.value);
        scan_optional(s, e->v.FormattedValue.format_spec);
        break;
    case JoinedStr_kind:
        scan_expressions(s, e->v.JoinedStr.values);
        break;
    case Attribute_kind:
        if (!scan_use_of(s, e, 0)) {
            scan_expression(s, e->v.Attribute.value);
        }
        break;
    case Subscript_kind:
        scan_expression(s, e->v.Subscript.value);
        scan_expression(s, e->v.Subscript.slice);
        break;
    case Starred_kind:
        scan_expression(s, e->v.Starred.value);
        break;
    case Name_kind:
        if (e->v.Name.ctx == Load) {
            scan_use_of(s, e, 0);
        }
        break;
    case List_kind:
        scan_expressions(s, e->v.List.elts);
        break;
    case Tuple_kind:
        scan_expressions(s, e->v.Tuple.elts);
        break;
    case Slice_kind:
        scan_optional(s, e->v.Slice.lower);
        scan_optional(s, e->v.Slice.upper);
        scan_optional(s, e->v.Slice.step);
        break;
    case Constant_kind:
        break;
    }
}

void
scan_expression(struct scan *s, expr_ty e)
{
    if (s->depth >= MAX_DEPTH) {
        return;
    }
    s->depth++;
    parts(s, e);
    s->depth--;
}
