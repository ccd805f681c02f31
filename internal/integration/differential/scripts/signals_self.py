import signal, time

print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, signal.Signals(15).name)
try:
    signal.raise_signal(signal.SIGINT)
    time.sleep(1)
except KeyboardInterrupt:
    print("interrupted")
seen = []
old = signal.signal(signal.SIGTERM, lambda n, frame: seen.append((n, frame is not None)))
signal.raise_signal(signal.SIGTERM)
print(seen, old == signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.raise_signal(signal.SIGINT)
print("ignored")


def stop(n, frame):
    raise SystemExit(21)


signal.signal(signal.SIGTERM, stop)
try:
    signal.signal(0, stop)
except ValueError as e:
    print(type(e).__name__)
signal.raise_signal(signal.SIGTERM)
print("not reached")
