# A target's files are compiled some at once: what they all include is then compiled as often less. What two files of a
# target name in their unnamed namespaces needs two names.
function(in_few_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6 UNITY_BUILD_RELOCATABLE ON)
endfunction()

# A target in which no conversion may lose a part of a value unless a cast says so. By g++ alone: clang's warning of this name
# holds more.
function(conversions_are_written target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wconversion;-Werror=conversion;-Werror=float-conversion>")
endfunction()
