"""Common asyncio mistakes and what they print on stderr."""
import asyncio


async def compute(x):
    await asyncio.sleep(0)
    return 10 / x


async def forgotten_await():
    compute(1)
    print("no result from a coroutine that is not awaited")


async def unretrieved():
    task = asyncio.create_task(compute(0), name="divider")
    while not task.done():
        await asyncio.sleep(0)
    del task
    print("task failed in silence, for now")


async def bad_callback():
    loop = asyncio.get_running_loop()
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(0.001)
    print("after the callback")


async def custom_handler():
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, ctx: print("handler:", ctx["message"].split(" at 0x")[0], "|", repr(ctx["exception"])))
    task = loop.create_task(compute(0))
    await asyncio.wait([task])
    del task


asyncio.run(forgotten_await())
asyncio.run(unretrieved())
asyncio.run(custom_handler())


async def nested_run():
    coro = compute(1)
    try:
        asyncio.run(coro)
    except RuntimeError as e:
        print("RuntimeError:", e)
    coro.close()


asyncio.run(nested_run())
try:
    asyncio.run(print("not a coroutine"))
except (TypeError, ValueError) as e:
    print(type(e).__name__, e)


async def main():
    coro = compute(5)
    print(await coro)
    try:
        await coro
    except RuntimeError as e:
        print("RuntimeError:", e)
    await compute(0)


asyncio.run(main())
