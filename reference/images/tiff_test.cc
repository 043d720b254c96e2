// A process that reads TIFF files itself keeps its error handlers, and they receive none of our
// errors.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <array>

#include "reference/images/images.h"

namespace touchstone {
namespace {

int told = 0;
void count_errors(const char*, const char*, va_list) { ++told; }

TEST(Tiff, HandlersOfTheProcessStayAsTheyAre) {
  const TIFFErrorHandler errors = TIFFSetErrorHandler(count_errors);
  const TIFFErrorHandler warnings = TIFFSetWarningHandler(count_errors);
  // A directory of 255 entries, with no data for them.
  constexpr std::array<std::uint8_t, 12> damaged{'I', 'I', 42, 0, 8, 0, 0, 0, 255, 0, 0, 0};
  EXPECT_FALSE(decode_tiff(damaged));
  EXPECT_EQ(told, 0);
  EXPECT_EQ(TIFFSetErrorHandler(errors), count_errors);
  EXPECT_EQ(TIFFSetWarningHandler(warnings), count_errors);
}

}  // namespace
}  // namespace touchstone
