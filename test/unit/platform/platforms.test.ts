// The pure part of each platform, on every platform.

import assert from 'node:assert/strict';
import { darwin, parsePsFacts } from '../../../server/platform/darwin.ts';
import { linux } from '../../../server/platform/linux.ts';
import type { Platform } from '../../../server/platform/port.ts';
import { platformNamed, thisPlatform } from '../../../server/platform/this-platform.ts';
import { windows } from '../../../server/platform/windows.ts';

const place = {
  name: '0123456789abcdef',
  user: 'ada',
  userNumber: 1000,
  temporaryFolder: '/var/tmp',
  env: {},
};

suite('platforms', () => {
  test('they are chosen by name, and other systems with ps are like macOS', () => {
    const names = ['linux', 'win32', 'darwin', 'freebsd'] as const;
    assert.deepEqual(names.map(platformNamed), [linux, windows, darwin, darwin]);
    assert.equal(thisPlatform, platformNamed(process.platform));
  });

  test('they have these capabilities', () => {
    const abilities = (platform: Platform): readonly string[] =>
      Object.entries(platform).flatMap(([name, value]) => (value === true ? [name] : []));
    const ofPosix = ['hasProcessGroups', 'hasShell', 'hasFileModes', 'hasCheapStartTimes'];
    assert.deepEqual(abilities(linux), [...ofPosix, 'hasProcFiles', 'hasBubblewrap']);
    assert.deepEqual(abilities(darwin), ofPosix);
    assert.deepEqual(abilities(windows), []);
  });

  for (const platform of [linux, darwin]) {
    suite(platform.name, () => {
      test('sockets are in a folder of the user, with paths short enough for the system', () => {
        const check = (change: object, expected: string): void =>
          assert.equal(platform.socketPath({ ...place, ...change }), expected);
        check({}, '/var/tmp/drover-1000/0123456789abcdef.sock');
        const env = { XDG_RUNTIME_DIR: '/run/user/1000' };
        check({ env }, '/run/user/1000/drover/0123456789abcdef.sock');
        const deep = { temporaryFolder: `/${'x'.repeat(100)}` };
        check(deep, '/tmp/drover-1000/0123456789abcdef.sock');
      });

      test('agents get a socket that is alone in its folder', () => {
        const path = '/var/tmp/drover-1000/a-0123456789abcdef/s';
        assert.equal(platform.agentSocketPath(place), path);
      });

      test('command lines start in the POSIX shell, and programs without a suffix', () => {
        const start = { program: '/bin/sh', args: ['-c', 'echo "$A"'] };
        assert.deepEqual(platform.shellStart('echo "$A"'), start);
        assert.deepEqual(platform.programEndings({ PATHEXT: '.EXE' }), ['']);
      });
    });
  }

  suite('win32', () => {
    test('it has a named pipe for each user and repository, and none for agents', () => {
      assert.equal(windows.socketPath(place), '\\\\.\\pipe\\drover-ada-0123456789abcdef');
      assert.equal(windows.agentSocketPath(place), null);
    });

    test('command lines start in cmd.exe, and programs are found by PATHEXT', () => {
      const { program, args } = windows.shellStart('echo %A%');
      assert.deepEqual([program, ...args], ['cmd.exe', '/d', '/s', '/c', 'echo %A%']);
      assert.deepEqual(windows.programEndings({}), ['.EXE', '.CMD']);
      assert.deepEqual(windows.programEndings({ PATHEXT: '.COM;.EXE;' }), ['.COM', '.EXE']);
      assert.ok(windows.essentialVariables.includes('SystemRoot'));
    });
  });

  test('the facts from ps become a start time that identifies a process', () => {
    const line = 'Ss   Sat Nov 28 21:38:35 2026\n';
    assert.deepEqual(parsePsFacts(line), { startTime: '1795901915', isZombie: false });
    assert.equal(parsePsFacts('Z+ Sat Nov 28 21:38:35 2026')?.isZombie, true);
    for (const none of ['', 'Ss', 'error: process ID out of range']) {
      assert.equal(parsePsFacts(none), null, none);
    }
  });

  test('a running process has facts, and a process that never existed has none', () => {
    assert.equal(thisPlatform.processFacts(process.pid)?.isZombie, false);
    assert.equal(thisPlatform.processFacts(2 ** 22 + 1), null);
  });
});
