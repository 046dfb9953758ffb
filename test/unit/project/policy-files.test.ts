import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPolicies } from '../../../server/project/policy-files.ts';
import { policyText, type PolicyFile } from '../../../server/core/settings/policy.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('policy files', () => {
  let folder = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-policy-'));
  });
  teardown(() => {
    removeFolder(folder);
  });

  const put = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const nowhere = (): string => join(folder, 'nowhere', 'policy.toml');
  const only = async (second?: string, system = nowhere()): Promise<PolicyFile> => {
    const [file, ...others] = await readPolicies(second, system);
    assert.deepEqual(others, []);
    assert.ok(file !== undefined);
    return file;
  };

  test('without a file there is no policy', async () => {
    assert.deepEqual(await readPolicies('', nowhere()), []);
  });

  test('the second file adds its rules', async () => {
    const file = await only(put('mine.toml', '[policy]\nland = ["ada"]\n'));
    assert.match(policyText(file), /land: ada$/);
  });

  const unusable: readonly [string, () => string, RegExp][] = [
    ['is not there', nowhere, /named by DROVER_POLICY and does not exist/],
    ['is no TOML', () => put('a.toml', '[policy\n'), /is no TOML/],
    ['has an unknown rule', () => put('a.toml', '[policy]\nlands = []\n'), /unknown rule `lands`/],
    ['is a folder', () => folder, /is a folder/],
    [
      'is not UTF-8',
      () => put('a.toml', Buffer.from([0x5b, 0xff]).toString('latin1')),
      /is no TOML/,
    ],
    ['is too long', () => put('a.toml', `#${'x'.repeat(70_000)}\n`), /bytes/],
  ];
  for (const [name, path, sentence] of unusable) {
    test(`a second file that ${name} forbids everything instead of being ignored`, async () => {
      const file = await only(path());
      assert.equal(file.kind, 'unusable');
      assert.match(policyText(file), sentence);
    });
  }

  test('a system file that others can write is not trusted', async () => {
    const system = put('policy.toml', '[policy]\n');
    chmodSync(system, 0o666);
    assert.match(policyText(await only('', system)), /can be changed by others than root/);
  });

  test('a link in place of the system file is not followed', async () => {
    const link = join(folder, 'link.toml');
    symlinkSync(put('policy.toml', '[policy]\n'), link);
    assert.match(policyText(await only('', link)), /symbolic link/);
  });
});
