"""TaskGroup, ExceptionGroup and except*."""
import asyncio
import contextvars

request_id = contextvars.ContextVar("request_id", default="-")


class Fail(Exception):
    pass


async def step(name, ticks, fail=None):
    for _ in range(ticks):
        await asyncio.sleep(0)
    if fail:
        raise fail
    return f"{name}@{request_id.get()}"


async def ok_group():
    request_id.set("req-1")
    async with asyncio.TaskGroup() as tg:
        tasks = [tg.create_task(step(n, t)) for n, t in [("a", 3), ("b", 1), ("c", 2)]]
    print([t.result() for t in tasks])


async def sibling(name, log):
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        log.append(name)
        raise


async def failing_group():
    log = []
    try:
        async with asyncio.TaskGroup() as tg:
            tg.create_task(sibling("s1", log))
            tg.create_task(step("x", 2, Fail("x broke")))
            tg.create_task(step("y", 2, ValueError("y broke")))
            tg.create_task(sibling("s2", log))
    except* Fail as eg:
        print("Fail group:", eg, eg.exceptions)
    except* ValueError as eg:
        print("Value group:", [str(e) for e in eg.exceptions])
    print("cancelled siblings:", sorted(log))


async def body_raises():
    try:
        async with asyncio.TaskGroup() as tg:
            t = tg.create_task(asyncio.sleep(10))
            await asyncio.sleep(0)
            raise KeyError("body")
    except BaseExceptionGroup as eg:
        print(repr(eg), t.cancelled())


async def late():
    async with asyncio.TaskGroup() as tg:
        pass
    coro = step("late", 0)
    try:
        tg.create_task(coro)
    except RuntimeError as e:
        print("RuntimeError:", str(e).split(">")[-1])
    coro.close()


async def runner_contexts():
    request_id.set("outer")
    ctx = contextvars.copy_context()
    ctx.run(request_id.set, "inner")
    t = asyncio.get_running_loop().create_task(step("ctx", 1), context=ctx)
    print(await t, await step("direct", 0))


for job in (ok_group, failing_group, body_raises, late, runner_contexts):
    asyncio.run(job())

with asyncio.Runner() as runner:
    print(runner.run(step("runner", 1)), runner.run(asyncio.sleep(0, "second")))

asyncio.run(step("z", 1, Fail("uncaught at last")))
