// SPDX-License-Identifier: MIT
#include "app/io/errors.hpp"

#include <fmt/core.h>

#include <system_error>

#include "app/io/clean_text.hpp"

namespace papfft::app::io {

DataError::DataError(std::string_view file, std::string_view problem)
    : std::runtime_error(clean_text(fmt::format("{}: {}", file, problem))) {}

OutputError::OutputError(std::string_view file, std::string_view problem)
    : std::runtime_error(clean_text(fmt::format("cannot write {}: {}", file, problem))) {}

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace papfft::app::io
