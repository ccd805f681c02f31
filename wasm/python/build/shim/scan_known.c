// Tests that are known before a script runs: for which version and system it is.
#include "scan_tree.h"

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

// scan_known gives the value of a test where it is certain before the script runs: 1, 0, or -1.
int
scan_known(struct scan *s, expr_ty e)
{
    if (scan_is_name(e, "TYPE_CHECKING")) {
        return 0;
    }
    if (e->kind == UnaryOp_kind && e->v.UnaryOp.op == Not) {
        int value = scan_is_name(e->v.UnaryOp.operand, "TYPE_CHECKING") ? 0 : -1;
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
    if (value < 0 && scan_is_name(left, "__name__") && is_text(right, "__main__")) {
        value = s->is_main;
    }
    return value < 0 || op == Eq ? value : !value;
}
