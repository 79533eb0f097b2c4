// SPDX-License-Identifier: MIT
#include "fft/engines/parallel_fft.hpp"

#include <cstdint>
#include <span>

namespace papfft::fft {

template <typename T>
ParallelFft<T>::ParallelFft(comm::Collectives& comm, const ParallelPlan& plan)
    : comm_(comm), plan_(plan), transform_(plan, comm.rank(), comm.size()) {
  if (comm.rank() == 0) whole_ = Buffer<Complex>(transform_.parts() * block_length());
  block_ = Buffer<Complex>(block_length());
}

template <typename T>
template <typename In, typename Out>
void ParallelFft<T>::run(const In* in, Out* out) {
  const bool root = comm_.rank() == 0;
  const std::uint64_t moved_bytes = root ? (transform_.parts() - 1) * block_length() * sizeof(Complex) : 0;
  const std::span<Complex> block(block_.data(), block_length());
  const std::span<Complex> whole(whole_.data(), whole_.size());
  if (root) {
    const Timer timer(times_.split_s, observer_, "split");
    transform_.split(in, transform_.blocks_of(whole_.data()));
  }
  {
    const Timer timer(times_.scatter_s, observer_, "scatter");
    comm_.scatter<Complex>(whole, block, 0, plan_.scatter);
    times_.bytes_scattered += moved_bytes;
  }
  {
    const Timer timer(times_.compute_s);
    transform_.compute(block.data(), block.data(), observer_);
  }
  {
    const Timer timer(times_.gather_s, observer_, "gather");
    comm_.gather<Complex>(block, whole, 0, plan_.gather);
    times_.bytes_gathered += moved_bytes;
    if (observer_ != nullptr) observer_->gather_ends();
  }
  if (root) {
    const Timer timer(times_.assemble_s, observer_, "assemble");
    transform_.assemble(transform_.template blocks_of<const Complex*>(whole_.data()), out);
  }
}

template class ParallelFft<float>;
template class ParallelFft<double>;
template void ParallelFft<float>::run(const std::complex<float>*, std::complex<float>*);
template void ParallelFft<float>::run(const float*, std::complex<float>*);
template void ParallelFft<float>::run(const std::complex<float>*, float*);
template void ParallelFft<double>::run(const std::complex<double>*, std::complex<double>*);
template void ParallelFft<double>::run(const double*, std::complex<double>*);
template void ParallelFft<double>::run(const std::complex<double>*, double*);

}  // namespace papfft::fft
