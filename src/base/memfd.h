/* Memory with a descriptor, to share with other processes. */
#ifndef ELECTOR_BASE_MEMFD_H
#define ELECTOR_BASE_MEMFD_H

/* Empty, sealable, closed on exec, not executable where the kernel can say so (Linux 6.3). -1: the kernel has none. */
int memfd_new(const char *name);

#endif
