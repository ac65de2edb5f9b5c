/* Memory with a file descriptor, to be shared with other processes. */
#ifndef ELECTOR_BASE_MEMFD_H
#define ELECTOR_BASE_MEMFD_H

/* Empty, sealable, close-on-exec; not executable from Linux 6.3 on. -1: errno says why. */
int memfd_new(const char *name);

#endif
