// Reads index programs from the bytes that codegen/index_program.py writes.
#include "reference/shapes/index_program.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace touchstone {
namespace {

std::vector<std::string_view> split_texts() {
  std::vector<std::string_view> texts;
  const char* at = index_texts;
  for (std::size_t k = 0; k < index_text_count; ++k) {
    texts.emplace_back(at);
    at += texts.back().size() + 1;
  }
  return texts;
}

const std::vector<std::string_view>& all_texts() {
  static const std::vector<std::string_view> texts = split_texts();
  return texts;
}

class Reader {
 public:
  explicit Reader(const char* at) : at_(at) {}

  IndexProgram program() {
    IndexProgram made;
    made.constraints.resize(size());
    constraints_ = static_cast<Index>(made.constraints.size());
    for (IndexProgram::Constraint& one : made.constraints) {
      one.only = static_cast<Type>(number());
      one.inputs = numbers();
      one.outputs = numbers();
    }
    made.inputs.resize(size());
    for (IndexProgram::Input& one : made.inputs) {
      one.variadic = number() != 0;
      one.default_element = expression();
    }
    made.attributes.resize(size());
    for (IndexProgram::Attribute& one : made.attributes) read(one);
    made.lets = expressions();
    made.outputs.resize(size());
    for (IndexProgram::Output& one : made.outputs) {
      const Index kind = number();
      one.has_shape = kind > 0;
      one.family_slot = kind - 2;
      if (one.has_shape) one.shape = expression();
    }
    made.buffers = number();
    made.slots = number();
    made.body = block();
    return made;
  }

 private:
  Index number() {
    Index value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<Index>(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
  std::size_t size() { return static_cast<std::size_t>(number()); }
  Index signed_number() {
    const Index n = number();
    return n % 2 == 0 ? n / 2 : -(n + 1) / 2;
  }
  std::string_view text() { return all_texts()[size()]; }
  std::vector<Index> numbers() {
    std::vector<Index> all(size());
    for (Index& one : all) one = number();
    return all;
  }
  std::vector<IndexExpression> expressions() {
    std::vector<IndexExpression> all(size());
    for (IndexExpression& one : all) one = expression();
    return all;
  }

  void read(IndexProgram::Attribute& one) {
    one.name = text();
    one.kind = static_cast<IndexAttribute>(number());
    const Index count = number();
    one.has_default = count > 0;
    const bool integers = one.kind == IndexAttribute::int_ || one.kind == IndexAttribute::ints;
    for (Index k = 1; k < count; ++k) {
      if (integers)
        one.numbers.push_back(signed_number());
      else
        one.texts.push_back(text());
    }
  }

  void read_sort(IndexExpression& e) {
    e.sort = static_cast<IndexSort>(number());
    if (e.sort != IndexSort::element) return;
    const Index of = number();
    if (of > constraints_)
      e.of.type = static_cast<Type>(of - 1 - constraints_);
    else
      e.of.constraint = static_cast<int>(of) - 1;
  }
  void read_operands(IndexExpression& e, int count) {
    for (int k = 0; k < count; ++k) e.operands.push_back(expression());
  }

  IndexExpression expression() {
    IndexExpression e;
    e.is = static_cast<IndexOperation>(number());
    switch (e.is) {
      case IndexOperation::absent:
      case IndexOperation::unknown:
        break;
      case IndexOperation::number:
        e.number = signed_number();
        break;
      case IndexOperation::real_:
      case IndexOperation::text_:
        e.text = text();
        break;
      case IndexOperation::coerce:
      case IndexOperation::negative:
        read_sort(e);
        read_operands(e, 1);
        break;
      case IndexOperation::negation:
      case IndexOperation::splice:
        read_operands(e, 1);
        break;
      case IndexOperation::member:
        e.number = number();
        read_operands(e, 1);
        break;
      case IndexOperation::add:
      case IndexOperation::subtract:
      case IndexOperation::multiply:
      case IndexOperation::divide:
      case IndexOperation::remainder:
        read_sort(e);
        read_operands(e, 2);
        break;
      case IndexOperation::conjunction:
      case IndexOperation::disjunction:
      case IndexOperation::less:
      case IndexOperation::greater:
      case IndexOperation::less_equal:
      case IndexOperation::greater_equal:
      case IndexOperation::equal:
      case IndexOperation::unequal:
      case IndexOperation::item:
      case IndexOperation::convert:
        read_operands(e, 2);
        break;
      case IndexOperation::condition:
        read_operands(e, 3);
        break;
      case IndexOperation::match:
        read_operands(e, 1);
        for (Index left = number(); left > 0; --left) {
          e.arms.push_back(number() != 0 ? text() : std::string_view());
          read_operands(e, 1);
        }
        break;
      case IndexOperation::replace:
      case IndexOperation::list:
        e.operands = expressions();
        break;
      case IndexOperation::comprehension:
        read_operands(e, 2);
        e.number = number();
        read_operands(e, 2);
        break;
      case IndexOperation::reduction:
        read_reduction(e);
        break;
      case IndexOperation::element:
      case IndexOperation::element_or:
      case IndexOperation::element_or_none:
        read_operands(e, 1);
        for (IndexExpression& place : expressions()) e.operands.push_back(std::move(place));
        if (e.is == IndexOperation::element_or) read_operands(e, 1);
        break;
      case IndexOperation::call:
        e.number = number();
        read_sort(e);
        e.operands = expressions();
        break;
      default:  // a name
        e.number = number();
    }
    return e;
  }

  void read_reduction(IndexExpression& e) {
    e.number = number();
    e.binders.resize(size());
    for (IndexExpression::Binder& binder : e.binders) {
      binder.is = static_cast<IndexBinder>(number());
      if (binder.is == IndexBinder::family)
        binder.input = number();
      else
        binder.bounds.push_back(expression());
      if (binder.is == IndexBinder::range) binder.bounds.push_back(expression());
      binder.slot = number();
    }
    read_operands(e, 2);
  }

  std::vector<IndexStatement> block() {
    std::vector<IndexStatement> all(size());
    for (IndexStatement& one : all) read(one);
    return all;
  }

  void read(IndexStatement& one) {
    one.is = static_cast<IndexStatementKind>(number());
    if (one.is == IndexStatementKind::when) one.value = expression();
    if (one.is == IndexStatementKind::when || one.is == IndexStatementKind::otherwise) {
      one.block = block();
      return;
    }
    const Index target = number();
    one.of_output = target % 2 == 0;
    one.target = target / 2;
    if (one.is == IndexStatementKind::whole) one.value = expression();
    if (one.is != IndexStatementKind::define) return;
    one.family_slot = number() - 1;
    for (Index left = number(); left > 0; --left) {
      const auto is = static_cast<IndexPlace>(number());
      const Index slot = number();
      one.places.push_back({is, slot, expression()});
    }
    one.view = expression();
    one.value = expression();
  }

  const char* at_;
  Index constraints_ = 0;
};

struct HashName {
  std::size_t operator()(const std::pair<std::string_view, std::string_view>& name) const {
    return std::hash<std::string_view>()(name.first) * 31 +
           std::hash<std::string_view>()(name.second);
  }
};

}  // namespace

const IndexProgram* find_index_program(const Signature& signature) {
  static std::mutex mutex;
  static std::unordered_map<std::pair<std::string_view, std::string_view>,
                            std::vector<const IndexProgramRow*>, HashName>
      rows;
  static std::unordered_map<std::uint32_t, std::unique_ptr<const IndexProgram>> read;
  const std::lock_guard lock(mutex);
  if (rows.empty()) {
    for (std::size_t k = 0; k < index_row_count; ++k) {
      const IndexProgramRow& row = index_rows[k];
      rows[{all_texts()[row.domain], all_texts()[row.op]}].push_back(&row);
    }
  }
  const auto found = rows.find({signature.domain, signature.op});
  if (found == rows.end()) return nullptr;
  for (const IndexProgramRow* row : found->second) {
    if (row->since != signature.since) continue;
    std::unique_ptr<const IndexProgram>& program = read[row->place];
    if (!program)
      program = std::make_unique<IndexProgram>(Reader(index_bytes + row->place).program());
    return program.get();
  }
  return nullptr;
}

}  // namespace touchstone
