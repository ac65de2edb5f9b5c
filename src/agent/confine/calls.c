/*
 * The system calls of agent, guardian and flight recorder, and those of the C library and of look-ups of names and users
 * on their behalf. Whole families are allowed rather than what one version of a library calls. These are missing on
 * purpose: looking into other processes (ptrace, process_vm_*, pidfd_getfd, kcmp), changing the system (mount, modules,
 * kexec, clocks, swap, quotas, host name), namespaces, other users' identities, keyrings, bpf, perf, io_uring,
 * userfaultfd, System V IPC, extended attributes, device nodes.
 */
#define _GNU_SOURCE
#include <linux/prctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "agent/confine/internal.h"

#define TERMINAL_SETTINGS_2 0x802C542Au /* TCGETS2, whose header does not go with <sys/ioctl.h> */
#define NAMESPACES                                                                                         \
    ((uint32_t)CLONE_NEWNS | (uint32_t)CLONE_NEWCGROUP | (uint32_t)CLONE_NEWUTS | (uint32_t)CLONE_NEWIPC | \
     (uint32_t)CLONE_NEWUSER | (uint32_t)CLONE_NEWPID | (uint32_t)CLONE_NEWNET)

enum { NO_CALL = -1 }; /* a tracer, which has checked that it may trace us, made the process skip its call */

#define ALLOW(name)                      \
    {                                    \
        SYS_##name, CONFINE_ALWAYS, 0, 0 \
    }
#define ALLOW_IF(name, argument, value)            \
    {                                              \
        SYS_##name, CONFINE_EQUAL, argument, value \
    }
#define ABSENT(name)                     \
    {                                    \
        SYS_##name, CONFINE_ABSENT, 0, 0 \
    }

const struct confine_rule confine_rules[] = {
    {NO_CALL, CONFINE_ALWAYS, 0, 0},

    /* the loop */
    ALLOW(epoll_pwait),
    ALLOW(recvmmsg),
    ALLOW(sendmmsg),
    ALLOW(sendto),
    ALLOW(timerfd_settime),
    ALLOW(read),
    ALLOW(write),
    ALLOW(recvmsg),
    ALLOW(sendmsg),
    ALLOW(recvfrom),
    ALLOW(futex),
    ALLOW(clock_gettime),
    ALLOW(epoll_ctl),
    ALLOW(close),

    /* files */
    ALLOW(openat),
    ALLOW(openat2),
    ALLOW(close_range),
    ALLOW(readv),
    ALLOW(writev),
    ALLOW(pread64),
    ALLOW(pwrite64),
    ALLOW(preadv),
    ALLOW(pwritev),
    ALLOW(preadv2),
    ALLOW(pwritev2),
    ALLOW(lseek),
    ALLOW(fstat),
    ALLOW(newfstatat),
    ALLOW(statx),
    ALLOW(statfs),
    ALLOW(fstatfs),
    ALLOW(faccessat),
    ALLOW(faccessat2),
    ALLOW(readlinkat),
    ALLOW(getdents64),
    ALLOW(getcwd),
    ALLOW(ftruncate),
    ALLOW(fallocate),
    ALLOW(fsync),
    ALLOW(fdatasync),
    ALLOW(sync_file_range),
    ALLOW(syncfs),
    ALLOW(fadvise64),
    ALLOW(copy_file_range),
    ALLOW(flock),
    ALLOW(fcntl),
    ALLOW(dup),
    ALLOW(dup3),
    ALLOW(pipe2),
    ALLOW(unlinkat),
    ALLOW(linkat),
    ALLOW(renameat2),
    ALLOW(mkdirat),
    ALLOW(fchmod),
    ALLOW(fchmodat),
    ALLOW(fchown),
    ALLOW(fchownat),
    ALLOW(umask),
    ALLOW(memfd_create),

    /* sockets, of these families only */
    ALLOW_IF(socket, 0, AF_UNIX),
    ALLOW_IF(socket, 0, AF_INET),
    ALLOW_IF(socket, 0, AF_INET6),
    ALLOW_IF(socket, 0, AF_NETLINK),
    ALLOW_IF(socketpair, 0, AF_UNIX),
    ALLOW(bind),
    ALLOW(connect),
    ALLOW(listen),
    ALLOW(accept),
    ALLOW(accept4),
    ALLOW(shutdown),
    ALLOW(getsockname),
    ALLOW(getpeername),
    ALLOW(setsockopt),
    ALLOW(getsockopt),

    /* waiting and time */
    ALLOW(ppoll),
    ALLOW(pselect6),
    ALLOW(epoll_create1),
    ALLOW(eventfd2),
    ALLOW(timerfd_create),
    ALLOW(timerfd_gettime),
    ALLOW(signalfd4),
    ALLOW(inotify_init1),
    ALLOW(inotify_add_watch),
    ALLOW(inotify_rm_watch),
    ALLOW(nanosleep),
    ALLOW(clock_nanosleep),
    ALLOW(clock_getres),
    ALLOW(gettimeofday),
    ALLOW(times),
#ifdef SYS_epoll_pwait2
    ALLOW(epoll_pwait2),
#endif

    /* memory */
    ALLOW(mmap),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(mprotect),
    ALLOW(madvise),
    ALLOW(msync),
    ALLOW(brk),
    ALLOW(mlock),
    ALLOW(mlock2),
    ALLOW(mlockall),
    ALLOW(munlock),
    ALLOW(membarrier),
    ALLOW(getrandom),
#ifdef SYS_mseal
    ALLOW(mseal),
#endif

    /* threads and processes; the agent executes itself as its guardian */
    {SYS_clone, CONFINE_WITHOUT, 0, NAMESPACES},
    ABSENT(clone3), /* its flags are out of a filter's sight */
    ALLOW(execve),
    ALLOW(exit),
    ALLOW(exit_group),
    ALLOW(wait4),
    ALLOW(waitid),
    ALLOW(kill),
    ALLOW(tgkill),
    ALLOW(pidfd_open),
    ALLOW(pidfd_send_signal),
    ALLOW(set_robust_list),
    ALLOW(get_robust_list),
    ALLOW(set_tid_address),
    ALLOW(rseq),
    ALLOW(gettid),
    ALLOW(getpid),
    ALLOW(getppid),
    ALLOW(setpgid),
    ALLOW(getpgid),
    ALLOW(getsid),
    ALLOW(sched_yield),
    ALLOW(sched_getaffinity),
    ALLOW(sched_getattr),
    ALLOW(sched_setattr),
    ALLOW(sched_getparam),
    ALLOW(sched_getscheduler),
    ALLOW(getcpu),
    ALLOW(getpriority),
    ALLOW(setpriority),
    ALLOW_IF(prlimit64, 0, 0),
    ALLOW(getrusage),
    ALLOW(sysinfo),
    ALLOW(uname),
#ifdef SYS_futex_waitv
    ALLOW(futex_waitv),
#endif

    /* identities: to ask, and to give up */
    ALLOW(getuid),
    ALLOW(geteuid),
    ALLOW(getgid),
    ALLOW(getegid),
    ALLOW(getgroups),
    ALLOW(getresuid),
    ALLOW(getresgid),
    ALLOW(capget),
    ALLOW(capset),
    ALLOW_IF(prctl, 0, PR_SET_NAME),
    ALLOW_IF(prctl, 0, PR_GET_NAME),
    ALLOW_IF(prctl, 0, PR_SET_PDEATHSIG),
    ALLOW_IF(prctl, 0, PR_SET_NO_NEW_PRIVS),
    ALLOW_IF(prctl, 0, PR_SET_DUMPABLE),
    ALLOW_IF(prctl, 0, PR_GET_DUMPABLE),
    ALLOW_IF(prctl, 0, PR_SET_VMA),

    /* signals */
    ALLOW(rt_sigaction),
    ALLOW(rt_sigprocmask),
    ALLOW(rt_sigreturn),
    ALLOW(rt_sigsuspend),
    ALLOW(rt_sigtimedwait),
    ALLOW(rt_sigpending),
    ALLOW(sigaltstack),
    ALLOW(restart_syscall),

    /* devices: whether it is a terminal, how much there is to read, and the number of a network interface. TIOCSTI, which
     * types on somebody's terminal, is not among them. */
    ALLOW_IF(ioctl, 1, FIONBIO),
    ALLOW_IF(ioctl, 1, FIOCLEX),
    ALLOW_IF(ioctl, 1, FIONREAD),
    ALLOW_IF(ioctl, 1, TCGETS),
    ALLOW_IF(ioctl, 1, TERMINAL_SETTINGS_2),
    ALLOW_IF(ioctl, 1, TIOCGWINSZ),
    ALLOW_IF(ioctl, 1, SIOCGIFINDEX),
    ALLOW_IF(ioctl, 1, SIOCGIFNAME),

    /* libuv asks for it, and uses its threads if it is not there */
    ABSENT(io_uring_setup),

#ifdef __x86_64__ /* the older forms of calls above, which newer architectures do not have */
    ALLOW(epoll_wait),
    ALLOW(poll),
    ALLOW(select),
    ALLOW(open),
    ALLOW(stat),
    ALLOW(lstat),
    ALLOW(access),
    ALLOW(readlink),
    ALLOW(dup2),
    ALLOW(pipe),
    ALLOW(unlink),
    ALLOW(link),
    ALLOW(rename),
    ALLOW(mkdir),
    ALLOW(rmdir),
    ALLOW(chmod),
    ALLOW(chown),
    ALLOW(getrlimit),
    ALLOW(getpgrp),
    ALLOW(arch_prctl),
    ALLOW(time),
    ALLOW(eventfd),
#endif
#ifdef SYS_renameat
    ALLOW(renameat),
#endif
};
const size_t confine_rule_count = sizeof confine_rules / sizeof *confine_rules;
