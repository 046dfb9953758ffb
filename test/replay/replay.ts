// Replays a history with the real command: each task's agent makes the change of its commit, and
// the setup and the gate are the repository's own.

import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { StatusSnapshot, TaskView } from '../../server/protocol/api.ts';
import type { FinishedProgram } from '../e2e/support/run-program.ts';
import { makeProject, type Project } from '../e2e/support/project.ts';
import type { ReplayedHistory } from './history.ts';

export interface ReplayRequest {
  readonly repository: string;
  readonly history: ReplayedHistory;
  readonly setup: string;
  readonly gate: string;
  readonly workers: number;
  /** Additional variables of this environment that the setup and the gate need. */
  readonly variables: readonly string[];
  readonly isKept: boolean;
}

export interface Replayed {
  readonly code: number | null;
  readonly said: string;
  /** Tasks that have not landed, with the reason. */
  readonly open: readonly string[];
  readonly isTreeEqual: boolean;
  /**
   * Tasks that changed files which run later, such as a workflow of the hosting service; each
   * waited for a person's approval.
   */
  readonly approved: readonly string[];
  /** Folders in which the setup ran, in order. */
  readonly setups: readonly string[];
  /** Lines that the setup and the gate wrote to `../../counted`, for example compiled files. */
  readonly counted: readonly string[];
  readonly seconds: number;
}

/**
 * A commit's whole change compared with its first parent, whatever the configuration says about
 * diffs.
 */
const agent = `
cat > /dev/null
commit=$(cat "../../commits/$id")
git diff-tree -p --binary --full-index "$commit^1" "$commit" > "../../change-$id"
git apply --index --whitespace=nowarn "../../change-$id"
`;

const runMaxMs = 3 * 60 * 60_000;

export async function replay(request: ReplayRequest): Promise<Replayed> {
  const { repository, history, setup, gate, workers, variables } = request;
  const project = makeProject({ agent, env: given(variables) });
  const { root, folder } = project;
  const settings = [
    '[setup]',
    `command = ${JSON.stringify(`pwd >> ../../setups; ${setup}`)}`,
    `env_allow = ${JSON.stringify(variables)}`,
    '[gate]',
    `command = ${JSON.stringify(gate)}`,
    `env_allow = ${JSON.stringify(variables)}`,
  ];
  try {
    project.git('fetch', '-q', repository, `+${history.tip}:refs/replayed/tip`);
    project.git('checkout', '-q', '-B', 'main', history.base);
    project.write('repo/.drover.toml', `${settings.join('\n')}\n`);
    appendFileSync(join(root, '.git', 'info', 'exclude'), '.drover.toml\n');
    for (const { id, commit } of history.tasks) project.write(`commits/${id}`, `${commit}\n`);
    const records = history.tasks.map(({ id, title, blocked_by }) => ({
      type: 'story',
      id,
      title,
      blocked_by,
    }));
    project.write('plan.jsonl', `${records.map((each) => JSON.stringify(each)).join('\n')}\n`);
    await project.expect(0, ['init']);
    await project.expect(0, ['import', join(folder, 'plan.jsonl')]);
    const beganMs = Date.now();
    const approved: string[] = [];
    let last: FinishedProgram;
    // A run ends when only reviews are left; later approvals belong to the next run.
    for (;;) {
      const before = approved.length;
      const args = ['run', '--target', 'main', '--workers', String(workers)];
      const run = project.start(args, { timeoutMs: runMaxMs });
      await approveUntil(run.ended, project, approved);
      last = await run.ended;
      if (last.code === 0 || approved.length === before) break;
    }
    const { code, stderr } = last;
    const seconds = Math.round((Date.now() - beganMs) / 1000);
    const { tasks } = await project.status();
    return {
      code,
      said: stderr,
      approved,
      open: tasks.filter(({ status }) => status !== 'completed').map(reasonOf),
      isTreeEqual:
        project.git('rev-parse', 'main^{tree}') ===
        project.git('rev-parse', `${history.tip}^{tree}`),
      setups: linesOf(project.read('setups')),
      counted: linesOf(project.read('counted')),
      seconds,
    };
  } finally {
    await project.end(request.isKept);
  }
}

const looksMs = 2_000;

/** Approves every change to protected files, like a person who has reviewed it. */
async function approveUntil(
  end: Promise<unknown>,
  project: Project,
  approved: string[],
): Promise<void> {
  let isOver = false;
  const over = end.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  while (!isOver) {
    await Promise.race([over, delay(looksMs)]);
    const done = await project.drover(['status', '--json']);
    if (done.code !== 0) continue;
    const { tasks } = JSON.parse(done.stdout) as StatusSnapshot;
    for (const { id, status, review_kind: kind } of tasks) {
      if (status !== 'needs_review' || kind !== 'protected' || approved.includes(id)) continue;
      if ((await project.drover(['approve', id])).code === 0) approved.push(id);
    }
  }
}

function given(variables: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of variables) {
    const value = process.env[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function reasonOf({ id, status, title, last_error: error, blocked_reason: why }: TaskView): string {
  return `${id} ${status} (${title}): ${error ?? why ?? ''}`;
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Creates a repository with these trees, one commit for each: an artificial history. */
export function writeHistory(
  folder: string,
  trees: readonly Readonly<Record<string, string>>[],
): void {
  const script = [
    'set -e; git init -q -b main .; git config user.name Nobody; git config user.email n@example.org',
    ...trees.map((tree, at) => {
      const files = Object.entries(tree).map(([path, text]) => {
        const quoted = text.replaceAll("'", `'\\''`);
        return `mkdir -p "$(dirname '${path}')"; printf %s '${quoted}' > '${path}'`;
      });
      return `${files.join('; ')}; git add -A; git commit -qm 'change ${at}'`;
    }),
  ];
  execFileSync('sh', ['-c', script.join('\n')], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
