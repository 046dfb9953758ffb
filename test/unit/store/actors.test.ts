// The events of a person or a machine are found by the exact name.

import assert from 'node:assert/strict';
import { actingAs } from '../../../server/store/feed/actor.ts';
import { memoryStore, type TestStore } from './memory-store.ts';

suite('events by their actor', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  async function append(type: string, person: string | null, machine = 'north'): Promise<void> {
    const { store } = project;
    const write = (): Promise<void> =>
      store.transaction((tx) => store.append(tx, { type, data: { text: 'ada' } }));
    await (person === null ? write() : actingAs({ person, machine }, write));
  }

  const by = async (name: string): Promise<readonly string[]> =>
    (await project.store.feed.read({ by: name })).map(({ type }) => type);

  test('only the events of the given person or machine are listed', async () => {
    await append('a', 'ada');
    await append('b', 'bo', 'south');
    await append('c', 'ada', 'south');
    await append('d', null);
    await append('e', 'north', 'ada');
    assert.deepEqual(await by('ada'), ['a', 'c', 'e']);
    assert.deepEqual(await by('south'), ['b', 'c']);
    assert.deepEqual(await by('north'), ['a', 'e']);
    for (const name of ['ad', 'ADA', 'text', '', '%', '_'])
      assert.deepEqual(await by(name), [], name);
  });

  test('they are found by names with quotes, backslashes and non-ASCII letters', async () => {
    const names = [`O'Hara`, 'a "b" \\c', '%', 'Жанна', '🐑'];
    for (const [n, name] of names.entries()) await append(`e${n}`, name);
    for (const [n, name] of names.entries()) assert.deepEqual(await by(name), [`e${n}`], name);
  });
});
