// The sandboxes that agents bring: each is strict, or is not offered.

import assert from 'node:assert/strict';
import { ownSandboxArguments, setsOwnSandbox } from '../../../server/sandbox/own-switches.ts';

suite("agents' own sandboxes", () => {
  test('Claude Code fails if its sandbox does not work, and cannot bypass it', () => {
    const [flag, text = ''] =
      ownSandboxArguments('claude', { network: 'none', write: ['/x'] }) ?? [];
    assert.equal(flag, '--settings');
    assert.deepEqual(JSON.parse(text), {
      sandbox: {
        enabled: true,
        failIfUnavailable: true,
        allowUnsandboxedCommands: false,
        enableWeakerNestedSandbox: false,
        filesystem: { allowWrite: ['/x'] },
        network: { allowedDomains: [], strictAllowlist: true },
      },
    });
  });

  test('no other agent kind has one', () => {
    for (const kind of ['codex', 'gemini', 'command', 'demo'])
      assert.equal(ownSandboxArguments(kind, { network: 'open', write: [] }), null);
  });

  test('settings of the person that would replace it are detected', () => {
    assert.equal(setsOwnSandbox(['-p', '--settings=x']), true);
    assert.equal(setsOwnSandbox(['--settings', 'x']), true);
    assert.equal(setsOwnSandbox(['--setting-sources', 'user']), false);
  });
});
