// Makes a task from a test that VS Code's test view shows, with the message of its failure. Pure.

import { fencedText, firstLine, shortTitle, type ProposedTask } from './task-from-code.ts';

export interface ShownTest {
  /** Ordered from the outermost suite to the test itself. */
  readonly labels: readonly string[];
  /** Relative to the repository, with slashes. Null if VS Code does not know the file. */
  readonly path: string | null;
  /** Starts at 1. */
  readonly line: number | null;
  readonly failure: TestFailure | null;
}

export interface TestFailure {
  readonly message: string;
  readonly expected: string | null;
  readonly actual: string | null;
  /** One line per call, innermost first. */
  readonly stack: readonly string[];
}

const framesMax = 20;

export function proposeForTest({ labels, path, line, failure }: ShownTest): ProposedTask {
  const name = labels.map(firstLine).join(' › ');
  const at = line === null ? '' : `, line ${line}`;
  const where = path === null ? '' : ` in \`${path}\`${at}`;
  const lines = [`The test "${name}"${where} fails. Make it pass without weakening it.`];
  const add = (title: string, text: string | null): void => {
    if (text !== null && text.trim() !== '') lines.push('', `${title}:`, '', ...fencedText(text));
  };
  add('Its message', failure?.message ?? null);
  add('Expected', failure?.expected ?? null);
  add('Actual', failure?.actual ?? null);
  add('Stack', failure?.stack.slice(0, framesMax).join('\n') ?? null);
  const last = firstLine(labels.at(-1) ?? '');
  return { title: shortTitle(`Fix the failing test: ${last}`), description: lines.join('\n') };
}
