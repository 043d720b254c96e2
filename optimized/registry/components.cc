// Refuses plans of a bundle that want what it leaves out.
#include "optimized/registry/components.h"

#include <string>

#include "core/error.h"

namespace touchstone::optimized {

void refuse(Component component) {
  throw Error(ErrorKind::unsupported,
              "this library was built for other plans, without the component '" +
                  std::string(name(component)) + "'")
      .with_help("run its models with the options and sizes that they were bundled for");
}

}  // namespace touchstone::optimized
