"""The script never runs: a bracket stays open."""


def total(prices):
    subtotal = sum(prices
    tax = subtotal * 0.2
    return subtotal + tax


print("this is not printed")
print(total([1, 2, 3]))
