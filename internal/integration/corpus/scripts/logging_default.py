import logging
import warnings

# No configuration at all: warnings and above go to stderr through the last resort handler.
logging.getLogger("lib").warning("last resort %s", "handler")
logging.getLogger("lib").info("not shown")
logging.warning("root logger configures itself")
logging.error("second message")
logging.captureWarnings(True)
warnings.warn("captured warning")
log = logging.getLogger(__name__)
log.warning("name is %r", log.name)


class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            log.error("withdraw %s refused, balance %s", amount, self.balance)
            raise ValueError("insufficient funds")
        self.balance -= amount
        return self.balance


acc = Account(50)
print(acc.withdraw(20))
try:
    acc.withdraw(100)
except ValueError as e:
    log.warning("caught: %s", e, exc_info=True)
try:
    {}["missing"]
except KeyError as e:
    log.exception(e)
log.critical("with stack", stack_info=True)
print("done")
