#include "miniapp/base/paths.hpp"

#include "miniapp/base/error.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace nunatak {

void require_writable(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  const std::string what = "option " + option + ": cannot write '" + path + "': ";
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) throw Error(what + "expected a file, found a folder");
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(what + "no such folder, or no permission to write in '" + folder + "'");
}

} // namespace nunatak
