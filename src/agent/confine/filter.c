/*
 * Makes a BPF program of the rules and installs it. For each rule it has the comparison and, right behind it, the verdict,
 * so that no jump is longer than a few instructions. From Linux 5.11 the kernel remembers which calls are allowed
 * whatever their arguments, and does not run the program for them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/confine/internal.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define NATIVE AUDIT_ARCH_RISCV64
#else
#define NATIVE 0
#endif

enum { RULE_MAX = 6, PROGRAM_MAX = 2048 };

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned short length;
};

static void put(struct program *p, struct sock_filter instruction)
{
    p->code[p->length++] = instruction;
}

static void load(struct program *p, size_t offset)
{
    put(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Skips that many instructions if the loaded word is not the value. */
static void unless_equal(struct program *p, uint32_t value, uint8_t skip)
{
    put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
}

static void verdict(struct program *p, uint32_t action)
{
    put(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void put_rule(struct program *p, const struct confine_rule *rule)
{
    const uint32_t call = (uint32_t)rule->call;
    const size_t argument = offsetof(struct seccomp_data, args) + rule->argument * sizeof(uint64_t);
    switch (rule->test) {
    case CONFINE_ALWAYS:
        unless_equal(p, call, 1);
        verdict(p, SECCOMP_RET_ALLOW);
        return;
    case CONFINE_ABSENT:
        unless_equal(p, call, 1);
        verdict(p, SECCOMP_RET_ERRNO | ENOSYS);
        return;
    case CONFINE_EQUAL:
        unless_equal(p, call, 4);
        load(p, argument);
        unless_equal(p, rule->value, 1);
        break;
    case CONFINE_WITHOUT:
        unless_equal(p, call, 4);
        load(p, argument);
        put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, rule->value, 1, 0));
        break;
    }
    verdict(p, SECCOMP_RET_ALLOW);
    load(p, offsetof(struct seccomp_data, nr));
}

static bool compile(struct program *p, uint32_t otherwise)
{
    load(p, offsetof(struct seccomp_data, arch)); /* a call of another architecture has other numbers */
    put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0));
    verdict(p, otherwise);
    load(p, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < confine_rule_count; i++) {
        if (p->length + RULE_MAX >= PROGRAM_MAX) return false;
        put_rule(p, &confine_rules[i]);
    }
    verdict(p, otherwise);
    return true;
}

bool confine_install(bool reports)
{
    static struct program program; /* too large for a stack; used once */
    const uint32_t otherwise = reports ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | ENOSYS;
    errno = ENOTSUP;
    program.length = 0;
    if (NATIVE == 0 || !compile(&program, otherwise)) return false;
    struct sock_fprog whole = {.len = program.length, .filter = program.code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    const unsigned flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole) == 0) return true;
    /* An older kernel, or a service manager whose own filter lacks this call: for this thread and those that it will
     * start, and without a line in the kernel's log. */
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) == 0;
}
