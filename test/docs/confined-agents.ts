// The table of real agents in docs/isolation.md, from the stored results of
// test/e2e/confined-agents.test.ts.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentName } from '../agents-under-test/install.mjs';

/** The results of one real agent in the sandbox. */
export interface ConfinedFacts {
  readonly version: string;
  readonly edits: boolean;
  readonly runs: boolean;
  readonly commits: boolean;
  readonly asks: boolean;
  /** Killed in mid-turn, it continued in its conversation. */
  readonly resumes: boolean;
  /** The outside hosts that it reached. */
  readonly reached: readonly string[];
}

type FactsByAgent = Partial<Record<AgentName, ConfinedFacts>>;

const store = join(import.meta.dirname, 'confined-agents.json');
const installed = join(import.meta.dirname, '..', 'agents-under-test', 'package.json');

const agents: Readonly<Record<AgentName, { readonly title: string; readonly package: string }>> = {
  claude: { title: 'Claude Code', package: '@anthropic-ai/claude-code' },
  codex: { title: 'Codex (`codex-acp`)', package: '@agentclientprotocol/codex-acp' },
  opencode: { title: 'OpenCode', package: 'opencode-linux-x64' },
  gemini: { title: 'Gemini CLI', package: '@google/gemini-cli' },
  copilot: { title: 'Copilot CLI', package: '@github/copilot' },
};

export const agentsOfTable = Object.keys(agents) as readonly AgentName[];

const columns: readonly (readonly [string, (facts: ConfinedFacts) => string])[] = [
  ['version', ({ version }) => version],
  ['edits', ({ edits }) => yesOrNo(edits)],
  ['runs a command', ({ runs }) => yesOrNo(runs)],
  ['commits', ({ commits }) => yesOrNo(commits)],
  ['asks a person', ({ asks }) => yesOrNo(asks)],
  ['killed: continues its conversation', ({ resumes }) => yesOrNo(resumes)],
  ['reached outside', ({ reached }) => (reached.length === 0 ? 'nothing' : reached.join(', '))],
];

const marks = ['<!-- agents: begin -->', '<!-- agents: end -->'] as const;

function yesOrNo(is: boolean): string {
  return is ? 'yes' : 'no';
}

/** The version that the tests drive. */
export function versionOf(kind: AgentName): string {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(installed, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const version = { ...dependencies, ...optionalDependencies }[agents[kind].package];
  if (version === undefined) throw new Error(`no version of ${kind} is named`);
  return version;
}

export function storedConfinedFacts(): FactsByAgent {
  return JSON.parse(readFileSync(store, 'utf8')) as FactsByAgent;
}

export function storeConfinedFacts(facts: FactsByAgent): void {
  writeFileSync(store, `${JSON.stringify(facts, null, 2)}\n`);
}

/** The text with its table generated again. */
export function withConfinedAgents(text: string): string {
  const [from, to] = [text.indexOf(marks[0]), text.indexOf(marks[1])];
  if (from === -1 || to < from) throw new Error(`there is no place for the table: ${marks.join()}`);
  return `${text.slice(0, from + marks[0].length)}\n\n${table()}\n\n${text.slice(to)}`;
}

function table(): string {
  const facts = storedConfinedFacts();
  const header = ['agent', ...columns.map(([title]) => title)];
  const rows = agentsOfTable.map((kind) => {
    const one = facts[kind];
    const cells = columns.map(([, cell]) => (one === undefined ? 'not tested' : cell(one)));
    return [agents[kind].title, ...cells];
  });
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
