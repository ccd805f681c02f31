"""Code that protects itself with locks and events, but starts no thread."""
import contextvars
import queue
import threading
from concurrent.futures import Future

lock = threading.Lock()
rlock = threading.RLock()


class Counter:
    def __init__(self):
        self._lock = threading.Lock()
        self.value = 0

    def increment(self, by=1):
        with self._lock:
            self.value += by
            return self.value


c = Counter()
for i in range(10):
    c.increment(i)
print(c.value, lock.locked(), lock.acquire(blocking=False), lock.locked(), lock.acquire(blocking=False), lock.acquire(timeout=0.01))
lock.release()
with rlock, rlock:
    print("re-entered")
try:
    lock.release()
except RuntimeError as e:
    print("RuntimeError:", e)
print(threading.current_thread().name, threading.main_thread() is threading.current_thread(), threading.active_count(), [t.name for t in threading.enumerate()])
local = threading.local()
local.x = 5
print(local.x, hasattr(local, "y"))
ev = threading.Event()
print(ev.wait(0.01), ev.is_set(), ev.set(), ev.wait())
sem = threading.BoundedSemaphore(2)
print(sem.acquire(), sem.acquire(), sem.acquire(blocking=False), sem.release(), sem.release())
try:
    sem.release()
except ValueError as e:
    print("ValueError:", e)
q = queue.Queue(maxsize=2)
q.put("a")
q.put("b")
for act in (lambda: q.put("c", timeout=0.01), lambda: q.put_nowait("d")):
    try:
        act()
    except queue.Full:
        print("full", q.qsize())
print(q.get(), q.get(), q.empty())
try:
    q.get(timeout=0.01)
except queue.Empty:
    print("empty")
pq = queue.PriorityQueue()
for item in ((3, "c"), (1, "a"), (2, "b")):
    pq.put(item)
print([pq.get()[1] for _ in range(3)])
cond = threading.Condition()
with cond:
    print("notified:", cond.wait(0.01))
fut = Future()
fut.add_done_callback(lambda f: print("callback got", f.result()))
fut.set_result(42)
print(fut.result(timeout=0), fut.done(), fut.cancelled())
bad = Future()
bad.set_exception(ValueError("failed future"))
try:
    bad.result()
except ValueError as e:
    print("ValueError:", e)
try:
    Future().result(timeout=0.01)
except TimeoutError as e:
    print("TimeoutError")
var = contextvars.ContextVar("var", default="default")
token = var.set("changed")
print(var.get(), contextvars.copy_context()[var])
var.reset(token)
print(var.get(), repr(token.old_value == contextvars.Token.MISSING))
t = threading.Thread(target=print, args=("never started",), name="worker", daemon=True)
print(t.name, t.daemon, t.is_alive(), t.ident)
try:
    t.join()
except RuntimeError as e:
    print("RuntimeError:", e)
timer = threading.Timer(10, print)
timer.cancel()
print(timer.finished.is_set(), threading.Barrier(1).wait())
