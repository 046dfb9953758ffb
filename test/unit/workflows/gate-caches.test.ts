// A gate's folder keeps its build folders only behind work that was green and has landed: leftovers
// of refused work could falsify the next result.

import assert from 'node:assert/strict';
import { err, ok } from '../../../server/core/failure.ts';
import { gitFailure } from '../../../server/git/failures.ts';
import { keptCaches } from '../../../server/workflows/landing/gate-caches.ts';
import { tablesOf } from '../../tables.ts';
import { memoryStore, type TestStore } from '../store/memory-store.ts';

const [head, tip] = ['a'.repeat(40), 'b'.repeat(40)];
const command = 'cargo test';

suite('build folders of a gate', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
    await tablesOf(project.store.db)
      .insertInto('lines')
      .values({ branch: 'main', landed_sha: tip })
      .execute();
  });
  teardown(() => project.close());

  async function judged(verdict: 0 | 1, tree = 'tree', by = command): Promise<void> {
    const row = { tree_sha: tree, command: by, ok: verdict, duration_ms: 1, output_tail: '' };
    await tablesOf(project.store.db)
      .insertInto('gate_verdicts')
      .values({ ...row, at_ms: 1 })
      .execute();
  }

  interface Around {
    readonly names?: readonly string[];
    readonly present?: readonly string[];
    readonly hasLanded?: boolean;
    readonly isReadable?: boolean;
  }

  async function kept(around: Around = {}): Promise<readonly string[]> {
    const { names = ['target', 'node_modules'], hasLanded = true, isReadable = true } = around;
    const present = around.present ?? ['target', 'Cargo.toml', 'node_modules'];
    const status = isReadable ? ok({ head }) : err(gitFailure('failed', 'no status'));
    const engine = {
      store: project.store,
      settings: () => ({ gateKeeps: names }),
      files: { exists: async (path: string) => present.some((name) => path === `/slot/${name}`) },
      git: {
        status: async () => status,
        treeOf: async () => ok('tree'),
        isAncestor: async (one: string, other: string) =>
          hasLanded && one === head && other === tip,
      },
    } as unknown as Parameters<typeof keptCaches>[0];
    return keptCaches(engine, { path: '/slot', command });
  }

  test('they are kept behind a tree that was green and is on a line', async () => {
    await judged(1);
    assert.deepEqual(await kept(), ['target', 'node_modules']);
  });

  test('they are not kept behind a red tree, or one that this command has not tested', async () => {
    assert.deepEqual(await kept(), []);
    await judged(1, 'tree', 'another command');
    await judged(1, 'another tree');
    assert.deepEqual(await kept(), []);
    await judged(0);
    assert.deepEqual(await kept(), []);
  });

  test('they are not kept behind a tree that has not landed, or cannot be read', async () => {
    await judged(1);
    assert.deepEqual(await kept({ hasLanded: false }), []);
    assert.deepEqual(await kept({ isReadable: false }), []);
  });

  test('they are the existing folders from the settings, each beside its manifest', async () => {
    await judged(1);
    assert.deepEqual(await kept({ present: ['target', 'node_modules'] }), ['node_modules']);
    assert.deepEqual(await kept({ names: ['target', 'build'] }), ['target']);
    assert.deepEqual(await kept({ names: [] }), []);
  });
});
