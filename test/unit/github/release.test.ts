// A release: its checks, its notes, the versions it supports, and the issue of a red night.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueText } from '../../../build/nightly-issue.mjs';
import { notesOf, problemsOf } from '../../../build/release.mjs';

const root = join(import.meta.dirname, '../../..');

const changelog = `# Changelog

## 0.2.0 (2027-01-15)

* Adds one.

## 0.1.0 (2026-12-01)

The first release.

### Engine

* Runs.
`;

suite('a release', () => {
  const facts = {
    version: '0.2.0',
    changelog,
    tag: 'v0.2.0',
    changed: '',
    home: 'git+https://github.com/a/b.git',
    publishingFrom: 'a/b',
  };

  test('a tagged commit with dated notes is released', () => {
    assert.deepEqual(problemsOf(facts), []);
    assert.deepEqual(problemsOf({ ...facts, publishingFrom: null }), []);
  });

  const stops: readonly (readonly [RegExp, Partial<typeof facts>])[] = [
    [/^The tag is v0\.1\.0, but package\.json has version 0\.2\.0\.$/u, { tag: 'v0.1.0' }],
    [/^CHANGELOG\.md has no section "## 0\.3\.0"\.$/u, { version: '0.3.0', tag: 'v0.3.0' }],
    [/has no date\.$/u, { changelog: '## 0.2.0 (unreleased)\n\n* Adds one.\n' }],
    [/^The checkout has changes:\n M a$/u, { changed: ' M a' }],
    [/names the repository .*a\/b\.git, but this is c\/d\.$/u, { publishingFrom: 'c/d' }],
  ];
  for (const [problem, change] of stops) {
    test(`a release is stopped: ${problem.source}`, () => {
      const problems = problemsOf({ ...facts, ...change });
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', problem);
    });
  }

  test('a release has only the notes of its own version', () => {
    assert.equal(notesOf(changelog, '0.2.0'), '* Adds one.');
    assert.equal(notesOf(changelog, '0.1.0'), 'The first release.\n\n### Engine\n\n* Runs.');
    assert.equal(notesOf(changelog, '0.1'), null);
  });
});

suite('the support page', () => {
  const read = (name: string): string => readFileSync(join(root, name), 'utf8');
  const page = read('SUPPORT.md');

  test('it names the versions of agents that the tests drive', () => {
    const { dependencies, optionalDependencies } = JSON.parse(
      read('test/agents-under-test/package.json'),
    );
    const versions: readonly string[] = Object.values({ ...dependencies, ...optionalDependencies });
    assert.deepEqual(
      versions.filter((version) => !page.includes(`| ${version} |`)),
      [],
    );
  });

  test('it names the oldest VS Code and Node of package.json', () => {
    const { engines } = JSON.parse(read('package.json'));
    assert.ok(page.includes(`| ${engines.vscode.replace(/^\^|\.0$/gu, '')} or newer`));
    assert.ok(page.includes(`| ${engines.node.slice(2)}, 22, 24 |`));
  });
});

suite('the issue about a red night', () => {
  const red = [
    'Under way.',
    'ok build',
    '\nThe end.',
    'simulation: 200 of 10000 seeds',
    '\nWhat failed:\n',
    'seed 4711: run-again\nAgain: npm run simulate -- --from 4711 --seeds 1',
    '\n3 passed, 1 failed\n',
  ].join('\n');

  test('it names each part that failed, and the commands that reproduce the failures', () => {
    const logs = [
      { name: 'soak-simulation.log', text: red },
      { name: 'soak-crash.log', text: 'The end.\n\n9 passed, 0 failed\n' },
    ];
    const text = issueText(logs, 'https://example.com/run/1') ?? '';
    assert.match(text, /^Of https:\/\/example\.com\/run\/1\n/u);
    const replay =
      '## simulation\n\nRepeat with:\n\n    npm run simulate -- --from 4711 --seeds 1\n';
    assert.ok(text.includes(replay), text);
    assert.ok(!text.includes('## crash'));
  });

  test('it is not written for green logs', () => {
    assert.equal(issueText([{ name: 'soak-crash.log', text: 'The end.' }], 'here'), null);
  });
});
