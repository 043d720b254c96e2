# Declares tests: one function for each kind. ctest runs them all; each also writes results/<name>.xml, from which
# tests/run_all.py counts single cases.
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  add_custom_target(touchstone_tests)  # all test programs; the target `all` has the products alone
endif()
include(cmake/units.cmake)

# Sets the variable to a file of the build TOUCHSTONE_MADE_IN; fails with instructions if that build has not made it.
function(touchstone_made variable name)
  set(file "${TOUCHSTONE_MADE_IN}/${name}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "there is no ${file}: build the preset 'release' first")
  endif()
  set(${variable} "${file}" PARENT_SCOPE)
endfunction()

# Leaves a test program out of the target `all`.
function(touchstone_only_tests program)
  set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_dependencies(touchstone_tests ${program})
endfunction()

# ctest starts the tests of highest cost first.
set(cost_of_long_TRUE 100)
set(cost_of_long_FALSE 0)

# touchstone_test(NAME x_test [COMPUTES] [APART] [LONG] SOURCES ... LIBRARIES ...): a GoogleTest program. Headers dominate
# compile time, so several sources form one unit unless APART is given. Only tests that declare COMPUTES are
# optimized, as core is. LONG tests start first, so that none runs alone at the end.
function(touchstone_test)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(T "COMPUTES;APART;LONG" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${T_NAME} ${T_SOURCES})
  touchstone_only_tests(${T_NAME})
  if(NOT T_APART)
    in_few_units(${T_NAME})
  endif()
  if(T_COMPUTES)
    target_compile_options(${T_NAME} PRIVATE ${TOUCHSTONE_BASE_OPTIONS})
  else()
    target_compile_options(${T_NAME} PRIVATE -O0)
  endif()
  target_link_libraries(${T_NAME} PRIVATE ${T_LIBRARIES} GTest::gmock GTest::gtest GTest::gtest_main Threads::Threads)
  add_test(NAME ${T_NAME} COMMAND ${T_NAME} --gtest_output=xml:${PROJECT_BINARY_DIR}/results/${T_NAME}.xml)
  set_tests_properties(${T_NAME} PROPERTIES COST ${cost_of_long_${T_LONG}} ENVIRONMENT
    "TOUCHSTONE_SOURCE=${PROJECT_SOURCE_DIR};TOUCHSTONE_BUILD=${PROJECT_BINARY_DIR};TOUCHSTONE_GENERATED=${TOUCHSTONE_GENERATED}")
endfunction()

# touchstone_pytest(NAME x [LONG] FILES ...): a pytest run with the project's root as working directory.
function(touchstone_pytest)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(T "LONG" "NAME" "FILES" ${ARGN})
  add_test(NAME ${T_NAME}
           COMMAND ${Python3_EXECUTABLE} -m pytest -q -p no:cacheprovider
                   --junitxml=${PROJECT_BINARY_DIR}/results/${T_NAME}.xml ${T_FILES}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${T_NAME} PROPERTIES COST ${cost_of_long_${T_LONG}} ENVIRONMENT
    "TOUCHSTONE_BUILD=${PROJECT_BINARY_DIR};TOUCHSTONE_GENERATED=${TOUCHSTONE_GENERATED};PYTHONDONTWRITEBYTECODE=1;PYTHONPATH=${PROJECT_SOURCE_DIR}")
endfunction()
