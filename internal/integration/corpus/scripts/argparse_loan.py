"""Loan calculator with a command line interface."""
import argparse
import sys


def build_parser():
    p = argparse.ArgumentParser(prog="loan", description="Compute an amortisation table.", epilog="Rates are yearly percentages.")
    p.add_argument("amount", type=float, help="amount borrowed")
    p.add_argument("--rate", type=float, default=5.0, metavar="PCT", help="interest rate (default: %(default)s)")
    p.add_argument("--years", type=int, default=1, choices=range(1, 41), metavar="{1..40}")
    p.add_argument("--format", choices=["table", "csv"], default="table")
    p.add_argument("--tag", action="append", default=[])
    p.add_argument("-v", "--verbose", action="count", default=0)
    group = p.add_mutually_exclusive_group()
    group.add_argument("--monthly", action="store_true")
    group.add_argument("--yearly", action="store_true")
    p.add_argument("--version", action="version", version="%(prog)s 1.2")
    return p


def schedule(amount, rate, years):
    r = rate / 100 / 12
    n = years * 12
    payment = amount * r / (1 - (1 + r) ** -n)
    balance = amount
    for month in range(1, n + 1):
        interest = balance * r
        balance -= payment - interest
        yield month, payment, interest, max(balance, 0.0)


def main(argv=None):
    args = build_parser().parse_args(argv)
    if args.verbose:
        print("options:", {k: v for k, v in sorted(vars(args).items())})
    rows = [row for row in schedule(args.amount, args.rate, args.years) if row[0] % 12 in (0, 1)]
    if args.format == "csv":
        print("month,payment,interest,balance")
        for m, *values in rows:
            print(m, *(f"{v:.2f}" for v in values), sep=",")
    else:
        for m, *values in rows:
            print(f"{m:>4}" + "".join(f"{v:>12,.2f}" for v in values))
    return 0


if __name__ == "__main__":
    print(len(sys.argv), sys.argv[1:3])
    status = main()
    print()
    main(["1000", "--years", "2"])
    build_parser().print_help()
    sys.exit(status)
