import asyncio
import random


async def producer(queue: asyncio.Queue, pid: int, rng: random.Random) -> None:
    for n in range(4):
        item = rng.randint(10, 99)
        await queue.put((pid, n, item))
        print(f"  producer {pid} put {item} (size {queue.qsize()})")
        await asyncio.sleep(0)
    print(f"  producer {pid} done")


async def consumer(queue: asyncio.Queue, totals: dict, cid: str) -> None:
    while True:
        pid, n, item = await queue.get()
        totals[cid] = totals.get(cid, 0) + item
        await asyncio.sleep(0)
        queue.task_done()


async def fifo() -> None:
    rng = random.Random(42)
    queue: asyncio.Queue = asyncio.Queue(maxsize=2)
    totals: dict[str, int] = {}
    consumers = [asyncio.create_task(consumer(queue, totals, c)) for c in "AB"]
    await asyncio.gather(*(producer(queue, i, rng) for i in range(3)))
    await queue.join()
    for c in consumers:
        c.cancel()
    outcome = await asyncio.gather(*consumers, return_exceptions=True)
    print("consumers ended with", [type(o).__name__ for o in outcome])
    print("sum over all:", sum(totals.values()), "consumers:", sorted(totals))


async def priorities() -> None:
    q = asyncio.PriorityQueue()
    for prio, job in [(5, "sweep"), (1, "fire"), (3, "mail")]:
        q.put_nowait((prio, job))
    while not q.empty():
        print("job", q.get_nowait())
    lifo = asyncio.LifoQueue(maxsize=1)
    lifo.put_nowait("x")
    for attempt in (lambda: lifo.put_nowait("y"), lambda: (lifo.get_nowait(), lifo.get_nowait())):
        try:
            attempt()
        except (asyncio.QueueFull, asyncio.QueueEmpty) as e:
            print(type(e).__name__)
    q2 = asyncio.Queue()
    q2.shutdown()
    try:
        await q2.get()
    except asyncio.QueueShutDown:
        print("queue was shut down")


asyncio.run(fifo())
asyncio.run(priorities())
