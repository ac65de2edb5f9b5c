// The library in C++: an owner that closes, and events as a function object. Exceptions must not pass through a callback.
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <elector.h>

class Elector
{
  public:
    explicit Elector(const char *url = nullptr)
    {
        elector *opened = nullptr;
        const elector_status status = elector_open(url, &opened);
        handle.reset(opened); // also after a failure: it has the message
        if (status != ELECTOR_OK) fail();
        elector_on_event(opened, call, this);
    }
    Elector(const Elector &) = delete;
    Elector &operator=(const Elector &) = delete;

    std::uint64_t campaign(const std::string &group, int timeout_ms, std::uint64_t priority = 0)
    {
        elector_options options;
        elector_options_init(&options, sizeof options);
        options.priority = priority;
        std::uint64_t token = 0;
        const elector_status status =
            elector_campaign(handle.get(), group.c_str(), &options, timeout_ms, &token);
        if (status != ELECTOR_OK && status != ELECTOR_TIMEOUT) fail();
        return token;
    }
    bool is_leader(const std::string &group) const
    {
        return elector_is_leader(handle.get(), group.c_str());
    }
    void dispatch()
    {
        if (elector_dispatch(handle.get()) != ELECTOR_OK) fail();
    }

    std::function<void(const elector_event &)> on_event;

  private:
    struct Close {
        void operator()(elector *e) const
        {
            elector_close(e);
        }
    };
    [[noreturn]] void fail() const
    {
        throw std::runtime_error(elector_message(handle.get()));
    }
    static void call(void *context, const elector_event *event)
    {
        const auto &self = *static_cast<const Elector *>(context);
        if (self.on_event) self.on_event(*event);
    }

    std::unique_ptr<elector, Close> handle;
};

static void tell(const elector_event &event)
{
    if (event.type == ELECTOR_LOST_OFFICE) std::printf("lost: %s\n", elector_reason_name(event.reason));
}

int main()
{
    try {
        Elector elector;
        elector.on_event = tell;
        const std::uint64_t token = elector.campaign("jobs", -1);
        for (int job = 0; job < 3 && elector.is_leader("jobs"); job++) {
            std::printf("job %d under token %" PRIu64 "\n", job, token);
            elector.dispatch();
        }
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
    return 0;
}
