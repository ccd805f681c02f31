"""Helper module beside the script."""
from shapes import area_of


def describe(kind, *dims):
    area = area_of(kind, *dims)
    return f"{kind} with area {area:.2f}"


class Lazy:
    def __getattr__(self, name):
        raise AttributeError(f"{type(self).__name__} has no {name}")
