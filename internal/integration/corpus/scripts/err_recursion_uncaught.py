"""Endless recursion that nobody catches."""


def ping(n):
    return pong(n + 1)


def pong(n):
    return ping(n + 1)


def factorial(n):
    return n * factorial(n - 1)


try:
    ping(0)
except RecursionError as e:
    print("ping-pong:", e)
print("starting")
factorial(5)
