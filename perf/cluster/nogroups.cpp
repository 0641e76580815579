// Preloaded into Slurm's daemons on an emulated cluster of an ordinary user: its user namespace has
// no groups to drop.
//
// Linux refuses setgroups() there, and Slurm ends. Here the calls say that all is well and do
// nothing.
#include <grp.h>
#include <sys/types.h>

extern "C" int setgroups(size_t, const gid_t*) noexcept { return 0; }
extern "C" int initgroups(const char*, gid_t) { return 0; }
