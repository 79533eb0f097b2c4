# SPDX-License-Identifier: MIT
# Compile options shared by all of this project's targets: link `papfft_options` PRIVATE.
add_library(papfft_options INTERFACE)
target_include_directories(papfft_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_options(papfft_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives in std::string concatenation (GCC bug 105651, mended in 13).
  set(PAPFFT_GCC_BUG_105651 ON)
  target_compile_options(papfft_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(PAPFFT_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # What a sanitizer has instrumented cannot be vectorised, and clang says so at every "omp simd".
  target_compile_options(papfft_options INTERFACE -Wno-pass-failed)
endif()
if(PAPFFT_WERROR)
  target_compile_options(papfft_options INTERFACE -Werror)
endif()

if(PAPFFT_SANITIZE)
  add_compile_options(-fsanitize=${PAPFFT_SANITIZE} -fno-omit-frame-pointer -O1 -g)
  add_link_options(-fsanitize=${PAPFFT_SANITIZE})
  if(PAPFFT_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
