// Decodes an image file of any known format.
#include "reference/images/images.h"

#include "fuzz/bytes/target.h"

namespace touchstone::bytes {

void images(Bytes input) {
  const auto* data = static_cast<const std::uint8_t*>(static_cast<const void*>(input.data()));
  accepts([&] {
    const std::optional<Image> image = decode_image({data, input.size()});
    if (!image) return;
    const Index pixels = image->height * image->width;
    require(image->height > 0 && image->width > 0 &&
                static_cast<Index>(image->rgb.size()) == 3 * pixels,
            "an image's size and its bytes disagree");
  });
}

}  // namespace touchstone::bytes
