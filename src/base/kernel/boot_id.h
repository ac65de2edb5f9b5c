/* Which boot of this host it is: times on CLOCK_BOOTTIME can be compared if it is the same. */
#ifndef ELECTOR_BASE_BOOT_ID_H
#define ELECTOR_BASE_BOOT_ID_H

#include <stddef.h>

enum { BOOT_ID_TEXT = 64 };
/* The kernel's text, zero-terminated. Returns its length; 0: it cannot be read. */
size_t boot_id_read(char text[BOOT_ID_TEXT]);

#endif
