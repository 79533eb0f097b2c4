# SPDX-License-Identifier: MIT
# Run by cpack on the tree that it is about to pack: what Debian's policy asks of a package's documents.
execute_process(COMMAND ${CPACK_PAPFFT_SOURCE}/cmake/make_deb_documents.sh ${CPACK_PAPFFT_SOURCE}
  ${CPACK_TEMPORARY_DIRECTORY}/${CPACK_PACKAGING_INSTALL_PREFIX} ${CPACK_PACKAGE_VERSION} ${CPACK_PACKAGE_CONTACT} COMMAND_ERROR_IS_FATAL ANY)
