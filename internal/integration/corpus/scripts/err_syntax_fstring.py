name = "é"
print(f"Hello {name")
