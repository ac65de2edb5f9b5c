/* Bytes as an agent's configuration: either it is understood, or there is one line that says why not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config config;
    char text[600];
    const bool good =
        config_parse(&config, "/etc/elector/elector.conf", (const char *)data, size, true, text, sizeof text);
    if (good == (text[0] != '\0') || strchr(text, '\n')) abort();
    if (good && (config.self == 0 || config.self > config.member_count)) abort();
    if (good && config_is_public(&config, "g") && !config_permits(&config, "g", CONFIG_READ, 1, NULL, 0))
        abort();
    if (good) {
        FILE *nowhere = fopen("/dev/null", "w");
        if (!nowhere || !config_describe(&config, nowhere)) abort();
        fclose(nowhere);
    }
    return 0;
}
