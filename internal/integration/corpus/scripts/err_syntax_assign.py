x = 5
if x = 6:
    print("six")
