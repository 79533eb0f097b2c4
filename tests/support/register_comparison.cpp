// SPDX-License-Identifier: MIT
// A test program that is linked with this knows the planners for comparison before its parameters are made.
#include "app/comparison/comparison.hpp"

namespace {

[[maybe_unused]] const bool kRegistered = (papfft::comm::register_comparison_algorithms(), true);

}  // namespace
