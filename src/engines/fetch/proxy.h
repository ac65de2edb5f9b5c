/* Which proxy of the environment a URL is fetched through, as libcurl chooses it: for people. */
#ifndef ELECTOR_ENGINES_FETCH_PROXY_H
#define ELECTOR_ENGINES_FETCH_PROXY_H

#include <stdbool.h>
#include <stddef.h>

/* "http://10.0.0.9:3128 (https_proxy)", without the user and password that it may have. False: none. */
bool proxy_of(const char *url, char *text, size_t size);

#endif
