"""An exception group that reaches the top, with notes."""


class ValidationError(Exception):
    pass


def check_name(value):
    if not value.isalpha():
        err = ValidationError(f"name {value!r} has odd characters")
        err.add_note("Only letters are allowed.")
        err.add_note("Field: name\nForm: sign-up")
        raise err


def check_age(value):
    if not 0 < value < 130:
        raise ValueError(f"age {value} is out of range")


def check_mail(value):
    try:
        value.index("@")
    except ValueError as e:
        raise ValidationError("no @ in mail address") from e


def validate(form):
    errors = []
    for check, key in ((check_name, "name"), (check_age, "age"), (check_mail, "mail")):
        try:
            check(form[key])
        except Exception as e:
            errors.append(e)
    if errors:
        raise ExceptionGroup(f"{len(errors)} problems", errors)
    return "valid"


print(validate({"name": "Ann", "age": 30, "mail": "a@b.test"}))
try:
    validate({"name": "B0b", "age": 200, "mail": "b@b.test"})
except* ValueError as eg:
    print("values:", [str(e) for e in eg.exceptions])
except* ValidationError as eg:
    print("validation:", [e.__notes__ for e in eg.exceptions])

eg = ExceptionGroup("top", [ValueError(1), ExceptionGroup("nested", [TypeError("t"), ValueError(2)])])
print(eg.subgroup(ValueError), "|", eg.split(TypeError), "|", eg.derive([KeyError()]))
match, rest = eg.split(lambda e: e.args == (2,))
print(repr(match), repr(rest))
try:
    validate({"name": "C3po", "age": -1, "mail": "nowhere"})
except ExceptionGroup as eg:
    eg.add_note("while handling form 7")
    raise RuntimeError("form refused") from eg
