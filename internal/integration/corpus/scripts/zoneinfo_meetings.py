from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

OFFICES = {
    "San Francisco": "America/Los_Angeles",
    "New York": "America/New_York",
    "London": "Europe/London",
    "Zürich": "Europe/Zurich",
    "Mumbai": "Asia/Kolkata",
    "Tokyo": "Asia/Tokyo",
    "Sydney": "Australia/Sydney",
}


def print_meeting(when: datetime) -> None:
    print(f"Meeting at {when:%Y-%m-%d %H:%M %Z}")
    for city, key in OFFICES.items():
        local = when.astimezone(ZoneInfo(key))
        flag = "" if 8 <= local.hour < 18 else "  (outside office hours)"
        print(f"  {city:<14} {local:%a %d %b %H:%M %Z} UTC{local:%z}{flag}")
    print()


print_meeting(datetime(2024, 1, 15, 16, 0, tzinfo=timezone.utc))
print_meeting(datetime(2024, 7, 15, 9, 30, tzinfo=ZoneInfo("Europe/London")))

# Daylight saving gaps and overlaps
ny = ZoneInfo("America/New_York")
print("Spring forward in New York")
t = datetime(2024, 3, 10, 6, 30, tzinfo=timezone.utc)
for _ in range(3):
    print("  ", t.isoformat(), "->", t.astimezone(ny).isoformat(), t.astimezone(ny).dst())
    t += timedelta(minutes=30)

print("Fall back: the same wall time twice")
wall = datetime(2024, 11, 3, 1, 30, tzinfo=ny)
for fold in (0, 1):
    x = wall.replace(fold=fold)
    print("  fold", fold, x.isoformat(), x.tzname(), x.astimezone(timezone.utc).isoformat())

print("Wall arithmetic against UTC arithmetic")
before = datetime(2023, 3, 25, 12, 0, tzinfo=ZoneInfo("Europe/Zurich"))
print("  +24h wall:", (before + timedelta(hours=24)).isoformat())
print("  +24h real:", (before.astimezone(timezone.utc) + timedelta(hours=24)).astimezone(before.tzinfo).isoformat())

print("Old offsets")
for year in (1880, 1920, 1945, 1980, 2037):
    z = datetime(year, 7, 1, tzinfo=ZoneInfo("Europe/London"))
    print("  ", year, z.utcoffset(), z.tzname())

print(repr(ZoneInfo("Asia/Kathmandu")), ZoneInfo("UTC"), ZoneInfo("UTC") is ZoneInfo("UTC"))
for bad in ("Mars/Olympus", "../etc/passwd", ""):
    try:
        ZoneInfo(bad)
    except (ZoneInfoNotFoundError, ValueError, OSError) as e:
        print(type(e).__name__, e)
