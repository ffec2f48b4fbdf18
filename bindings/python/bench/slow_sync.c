// Every sync takes 10 ms longer: cc -shared -fPIC -o slow_sync.so slow_sync.c, then LD_PRELOAD.
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
static void rest(void) { nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, 0); }
int fsync(int fd) { rest(); return (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { rest(); return (int)syscall(SYS_fdatasync, fd); }
