import asyncio


async def worker(name, queue, done):
    while True:
        n = await queue.get()
        await asyncio.sleep(0)
        done.append((name, n))
        queue.task_done()


async def slow(t, value):
    try:
        await asyncio.sleep(t)
        return value
    except asyncio.CancelledError:
        print("cancelled", value)
        raise


async def main():
    print(await asyncio.gather(slow(0.02, "b"), slow(0.01, "a"), return_exceptions=True))
    queue, done = asyncio.Queue(), []
    for i in range(6):
        queue.put_nowait(i)
    tasks = [asyncio.create_task(worker(n, queue, done)) for n in "xy"]
    await queue.join()
    for t in tasks:
        t.cancel()
    print(sorted(n for _, n in done), await asyncio.gather(*tasks, return_exceptions=True))
    try:
        await asyncio.wait_for(slow(30, "late"), 0.01)
    except asyncio.TimeoutError as e:
        print("timeout", type(e).__mro__[1].__name__)
    lock, order = asyncio.Lock(), []

    async def locked(i):
        async with lock:
            await asyncio.sleep(0)
            order.append(i)

    await asyncio.gather(*(locked(i) for i in range(4)))
    print(order)
    first, pending = await asyncio.wait([asyncio.create_task(slow(t, t)) for t in (0.01, 20)], return_when=asyncio.FIRST_COMPLETED)
    print([t.result() for t in first], len(pending))
    for t in pending:
        t.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, event.set)
    print(await event.wait())
    agen = (i async for i in counter())
    print([i async for i in agen])


async def counter():
    for i in range(3):
        yield i
        await asyncio.sleep(0)


asyncio.run(main())


async def fails():
    raise KeyError("inside")


asyncio.run(fails())
