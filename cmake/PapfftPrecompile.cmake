# SPDX-License-Identifier: MIT
# Precompiled headers. Most sources take longer to read the standard library's headers than to compile their own code, so each
# library reads these headers once. They change nothing that is compiled: each source still includes what it uses, and clang-tidy,
# which ./test.sh --long runs without precompiled headers and source by source, shows where one does not.
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

# Some sources in one. The standard library's templates, which they all instantiate, are then compiled once: a whole build of what does
# so takes half the time, and a change of one source compiles its neighbours again. Sources of one target must not define one name
# in their anonymous namespaces twice.
option(PAPFFT_UNITY "Compile several sources at once" ON)

# papfft_compile_together(TARGET)
function(papfft_compile_together target)
  if(PAPFFT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # GCC takes all of these sources for headers, and warns of classes that have members of their source's own types.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()
