import os

def ok():
    return 1

def bad()
    return 2
