// Signatures of operators that a program adds, and the scope in which models find them.
#include "model/custom.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/error.h"
#include "model/place.h"

namespace touchstone {
namespace {

constexpr std::string_view form = "custom";

thread_local const CustomOperators* in_scope = nullptr;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

const std::vector<std::string>& tensor_types() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> made;
    for (auto code = static_cast<int>(Type::float32); code <= static_cast<int>(Type::float6e3m2);
         ++code)
      made.push_back(text(tensor_type(static_cast<Type>(code))));
    return made;
  }();
  return all;
}

}  // namespace

void CustomOperator::add(Side& side, std::vector<CustomParameter> written, const char* what) {
  const std::string name = operator_name(domain_, op_);
  side.written = std::move(written);
  side.constraints.reserve(side.written.size());  // views of them stay valid
  bool last_optional = false;
  for (std::size_t k = 0; k < side.written.size(); ++k) {
    CustomParameter& each = side.written[k];
    const std::string where = name + ", " + what + " " + std::to_string(k);
    if (each.name.empty()) refuse(where + " has no name");
    if (each.variadic && k + 1 < side.written.size())
      refuse(where + " ('" + each.name + "') is variadic, but is not the last");
    if (last_optional && !each.optional && !each.variadic)
      refuse(where + " ('" + each.name + "') is required, but follows an optional one");
    last_optional = each.optional;
    if (each.types.empty()) each.types = tensor_types();
    for (const std::string& type : each.types) {
      try {
        (void)parse_value_type(type);
      } catch (const Error&) {
        refuse(where + " ('" + each.name + "') has the type '" + type + "', which is none");
      }
    }
    // A constraint of its own is named so that no word of a program is the same.
    side.constraints.push_back(each.bound.empty() ? std::string(what) + "#" + std::to_string(k)
                                                  : each.bound);
    std::vector<std::string_view> list(each.types.begin(), each.types.end());
    const auto known = std::find_if(
        constraints_.begin(), constraints_.end(),
        [&](const ConstraintSpec& one) { return one.name == side.constraints.back(); });
    if (known == constraints_.end()) {
      lists_.push_back(std::move(list));
      constraints_.push_back({side.constraints.back(), lists_.back()});
    } else if (!std::equal(known->types.begin(), known->types.end(), list.begin(), list.end())) {
      refuse(where + " ('" + each.name + "') lists other types for '" + each.bound +
             "' than a parameter before it");
    }
    side.specs.push_back({each.name, side.constraints.back(), each.optional, each.variadic,
                          !each.variadic || !each.bound.empty(), each.optional ? 0 : 1});
  }
}

CustomOperator::CustomOperator(std::string domain, std::string op, int since,
                               std::vector<CustomParameter> inputs,
                               std::vector<CustomParameter> outputs)
    : domain_(std::move(domain)), op_(std::move(op)) {
  if (op_.empty()) refuse("an operator has no name");
  if (domain_.empty() || domain_ == "ai.onnx" || newest_opset(domain_) > 0)
    refuse("operators of the standard's domain '" + domain_ + "' cannot be added: '" + op_ + "'");
  if (since < 1) refuse(operator_name(domain_, op_) + " has version " + std::to_string(since));
  if (outputs.empty()) refuse(operator_name(domain_, op_) + " has no outputs");
  lists_.reserve(inputs.size() + outputs.size());
  add(inputs_, std::move(inputs), "input");
  add(outputs_, std::move(outputs), "output");
  Signature& made = signature_;
  made = {.domain = domain_,
          .op = op_,
          .since = since,
          .deprecated = false,
          .form = form,
          .kind = "random",
          .doc = "Added by the program.",
          .source = "",
          .inputs = inputs_.specs,
          .outputs = outputs_.specs,
          .attributes = {},
          .types = constraints_};
  signature_.of = this;
}

const CustomOperator* custom_operator(const Signature& signature) {
  if (signature.form != form) return nullptr;
  return static_cast<const CustomOperator::Own&>(signature).of;
}

CustomScope::CustomScope(const CustomOperators& operators) : before_(in_scope) {
  in_scope = &operators;
}
CustomScope::~CustomScope() { in_scope = before_; }

const Signature* find_custom(std::string_view domain, std::string_view op, Index opset) {
  const Signature* found = nullptr;
  if (in_scope == nullptr) return nullptr;
  for (const std::shared_ptr<const CustomOperator>& each : *in_scope) {
    const Signature& own = each->signature();
    if (own.domain == domain && own.op == op && own.since <= opset &&
        (found == nullptr || found->since < own.since))
      found = &own;
  }
  return found;
}

bool knows_custom(std::string_view domain, std::string_view op) {
  return find_custom(domain, op, std::numeric_limits<Index>::max()) != nullptr;
}

void add_operator(CustomOperators& to, std::shared_ptr<const CustomOperator> added) {
  const Signature& own = added->signature();
  for (const std::shared_ptr<const CustomOperator>& each : to) {
    const Signature& known = each->signature();
    if (known.domain == own.domain && known.op == own.op && known.since == own.since)
      refuse(operator_name(own.domain, own.op) + "-" + std::to_string(own.since) +
             " is added twice");
  }
  to.push_back(std::move(added));
}

}  // namespace touchstone
