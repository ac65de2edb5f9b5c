/*
 * Verifies an algorithm's `moot`. The search leaves out messages that it calls moot, so a handler that reacts
 * to one would go unnoticed. This check delivers such messages to every state that was reached.
 */
#include "check/world/model.h"

static bool does_nothing(const struct check_model *model, struct check_memo *memo, uint32_t local,
                         uint32_t letter)
{
    const struct check_head *head = check_head_of(check_local_at(model, local));
    const struct check_letter *heard = check_letter_at(model, letter);
    const struct el_config cfg = {model->cluster, head->self};
    if (heard->returns || heard->msg.to != head->self) return true;
    if (!model->algorithm->moot(head + 1, &cfg, &heard->msg)) return true;
    const struct check_outcomes outcomes =
        check_outcomes_of(memo, local, check_event(CHECK_DELIVER, letter), false);
    return outcomes.count == 1 && outcomes.first->local == local && outcomes.first->sent == 0;
}

bool check_moot_is_moot(const struct check_model *model, struct check_memo *memo)
{
    enum { PAIRS_MAX = 1 << 25 }; /* with more pairs, only a sample of the states is checked */
    const uint32_t locals = model->locals.count, letters = model->letters.count;
    const uint64_t pairs = (uint64_t)locals * letters;
    const uint32_t stride = (uint32_t)(pairs / PAIRS_MAX) + 1;
    for (uint32_t local = 0; model->uses_moot && local < locals; local += stride) {
        if (!(check_head_of(check_local_at(model, local))->flags & LOCAL_ALIVE)) continue;
        check_memo_trim(memo);
        for (uint32_t letter = 0; letter < letters; letter++)
            if (!does_nothing(model, memo, local, letter)) return false;
    }
    return true;
}
