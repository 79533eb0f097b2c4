# SPDX-License-Identifier: MIT
# Compile options shared by all of this project's targets: link `papfft_options` PRIVATE.
add_library(papfft_options INTERFACE)
target_include_directories(papfft_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_options(papfft_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives in std::string concatenation (GCC bug 105651, mended in 13). The last two come from precompiled headers, which
  # GCC takes for ours. What they would find, clang and the sanitizers find as well.
  set(PAPFFT_GCC_BUG_105651 ON)
  target_compile_options(papfft_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>)
endif()
if(PAPFFT_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # What a sanitizer has instrumented cannot be vectorised, and clang says so at every "omp simd".
  target_compile_options(papfft_options INTERFACE -Wno-pass-failed)
endif()
if(PAPFFT_WERROR)
  target_compile_options(papfft_options INTERFACE -Werror)
endif()

if(PAPFFT_SANITIZE)
  add_compile_definitions(PAPFFT_SANITIZED)
  # Of debug information, what a sanitizer's report shows.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(PAPFFT_LINE_NUMBERS -gline-tables-only)
  else()
    set(PAPFFT_LINE_NUMBERS -g1)
  endif()
  add_compile_options(-fsanitize=${PAPFFT_SANITIZE} -fno-omit-frame-pointer -O1 ${PAPFFT_LINE_NUMBERS})
  add_link_options(-fsanitize=${PAPFFT_SANITIZE})
  if(PAPFFT_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# Only what PAPFFT_API marks (include/papfft/export.h) leaves a shared library.
function(papfft_hide_symbols target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# papfft_shared_library(TARGET NAME MAP)    libNAME.so, its soname with the version. MAP hides what the standard library's
# templates leave in it, which are visible whatever the options say.
function(papfft_shared_library target name map)
  papfft_hide_symbols(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/${map})
  target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/${map})
  if(NOT PAPFFT_SANITIZE)  # whose functions are in the program
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
