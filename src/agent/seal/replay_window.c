#include "agent/seal/replay_window.h"

static void advance(struct replay_window *r, uint64_t counter)
{
    /* If nothing was seen, all words are 0 already. */
    const uint64_t from = r->above == 0 ? counter / 64 : (r->above - 1) / 64;
    uint64_t words = counter / 64 - from;
    if (words > REPLAY_WORDS) words = REPLAY_WORDS;
    for (uint64_t i = 0; i < words; i++) r->words[(counter / 64 - i) % REPLAY_WORDS] = 0;
    r->above = counter + 1;
}

bool replay_window_accept(struct replay_window *r, uint64_t counter)
{
    if (counter == UINT64_MAX) return false;
    if (counter >= r->above)
        advance(r, counter);
    else if (r->above - counter > REPLAY_WINDOW)
        return false;
    uint64_t *word = &r->words[counter / 64 % REPLAY_WORDS];
    const uint64_t bit = UINT64_C(1) << counter % 64;
    if (*word & bit) return false;
    *word |= bit;
    return true;
}
