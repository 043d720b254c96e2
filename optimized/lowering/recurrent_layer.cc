// Reads recurrent layers from the attributes of their nodes.
#include <algorithm>
#include <limits>
#include <string>

#include "optimized/lowering/recurrent.h"

namespace touchstone::optimized {
namespace {

using Kind = ActivationKind;

struct ActivationRule {
  std::string_view name;
  Kind kind;
  bool has_alpha = false, has_beta = false;
  float alpha = 1, beta = 0;
};
constexpr ActivationRule rules[] = {
    {"sigmoid", Kind::sigmoid},
    {"tanh", Kind::tanh},
    {"relu", Kind::relu},
    {"affine", Kind::affine, true, true},
    {"leakyrelu", Kind::leaky_relu, true, false, 0.01F},
    {"thresholdedrelu", Kind::thresholded_relu, true},
    {"scaledtanh", Kind::scaled_tanh, true, true, 1, 1},
    {"hardsigmoid", Kind::hard_sigmoid, true, true, 0.2F, 0.5F},
    {"elu", Kind::elu, true},
    {"softsign", Kind::softsign},
    {"softplus", Kind::softplus},
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return text;
}

// Each function with an alpha (a beta) takes the next one of the node's list, or its own default.
bool read_activations(const Facts& node, RecurrentLayer& layer) {
  const Index functions = layer.functions(), wanted = functions * layer.directions;
  std::vector<std::string> names = node.texts("activations");
  if (!node.given("activations")) {
    for (Index k = 0; k < wanted; ++k)
      names.emplace_back(functions > 1 && k % functions == 0 ? "sigmoid" : "tanh");
  }
  if (static_cast<Index>(names.size()) != wanted) return false;
  const std::vector<float> alphas = node.numbers("activation_alpha"),
                           betas = node.numbers("activation_beta");
  std::size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    const auto* const rule =
        std::find_if(std::begin(rules), std::end(rules),
                     [&](const ActivationRule& each) { return each.name == lower(name); });
    if (rule == std::end(rules)) return false;
    Activation made{rule->kind, rule->alpha, rule->beta};
    if (rule->has_alpha && alpha < alphas.size()) made.alpha = alphas[alpha++];
    if (rule->has_beta && beta < betas.size()) made.beta = betas[beta++];
    layer.activations.push_back(made);
  }
  return true;
}

}  // namespace

std::optional<RecurrentLayer> recurrent_layer(const AnalyzedNode& fact) {
  if (fact.node->signature == nullptr || !fact.node->domain.empty()) return std::nullopt;
  const std::string& op = fact.node->op;
  RecurrentLayer layer{};
  if (op == "LSTM") {
    layer.cell = RecurrentLayer::Cell::lstm;
  } else if (op == "GRU") {
    layer.cell = RecurrentLayer::Cell::gru;
  } else if (op == "RNN") {
    layer.cell = RecurrentLayer::Cell::rnn;
  } else {
    return std::nullopt;
  }
  const Facts node = fact.attributes();
  const std::string direction = node.text("direction", "forward");
  // "foward" is the default of the first version of GRU, which is misspelled in the standard.
  const bool misspelled = layer.cell == RecurrentLayer::Cell::gru &&
                          fact.node->signature->since == 1 && direction == "foward";
  if (direction != "forward" && !misspelled && direction != "reverse" &&
      direction != "bidirectional")
    return std::nullopt;
  layer.directions = direction == "bidirectional" ? 2 : 1;
  layer.reverse = direction == "reverse";
  layer.batch_first = node.integer("layout") != 0;
  layer.coupled = node.integer("input_forget") != 0;
  layer.linear = node.integer("linear_before_reset") != 0;
  layer.clip = node.number("clip", std::numeric_limits<float>::infinity());
  if (!(layer.clip >= 0) || !read_activations(node, layer)) return std::nullopt;
  return layer;
}

}  // namespace touchstone::optimized
