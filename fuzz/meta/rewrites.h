// Transformations that rewrite a resolved model. Each throws Error (unsupported) where it finds
// nothing to change.
#pragma once

#include "fuzz/meta/transformation.h"

namespace touchstone::fuzz {

void insert_identities(Variant& variant, const std::string& where);  // inputs, values
void add_dead_nodes(Variant& variant, const std::string& which);     // readers, copies
void add_outputs(Variant& variant, const std::string& which);        // hidden, omitted
void make_functions(Variant& variant, const std::string& of);        // nodes, whole
void call_standard_bodies(Variant& variant, const std::string& none);
void convert_opset(Variant& variant, const std::string& opset);  // 21, ai.onnx.ml:3
void optimize_to(Variant& variant, const std::string& level);
void run_one_pass(Variant& variant, const std::string& pass);
void leave_out_pass(Variant& variant, const std::string& pass);
void split_batch(Variant& variant, const std::string& how);  // AXIS:POSITION:all, or first

// Parameters that may apply to a case.
std::vector<std::string> opsets_above(const Case& one);
std::vector<std::string> opsets_below(const Case& one);
std::vector<std::string> passes_that_change(const Case& one);
std::vector<std::string> ways_to_split(const Case& one);

// Throws Error (unsupported) unless the checker accepts the model.
void require_accepted(const Model& model);

}  // namespace touchstone::fuzz
