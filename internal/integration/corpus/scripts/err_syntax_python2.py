# Python 2 habits
name = "world"
print "Hello", name
