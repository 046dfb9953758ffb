// What the sandbox costs: an attempt, a real agent's run, the import of what an agent made, and the probes of `doctor`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGitAdapter } from '../server/git/adapter.ts';
import type { LocalRepository } from '../server/git/repository.ts';
import { ensureAgents } from '../test/agents-under-test/install.mjs';
import { startFakeModelApi, type Step } from '../test/doubles/fake-model-api/fake-model-api.mjs';
import { gitInside } from '../test/git/lent-git.ts';
import type { Bench } from './bench.ts';
import { commandClient, type CommandProject, commandProject, drover } from './drover-command.ts';
import { median, short, type Figure } from './figures.ts';
import { copyOf, git, repositoryOf, smallAgent } from './repositories.ts';

const part = 'confinement';
const filesMade = 20;

export async function benchConfinement(bench: Bench): Promise<Figure[]> {
  return [
    await attempts(bench),
    await realAgent(bench),
    await imports(bench),
    await doctorProbes(bench),
  ];
}

async function attempts(bench: Bench): Promise<Figure> {
  const agent = { DROVER_AGENT_PATH: smallAgent(bench.folder) };
  const tasks = bench.options.brief ? 2 : 20;
  const { off, bwrap } = await pairsOf(bench, agent, { tasks, before: () => undefined });
  const costs = bwrap.map((ms, at) => ms - (off[at] ?? Number.NaN));
  return {
    part,
    what: 'an attempt in bwrap against one without, from the claim to the landing',
    value: median(costs),
    unit: 'ms',
    target: { atMost: 60 },
    detail: pairsText(off, bwrap),
  };
}

/** Claude Code with a model that answers at once: nothing hides what the sandbox costs. */
async function realAgent(bench: Bench): Promise<Figure> {
  const { claude } = await ensureAgents();
  const fake = await startFakeModelApi();
  let runs = 0;
  const script = (): void => {
    runs += 1;
    const input = { file_path: `{{cwd}}/made-${runs}.txt`, content: 'made\n' };
    const status = { command: 'git status', description: 'look' };
    const steps: Step[] = [
      { tools: [{ name: 'Write', input }] },
      { tools: [{ name: 'Bash', input: status }] },
      { say: 'Done.' },
    ];
    fake.setScript({
      conversations: [{ name: 'task', match: { prompt: 'Task id: ', hasTools: true }, steps }],
      fallback: { say: 'A title' },
    });
  };
  const agent = {
    DROVER_AGENT_TYPE: 'claude',
    DROVER_AGENT_PATH: claude,
    ANTHROPIC_BASE_URL: fake.url,
    ANTHROPIC_API_KEY: 'sk-ant-dummy-0000',
  };
  try {
    const { off, bwrap } = await pairsOf(bench, agent, { tasks: 1, before: script });
    const shares = bwrap.map((ms, at) => (ms / (off[at] ?? Number.NaN) - 1) * 100);
    return {
      part,
      what: 'a run of Claude Code in bwrap: longer than one without',
      value: median(shares),
      unit: '%',
      target: { atMost: 5 },
      detail: pairsText(off, bwrap),
    };
  } finally {
    await fake.close();
  }
}

/** Median milliseconds of an attempt by pairs, without the sandbox and in it. */
interface Pairs {
  readonly off: readonly number[];
  readonly bwrap: readonly number[];
}

interface RunOptions {
  /** Of one run. */
  readonly tasks: number;
  readonly before: () => void;
}

async function pairsOf(
  bench: Bench,
  agent: Readonly<Record<string, string>>,
  { tasks, before }: RunOptions,
): Promise<Pairs> {
  const modes = ['off', 'bwrap'] as const;
  const projects = new Map<(typeof modes)[number], CommandProject>();
  const times = { off: [] as number[], bwrap: [] as number[] };
  try {
    for (const mode of modes) {
      const made = await commandProject(bench, agent['DROVER_AGENT_PATH'] ?? '');
      const environment = { ...made.environment, ...agent, DROVER_SANDBOX: mode };
      projects.set(mode, { ...made, environment });
      // Makes the slot, and proves the sandbox.
      before();
      await attemptsOf(bench, { ...made, environment }, 1);
    }
    for (let pair = 0; pair < bench.options.pairs; pair += 1) {
      bench.say(`confinement: pair ${pair + 1} of ${bench.options.pairs}`);
      for (const mode of pair % 2 === 0 ? modes : modes.toReversed()) {
        const project = projects.get(mode);
        before();
        if (project !== undefined) times[mode].push(await attemptsOf(bench, project, tasks));
      }
    }
    return times;
  } finally {
    for (const project of projects.values()) project.remove();
  }
}

/** Tasks one after the other; the median from a claim to its landing. */
async function attemptsOf(bench: Bench, project: CommandProject, tasks: number): Promise<number> {
  for (let i = 0; i < tasks; i += 1) await drover(bench, project, ['add', `Make part ${i}`]);
  await drover(bench, project, ['run', '--workers', '1']);
  const client = await commandClient(project);
  const timesOf = async (type: string): Promise<ReadonlyMap<string, number>> => {
    const { events } = await client.call('events.read', { type, limit: 10_000 });
    return new Map(events.map((event) => [event.task_id ?? '', event.at_ms]));
  };
  const claimed = await timesOf('task.claimed');
  const landed = [...(await timesOf('task.completed'))].slice(-tasks);
  client.close();
  return median(landed.map(([id, ms]) => ms - (claimed.get(id) ?? Number.NaN)));
}

function pairsText(off: readonly number[], bwrap: readonly number[]): string {
  return `without ${off.map(short).join(' ')}, in it ${bwrap.map(short).join(' ')}`;
}

/** A commit of twenty files in the lent folder, and its import. */
async function imports(bench: Bench): Promise<Figure> {
  const copy = copyOf(bench.folder, repositoryOf(bench.folder, 100));
  git(copy.repository, 'checkout', '-q', 'main');
  const environment = { PATH: process.env['PATH'] ?? '', HOME: copy.home };
  const opened = await openGitAdapter({ environment }).open(copy.repository);
  if (!opened.ok) throw new Error(opened.error.message);
  const path = join(copy.folder, 'slot');
  const prepared = await opened.value.prepareSlot({
    path,
    branch: 'drover/t/1',
    sha: git(copy.repository, 'rev-parse', 'main'),
    keepBranch: false,
    dropIgnored: false,
    sparse: null,
    use: 'task',
  });
  if (!prepared.ok) throw new Error(prepared.error.message);
  const times: number[] = [];
  try {
    for (let round = 0; round < (bench.options.brief ? 1 : 10); round += 1) {
      bench.say(`confinement: import ${round + 1}`);
      times.push(await importMs(opened.value, path, round));
    }
  } finally {
    copy.remove();
  }
  return {
    part,
    what: `import of a commit of ${filesMade} files`,
    value: median(times),
    unit: 'ms',
    target: { atMost: 30 },
    detail: times.map(short).join(' '),
  };
}

async function importMs(repository: LocalRepository, path: string, round: number): Promise<number> {
  const lent = await repository.lend(path);
  if (!lent.ok) throw new Error(lent.error.message);
  mkdirSync(join(path, 'made'), { recursive: true });
  for (let i = 0; i < filesMade; i += 1)
    writeFileSync(join(path, 'made', `${i}.txt`), `round ${round}, file ${i}\n`.repeat(100));
  const inside = gitInside(path, lent.value);
  inside('add', '-A');
  inside('commit', '-q', '-m', `round ${round}`);
  const startedMs = performance.now();
  const taken = await repository.takeBack(path);
  const ms = performance.now() - startedMs;
  if (!taken.ok) throw new Error(taken.error.message);
  const subject = git(path, 'log', '-1', '--format=%s');
  if (subject !== `round ${round}`) throw new Error(`not imported: ${subject}`);
  return ms;
}

async function doctorProbes(bench: Bench): Promise<Figure> {
  const made = await commandProject(bench, smallAgent(bench.folder));
  const environment = { ...made.environment, DROVER_SANDBOX: 'bwrap' };
  const times: number[] = [];
  try {
    for (let round = 0; round < (bench.options.brief ? 1 : 5); round += 1) {
      bench.say(`confinement: drover doctor --sandbox, ${round + 1}`);
      const startedMs = performance.now();
      await drover(bench, { ...made, environment }, ['doctor', '--sandbox']);
      times.push(performance.now() - startedMs);
    }
  } finally {
    made.remove();
  }
  return {
    part,
    what: 'drover doctor --sandbox: wall',
    value: median(times),
    unit: 'ms',
    target: { atMost: 3000 },
    detail: times.map(short).join(' '),
  };
}
