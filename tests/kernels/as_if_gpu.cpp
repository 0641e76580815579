// What would go wrong on a GPU, on a machine without one. Where loops run on a GPU they return
// before they are done, and host code fences before it touches an array (kernels/grid/array.hpp).
// On a CPU none of it shows. This library, loaded into a program twice over,
//
//   LD_PRELOAD=libas_if_gpu.so KOKKOS_TOOLS_LIBS=libas_if_gpu.so nunatak ...
//
// gives Views pages of their own and protects them from the end of a loop to the next fence, copy
// between Views or loop: a host access that comes too early ends the program with status 86 and
// names the View and the loop. With AS_IF_GPU_DEVICE_MEMORY=1, for programs built with
// -DNUNATAK_DEVICE_MEMORY=ON (kernels/grid/memory.hpp), the host may access only Views whose label
// begins with "shared: ". One thread (Serial): whether a loop runs shows which side faulted.
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>

namespace {

constexpr std::size_t
    page = 4096,
    header = 128; ///< Kokkos writes as many bytes before the values of a View: not the program's
constexpr std::size_t reserved = std::size_t{1} << 36;
constexpr int status = 86;

enum class Now { host, device, not_fenced }; ///< who may touch Views: none while not_fenced

template <class F> F* next_function(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

/// The memory of all Views: blocks of pages, each after a page that ends with the header.
class Arena {
public:
  static Arena& get() {
    static Arena* arena = new Arena; // never destroyed: Views may outlive it
    return *arena;
  }

  void* allocate(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    const std::size_t pages = 1 + (bytes + page - 1) / page;
    char* first = m_begin + m_used;
    const auto old = m_free.find(pages);
    if (old != m_free.end()) {
      first = old->second;
      m_free.erase(old);
    } else if (m_used + pages * page > reserved) {
      return nullptr;
    } else {
      m_used += pages * page;
    }
    mprotect(first, pages * page, PROT_READ | PROT_WRITE);
    if (m_device_memory && m_now == Now::host)
      mprotect(first + page, (pages - 1) * page, PROT_NONE);
    m_blocks[first] = {pages, "shared: no View yet"};
    return first + page - header;
  }
  void free(void* at) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    const auto block = m_blocks.find(static_cast<char*>(at) - (page - header));
    if (block == m_blocks.end()) return;
    char* const first = block->first;
    mprotect(first, block->second.pages * page, PROT_READ | PROT_WRITE);
    madvise(first, block->second.pages * page, MADV_DONTNEED);
    m_free.emplace(block->second.pages, first);
    m_blocks.erase(block);
  }
  void name(const void* values, const char* label) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    const auto block = m_blocks.upper_bound(const_cast<char*>(static_cast<const char*>(values)));
    if (block != m_blocks.begin()) std::prev(block)->second.label = label;
  }

  void loop_begins(const char* label) {
    if (m_in_copy) return;
    m_loop = label;
    become(Now::device);
  }
  void loop_ends() {
    if (!m_in_copy) become(Now::not_fenced);
  }
  void fence() {
    if (!m_in_copy && m_now == Now::not_fenced) become(Now::host);
  }
  void copy(bool begins) {
    become(begins ? Now::device : Now::host);
    m_in_copy = begins;
  }

private:
  struct Block {
    std::size_t pages;
    std::string label;
  };

  Arena()
      : m_begin(static_cast<char*>(mmap(nullptr, reserved, PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    next_function<decltype(::sigaction)>("sigaction")(SIGSEGV, &action, nullptr);
    m_device_memory = std::getenv("AS_IF_GPU_DEVICE_MEMORY") != nullptr;
  }

  void become(Now now) {
    if (m_used == 0 || now == m_now) return;
    const bool none = now == Now::not_fenced || (now == Now::host && m_device_memory);
    mprotect(m_begin, m_used, none ? PROT_NONE : PROT_READ | PROT_WRITE);
    m_now = now;
  }

  static void on_fault(int signal, siginfo_t* info, void*) {
    if (get().touched(static_cast<char*>(info->si_addr))) return;
    next_function<decltype(::signal)>("signal")(signal, SIG_DFL); // not ours: it happens again
  }
  bool touched(char* at) {
    if (at < m_begin || at >= m_begin + reserved) return false;
    const auto after = m_blocks.upper_bound(at);
    if (after == m_blocks.begin()) return false;
    char* const first = std::prev(after)->first;
    Block& block = std::prev(after)->second;
    if (at >= first + block.pages * page) return false;
    char* const this_page = at - static_cast<std::size_t>(at - m_begin) % page;
    const bool of_kokkos = this_page == first; // the label
    const std::size_t byte = static_cast<std::size_t>(at - first) - page;
    if (m_now == Now::not_fenced && !of_kokkos)
      refuse("'%s' (byte %zu) after the loop '%s': expected a fence between them",
             block.label.c_str(), byte, m_loop.c_str());
    if (m_now == Now::host && m_device_memory && !of_kokkos &&
        block.label.compare(0, 8, "shared: ") != 0)
      refuse("'%s' (byte %zu), which only loops reach: expected a copy of it (on_host)",
             block.label.c_str(), byte);
    mprotect(this_page, page, PROT_READ | PROT_WRITE);
    return true;
  }
  template <class... Words> [[noreturn]] static void refuse(const char* format, Words... words) {
    std::fputs("as_if_gpu: the host touches ", stderr);
    std::fprintf(stderr, format, words...);
    std::fputs("\n", stderr);
    void* frames[32];
    backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
    _exit(status);
  }

  char* m_begin;
  std::size_t m_used = 0;
  Now m_now = Now::host;
  bool m_in_copy = false, m_device_memory = false;
  std::string m_loop;
  std::map<char*, Block> m_blocks;          ///< by their first page
  std::multimap<std::size_t, char*> m_free; ///< by the number of pages
  std::mutex m_mutex;
};

} // namespace

// What Kokkos allocates on the host, and nothing else in our programs, asks for an alignment.
void* operator new(std::size_t bytes, std::align_val_t, const std::nothrow_t&) noexcept {
  return Arena::get().allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t) {
  void* const at = Arena::get().allocate(bytes);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
void operator delete(void* at, std::align_val_t, const std::nothrow_t&) noexcept {
  Arena::get().free(at);
}
void operator delete(void* at, std::align_val_t) noexcept { Arena::get().free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { Arena::get().free(at); }

// PETSc has a handler of its own, which would come instead of ours.
extern "C" {
sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (number == SIGSEGV) return SIG_DFL;
  return next_function<decltype(::signal)>("signal")(number, handler);
}
int sigaction(int number, const struct sigaction* action, struct sigaction* old) noexcept {
  if (number == SIGSEGV) action = nullptr;
  return next_function<decltype(::sigaction)>("sigaction")(number, action, old);
}
}

// Called by Kokkos.
extern "C" {
struct Space {
  char name[64];
};
struct Settings {
  bool requires_global_fencing;
  bool padding[255];
};
void kokkosp_request_tool_settings(std::uint32_t, Settings* settings) {
  settings->requires_global_fencing = false;
}
void kokkosp_allocate_data(Space, const char* label, const void* values, std::uint64_t) {
  Arena::get().name(values, label);
}

void kokkosp_begin_parallel_for(const char* label, std::uint32_t, std::uint64_t*) {
  Arena::get().loop_begins(label);
}
void kokkosp_begin_parallel_reduce(const char* label, std::uint32_t, std::uint64_t*) {
  Arena::get().loop_begins(label);
}
void kokkosp_begin_parallel_scan(const char* label, std::uint32_t, std::uint64_t*) {
  Arena::get().loop_begins(label);
}
void kokkosp_end_parallel_for(std::uint64_t) { Arena::get().loop_ends(); }
void kokkosp_end_parallel_reduce(std::uint64_t) { Arena::get().loop_ends(); }
void kokkosp_end_parallel_scan(std::uint64_t) { Arena::get().loop_ends(); }

void kokkosp_begin_fence(const char*, std::uint32_t, std::uint64_t*) { Arena::get().fence(); }
void kokkosp_begin_deep_copy(Space, const char*, const void*, Space, const char*, const void*,
                             std::uint64_t) {
  Arena::get().copy(true);
}
void kokkosp_end_deep_copy() { Arena::get().copy(false); }
}
