from .formulas import FORMULAS


def area_of(kind, *dims):
    return FORMULAS[kind](*dims)
