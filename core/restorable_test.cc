// Restorable elements: what pins them, and what a drop and a restore leave of them.
#include "core/restorable.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/error.h"

namespace touchstone {
namespace {

Tensor numbers(Index size) {
  Tensor made(Type::float32, {size});
  for (Index k = 0; k < size; ++k) made.data<float>()[k] = static_cast<float>(k);
  return made;
}

ElementMemory other_numbers(Index size) { return memory_of(numbers(size)); }

// Drops the elements and writes over them.
bool drop(Restorable& elements, Index size) {
  return elements.drop([size] { return other_numbers(size); },
                       [size](ElementMemory memory) {
                         std::memset(memory.first.get(), 0xff, static_cast<std::size_t>(size) * 4);
                       });
}

TEST(Restorable, CopiesOfATensorShareWhatIsDroppedAndRestored) {
  constexpr Index size = 10'000;
  Tensor first = numbers(size), second = first;
  Tensor* const both[] = {&first, &second};
  ASSERT_TRUE(make_restorable(both));
  const std::shared_ptr<Restorable> elements = restorable_of(first);
  ASSERT_EQ(restorable_of(second), elements);
  EXPECT_EQ(first.identity(), second.identity());
  const Tensor view = second.reshaped({100, 100});
  ASSERT_TRUE(drop(*elements, size));
  EXPECT_FALSE(elements->present());
  EXPECT_EQ(view.data<float>()[size - 1], static_cast<float>(size - 1));
  EXPECT_TRUE(elements->present());
  EXPECT_EQ(first.data<float>(), view.data<float>());
  EXPECT_EQ(std::memcmp(first.bytes().data(), numbers(size).bytes().data(), first.bytes().size()),
            0);
}

TEST(Restorable, WhatIsReadStays) {
  constexpr Index size = 10'000;
  Tensor tensor = numbers(size);
  Tensor* const only[] = {&tensor};
  ASSERT_TRUE(make_restorable(only));
  const std::shared_ptr<Restorable> elements = restorable_of(tensor);
  {
    const std::shared_ptr<const void> held = elements->hold();
    EXPECT_FALSE(drop(*elements, size)) << "held";
  }
  EXPECT_FALSE(elements->is_pinned());
  ASSERT_TRUE(drop(*elements, size));
  const std::shared_ptr<const void> restored = elements->hold();
  EXPECT_EQ(static_cast<const float*>(restored.get())[7], 7);
  EXPECT_FALSE(elements->is_pinned());
  const float* const first = tensor.data<float>();
  EXPECT_EQ(first, restored.get());
  EXPECT_TRUE(elements->is_pinned());
  EXPECT_FALSE(drop(*elements, size)) << "pinned";
  EXPECT_EQ(tensor.data<float>(), first);
}

TEST(Restorable, OnlyWholeOwnersOfPagesBecomeSo) {
  Tensor tensor = numbers(10'000);
  const Tensor other = tensor;  // a second reference
  Tensor* const only[] = {&tensor};
  EXPECT_FALSE(make_restorable(only));
  EXPECT_EQ(restorable_of(tensor), nullptr);
  EXPECT_EQ(other.data<float>()[5], 5);
  Tensor small = numbers(10), words(Type::string, {100'000});
  Tensor* const small_one[] = {&small};
  Tensor* const strings[] = {&words};
  EXPECT_FALSE(make_restorable(small_one));
  EXPECT_FALSE(make_restorable(strings));
  EXPECT_FALSE(make_restorable({}));
}

TEST(Restorable, ARestoreThatFailsIsTriedAgain) {
  constexpr Index size = 10'000;
  Tensor tensor = numbers(size);
  Tensor* const only[] = {&tensor};
  ASSERT_TRUE(make_restorable(only));
  int calls = 0;
  ASSERT_TRUE(restorable_of(tensor)->drop(
      [&] {
        if (++calls == 1) throw Error(ErrorKind::out_of_memory, "no memory");
        return other_numbers(size);
      },
      [](const ElementMemory&) {}));
  EXPECT_THROW(tensor.data<float>(), Error);
  EXPECT_EQ(tensor.data<float>()[9], 9);
  EXPECT_EQ(calls, 2);
}

TEST(Restorable, ReadersOfSeveralThreadsSeeOneRestore) {
  constexpr Index size = 100'000;
  Tensor tensor = numbers(size);
  Tensor* const only[] = {&tensor};
  ASSERT_TRUE(make_restorable(only));
  ASSERT_TRUE(drop(*restorable_of(tensor), size));
  std::vector<const float*> seen(8);
  std::vector<std::thread> readers;
  for (const float*& first : seen)
    readers.emplace_back([&] { first = std::as_const(tensor).data<float>(); });
  for (std::thread& reader : readers) reader.join();
  EXPECT_THAT(seen, ::testing::Each(seen[0]));
  EXPECT_EQ(seen[0][size - 1], static_cast<float>(size - 1));
}

// Large weights have extra capacity for the padding of their packed form.
RC_GTEST_PROP(Restorable, CapacityIsAtLeastTheElements, ()) {
  const Index size = *rc::gen::inRange<Index>(0, 200'000);
  const Tensor tensor(Type::float32, {size}, Storage::weights);
  const Index bytes = size * 4, capacity = memory_of(tensor).capacity;
  RC_ASSERT(capacity >= bytes);
  if (bytes >= min_extra_capacity) RC_ASSERT(capacity >= bytes + bytes / 16);
}

}  // namespace
}  // namespace touchstone
