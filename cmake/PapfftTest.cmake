# SPDX-License-Identifier: MIT
# The three rings of tests (CONTRIBUTING.md). Sources are found by pattern, so a new test file needs no line here.
find_package(GTest REQUIRED)
include(GoogleTest)

set(PAPFFT_MPI_TEST_ENVIRONMENT
  PAPFFT_DECISIONS=off
  OMPI_MCA_coll_tuned_use_dynamic_rules=1
  OMP_NUM_THREADS=1
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_pml=ob1  # what Open MPI takes here anyway; to look at the others takes half of its start
  OMPI_MCA_btl=self,vader,tcp
  OMPI_MCA_btl_tcp_if_include=lo
  OMPI_MCA_oob_tcp_if_include=lo
  OMPI_MCA_btl_vader_single_copy_mechanism=none)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT PAPFFT_BASE_FROM)
  list(APPEND PAPFFT_MPI_TEST_ENVIRONMENT PAPFFT_TEST_LARGE=1)  # one message beyond 2 GiB, 7 GB of memory
endif()
if(PAPFFT_SANITIZE MATCHES "address")
  # Open MPI leaks at exit; leaks of our own code are looked for in the tests that need no MPI.
  list(APPEND PAPFFT_MPI_TEST_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()

# papfft_compile_tests(TARGET)    What tests do themselves need not be fast; what they test is, in libraries of its own.
function(papfft_compile_tests target)
  if(PAPFFT_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# papfft_compile_tests_together(TARGET)    Several sources at once (PapfftPrecompile.cmake), but for those of the program, which name alike
# what is alike.
function(papfft_compile_tests_together target)
  papfft_compile_together(${target})
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "/app/|/tests/support/")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# papfft_add_test(NAME SOURCES files LINK targets [LABEL label] [TIMEOUT seconds])    one process, one ctest entry per TEST
function(papfft_add_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE papfft_options GTest::gmock GTest::gtest_main Threads::Threads ${ARG_LINK})
  papfft_compile_tests(${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
endfunction()

# papfft_add_mpi_test(NAME SOURCES files LINK targets RANKS 1 2 3 ... [TIMEOUT seconds])    one ctest entry per rank count
function(papfft_add_mpi_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;RANKS" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/support/mpi_main.cpp)
  target_link_libraries(${name} PRIVATE papfft_options GTest::gmock GTest::gtest papfft_mpi_c ${ARG_LINK})
  papfft_compile_tests(${name})
  foreach(n IN LISTS ARG_RANKS)
    add_test(NAME ${name}.np${n} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n} --bind-to none
                                         $<TARGET_FILE:${name}>)
    set_tests_properties(${name}.np${n} PROPERTIES LABELS "mpi;np${n}" PROCESSORS ${n} TIMEOUT ${ARG_TIMEOUT}
      ENVIRONMENT "${PAPFFT_MPI_TEST_ENVIRONMENT}")
  endforeach()
endfunction()
