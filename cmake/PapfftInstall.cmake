# SPDX-License-Identifier: MIT
# What `cmake --install` gives: headers, libraries, shared and static, the CMake package (papfft::comm, papfft::fft), pkg-config files, and
# with PAPFFT_BUILD_APP the program with its manual pages and completion.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(PAPFFT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/papfft)
set(PAPFFT_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# From the .pc files' folder up to the prefix, so that the installed tree can be moved.
file(RELATIVE_PATH PAPFFT_PC_UP /prefix/${PAPFFT_PC_DIR} /prefix)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/papfft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  PATTERN fft.hpp EXCLUDE PATTERN direction.hpp EXCLUDE)

# The manuals, in folders as in the source tree, so that links between them lead somewhere (tests/install/links.py).
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/app/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/app)
file(GLOB readmes CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/*/README.md ${PROJECT_SOURCE_DIR}/comm/*/README.md ${PROJECT_SOURCE_DIR}/fft/*/README.md
  ${PROJECT_SOURCE_DIR}/app/*/README.md)
foreach(readme IN LISTS readmes)
  cmake_path(GET readme PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${readme} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# papfft_install_library(NAME [TARGET ...]): papfft::NAME_static and papfft::NAME_shared, with these targets that they need.
function(papfft_install_library name)
  set_target_properties(papfft_${name} PROPERTIES EXPORT_NAME ${name}_static)
  set(targets ${ARGN} papfft_${name})
  if(PAPFFT_SHARED)
    set_target_properties(papfft_${name}_shared PROPERTIES EXPORT_NAME ${name}_shared)
    list(APPEND targets papfft_${name}_shared)
  endif()
  install(TARGETS ${targets} EXPORT papfft-${name} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT papfft-${name} NAMESPACE papfft:: DESTINATION ${PAPFFT_CMAKE_DIR})
endfunction()

set_target_properties(papfft_mpi_c PROPERTIES EXPORT_NAME mpi_c)
papfft_install_library(comm papfft_mpi_c)
install(TARGETS papfft_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_file(cmake/papfft-preload.module.in papfft-preload @ONLY)
configure_file(cmake/papfft.module.in papfft.module @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/papfft-preload DESTINATION share/papfft/modulefiles)
install(FILES ${CMAKE_BINARY_DIR}/papfft.module DESTINATION share/papfft/modulefiles RENAME papfft)
foreach(name comm pat)
  configure_file(cmake/papfft-${name}.pc.in papfft-${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/papfft-${name}.pc DESTINATION ${PAPFFT_PC_DIR})
endforeach()

configure_package_config_file(cmake/papfft-config.cmake.in ${CMAKE_BINARY_DIR}/papfft-config.cmake
  INSTALL_DESTINATION ${PAPFFT_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/papfft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/papfft-config.cmake ${CMAKE_BINARY_DIR}/papfft-config-version.cmake
  DESTINATION ${PAPFFT_CMAKE_DIR})

if(NOT PAPFFT_BUILD_APP)
  return()
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)  # for the flags in papfft-fft.pc
install(FILES ${PROJECT_SOURCE_DIR}/include/papfft/fft.hpp ${PROJECT_SOURCE_DIR}/include/papfft/direction.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/papfft)
papfft_install_library(fft)
configure_file(cmake/papfft-fft.pc.in papfft-fft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/papfft-fft.pc DESTINATION ${PAPFFT_PC_DIR})

install(TARGETS papfft)
# Not CMAKE_INSTALL_LIBEXECDIR: the program looks for the scripts in ../libexec/papfft.
install(PROGRAMS app/cluster/papfft-cluster scripts/smpi_selectors.py DESTINATION libexec/papfft)
# Not CMAKE_INSTALL_DATADIR, for the same reason.
install(DIRECTORY app/experiments DESTINATION share/papfft FILES_MATCHING PATTERN "*.json")
install(DIRECTORY data/platforms DESTINATION share/papfft FILES_MATCHING PATTERN "*.xml")
if(TARGET papfft_simgrid_module)
  install(TARGETS papfft_simgrid_module LIBRARY DESTINATION libexec/papfft)
endif()
install(FILES app/completion/papfft.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME papfft)

# Manual pages are the program's own --help, so they cannot be outdated; they need a program that runs here.
if(NOT CMAKE_CROSSCOMPILING AND NOT PAPFFT_SANITIZE)
  set(stamp ${CMAKE_BINARY_DIR}/man/stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/man
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/make_man_pages.sh $<TARGET_FILE:papfft> ${CMAKE_BINARY_DIR}/man/man1
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS papfft ${PROJECT_SOURCE_DIR}/cmake/make_man_pages.sh ${PROJECT_SOURCE_DIR}/app/cluster/papfft-cluster
    COMMENT "Manual pages" VERBATIM)
  add_custom_target(papfft_man ALL DEPENDS ${stamp})
  install(DIRECTORY ${CMAKE_BINARY_DIR}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
