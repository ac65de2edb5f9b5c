# elector::elector is the shared library, elector::static the other. Where no static jansson was found, that needs jansson beside it.
include(CMakeFindDependencyMacro)
if(NOT TARGET PkgConfig::jansson)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(jansson QUIET IMPORTED_TARGET GLOBAL jansson)
  endif()
endif()
if(NOT TARGET PkgConfig::jansson) # enough for the shared library
  add_library(PkgConfig::jansson INTERFACE IMPORTED)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/electorTargets.cmake)
