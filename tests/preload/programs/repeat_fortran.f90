! SPDX-License-Identifier: MIT
! Usage: mpirun -n N repeat_fortran [bcast|reduce|allreduce|gather [BYTES [ROUNDS [MOST_DELAY_MS]]]]
! What tests/preload/repeat.c does, in Fortran 90: the ranks compute, each for a time of its own, and call a collective, again and again.
! Prints the median over the rounds of the time from the first arrival to the last rank's end, and checks the results. Knows nothing of papfft.
program repeat_fortran
  use mpi
  use iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  character(len=32) :: operation
  integer :: bytes, rounds, n, rank, ranks, round, wrong, i, ignored, ierr
  double precision, allocatable :: mine(:), got(:), times(:)
  double precision :: most_delay_ms, delay_ms, from, took, total

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call read_arguments
  n = bytes / 8
  if (operation == 'gather') n = n / ranks
  allocate (mine(n), times(rounds))
  allocate (got(merge(n * ranks, n, operation == 'gather' .and. rank == 0)))
  delay_ms = most_delay_ms * modulo(0.37d0 + 0.618d0 * rank, 1d0)
  wrong = 0
  do round = 1, rounds
    mine = rank + round
    total = ranks * (ranks - 1) / 2 + dble(ranks) * round
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    from = MPI_Wtime()
    ignored = usleep(int(1000 * delay_ms, c_int))
    select case (operation)
    case ('bcast')
      call MPI_Bcast(mine, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      wrong = wrong + count(mine /= round)
    case ('reduce')
      call MPI_Reduce(mine, got, n, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      if (rank == 0) wrong = wrong + count(got /= total)
    case ('allreduce')
      call MPI_Allreduce(mine, got, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
      wrong = wrong + count(got /= total)
    case ('gather')
      call MPI_Gather(mine, n, MPI_DOUBLE_PRECISION, got, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      do i = 0, merge(ranks, 0, rank == 0) - 1
        wrong = wrong + count(got(i * n + 1:(i + 1) * n) /= i + round)
      end do
    end select
    took = MPI_Wtime() - from
    call MPI_Allreduce(took, times(round), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  end do
  if (rank == 0) print '(a,a,i0,a,i0,a,f0.3,a)', trim(operation), ' of ', bytes, ' bytes on ', ranks, ' ranks: median ', &
    1000 * median(times), ' ms'
  call MPI_Finalize(ierr)
  if (wrong > 0) then
    print *, 'rank', rank, ':', wrong, 'wrong values'
    stop 1
  end if

contains

  subroutine read_arguments
    character(len=32) :: word
    operation = 'bcast'
    bytes = 1048576
    rounds = 10
    most_delay_ms = 0
    if (command_argument_count() >= 1) call get_command_argument(1, operation)
    if (command_argument_count() >= 2) then
      call get_command_argument(2, word)
      read (word, *) bytes
    end if
    if (command_argument_count() >= 3) then
      call get_command_argument(3, word)
      read (word, *) rounds
    end if
    if (command_argument_count() >= 4) then
      call get_command_argument(4, word)
      read (word, *) most_delay_ms
    end if
  end subroutine

  !> The least value that is at least as large as half of the values.
  double precision function median(values)
    double precision, intent(in) :: values(:)
    integer :: k
    median = huge(median)
    do k = 1, size(values)
      if (2 * count(values <= values(k)) > size(values)) median = min(median, values(k))
    end do
  end function
end program
