// Recognizes files that declare dependencies. If one of them changes, the worktree needs a new
// setup.

const exactNames: ReadonlySet<string> = new Set([
  // Node
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
  'deno.json',
  'deno.lock',
  '.npmrc',
  '.yarnrc.yml',
  '.nvmrc',
  // Python
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'Pipfile',
  'Pipfile.lock',
  'poetry.lock',
  'uv.lock',
  'pdm.lock',
  'environment.yml',
  '.python-version',
  // Go, Rust
  'go.mod',
  'go.sum',
  'go.work',
  'go.work.sum',
  'Cargo.toml',
  'Cargo.lock',
  'rust-toolchain',
  'rust-toolchain.toml',
  // Ruby, PHP, Elixir, Dart, Swift
  'Gemfile',
  'Gemfile.lock',
  '.ruby-version',
  'composer.json',
  'composer.lock',
  'mix.exs',
  'mix.lock',
  'pubspec.yaml',
  'pubspec.lock',
  'Package.swift',
  'Package.resolved',
  // JVM, .NET
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'settings.gradle',
  'settings.gradle.kts',
  'gradle.properties',
  'gradle.lockfile',
  'libs.versions.toml',
  'build.sbt',
  'Directory.Packages.props',
  'packages.lock.json',
  // Native code and tools
  'conanfile.txt',
  'conanfile.py',
  'vcpkg.json',
  'flake.nix',
  'flake.lock',
  '.tool-versions',
  'mise.toml',
]);

const patterns: readonly RegExp[] = [
  /^requirements[^/]*\.(?:txt|in)$/,
  /^constraints[^/]*\.txt$/,
  /\.(?:csproj|fsproj|vbproj|gemspec|cabal)$/,
];

/**
 * `path` is relative to the root and has forward slashes. Manifests and lock files count at any
 * depth, because of workspaces.
 */
export function isSetupInput(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (exactNames.has(name)) return true;
  if (patterns.some((pattern) => pattern.test(name))) return true;
  // `requirements/dev.txt`: the common folder for several lists.
  return /(?:^|\/)requirements\/[^/]+\.(?:txt|in)$/.test(path);
}
