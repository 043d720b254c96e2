// Lists of index programs, the functions of them, and broadcasting.
#include "reference/lists.h"
#include "reference/shapes/index_functions.h"

namespace touchstone {
namespace {

IndexValue number(SymbolicInteger of) { return {of}; }

// Positions in a list of `size`, each once: an index or a list of them.
std::vector<bool> marked(const std::vector<Index>& at, std::size_t size) {
  std::vector<bool> marks(size);
  for (const Index k : at) {
    if (k < 0 || k >= static_cast<Index>(size)) throw Undecided{};
    marks[static_cast<std::size_t>(k)] = true;
  }
  return marks;
}

}  // namespace

// -- lists that a program writes

IndexList IndexEvaluator::laid_out(std::span<const Expression> parts) {
  IndexList all;
  for (const Expression& part : parts) {
    IndexValue value;
    if (part.is == IndexOperation::replace) {
      IndexFunctions functions(*this);
      value = functions.replaced(evaluate(part.operands[0]), evaluate(part.operands[1]),
                                 evaluate(part.operands[2]));
    } else {
      value = evaluate(part);
    }
    if (const auto* many = value.as<std::shared_ptr<const IndexList>>())
      all.insert(all.end(), (*many)->begin(), (*many)->end());
    else
      all.push_back(std::move(value));
    if (std::ssize(all) > max_items) throw Undecided{};
  }
  return all;
}

IndexValue IndexEvaluator::comprehension(const Expression& e) {
  const Index low = constant(evaluate(e.operands[0])), high = constant(evaluate(e.operands[1]));
  if (high > low && high - low > max_items) throw Undecided{};
  IndexValue& slot = slots_[static_cast<std::size_t>(e.number)];
  IndexList items;
  for (Index k = low; k < high; ++k) {
    slot = {SymbolicInteger(k)};
    if (e.operands[3] && !predicate(evaluate(e.operands[3]))) continue;
    slot = {SymbolicInteger(k)};
    items.push_back(evaluate(e.operands[2]));
  }
  return IndexValue::list(std::move(items));
}

// -- functions of lists

IndexValue IndexFunctions::replaced(const IndexValue& list, const IndexValue& at,
                                    const IndexValue& by) {
  IndexList items = of_.list(list);
  const auto* places = at.as<std::shared_ptr<const IndexList>>();
  const IndexList many = places ? **places : IndexList{at};
  const auto* values = by.as<std::shared_ptr<const IndexList>>();
  if (values && (*values)->size() != many.size()) throw Undecided{};
  for (std::size_t k = 0; k < many.size(); ++k) {
    const Index place = constant(many[k]);
    if (place < 0 || place >= std::ssize(items)) throw Undecided{};
    items[static_cast<std::size_t>(place)] = values ? (**values)[k] : by;
  }
  return IndexValue::list(std::move(items));
}

IndexValue IndexFunctions::of_list(IndexFunction name, const IndexList& arguments) {
  if (name == IndexFunction::broadcast) return broadcast(arguments);
  if (name == IndexFunction::broadcastable) return {broadcastable(arguments)};
  if (name == IndexFunction::replaced) return replaced(arguments[0], arguments[1], arguments[2]);
  if (name == IndexFunction::subscripts) return subscripts(arguments[0], of_.list(arguments[1]));
  if (name == IndexFunction::repeat) {
    const Index count = constant(arguments[1]);
    if (count < 0 || count > max_items) throw Undecided{};
    return IndexValue::list(IndexList(static_cast<std::size_t>(count), arguments[0]));
  }
  if (name == IndexFunction::unravel) {
    const std::vector<Index> at{constant(arguments[0])};
    IndexList sizes = of_.list(arguments[1]);
    Index all = 1;
    for (const IndexValue& size : sizes) all *= std::max<Index>(constant(size), 1);
    IndexList point;
    for (const Index k : viewed(at, {number(all)}, sizes)) point.push_back(number(k));
    return IndexValue::list(std::move(point));
  }
  const IndexList& items = of_.list(arguments[0]);
  const auto numbers = [&](std::size_t k) {
    std::vector<Index> all;
    for (const IndexValue& one : of_.list(arguments[k])) all.push_back(constant(one));
    return all;
  };
  const auto part = [&](Index from, Index count) {
    if (from < 0 || count < 0 || from > std::ssize(items) || count > std::ssize(items) - from)
      throw Undecided{};
    return IndexValue::list(IndexList(items.begin() + from, items.begin() + from + count));
  };
  IndexList made;
  switch (name) {
    case IndexFunction::count: {
      SymbolicInteger product = 1;
      for (const IndexValue& item : items) product = symbols_.multiply(product, of_.integer(item));
      return number(product);
    }
    case IndexFunction::total: {
      SymbolicInteger sum = 0;
      for (const IndexValue& item : items) sum = symbols_.add(sum, of_.integer(item));
      return number(sum);
    }
    case IndexFunction::pick:
      for (const Index k : numbers(1)) made.push_back(of_.item(arguments[0], number(k)));
      return IndexValue::list(std::move(made));
    case IndexFunction::head:
      return part(0, constant(arguments[1]));
    case IndexFunction::tail:
      return part(constant(arguments[1]), std::ssize(items) - constant(arguments[1]));
    case IndexFunction::part:
      return part(constant(arguments[1]), constant(arguments[2]));
    case IndexFunction::placed: {
      made.assign(items.size(), number(0));
      const std::vector<Index> at = numbers(1);
      if (at.size() > items.size()) throw Undecided{};
      marked(at, items.size());
      for (std::size_t k = 0; k < at.size(); ++k) made[static_cast<std::size_t>(at[k])] = items[k];
      return IndexValue::list(std::move(made));
    }
    case IndexFunction::without: {
      const std::vector<bool> marks = marked(numbers(1), items.size());
      for (std::size_t k = 0; k < items.size(); ++k) {
        if (!marks[k]) made.push_back(items[k]);
      }
      return IndexValue::list(std::move(made));
    }
    case IndexFunction::unsqueezed: {
      const std::vector<Index> at = numbers(1);
      const std::vector<bool> marks = marked(at, items.size() + at.size());
      std::size_t next = 0;
      for (const bool mark : marks) {
        if (!mark && next >= items.size()) throw Undecided{};
        made.push_back(mark ? number(1) : items[next++]);
      }
      return IndexValue::list(std::move(made));
    }
    case IndexFunction::contains: {
      for (const IndexValue& item : items) {
        if (of_.compared(IndexOperation::equal, item, arguments[1])) return {true};
      }
      return {false};
    }
    case IndexFunction::position:
      for (std::size_t k = 0; k < items.size(); ++k) {
        if (symbols_.equal(of_.integer(items[k]), of_.integer(arguments[1])))
          return number(static_cast<Index>(k));
      }
      return number(-1);
    case IndexFunction::distinct:
      for (std::size_t k = 0; k < items.size(); ++k) {
        for (std::size_t n = 0; n < k; ++n) {
          if (symbols_.equal(of_.integer(items[k]), of_.integer(items[n]))) return {false};
        }
      }
      return {true};
    case IndexFunction::is_permutation: {
      std::vector<Index> order = numbers(0);
      std::sort(order.begin(), order.end());
      for (std::size_t k = 0; k < order.size(); ++k) {
        if (order[k] != static_cast<Index>(k)) return {false};
      }
      return {true};
    }
    case IndexFunction::ravel: {
      const IndexList& sizes = of_.list(arguments[1]);
      if (sizes.size() != items.size()) throw Undecided{};
      SymbolicInteger at = 0;
      for (std::size_t d = 0; d < items.size(); ++d)
        at = symbols_.add(symbols_.multiply(at, of_.integer(sizes[d])), of_.integer(items[d]));
      return number(at);
    }
    case IndexFunction::locate:
      for (std::size_t k = 0; k < items.size(); ++k) {
        if (symbols_.less(of_.integer(arguments[1]), of_.integer(items[k])))
          return number(static_cast<Index>(k));
      }
      throw Undecided{};
    default:
      throw Undecided{};
  }
}

IndexValue IndexFunctions::subscripts(const IndexValue& equation, const IndexList& ranks) {
  const auto* text = equation.as<std::string>();
  if (!text) throw Undecided{};
  IndexVector numbers;
  for (const IndexValue& rank : ranks) numbers.push_back(constant(rank));
  try {
    IndexList labels;
    for (const Index label : touchstone::subscripts(*text, numbers))
      labels.push_back(number(label));
    return IndexValue::list(std::move(labels));
  } catch (const Error&) {
    throw Undecided{};
  }
}

// -- broadcasting

std::vector<IndexList> IndexFunctions::shapes(const IndexList& arguments) {
  std::vector<IndexList> all;
  for (const IndexValue& one : arguments) {
    const auto* family = one.as<IndexTensors>();
    if (!family) {
      all.push_back(of_.list(one));
      continue;
    }
    for (const TensorPointer& tensor : *family) all.push_back(sizes_of(*tensor));
  }
  return all;
}

// The size to which two broadcast, if they do: the node refuses others.
SymbolicInteger IndexFunctions::met(SymbolicInteger x, SymbolicInteger y) {
  x = symbols_.normal(x), y = symbols_.normal(y);
  if (x == y || y == SymbolicInteger(1)) return x;
  if (x == SymbolicInteger(1)) return y;
  if (symbols_.proved(Relation::equal, x, 1) == false) return x;
  if (symbols_.proved(Relation::equal, y, 1) == false) return y;
  if (symbols_.equal(x, y)) return x;
  return symbols_.equal(x, 1) ? y : x;
}

IndexValue IndexFunctions::broadcast(const IndexList& arguments) {
  std::vector<SymbolicInteger> all;  // from the last dimension on
  for (const IndexList& sizes : shapes(arguments)) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const SymbolicInteger size = of_.integer(sizes[sizes.size() - 1 - d]);
      if (d >= all.size())
        all.push_back(size);
      else
        all[d] = met(all[d], size);
    }
  }
  IndexList made;
  for (auto size = all.rbegin(); size != all.rend(); ++size) made.push_back(number(*size));
  return IndexValue::list(std::move(made));
}

bool IndexFunctions::broadcastable(const IndexList& arguments) {
  const std::vector<IndexList> all = shapes(arguments);
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (std::size_t n = 0; n < k; ++n) {
      for (std::size_t d = 0; d < std::min(all[k].size(), all[n].size()); ++d) {
        const SymbolicInteger x = of_.integer(all[k][all[k].size() - 1 - d]);
        const SymbolicInteger y = of_.integer(all[n][all[n].size() - 1 - d]);
        if (!symbols_.equal(x, y) && !symbols_.equal(x, 1) && !symbols_.equal(y, 1)) return false;
      }
    }
  }
  return true;
}

}  // namespace touchstone
