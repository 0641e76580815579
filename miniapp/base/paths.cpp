#include "miniapp/base/paths.hpp"

#include "miniapp/base/error.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace nunatak {

void require_writable(MPI_Comm comm, const std::string& option, const std::string& path) {
  if (path.empty()) return;
  enum { fine, no_folder, is_folder };
  int rank = 0, found = fine;
  MPI_Comm_rank(comm, &rank);
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  if (rank == 0) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
      found = is_folder;
    } else if (access(folder.c_str(), W_OK | X_OK) != 0) {
      found = no_folder;
    }
  }
  MPI_Bcast(&found, 1, MPI_INT, 0, comm);
  if (found == no_folder)
    throw Error("option " + option + ": cannot write '" + path + "': no such folder, or no permission to write in '" + folder +
                "'");
  if (found == is_folder) throw Error("option " + option + ": cannot write '" + path + "': expected a file, found a folder");
}

} // namespace nunatak
