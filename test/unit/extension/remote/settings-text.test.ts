// The provisioner is written into a project's settings without touching other settings.

import assert from 'node:assert/strict';
import { getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';
import { parseSshHosts, withRemote } from '../../../../extension/remote/settings-text.ts';

const parse = (text: string): unknown => getStaticTOMLValue(parseTOML(text));
const ssh = { remote: { provisioner: 'ssh', host: 'box' }, runsOn: 'remote' } as const;

suite('settings of remote workers', () => {
  test('they are added to an empty file, and to a file with other tables', () => {
    const empty = withRemote('', ssh);
    assert.deepEqual(parse(empty ?? ''), {
      runs_on: 'remote',
      remote: { provisioner: 'ssh', host: 'box' },
    });
    const text = '# mine\nmax_workers = 3\n\n[agent]\nkind = "demo" # why\n';
    const changed = withRemote(text, ssh) ?? '';
    assert.deepEqual(parse(changed), {
      runs_on: 'remote',
      max_workers: 3,
      agent: { kind: 'demo' },
      remote: { provisioner: 'ssh', host: 'box' },
    });
    for (const line of text.trim().split('\n')) assert.ok(changed.includes(line), line);
    assert.match(
      withRemote('[agent]\nkind = "demo"\n', ssh) ?? '',
      /^runs_on = "remote"\n\n\[agent\]/,
    );
  });

  test('they replace the previous settings, and leave the rest of the table', () => {
    const text =
      'runs_on = "local"\n[remote]\nmax = 2\nprovisioner = "process"\nssh_args = [\n  "-v",\n]\n[gate]\ncommand = "true"\n';
    assert.deepEqual(parse(withRemote(text, ssh) ?? ''), {
      runs_on: 'remote',
      remote: { host: 'box', max: 2, provisioner: 'ssh', ssh_args: ['-v'] },
      gate: { command: 'true' },
    });
    const kept = withRemote(text, { ...ssh, runsOn: null });
    assert.match(kept ?? '', /^runs_on = "local"/);
    assert.equal(withRemote(withRemote(text, ssh) ?? '', ssh), withRemote(text, ssh));
    const windows = withRemote('a = 1\r\n[remote]\r\n', ssh) ?? '';
    assert.ok(!/[^\r]\n/.test(windows));
  });

  test('forms that are not plain lines are left to a person', () => {
    for (const text of [
      'remote.max = 2\n',
      'remote = { max = 2 }\n',
      '[remote]\nhost = """\nx"""\n',
    ])
      assert.equal(withRemote(text, ssh), null, text);
  });

  test('a value cannot leave its quotes', () => {
    const host = 'a"\n[agent]\nkind = "command';
    const text = withRemote('', { remote: { host }, runsOn: null });
    assert.deepEqual(parse(text ?? ''), { remote: { host } });
  });

  test('the hosts of an ssh configuration are the ones with a specific name', () => {
    const config = 'Host one two\n  HostName x\nhost *.example !three\nHOST="four"\nHost one\n';
    assert.deepEqual(parseSshHosts(config), ['one', 'two', 'four']);
  });
});
