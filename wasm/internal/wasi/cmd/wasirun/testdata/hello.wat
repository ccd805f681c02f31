;; Writes what it can read of the file "in" to standard output and exits with 3.
;; Rebuild: wat2wasm hello.wat -o hello.wasm
(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "in")
  (data (i32.const 16) "\00\04\00\00\00\01\00\00") ;; 256 bytes at 1024; fd_read puts what it read in the place of the 256
  (func (export "_start")
    (drop (call $open (i32.const 3) (i32.const 0) (i32.const 64) (i32.const 2) (i32.const 0)
      (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 8)))
    (drop (call $read (i32.load (i32.const 8)) (i32.const 16) (i32.const 1) (i32.const 20)))
    (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24)))
    (call $exit (i32.const 3))))
