// Reads the attributes of windows of any rank.
#include "optimized/lowering/sliding.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace touchstone::optimized {
namespace {

bool every_at_least(const Shape& list, Index least) {
  return std::all_of(list.begin(), list.end(), [&](Index item) { return item >= least; });
}

// The attributes that all windows share; nullopt if their lists do not fit the image.
std::optional<Sliding> attributes_of(const Facts& node, const Shape& image, const Shape& kernel) {
  const Index r = image.size();
  const Shape ones(r, 1);
  Sliding s{image,
            kernel,
            node.integers("strides", ones),
            node.integers("dilations", ones),
            Shape(r, 0),
            Shape(r, 0),
            {}};
  if (kernel.size() != r || s.stride.size() != r || s.dilation.size() != r) return std::nullopt;
  if (!every_at_least(s.stride, 1) || !every_at_least(s.dilation, 1)) return std::nullopt;
  if (!every_at_least(kernel, 0)) return std::nullopt;
  if (node.given("pads") && node.integers("pads").size() != 2 * r) return std::nullopt;
  return s;
}

// True if offsets of all terms of all windows fit, with room for sums.
bool fits(const Sliding& s) {
  constexpr Index far = Index{1} << 40;
  const auto near = [](const Shape& list) {
    return std::all_of(list.begin(), list.end(), [](Index i) { return i > -far && i < far; });
  };
  return near(s.image) && near(s.kernel) && near(s.before) && near(s.after) && near(s.out) &&
         near(s.out * s.stride) && near(s.kernel * s.dilation);
}

void pad(const Facts& node, Sliding& s) {
  const Index r = s.image.size();
  if (!node.given("pads")) return;
  s.before = head(node.integers("pads"), r);
  s.after = tail(node.integers("pads"), r);
}

}  // namespace

std::optional<Sliding> sliding_of(const Facts& node, const Shape& image, const Shape& kernel) {
  std::optional<Sliding> s = attributes_of(node, image, kernel);
  if (!s) return s;
  const std::string padding = node.text("auto_pad", "NOTSET");
  try {
    const Shape reach = (kernel - 1) * s->dilation + 1;
    if (padding == "SAME_UPPER" || padding == "SAME_LOWER") {
      const Shape same = max((ceil_div(image, s->stride) - 1) * s->stride + reach - image, 0);
      const Shape less = quotient(same, 2), more = same - less;
      s->before = padding == "SAME_UPPER" ? less : more;
      s->after = padding == "SAME_UPPER" ? more : less;
    } else if (padding == "NOTSET") {
      pad(node, *s);
    } else if (padding != "VALID") {
      return std::nullopt;
    }
    const Shape slack = image + s->before + s->after - reach;
    s->out = floor_div(slack, s->stride) + 1;
    if (node.integer("ceil_mode") != 0 && padding == "NOTSET") {
      for (Index k = 0; k < image.size(); ++k) {
        const Index up = ceil_div(slack[k], s->stride[k]);
        const bool starts = multiply(up, s->stride[k]) < add(image[k], s->before[k]);
        s->out[k] = add(up, starts ? 1 : 0);
      }
    }
    if (!every_at_least(s->out, 0) || !fits(*s)) return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // overflow
  }
  return s;
}

std::optional<Sliding> spreading_of(const Facts& node, const Shape& image, const Shape& kernel) {
  std::optional<Sliding> s = attributes_of(node, image, kernel);
  if (!s || !every_at_least(kernel, 1)) return std::nullopt;
  const Index r = image.size();
  const std::string padding = node.text("auto_pad", "NOTSET");
  const Shape more = node.integers("output_padding", Shape(r, 0));
  const bool same = padding == "SAME_UPPER" || padding == "SAME_LOWER";
  if (more.size() != r || !every_at_least(more, 0)) return std::nullopt;
  for (Index k = 0; k < r; ++k) {
    if (more[k] >= s->stride[k] && more[k] >= s->dilation[k]) return std::nullopt;
  }
  if (!same && padding != "NOTSET" && padding != "VALID") return std::nullopt;
  try {
    const Shape full = (image - 1) * s->stride + (kernel - 1) * s->dilation + 1 + more;
    if (same || node.given("output_shape")) {
      s->out = image * s->stride;
      if (node.given("output_shape")) {
        s->out = node.integers("output_shape");
        if (s->out.size() != r) return std::nullopt;
      }
      const Shape cut = max(full - s->out, 0), half = quotient(cut, 2);
      s->before = padding == "SAME_UPPER" ? half : cut - half;
      s->after = cut - s->before;
    } else {
      if (padding == "NOTSET") pad(node, *s);
      s->out = full - s->before - s->after;
    }
    if (!every_at_least(s->before, 0) || !every_at_least(s->after, 0)) return std::nullopt;
    if (!every_at_least(s->out, 0) || !fits(*s)) return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // overflow
  }
  return s;
}

bool is_float_window(const AnalyzedGraph& graph, Index node, std::string_view op) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || signature.op != op) return false;
  const auto floats = [&](Index value) {
    return value == no_value || graph.value(value).is(Type::float32);
  };
  return std::all_of(fact.inputs.begin(), fact.inputs.end(), floats) &&
         fact.outputs[0] != no_value && floats(fact.outputs[0]);
}

}  // namespace touchstone::optimized
