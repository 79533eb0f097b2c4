! SPDX-License-Identifier: MIT
! Collectives by the interface of Fortran 2008, with MPI_IN_PLACE.
program fortran_f08
  use mpi_f08
  implicit none
  integer, parameter :: n = 150000
  double precision :: x(n), y(n), whole(3 * n)
  integer :: rank, ranks, ierr, i, wrong

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  wrong = 0

  x = dble(rank)
  call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  wrong = wrong + count(x /= dble(ranks * (ranks - 1) / 2))
  x = dble(rank)
  call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  wrong = wrong + count(y /= dble(ranks - 1))
  call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, ierr)
  wrong = wrong + count(x /= dble(ranks - 1))

  x = dble(rank)
  if (ranks > 3) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  whole = -1
  if (rank == 0) then
    whole(1:n) = x
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DOUBLE_PRECISION, whole, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, ranks
      wrong = wrong + count(whole((i - 1) * n + 1:i * n) /= dble(i - 1))
    end do
  else
    call MPI_Gather(x, n, MPI_DOUBLE_PRECISION, whole, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Finalize(ierr)
  if (wrong > 0) then
    print *, 'rank', rank, ':', wrong, 'wrong values'
    stop 1
  end if
end program
