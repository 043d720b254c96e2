# A target's files are compiled some at once: what they all include is then compiled as often less. What two files of a
# target name in their unnamed namespaces needs two names.
function(in_few_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6 UNITY_BUILD_RELOCATABLE ON)
endfunction()
