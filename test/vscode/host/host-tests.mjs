// Runs a mocha entry file inside VS Code's extension host and ends with its result.
//   node host-tests.mjs --ext DIR --tests FILE.js [--vsix FILE] [--workspace DIR] [--timeout SECONDS]
// `--ext` alone: the extension under development. With `--vsix` the installed package is tested instead. Shown are the
// lines marked [test]; all that the window and the extension host log goes to host-console.log in out/test, or in
// the folder below out/ it was called in.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { format, parseArgs } from 'node:util';
import { contextOptions, launchBrowser } from './browser.ts';
import { installVsix, startHost, workbenchUrl } from './host.ts';
import { ensureHost } from './install.mjs';
import { temporaryFolder } from './isolation.ts';

const { values: given } = parseArgs({
  options: {
    ext: { type: 'string' },
    tests: { type: 'string' },
    vsix: { type: 'string' },
    workspace: { type: 'string' },
    timeout: { type: 'string', default: '120' },
  },
});
if (given.tests === undefined || (given.ext === undefined && given.vsix === undefined)) {
  console.error(
    'usage: host-tests.mjs --ext DIR --tests FILE.js [--vsix FILE] [--workspace DIR] [--timeout SECONDS]',
  );
  process.exit(2);
}

/** The folder for the build's own leavings, or one below it that contains the caller. */
const out = resolve(import.meta.dirname, '../../../out');
const artifacts = process.cwd().startsWith(out) ? process.cwd() : join(out, 'test');
const consoleLog = join(artifacts, 'host-console.log');
mkdirSync(artifacts, { recursive: true });
writeFileSync(consoleLog, '');
await ensureHost();

const work = temporaryFolder();
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
const results = join(work, 'results.json');
const workspace = given.workspace ?? join(work, 'ws');
mkdirSync(workspace, { recursive: true });
let extension = given.ext;
let extensionsFolder;
if (given.vsix !== undefined) {
  extensionsFolder = join(work, 'ext');
  console.log(installVsix(given.vsix, extensionsFolder).split('\n').at(-1));
  extension = join(work, 'empty'); // tests need some extension under development: an empty one
  mkdirSync(extension);
  const manifest = { name: 'empty', publisher: 'test', version: '0.0.0', engines: { vscode: '*' } };
  writeFileSync(join(extension, 'package.json'), JSON.stringify(manifest));
}

/**
 * The tests' own configuration: variables with our names are passed on, nothing else of the
 * environment.
 */
const passedOn = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(DROVER|VSCODE_TEST)_/.test(name)),
);
const host = await startHost({
  isForTestsInside: true,
  ...(extensionsFolder === undefined ? {} : { extensionsFolder }),
  env: { ...passedOn, VSCODE_TEST_RESULTS: results, VSCODE_TEST_WORKSPACE: workspace },
});
const browser = await launchBrowser();
const page = await browser.newPage(contextOptions);
let end = () => {};
const ended = new Promise((done) => (end = done));
// The workbench calls these two globals when the tests are over, and for each console call of the extension host.
await page.exposeFunction('codeAutomationExit', (code) => end(code));
await page.exposeFunction('codeAutomationLog', (type, words) => {
  const line = format(...words);
  appendFileSync(consoleLog, `${type}: ${line}\n`);
  if (line.startsWith('[test]')) console.log(line.slice(6));
});
page.on('crash', () => end('the page crashed'));
const timer = setTimeout(() => end('timed out'), Number(given.timeout) * 1000);
await page.goto(workbenchUrl(host, { folder: workspace, extension, tests: given.tests }));
const code = await ended;
clearTimeout(timer);
const report = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : null;
const isGood = code === 0 && report !== null && report.failed === 0 && report.passed > 0;
if (!isGood) {
  const written = report === null ? `no results (see ${consoleLog})` : 'results written';
  console.error(`tests in the extension host: ended with ${code}, ${written}`);
  await page.screenshot({ path: join(artifacts, 'host-tests.png') }).catch(() => {});
  writeFileSync(join(artifacts, 'host-tests-server.log'), host.serverLog());
}
await browser.close();
await host.stop();
console.log(`host: ${report?.passed ?? 0} passed, ${report === null ? 1 : report.failed} failed`);
process.exit(isGood ? 0 : 1);
