// What SQLite's Unix VFS names and wasi-libc lacks. File locks always succeed: SQLite keeps account itself
// of the locks of its own process, which is all that has the file, apart from other runs of the session.
#ifndef SANDBAR_SQLITE_WASI_H
#define SANDBAR_SQLITE_WASI_H
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#define F_GETLK 12
#define F_SETLK 13
#define F_SETLKW 14

static inline int sandbar_fcntl(int fd, int cmd, ...) {
  va_list args;
  va_start(args, cmd);
  if (cmd == F_GETLK) {
    va_arg(args, struct flock *)->l_type = F_UNLCK;
    va_end(args);
    return 0;
  }
  if (cmd == F_SETLK || cmd == F_SETLKW) {
    va_end(args);
    return 0;
  }
  int value = va_arg(args, int);
  va_end(args);
  return fcntl(fd, cmd, value);
}
static inline int sandbar_fchmod(int fd, mode_t mode) { (void)fd, (void)mode; return 0; }
static inline int sandbar_fchown(int fd, uid_t uid, gid_t gid) { (void)fd, (void)uid, (void)gid; return 0; }
static inline uid_t sandbar_geteuid(void) { return 1; }
#define fcntl sandbar_fcntl
#define fchmod sandbar_fchmod
#define fchown sandbar_fchown
#define geteuid sandbar_geteuid
#endif
