import locale

try:
    locale.setlocale(locale.LC_ALL, "xx_YY.UTF-8")
    print("any name is taken")
except locale.Error as e:
    print(type(e).__name__)
