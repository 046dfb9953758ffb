import assert from 'node:assert/strict';
import {
  changedPowers,
  type Powers,
  listPowers,
  powersWithout,
  shownPower,
  withPowers,
} from '../../../server/core/settings/accepted-settings.ts';
import { parseSettingsText } from '../../../server/config/toml-file.ts';
import {
  resolveSettings,
  type SettingEntry,
} from '../../../server/core/settings/settings-resolve.ts';

const entriesOf = (text: string): readonly SettingEntry[] =>
  parseSettingsText(text, '.drover.toml').entries;
const powers = (text: string): Powers => listPowers(entriesOf(text));

suite('accepted settings', () => {
  test('settings that give power are listed entry by entry', () => {
    const text = `
max_workers = 3
guidelines = "be kind"
env_allow = ["A"]
agent = { kind = "command", path = "./run", env = { X = "1" } }
[gate]
command = "npm test"
timeout = "5m"
[agents.codex]
path = "/bin/codex"
[retention]
events = "1d"
`;
    assert.deepEqual(powers(text), {
      env_allow: ['A'],
      'agent.kind': 'command',
      'agent.path': './run',
      'agent.env.X': '1',
      'gate.command': 'npm test',
      'agents.codex.path': '/bin/codex',
      'retention.events': '1d',
    });
  });

  test('an entry of any table is restored in that table', () => {
    const text = `[webhooks.endpoints.chat]
url = "https://chat.example/x"
[agents.codex]
path = "/bin/codex"
[agent.env]
"A.B" = "1"
`;
    assert.deepEqual(listPowers(withPowers([], powers(text))), powers(text));
    const { settings, problems, warnings } = resolveSettings([
      { source: 'project', entries: withPowers([], powers(text)) },
    ]);
    assert.deepEqual(
      settings.webhooks.endpoints.map(({ name }) => name),
      ['chat'],
    );
    assert.deepEqual(
      [...problems, ...warnings].filter(({ key }) => key !== 'agent.env'),
      [],
    );
  });

  test('changes list new, different and removed entries', () => {
    const changes = changedPowers(
      powers('[gate]\ncommand = "a"\n[setup]\ncommand = "b"\n'),
      powers('[gate]\ncommand = "c"\n[agent.env]\nX = "1"\n'),
    );
    assert.deepEqual(
      changes.map(({ name, accepted, present }) => [name, accepted, present]),
      [
        ['agent.env.X', undefined, '1'],
        ['gate.command', 'a', 'c'],
        ['setup.command', 'b', undefined],
      ],
    );
    assert.deepEqual(changedPowers({ a: { x: 1, y: [2] } }, { a: { y: [2], x: 1 } }), []);
  });

  test('a held value is replaced with the accepted one, even if it was removed', () => {
    const accepted = powers('[gate]\ncommand = "good"\n[agent.env]\nA = "1"\n');
    const entries = entriesOf(
      'max_workers = 9\n[agent.env]\nA = "2"\nB = "3"\n[setup]\ncommand = "evil"\n',
    );
    const held = new Set(['gate.command', 'agent.env.A', 'setup.command']);
    const used = powersWithout(held, accepted, listPowers(entries));
    const { settings, values } = resolveSettings([
      { source: 'project', entries: withPowers(entries, used) },
    ]);
    assert.equal(settings.maxWorkers, 9);
    assert.equal(settings.gate.command, 'good');
    assert.equal(values['gate.command'].source, 'project');
    assert.equal(settings.setup.command, null);
    assert.deepEqual(settings.agent.env, { A: '1', B: '3' });
  });

  test('values of variables are not shown', () => {
    assert.equal(shownPower('agent.env.TOKEN', 'x'), 'agent.env.TOKEN');
    assert.equal(shownPower('gate.command', 'a b'), 'gate.command = "a b"');
    assert.equal(shownPower('gate.command', undefined), 'gate.command (removed)');
  });
});
