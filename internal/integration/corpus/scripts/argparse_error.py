import argparse
import sys


def jobs(text):
    n = int(text)
    if n < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return n


parser = argparse.ArgumentParser(prog="tool")
parser.add_argument("-C", "--config", default="tool.cfg")
sub = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
build = sub.add_parser("build", help="build things", aliases=["b"])
build.add_argument("paths", nargs="+")
build.add_argument("-j", "--jobs", type=jobs, default=1)
clean = sub.add_parser("clean", help="remove things")
clean.add_argument("--all", action=argparse.BooleanOptionalAction, default=False)


def attempt(*argv):
    try:
        print(argv, "->", parser.parse_args(argv))
    except SystemExit as e:
        print(argv, "-> exit", e.code)


attempt("clean", "--no-all")
attempt("b", "x", "y", "-j3")
attempt("build", "x", "-j", "0")
attempt("frob")
attempt()
attempt("build")
attempt("clean", "extra")
attempt("clean", "--al")
attempt("build", "-h")
print(parser.parse_known_args(["clean", "--what", "x"]))
sys.stdout.flush()
print("unreachable", parser.parse_args())
