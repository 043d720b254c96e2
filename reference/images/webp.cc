// WebP by libwebp. Transparency is ignored.
#include <webp/decode.h>

#include "core/error.h"
#include "reference/images/images.h"

namespace touchstone {

std::optional<Image> decode_webp(Bytes file) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) return std::nullopt;
  if (features.has_animation != 0)
    throw Error(ErrorKind::unsupported, "unsupported: an animated WebP image");
  Image image(features.height, features.width, 8);  // 8: the decoded frame
  const bool good = WebPDecodeRGBInto(file.data(), file.size(), image.rgb.data(), image.rgb.size(),
                                      static_cast<int>(image.width) * 3) != nullptr;
  return good ? std::optional(std::move(image)) : std::nullopt;
}

}  // namespace touchstone
