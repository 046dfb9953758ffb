// `npm test`: every suite in turn, each with what it needs installed first; prints one closing line of numbers.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const only = process.argv.slice(2);

/**
 * Runs a program to its end; resolves with its exit code. Its output is shown as it comes, or given to `tell` with whether
 * it is of standard error.
 */
function run(program, args, tell = null) {
  return new Promise((done) => {
    const output = tell === null ? 'inherit' : 'pipe';
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', output, output] });
    child.stdout?.setEncoding('utf8').on('data', (text) => tell(text, false));
    child.stderr?.setEncoding('utf8').on('data', (text) => tell(text, true));
    child.on('error', (error) => {
      console.error(String(error));
      done(127);
    });
    child.on('close', (code) => done(code ?? 1));
  });
}

const reports = mkdtempSync(join(tmpdir(), 'drover-test-'));
let passed = 0;
let failed = 0;
/** What failed, told again above the closing line: of a long run often only the end is kept. */
const failures = [];
/** Of a failure's words so many characters are told again. */
const toldOfFailure = 1_500;

function fail(what) {
  failed += 1;
  failures.push(what);
  console.log(what);
}

/** One gate step that is no mocha suite counts as one test. */
async function step(name, program, args) {
  if (only.length > 0 && !only.includes(name)) return;
  console.log(`\n== ${name}`);
  const code = await run(program, args);
  if (code === 0) passed += 1;
  else fail(`${name} failed with exit code ${code}`);
}

async function mocha(name, specs, timeoutMs) {
  if (only.length > 0 && !only.includes(name)) return;
  console.log(`\n== ${name}`);
  if (specs.every((spec) => !existsSync(join(root, spec)))) {
    fail(`${name}: none of ${specs.join(', ')} is there`);
    return;
  }
  const files = specs.flatMap((spec) => testFiles(spec));
  await mochaOf(name, files, timeoutMs, null);
}

/**
 * Suites whose tests mostly wait for processes, side by side: one is shown as it goes, the others when they have ended.
 * Each list of a lane runs in turn.
 */
async function sideBySide(...lanes) {
  const wanted = lanes
    .map((lane) => lane.filter(({ name }) => only.length === 0 || only.includes(name)))
    .filter((lane) => lane.length > 0);
  await Promise.all(
    wanted.map(async (lane, at) => {
      for (const { name, files, timeoutMs } of lane) {
        const said = [];
        if (at === 0) console.log(`\n== ${name}`);
        await mochaOf(name, files, timeoutMs, at === 0 ? null : (text) => said.push(text));
        if (at > 0) console.log(`\n== ${name}\n${said.join('')}`);
      }
    }),
  );
}

const suite = (name, spec, timeoutMs) => ({ name, files: testFiles(spec), timeoutMs });

/** The files of a folder by several runners that take the next one when they are free; each is shown when it has ended. */
async function fromOneQueue(name, spec, timeoutMs, runners) {
  if (only.length > 0 && !only.includes(name)) return;
  console.log(`\n== ${name}`);
  const left = testFiles(spec).sort((a, b) => sizeOf(b) - sizeOf(a));
  const take = async () => {
    for (let file = left.shift(); file !== undefined; file = left.shift()) {
      const said = [];
      const label = `${name}: ${file}`;
      await mochaOf(name, [file], timeoutMs, (text) => said.push(text), label);
      console.log(`\n== ${label}\n${said.join('')}`);
    }
  };
  await Promise.all(Array.from({ length: runners }, take));
}

const sizeOf = (file) => statSync(join(root, file)).size;

let reportCount = 0;

/** `label`: what its failures are told under. */
async function mochaOf(name, files, timeoutMs, tell, label = name) {
  reportCount += 1;
  const report = join(reports, `${name}-${reportCount}.json`);
  const args = [
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
  ];
  const code = await run(bin('mocha'), args, tell);
  if (!existsSync(report)) {
    fail(`${label} ended with exit code ${code} before it could report`);
    return;
  }
  const numbers = JSON.parse(readFileSync(report, 'utf8'));
  passed += numbers.passes;
  failed += numbers.failures;
  for (const { title, why } of numbers.failed)
    failures.push(`${label}: ${title}\n${why.slice(0, toldOfFailure)}`);
  if (numbers.passes + numbers.failures === 0) fail(`${label} had no test to run`);
  else if (code !== 0 && numbers.failures === 0) fail(`${label} ended with exit code ${code}`);
}

function testFiles(spec) {
  if (spec.endsWith('.ts')) return [spec];
  return readdirSync(join(root, spec), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(spec, name))
    .sort();
}

/**
 * A program that counts for itself: the last line of its standard output is `NAME: N passed, M failed`. It is shown when
 * it has ended.
 */
async function counted(name, script, args) {
  if (only.length > 0 && !only.includes(name)) return;
  const parts = [];
  const ownParts = [];
  const code = await run(process.execPath, [script, ...args], (text, isError) => {
    parts.push(text);
    if (!isError) ownParts.push(text);
  });
  const said = parts.join('');
  console.log(`\n== ${name}\n${said}`);
  const numbers = [...ownParts.join('').matchAll(/^[\w-]+: (\d+) passed, (\d+) failed$/gm)].at(-1);
  passed += Number(numbers?.[1] ?? 0);
  const failedThere = Number(numbers?.[2] ?? 0);
  if (failedThere > 0) {
    console.log(`${name}: ${failedThere} failed, said above`);
    failed += failedThere;
    failures.push(`${name}: ${failedThere} failed\n${failedParts(name, said)}`);
  } else if (code !== 0) fail(`${name} ended with exit code ${code}`);
  else if (numbers === undefined) fail(`${name} told no numbers`);
}

/** Of each part under a header `-- NAME …` what follows on mocha's "N failing"; the output's end where none says so. */
function failedParts(name, said) {
  const max = toldOfFailure * 4;
  const told = said.split(new RegExp(`^(?=-- ${name} )`, 'm')).flatMap((part) => {
    const at = part.search(/^ *\d+ failing$/m);
    return at < 0 ? [] : [`${part.split('\n', 1)[0]}\n${part.slice(at).trimEnd()}`];
  });
  return told.length > 0 ? told.join('\n').slice(0, max) : said.slice(-max);
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
await sideBySide(
  [
    suite('store-postgres', 'test/store-postgres', 240_000),
    suite('durable', 'test/durable', 240_000),
  ],
  [suite('git', 'test/git', 240_000), suite('agents', 'test/agents', 360_000)],
);
await mocha('simulation', ['test/simulation'], 2_400_000);
await fromOneQueue('end-to-end', 'test/e2e', 900_000, 2);
await mocha('fleet', ['test/fleet'], 600_000);
await step('package', process.execPath, ['extension/package.mjs']);
await Promise.all([
  mocha('webview', ['test/webview'], 60_000),
  counted('in-host', 'test/vscode/in-host/run.mjs', ['--vsix', vsixFile()]),
]);
await mocha('vscode', ['test/vscode/stories'], 300_000);

rmSync(reports, { recursive: true, force: true });
if (failures.length > 0) console.log(`\nWhat failed:\n\n${failures.join('\n\n')}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
