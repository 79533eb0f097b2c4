# SPDX-License-Identifier: MIT
# `cpack` in the build folder makes papfft_VERSION_ARCHITECTURE.deb of what `cmake --install` gives. make_deb_documents.sh adds what Debian's
# policy asks for. One package, since whoever runs the program on a cluster compiles there, too.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME papfft)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "papfft authors <papfft@users.noreply.github.com>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PapfftDebDocuments.cmake)
set(CPACK_PAPFFT_SOURCE ${PROJECT_SOURCE_DIR})  # for that script

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Fourier transforms and collectives for processes that arrive apart
 papfft transforms recordings with many processes under MPI. It gives MPI
 programs collective operations that use the time in which early processes
 wait for late ones. A library for LD_PRELOAD brings these operations to
 programs that nobody rewrites.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/comm ${PROJECT_BINARY_DIR}/fft)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "openmpi-bin, python3:any")
# What compiles with the headers, what the virtual cluster and its Slurm run, and the pictures' font.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenmpi-dev, libfftw3-dev, fonts-dejavu-core, iproute2")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "slurm-client, slurmctld, slurmd, munge, environment-modules | lmod")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# The sources as they are committed: `cmake --build . --target dist`. What comes out needs no git.
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  set(archive ${PROJECT_BINARY_DIR}/papfft-${PROJECT_VERSION}.tar.gz)
  add_custom_target(dist
    COMMAND ${GIT_EXECUTABLE} archive --format=tar.gz --prefix=papfft-${PROJECT_VERSION}/ --output=${archive} HEAD
    COMMAND ${CMAKE_COMMAND} -E echo ${archive}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()
include(CPack)
