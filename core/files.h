// The one place that opens files. Paths out of a model or of test data are hostile: they are opened
// beneath a folder and can not leave it. Paths that the user typed are trusted. Saving never leaves
// half a file behind.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.h"

namespace touchstone {

// A regular file, open for reading. Moves, does not copy.
class OpenFile {
 public:
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  Index size() const { return size_; }
  const std::string& name() const { return name_; }  // for messages

  // Exactly these bytes. Throws Error (file) if the range does not lie in the file, before anything
  // is allocated; limit
  // ('bytes') if it is larger than one tensor may be.
  std::vector<std::byte> read(Index offset, Index length, const Limits& limits) const;
  void read_into(Index offset, std::span<std::byte> bytes) const;
  // The whole file. Throws Error (limit, 'file_bytes') if it is larger than a file may be.
  std::string read_all(const Limits& limits) const;

 private:
  friend OpenFile open_descriptor(int descriptor, std::string name, const Limits& limits);
  OpenFile(int descriptor, Index size, std::string name);
  void close_it() noexcept;

  int descriptor_ = -1;
  Index size_ = 0;
  std::string name_;
};

// How open_beneath keeps a path in its folder: by the kernel (openat2), or, where the kernel lacks
// that, by a walk that follows no symbolic link at all.
enum class Beneath { kernel_if_it_can, walk };

// Opens folder/relative, which comes from a model. Throws Error (file) unless `relative` is a path
// of plain components (not absolute, no "..", NUL, backslash or drive letter) to a regular file
// that lies in the folder, links resolved, and that has one hard link where the limits ask for it.
OpenFile open_beneath(const std::filesystem::path& folder, std::string_view relative,
                      const Limits& limits, Beneath how = Beneath::kernel_if_it_can);

// Opens a path that the user typed.
OpenFile open_trusted(const std::filesystem::path& path);

// Writes beside the target, then renames: readers see the old file or the whole new one.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace touchstone
