/* Every detector file defines one descriptor; registry.c lists them. See detector.h for this room. */
#ifndef ELECTOR_DETECTORS_REGISTRY_H
#define ELECTOR_DETECTORS_REGISTRY_H

#include "elector/core.h"

extern const struct el_algorithm el_heartbeat, el_phi, el_swim, el_path;

#endif
