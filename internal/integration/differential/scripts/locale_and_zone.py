import calendar, locale, time

print(locale.localeconv()["decimal_point"], repr(locale.localeconv()["thousands_sep"]))
print(locale.format_string("%.2f", 1234.5), f"{1234.5:n}", time.tzname, time.timezone, time.daylight)
print(time.strftime("%A %B %x %X %c", (2024, 2, 29, 13, 5, 9, 3, 60, 0)))
print(time.localtime(0)[:6], time.mktime((2024, 7, 1, 12, 0, 0, 0, 0, -1)), time.ctime(86400), time.asctime(time.gmtime(1e9)))
print(calendar.month(2024, 2), calendar.isleap(2100))
print(locale.setlocale(locale.LC_ALL, "C"), locale.setlocale(locale.LC_CTYPE, "C.UTF-8"))
print("ä".upper(), "ß".upper(), "İ".lower() == "i̇", sorted(["b", "Ä", "a", "B"]), "ǆ".title())
