// Files that affect what programs of the user, the repository or an agent do later. A change to
// such a file waits for a person's review before it lands.

/**
 * Match in any folder. A name without a star matches a file or a folder; a star matches any part of
 * one name.
 */
export const protectedByDefault: readonly string[] = [
  '.drover.toml',
  '.drover',
  '.claude',
  '.codex',
  '.gemini',
  '.opencode',
  '.cursor',
  '.mcp.json',
  '.vscode',
  '.devcontainer',
  '.envrc',
  '.github/workflows',
  '.github/actions',
  '.github/copilot-instructions.md',
  '.gitlab-ci.yml',
  '.husky',
  '.githooks',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.gitattributes',
  '.lfsconfig',
  '.gitmodules',
  'CLAUDE.md',
  'CLAUDE.local.md',
  'AGENTS.md',
  'AGENT.md',
  'GEMINI.md',
];

/** Returns the paths that match a pattern or lie in a matching folder. Ignores case. */
export function protectedAmong(
  paths: readonly string[],
  patterns: readonly string[],
): readonly string[] {
  const rules = patterns.map(ruleOf).filter((rule) => rule !== null);
  return paths.filter((path) => rules.some((rule) => rule.test(`/${path}`)));
}

/** Returns null if the pattern consists only of slashes. */
function ruleOf(pattern: string): RegExp | null {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0) return null;
  const body = parts.map((part) => part.split('*').map(escaped).join('[^/]*')).join('/');
  return new RegExp(`/${body}(?:/|$)`, 'i');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
