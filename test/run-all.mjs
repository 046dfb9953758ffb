// `npm test`: every suite in turn, each with what it needs installed first; prints one closing line of numbers.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const only = process.argv.slice(2);

/** Runs a program to its end with its output shown; resolves with its exit code. */
function run(program, args) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => {
      console.error(String(error));
      done(127);
    });
    child.on('exit', (code) => done(code ?? 1));
  });
}

const reports = mkdtempSync(join(tmpdir(), 'drover-test-'));
let passed = 0;
let failed = 0;

/** One gate step that is no mocha suite counts as one test. */
async function step(name, program, args) {
  if (only.length > 0 && !only.includes(name)) return;
  console.log(`\n== ${name}`);
  const code = await run(program, args);
  if (code === 0) passed += 1;
  else {
    failed += 1;
    console.log(`${name} failed with exit code ${code}`);
  }
}

async function mocha(name, specs, timeoutMs) {
  if (only.length > 0 && !only.includes(name)) return;
  const missing = specs.every((spec) => !existsSync(join(root, spec)));
  console.log(`\n== ${name}`);
  if (missing) {
    failed += 1;
    console.log(`${name}: none of ${specs.join(', ')} is there`);
    return;
  }
  const report = join(reports, `${name}.json`);
  const files = specs.flatMap((spec) => testFiles(spec));
  const code = await run(bin('mocha'), [
    '--ui',
    'tdd',
    '--reporter',
    join(root, 'test', 'reporter.mjs'),
    '--reporter-option',
    `output=${report}`,
    '--timeout',
    String(timeoutMs),
    '--exit',
    ...files,
  ]);
  if (!existsSync(report)) {
    failed += 1;
    console.log(`${name} ended with exit code ${code} before it could report`);
    return;
  }
  const numbers = JSON.parse(readFileSync(report, 'utf8'));
  passed += numbers.passes;
  failed += numbers.failures;
  if (numbers.passes + numbers.failures === 0 || (code !== 0 && numbers.failures === 0))
    failed += 1;
}

function testFiles(spec) {
  if (spec.endsWith('.ts')) return [spec];
  return readdirSync(join(root, spec), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(spec, name))
    .sort();
}

/** A program that counts for itself: its last line is `NAME: N passed, M failed`. */
async function counted(name, script, args) {
  if (only.length > 0 && !only.includes(name)) return;
  console.log(`\n== ${name}`);
  let said = '';
  const code = await new Promise((done) => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text);
      said = (said + text).slice(-1_000);
    });
    child.on('error', () => done(127));
    child.on('close', (ended) => done(ended ?? 1));
  });
  const numbers = [...said.matchAll(/^[\w-]+: (\d+) passed, (\d+) failed$/gm)].at(-1);
  passed += Number(numbers?.[1] ?? 0);
  const failures = Number(numbers?.[2] ?? 0);
  failed += code === 0 ? failures : Math.max(1, failures);
}

const vsixFile = () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return join(root, 'out/vsix', `drover-${process.platform}-${process.arch}-${version}.vsix`);
};

await step('build', process.execPath, ['esbuild.config.mjs']);
await step('vscode-host', process.execPath, ['test/vscode/host/install.mjs']);
await step('types', bin('tsc'), ['-b']);
await step('lint', bin('oxlint'), ['--type-aware', '--deny-warnings', '.']);
await step('format', bin('oxfmt'), ['--check', '.']);
await mocha('unit', ['test/unit', 'test/architecture.test.ts'], 30_000);
await mocha('store', ['test/store-sqlite'], 60_000);
await mocha('store-postgres', ['test/store-postgres'], 120_000);
await mocha('durable', ['test/durable'], 120_000);
await mocha('git', ['test/git'], 120_000);
await mocha('agents', ['test/agents'], 180_000);
await mocha('simulation', ['test/simulation'], 2_400_000);
await mocha('end-to-end', ['test/e2e'], 600_000);
await mocha('fleet', ['test/fleet'], 600_000);
await mocha('webview', ['test/webview'], 60_000);
await step('package', process.execPath, ['extension/package.mjs']);
await counted('in-host', 'test/vscode/in-host/run.mjs', ['--vsix', vsixFile()]);
await mocha('vscode', ['test/vscode/stories'], 300_000);

rmSync(reports, { recursive: true, force: true });
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
