// The texts that service managers read, for paths that contain characters with a meaning in these
// texts.

import assert from 'node:assert/strict';
import { launchdService, systemdService } from '../../../server/platform/launch-files.ts';
import { windows } from '../../../server/platform/windows.ts';

const request = {
  id: '0123456789ab',
  root: '/home/ada/100% <"mine"> & $HOME',
  start: { program: '/opt/node', args: ['/opt/drover/cli.js', '-C', '/a "b" \\ %h $x'] },
  path: '/usr/bin:/home/ada/bin',
  env: {},
  home: '/home/ada',
};

suite('user services', () => {
  test('a systemd unit quotes arguments, specifiers and variables', () => {
    const { file, text } = systemdService(request, 'ada');
    assert.equal(file, '/home/ada/.config/systemd/user/drover-0123456789ab.service');
    const lines = text.split('\n');
    assert.ok(
      lines.includes('ExecStart="/opt/node" "/opt/drover/cli.js" "-C" "/a \\"b\\" \\\\ %%h $$x"'),
      text,
    );
    assert.ok(lines.includes('WorkingDirectory=/home/ada/100%% <"mine"> & $HOME'), text);
    assert.ok(lines.includes('Environment="PATH=/usr/bin:/home/ada/bin"'), text);
    assert.ok(lines.includes('KillMode=process'), text);
  });

  test('the unit is in XDG_CONFIG_HOME if that is set', () => {
    const { file } = systemdService({ ...request, env: { XDG_CONFIG_HOME: '/conf' } }, 'ada');
    assert.equal(file, '/conf/systemd/user/drover-0123456789ab.service');
  });

  test('a launchd agent escapes XML markup', () => {
    const { file, text, linger, enable } = launchdService(request, 501);
    assert.equal(file, '/home/ada/Library/LaunchAgents/dev.drover.0123456789ab.plist');
    assert.ok(text.includes('<string>/home/ada/100% &lt;"mine"&gt; &amp; $HOME</string>'), text);
    assert.deepEqual(enable, [
      { program: '/bin/launchctl', args: ['bootstrap', 'user/501', file] },
    ]);
    assert.equal(linger, null);
  });

  test('Windows has no services', () => assert.equal(windows.userService(request), null));
});
