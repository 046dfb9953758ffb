// The real `bd`, both versions, with its own database: the same ten days of random edits as in test/unit/store/beads-days.
// Each sync calls `bd` as `drover sync beads` does.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import { type BeadsProgram, beadsProgram } from '../../server/cli/beads-program.ts';
import { removeFolder } from '../remove-folder.ts';
import { testSeed } from '../tier.ts';
import { BeadsDays, type TheirEdit, type Tracker } from '../unit/store/beads-days.ts';
import { BeadsSide } from '../unit/store/beads-side.ts';
import { memoryStore, testSources } from '../unit/store/memory-store.ts';
import { bdFolder, type BdVersion, bdVersions } from './support/real-bd.ts';

class RealTracker implements Tracker {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #file: string;
  #program: BeadsProgram | null = null;

  constructor(version: BdVersion, folder: string) {
    this.#folder = folder;
    this.#file = join(folder, '.beads/issues.jsonl');
    const path = `${bdFolder(version)}:${process.env['PATH'] ?? ''}`;
    // Its daemon would outlive the test.
    this.#env = {
      ...process.env,
      PATH: path,
      BEADS_NO_DAEMON: '1',
      BD_NON_INTERACTIVE: '1',
      HOME: folder,
    };
    execFileSync('git', ['init', '-q', folder]);
    execFileSync('git', ['-C', folder, 'config', 'user.email', 'ada@example.com']);
    execFileSync('git', ['-C', folder, 'config', 'user.name', 'Ada']);
    this.#bd('init', '--prefix', 'bd');
  }

  #bd(...args: readonly string[]): string {
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    return execFileSync('bd', args, { cwd: this.#folder, env: this.#env, encoding: 'utf8', stdio });
  }

  create(title: string): Promise<string> {
    const made = JSON.parse(this.#bd('create', title, '--json')) as { readonly id: string };
    return Promise.resolve(made.id);
  }

  edit(id: string, edit: TheirEdit): Promise<void> {
    try {
      this.#bd(...wordsOf(id, edit));
    } catch (error) {
      // An edit that bd refuses does not count.
      assert.ok(error instanceof Error && 'status' in error && error.status === 1, String(error));
    }
    return Promise.resolve();
  }

  async #synced(): Promise<BeadsProgram> {
    this.#program ??= await beadsProgram(this.#file, join(this.#folder, 'place'), this.#env);
    return this.#program ?? assert.fail('no bd');
  }

  async flush(): Promise<string> {
    assert.equal(await (await this.#synced()).flush(), null);
    return readFileSync(this.#file, 'utf8');
  }

  async take(text: string): Promise<void> {
    const before = readFileSync(this.#file, 'utf8');
    if (before === text) return;
    const program = await this.#synced();
    await program.willWrite(before, text);
    writeFileSync(this.#file, text);
    assert.equal(await program.take(), null);
  }
}

function wordsOf(id: string, edit: TheirEdit): readonly string[] {
  switch (edit.what) {
    case 'title':
    case 'description':
    case 'priority':
    case 'add-label':
    case 'remove-label':
      return ['update', id, `--${edit.what}`, String(edit.value)];
    case 'add-edge':
      return ['dep', 'add', id, edit.value];
    case 'remove-edge':
      return ['dep', 'remove', id, edit.value];
    case 'close':
      return ['close', id, '--force', '--reason', edit.value];
    case 'reopen':
    case 'defer':
    case 'undefer':
      return [edit.what, id];
  }
}

suite('the real bd', function () {
  this.timeout(1_800_000);
  for (const version of bdVersions) {
    test(`bd ${version}: both sides are equal after ten days of edits on both sides`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'bd-'));
      const project = await memoryStore(testSources(Date.now()));
      try {
        const tracker = new RealTracker(version, folder);
        const options = { seed: testSeed, days: 10, editsMax: 6 };
        await new BeadsDays(project, new BeadsSide(project), tracker, options).live();
      } finally {
        await project.close();
        removeFolder(folder);
      }
    });
  }
});
