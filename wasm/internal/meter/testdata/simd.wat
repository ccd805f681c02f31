;; Vector instructions with each kind of immediate, one of which looks like a loop (03 40).
(module
  (import "sandbar" "tick" (func $tick))
  (memory (export "memory") 1)
  (func (export "dot") (param $n i32) (result i32)
    (local $acc v128) (local $p i32)
    (local.set $acc (v128.const i8x16 3 64 3 64 3 64 3 64 3 64 3 64 3 64 3 64))
    (loop $l
      (v128.store offset=32 align=1 (local.get $p) (i32x4.splat (local.get $n)))
      (local.set $acc (i32x4.add (local.get $acc) (v128.load offset=32 (local.get $p))))
      (local.set $acc (v128.load8_lane offset=33 3 (local.get $p) (local.get $acc)))
      (v128.store32_lane align=1 3 (local.get $p) (local.get $acc))
      (local.set $acc (i8x16.shuffle 0 3 16 17 2 1 4 5 6 7 8 9 10 3 31 11 (local.get $acc) (i8x16.splat (local.get $n))))
      (local.set $p (i32.add (local.get $p) (i32.const 4)))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.add
      (i32x4.extract_lane 3 (i32x4.dot_i16x8_s (local.get $acc) (local.get $acc)))
      (i32x4.extract_lane 0 (i32x4.trunc_sat_f64x2_u_zero (f64x2.convert_low_i32x4_u (local.get $acc)))))))
