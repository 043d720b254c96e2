// Opens files. A model may name any path, so the kernel resolves it beneath the folder's descriptor
// (openat2, RESOLVE_BENEATH). No "..", symbolic link or race between check and open can then leave
// the folder. Kernels before 5.6, and sandboxes that forbid the call, fall back to a walk by
// component that follows no link.
#include "core/files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "core/budget.h"
#include "core/checked.h"
#include "core/error.h"
#include "core/proc.h"

namespace touchstone {
namespace {

// O_NONBLOCK: a pipe in place of a file must not block the open; regular files ignore it.
constexpr int reading = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

Error failed(const std::string& what, const std::string& name, int error) {
  return Error(ErrorKind::file, what + " '" + name + "': " + std::strerror(error));
}

Error refused(std::string_view name, const std::string& why) {
  std::string shown;
  for (const char c : name.substr(0, 200)) shown += c == '\0' ? '?' : c;
  return Error(ErrorKind::file, "the path '" + shown + "' is refused: " + why)
      .with_help(
          "the file must be a regular one; a model's data must lie in the model's folder, named by "
          "a relative path");
}

class Descriptor {
 public:
  explicit Descriptor(int held) : descriptor_(held) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

bool drive_letter(std::string_view path) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return path.size() >= 2 && path[1] == ':' && letter(path[0]);
}

// Splits a path into its components. Throws Error (file) that names the fault of the path.
std::vector<std::string> components(std::string_view path) {
  if (path.empty()) throw refused(path, "it is empty");
  if (path.find('\0') != std::string_view::npos) throw refused(path, "it holds a NUL");
  if (path.find('\\') != std::string_view::npos) throw refused(path, "it holds a backslash");
  if (path.front() == '/') throw refused(path, "it is absolute");
  if (drive_letter(path)) throw refused(path, "it names a drive");
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= path.size();) {
    const std::size_t slash = std::min(path.find('/', first), path.size());
    const std::string_view part = path.substr(first, slash - first);
    if (part == "..") throw refused(path, "it holds '..'");
    if (!part.empty() && part != ".") parts.emplace_back(part);
    first = slash + 1;
  }
  if (parts.empty()) throw refused(path, "it names no file");
  if (path.ends_with('/') || path.ends_with("/.")) throw refused(path, "it names a folder");
  return parts;
}

Descriptor open_folder(const std::filesystem::path& folder) {
  const std::string name = folder.empty() ? "." : folder.string();
  Descriptor root(::open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) throw failed("cannot open the folder", name, errno);
  return root;
}

// Opens each component relative to the one before. O_NOFOLLOW refuses symbolic links.
Descriptor walk(Descriptor at, const std::vector<std::string>& parts, std::string_view path) {
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const int flags = k + 1 < parts.size() ? O_PATH | O_DIRECTORY | O_CLOEXEC : reading;
    Descriptor next(::openat(at.get(), parts[k].c_str(), flags | O_NOFOLLOW));
    if (next.get() < 0) {
      if (errno == ELOOP || errno == ENOTDIR)
        throw refused(path, "'" + parts[k] + "' is a link or no folder");
      throw failed("cannot open", std::string(path), errno);
    }
    at = std::move(next);
  }
  return at;
}

std::filesystem::path beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> number{0};
  std::ostringstream part;
  part << '.' << path.filename().string() << '.' << ::getpid() << '.' << number++ << ".part";
  return path.parent_path() / part.str();
}

void write_all(int descriptor, std::span<const std::byte> bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw failed("cannot write", name, written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

OpenFile open_descriptor(int descriptor, std::string name, const Limits& limits) {
  OpenFile file(descriptor, 0, std::move(name));  // closes the descriptor if anything below throws
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw failed("cannot look at", file.name_, errno);
  if (!S_ISREG(status.st_mode)) throw refused(file.name_, "it is no regular file");
  if (limits.one_link && status.st_nlink != 1)
    throw refused(file.name_, "the file has more than one hard link");
  file.size_ = status.st_size;
  return file;
}

OpenFile::OpenFile(int descriptor, Index size, std::string name)
    : descriptor_(descriptor), size_(size), name_(std::move(name)) {}
OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      name_(std::move(other.name_)) {}
OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(name_, other.name_);
  return *this;
}
OpenFile::~OpenFile() { close_it(); }

void OpenFile::close_it() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

std::vector<std::byte> OpenFile::read(Index offset, Index length, const Limits& limits) const {
  if (offset < 0 || length < 0 || offset > size_ || length > size_ - offset) {
    throw Error(ErrorKind::file, "the bytes [" + std::to_string(offset) + ", +" +
                                     std::to_string(length) + ") do not lie in '" + name_ +
                                     "' of " + std::to_string(size_) + " bytes");
  }
  if (length > limits.bytes) {
    throw passes_limit("a part of " + std::to_string(length) + " bytes of '" + name_ + "'", "bytes",
                       limits.bytes);
  }
  ask_memory(length);
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  read_into(offset, bytes);
  return bytes;
}

void OpenFile::read_into(Index offset, std::span<std::byte> bytes) const {
  const auto length = static_cast<Index>(bytes.size());
  if (offset < 0 || offset > size_ || length > size_ - offset) {
    throw Error(ErrorKind::file, "the bytes [" + std::to_string(offset) + ", +" +
                                     std::to_string(length) + ") do not lie in '" + name_ +
                                     "' of " + std::to_string(size_) + " bytes");
  }
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failed("cannot read", name_, errno);
    if (got == 0) throw Error(ErrorKind::file, "'" + name_ + "' became shorter while it was read");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

std::string OpenFile::read_all(const Limits& limits) const {
  if (size_ > limits.file_bytes) {
    throw passes_limit("'" + name_ + "' of " + std::to_string(size_) + " bytes", "file_bytes",
                       limits.file_bytes);
  }
  ask_memory(size_);
  std::string text(static_cast<std::size_t>(size_), '\0');
  read_into(0, std::as_writable_bytes(std::span(text)));
  return text;
}

OpenFile open_beneath(const std::filesystem::path& folder, std::string_view relative,
                      const Limits& limits, Beneath how) {
  const std::vector<std::string> parts = components(relative);
  Descriptor root = open_folder(folder);
  const std::string name(relative);
  if (how == Beneath::kernel_if_it_can) {
    open_how wanted{};
    wanted.flags = reading;
    wanted.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    Descriptor found(
        static_cast<int>(::syscall(SYS_openat2, root.get(), name.c_str(), &wanted, sizeof wanted)));
    if (found.get() >= 0) return open_descriptor(found.release(), name, limits);
    if (errno == EXDEV || errno == ELOOP) throw refused(relative, "it leads out of the folder");
    if (errno != ENOSYS && errno != EPERM) throw failed("cannot open", name, errno);
  }
  return open_descriptor(walk(std::move(root), parts, relative).release(), name, limits);
}

OpenFile open_trusted(const std::filesystem::path& path) {
  Descriptor found(::open(path.c_str(), reading));
  if (found.get() < 0) throw failed("cannot open", path.string(), errno);
  return open_descriptor(found.release(), path.string(), Limits::trusted());
}

std::string read_proc(const std::filesystem::path& path) {
  Descriptor found(::open(path.c_str(), reading));
  if (found.get() < 0) throw failed("cannot open", path.string(), errno);
  std::string text;
  std::array<char, 4096> part;
  while (true) {
    const ssize_t got = ::read(found.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failed("cannot read", path.string(), errno);
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::filesystem::path part = beside(path);
  Descriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.get() < 0) throw failed("cannot create", part.string(), errno);
  try {
    write_all(file.get(), bytes, part.string());
    if (::fsync(file.get()) != 0) throw failed("cannot write", part.string(), errno);
    if (::close(file.release()) != 0) throw failed("cannot write", part.string(), errno);
    if (::rename(part.c_str(), path.c_str()) != 0)
      throw failed("cannot replace", path.string(), errno);
  } catch (...) {
    ::unlink(part.c_str());
    throw;
  }
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  write_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace touchstone
