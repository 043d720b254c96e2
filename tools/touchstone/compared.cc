// Prints a comparison: distances first, then the nodes, then the guilty one.
#include "tools/touchstone/compared.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/single_node.h"
#include "model/model.h"
#include "tools/touchstone/command.h"

namespace touchstone::command {
namespace {

std::string version_of(const Node& node) {
  return fmt::format("{}-{}", node.op, node.signature ? node.signature->since : 0);
}

std::string_view verdict_of(const conformance::NodeBlame& one) {
  return one.skipped.empty() ? judge::name(one.judgement.verdict) : "not judged";
}

void print_distances(const char* title, const std::vector<compare::Distance>& distances) {
  if (distances.empty()) return;
  fmt::print("{}\n", title);
  for (const compare::Distance& one : distances) {
    const std::string name = styled(Stream::out, Style::bold, printable(one.output));
    if (!one.unlike.empty()) {
      fmt::print("  {}  {}\n", name, printable(one.unlike));
    } else if (one.same()) {
      fmt::print("  {}  the same\n", name);
    } else {
      fmt::print("  {}  {} of {} elements differ, at most {:.3g} ({:.2g} of the largest)\n", name,
                 one.different, one.elements, one.most, one.relative());
      fmt::print("    {}: {} | {}\n", one.place, printable(one.left), printable(one.right));
    }
  }
}

void print_run(const char* name, const compare::ComparedSide& side) {
  fmt::print("{:<5}  {}{}{}\n", name, printable(side.target), side.version.empty() ? "" : " ",
             printable(side.version));
  for (const compare::Observed* run : {&side.plain, &side.tapped}) {
    const char* how = run == &side.plain ? "without taps" : "with taps";
    if (!run->verdict.empty()) {
      fmt::print("       {}  {}: {}\n", styled(Stream::out, Style::red, run->verdict), how,
                 printable(run->detail));
    }
    if (!run->repeats) fmt::print("       {}: a second run gave other outputs\n", how);
  }
  const std::string& note = side.judged().note;
  if (!note.empty()) fmt::print("       {}\n", printable(note));
}

void print_blame(const char* name, const compare::ComparedSide& side) {
  if (side.blame.nodes.empty()) return;
  std::map<std::string_view, Index> counts;
  const conformance::NodeBlame* nearest = nullptr;
  double used = 0;
  for (const conformance::NodeBlame& one : side.blame.nodes) {
    ++counts[verdict_of(one)];
    const std::optional<double> most = conformance::utilisation(one.judgement);
    if (!most || !(*most > used)) continue;
    used = *most, nearest = &one;
  }
  std::string text;
  for (const auto& [verdict, count] : counts) text += fmt::format(", {} {}", count, verdict);
  fmt::print("{:<5}  {} nodes{}; judged {} of {} elements\n", name, side.blame.nodes.size(), text,
             side.blame.judged, side.blame.elements);
  if (nearest) {
    fmt::print("       largest utilisation {:.3g}: {}\n", used,
               printable(place_of(*nearest->node, "")));
  }
  if (compare::farthest(side.moved) > 0) {
    fmt::print("       taps move its outputs by {:.2g} of the largest\n",
               compare::farthest(side.moved));
  }
}

void print_replay(const std::vector<std::string>& lines) {
  for (std::size_t k = 0; k < lines.size(); ++k) {
    fmt::print("  {}  {}\n", k == 0 ? "replay" : "      ", printable(lines[k]));
  }
}

// Prints the wrong outputs, with the worst element of each.
void print_faults(const conformance::NodeBlame& one) {
  const std::vector<judge::Comparison>& outputs = one.judgement.outputs;
  for (std::size_t k = 0; k < outputs.size() && k < one.node->outputs.size(); ++k) {
    if (!judge::is_fail(outputs[k].verdict)) continue;
    std::string text = conformance::describe(one.node->outputs[k], outputs[k]);
    if (outputs[k].where >= 0) {
      if (text.find(outputs[k].actual) == std::string::npos) {
        text += fmt::format("; the worst is {} for {}", outputs[k].actual, outputs[k].expected);
      }
      text += fmt::format(", utilisation {:.3g}", outputs[k].utilisation_max);
    }
    fmt::print("  {}  {}\n", judge::name(outputs[k].verdict), printable(text));
  }
}

void print_guilty(const char* side_name, const compare::ComparedSide& side,
                  const std::vector<std::string>& replay) {
  if (!side.blame.guilty) return;
  const conformance::NodeBlame& one = side.blame.nodes[*side.blame.guilty];
  fmt::print("{} {}: {}, {}\n", side_name, styled(Stream::out, Style::red, "guilty"),
             version_of(*one.node), printable(place_of(*one.node, "")));
  print_faults(one);
  print_replay(replay);
  const auto fails = std::count_if(
      side.blame.nodes.begin(), side.blame.nodes.end(), [](const conformance::NodeBlame& each) {
        return each.skipped.empty() && judge::is_fail(each.judgement.verdict);
      });
  if (fails > 1) fmt::print("  {} of the nodes behind it are past their bounds too\n", fails - 1);
}

void print_vanished(const char* side_name, const Model& model, const compare::ComparedSide& side,
                    const std::vector<std::string>& replay) {
  if (!side.not_searched.empty()) {
    fmt::print("{}: taps move its outputs, but {}\n", side_name, side.not_searched);
  }
  if (!side.vanished) return;
  const compare::Vanished& gone = *side.vanished;
  const judge::Verdict verdict = gone.judgement.verdict;
  const Style style = judge::is_fail(verdict)   ? Style::red
                      : judge::is_pass(verdict) ? Style::green
                                                : Style::yellow;
  fmt::print("{}: taps move its outputs farther than the sides are apart with taps\n", side_name);
  fmt::print("  half of that stays while nothing is tapped between these {} nodes ({} runs{}):\n",
             gone.nodes.size(), gone.found.runs,
             gone.found.smallest ? "" : ", all that are allowed: fewer may do");
  for (const Index index : gone.nodes) {
    const Node& node = model.graph.nodes[static_cast<std::size_t>(index)];
    fmt::print("    {}, {}\n", version_of(node), printable(place_of(node, "")));
  }
  fmt::print("  together {}{}{}\n", styled(Stream::out, style, judge::name(verdict)),
             gone.judgement.detail.empty() ? "" : ": ", printable(gone.judgement.detail));
  for (const conformance::NodeBlame& one : gone.judgement.shown) print_faults(one);
  print_replay(replay);
}

}  // namespace

void print(const Model& model, const compare::Compared& found, const ReplayLines& replays) {
  for (std::size_t k = 0; k < 2; ++k) print_run(side_names[k], found.sides[k]);
  print_distances("outputs without taps, left | right", found.distances);
  print_distances("outputs with taps, left | right", found.tapped_distances);
  for (std::size_t k = 0; k < 2; ++k) print_blame(side_names[k], found.sides[k]);
  bool suspicion = false;
  for (std::size_t k = 0; k < 2; ++k) {
    const compare::ComparedSide& side = found.sides[k];
    print_guilty(side_names[k], side, replays[k]);
    print_vanished(side_names[k], model, side, replays[k]);
    suspicion = suspicion || side.blame.guilty || side.vanished || !side.not_searched.empty();
  }
  if (!suspicion) fmt::print("no node is guilty\n");
}

}  // namespace touchstone::command
