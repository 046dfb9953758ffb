// Where a SQLForge project is, and which names of environments are accepted. Titles start with the
// line of the checklist.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defaultEnvironment,
  findSqlforge,
  sqlforgeGuidance,
} from '../../../../server/agents/drover-code/sqlforge.ts';
import { removeFolder } from '../../../remove-folder.ts';

suite('SQLForge', () => {
  let outside: string;
  let root: string;
  let inner: string;
  setup(() => {
    outside = mkdtempSync(join(tmpdir(), 'drover-sqlforge-'));
    root = join(outside, 'repository');
    inner = join(root, 'a', 'b');
    mkdirSync(inner, { recursive: true });
    writeFileSync(join(root, '.git'), 'gitdir: elsewhere\n');
  });
  teardown(() => removeFolder(outside));

  test('S01 a project is found at the root and on the way to it, not above; links and folders do not count', () => {
    const write = (folder: string): string => {
      const path = join(folder, 'sqlforge.yml');
      writeFileSync(path, 'default_environment: dev\n');
      return path;
    };
    write(outside);
    assert.equal(findSqlforge(inner), null);
    symlinkSync(join(outside, 'sqlforge.yml'), join(inner, 'sqlforge.yml'));
    mkdirSync(join(root, 'a', 'sqlforge.yml'));
    assert.equal(findSqlforge(inner), null);
    const atRoot = write(root);
    assert.equal(findSqlforge(inner), atRoot);
    assert.equal(findSqlforge(root), atRoot);
    assert.match(
      sqlforgeGuidance(inner) ?? '',
      /environment is dev\.[^]*Never run `sqlforge apply`/,
    );
  });

  const names: readonly [string, string | null][] = [
    ['default_environment: "dev" # note', 'dev'],
    ["default_environment: 'dev'", 'dev'],
    ['default_environment: dev # note', 'dev'],
    ['name: x', 'prod'],
    ['default_environment:', 'prod'],
    ['  default_environment: nested', 'prod'],
    ['default_environment: dev; rm -rf /', null],
    ['default_environment: "dev`x`"', null],
    ['default_environment: --force', null],
    ['default_environment: {a: b}', null],
  ];
  for (const [text, expected] of names) {
    test(`S02 ${text} is ${expected ?? 'refused'}`, () => {
      const found = defaultEnvironment(`first: 1\n${text}\r\n`);
      assert.equal(found.ok ? found.name : null, expected);
    });
  }
});
