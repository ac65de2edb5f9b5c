/* See memfd.h. */
#define _GNU_SOURCE /* memfd_create */
#include "base/kernel/memfd.h"

#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

int memfd_new(const char *name)
{
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    const int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
    return fd >= 0 ? fd : memfd_create(name, flags);
}
