# A Windows path in an ordinary string: \U starts an escape of eight digits.
import csv

path = "C:\Users\name\data.csv"
with open(path) as f:
    for row in csv.reader(f):
        print(row)
