// `npm test` with missing programs: it installs them, or stops with one command.

import assert from 'node:assert/strict';
import { decideSetUp, type SetUpStep } from '../../runner/system-packages.ts';

const install = 'apt-get install -y --no-install-recommends bubblewrap prometheus';

suite('installing system packages for tests', () => {
  const check = (
    facts: { readonly hasApt: boolean; readonly isRoot: boolean; readonly hasSudo: boolean },
    expected: SetUpStep,
  ): void => {
    const missing = ['bubblewrap', 'prometheus'];
    assert.deepEqual(decideSetUp({ missing, ...facts }), expected);
  };

  test('it does nothing when nothing is missing', () => {
    const facts = { missing: [], hasApt: true, isRoot: false, hasSudo: false };
    assert.deepEqual(decideSetUp(facts), { kind: 'ready' });
  });

  test('as root, it installs the packages', () => {
    check(
      { hasApt: true, isRoot: true, hasSudo: false },
      { kind: 'install', commands: [['apt-get', 'update', '-qq'], install.split(' ')] },
    );
  });

  test('with passwordless sudo, it installs the packages', () => {
    const sudo = ['sudo', '-n'];
    check(
      { hasApt: true, isRoot: false, hasSudo: true },
      {
        kind: 'install',
        commands: [
          [...sudo, 'apt-get', 'update', '-qq'],
          [...sudo, ...install.split(' ')],
        ],
      },
    );
  });

  test('otherwise, it prints one command', () => {
    const needs = 'The tests need programs that are not installed (bubblewrap, prometheus).';
    check(
      { hasApt: true, isRoot: false, hasSudo: false },
      { kind: 'refuse', message: `${needs} Run as root: apt-get update && ${install}` },
    );
    check(
      { hasApt: false, isRoot: true, hasSudo: false },
      {
        kind: 'refuse',
        message: `${needs} Install what this system calls these Debian packages: bubblewrap prometheus`,
      },
    );
  });
});
