#include "miniapp/base/program.hpp"

#include "miniapp/base/error.hpp"

#include <chrono>
#include <iostream>
#include <new>
#include <thread>

namespace nunatak {

int status_of(const std::string& program, const std::function<int()>& run) {
  const World world;
  const auto report = [&](const std::exception& error) {
    if (world.rank() == 0) std::cerr << program << ": error: " << error.what() << std::endl;
    return 1;
  };
  try {
    return run();
  } catch (const Error& error) {
    return report(error);
  } catch (const std::invalid_argument& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    std::cerr << program << ": error: rank " << world.rank() << ": expected memory, found none" << std::endl;
    world.abort();
  } catch (const std::exception& error) {
    // if all have failed alike, the abort of rank 0 comes before the others repeat what it says
    if (world.rank() > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
    std::cerr << program << ": error: rank " << world.rank() << ": " << error.what() << std::endl;
    world.abort();
  }
}

} // namespace nunatak
