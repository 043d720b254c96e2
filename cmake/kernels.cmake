# Compiles generated kernels. Several share one translation unit, so that headers are parsed and templates instantiated less
# often. Sources that run seldom are optimized less.
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
  touchstone_unity_groups(12 ${hot})
  target_compile_options(${target} PRIVATE ${hot_options})
  add_dependencies(${target} touchstone_generated_kernels)

  add_library(${target}_cold OBJECT ${cold})
  add_dependencies(${target}_cold touchstone_generated_kernels)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  target_link_libraries(${target}_cold PRIVATE ${libraries})
  target_include_directories(${target}_cold PRIVATE ${TOUCHSTONE_GENERATED})
  target_compile_options(${target}_cold PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> ${cold_options})
  touchstone_unity_groups(20 ${cold})
  set_target_properties(${target} ${target}_cold PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
endfunction()

# Groups sources by a hash of the operator's name, so that a new operator leaves the other groups unchanged. Sources from
# handwritten templates start with a small letter and form groups of their own, because their short helper names could
# collide. Registries and image codecs stay alone: a program may replace a registry, images pull in libraries, and an archive
# links whole units.
function(touchstone_unity_groups groups)
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "registry$|^image_")
      continue()
    endif()
    string(MD5 digest ${name})
    string(SUBSTRING ${digest} 0 3 digits)
    if(name MATCHES "^[a-z]")
      math(EXPR group "0x${digits} % 3")
      set(group "_by_hand${group}")
    else()
      math(EXPR group "0x${digits} % ${groups}")
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP group${group})
  endforeach()
endfunction()
