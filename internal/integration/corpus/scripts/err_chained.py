"""Chained exceptions: implicit context, explicit cause, suppressed context."""


class ConfigError(Exception):
    """Raised when the configuration cannot be used."""


class DatabaseError(RuntimeError):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code

    def __str__(self):
        return f"[{self.code}] {self.args[0]}"


def parse_port(text):
    return int(text)


def load_config(raw):
    try:
        return {"port": parse_port(raw["port"])}
    except ValueError as exc:
        raise ConfigError(f"bad port {raw['port']!r}") from exc


def connect(raw):
    try:
        cfg = load_config(raw)
    except ConfigError:
        fallback = raw["fallback"]
        return fallback
    return cfg


def suppressed():
    try:
        {}["x"]
    except KeyError:
        raise DatabaseError("lookup", 42) from None


def main():
    try:
        suppressed()
    except DatabaseError as e:
        print("caught", e, repr(e), e.__suppress_context__, repr(e.__context__))
    print(connect({"port": "80"}))
    print(connect({"port": "http", "fallback": "default"}))
    connect({"port": "http"})


if __name__ == "__main__":
    main()
