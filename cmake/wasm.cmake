# The core as one WebAssembly module, from the same files as the native library.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)

add_executable(elector-core ${pure_sources} src/wasm/memory.c)
elector_code(elector-core)
set_target_properties(elector-core PROPERTIES SUFFIX .wasm)
target_compile_options(elector-core PRIVATE -ffreestanding -nostdlibinc -fvisibility=hidden)
target_link_options(elector-core PRIVATE -nostdlib LINKER:--no-entry LINKER:--fatal-warnings)
foreach(name el_step el_algorithm_named el_algorithms el_detector_named el_detectors
        el_phi_thousandths el_encode el_decode el_fingerprint __heap_base)
  target_link_options(elector-core PRIVATE LINKER:--export=${name})
endforeach()
