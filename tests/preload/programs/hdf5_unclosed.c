/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N hdf5_unclosed write FILE
 *        hdf5_unclosed check FILE
 * All ranks write 4 MiB each into one data set of an HDF5 file, and attributes beside it. Nobody closes the file: HDF5 does that in a callback
 * of MPI_COMM_SELF that MPI_Finalize runs, and communicates there. `check` reads the file and prints the sum. Knows nothing of papfft. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1 << 19 };

static int fail(const char* what) {
  fprintf(stderr, "hdf5_unclosed: %s\n", what);
  return 1;
}

static int write_file(const char* name) {
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (file < 0) return fail("the file cannot be created");
  const hsize_t whole = (hsize_t)ranks * kCount;
  const hsize_t mine = kCount;
  const hsize_t from = (hsize_t)rank * kCount;
  const hid_t space = H5Screate_simple(1, &whole, NULL);
  const hid_t set =
      H5Dcreate2(file, "numbers", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &mine, NULL);
  const hid_t part = H5Screate_simple(1, &mine, NULL);
  double* numbers = malloc(kCount * sizeof *numbers);
  for (int i = 0; i < kCount; ++i) numbers[i] = rank + i % 1000;
  const hid_t together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  if (H5Dwrite(set, H5T_NATIVE_DOUBLE, part, space, together, numbers) < 0)
    return fail("the data cannot be written");
  for (int i = 0; i < 50; ++i) {
    char attribute[16];
    snprintf(attribute, sizeof attribute, "attribute%d", i);
    const hid_t one = H5Screate(H5S_SCALAR);
    const hid_t made = H5Acreate2(set, attribute, H5T_NATIVE_INT, one, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Awrite(made, H5T_NATIVE_INT, &i) < 0) return fail("an attribute cannot be written");
    H5Aclose(made);
    H5Sclose(one);
  }
  free(numbers);
  return 0;
}

static int check_file(const char* name) {
  const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return fail("the file cannot be opened");
  const hid_t set = H5Dopen2(file, "numbers", H5P_DEFAULT);
  const hid_t space = H5Dget_space(set);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  double* numbers = malloc((size_t)count * sizeof *numbers);
  if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0)
    return fail("the data cannot be read");
  if (H5Aexists(set, "attribute49") <= 0) return fail("the last attribute is missing");
  double sum = 0;
  for (hssize_t i = 0; i < count; ++i) sum += numbers[i] * (double)(1 + i % 7);
  printf("sum %.0f\n", sum);
  free(numbers);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return fail("usage: hdf5_unclosed write|check FILE");
  MPI_Init(&argc, &argv);
  const int code = strcmp(argv[1], "write") == 0 ? write_file(argv[2]) : check_file(argv[2]);
  MPI_Finalize();
  return code;
}
