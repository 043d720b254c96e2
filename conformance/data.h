// Finds data files and the Python interpreter when the program runs: no path is compiled in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace touchstone::conformance {

// Returns the folder whose files have the names that they have in the source tree. It is
// $TOUCHSTONE_DATA, ../share/touchstone of the program's folder, or else the source tree of the
// build that holds the program. Throws Error (file) if there is none.
const std::filesystem::path& data_folder();

// Does the same for a program that lies in the given folder.
std::filesystem::path data_folder_for(const std::filesystem::path& program_folder);

// Returns $TOUCHSTONE_PYTHON, which the Python package sets to its own interpreter; else that of
// the environment in the data folder with the name; else "python3", which PATH finds.
std::string python_of(const std::string& environment);

// Returns the interpreter for a released runtime, whose environment is .venv-NAME. Throws Error
// (file) that says how to make it if it is not there.
std::string python_of_runtime(const std::string& name);

// Runs a command in the data folder; what it prints goes to standard error. Returns its exit code.
int run_beside_data(const std::vector<std::string>& command);

}  // namespace touchstone::conformance
