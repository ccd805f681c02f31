"""Heaps, bisection and a discrete event simulation."""
import bisect
import heapq
import itertools
import sched
from dataclasses import dataclass, field


@dataclass(order=True)
class Event:
    time: float
    seq: int
    name: str = field(compare=False)
    payload: dict = field(compare=False, default_factory=dict)


class Simulator:
    def __init__(self):
        self.queue, self.now, self.counter = [], 0.0, itertools.count()

    def at(self, delay, name, **payload):
        heapq.heappush(self.queue, Event(self.now + delay, next(self.counter), name, payload))

    def run(self, handlers, limit=30):
        while self.queue and limit:
            limit -= 1
            ev = heapq.heappop(self.queue)
            self.now = ev.time
            print(f"t={self.now:5.2f} {ev.name:<8} {ev.payload or ''}")
            handlers[ev.name](self, **ev.payload)


waiting, busy = [], False


def arrive(sim, customer):
    waiting.append(customer)
    if customer < 4:
        sim.at(1.5, "arrive", customer=customer + 1)
    start(sim)


def start(sim):
    global busy
    if waiting and not busy:
        busy = True
        sim.at(2.25, "leave", customer=waiting.pop(0))


def leave(sim, customer):
    global busy
    busy = False
    start(sim)


sim = Simulator()
sim.at(0.5, "arrive", customer=1)
sim.run({"arrive": arrive, "leave": leave})

nums = [9, 4, 7, 1, 8, 2]
heapq.heapify(nums)
print(nums, heapq.nsmallest(3, nums), heapq.nlargest(2, nums, key=lambda x: x % 5), heapq.heappushpop(nums, 5), heapq.heapreplace(nums, 0), nums[0])
print(list(heapq.merge([1, 4, 7], [2, 5], [0, 9])), list(heapq.merge("adg", "beh", reverse=False)), [x for x in heapq.merge([7, 3], [5, 1], reverse=True)])


class RunningMedian:
    def __init__(self):
        self.lo, self.hi = [], []

    def add(self, x):
        heapq.heappush(self.hi, -heapq.heappushpop(self.lo, -x))
        if len(self.hi) > len(self.lo):
            heapq.heappush(self.lo, -heapq.heappop(self.hi))
        return -self.lo[0] if len(self.lo) > len(self.hi) else (self.hi[0] - self.lo[0]) / 2


rm = RunningMedian()
print([rm.add(x) for x in (5, 15, 1, 3, 8)])


def grade(score, breakpoints=(60, 70, 80, 90), grades="FDCBA"):
    return grades[bisect.bisect(breakpoints, score)]


print([grade(s) for s in (33, 99, 77, 70, 89, 90, 100)])
a = [1, 2, 2, 2, 5]
print(bisect.bisect_left(a, 2), bisect.bisect_right(a, 2), bisect.bisect(a, 9), bisect.bisect_left(["a", "ccc", "bbbbb"], 4, key=len))
bisect.insort(a, 3)
print(a, bisect.bisect_left(a, 2, lo=2), bisect.bisect_left(range(10**6), 123456))
clock = itertools.count()
s = sched.scheduler(lambda: next(clock), lambda d: None)
for delay, prio, label in [(5, 1, "later"), (2, 2, "second"), (2, 1, "first")]:
    s.enterabs(delay, prio, print, (label,))
s.run()
