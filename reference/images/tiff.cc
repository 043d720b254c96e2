// TIFF by libtiff: the first image of the file.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <new>

#include "reference/images/images.h"

namespace touchstone {
namespace {

// An in-memory file with the I/O callbacks of the library.
struct Memory {
  Bytes file;
  toff_t at = 0;
};
tmsize_t take(thandle_t handle, void* to, tmsize_t size) {
  auto& memory = *static_cast<Memory*>(handle);
  const toff_t left = memory.at < memory.file.size() ? memory.file.size() - memory.at : 0;
  const auto taken = std::min(left, static_cast<toff_t>(size));
  if (taken > 0) std::memcpy(to, memory.file.data() + memory.at, taken);
  memory.at += taken;
  return static_cast<tmsize_t>(taken);
}
tmsize_t refuse(thandle_t, void*, tmsize_t) { return -1; }
toff_t go_to(thandle_t handle, toff_t offset, int from) {
  auto& memory = *static_cast<Memory*>(handle);
  memory.at = offset + (from == SEEK_CUR ? memory.at : from == SEEK_END ? memory.file.size() : 0);
  return memory.at;
}
int leave(thandle_t) { return 0; }

// Without it the library would print. The process's own handlers stay unchanged.
int keep_silent(TIFF*, void*, const char*, const char*, va_list) { return 1; }
toff_t size_of(thandle_t handle) { return static_cast<Memory*>(handle)->file.size(); }

// Bytes per pixel that the library may allocate for a strip or tile: four samples of 32 bits.
constexpr Index strip = 16;
// Upper bound of a single allocation, regardless of the tags.
constexpr tmsize_t max_at_once = tmsize_t{256} << 20;

}  // namespace

std::optional<Image> decode_tiff(Bytes file) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_silent, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), keep_silent, nullptr);
  Memory memory{file};
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), max_at_once);
  const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(
      TIFFClientOpenExt("image", "rm", &memory, take, refuse, go_to, leave, size_of, nullptr,
                        nullptr, options.get()),
      TIFFClose);
  std::uint32_t width = 0, height = 0;
  if (!tiff || TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) != 1 ||
      TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) != 1 || width == 0 || height == 0) {
    return std::nullopt;
  }
  Image image(height, width, sizeof(std::uint32_t) + strip);
  std::vector<std::uint32_t> pixels(static_cast<std::size_t>(width) * height);
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, pixels.data(), ORIENTATION_TOPLEFT, 1) !=
      1)
    return std::nullopt;
  std::uint8_t* out = image.rgb.data();
  for (const std::uint32_t pixel : pixels) {
    *out++ = static_cast<std::uint8_t>(TIFFGetR(pixel));
    *out++ = static_cast<std::uint8_t>(TIFFGetG(pixel));
    *out++ = static_cast<std::uint8_t>(TIFFGetB(pixel));
  }
  return image;
}

}  // namespace touchstone
