def greet(name):
    if name:
        print("Hello", name)
      print("bad dedent")


greet("x")
