! SPDX-License-Identifier: MIT
! Usage: mpirun -n N histogram [ROUNDS [US_PER_1000_EVENTS]]
! A map-reduce of large histograms, with mpi_f08. Knows nothing of papfft.
!
! In each round every rank reads a file of events, long or short, and counts them in 1024 x 1024 bins of two coordinates: 8 MiB of counts, which
! rank 0 gets from all ranks by MPI_Reduce. The events' energies are added up in 512 x 1024 coarser bins: 4 MiB, which all ranks need for the
! next round and get by MPI_Allreduce. In the end rank 0 checks the number of events, which bins they are in, and all energies.
!
! On the virtual cluster, whose hosts share the cores of one machine, the time of reading is slept:
!   papfft cluster run -n 8 -- env LD_PRELOAD=$(papfft preload --path) PAPFFT_THREAD=multiple histogram 20 1000
program histogram
  use mpi_f08
  use iso_fortran_env, only: int64, real64
  use iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  integer, parameter :: bins = 1024 * 1024, coarse_bins = 512 * 1024
  integer(int64), allocatable :: counts(:), all_counts(:), kept(:)
  real(real64), allocatable :: energies(:), scale(:)
  ! What this rank has seen: events, their bins added up, their energies
  integer(int64) :: seen(2), all_seen(2), state
  real(real64) :: energy, all_energy, from, took
  integer :: rank, ranks, rounds, round, us_per_1000, wrong, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  rounds = argument(1, 5)
  us_per_1000 = argument(2, 0)
  allocate (counts(bins), all_counts(bins), kept(bins), energies(coarse_bins), scale(coarse_bins))
  kept = 0
  scale = 1
  seen = 0
  energy = 0
  wrong = 0
  state = 12345 + 1000 * int(rank, int64)
  call MPI_Barrier(MPI_COMM_WORLD)
  from = MPI_Wtime()
  do round = 1, rounds
    call map(events_of(rank, round))
    call MPI_Reduce(counts, all_counts, bins, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) kept = kept + all_counts
    call MPI_Allreduce(MPI_IN_PLACE, energies, coarse_bins, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    scale = energies  ! what a refined map would use
    all_energy = sum(energies)
    call check_energy
  end do
  took = MPI_Wtime() - from
  call MPI_Reduce(seen, all_seen, 2, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    if (sum(kept) /= all_seen(1)) wrong = wrong + 1
    if (sum([(kept(i) * i, i = 1, bins)]) /= all_seen(2)) wrong = wrong + 1
    print '(a,i0,a,i0,a,es18.11)', 'events ', all_seen(1), ', their bins ', all_seen(2), ', energy of the last round ', all_energy
    print '(a,f0.3,a,f0.3,a)', 'mean round ', 1000 * took / rounds, ' ms, all ', took, ' s'
  end if
  call MPI_Finalize()
  if (wrong > 0) then
    print *, 'rank', rank, ':', wrong, 'wrong results'
    stop 1
  end if

contains

  integer function argument(position, default)
    integer, intent(in) :: position, default
    character(len=32) :: word
    argument = default
    if (command_argument_count() < position) return
    call get_command_argument(position, word)
    read (word, *) argument
  end function

  !> Each rank has files of its own length, which differ a little from round to round.
  integer function events_of(rank, round)
    integer, intent(in) :: rank, round
    events_of = 2000 + int(60000 * modulo(0.37 + 0.618 * rank, 1.0)) + modulo(1009 * (rank + 3 * round), 2000)
  end function

  !> A number from 0 to 1, whose upper digits are random enough.
  real(real64) function random()
    state = iand(state * 1103515245_int64 + 12345_int64, 2147483647_int64)
    random = real(ishft(state, -7), real64) / 16777216
  end function

  subroutine map(events)
    integer, intent(in) :: events
    integer :: event, x, y, bin, ignored
    real(real64) :: of_event
    counts = 0
    energies = 0
    energy = 0
    ignored = usleep(int(int(events, int64) * us_per_1000 / 1000, c_int))
    do event = 1, events
      x = int(512 * (random() + random()))
      y = int(1024 * random() ** 2)
      bin = 1024 * y + x + 1
      of_event = 1 + random()
      counts(bin) = counts(bin) + 1
      energies((bin + 1) / 2) = energies((bin + 1) / 2) + of_event
      seen = seen + [1_int64, int(bin, int64)]
      energy = energy + of_event
    end do
  end subroutine

  !> What all bins have is what all ranks have added, but for rounding.
  subroutine check_energy
    real(real64) :: expected
    call MPI_Allreduce(energy, expected, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (abs(all_energy - expected) > 1e-9 * expected) wrong = wrong + 1
  end subroutine
end program
