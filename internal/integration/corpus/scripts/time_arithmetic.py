"""The time module on fixed instants, and checks that clocks behave."""
import calendar
import time

for t in (0, 1e9, 1709208000, 2**31, -1, 253402300799):
    g = time.gmtime(t)
    print(f"{t:>14} {time.strftime('%Y-%m-%d %H:%M:%S', g)} wday={g.tm_wday} yday={g.tm_yday} back={calendar.timegm(g)}")
print(time.gmtime(86400), time.asctime(time.gmtime(0)), time.ctime(0))
print(time.strptime("29 Feb 2024 13:45", "%d %b %Y %H:%M")[:6], time.mktime((2024, 1, 1, 0, 0, 0, 0, 0, 0)), time.tzname, time.timezone, time.daylight)
print(time.strftime("%A %B %d %j %U %W %y %I%p %c|%x|%X|%Z|%%", time.gmtime(1e9)))
for fmt in ("%H:%M", "%d/%m/%Y", "%Q"):
    try:
        time.strptime("25:00", fmt)
    except ValueError as e:
        print("ValueError:", e)
try:
    time.gmtime(1e30)
except (OverflowError, ValueError, OSError) as e:
    print(type(e).__name__)

start, cpu, mono = time.time(), time.process_time(), time.monotonic()
n = 0
for i in range(20000):
    n += i
time.sleep(0.02)
print("wall advanced:", time.time() - start >= 0.015, "monotonic:", time.monotonic() > mono, "perf:", time.perf_counter_ns() < time.perf_counter_ns() + 1)
print("cpu:", time.process_time() >= cpu, "year:", time.gmtime().tm_year >= 2024, "ns:", abs(time.time_ns() / 1e9 - time.time()) < 5)
try:
    time.sleep(-1)
except ValueError as e:
    print("ValueError:", e)
time.sleep(0)
info = time.get_clock_info("monotonic")
print(info.monotonic, info.adjustable, time.get_clock_info("time").adjustable)


class Timer:
    def __enter__(self):
        self.t0 = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.elapsed = time.perf_counter() - self.t0


with Timer() as t:
    time.sleep(0.01)
print("timer ok:", 0.009 <= t.elapsed < 30)


def human(seconds):
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        n, seconds = divmod(seconds, size)
        if n:
            parts.append(f"{int(n)}{unit}")
    return " ".join(parts) or "0s"


print([human(s) for s in (0, 59, 3600, 90061, 172800)])
