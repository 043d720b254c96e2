// The known word that a misspelt one most likely means.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace touchstone {

// The candidate with the least edit distance (Damerau and Levenshtein: a letter more, less,
// another, or two neighbours swapped; case does not count), if that is at most a third of the
// word's length.
// "" if there is none; the first of several.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean 'Softmax'? ", or "" where no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace touchstone
