# The documents and manual pages are in the program, because its errors name them: `elector help TOPIC` prints them.
file(GLOB help_pages CONFIGURE_DEPENDS README.md docs/*.md man/*.scd)
set(help_source ${PROJECT_BINARY_DIR}/help_texts.c)
set(help_code "/* Made by cmake/help_texts.cmake. */\n#include \"cli/help_texts.h\"\n")
set(help_rows "")
set(help_number 0)
foreach(page ${help_pages})
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${page})
  set(label elector_help_${help_number})
  string(APPEND help_code "__asm__(\".pushsection .rodata\\n.hidden ${label}, ${label}_end\\n.global ${label}, ${label}_end\\n\"\n"
    "        \"${label}:\\n.incbin \\\"${page}\\\"\\n${label}_end:\\n.popsection\");\n"
    "extern const char ${label}[], ${label}_end[];\n")
  string(APPEND help_rows "    {\"${name}\", ${label}, ${label}_end},\n")
  math(EXPR help_number "${help_number} + 1")
endforeach()
string(APPEND help_code "const struct cli_help_text cli_help_texts[] = {\n${help_rows}};\nconst unsigned cli_help_text_count = ${help_number};\n")
file(GENERATE OUTPUT ${help_source} CONTENT "${help_code}")
set_source_files_properties(${help_source} PROPERTIES GENERATED TRUE OBJECT_DEPENDS "${help_pages}")
