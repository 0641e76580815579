! Runs a distance solver on the cases of a corpus; yours goes into `distance`. See docs/tutorials/distance-solver.md.
!   gfortran -O2 harness.f90 $(nf-config --fflags --flibs) -o harness
!   ./harness answers cases/*.nc                                               writes answers/*.nc, variable `distance`
program harness
  use netcdf
  implicit none
  character(1000) :: folder, path
  integer :: n, file, variable, dims(2), Mx, My
  integer, allocatable :: mask(:, :), d(:, :)

  call get_command_argument(1, folder)
  do n = 2, command_argument_count()
    call get_command_argument(n, path)
    call check(nf90_open(path, nf90_nowrite, file))
    call check(nf90_inq_varid(file, 'mask', variable))
    call check(nf90_inquire_variable(file, variable, dimids=dims)) ! in Fortran's order: x, y
    call check(nf90_inquire_dimension(file, dims(1), len=Mx))
    call check(nf90_inquire_dimension(file, dims(2), len=My))
    allocate (mask(Mx, My), d(Mx, My))
    call check(nf90_get_var(file, variable, mask))
    call check(nf90_close(file))
    call distance(Mx, My, mask, d)
    path = trim(folder)//'/'//path(index(path, '/', back=.true.) + 1:)
    call check(nf90_create(path, nf90_clobber, file))
    call check(nf90_def_dim(file, 'x', Mx, dims(1)))
    call check(nf90_def_dim(file, 'y', My, dims(2)))
    call check(nf90_def_var(file, 'distance', nf90_int, dims, variable))
    call check(nf90_enddef(file))
    call check(nf90_put_var(file, variable, d))
    call check(nf90_close(file))
    deallocate (mask, d)
  end do

contains

  subroutine check(status)
    integer, intent(in) :: status
    if (status == nf90_noerr) return
    print '(4a)', "harness: file '", trim(path), "': ", trim(nf90_strerror(status))
    stop 2
  end subroutine check

  ! mask: 1 seed, 0 other cells of the domain, -1 outside. d: 1 at seeds, 2 at their neighbours, ..., 0 where no seed reaches, -1
  ! outside. The example passes over the grid once for each level.
  subroutine distance(Mx, My, mask, d)
    integer, intent(in) :: Mx, My, mask(Mx, My)
    integer, intent(out) :: d(Mx, My)
    integer :: level, v(0:Mx + 1, 0:My + 1)
    v = -1
    v(1:Mx, 1:My) = mask
    do level = 1, Mx*My
      if (.not. any(v == level)) exit
      where (v(1:Mx, 1:My) == 0 .and. (v(:Mx - 1, 1:My) == level .or. v(2:, 1:My) == level .or. &
                                       v(1:Mx, :My - 1) == level .or. v(1:Mx, 2:) == level)) v(1:Mx, 1:My) = level + 1
    end do
    d = v(1:Mx, 1:My)
  end subroutine distance
end program harness
