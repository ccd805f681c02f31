"""Date arithmetic without looking at the clock."""
import calendar
from datetime import date, datetime, time, timedelta, timezone

start = date(2024, 1, 31)


def add_months(d: date, n: int) -> date:
    y, m = divmod(d.year * 12 + d.month - 1 + n, 12)
    m += 1
    return d.replace(year=y, month=m, day=min(d.day, calendar.monthrange(y, m)[1]))


print("Month ends:")
for n in range(0, 14, 2):
    d = add_months(start, n)
    print(f"  {d}  {d:%A, %d %B %Y}  week {d.isocalendar().week:02d}  day {d.timetuple().tm_yday}")

birthday = date(1992, 2, 29)
today = date(2024, 7, 4)
age = today.year - birthday.year - ((today.month, today.day) < (birthday.month, birthday.day))
print("age:", age, "days lived:", (today - birthday).days)

print("Fridays the 13th in 2026:", [str(date(2026, m, 13)) for m in range(1, 13) if date(2026, m, 13).weekday() == 4])
print("leap years:", [y for y in range(1890, 1930) if calendar.isleap(y)])

a = datetime(2024, 3, 10, 1, 30, 15, 250)
b = datetime(2023, 12, 25, 23, 59, 59)
delta = a - b
print(delta, delta.total_seconds(), delta // timedelta(hours=1), repr(delta))
print(timedelta(days=-1, seconds=5), abs(timedelta(hours=-30)), timedelta(weeks=2) / 3)
print(a.isoformat(" ", "milliseconds"), a.strftime("%y%j %I:%M %p %f %U %%"), a.date() == date(2024, 3, 10))

for text, fmt in [("31/12/1999 23:59", "%d/%m/%Y %H:%M"), ("Tue Mar  5 2024", "%a %b %d %Y"), ("2024-060", "%Y-%j"), ("31 Feb 2024", "%d %b %Y"), ("x", "%Y")]:
    try:
        print(f"{text!r:22} -> {datetime.strptime(text, fmt)}")
    except ValueError as e:
        print(f"{text!r:22} -> ValueError: {e}")

for text in ["2024-02-30", "2024-W07-3", "20240704T101112.5+0530", "2024-07-04 25:00", "12:30:61", "2024-07-04T10:11Z"]:
    try:
        print(repr(datetime.fromisoformat(text)))
    except ValueError as e:
        print("ValueError:", e)

utc = datetime(2000, 1, 1, tzinfo=timezone.utc)
ist = utc.astimezone(timezone(timedelta(hours=5, minutes=30), "IST"))
print(ist, ist.tzname(), ist == utc, utc.timestamp(), datetime.fromtimestamp(1e9, timezone.utc))
try:
    print(utc - datetime(2000, 1, 1))
except TypeError as e:
    print("TypeError:", e)
try:
    date.max + timedelta(days=1)
except OverflowError as e:
    print("OverflowError:", e)
print(time(9, 5).isoformat(), time.fromisoformat("04:05:06.007"), datetime.combine(today, time(8)))
print(calendar.TextCalendar(calendar.SUNDAY).formatmonth(2024, 2))
print(calendar.month(2023, 10))
