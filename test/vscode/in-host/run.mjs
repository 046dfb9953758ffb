// Runs the tests in the extension host, suite by suite, each on a repository of its own:
//   node test/vscode/in-host/run.mjs [--vsix FILE] [suite …]
// Ends with 0 only when every suite passed; the last line is `in-host: N passed, M failed`.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildTests, testsEntry } from './build.mjs';
import { drover, makeRepository } from './workspaces.mjs';

const root = resolve(import.meta.dirname, '../../..');
const hostTests = join(root, 'test/vscode/host/host-tests.mjs');
const cli = join(root, 'dist/cli.js');
const suiteSeconds = 240;

/** Suites by the repository they run on, one after the other. */
const plans = {
  project: { suites: ['project'], isSetUp: true },
  // A window goes away with agents at work, another one comes.
  reload: { suites: ['leave', 'return'], isSetUp: true },
  fresh: { suites: ['fresh'], isSetUp: false },
};

const { values, positionals } = parseArgs({
  options: { vsix: { type: 'string' } },
  allowPositionals: true,
});

function runSuite(suite, workspace, home) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    DROVER_TEST_SUITE: suite,
    ...(process.env.CHROMIUM === undefined ? {} : { CHROMIUM: process.env.CHROMIUM }),
    ...(process.env.VERBOSE === undefined ? {} : { VERBOSE: process.env.VERBOSE }),
  };
  const under = values.vsix === undefined ? ['--ext', root] : ['--vsix', resolve(values.vsix)];
  const args = [...under, '--tests', testsEntry, '--workspace', workspace];
  const artifacts = join(root, 'out', 'in-host', suite);
  mkdirSync(artifacts, { recursive: true });
  return new Promise((done) => {
    let counts = { passed: 0, failed: 1 };
    const child = spawn(process.execPath, [hostTests, ...args, '--timeout', String(suiteSeconds)], {
      cwd: artifacts,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text);
      const last = /^host: (\d+) passed, (\d+) failed$/m.exec(text);
      if (last !== null) counts = { passed: Number(last[1]), failed: Number(last[2]) };
    });
    child.on('close', (code) => {
      done(code === 0 ? counts : { ...counts, failed: Math.max(1, counts.failed) });
    });
  });
}

async function runPlan(name) {
  const { suites, isSetUp } = plans[name];
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'drover-in-host-'));
  const workspace = join(folder, 'repository');
  const home = join(folder, 'home');
  mkdirSync(home);
  makeRepository(workspace);
  const total = { passed: 0, failed: 0 };
  try {
    if (isSetUp) drover(workspace, cli, ['init'], home);
    for (const suite of suites) {
      console.log(`\n-- in-host ${suite}`);
      const { passed, failed } = await runSuite(suite, workspace, home);
      total.passed += passed;
      total.failed += failed;
    }
  } finally {
    try {
      drover(workspace, cli, ['server', 'stop', '--force'], home);
    } catch {
      // None was at work.
    }
    rmSync(folder, { recursive: true, force: true });
  }
  return total;
}

await buildTests();
const wanted = positionals.length === 0 ? Object.keys(plans) : positionals;
let passed = 0;
let failed = 0;
for (const name of wanted) {
  const total = await runPlan(name);
  passed += total.passed;
  failed += total.failed;
}
console.log(`\nin-host: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
