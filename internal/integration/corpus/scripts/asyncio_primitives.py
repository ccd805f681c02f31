import asyncio
from contextlib import asynccontextmanager, AsyncExitStack, aclosing


@asynccontextmanager
async def resource(name):
    print("open", name)
    await asyncio.sleep(0)
    try:
        yield name.upper()
    finally:
        await asyncio.sleep(0)
        print("close", name)


class Countdown:
    def __init__(self, n): self.n = n
    def __aiter__(self): return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        await asyncio.sleep(0)
        return self.n + 1


async def agen(n):
    try:
        for i in range(n):
            got = yield i * i
            if got:
                print("agen got", got)
    finally:
        print("agen closed")


async def locks():
    lock, order = asyncio.Lock(), []

    async def use(i):
        async with lock:
            order.append(f"in{i}")
            await asyncio.sleep(0)
            order.append(f"out{i}")

    await asyncio.gather(*(use(i) for i in range(3)))
    print(order)

    sem, active, peak = asyncio.Semaphore(2), 0, 0

    async def limited():
        nonlocal active, peak
        async with sem:
            active += 1
            peak = max(peak, active)
            await asyncio.sleep(0.001)
            active -= 1

    await asyncio.gather(*(limited() for _ in range(6)))
    print("peak:", peak)

    event = asyncio.Event()
    waiters = [asyncio.create_task(event.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    print("set:", event.is_set(), [w.done() for w in waiters])
    event.set()
    print(await asyncio.gather(*waiters))

    cond, items = asyncio.Condition(), []

    async def consume():
        async with cond:
            await cond.wait_for(lambda: len(items) >= 2)
            return items.copy()

    c = asyncio.create_task(consume())
    for x in "xy":
        await asyncio.sleep(0)
        async with cond:
            items.append(x)
            cond.notify_all()
    print(await c)
    barrier = asyncio.Barrier(3)
    print(sorted(await asyncio.gather(*(barrier.wait() for _ in range(3)))))


async def main():
    async with resource("db") as db, resource("cache") as cache:
        print("using", db, cache)
    print([x async for x in Countdown(4) if x % 2])
    print({k: v async for k, v in aenumerate(agen(3))})
    async with aclosing(agen(10)) as g:
        print(await anext(g), await g.asend("hello"))
    async with AsyncExitStack() as stack:
        names = [await stack.enter_async_context(resource(n)) for n in ("one", "two")]
        stack.callback(print, "callback")
        print(names)
    await locks()
    try:
        async with resource("fails"):
            raise LookupError("inside")
    except LookupError as e:
        print("propagated", e)


async def aenumerate(ait):
    i = 0
    async for x in ait:
        yield i, x
        i += 1


asyncio.run(main(), debug=False)
