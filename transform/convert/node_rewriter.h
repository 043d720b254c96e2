// Builds the replacement of a node: nodes of the opset that the conversion leads to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "transform/convert/node_match.h"
#include "transform/graph_rewriter.h"

namespace touchstone::transform {

// Generates names that are unique in the model.
class Fresh {
 public:
  explicit Fresh(const Model& model);
  std::string name(const std::string& stem);

 private:
  std::set<std::string> taken_;
};

// Opset versions of new nodes: the target version of the domain under conversion, the imported ones
// of the others.
struct Imports {
  std::map<std::string, Index> opsets;
  const Signature* find(std::string_view domain, std::string_view op) const;
};

// Finished replacement of one node.
struct Made {
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, Tensor>> constants;  // under new names
};

class NodeRewriter : public GraphRewriter {
 public:
  NodeRewriter(const NodeMatch& found, const Imports& imports, Fresh& fresh)
      : GraphRewriter(found), found(found), imports_(imports), fresh_(fresh) {}

  const NodeMatch& found;

  Arg value(Slot slot) const { return {found.names(slot)}; }
  Arg folded() const;  // the node's first output, if it is constant

  // Returns the node's attributes that the given operator has with the same kind, but for those
  // left out. Writes out the default of an omitted one if the defaults differ.
  Attributes carried(std::string_view domain, std::string_view op,
                     const std::set<std::string>& left_out = {}) const;

  Arg node(std::string_view local, std::string_view domain, std::string_view op,
           const std::vector<Arg>& inputs, Attributes attributes = {});
  // Adds the node whose outputs are those of the node that it replaces.
  void result(const std::vector<Arg>& outputs, std::string_view domain, std::string_view op,
              const std::vector<Arg>& inputs, Attributes attributes = {});
  void result(Slot output, Arg value);  // a constant, or the output of another new node
  Arg local(std::string_view name);     // placeholder for an output that the node omits

  // Throws NotKnown if an output of the node is used but the replacement does not compute it.
  Made finish();

 private:
  const Tensor* constant(const std::string& value) const override;
  Node& add(std::string_view domain, std::string_view op, const std::vector<Arg>& inputs,
            Attributes attributes);

  const Imports& imports_;
  Fresh& fresh_;
  Made made_;
};

// Returns the default as an attribute; nullopt if there is none or its kind has no defaults.
std::optional<Attribute> default_of(const AttributeSpec& spec);
const AttributeSpec* attribute_of(const Signature& signature, std::string_view name);
bool is_default(const AttributeSpec& spec, const Attribute& attribute);

}  // namespace touchstone::transform
