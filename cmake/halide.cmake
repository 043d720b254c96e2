# Halide: its CMake package is inside the pinned wheel, where find_package(Halide) cannot find it by itself. A release holds the
# headers of its run time instead.
if(TOUCHSTONE_RELEASED)
  add_library(Halide::Runtime INTERFACE IMPORTED GLOBAL)
  set_target_properties(Halide::Runtime PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${TOUCHSTONE_RELEASED}/halide")
  return()
endif()
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
if(CMAKE_VERSION VERSION_LESS 3.28)
  message(FATAL_ERROR "Halide's package needs CMake 3.28, this is ${CMAKE_VERSION}: pip install cmake, or build a release")
endif()
find_package(Halide 21 REQUIRED)
