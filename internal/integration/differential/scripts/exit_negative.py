raise SystemExit(-2)
