// Keys of the services that create workers: stored for one project, passed as variables, and
// removed when emptied.

import assert from 'node:assert/strict';
import type { SecretStorage } from 'vscode';
import { remoteVariables, storeRemoteKey } from '../../../../extension/project/remote-secrets.ts';

function storage(): SecretStorage & { readonly kept: ReadonlyMap<string, string> } {
  const kept = new Map<string, string>();
  const part: Pick<SecretStorage, 'get' | 'store' | 'delete'> = {
    get: async (key) => kept.get(key),
    store: async (key, value) => void kept.set(key, value),
    delete: async (key) => void kept.delete(key),
  };
  return { ...(part as SecretStorage), kept };
}

suite('keys of remote workers', () => {
  test('they belong to their project, and stay until they are emptied', async () => {
    const secrets = storage();
    await storeRemoteKey(secrets, '/a', { variable: 'UKC_TOKEN', key: 'one' });
    await storeRemoteKey(secrets, '/a', { variable: 'DROVER_REMOTE_TOKEN', key: 'two' });
    const both = { UKC_TOKEN: 'one', DROVER_REMOTE_TOKEN: 'two' };
    assert.deepEqual(await remoteVariables(secrets, '/a'), both);
    assert.deepEqual(await remoteVariables(secrets, '/b'), {});
    await storeRemoteKey(secrets, '/a', { variable: 'UKC_TOKEN', key: '' });
    assert.deepEqual(await remoteVariables(secrets, '/a'), { DROVER_REMOTE_TOKEN: 'two' });
    await storeRemoteKey(secrets, '/a', { variable: 'DROVER_REMOTE_TOKEN', key: '' });
    assert.equal(secrets.kept.size, 0);
  });

  test('a key is not a variable that could change which program runs', async () => {
    const secrets = storage();
    await storeRemoteKey(secrets, '/a', { variable: 'PATH', key: '/evil' });
    assert.deepEqual(await remoteVariables(secrets, '/a'), {});
  });
});
