// Runs the tests in the extension host, suite by suite, each on a repository of its own:
//   node test/vscode/in-host/run.mjs [--vsix FILE] [--extension FOLDER] [plan …]
// The extension is the one of this checkout, one in another folder, or an installed package. Ends with 0 only when every
// suite passed; the last line is `in-host: N passed, M failed`.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { format, parseArgs } from 'node:util';
import { contextOptions, launchBrowser } from '../host/browser.ts';
import { installVsix, startHost, workbenchUrl } from '../host/host.ts';
import { buildTests, testsEntry } from './build.mjs';
import { drover, makeRepository } from './workspaces.mjs';

const root = resolve(import.meta.dirname, '../../..');
const suiteMsMax = 240_000;

/** Folders are not trusted, and there is no prompt. */
const withTrust = {
  'security.workspace.trust.enabled': true,
  'security.workspace.trust.startupPrompt': 'never',
};

/**
 * Suites by the repository they run on, one after the other; those with a `+` between them in one window. `isSetUp`: Drover is; `git`: a program in the place of
 * git, or null for none; `second`: a second repository in the same window.
 */
const plans = {
  // Two in one window: the first one sets the repository up.
  project: { suites: ['fresh+project'], isSetUp: false, host: { hasProxy: true } },
  // A window closes with running agents, another one opens.
  reload: { suites: ['leave', 'return'], isSetUp: true },
  untrusted: {
    suites: ['untrusted'],
    isSetUp: true,
    host: { hasWorkspaceTrust: true, settings: withTrust },
  },
  // Three in one window: the first one needs a project that was never opened.
  work: { suites: ['trouble+take-over+review'], isSetUp: true },
  several: { suites: ['several'], isSetUp: true, second: true },
  'no-git': { suites: ['no-git'], isSetUp: true, git: null },
  'old-git': { suites: ['old-git'], isSetUp: true, git: 'echo "git version 2.30.2"' },
};

const { values, positionals } = parseArgs({
  options: { vsix: { type: 'string' }, extension: { type: 'string', default: root } },
  allowPositionals: true,
});
const extension = resolve(values.extension);
const cli = join(extension, 'dist/cli.js');

/**
 * The extension under test: a folder for "extension development", or an installed package beside an
 * empty one.
 */
function underTest(folder) {
  if (values.vsix === undefined) return { dev: extension, extensionsFolder: undefined };
  const dev = join(folder, 'empty');
  const extensionsFolder = join(folder, 'extensions');
  if (!existsSync(dev)) {
    mkdirSync(dev);
    const manifest = {
      name: 'empty',
      publisher: 'test',
      version: '0.0.0',
      engines: { vscode: '*' },
    };
    writeFileSync(join(dev, 'package.json'), JSON.stringify(manifest));
    installVsix(values.vsix, extensionsFolder);
  }
  return { dev, extensionsFolder };
}

/** Starts the workbench, lets it run the tests, and reads how it went. */
async function runSuite(suite, plan, place) {
  const { folder, home } = place;
  const results = join(folder, `${suite}.json`);
  const artifacts = join(root, 'out', 'in-host', suite);
  rmSync(artifacts, { recursive: true, force: true });
  mkdirSync(artifacts, { recursive: true });
  const { dev, extensionsFolder } = underTest(folder);
  if (plan.git !== undefined) putGitOnPath(folder, home, plan.git);
  const host = await startHost({
    isForTestsInside: true,
    ...(extensionsFolder === undefined ? {} : { extensionsFolder }),
    ...plan.host,
    env: {
      HOME: home,
      DROVER_SANDBOX: 'off',
      // A backend outlives the window, and so must the folder of its socket.
      XDG_RUNTIME_DIR: home,
      VSCODE_TEST_RESULTS: results,
      DROVER_TEST_SUITE: suite,
    },
  });
  const browser = await launchBrowser();
  const page = await browser.newPage(contextOptions);
  const { promise: ended, resolve: end } = Promise.withResolvers();
  await page.exposeFunction('codeAutomationExit', (code) => end(code));
  await page.exposeFunction('codeAutomationLog', (type, args) => {
    const line = format(...args);
    appendFileSync(join(artifacts, 'console.log'), `${type}: ${line}\n`);
    if (line.startsWith('[test]')) console.log(line.slice('[test]'.length));
  });
  page.on('crash', () => end('page crashed'));
  const timer = setTimeout(() => end('timed out'), suiteMsMax);
  await page.goto(workbenchUrl(host, { ...place.opened, extension: dev, tests: testsEntry }));
  const code = await ended;
  clearTimeout(timer);
  const counts = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : null;
  const isGreen = code === 0 && counts !== null && counts.failed === 0 && counts.passed > 0;
  if (!isGreen) {
    console.error(`${suite}: ${code}, ${counts === null ? 'no results' : 'with results'}`);
    await page.screenshot({ path: join(artifacts, 'window.png') }).catch(() => undefined);
    writeFileSync(join(artifacts, 'server.log'), host.serverLog());
  }
  await browser.close();
  await host.stop();
  return {
    passed: counts?.passed ?? 0,
    failed: isGreen ? 0 : Math.max(1, counts?.failed ?? 0),
  };
}

/**
 * VS Code asks the person's login shell for PATH: it contains only, perhaps, a program called git.
 */
function putGitOnPath(folder, home, line) {
  const programs = join(folder, 'programs');
  mkdirSync(programs, { recursive: true });
  if (line !== null) writeFileSync(join(programs, 'git'), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  writeFileSync(join(home, '.bash_profile'), `export PATH=${programs}\n`);
}

function makePlace(plan) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'dih-'));
  const home = join(folder, 'home');
  mkdirSync(home);
  const names = plan.second === true ? ['repository', 'second'] : ['repository'];
  const repositories = names.map((name) => join(folder, name));
  for (const repository of repositories) {
    makeRepository(repository);
    if (plan.isSetUp) drover(repository, cli, ['init'], home);
  }
  const [first] = repositories;
  if (plan.second !== true) return { folder, home, repositories, opened: { folder: first } };
  const workspace = join(folder, 'both.code-workspace');
  const folders = repositories.map((path) => ({ path }));
  writeFileSync(workspace, JSON.stringify({ folders }));
  return { folder, home, repositories, opened: { workspace } };
}

async function runPlan(name) {
  const plan = plans[name];
  if (plan === undefined) throw new Error(`${name} is none of ${Object.keys(plans).join(', ')}.`);
  const place = makePlace(plan);
  const total = { passed: 0, failed: 0 };
  try {
    for (const suite of plan.suites) {
      console.log(`\n-- in-host ${suite}`);
      const { passed, failed } = await runSuite(suite, plan, place);
      total.passed += passed;
      total.failed += failed;
    }
  } finally {
    for (const repository of place.repositories) {
      try {
        drover(repository, cli, ['server', 'stop', '--force'], place.home);
      } catch {
        // None was running.
      }
    }
    // Processes that are ending may still write below.
    rmSync(place.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
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
