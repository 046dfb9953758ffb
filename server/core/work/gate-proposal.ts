// Proposes a gate command from files in the root of a repository. Pure.

export interface GateProposal {
  readonly command: string;
  /** The file that the proposal comes from. */
  readonly file: string;
}

/** Questions that Drover may ask once when it is set up in a repository. */
export interface SetupProposal {
  /** Settings that no file, variable or flag has set. */
  readonly asks: readonly ('agent' | 'gate' | 'workers')[];
  readonly gate: GateProposal | null;
  readonly workers: number;
}

/** Files in the root that may contain a proposal. */
export const gateProposalFiles = [
  'package.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'Cargo.toml',
  'go.mod',
  'pytest.ini',
  'pyproject.toml',
  'tox.ini',
  'Makefile',
  'gradlew',
  'pom.xml',
  'mix.exs',
] as const;
export type GateProposalFile = (typeof gateProposalFiles)[number];

/** `texts` contains the existing files. Returns null if nothing can be proposed. */
export function proposeGate(
  texts: Readonly<Partial<Record<GateProposalFile, string>>>,
): GateProposal | null {
  const script = nodeScript(texts);
  if (script !== null) return script;
  if (/^test\s*:(?!=)/m.test(texts.Makefile ?? ''))
    return { command: 'make test', file: 'Makefile' };
  if (texts['Cargo.toml'] !== undefined) return { command: 'cargo test', file: 'Cargo.toml' };
  if (texts['go.mod'] !== undefined) return { command: 'go test ./...', file: 'go.mod' };
  for (const file of ['pytest.ini', 'tox.ini'] as const) {
    if (texts[file] !== undefined) return { command: 'pytest', file };
  }
  if (/\bpytest\b/.test(texts['pyproject.toml'] ?? '')) {
    return { command: 'pytest', file: 'pyproject.toml' };
  }
  if (texts.gradlew !== undefined) return { command: './gradlew test', file: 'gradlew' };
  if (texts['pom.xml'] !== undefined) return { command: 'mvn -q test', file: 'pom.xml' };
  if (texts['mix.exs'] !== undefined) return { command: 'mix test', file: 'mix.exs' };
  return null;
}

function nodeScript(
  texts: Readonly<Partial<Record<GateProposalFile, string>>>,
): GateProposal | null {
  const test = testScript(texts['package.json'] ?? '');
  // The default script that npm creates always fails.
  if (test === null || /no test specified/.test(test)) return null;
  const runner =
    texts['pnpm-lock.yaml'] !== undefined
      ? 'pnpm'
      : texts['yarn.lock'] !== undefined
        ? 'yarn'
        : texts['bun.lock'] !== undefined
          ? 'bun run'
          : 'npm';
  return { command: `${runner} test`, file: 'package.json' };
}

function testScript(text: string): string | null {
  try {
    const manifest: unknown = JSON.parse(text);
    const { scripts } = manifest as { scripts?: { test?: unknown } };
    return typeof scripts?.test === 'string' ? scripts.test : null;
  } catch {
    return null;
  }
}
