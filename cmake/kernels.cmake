# How generated kernels are compiled. Those that run seldom are small and many: several are one translation unit, which saves
# reading the same headers and making the same templates again, and are optimised less.
#
# touchstone_kernels(TARGET HOT_OPTIONS COLD_OPTIONS SOURCES...): adds them to the library.
function(touchstone_kernels target hot_options cold_options)
  set_source_files_properties(${ARGN} PROPERTIES GENERATED TRUE)
  set(hot ${ARGN})
  set(cold ${ARGN})
  list(FILTER cold EXCLUDE REGEX "registry.cc$")
  list(REMOVE_ITEM cold ${TOUCHSTONE_HOT_SOURCES})
  list(REMOVE_ITEM hot ${cold})
  target_sources(${target} PRIVATE ${hot} $<TARGET_OBJECTS:${target}_cold>)
  set_source_files_properties(${hot} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # long enough as they are
  target_compile_options(${target} PRIVATE ${hot_options})
  add_dependencies(${target} touchstone_generated_kernels)

  add_library(${target}_cold OBJECT ${cold})
  add_dependencies(${target}_cold touchstone_generated_kernels)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  target_link_libraries(${target}_cold PRIVATE ${libraries})
  target_include_directories(${target}_cold PRIVATE ${TOUCHSTONE_GENERATED})
  target_compile_options(${target}_cold PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> ${cold_options})
  # By the operator's name, so that a new operator leaves the other groups as they are.
  foreach(source ${cold})
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "^[a-z]")  # from a template by hand: its helpers have short names of their own
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    string(MD5 digest ${name})
    string(SUBSTRING ${digest} 0 2 digits)
    math(EXPR group "0x${digits} % 32")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP group${group})
  endforeach()
  set_target_properties(${target}_cold PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
endfunction()
