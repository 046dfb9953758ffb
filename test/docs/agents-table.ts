// The table of docs/agents.md, from the drivers' own declarations.

import { createDriver } from '../../server/agents/drivers.ts';
import { type AgentCapabilities } from '../../server/agents/port.ts';
import { agentKinds, type AgentKind } from '../../server/core/plan/task.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';

const columns: readonly (readonly [string, (driver: Driver) => boolean])[] = [
  ['resumes after a crash', ({ capabilities }) => capabilities.resume],
  ['asks a person', ({ capabilities }) => capabilities.questions],
  ['hears hints in mid-turn', ({ capabilities }) => capabilities.hints],
  ['tells its cost', ({ capabilities }) => capabilities.cost],
  ['outlives the backend', ({ capabilities }) => capabilities.adopt],
  ['can be taken over', (driver) => driver.interactive !== undefined],
  ['says who is signed in', (driver) => driver.account !== undefined],
];

interface Driver {
  readonly capabilities: AgentCapabilities;
  readonly interactive?: unknown;
  readonly account?: unknown;
}

export const tableMarks = ['<!-- table: begin -->', '<!-- table: end -->'] as const;

export function agentsTable(): string {
  const header = ['kind', ...columns.map(([title]) => title)];
  const rows = agentKinds.map((kind) => {
    const driver = driverOf(kind);
    return [`\`${kind}\``, ...columns.map(([, has]) => (has(driver) ? 'yes' : '–'))];
  });
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The text with its table generated again. */
export function withTable(text: string): string {
  const [begin, end] = tableMarks;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from)
    throw new Error(`there is no place for the table: ${begin} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${agentsTable()}\n\n${text.slice(to)}`;
}

function driverOf(kind: AgentKind): Driver {
  return createDriver(
    { kind, path: null, args: [], env: {}, model: null, permissionMode: null },
    { processTable: createProcessTable(), version: '0', baseDir: '/' },
  );
}
