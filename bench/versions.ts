// Compares two builds of Drover in alternating pairs: node bin/node24.mjs bench/versions.ts BEFORE
// AFTER [PAIRS], where each is the path of a `cli.js`. It uses only the command line, so a build
// can be arbitrarily old.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, short } from './figures.ts';
import { treeUse } from './process-use.ts';
import { git, nameUser, script } from './repositories.ts';

interface Side {
  readonly cli: string;
  readonly repository: string;
  readonly home: string;
  readonly agent: string;
}

interface Times {
  readonly [figure: string]: number;
}

const agentText =
  'date +%s%3N > "$HOME/agent-began"\nmkdir -p made\necho x > "made/$DROVER_TASK_ID.txt"\n';
const startTasks = 3;
const statusTimes = 5;

function sideOf(folder: string, name: string, cli: string): Side {
  const home = join(folder, name);
  const repository = join(home, 'repository');
  mkdirSync(repository, { recursive: true });
  git(repository, 'init', '-q', '-b', 'main');
  nameUser(repository);
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
  const side = { cli, repository, home, agent: script(home, 'agent', agentText) };
  drover(side, 'init');
  for (let at = 0; at < startTasks; at += 1) drover(side, 'add', `Look at part ${at}`);
  drover(side, 'status');
  return side;
}

function drover({ cli, repository, home, agent }: Side, ...args: readonly string[]): void {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    DROVER_SANDBOX: 'off',
    DROVER_AGENT_TYPE: 'command',
    DROVER_AGENT_PATH: agent,
  };
  const done = spawnSync(process.execPath, [cli, ...args], { cwd: repository, env });
  if (done.status !== 0) throw new Error(`${args.join(' ')}: ${String(done.stderr)}`);
}

function cpuOfChildren(): number {
  const { user, system } = process.cpuUsage();
  return treeUse(process.pid).cpuMs - (user + system) / 1000;
}

function look(side: Side): Times {
  const cpuBefore = cpuOfChildren();
  const startedMs = performance.now();
  for (let at = 0; at < statusTimes; at += 1) drover(side, 'status');
  const wallMs = performance.now() - startedMs;
  return {
    'status: CPU': (cpuOfChildren() - cpuBefore) / statusTimes,
    'status: wall': wallMs / statusTimes,
  };
}

function run(side: Side): Times {
  spawnSync(process.execPath, [side.cli, 'server', 'stop'], { cwd: side.repository });
  drover(side, 'add', 'Make one more file');
  const startedMs = Date.now();
  drover(side, 'run');
  const endedMs = Date.now();
  const agentMs = Number(readFileSync(join(side.home, 'agent-began'), 'utf8'));
  return {
    'run, no backend: to the last agent': agentMs - startedMs,
    'run, no backend: to the exit': endedMs - startedMs,
  };
}

function main([before, after, count = '5']: readonly string[]): void {
  if (before === undefined || after === undefined) throw new Error('BEFORE AFTER [PAIRS]');
  const folder = mkdtempSync(join(tmpdir(), 'drover-versions-'));
  const sides = [sideOf(folder, 'before', before), sideOf(folder, 'after', after)] as const;
  // Work left over from the reads is completed before the measurement.
  for (const side of sides) drover(side, 'run');
  const found: (readonly [Times, Times])[] = [];
  for (let pair = 0; pair < Number(count); pair += 1) {
    const times = (side: Side): Times => ({ ...look(side), ...run(side) });
    if (pair % 2 === 0) {
      const first = times(sides[0]);
      found.push([first, times(sides[1])]);
    } else {
      const second = times(sides[1]);
      found.push([times(sides[0]), second]);
    }
  }
  for (const figure of Object.keys(found[0]?.[0] ?? {})) {
    const pairs = found.map(([one, other]) => [one[figure] ?? 0, other[figure] ?? 0] as const);
    const [old, now] = [0, 1].map((side) => short(median(pairs.map((pair) => pair[side] ?? 0))));
    const ratios = pairs.map(([one, other]) => other / one);
    const spread = ratios.map(short).join(' ');
    console.log(`| ${figure} | ${old} ms | ${now} ms | ${short(median(ratios))} | ${spread} |`);
  }
  for (const side of sides) {
    spawnSync(process.execPath, [side.cli, 'server', 'stop'], { cwd: side.repository });
  }
  rmSync(folder, { recursive: true, force: true });
}

main(process.argv.slice(2));
