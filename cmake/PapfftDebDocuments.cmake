# SPDX-License-Identifier: MIT
# Run by cpack on the tree that it is about to pack: what Debian's policy asks of a package's documents.
file(GLOB roots ${CPACK_TEMPORARY_DIRECTORY}/usr)
execute_process(COMMAND ${CPACK_PAPFFT_SOURCE}/cmake/make_deb_documents.sh ${CPACK_PAPFFT_SOURCE} ${roots} ${CPACK_PACKAGE_VERSION}
  "${CPACK_PACKAGE_CONTACT}" COMMAND_ERROR_IS_FATAL ANY)
