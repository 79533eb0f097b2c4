# SPDX-License-Identifier: MIT
# Flags that make a mistake in this code hard to exploit (docs/explanation/security.md). tests/install/hardening.sh looks for their effects
# in what is installed. A debug build has no optimisation, which _FORTIFY_SOURCE needs; sanitizers find more by themselves.
option(PAPFFT_HARDEN "Build with stack protector, checked string functions, and tables that are read-only once the program has started" ON)
if(NOT PAPFFT_HARDEN OR PAPFFT_SANITIZE)
  return()
endif()

include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)  # -pie for programs; their objects have POSITION_INDEPENDENT_CODE
# -fcf-protection is for processors of x86; not every compiler has it.
foreach(flag -fstack-protector-strong -fcf-protection)
  string(MAKE_C_IDENTIFIER "PAPFFT_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options($<$<NOT:$<CONFIG:Debug>>:${flag}>)
  endif()
endforeach()
add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
