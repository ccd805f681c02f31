from beta import make_beta

class Alpha:
    pass
