// The prompt section about an agent's environment: the setup that ran, the gate that will test its
// work, its limits, and the files that other running tasks changed.

import { formatDuration } from '../format.ts';
import { toSingleLine } from './prompt-text.ts';

/** A task that runs at the same time, with the files it is known to have changed. */
export interface OtherTask {
  readonly id: string;
  readonly title: string;
  readonly files: readonly string[];
}

export interface Surroundings {
  readonly branch: string;
  readonly base: string | null;
  /** The setup command that ran in the directory. Null if none is configured; absent if unknown. */
  readonly setup?: string | null;
  /** The command that tests the merged tree. Null if none is configured. */
  readonly gate: string | null;
  readonly timeLimitMs: number;
  /** This task's budget in US dollars; null = no limit. */
  readonly budgetUsd: number | null;
  /** Whether the agent has Drover's tools. */
  readonly hasTools: boolean;
  readonly others: readonly OtherTask[];
}

const commandMax = 2_000;
const othersMax = 10;
const filesMax = 15;

export function surroundingsSection(around: Surroundings | null): string {
  if (around === null) return '';
  const base = around.base === null ? '' : `, created from commit ${around.base.slice(0, 12)}`;
  const lines = [
    '## Where You Work',
    `- Your directory is a git worktree of the project on branch \`${around.branch}\`${base}.`,
    ...setupLines(around.setup),
    around.gate === null
      ? '- No gate is configured: nothing tests your work before it lands. Test it yourself.'
      : `- When you have finished, your work is merged with everything that has landed, and this command must succeed on the merged tree: \`${toSingleLine(around.gate, commandMax)}\`. Run it before you finish.`,
    `- This attempt is stopped after ${formatDuration(around.timeLimitMs)}${budgetWords(around.budgetUsd)}. What you have done by then is kept.`,
  ];
  if (around.hasTools) {
    lines.push(
      '- The tools of the MCP server `drover` read the board, add tasks, name a blocker, ask the person and leave short notes for the agents of other tasks.',
    );
  }
  return [...lines, ...otherLines(around.others)].join('\n');
}

function setupLines(setup: string | null | undefined): readonly string[] {
  if (setup === undefined) return [];
  return [
    setup === null
      ? '- No setup command is configured: install dependencies inside this directory if you need them.'
      : `- The setup command has run here: \`${toSingleLine(setup, commandMax)}\`. Run it again if you change dependencies.`,
  ];
}

function budgetWords(budgetUsd: number | null): string {
  return budgetUsd === null ? '' : `, or when the task has cost $${budgetUsd}`;
}

function otherLines(others: readonly OtherTask[]): readonly string[] {
  const changing = others.filter(({ files }) => files.length > 0);
  if (changing.length === 0) return [];
  const lines = [
    '',
    'Other tasks run at the same time and have changed these files so far. Their changes are not in your directory; where both of you change the same lines, one has to do its work again.',
  ];
  for (const other of changing.slice(0, othersMax)) {
    lines.push(`- ${other.id} (${toSingleLine(other.title, 100)}): ${fileNames(other.files)}`);
  }
  const more = changing.length - othersMax;
  if (more > 0) lines.push(`[… ${more} more left out]`);
  return lines;
}

function fileNames(files: readonly string[]): string {
  const named = files.slice(0, filesMax).map((file) => toSingleLine(file, 200));
  const more = files.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
