# Data files of the command, installed under the names that they have in the source tree (conformance/data.h):
# install_data(ROOT DESTINATION [COMPONENT NAME]).
function(install_data root destination)
  foreach(folder conformance/suites conformance/targets spec/ops fuzz/idioms fuzz/replay tools/bench/vendors)
    get_filename_component(above "${folder}" DIRECTORY)
    install(DIRECTORY "${root}/${folder}" DESTINATION "${destination}/${above}" ${ARGN} FILES_MATCHING
      PATTERN "*.py" PATTERN "*.cases" PATTERN "*.onnxtxt" PATTERN "*.yaml" PATTERN "*.idioms"
      PATTERN "*_test.py" EXCLUDE PATTERN "bad_target.py" EXCLUDE PATTERN "__pycache__" EXCLUDE)
  endforeach()
  install(DIRECTORY "${root}/tools/touchstone/schemas" DESTINATION "${destination}" ${ARGN})
  foreach(runtime onnxruntime openvino tvm tract)
    install(FILES "${root}/requirements-${runtime}.txt" DESTINATION "${destination}" ${ARGN})
  endforeach()
  install(FILES "${root}/spec/releases.yaml" DESTINATION "${destination}/spec" ${ARGN})
  install(FILES "${root}/tools/bench/worker.py" DESTINATION "${destination}/tools/bench" ${ARGN})
  install(FILES "${root}/fuzz/ray_driver.py" DESTINATION "${destination}/fuzz" ${ARGN})
endfunction()
