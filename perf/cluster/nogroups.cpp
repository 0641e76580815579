// Preloaded into the Slurm daemons of an unprivileged user's emulated cluster. In its user
// namespace Linux refuses setgroups(), on which Slurm exits; these calls do nothing and succeed.
#include <grp.h>
#include <sys/types.h>

extern "C" int setgroups(size_t, const gid_t*) noexcept { return 0; }
extern "C" int initgroups(const char*, gid_t) { return 0; }
