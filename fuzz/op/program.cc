// Parses prefix terms. Versions with equal rules share a program.
#include "fuzz/op/program.h"

#include <cctype>
#include <charconv>

#include "core/error.h"
#include "core/json.h"

namespace touchstone::fuzz {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() {
    skip();
    return at_ >= text_.size();
  }

  Term term() {
    skip();
    if (at_ >= text_.size()) BUG("a term ends early");
    if (text_[at_] == '"') return string();
    if (text_[at_] != '(') return atom(word());
    ++at_;
    Term made;
    skip();
    // The head of a form is a word; a list of binders has none.
    if (text_[at_] == '"') {
      made.text = string().text;
    } else if (text_[at_] != '(') {
      made.text = word();
    }
    for (skip(); text_[at_] != ')'; skip()) made.args.push_back(term());
    ++at_;
    return made;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  std::string word() {
    const std::size_t end = std::min(text_.find_first_of(" ()\n", at_), text_.size());
    std::string found(text_.substr(at_, end - at_));
    at_ = end;
    return found;
  }
  Term string() {
    std::size_t end = at_ + 1;
    while (text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    Term made;
    made.kind = Term::Kind::string;
    made.text = nlohmann::ordered_json::parse(text_.substr(at_, end + 1 - at_)).get<std::string>();
    at_ = end + 1;
    return made;
  }
  static Term atom(const std::string& word) {
    Term made;
    made.text = word;
    made.kind = Term::Kind::name;
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) return made;
    const char* const last = word.data() + word.size();
    made.kind = Term::Kind::integer;
    const auto [end, wrong] = std::from_chars(word.data(), last, made.number);
    if (wrong == std::errc() && end == last) return made;
    made.kind = Term::Kind::real;
    std::from_chars(word.data(), last, made.real);
    return made;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::shared_ptr<const Program> parsed(std::string_view text) {
  auto made = std::make_shared<Program>();
  Reader reader(text);
  while (!reader.at_end()) {
    Term statement = reader.term();
    const std::string name = statement.args.at(0).text;
    if (statement.text == "computed") {
      made->computed.push_back(name);
      continue;
    }
    std::vector<NamedTerm>& into = statement.text == "let"    ? made->lets
                                   : statement.text == "rule" ? made->rules
                                                              : made->positions;
    into.push_back({name, std::move(statement.args.at(1))});
  }
  return made;
}

}  // namespace

const Term* Program::let(std::string_view name) const {
  for (const NamedTerm& each : lets)
    if (each.name == name) return &each.term;
  return nullptr;
}

Programs::Programs() {
  std::map<std::string_view, std::shared_ptr<const Program>> by_text;
  for (const ProgramText& row : program_texts()) {
    std::shared_ptr<const Program>& program = by_text[row.text];
    if (!program) program = parsed(row.text);
    const Signature* signature = find_signature(row.domain, row.op, row.since);
    if (!signature || signature->since != row.since) BUG("a program of no version");
    programs_[signature] = program;
  }
}

const Program& Programs::of(const Signature& signature) const {
  const auto found = programs_.find(&signature);
  return found == programs_.end() ? none_ : *found->second;
}

}  // namespace touchstone::fuzz
