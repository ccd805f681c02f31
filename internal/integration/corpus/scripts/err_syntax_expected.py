import math

numbers = [1, 2, 3]
for n in numbers
    print(math.sqrt(n))
