# cmake -DSOURCE=... -DOUT=... -P commit.cmake: writes a C++ file that defines the commit of the source tree.
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(WRITE "${OUT}" "namespace touchstone::command {\nextern const char* const source_commit;\nconst char* const source_commit = \"${commit}\";\n}\n")
