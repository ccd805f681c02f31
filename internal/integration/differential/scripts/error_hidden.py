class Odd(Exception):
    def __str__(self):
        raise ValueError("no text")


print("before")
raise Odd
