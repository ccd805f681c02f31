result = __name__
