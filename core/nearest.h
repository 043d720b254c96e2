// Spelling suggestions: the known word that a misspelled one most likely means.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace touchstone {

// Returns the candidate of least Damerau-Levenshtein distance, ignoring case, if that is at most a
// third of the word's length. Returns "" if there is none, and the first of several.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// Returns "did you mean 'Softmax'? ", or "" if no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace touchstone
