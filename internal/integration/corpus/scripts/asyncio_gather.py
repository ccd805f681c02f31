"""Concurrent downloads, simulated with sleeps of fixed length."""
import asyncio

SITES = {"alpha": 0.03, "beta": 0.01, "gamma": 0.05, "delta": 0.02}


async def fetch(name, delay, log):
    log.append(f"start {name}")
    await asyncio.sleep(delay)
    if name == "gamma":
        raise ConnectionError(f"{name} reset by peer")
    log.append(f"end {name}")
    return f"<{name}: {int(delay * 1000)} bytes>"


async def main():
    log = []
    results = await asyncio.gather(*(fetch(n, d, log) for n, d in SITES.items()), return_exceptions=True)
    for name, result in zip(SITES, results):
        status = "FAIL" if isinstance(result, Exception) else "ok"
        print(f"{name:<6} {status:<5} {result!r}")
    print(log)

    print("as completed:")
    tasks = [asyncio.create_task(fetch(n, d, log), name=n) for n, d in SITES.items() if n != "gamma"]
    for fut in asyncio.as_completed(tasks):
        print("  ", await fut)

    done, pending = await asyncio.wait(
        [asyncio.create_task(asyncio.sleep(d, n)) for n, d in (("fast", 0.01), ("slow", 5))],
        return_when=asyncio.FIRST_COMPLETED,
    )
    print("first:", [t.result() for t in done], "pending:", len(pending))
    for t in pending:
        t.cancel()
    print(await asyncio.gather(*pending, return_exceptions=True))

    try:
        await asyncio.gather(fetch("gamma", 0.0, log), asyncio.sleep(0.01))
    except ConnectionError as e:
        print("gather raised", e)

    nested = await asyncio.gather(asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2)), asyncio.sleep(0, 3))
    print(nested)
    loop = asyncio.get_running_loop()
    fut = loop.create_future()
    loop.call_later(0.01, fut.set_result, "from call_later")
    loop.call_soon(print, "call_soon ran")
    print(await fut)
    print("task name:", asyncio.current_task().get_name(), "tasks:", len(asyncio.all_tasks()))
    return "finished"


print(asyncio.run(main()))
try:
    asyncio.get_running_loop()
except RuntimeError as e:
    print("RuntimeError:", e)
