# How every target is compiled. Presets choose a build type and, at most, instrumentation.

option(ELECTOR_WERROR "Treat warnings as errors" ON)

# No NDEBUG in any of them: what the code requires, it requires in release builds too.
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_DEBUG "-Og -g")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all")
set(CMAKE_C_FLAGS_THREADS "-O1 -g -fno-omit-frame-pointer -fsanitize=thread")
set(CMAKE_C_FLAGS_COVERAGE "-O0 -g --coverage")
find_program(LLD ld.lld)
if(LLD AND CMAKE_C_COMPILER_ID STREQUAL "Clang") # hundreds of tests, each with the sanitizers' library: a third of the time
  set(CMAKE_EXE_LINKER_FLAGS_SANITIZE "-fuse-ld=lld")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_compile_options(
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
  -Wcast-qual -Wwrite-strings -Wformat=2 -Wimplicit-fallthrough
  -ffp-contract=off # a run must be the same on every machine, fused multiply-add or not
)
if(ELECTOR_WERROR)
  add_compile_options(-Werror)
endif()
# A release does not tell where it was built.
add_compile_options($<$<CONFIG:Release>:-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=>)

include(CheckPIESupported)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
  check_pie_supported(LANGUAGES C)
endif()

# Public headers are seen by users; src/ only by us, so that "core/machine.h" names its layer.
function(elector_code target)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()

# For what touches the world. The core is left plain: it is pure, and everybody runs the same objects.
function(elector_harden target)
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2;-fstack-protector-strong>)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE $<$<CONFIG:Release>:LINKER:-z,relro,-z,now>)
  endif()
endfunction()
