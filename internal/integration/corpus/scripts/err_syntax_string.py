message = "The text has no end
print(message)
