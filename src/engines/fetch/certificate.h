/* When an X.509 certificate ends. Reads as much of it as that takes. */
#ifndef ELECTOR_ENGINES_FETCH_CERTIFICATE_H
#define ELECTOR_ENGINES_FETCH_CERTIFICATE_H

#include <stddef.h>
#include <stdint.h>

/* The first certificate of a PEM text: seconds since 1970; 0: there is none that can be read. */
int64_t certificate_end(const char *pem);
/* The same of a file. */
int64_t certificate_file_end(const char *path);

#endif
