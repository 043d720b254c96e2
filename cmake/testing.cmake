# One way to declare each kind of test. ctest runs them all; each also leaves results/<name>.xml behind, out of which
# tests/run_all.py counts single cases.
option(BUILD_TESTING "Build the tests" ON)
find_package(GTest REQUIRED)
include(cmake/units.cmake)

# Fails with what to do where the other build has not made it.
function(touchstone_made variable name)
  set(file "${TOUCHSTONE_MADE_IN}/${name}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "there is no ${file}: build the preset 'release' first")
  endif()
  set(${variable} "${file}" PARENT_SCOPE)
endfunction()

# ctest begins with what costs most.
set(cost_of_long_TRUE 100)
set(cost_of_long_FALSE 0)

# touchstone_test(NAME x_test [COMPUTES] [APART] [LONG] SOURCES ... LIBRARIES ...): a GoogleTest program. Headers are most of what tests
# compile: some files at once (unless they are to be apart), and optimised only where the test says that it computes much.
# What is LONG begins first, so that it does not run alone at the end.
function(touchstone_test)
  cmake_parse_arguments(T "COMPUTES;APART;LONG" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${T_NAME} ${T_SOURCES})
  if(NOT T_APART)
    in_few_units(${T_NAME})
  endif()
  if(NOT T_COMPUTES)
    target_compile_options(${T_NAME} PRIVATE -O0)
  endif()
  target_link_libraries(${T_NAME} PRIVATE ${T_LIBRARIES} GTest::gtest GTest::gtest_main Threads::Threads)
  add_test(NAME ${T_NAME} COMMAND ${T_NAME} --gtest_output=xml:${PROJECT_BINARY_DIR}/results/${T_NAME}.xml)
  set_tests_properties(${T_NAME} PROPERTIES COST ${cost_of_long_${T_LONG}} ENVIRONMENT
    "TOUCHSTONE_SOURCE=${PROJECT_SOURCE_DIR};TOUCHSTONE_BUILD=${PROJECT_BINARY_DIR};TOUCHSTONE_GENERATED=${TOUCHSTONE_GENERATED}")
endfunction()

# touchstone_pytest(NAME x [LONG] FILES ...): a pytest run with the project's root as working directory.
function(touchstone_pytest)
  cmake_parse_arguments(T "LONG" "NAME" "FILES" ${ARGN})
  add_test(NAME ${T_NAME}
           COMMAND ${Python3_EXECUTABLE} -m pytest -q -p no:cacheprovider
                   --junitxml=${PROJECT_BINARY_DIR}/results/${T_NAME}.xml ${T_FILES}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${T_NAME} PROPERTIES COST ${cost_of_long_${T_LONG}} ENVIRONMENT
    "TOUCHSTONE_BUILD=${PROJECT_BINARY_DIR};TOUCHSTONE_GENERATED=${TOUCHSTONE_GENERATED};PYTHONDONTWRITEBYTECODE=1;PYTHONPATH=${PROJECT_SOURCE_DIR}")
endfunction()
