# Compiles several files of a target as one unit, so that common headers are parsed less often. Names in unnamed namespaces
# must therefore differ between the files of a target.
function(in_few_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6 UNITY_BUILD_RELOCATABLE ON)
endfunction()

# Makes lossy implicit conversions in a target an error. g++ only: clang's warning of this name covers more.
function(conversions_are_written target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wconversion;-Werror=conversion;-Werror=float-conversion>")
endfunction()
