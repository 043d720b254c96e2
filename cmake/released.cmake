# Releases (tools/tarball.py): sources with what Python and Halide make of them, in generated/ and released/. They build the
# library alone, without either.
set(TOUCHSTONE_RELEASED "")
set(TOUCHSTONE_EVERYTHING ${PROJECT_IS_TOP_LEVEL})
if(EXISTS "${PROJECT_SOURCE_DIR}/released")
  set(TOUCHSTONE_RELEASED "${PROJECT_SOURCE_DIR}/released")
  set(TOUCHSTONE_EVERYTHING OFF)
  foreach(part TESTS CONFORMANCE TOOLS PYTHON)
    if(TOUCHSTONE_${part})
      message(FATAL_ERROR "TOUCHSTONE_${part}: a release holds the library alone; take a clone of the sources")
    endif()
  endforeach()
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    message(FATAL_ERROR "the kernels of this release are for x86-64, not for ${CMAKE_SYSTEM_PROCESSOR}")
  endif()
  # Each call of a generator does nothing: what it writes is there.
  set(Python3_EXECUTABLE ${CMAKE_COMMAND} -E true)
endif()

# Sets the variable to the lines that a module of codegen prints.
function(touchstone_listed variable name)
  if(TOUCHSTONE_RELEASED)
    file(READ "${TOUCHSTONE_RELEASED}/${name}.txt" listed)
  else()
    execute_process(COMMAND ${Python3_EXECUTABLE} -m ${ARGN}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE listed OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(${variable} "${listed}" PARENT_SCOPE)
endfunction()
