# Joins page.html, page.css and page.js into one string constant. Run as a script by the build.
# usage: cmake -DFOLDER=.../page -DOUT=page_text.h -P embed.cmake
file(READ "${FOLDER}/page.html" page)
file(READ "${FOLDER}/page.css" style)
file(READ "${FOLDER}/page.js" script)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE "${OUT}.new" "// Joined by the build from conformance/report/page/: edit those.
#pragma once

namespace touchstone::report {

inline constexpr char page_text[] = R\"page(${page})page\";

}  // namespace touchstone::report
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUT}.new")
