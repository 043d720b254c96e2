# TOUCHSTONE_BUNDLE: a folder that `touchstone bundle` wrote. The library then holds those models and only what they need: no
# reader of files, no passes, and neither kernels nor signatures of other operators.
set(TOUCHSTONE_BUNDLE "" CACHE PATH "A folder that 'touchstone bundle' wrote, for a library that holds its models and runs no other")
if(TOUCHSTONE_BUNDLE)
  if(TOUCHSTONE_RELEASED)
    message(FATAL_ERROR "TOUCHSTONE_BUNDLE: a release holds what codegen wrote for all operators; take a clone of the sources")
  endif()
  include("${TOUCHSTONE_BUNDLE}/bundle.cmake")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${TOUCHSTONE_BUNDLE}/bundle.cmake")
  set(TOUCHSTONE_EVERYTHING OFF)
  set(TOUCHSTONE_GENERATED "${PROJECT_BINARY_DIR}/generated" CACHE PATH "Where codegen writes")
  # Code is small before it is fast, but for the kernels; the linker drops functions that nothing calls.
  set(CMAKE_CXX_FLAGS_RELEASE "-Os -DNDEBUG")
  add_compile_definitions(TOUCHSTONE_BUNDLE)
  add_compile_options(-ffunction-sections -fdata-sections -fvisibility=hidden -fvisibility-inlines-hidden)
  set(TOUCHSTONE_HOT_OPTIONS "-Os")
  add_link_options(-Wl,--gc-sections -Wl,-z,defs -Wl,--as-needed -Wl,-z,noseparate-code -s)

  # One source that includes the models' bytes.
  set(text "// The models of a bundle. Written by CMake.\n#include \"model/bundled.h\"\n\n")
  set(rows "")
  foreach(model ${TOUCHSTONE_MODELS})
    set(file "${TOUCHSTONE_BUNDLE}/${model}.model")
    string(APPEND text "asm(\".section .rodata\\n.balign 64\\n.globl bundled_${model}, bundled_${model}_end\\n.hidden bundled_${model}, bundled_${model}_end\\nbundled_${model}: .incbin \\\"${file}\\\"\\nbundled_${model}_end: .previous\\n\");\n"
      "extern \"C\" const std::byte bundled_${model}[], bundled_${model}_end[];\n")
    string(APPEND rows "    {\"${model}\", {bundled_${model}, bundled_${model}_end}},\n")
    list(APPEND bundled_files "${file}")
  endforeach()
  string(APPEND text "\nnamespace touchstone {\n\nstd::span<const BundledModel> bundled_models() {\n"
    "  static const BundledModel all[] = {\n${rows}  };\n  return all;\n}\n\n}  // namespace touchstone\n")
  set(TOUCHSTONE_BUNDLED_MODELS "${PROJECT_BINARY_DIR}/bundled_models.cc")
  file(CONFIGURE OUTPUT "${TOUCHSTONE_BUNDLED_MODELS}" CONTENT "${text}" @ONLY)
  set_source_files_properties("${TOUCHSTONE_BUNDLED_MODELS}" PROPERTIES OBJECT_DEPENDS "${bundled_files}")
endif()
