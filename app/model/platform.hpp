// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>

#include "comm/model/platform.hpp"

namespace papfft::app {

/// @param file  a path; a name without folder that is no file here is looked for among the platforms that come with the program
/// @return      the path; `file` itself, if there is none of that name
[[nodiscard]] std::string find_platform(const std::string& file);

/// Loads the SimGrid back end, which is a module beside the program (or in ../libexec/papfft of an installed one), and with it a
/// platform.
/// @param file  as for find_platform
/// @throws UsageError     this program was built without SimGrid
/// @throws io::DataError  the file cannot be used
[[nodiscard]] std::unique_ptr<comm::Platform> open_platform(const std::string& file,
                                                            comm::NetworkModel model);

}  // namespace papfft::app
