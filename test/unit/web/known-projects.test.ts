// The list of a user's projects: one file for each, so that backends that start at the same time
// lose no entry.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectMark } from '../../../server/project/project-mark.ts';
import { knownProjects, registerProject } from '../../../server/web/known-projects.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('known projects', () => {
  let folder = '';
  let env: Readonly<Record<string, string>> = {};
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-known-'));
    env = { HOME: join(folder, 'home') };
  });
  teardown(() => removeFolder(folder));

  function make(name: string): string {
    mkdirSync(join(folder, name, '.drover'), { recursive: true });
    return join(folder, name);
  }

  const fail = (error: unknown): never => assert.fail(String(error));
  const names = (own: string): readonly string[] => knownProjects(env, own).map(({ name }) => name);

  test('it lists the own project first, then the others by name, each once', () => {
    const [zebra, ant, bee] = ['zebra', 'ant', 'bee'].map(make) as [string, string, string];
    for (const root of [bee, zebra, ant, bee]) registerProject(env, root, fail);
    assert.deepEqual(names(zebra), ['zebra', 'ant', 'bee']);
    assert.deepEqual(names(make('new')), ['new', 'ant', 'bee', 'zebra']);
  });

  test('a project whose folder is missing is dropped, and its file is removed at the next start of a backend', () => {
    const [ant, bee] = ['ant', 'bee'].map(make) as [string, string];
    registerProject(env, ant, fail);
    registerProject(env, bee, fail);
    renameSync(ant, `${ant}-moved`);
    assert.deepEqual(names(bee), ['bee']);
    registerProject(env, bee, fail);
    assert.equal(readdirSync(join(folder, 'home/.local/state/drover/projects')).length, 1);
  });

  test('it has the ids that links in webhooks contain', () => {
    const bee = make('bee');
    registerProject(env, bee, fail);
    assert.equal(knownProjects(env, bee)[0]?.id, projectMark(bee));
  });

  test('it ignores broken files', () => {
    const bee = make('bee');
    registerProject(env, bee, fail);
    const list = join(folder, 'home/.local/state/drover/projects');
    writeFileSync(join(list, '000000000000.json'), '{"root":');
    writeFileSync(join(list, '000000000001.json'), '{"root":7}');
    writeFileSync(join(list, 'notes.txt'), 'x');
    assert.deepEqual(names(bee), ['bee']);
  });

  test('it uses XDG_STATE_HOME, and reports a folder that cannot be written', () => {
    const bee = make('bee');
    env = { ...env, XDG_STATE_HOME: join(folder, 'state') };
    registerProject(env, bee, fail);
    assert.equal(readdirSync(join(folder, 'state/drover/projects')).length, 1);
    writeFileSync(join(folder, 'file'), '');
    const reported: string[] = [];
    registerProject({ XDG_STATE_HOME: join(folder, 'file') }, bee, (_, doing) =>
      reported.push(doing),
    );
    assert.deepEqual(reported, ['listing the project for drover web']);
  });
});
