# Sets Halide_DIR to the CMake package inside the pinned wheel, which find_package(Halide) cannot find by itself.
if(NOT Halide_DIR)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c "import halide; print(halide.install_dir())"
    OUTPUT_VARIABLE halide_root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  foreach(lib lib64 lib)
    if(EXISTS ${halide_root}/${lib}/cmake/Halide)
      set(Halide_DIR ${halide_root}/${lib}/cmake/Halide CACHE PATH "Halide's CMake package, from the pinned wheel")
    endif()
  endforeach()
endif()
