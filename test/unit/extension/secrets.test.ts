// The stored key reaches a run as one variable, and nothing else does.

import assert from 'node:assert/strict';
import type { SecretStorage } from 'vscode';
import {
  fleetVariables,
  isFleetDatabase,
  isVariableName,
  removeKey,
  secretVariables,
  storeFleetDatabase,
  storeKey,
} from '../../../extension/project/secrets.ts';

function storage(): SecretStorage {
  const kept = new Map<string, string>();
  const part: Pick<SecretStorage, 'get' | 'store' | 'delete'> = {
    get: async (key) => kept.get(key),
    store: async (key, value) => void kept.set(key, value),
    delete: async (key) => void kept.delete(key),
  };
  return part as SecretStorage;
}

suite('extension secrets', () => {
  test('they are passed to a run under the names of their variables', async () => {
    const secrets = storage();
    assert.deepEqual(await secretVariables(secrets, 'ANTHROPIC_API_KEY'), {});
    await storeKey(secrets, 'ANTHROPIC_API_KEY', 'key');
    assert.deepEqual(await secretVariables(secrets, 'ANTHROPIC_API_KEY'), {
      ANTHROPIC_API_KEY: 'key',
    });
    assert.deepEqual(await secretVariables(secrets, 'OPENAI_API_KEY'), {});
    await removeKey(secrets, 'ANTHROPIC_API_KEY');
    assert.deepEqual(await secretVariables(secrets, 'ANTHROPIC_API_KEY'), {});
  });

  test("they keep each project's database until it is emptied", async () => {
    const secrets = storage();
    const url = 'postgresql://drover:p@db/x';
    await storeFleetDatabase(secrets, '/a', url);
    assert.deepEqual(await fleetVariables(secrets, '/a'), { DBOS_SYSTEM_DATABASE_URL: url });
    assert.deepEqual(await fleetVariables(secrets, '/b'), {});
    await storeFleetDatabase(secrets, '/a', '');
    assert.deepEqual(await fleetVariables(secrets, '/a'), {});
    assert.deepEqual(
      [url, 'postgres://h/d', 'mysql://h/d', 'postgresql://', 'postgresql://a b', ''].map(
        isFleetDatabase,
      ),
      [true, true, false, false, false, false],
    );
  });

  for (const name of ['', 'path', 'PATH', 'A_KEY B', '__proto__', 'PATH=x', 'A'.repeat(80)]) {
    test(`${JSON.stringify(name)} is not a variable for a key`, async () => {
      assert.equal(isVariableName(name), false);
      assert.deepEqual(await secretVariables(storage(), name), {});
    });
  }
});
