"""Descriptors, metaclasses, __init_subclass__ and friends: a tiny ORM."""


class Field:
    def __init__(self, kind, default=None, check=None):
        self.kind, self.default, self.check = kind, default, check

    def __set_name__(self, owner, name):
        self.name = name
        owner.__dict__.get("_fields", {}).setdefault(name, self)

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return obj.__dict__.get(self.name, self.default)

    def __set__(self, obj, value):
        if not isinstance(value, self.kind):
            raise TypeError(f"{type(obj).__name__}.{self.name} wants {self.kind.__name__}, got {type(value).__name__}")
        if self.check and not self.check(value):
            raise ValueError(f"{self.name}={value!r} fails its check")
        obj.__dict__[self.name] = value


class ModelMeta(type):
    registry = {}

    @classmethod
    def __prepare__(mcls, name, bases, **kw):
        print(f"prepare {name} {kw}")
        return {"_fields": {}}

    def __new__(mcls, name, bases, ns, table=None, **kw):
        cls = super().__new__(mcls, name, bases, ns)
        cls._table = table or name.lower() + "s"
        if bases:
            mcls.registry[name] = cls
        return cls

    def __init__(cls, name, bases, ns, **kw):
        super().__init__(name, bases, ns)

    def __call__(cls, *args, **kw):
        print("creating", cls.__name__)
        return super().__call__(*args, **kw)

    def __len__(cls):
        return len(cls._fields)

    def __contains__(cls, name):
        return name in cls._fields


class Model(metaclass=ModelMeta):
    def __init__(self, **kw):
        for k, v in kw.items():
            setattr(self, k, v)

    def sql(self):
        names = list(self._fields)
        values = ", ".join(repr(getattr(self, n)) for n in names)
        return f"INSERT INTO {self._table} ({', '.join(names)}) VALUES ({values})"

    def __getattr__(self, name):
        if name.startswith("get_"):
            return lambda: getattr(self, name[4:])
        raise AttributeError(f"no attribute {name!r}")


class User(Model):
    name = Field(str, check=str.isidentifier)
    age = Field(int, 0, lambda a: 0 <= a < 150)


class Blog(Model, table="blog_entries"):
    title = Field(str, "untitled")


u = User(name="ann", age=41)
print(u.sql(), u.get_name())
print(Blog().sql())
print(len(User), "age" in User, sorted(ModelMeta.registry), type(User).__name__)
for bad in (dict(age="x"), dict(age=200), dict(name="not valid")):
    try:
        User(**bad)
    except (TypeError, ValueError) as e:
        print(type(e).__name__, "-", e)
try:
    u.nope
except AttributeError as e:
    print("AttributeError", e)


class Plugin:
    plugins = []

    def __init_subclass__(cls, /, priority=0, **kw):
        super().__init_subclass__(**kw)
        cls.priority = priority
        Plugin.plugins.append(cls)

    def __class_getitem__(cls, item):
        return f"{cls.__name__}<{item}>"


class A(Plugin, priority=5): pass
class B(Plugin): pass


print([(p.__name__, p.priority) for p in sorted(Plugin.plugins, key=lambda p: p.priority)], Plugin["x"])


class Vec:
    __slots__ = ("x", "y")
    __match_args__ = ("x", "y")

    def __init__(self, x, y): self.x, self.y = x, y
    def __matmul__(self, o): return self.x * o.x + self.y * o.y
    def __rmul__(self, k): return Vec(k * self.x, k * self.y)
    def __iter__(self): return iter((self.x, self.y))
    def __eq__(self, o): return tuple(self) == tuple(o)
    def __bool__(self): return any(self)
    def __format__(self, spec): return "<" + ", ".join(format(c, spec) for c in self) + ">"
    def __missing__(self): return None


v = 3 * Vec(1, 2)
print(f"{v:.1f} {v}", v @ Vec(1, 1), bool(Vec(0, 0)), v == Vec(3, 6), [*v])
try:
    v.z = 1
except AttributeError as e:
    print(e)
try:
    hash(v)
except TypeError as e:
    print(e)
try:
    Vec(1, 2) * 3
except TypeError as e:
    print(e)
match v:
    case Vec(3, y): print("matched", y)
