# SPDX-License-Identifier: MIT
# Precompiled headers. Most sources take longer to read the standard library's headers than to compile their own code, so each
# library reads these headers once. They change nothing that is compiled: each source still includes what it uses, and clang-tidy,
# which is run without precompiled headers, shows where one does not.
set(default OFF)
# With ccache every object would depend on the whole precompiled header.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(default ON)
endif()
option(PAPFFT_PRECOMPILE "Read the standard library's headers once per library" ${default})

set(PAPFFT_STANDARD_HEADERS
  <algorithm> <array> <atomic> <bit> <chrono> <cmath> <complex> <cstdint> <functional> <limits> <map> <memory> <mutex> <numeric> <optional>
  <set> <span> <stdexcept> <string> <string_view> <tuple> <type_traits> <utility> <vector>)

# papfft_precompile(TARGET [HEADER ...])    the standard library's headers, and these
function(papfft_precompile target)
  if(PAPFFT_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${PAPFFT_STANDARD_HEADERS} ${ARGN})
  endif()
endfunction()

# papfft_precompile_as(TARGET OTHER)    what OTHER has; both must have the same compile options
function(papfft_precompile_as target other)
  if(PAPFFT_PRECOMPILE AND NOT target STREQUAL other)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()
