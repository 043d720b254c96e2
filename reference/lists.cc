// Functions on lists of indices, broadcasting and einsum equations. See reference/lists.h.
#include "reference/lists.h"

#include <algorithm>
#include <map>

namespace touchstone {

namespace {

void check_position(const IndexVector& list, Index at) {
  if (at < 0 || at >= list.size()) {
    throw Error(
        ErrorKind::invalid_input,
        "position " + std::to_string(at) + " is outside a list of " + std::to_string(list.size()));
  }
}

// Membership flags by number, since lists of axes may be of any length.
std::vector<bool> marked(const IndexVector& numbers, Index end) {
  std::vector<bool> marks(static_cast<std::size_t>(end));
  for (const Index number : numbers) {
    if (number >= 0 && number < end) marks[static_cast<std::size_t>(number)] = true;
  }
  return marks;
}

}  // namespace

IndexVector replaced(IndexVector list, Index at, Index by) {
  check_position(list, at);
  list[at] = by;
  return list;
}

IndexVector replaced(IndexVector list, const IndexVector& at, Index by) {
  for (Index k : at) {
    check_position(list, k);
    list[k] = by;
  }
  return list;
}

IndexVector replaced(IndexVector list, const IndexVector& at, const IndexVector& by) {
  for (Index k = 0; k < at.size(); ++k) {
    check_position(list, at[k]);
    list[at[k]] = item(by, k);
  }
  return list;
}

IndexVector pick(const IndexVector& list, const IndexVector& at) {
  IndexVector r;
  for (Index k : at) r.push_back(item(list, k));
  return r;
}

IndexVector part(const IndexVector& list, Index from, Index n) {
  if (from < 0 || n < 0 || from > list.size() || n > list.size() - from) {
    throw Error(ErrorKind::invalid_input, std::to_string(n) + " items from item " +
                                              std::to_string(from) + " on are asked of a list of " +
                                              std::to_string(list.size()));
  }
  return IndexVector(list.begin() + from, list.begin() + from + n);
}

IndexVector head(const IndexVector& list, Index n) { return part(list, 0, n); }
IndexVector tail(const IndexVector& list, Index from) {
  return part(list, from, subtract(list.size(), from));
}

IndexVector placed(const IndexVector& list, const IndexVector& at) {
  IndexVector r(list.size(), 0);
  for (Index k = 0; k < list.size(); ++k) {
    check_position(r, item(at, k));
    r[at[k]] = list[k];
  }
  return r;
}

IndexVector without(const IndexVector& list, const IndexVector& positions) {
  const std::vector<bool> gone = marked(positions, list.size());
  IndexVector r;
  for (Index k = 0; k < list.size(); ++k) {
    if (!gone[static_cast<std::size_t>(k)]) r.push_back(list[k]);
  }
  return r;
}

IndexVector unsqueezed(const IndexVector& list, const IndexVector& at) {
  IndexVector r;
  Index next = 0;
  const Index rank = list.size() + at.size();
  const std::vector<bool> ones = marked(at, rank);
  for (Index k = 0; k < rank; ++k)
    r.push_back(ones[static_cast<std::size_t>(k)] ? 1 : item(list, next++));
  return r;
}

IndexVector repeat(Index i, Index n) { return IndexVector(max(n, Index{0}), i); }

bool contains(const IndexVector& list, Index i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

Index position(const IndexVector& list, Index i) {
  const Index* at = std::find(list.begin(), list.end(), i);
  return at == list.end() ? -1 : at - list.begin();
}

bool distinct(const IndexVector& list) {
  IndexVector sorted = list;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

bool is_permutation(const IndexVector& list) {
  for (Index i : list) {
    if (i < 0 || i >= list.size()) return false;
  }
  return distinct(list);
}

namespace {

// Computes the broadcast shape; returns false if two dims differ and neither is 1.
bool lay_over(std::span<const Shape> shapes, IndexVector& result) {
  Index rank = 0;
  for (const Shape& s : shapes) rank = max(rank, s.size());
  result = IndexVector(rank, 1);
  for (const Shape& s : shapes) {
    for (Index k = 0; k < s.size(); ++k) {
      Index& dim = result[rank - s.size() + k];
      if (s[k] != 1 && dim != 1 && s[k] != dim) return false;
      if (s[k] != 1) dim = s[k];
    }
  }
  return true;
}

}  // namespace

IndexVector broadcast(std::span<const Shape> shapes) {
  IndexVector result;
  if (!lay_over(shapes, result)) {
    std::string all;
    for (const Shape& s : shapes) all += (all.empty() ? "" : ", ") + text(s);
    throw Error(ErrorKind::invalid_input, "shapes " + all + " do not broadcast");
  }
  return result;
}

bool broadcastable(std::span<const Shape> shapes) {
  IndexVector result;
  return lay_over(shapes, result);
}

Index ravel(const IndexVector& point, const Shape& shape) {
  Index linear = 0;
  for (Index k = 0; k < shape.size(); ++k) linear = add(multiply(linear, shape[k]), item(point, k));
  return linear;
}

IndexVector unravel(Index linear, const Shape& shape) {
  IndexVector r(shape.size(), 0);
  for (Index k = shape.size() - 1; k >= 0; --k) {
    r[k] = mod(linear, shape[k]);
    linear = floor_div(linear, shape[k]);
  }
  return r;
}

Index locate(const IndexVector& ends, Index i) {
  for (Index k = 0; k < ends.size(); ++k) {
    if (i < ends[k]) return k;
  }
  throw Error(ErrorKind::invalid_input,
              "index " + std::to_string(i) + " is past the end of a list of parts");
}

std::string lower(std::string_view text) {
  std::string r(text);
  std::transform(r.begin(), r.end(), r.begin(),
                 [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  return r;
}

namespace {

[[noreturn]] void malformed(std::string_view equation, const std::string& why) {
  throw Error(ErrorKind::invalid_model,
              "the equation '" + std::string(equation) + "' is malformed: " + why)
      .with_help("write one term of letters for each input, with commas between them: ij,jk->ik");
}

// The dimensions of the ellipsis are symbols too: below all letters, the last of them -1.
constexpr Index ellipsis = -1000;

// Symbols of a term, with its ellipsis as one symbol.
std::vector<Index> symbols_of(std::string_view equation, std::string_view term) {
  std::vector<Index> symbols;
  for (std::size_t k = 0; k < term.size(); ++k) {
    const char c = term[k];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      symbols.push_back(c);
    } else if (term.substr(k, 3) == "...") {
      if (std::find(symbols.begin(), symbols.end(), ellipsis) != symbols.end())
        malformed(equation, "a term has two ellipses");
      symbols.push_back(ellipsis);
      k += 2;
    } else {
      malformed(equation, std::string("'") + c + "' is neither a letter nor part of an ellipsis");
    }
  }
  return symbols;
}

std::vector<Index> expanded(const std::vector<Index>& symbols, Index width) {
  std::vector<Index> all;
  for (Index s : symbols) {
    if (s != ellipsis)
      all.push_back(s);
    else
      for (Index k = -width; k < 0; ++k) all.push_back(k);
  }
  return all;
}

}  // namespace

IndexVector subscripts(std::string_view equation, const IndexVector& ranks) {
  std::string plain;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(plain),
               [](char c) { return c != ' '; });
  if (plain.empty()) malformed(equation, "it is empty");
  const std::size_t arrow = plain.find("->");
  const std::string_view left = std::string_view(plain).substr(0, arrow);

  std::vector<std::vector<Index>> terms;
  for (std::size_t from = 0, comma = 0; comma != std::string_view::npos; from = comma + 1) {
    comma = left.find(',', from);
    terms.push_back(symbols_of(
        equation, left.substr(from, comma == std::string_view::npos ? comma : comma - from)));
  }
  if (size(terms) != ranks.size()) {
    malformed(equation, "it has " + std::to_string(terms.size()) + " terms for " +
                            std::to_string(ranks.size()) + " inputs");
  }
  Index width = -1;  // number of dimensions of an ellipsis, once known
  for (Index k = 0; k < ranks.size(); ++k) {
    const std::vector<Index>& term = terms[static_cast<std::size_t>(k)];
    const bool open = std::find(term.begin(), term.end(), ellipsis) != term.end();
    const Index letters = size(term) - (open ? 1 : 0);
    if (open ? ranks[k] < letters : ranks[k] != letters) {
      malformed(equation, "term " + std::to_string(k) + " names " + std::to_string(letters) +
                              " dimensions of an input of rank " + std::to_string(ranks[k]));
    }
    if (open && width >= 0 && width != ranks[k] - letters)
      malformed(equation, "its ellipses stand for different numbers of dimensions");
    if (open) width = ranks[k] - letters;
  }

  // Number of occurrences of each symbol on the left, ordered by symbol.
  std::map<Index, Index> times;
  for (auto& term : terms) {
    term = expanded(term, max(width, Index{0}));
    for (Index s : term) ++times[s];
  }
  std::vector<Index> result;
  if (arrow == std::string::npos) {
    for (const auto& [symbol, count] : times) {
      if (symbol < 0 || count == 1) result.push_back(symbol);
    }
  } else {
    const auto right = symbols_of(equation, std::string_view(plain).substr(arrow + 2));
    if (width > 0 && std::find(right.begin(), right.end(), ellipsis) == right.end()) {
      malformed(equation, "the result leaves out the ellipsis of the inputs");
    }
    result = expanded(right, max(width, Index{0}));
  }
  std::map<Index, Index> label;
  for (Index s : result) {
    if (times.count(s) == 0)
      malformed(equation,
                std::string("no input has the letter ") + static_cast<char>(s) + " of the result");
    if (!label.emplace(s, static_cast<Index>(label.size())).second)
      malformed(equation,
                std::string("the result names the letter ") + static_cast<char>(s) + " twice");
  }
  IndexVector labels;
  for (const auto& term : terms) {
    for (Index s : term)
      labels.push_back(label.emplace(s, static_cast<Index>(label.size())).first->second);
  }
  for (Index s : result) labels.push_back(label.at(s));
  return labels;
}

}  // namespace touchstone
