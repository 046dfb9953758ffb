// Variables that make compilers and package managers work as in the user's shell: paths, caches and
// network access, but never credentials.

import { knownSecrets } from '../../secrets/known-secrets.ts';

const words = (text: string): readonly string[] => text.split(/\s+/);

/** The user and their folders. A star at the end matches any suffix. */
const person = words(
  `USER LOGNAME SHELL TZ TMPDIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME NO_COLOR FORCE_COLOR COLORTERM CI`,
);

/** Network access. A proxy's URL may contain a password, and nothing can be reached without it. */
const networkVariables: readonly string[] = words(
  `HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO CARGO_HTTP_CAINFO DENO_CERT
  npm_config_cafile NPM_CONFIG_CAFILE PIP_CERT UV_NATIVE_TLS BUNDLE_SSL_CA_CERT`,
);

/**
 * npm's settings, except those of a single npm call, because Drover itself may have been started by
 * npm.
 */
const npmSettings =
  words(`cache registry prefix userconfig globalconfig proxy https_proxy noproxy strict_ssl python
  fund audit update_notifier progress prefer_offline offline`).flatMap((name) => [
    `npm_config_${name}`,
    `NPM_CONFIG_${name.toUpperCase()}`,
  ]);

const tools = words(
  `NODE_PATH NVM_DIR NVM_BIN NVM_INC FNM_* VOLTA_HOME PNPM_HOME COREPACK_* YARN_* BUN_INSTALL DENO_DIR DENO_INSTALL
  ELECTRON_CACHE PLAYWRIGHT_BROWSERS_PATH PUPPETEER_CACHE_DIR CYPRESS_CACHE_FOLDER
  PIP_* PIPENV_* PIPX_* UV_* POETRY_* PDM_* PYENV_* VIRTUAL_ENV CONDA_* MAMBA_* PYTHONPATH PYTHONUSERBASE PYTHONHASHSEED
  PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 WORKON_HOME
  CARGO_* RUSTUP_* RUSTC RUSTC_WRAPPER RUSTFLAGS RUSTDOCFLAGS RUST_BACKTRACE SCCACHE_*
  GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOTMPDIR GOPROXY GONOPROXY GOPRIVATE GONOSUMDB GOSUMDB GOINSECURE GOFLAGS GOTOOLCHAIN
  GOENV GO111MODULE GOOS GOARCH CGO_*
  JAVA_HOME JDK_HOME JRE_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS MAVEN_* M2_HOME GRADLE_* SDKMAN_DIR SBT_OPTS
  KOTLIN_HOME ANT_HOME JENV_ROOT
  DOTNET_* NUGET_* MSBUILD*
  GEM_HOME GEM_PATH BUNDLE_PATH BUNDLE_GEMFILE BUNDLE_APP_CONFIG BUNDLE_USER_HOME BUNDLE_USER_CACHE BUNDLE_WITHOUT BUNDLE_JOBS
  RBENV_* RUBYLIB rvm_path
  COMPOSER_HOME COMPOSER_CACHE_DIR PHPRC PHP_INI_SCAN_DIR PHPENV_ROOT
  ASDF_* MISE_* HOMEBREW_* NIX_* ANDROID_HOME ANDROID_SDK_ROOT FLUTTER_ROOT PUB_CACHE SWIFTLY_*
  CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS CMAKE_* PKG_CONFIG_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH LIBRARY_PATH CPATH
  C_INCLUDE_PATH CPLUS_INCLUDE_PATH CCACHE_DIR`.trim(),
);

const given = [...person, ...networkVariables, ...npmSettings, ...tools];
const isNetwork = new Set(networkVariables);

/** Whether a program that builds and tests may see the variable. */
export function isToolVariable(name: string, value: string): boolean {
  if (!given.some((pattern) => covers(pattern, name))) return false;
  return isNetwork.has(name) || knownSecrets({ [name]: value }).length === 0;
}

/** A star at the end matches any suffix. */
export function covers(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
