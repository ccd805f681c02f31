from alpha import Alpha

def make_beta():
    return Alpha()
