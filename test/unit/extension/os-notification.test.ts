// When and how the operating system notifies a person.

import assert from 'node:assert/strict';
import { notificationCommand } from '../../../extension/notices/os-notification.ts';
import { darwin } from '../../../server/platform/darwin.ts';
import { linux } from '../../../server/platform/linux.ts';
import { windows } from '../../../server/platform/windows.ts';

suite('notifications of the operating system', () => {
  const away = { platform: linux, isRemote: false, isFocused: false, isWanted: true };

  test("a notification appears if enabled while the window is not in front, on the window's machine", () => {
    assert.notEqual(notificationCommand(away, 'shop', 'a'), null);
    for (const change of [{ isFocused: true }, { isRemote: true }, { isWanted: false }]) {
      assert.equal(notificationCommand({ ...away, ...change }, 'shop', 'a'), null);
    }
    assert.equal(notificationCommand({ ...away, platform: windows }, 'shop', 'a'), null);
  });

  test("agents' text is passed as text on Linux", () => {
    const command = notificationCommand(away, '-t 1', '--help <b>x</b> & "y"');
    assert.equal(command?.program, 'notify-send');
    const at = command?.args.indexOf('--') ?? -1;
    assert.deepEqual(command?.args.slice(at), [
      '--',
      '-t 1',
      '--help &lt;b&gt;x&lt;/b&gt; &amp; "y"',
    ]);
  });

  test("agents' text is passed as text on macOS", () => {
    const text = '" & (do shell script "x") & "';
    const command = notificationCommand({ ...away, platform: darwin }, 'shop', text);
    assert.deepEqual(command?.args.slice(-2), ['shop', text]);
    assert.ok(command?.args.slice(0, -2).every((arg) => !arg.includes('do shell script')));
  });
});
