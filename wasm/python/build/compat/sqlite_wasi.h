// What SQLite's Unix VFS names and wasi-libc lacks. SQLite is built with its "unix-none" locking, so
// none of the lock calls is ever made; they are here for the compiler.
#ifndef SANDBAR_SQLITE_WASI_H
#define SANDBAR_SQLITE_WASI_H
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define F_GETLK 5
#define F_SETLK 6
#define F_SETLKW 7

static inline int sandbar_fchmod(int fd, mode_t mode) { (void)fd, (void)mode; return 0; }
static inline int sandbar_fchown(int fd, uid_t uid, gid_t gid) { (void)fd, (void)uid, (void)gid; return 0; }
static inline uid_t sandbar_geteuid(void) { return 1; }
#define fchmod sandbar_fchmod
#define fchown sandbar_fchown
#define geteuid sandbar_geteuid
#endif
