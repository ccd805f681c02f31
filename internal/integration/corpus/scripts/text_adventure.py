"""A scripted text adventure: dictionaries, closures, a command table and a save file."""
import json
import textwrap

WORLD = {
    "hall": {"text": "You stand in a dusty hall. A portrait watches you.", "exits": {"north": "library", "east": "kitchen"}, "items": ["lamp"]},
    "library": {"text": "Shelves reach up into the dark. Most of the books have been eaten by mice.", "exits": {"south": "hall", "down": "vault"}, "items": ["book"]},
    "kitchen": {"text": "It smells of old soup.", "exits": {"west": "hall"}, "items": ["key", "spoon"]},
    "vault": {"text": "A treasure chest stands open before you.", "exits": {"up": "library"}, "items": ["gold"], "locked": True},
}


class GameOver(Exception):
    pass


class Game:
    def __init__(self):
        self.room, self.bag, self.turns = "hall", [], 0
        self.commands = {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("do_")}

    def say(self, text):
        print(textwrap.fill(text, 60, initial_indent="  ", subsequent_indent="  "))

    def here(self):
        return WORLD[self.room]

    def do_look(self):
        """describe the room"""
        self.say(self.here()["text"])
        if self.here()["items"]:
            self.say("You see: " + ", ".join(sorted(self.here()["items"])) + ".")
        self.say("Exits: " + ", ".join(self.here()["exits"]) + ".")

    def do_go(self, direction):
        """walk in a direction"""
        target = self.here()["exits"].get(direction)
        if target is None:
            return self.say(f"You cannot go {direction}.")
        if WORLD[target].get("locked") and "key" not in self.bag:
            return self.say("The way is locked.")
        self.room = target
        self.do_look()

    def do_take(self, item):
        """pick something up"""
        try:
            self.here()["items"].remove(item)
        except ValueError:
            return self.say(f"There is no {item} here.")
        self.bag.append(item)
        self.say(f"Taken: {item}.")
        if item == "gold":
            raise GameOver(f"You win after {self.turns} turns!")

    def do_inventory(self):
        """list what you carry"""
        self.say("You carry " + (", ".join(self.bag) or "nothing") + ".")

    def do_save(self):
        """write the state to a file"""
        with open("save.json", "w") as f:
            json.dump({"room": self.room, "bag": self.bag, "turns": self.turns}, f)
        self.say("Saved.")

    def do_load(self):
        """read the state back"""
        with open("save.json") as f:
            self.__dict__.update(json.load(f))
        self.say(f"Loaded at turn {self.turns}.")

    def do_help(self):
        """show this list"""
        for name in sorted(self.commands):
            print(f"    {name:<10} {self.commands[name].__doc__}")

    def handle(self, line):
        self.turns += 1
        verb, *args = line.split()
        try:
            self.commands[verb](*args)
        except KeyError:
            self.say(f"I do not know how to {verb!r}.")
        except TypeError as e:
            self.say("Say it differently. (" + str(e).split(".")[-1] + ")")


SCRIPT = """look
help
take spoon
go east
take key
take spoon
inventory
dance wildly
go
go west
go north
save
go up
load
go down
take gold
look"""
game = Game()
try:
    for line in SCRIPT.splitlines():
        print(">", line)
        game.handle(line)
except GameOver as e:
    print("***", e)
