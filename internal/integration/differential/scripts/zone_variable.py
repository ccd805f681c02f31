import datetime, time

# Env has TZ=Europe/Zurich.
print(time.localtime(1720000000)[:5], time.tzname)
print(datetime.datetime.fromtimestamp(1720000000))
