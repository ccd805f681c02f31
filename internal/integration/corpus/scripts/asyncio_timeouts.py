import asyncio


async def worker(name, seconds):
    try:
        await asyncio.sleep(seconds)
        return f"{name} finished"
    except asyncio.CancelledError:
        print(f"  {name} was cancelled, cleaning up")
        await asyncio.sleep(0)
        raise
    finally:
        print(f"  {name} finally")


async def main():
    print(await asyncio.wait_for(worker("quick", 0.01), timeout=5))
    try:
        await asyncio.wait_for(worker("slow", 10), timeout=0.05)
    except asyncio.TimeoutError as e:
        print("timeout:", repr(e), TimeoutError is asyncio.TimeoutError)

    try:
        async with asyncio.timeout(0.02) as cm:
            await worker("scoped", 10)
    except TimeoutError:
        print("scope expired:", cm.expired())

    async with asyncio.timeout(None) as cm:
        cm.reschedule(asyncio.get_running_loop().time() + 10)
        print(await worker("rescheduled", 0))

    protected = asyncio.create_task(worker("shielded", 0.03))
    try:
        await asyncio.wait_for(asyncio.shield(protected), 0.01)
    except TimeoutError:
        print("gave up waiting, task done:", protected.done())
    print(await protected)

    task = asyncio.create_task(worker("victim", 10))
    await asyncio.sleep(0)
    print("cancel:", task.cancel("enough"))
    try:
        await task
    except asyncio.CancelledError as e:
        print("CancelledError", e.args, task.cancelled())

    async def immortal():
        for i in range(3):
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                print("  refused cancel", i)
        return "gave in"

    t = asyncio.create_task(immortal())
    while not t.done():
        await asyncio.sleep(0)
        t.cancel()
    print(t.result())

    results = []
    async def ticker():
        while True:
            results.append(len(results))
            await asyncio.sleep(0.001)
    tick = asyncio.create_task(ticker())
    await asyncio.sleep(0.05)
    tick.cancel()
    print("ticked more than twice:", len(results) > 2)


asyncio.run(main())
