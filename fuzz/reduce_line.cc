// Simpler lines. An edit may give a line that does not parse, or is no longer valid: it then shows
// another outcome and is not taken.
#include <algorithm>
#include <set>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "fuzz/line_text.h"
#include "fuzz/reduce.h"
#include "model/graph.h"

namespace touchstone::fuzz {
namespace {

constexpr Index max_written = 4096;        // elements that a line writes out
constexpr std::size_t max_replaced = 256;  // elements that are tried one by one

class Simpler {
 public:
  explicit Simpler(const std::string& line) : line_(line), parts_(split_line(line)) {}

  std::vector<std::string> all() {
    leave_out_attributes();
    keep_one_output();
    leave_out_inputs();
    make_static();
    shrink_together();
    shrink_each();
    plain_attributes();
    plain_data();
    write_out_data();
    plain_elements();
    return std::move(made_);
  }

 private:
  template <class Edit>
  void add(const Edit& edit) {
    LineText parts = parts_;
    edit(parts);
    std::string line = join_line(parts);
    if (line != line_) made_.push_back(std::move(line));
  }
  // Edits the tensors of a line.
  template <class Edit>
  static void each_tensor(LineText& parts, const Edit& edit) {
    for (std::size_t k = 0; k < parts.ports.size(); ++k) {
      PortText port;
      if (!split_port(parts.ports[k], port)) continue;
      edit(k, port);
      parts.ports[k] = join_port(port);
    }
  }

  void leave_out_attributes() {
    if (parts_.attributes.size() > 1) add([](LineText& parts) { parts.attributes.clear(); });
    for (std::size_t k = 0; k < parts_.attributes.size(); ++k) {
      add([k](LineText& parts) {
        parts.attributes.erase(parts.attributes.begin() + static_cast<std::ptrdiff_t>(k));
      });
    }
  }

  void keep_one_output() {
    if (std::count(parts_.outputs.begin(), parts_.outputs.end(), 'x') > 0)
      add([](LineText& parts) { parts.outputs.clear(); });
    for (std::size_t k = 0; k < parts_.outputs.size(); ++k) {
      if (parts_.outputs[k] != 'x' || parts_.outputs.size() == 1) continue;
      add([k](LineText& parts) { parts.outputs = std::string(k, '_') + "x"; });
    }
  }

  void leave_out_inputs() {
    for (std::size_t k = parts_.ports.size(); k-- > 0;) {
      add([k](LineText& parts) {
        parts.ports.erase(parts.ports.begin() + static_cast<std::ptrdiff_t>(k));
      });
      add([k](LineText& parts) { parts.ports[k] = "_"; });
    }
  }

  void make_static() {
    const auto static_dims = [](std::size_t, PortText& port) {
      for (std::string& dim : port.dims) dim = std::to_string(size_of_dim(dim));
    };
    add([&](LineText& parts) { each_tensor(parts, static_dims); });
    for (std::size_t k = 0; k < parts_.ports.size(); ++k) {
      add([k](LineText& parts) {
        if (parts.ports[k].starts_with('*')) parts.ports[k].erase(0, 1);
      });
    }
  }

  // Sizes to try for a size, smallest first.
  static std::vector<Index> smaller_than(Index size) {
    std::set<Index> sizes{1, 2, 3, 4, size / 2, size - 1};
    std::vector<Index> made;
    std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(made),
                 [&](Index each) { return each >= 1 && each < size; });
    return made;
  }
  static void set_size(std::string& dim, Index size) {
    const std::size_t equals = dim.find('=');
    dim = (equals == std::string::npos ? "" : dim.substr(0, equals + 1)) + std::to_string(size);
  }

  // Changes a size wherever it occurs, as extents that must agree have one size.
  void shrink_together() {
    std::set<Index> sizes;
    LineText scanned = parts_;
    each_tensor(scanned, [&](std::size_t, PortText& port) {
      for (const std::string& dim : port.dims) sizes.insert(size_of_dim(dim));
    });
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      for (const Index smaller : smaller_than(*size)) {
        add([&](LineText& parts) {
          each_tensor(parts, [&](std::size_t, PortText& port) {
            for (std::string& dim : port.dims)
              if (size_of_dim(dim) == *size) set_size(dim, smaller);
          });
        });
      }
    }
  }

  void shrink_each() {
    LineText scanned = parts_;
    each_tensor(scanned, [&](std::size_t k, PortText& port) {
      for (std::size_t d = 0; d < port.dims.size(); ++d) {
        for (const Index smaller : smaller_than(size_of_dim(port.dims[d]))) {
          add([&](LineText& parts) {
            PortText one = port;
            set_size(one.dims[d], smaller);
            parts.ports[k] = join_port(one);
          });
        }
        if (size_of_dim(port.dims[d]) != 1) continue;
        add([&](LineText& parts) {
          PortText one = port;
          one.dims.erase(one.dims.begin() + static_cast<std::ptrdiff_t>(d));
          parts.ports[k] = join_port(one);
        });
      }
    });
    add([](LineText& parts) {  // leaves out the first extent everywhere
      each_tensor(parts, [](std::size_t, PortText& port) {
        if (!port.dims.empty() && size_of_dim(port.dims.front()) == 1)
          port.dims.erase(port.dims.begin());
      });
    });
  }

  void plain_attributes() {
    for (std::size_t k = 0; k < parts_.attributes.size(); ++k) {
      const std::string value = parts_.attributes[k].second;
      if (value.starts_with('"')) continue;
      for (const char* const plain : {"0", "1"}) {
        if (value == plain || value == "0") break;
        if (!value.starts_with('['))
          add([&](LineText& parts) { parts.attributes[k].second = plain; });
      }
      if (!value.starts_with('[')) continue;
      const std::vector<std::string> items = items_of(value);
      for (std::size_t d = 0; d < items.size(); ++d) {
        add([&](LineText& parts) {
          std::vector<std::string> fewer = items;
          fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(d));
          parts.attributes[k].second = list_of(fewer, '[', ']');
        });
        for (const char* const plain : {"0", "1"}) {
          if (items[d] == plain || items[d] == "0" || items[d].starts_with('"')) break;
          add([&](LineText& parts) {
            std::vector<std::string> changed = items;
            changed[d] = plain;
            parts.attributes[k].second = list_of(changed, '[', ']');
          });
        }
      }
    }
  }

  void set_data(std::size_t k, const PortText& port, const std::string& data) {
    add([&](LineText& parts) {
      PortText one = port;
      one.data = data;
      parts.ports[k] = join_port(one);
    });
  }

  void plain_data() {
    LineText scanned = parts_;
    each_tensor(scanned, [&](std::size_t k, PortText& port) {
      if (port.type == "string") return;
      for (const char* const plain : {"{0}", "{1}", "{1,2}"}) {
        if (port.data == plain) return;
        if (port.data.starts_with('{') && items_of(port.data).size() <= items_of(plain).size())
          continue;
        set_data(k, port, plain);
      }
    });
  }

  // Writes out data of a regime, which depends on the text of the line, and cuts lists to size.
  void write_out_data() {
    suites::Line parsed;
    try {
      parsed = suites::parse_line(line_);
    } catch (const Error&) {
      return;
    }
    const auto written = [&](std::size_t k, PortText& port) {
      if (k >= parsed.inputs.size() || !parsed.inputs[k].value.is_tensor()) return;
      const Tensor& tensor = parsed.inputs[k].value.tensor();
      if (tensor.size() == 0 || tensor.size() > max_written) return;
      const bool is_long = static_cast<Index>(items_of(port.data).size()) > tensor.size();
      if (port.data.starts_with('~') || is_long) port.data = elements_of(tensor);
    };
    add([&](LineText& parts) { each_tensor(parts, written); });
  }

  void plain_elements() {
    LineText scanned = parts_;
    each_tensor(scanned, [&](std::size_t k, PortText& port) {
      if (!port.data.starts_with('{') || port.type == "string") return;
      const std::vector<std::string> items = items_of(port.data);
      if (items.size() < 2 || items.size() > max_replaced) return;
      for (std::size_t half = items.size() / 2; half > 0; half /= 2) {
        for (std::size_t from = 0; from < items.size(); from += half) {
          for (const char* const plain : {"0", "1"}) {
            std::vector<std::string> changed = items;
            bool is_simpler = false;
            for (std::size_t i = from; i < std::min(from + half, items.size()); ++i) {
              if (items[i] == plain || items[i] == "0") continue;
              changed[i] = plain;
              is_simpler = true;
            }
            if (is_simpler) set_data(k, port, list_of(changed, '{', '}'));
          }
        }
      }
    });
  }

  std::string line_;
  LineText parts_;
  std::vector<std::string> made_;
};

}  // namespace

std::vector<std::string> simpler_lines(const std::string& line) { return Simpler(line).all(); }

}  // namespace touchstone::fuzz
