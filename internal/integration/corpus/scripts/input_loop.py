"""A shopping list with a prompt: reads commands until 'quit'."""


class ShoppingList:
    def __init__(self):
        self.items = {}
        self.history = []

    def add(self, name, qty="1"):
        self.history.append(dict(self.items))
        self.items[name] = self.items.get(name, 0) + int(qty)
        return f"{name}: {self.items[name]}"

    def remove(self, name):
        if name not in self.items:
            raise KeyError(name)
        self.history.append(dict(self.items))
        del self.items[name]
        return f"removed {name}"

    def quantity(self, name):
        return self.items[name]

    def undo(self):
        self.items = self.history.pop()
        return "undone"

    def list(self):
        width = max((len(n) for n in self.items), default=0)
        return "\n".join(f"  {n:<{width}} x{q}" for n, q in sorted(self.items.items())) or "  (empty)"


def main():
    shop = ShoppingList()
    while True:
        line = input("> ")
        match line.split():
            case []:
                print("(say something)")
            case ["quit" | "exit"]:
                print("bye")
                break
            case [command, *args] if hasattr(shop, command) and not command.startswith("_"):
                try:
                    print(getattr(shop, command)(*args))
                except (TypeError, KeyError, ValueError) as e:
                    print(f"error: {type(e).__name__}: {e}")
            case [other, *_]:
                print(f"unknown command {other!r}")


main()
