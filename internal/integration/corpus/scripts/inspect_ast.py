"""Programs about programs: ast, inspect, dis-free introspection, exec and compile."""
import ast
import builtins
import inspect
import keyword
import symtable
import tokenize
import io
import types


def sample(a, /, b: int = 2, *args: str, c, d=4, **kw) -> bool:
    """Docstring of sample.

    Second line.
    """
    return a == b


print(inspect.signature(sample))
for name, p in inspect.signature(sample).parameters.items():
    print(f"  {name}: {p.kind.name} default={p.default if p.default is not p.empty else '-'}")
print(inspect.getdoc(sample).splitlines(), inspect.getsource(sample).splitlines()[0], inspect.getfile(sample), inspect.getsourcelines(sample)[1])
bound = inspect.signature(sample).bind(1, 2, "x", c=3, z=9)
bound.apply_defaults()
print(bound.arguments)
try:
    inspect.signature(sample).bind(1)
except TypeError as e:
    print("TypeError:", e)
print(inspect.isfunction(sample), inspect.isclass(dict), inspect.isbuiltin(len), inspect.isgeneratorfunction(lambda: (yield)), inspect.getmembers(types.SimpleNamespace(q=1))[-1])


def caller():
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_name}:{frame.f_lineno}"


print(caller(), [f.function for f in inspect.stack()][-1])

source = "total = 0\nfor i in range(10):\n    if i % 2:\n        total += i ** 2\nprint('total', total)"
tree = ast.parse(source)
print(ast.dump(tree.body[0]), [type(n).__name__ for n in ast.walk(tree)][:8])


class Rewrite(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(node.value * 10), node) if node.value == 10 else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow):
            node.op = ast.Mult()
        return node


new = ast.fix_missing_locations(Rewrite().visit(tree))
print(ast.unparse(new))
exec(compile(new, "<rewritten>", "exec"))


def evaluate(expr, names={}):
    """A calculator that allows arithmetic only."""
    ops = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b, ast.Pow: pow}

    def ev(n):
        match n:
            case ast.Expression(body=b): return ev(b)
            case ast.Constant(value=int() | float() as v): return v
            case ast.Name(id=i) if i in names: return names[i]
            case ast.BinOp(left=l, op=o, right=r): return ops[type(o)](ev(l), ev(r))
            case ast.UnaryOp(op=ast.USub(), operand=x): return -ev(x)
        raise ValueError(f"not allowed: {ast.unparse(n)}")
    return ev(ast.parse(expr, mode="eval"))


for e in ("1 + 2 * 3", "-(x - 1) ** 2", "__import__('os')", "2 +", "a.b"):
    try:
        print(e, "=", evaluate(e, {"x": 4}))
    except (ValueError, SyntaxError) as err:
        print(e, "->", type(err).__name__, err)
print(ast.literal_eval("{'a': [1, (2, None)], 'b': -3.5, 'c': b'x'}"))
try:
    ast.literal_eval("f(1)")
except ValueError as e:
    print("ValueError", str(e).split("<")[0], str(e)[:9])

print([(tokenize.tok_name[t.type], t.string) for t in tokenize.generate_tokens(io.StringIO("x = 1 # c\n").readline)])
table = symtable.symtable("def f(a):\n  global g\n  b = a\n  return lambda: b", "?", "exec").get_children()[0]
print(sorted((s.get_name(), s.is_global(), s.is_parameter(), s.is_free()) for s in table.get_symbols()))
code = compile("a + b", "<expr>", "eval")
print(code.co_names, eval(code, {"a": 1, "b": 2}), code.co_filename, keyword.iskeyword("match"), keyword.softkwlist)
ns = {}
exec("def made(n):\n    return n * factor\nfactor = 3", ns)
print(ns["made"](5), callable(ns["made"]), sorted(k for k in ns if k != "__builtins__"))
Klass = type("Klass", (list,), {"double": lambda self: [x * 2 for x in self]})
print(Klass([1, 2]).double(), Klass.__mro__[1], hasattr(builtins, "print"), getattr(Klass, "nope", None))
mod = types.ModuleType("virtual", "doc")
exec("x = 5\ndef get(): return x", mod.__dict__)
mod.x += 1
print(mod.get(), mod.__name__, mod)
