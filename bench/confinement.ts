// The cost of the sandbox: an attempt, a real agent's run, the import of an agent's work, and the
// probes of `doctor`.

import { ensureAgents } from '../test/agents-under-test/install.mjs';
import { startFakeModelApi, type Step } from '../test/doubles/fake-model-api/fake-model-api.mjs';
import type { Bench } from './bench.ts';
import { commandClient, type CommandProject, commandProject, drover } from './drover-command.ts';
import { median, short, type Figure } from './figures.ts';
import { smallAgent } from './repositories.ts';

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
  const { pairs } = bench.options;
  const { off, bwrap } = await pairsOf(bench, agent, { tasks, pairs, before: () => undefined });
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

/** Claude Code with a model that answers at once, so that nothing hides the cost of the sandbox. */
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
    // One run takes a second, and identical runs differ by a tenth of that.
    const pairs = bench.options.brief ? 1 : bench.options.pairs * 4;
    const { off, bwrap } = await pairsOf(bench, agent, { tasks: 1, pairs, before: script });
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

/** Median milliseconds of an attempt in each pair, without and with the sandbox. */
interface Pairs {
  readonly off: readonly number[];
  readonly bwrap: readonly number[];
}

interface RunOptions {
  /** Number of tasks in one run. */
  readonly tasks: number;
  readonly pairs: number;
  readonly before: () => void;
}

async function pairsOf(
  bench: Bench,
  agent: Readonly<Record<string, string>>,
  { tasks, pairs, before }: RunOptions,
): Promise<Pairs> {
  const modes = ['off', 'bwrap'] as const;
  const projects = new Map<(typeof modes)[number], CommandProject>();
  const times = { off: [] as number[], bwrap: [] as number[] };
  try {
    for (const mode of modes) {
      const made = await commandProject(bench, agent['DROVER_AGENT_PATH'] ?? '');
      const environment = { ...made.environment, ...agent, DROVER_SANDBOX: mode };
      projects.set(mode, { ...made, environment });
      // Creates the slot, and tests the sandbox.
      before();
      await attemptsOf(bench, { ...made, environment }, 1);
    }
    for (let pair = 0; pair < pairs; pair += 1) {
      bench.say(`confinement: pair ${pair + 1} of ${pairs}`);
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

/** Runs tasks one after the other, and returns the median time from a claim to its landing. */
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

/** Makes a commit of twenty files in the lent folder, and imports it. */
async function imports(bench: Bench): Promise<Figure> {
  bench.say('confinement: import');
  const [warm, rounds] = bench.options.brief ? [0, 1] : [5, 20];
  const options = { folder: bench.folder, changes: filesMade, warm, rounds };
  const times = await bench.programs.json<readonly number[]>('import-run', options);
  return {
    part,
    what: `import of a commit of ${filesMade} files`,
    value: median(times),
    unit: 'ms',
    target: { atMost: 30 },
    detail: times.map(short).join(' '),
  };
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
