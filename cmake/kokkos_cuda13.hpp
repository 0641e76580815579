// Kokkos 4.7.00 is older than CUDA 13, which changed the arguments of two functions that Kokkos
// calls. These are the old ones, in terms of the new. NunatakKokkos.cmake has this file read before
// every source when Kokkos is built with CUDA.
#pragma once

#include <cuda_runtime_api.h>

#if defined(__cplusplus) && CUDART_VERSION >= 13000
inline cudaError_t cudaMemPrefetchAsync(const void* data, size_t bytes, int device,
                                        cudaStream_t stream) {
  cudaMemLocation where{};
  where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  where.id = device;
  return cudaMemPrefetchAsync(data, bytes, where, 0, stream);
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, size_t n) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, n);
}
#endif
