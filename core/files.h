// The only module that opens files. Paths from a model or from test data are hostile: they are
// opened beneath a folder and cannot leave it. Paths that the user typed are trusted. Writes are
// atomic, so no half-written file remains.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.h"

namespace touchstone {

// A regular file, open for reading. Movable, not copyable.
class OpenFile {
 public:
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  Index size() const { return size_; }
  const std::string& name() const { return name_; }  // for messages

  // Reads exactly these bytes. Throws Error (file) if the range exceeds the file, before anything
  // is allocated; limit ('bytes') if it is larger than one tensor may be.
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

// Mechanism that keeps open_beneath in its folder: the kernel (openat2), or else a walk that
// follows no symbolic link.
enum class Beneath { kernel_if_it_can, walk };

// Opens folder/relative, where `relative` comes from a model. It must have plain components only:
// not absolute, no "..", NUL, backslash or drive letter. It must name a regular file inside the
// folder after links are resolved, with one hard link if limits.one_link is set. Throws Error
// (file) otherwise.
OpenFile open_beneath(const std::filesystem::path& folder, std::string_view relative,
                      const Limits& limits, Beneath how = Beneath::kernel_if_it_can);

// Opens a path that the user typed.
OpenFile open_trusted(const std::filesystem::path& path);

// Writes to a temporary file next to the target, then renames: readers see the old file or the
// whole new one. Throws Error (file).
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace touchstone
