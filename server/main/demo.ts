// `npm run demo`: a small real repository, an epic of eight tasks with a diamond and a chain, four
// workers, and the result. Everything in it is done by the `drover` command.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { git, makeRepository, planText } from '../project/sample.ts';

function main(): number {
  const { values } = parseArgs({
    options: {
      agent: { type: 'string', default: 'demo' },
      workers: { type: 'string', default: '4' },
      dir: { type: 'string' },
    },
  });
  const folder = values.dir ?? mkdtempSync(join(realpathSync(tmpdir()), 'drover-demo-'));
  const repo = join(folder, 'shop');
  makeRepository(repo);
  const plan = join(folder, 'shop.jsonl');
  writeFileSync(plan, planText(values.agent === 'demo'));
  const drover = (args: readonly string[]): number => {
    process.stdout.write(`\n$ drover ${args.join(' ')}\n`);
    const cli = fileURLToPath(new URL('./cli.js', import.meta.url));
    const done = spawnSync(process.execPath, [cli, ...args], {
      cwd: repo,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, DROVER_AGENT_TYPE: values.agent },
    });
    return done.status ?? 1;
  };
  const steps: readonly (readonly string[])[] = [
    ['init'],
    ['import', plan],
    [
      'run',
      '--workers',
      values.workers,
      '--epic',
      'SHOP',
      '--gate',
      'for f in test/*.js; do [ ! -e "$f" ] || node "$f" || exit 1; done',
    ],
  ];
  let code = 0;
  for (const step of steps) {
    code = drover(step);
    if (code !== 0) break;
  }
  drover(['status', '--tree']);
  drover(['log', 'SHOP-7']);
  process.stdout.write('\n$ git log --graph --oneline\n');
  process.stdout.write(git(repo, ['log', '--graph', '--oneline', '--decorate', 'main']));
  drover(['server', 'stop']);
  process.stdout.write(`\nThe demo repository is ${repo}\n`);
  return code;
}

process.exitCode = main();
