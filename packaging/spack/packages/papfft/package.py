# SPDX-License-Identifier: MIT
# Untested. Put the folder spack/ of this file beside your own repositories: spack repo add packaging/spack
from spack.package import *


class Papfft(CMakePackage):
    """Fourier transforms by many processes, and collective operations for MPI processes that do not arrive together."""

    # The archive of `cmake --build build/release --target dist`, in the folder from which spack is started.
    url = "file:///tmp/papfft-1.0.0.tar.gz"

    version("1.0.0")  # add sha256="..." of your archive, or install with --no-checksum

    variant("app", default=True, description="Build the program and the library for transforms, which link FFTW (GPL-2+)")
    variant("shared", default=True, description="Install shared libraries beside the static ones")

    depends_on("cmake@3.25:", type="build")
    depends_on("openmpi@4.1:4")
    with when("+app"):
        depends_on("pkgconfig", type="build")
        depends_on("fftw@3.3: precision=float,double +openmp")
        depends_on("libsndfile")
        depends_on("cairo+png")
        depends_on("libpng")
        depends_on("nlohmann-json@3.11:")
        depends_on("cli11@2:")
        depends_on("fmt@9")
        depends_on("boost", type="build")

    def cmake_args(self):
        return [
            self.define_from_variant("PAPFFT_BUILD_APP", "app"),
            self.define_from_variant("PAPFFT_SHARED", "shared"),
            self.define("PAPFFT_BUILD_TESTS", False),
        ]

    def setup_run_environment(self, env):
        env.set("PAPFFT_PRELOAD_LIBRARY", join_path(self.prefix.lib, "libpapfft_mpi.so"))
