"""A small bank: classes, exceptions, properties, reports."""
from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal


class BankError(Exception):
    """Base of all errors here."""


class InsufficientFunds(BankError):
    def __init__(self, account: Account, needed: Decimal):
        super().__init__(f"{account.iban}: needs {needed}, has {account.balance}")
        self.shortage = needed - account.balance


class Frozen(BankError):
    pass


@dataclass(frozen=True)
class Entry:
    day: date
    kind: str
    amount: Decimal
    balance: Decimal


class Account(ABC):
    _numbers = itertools.count(1001)

    def __init__(self, owner: str, opening: str = "0"):
        self.iban = f"XX{next(Account._numbers)}"
        self.owner = owner
        self.frozen = False
        self._balance = Decimal(opening)
        self.entries: list[Entry] = []

    @property
    def balance(self) -> Decimal:
        return self._balance.quantize(Decimal("0.01"), ROUND_HALF_UP)

    def _book(self, day: date, kind: str, amount: Decimal) -> None:
        if self.frozen:
            raise Frozen(f"{self.iban} is frozen")
        self._balance += amount
        self.entries.append(Entry(day, kind, amount, self.balance))

    def deposit(self, day: date, amount: str) -> None:
        value = Decimal(amount)
        if value <= 0:
            raise ValueError("deposit must be positive")
        self._book(day, "deposit", value)

    def withdraw(self, day: date, amount: str) -> None:
        value = Decimal(amount)
        if self._balance - value < self.floor:
            raise InsufficientFunds(self, value)
        self._book(day, "withdraw", -value)

    @property
    @abstractmethod
    def floor(self) -> Decimal: ...

    @abstractmethod
    def month_end(self, day: date) -> None: ...

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.iban} {self.owner} {self.balance}>"


class Savings(Account):
    floor = Decimal(0)
    rate = Decimal("0.024")

    def month_end(self, day):
        self._book(day, "interest", self._balance * self.rate / 12)


class Checking(Account):
    floor = Decimal(-500)

    def month_end(self, day):
        if self._balance < 0:
            self._book(day, "overdraft fee", Decimal("-7.50"))


class Bank:
    def __init__(self):
        self.accounts: dict[str, Account] = {}

    def open(self, kind: type[Account], owner: str, opening: str = "0") -> Account:
        acc = kind(owner, opening)
        self.accounts[acc.iban] = acc
        return acc

    def transfer(self, day, src, dst, amount):
        src.withdraw(day, amount)
        try:
            dst.deposit(day, amount)
        except BankError:
            src.deposit(day, amount)
            raise

    def statement(self, acc):
        print(f"Statement for {acc.owner} ({acc.iban})")
        for e in acc.entries:
            print(f"  {e.day:%d.%m.%Y} {e.kind:<14}{e.amount:>12.2f}{e.balance:>12,}")


bank = Bank()
ann, bob = bank.open(Savings, "Ann", "1000"), bank.open(Checking, "Bob", "50.10")
day = date(2024, 1, 30)
bank.transfer(day, ann, bob, "250")
for amount, acc in [("600.00", bob), ("500.00", bob), ("10000", ann)]:
    try:
        acc.withdraw(day, amount)
        print("withdrew", amount, acc)
    except InsufficientFunds as e:
        print("refused:", e, "| short by", e.shortage)
for _ in range(3):
    day = (day.replace(day=1) + timedelta(days=63)).replace(day=1) - timedelta(days=1)
    for acc in bank.accounts.values():
        acc.month_end(day)
bob.frozen = True
try:
    bank.transfer(day, ann, bob, "1")
except Frozen as e:
    print("Frozen:", e)
bank.statement(ann)
bank.statement(bob)
by_kind = defaultdict(Decimal)
for acc in bank.accounts.values():
    for e in acc.entries:
        by_kind[e.kind] += e.amount
print({k: str(v.quantize(Decimal("0.01"))) for k, v in by_kind.items()})
try:
    Account("nobody")
except TypeError as e:
    print("TypeError:", e)
