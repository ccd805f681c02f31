from .. import VALUE


def up():
    return VALUE + 1
