// Determines which folders outside of the system's roots contain toolchains that a program needs to
// start and to build.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { contains, folderOfProgram, isOfSystem, type Mount } from './walls.ts';

export interface ToolRequest {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly program: string;
  readonly args: readonly string[];
  /**
   * Folders that must never be mounted this way: home, checkout, worktrees, the temporary folder.
   */
  readonly closed: readonly string[];
}

/** Folders below home that contain only tools. */
const toolHomes =
  `.nvm .rustup .cargo/bin .pyenv .rbenv .rvm .asdf .volta .fnm .deno/bin .bun/bin .sdkman .jenv .dotnet .ghcup .juliaup
  .local/bin .local/lib .local/share/mise .local/share/fnm .local/share/pnpm .local/share/uv/python .local/share/rtx
  .local/share/claude/versions go/bin .goenv .nodenv .phpenv .swiftly`.split(/\s+/);

/** Variables that contain the path of a toolchain. */
const toolVariables =
  `NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL RUSTUP_HOME PYENV_ROOT RBENV_ROOT GEM_HOME GOROOT JAVA_HOME
  JDK_HOME SDKMAN_DIR M2_HOME MAVEN_HOME GRADLE_HOME DOTNET_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR CONDA_PREFIX
  ANDROID_HOME ANDROID_SDK_ROOT FLUTTER_ROOT PHP_HOME COMPOSER_HOME`.split(/\s+/);

const mountsMax = 200;

export function toolMounts(request: ToolRequest): readonly Mount[] {
  const { env, home } = request;
  const path = (env['PATH'] ?? '').split(delimiter).filter((entry) => isAbsolute(entry));
  const named = toolVariables.flatMap((name) => env[name] ?? []);
  const folders = new Set([
    ...toolHomes.map((name) => join(home, name)),
    ...named.filter((folder) => isAbsolute(folder)),
    ...path.flatMap((folder) => [folder, folderOfProgram(join(folder, 'x'))]),
    ...programFolders(request),
  ]);
  const mounts = [...folders].flatMap((folder) => mountOf(folder, request)).slice(0, mountsMax);
  return mounts.concat(programFiles(request), certificates(request));
}

/** Variables that name trusted certificates, whose files may be below home. */
const certificateVariables =
  `SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO CARGO_HTTP_CAINFO DENO_CERT
  npm_config_cafile NPM_CONFIG_CAFILE PIP_CERT BUNDLE_SSL_CA_CERT`.split(/\s+/);

function certificates({ env }: ToolRequest): Mount[] {
  const files = certificateVariables.flatMap((name) => env[name] ?? []);
  return files.flatMap((file) => {
    const isShown = isAbsolute(file) && !isOfSystem(file) && isCertificate(file);
    return isShown ? [{ from: file, to: file, mode: 'read' as const }] : [];
  });
}

const certificateBytesMax = 4 * 1024 * 1024;

/** Such a variable must not mount anything else, such as a key or a folder. */
function isCertificate(file: string): boolean {
  try {
    if (!statSync(file).isFile() || statSync(file).size > certificateBytesMax) return false;
    const text = readFileSync(file, 'latin1');
    return text.includes('-----BEGIN CERTIFICATE-----') && !text.includes('PRIVATE KEY');
  } catch {
    return false;
  }
}

/** The program, the targets of its links, and the files that its arguments name. */
function filesNamed({ program, args }: ToolRequest): string[] {
  const files = [program, ...args.filter((arg) => isAbsolute(arg) && existsSync(arg))];
  return files.flatMap((file) => {
    try {
      return [file, realpathSync(file)];
    } catch {
      return [file];
    }
  });
}

function programFolders(request: ToolRequest): string[] {
  return filesNamed(request).flatMap((file) => [folderOfProgram(file), dirname(file)]);
}

/** If the folder must stay closed, only the file is mounted. */
function programFiles(request: ToolRequest): Mount[] {
  return filesNamed(request).flatMap((file) =>
    isOfSystem(file) || request.closed.some((place) => contains(file, place)) || !existsSync(file)
      ? []
      : [{ from: file, to: file, mode: 'read' as const }],
  );
}

function mountOf(folder: string, { closed }: ToolRequest): Mount[] {
  if (isOfSystem(folder) || !existsSync(folder)) return [];
  if (folder === '/' || closed.some((place) => contains(folder, place))) return [];
  return [{ from: folder, to: folder, mode: 'read' }];
}
