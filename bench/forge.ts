// What a project's forge costs: pull requests that wait, a fact on its way to an agent, the way to
// a pull request, and the import of issues. GitHub is the fake of the tests.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { projectPlaces } from '../server/project/project-places.ts';
import { type FakeGithub, startFakeGithub } from '../test/doubles/fake-github/fake-github.ts';
import { type Backend, type BackendProject, projectOf, startBackend } from './backend.ts';
import type { Bench } from './bench.ts';
import { type Figure, median, short } from './figures.ts';
import { treeUse } from './process-use.ts';
import { git, repositoryOf, script } from './repositories.ts';

const part = 'forge';
const slug = 'acme/shop';
const token = 'ghp_dummy0123456789';
const waitMaxMs = 10 * 60_000;
/** 60 looks are an hour of them at the default interval. */
const looksOfHour = 60;
const pollMs = 60_000;

interface Shop {
  readonly bench: Bench;
  readonly fake: FakeGithub;
  readonly project: BackendProject;
  /** A line for each agent that has started: the time in ms. */
  readonly started: string;
}

interface Sizes {
  readonly pulls: number;
  readonly looks: number;
  readonly watchMs: number;
  readonly issues: number;
  readonly edges: number;
}

const whole: Sizes = { pulls: 20, looks: looksOfHour, watchMs: 180_000, issues: 500, edges: 800 };
const brief: Sizes = { pulls: 2, looks: 3, watchMs: 10_000, issues: 20, edges: 30 };

export async function benchForge(bench: Bench): Promise<Figure[]> {
  const sizes = bench.options.brief ? brief : whole;
  bench.say(`forge: ${sizes.pulls} pull requests, ${sizes.issues} issues`);
  execFileSync(process.execPath, ['test/forge/schemas/install.mjs'], { stdio: 'ignore' });
  const fake = await startFakeGithub({ token });
  const started = join(bench.folder, `started-${process.pid}`);
  const agent = script(
    bench.folder,
    'forge-agent',
    `date +%s%3N >> '${started}'\nmkdir -p made\necho "$DROVER_TASK_ID" > "made/$DROVER_TASK_ID.txt"\n`,
  );
  const bare = await projectOf(bench, repositoryOf(bench.folder, 100), agent);
  const environment = { ...bare.environment, GH_ENTERPRISE_TOKEN: token };
  const shop: Shop = { bench, fake, project: { ...bare, environment }, started };
  try {
    fake.git.create(slug);
    git(bare.repository, 'push', '-q', fake.git.path(slug), 'main');
    git(bare.repository, 'remote', 'set-url', 'origin', `${fake.url}${slug}.git`);
    const figures = [
      await benchOpening(shop, sizes),
      await benchRequests(shop, sizes),
      ...(await benchWatching(shop, sizes)),
      await benchImport(shop, sizes),
    ];
    if (fake.faults.length > 0) throw new Error(fake.faults.join('\n'));
    return figures;
  } finally {
    bare.remove();
    await fake.close();
  }
}

/** A backend that looks this often. */
async function startLooking({ bench, project }: Shop, poll: string): Promise<Backend> {
  const folder = join(project.home, '.config', 'drover');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.toml'), `[forge]\npoll = "${poll}"\n`);
  return startBackend(bench, project);
}

/** An epic of one task for each pull request, one run after the other. */
async function benchOpening(shop: Shop, { pulls }: Sizes): Promise<Figure> {
  const { fake, project } = shop;
  const backend = await startLooking(shop, '2s');
  const { client } = backend;
  const env = project.environment;
  for (let at = 1; at <= pulls; at += 1) {
    const epic = await client.call('epic.add', { title: `Epic ${at}` });
    await client.call('task.add', { title: `Task ${at}`, epic: epic.id });
    await client.call('run.start', { workers: 1, epic: epic.id, target: 'main', land: 'pr', env });
    await until(() => fake.pulls.length === at && fake.pulls[at - 1]?.isDraft === false);
  }
  await backend.kill('SIGTERM');
  const times = openingTimes(project);
  return {
    part,
    what: 'from the planned push to the draft',
    value: median(times) / 1_000,
    unit: 's',
    target: { atMost: 3 },
    detail: `slowest ${short(Math.max(...times) / 1_000)} s of ${times.length}`,
  };
}

function openingTimes(project: BackendProject): readonly number[] {
  const database = projectPlaces(project.repository, null).database;
  const db = new DatabaseSync(database, { readOnly: true });
  try {
    const rows = db
      .prepare(
        `SELECT o.ended_at_ms - p.created_at_ms AS ms FROM forge_outbox p
         JOIN forge_outbox o ON o.epic_id = p.epic_id AND o.kind = 'open' WHERE p.kind = 'push'`,
      )
      .all();
    return rows.map(({ ms }) => Number(ms));
  } finally {
    db.close();
  }
}

/** After the first look, which knows nothing yet. */
async function benchRequests(shop: Shop, { pulls, looks }: Sizes): Promise<Figure> {
  const { fake } = shop;
  const backend = await startLooking(shop, '2s');
  await looked(fake, pulls, 2);
  const before = fake.counted.length;
  await looked(fake, pulls, looks);
  const counted = fake.counted.length - before;
  await backend.kill('SIGTERM');
  return {
    part,
    what: `requests in an hour that count, ${pulls} idle pull requests`,
    value: (counted / looks) * looksOfHour,
    unit: '',
    target: { atMost: 60 },
    detail: `${counted} in ${looks} looks`,
  };
}

async function looked(fake: FakeGithub, pulls: number, looks: number): Promise<void> {
  const read = (): number =>
    fake.requests.filter((line) => /^GET \/repos\/[^/]+\/[^/]+\/pulls\/\d+$/u.test(line)).length;
  const enough = read() + pulls * looks;
  await until(() => read() >= enough);
}

/** At the default interval. The fact is there just after a look, which is the longest way. */
async function benchWatching(shop: Shop, { pulls, watchMs }: Sizes): Promise<Figure[]> {
  const { fake, started, bench } = shop;
  const isBrief = bench.options.brief;
  const backend = await startLooking(shop, isBrief ? '2s' : '60s');
  await looked(fake, pulls, isBrief ? 1 : 2);
  const before = treeUse(backend.pid);
  await delay(watchMs);
  const cpuMs = treeUse(backend.pid).cpuMs - before.cpuMs;
  await looked(fake, pulls, 1);
  const agents = agentsIn(started);
  const head = fake.git.tip(slug, fake.pulls[0]?.head ?? '') ?? '';
  const redMs = Date.now();
  fake.checks.set(head, [{ name: 'unit', state: 'failure', text: 'exit 1' }]);
  await until(() => agentsIn(started).length > agents.length);
  const startMs = agentsIn(started).at(-1) ?? Number.NaN;
  await backend.kill('SIGTERM');
  return [
    {
      part,
      what: `CPU time of a backend with ${pulls} idle pull requests`,
      value: (cpuMs / watchMs) * 100,
      unit: '%',
      target: { atMost: 0.2 },
      detail: `${short(cpuMs)} ms in ${watchMs / 1_000} s`,
    },
    {
      part,
      what: 'from a red check to the start of its agent',
      value: (startMs - redMs) / 1_000,
      unit: 's',
      target: { atMost: 75 },
      detail: `looks every ${isBrief ? 2 : pollMs / 1_000} s`,
    },
  ];
}

function agentsIn(file: string): readonly number[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').trim().split('\n').map(Number);
}

async function benchImport(shop: Shop, { issues, edges }: Sizes): Promise<Figure> {
  const { fake, project } = shop;
  addIssues(fake, issues, edges);
  const backend = await startLooking(shop, '60s');
  const asked = fake.requests.length;
  const begunMs = Date.now();
  const plan = await backend.client.call('issues.plan', {
    words: ['label:drover'],
    env: project.environment,
  });
  const readMs = Date.now() - begunMs;
  const result = await backend.client.call('import', {
    text: plan.jsonl,
    bad_utf8_lines: [],
    file: 'issues',
    format: 'jsonl',
    update: true,
  });
  const ms = Date.now() - begunMs;
  await backend.kill('SIGTERM');
  if (result.errors.length > 0) throw new Error(JSON.stringify(result.errors[0]));
  return {
    part,
    what: `import of ${issues} issues with ${edges} edges`,
    value: ms / 1_000,
    unit: 's',
    target: { atMost: 20 },
    detail: `reading ${short(readMs / 1_000)} s in ${fake.requests.length - asked} requests, the fake's time included`,
  };
}

/** Each issue is blocked by one or two earlier issues. */
function addIssues(fake: FakeGithub, issues: number, edges: number): void {
  for (let number = 1; number <= issues; number += 1) {
    const many = number === 1 ? 0 : number <= edges - issues + 3 && number > 2 ? 2 : 1;
    const blockedBy = [number - 1, number - 2]
      .slice(0, many)
      .map((one) => `${slug}#${one + 1_000}`);
    const title = `Issue ${number}`;
    fake.issues.push({ slug, number: number + 1_000, title, labels: ['drover'], blockedBy });
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  const endMs = Date.now() + waitMaxMs;
  while (!isTrue()) {
    if (Date.now() > endMs) throw new Error('the fake GitHub waited too long');
    await delay(20);
  }
}
