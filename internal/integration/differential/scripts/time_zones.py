from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

zurich, york, utc = ZoneInfo("Europe/Zurich"), ZoneInfo("America/New_York"), timezone.utc
moment = datetime(2024, 3, 10, 6, 59, 59, tzinfo=utc)
for _ in range(2):
    print(moment.astimezone(york).isoformat(), moment.astimezone(zurich).isoformat(), moment.timestamp())
    moment += timedelta(seconds=1)
print(datetime(2024, 10, 27, 2, 30, tzinfo=zurich).utcoffset(), datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=zurich).utcoffset())
print(datetime(2024, 7, 1, tzinfo=ZoneInfo("Asia/Kolkata")).isoformat(), datetime(1900, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo")).tzname())
print(datetime(2100, 7, 1, 12, tzinfo=york).dst(), datetime(2024, 1, 1, tzinfo=ZoneInfo("Pacific/Apia")).strftime("%z %Z"))
print(datetime.fromtimestamp(0, utc), datetime.fromtimestamp(0).isoformat(), datetime.fromisoformat("2024-02-29T12:34:56.789012+05:30").astimezone(utc))
try:
    ZoneInfo("Mars/Base")
except ZoneInfoNotFoundError as e:
    print(type(e).__name__)
print(date(2024, 12, 30).isocalendar()[:2], (date(2024, 3, 1) - date(2024, 2, 1)).days, datetime.strptime("01/02/24 PM 03", "%d/%m/%y %p %I"))
print(datetime.max.replace(tzinfo=utc).timestamp(), datetime(1969, 12, 31, 23, 59, 59, tzinfo=utc).timestamp())
for bad in (-1e11, 1e20, float("nan")):
    try:
        print(datetime.fromtimestamp(bad, utc))
    except (OverflowError, ValueError, OSError) as e:
        print(type(e).__name__)
