;; Memory with data, and the stack pointer. "bump" changes all the state there is.
(module
  (import "sandbar" "tick" (func $tick))
  (memory (export "memory") 2 5)
  (global $__stack_pointer (mut i32) (i32.const 4096))
  (data (i32.const 16) "first\00second")
  (data (i32.const 22) "SEC")
  (data (i32.const 131068) "last")
  (data (i32.const 131072) "")

  (func (export "sum") (param $from i32) (param $to i32) (result i32)
    (local $s i32)
    (loop $l
      (local.set $s (i32.add (i32.mul (local.get $s) (i32.const 31)) (i32.load8_u (local.get $from))))
      (br_if $l (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 1))) (local.get $to))))
    (i32.add (local.get $s) (global.get $__stack_pointer)))

  (func (export "bump") (param $n i32) (result i32)
    (global.set $__stack_pointer (i32.sub (global.get $__stack_pointer) (local.get $n)))
    (memory.fill (i32.const 16) (local.get $n) (i32.const 4))
    (memory.copy (i32.const 20) (i32.const 16) (i32.const 3))
    (memory.grow (i32.const 1)))
)
