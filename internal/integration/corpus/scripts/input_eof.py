import sys

n = int(input("How many names? "))
names = []
for i in range(n):
    try:
        names.append(input(f"Name {i + 1}: "))
    except EOFError as e:
        print(f"\nonly {len(names)} given ({e})")
        break
print("Hello,", ", ".join(names))
print(repr(sys.stdin.read()), repr(sys.stdin.readline()), sys.stdin.isatty())
total = 0
while True:
    total += int(input("number: "))
