import json


class ConfigError(Exception):
    """One that users make."""


def load(text):
    try:
        return json.loads(text)
    except ValueError as e:
        raise ConfigError("cannot read the configuration") from e


def main():
    print(load('{"a": 1}'))
    try:
        load("{")
    except ConfigError as e:
        print(type(e.__cause__).__name__, e.__suppress_context__)
    try:
        {}["missing"]
    except KeyError:
        load("[")


main()
