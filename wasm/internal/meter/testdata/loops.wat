;; Loops of every shape. run_test.go has the number of loop heads that each call passes.
(module
  (import "env" "fixed" (global $fixed i32))
  (import "sandbar" "other" (func $other (result i32)))
  (import "sandbar" "tick" (func $tick))
  (type $unary (func (param i32) (result i32)))
  (table 2 funcref)
  (elem (i32.const 0) $square $half)
  (global $step i32 (i32.const 3))

  ;; n times m additions.
  (func (export "nested") (param $n i32) (param $m i32) (result i32)
    (local $j i32) (local $sum i32)
    (loop $outer
      (local.set $j (local.get $m))
      (loop $inner
        (local.set $sum (i32.add (local.get $sum) (global.get $step)))
        (br_if $inner (local.tee $j (i32.sub (local.get $j) (i32.const 1)))))
      (br_if $outer (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))

  ;; A loop that keeps its state on the operand stack: n!, and the rest of the countdown.
  (func (export "params") (param $n i64) (result i64 i64)
    (i64.const 1) (local.get $n)
    (loop $l (param i64 i64) (result i64 i64)
      (local.set $n)
      (i64.mul (local.get $n))
      (i64.sub (local.get $n) (i64.const 1))
      (local.tee $n)
      (local.get $n)
      (br_if $l (i64.gt_s (i64.const 0)))))

  ;; A loop with a result and values of other blocks below it.
  (func (export "result") (param $n i32) (result i32)
    (i32.const 1000)
    (loop $l (result i32)
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $l (i32.gt_s (local.get $n) (i32.const 0)))
      (local.get $n))
    (i32.add))

  ;; A loop that br_table continues from three depths.
  (func (export "table") (param $n i32) (result i32)
    (local $acc i32)
    (loop $l
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (block $three
        (block $two
          (block $one
            (if (i32.le_s (local.get $n) (i32.const 0)) (then (return (local.get $acc))))
            (br_table $one $two $l $three (i32.rem_u (local.get $n) (i32.const 5))))
          (local.set $acc (i32.add (local.get $acc) (i32.const 1)))
          (br $l))
        (local.set $acc (i32.add (local.get $acc) (i32.const 100)))
        (br $l))
      (local.set $acc (i32.mul (local.get $acc) (i32.const 3)))
      (br $l))
    (unreachable))

  ;; The steps of the Collatz sequence.
  (func (export "ifelse") (param $n i32) (result i32)
    (local $steps i32)
    (block $done
      (loop $l
        (br_if $done (i32.eq (local.get $n) (i32.const 1)))
        (local.set $steps (i32.add (local.get $steps) (i32.const 1)))
        (if (i32.and (local.get $n) (i32.const 1))
          (then (local.set $n (i32.add (i32.mul (local.get $n) (i32.const 3)) (i32.const 1))) (br $l))
          (else (local.set $n (i32.shr_u (local.get $n) (i32.const 1))) (br $l)))))
    (local.get $steps))

  ;; Loops that no run reaches, one with operands of any type.
  (func (export "unreachable") (param $n i32) (result i32)
    (block $out (result i32)
      (br $out (local.get $n))
      (loop $l (br $l))
      (loop $m (param i32) (result i32) (br_if $m (i32.const 1)))))

  ;; A loop that is entered and never continued.
  (func (export "once") (param $n i32) (result i32)
    (loop (result i32) (loop (result i32) (local.get $n))))

  ;; A loop that returns from its middle.
  (func (export "returns") (param $n i32) (result i32)
    (loop $l
      (if (i32.eqz (local.get $n)) (then (return (i32.const 7))))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $l))
    (unreachable))

  ;; Loops in functions that are called in a loop, directly and through the table.
  (func $square (type $unary) (i32.mul (local.get 0) (local.get 0)))
  (func $half (type $unary)
    (local $i i32)
    (loop $l
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $l (i32.lt_s (i32.mul (local.get $i) (i32.const 2)) (local.get 0))))
    (local.get $i))
  (func (export "calls") (param $n i32) (result i32)
    (local $sum i32)
    (loop $l
      (local.set $sum
        (i32.add (local.get $sum)
          (call_indirect (type $unary) (local.get $n) (i32.and (local.get $n) (i32.const 1)))))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.add (local.get $sum) (call $half (i32.const 10))))

  ;; The module's own calls of imports keep their indexes.
  (func (export "imports") (param $n i32) (result i32)
    (loop $l
      (call $tick)
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.add (call $other) (global.get $fixed)))

  (func $fib (export "recursion") (param $n i32) (result i32)
    (if (i32.lt_s (local.get $n) (i32.const 2)) (then (return (local.get $n))))
    (i32.add
      (call $fib (i32.sub (local.get $n) (i32.const 1)))
      (call $fib (i32.sub (local.get $n) (i32.const 2)))))

  (func (export "forever") (loop $l (br $l)))
  (func (export "forever_if") (param $n i32) (loop $l (if (local.get $n) (then (br $l)) (else (br $l)))))
  (func (export "forever_table") (param $n i32) (loop $l (loop $m (br_table $l $m (local.get $n)))))
)
