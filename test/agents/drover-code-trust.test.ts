// The settings from a checkout that Drover Code may use, and its permissions in a SQLForge project.
// Test names start with the row of the conformance checklist that they check.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentOutcome } from '../../server/agents/port.ts';
import { DroverCodeRun, kindOfFailure } from './drover-code-support.ts';
import { createRecordingHost } from './support.ts';

suite('Drover Code and the checkout', function () {
  this.timeout(60_000);
  let own: DroverCodeRun;
  setup(() => {
    own = new DroverCodeRun(false);
    own.repository();
  });
  teardown(() => own.remove());

  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(own.run.cwd, path)), { recursive: true });
    writeFileSync(join(own.run.cwd, path), text);
  };

  /**
   * One run in which a person gives this answer (null = withdraws), with the questions that were
   * asked.
   */
  async function run(answer: string | null): Promise<{ outcome: AgentOutcome; asked: string[] }> {
    const asked: string[] = [];
    const host = createRecordingHost((question) => {
      asked.push(question.text);
      assert.deepEqual(own.realCalls().length, started, 'nothing starts before the answer');
      return answer;
    });
    const started = own.realCalls().length;
    const consentFolder = join(own.run.folder, 'consents');
    return { outcome: await own.start({}, { consentFolder }, undefined, host), asked };
  }

  test('T01 settings of the checkout are shown, and nothing starts before a person consents', async () => {
    put('.claude/settings.json', '{"mcpServers": {"x": {"command": "sh"}}, "model": "m"}');
    put('.drover/settings.json', '{"allowedTools": ["bash"]}');
    put('beads/policy.yml', 'allow: all');
    const withdrawn = await run(null);
    assert.equal(withdrawn.outcome.kind, 'stopped');
    const [text = ''] = withdrawn.asked;
    for (const words of [
      'mcpServers = {"x":{"command":"sh"}}',
      'allowedTools',
      'beads/policy.yml',
    ]) {
      assert.ok(text.includes(words), text);
    }
    assert.ok(!text.includes('"m"'), 'what starts and allows nothing is not shown');
    const refused = await run('Do not run');
    const [kind, retryable, message] = kindOfFailure(refused.outcome);
    assert.deepEqual([kind, retryable], ['agent_failed', false]);
    assert.match(message, /were refused/);
    assert.deepEqual(own.realCalls(), []);
    assert.equal((await run('Use them')).outcome.kind, 'done');
    assert.equal(own.realCalls().length, 1);
    assert.deepEqual((await run(null)).asked, [], 'the same content is not asked about again');
  });

  for (const [what, change] of [
    ['a file of a policy', () => put('beads/policy.yml', 'allow: more')],
    ['another file', () => put('beads/more/other.yml', 'x')],
    [
      'a file that became a link',
      () => {
        rmSync(join(own.run.cwd, 'beads/policy.yml'));
        symlinkSync('/etc/hostname', join(own.run.cwd, 'beads/policy.yml'));
      },
    ],
    ['settings that cannot be read', () => put('.claude/settings.json', '{"mcpServers"')],
    ['a command with a shell in it', () => put('.drover/commands/x.md', '!`id`')],
  ] as const) {
    test(`T01 changed content requires new consent: ${what}`, async () => {
      put('beads/policy.yml', 'allow: all');
      assert.equal((await run('Use them')).asked.length, 1);
      change();
      assert.equal((await run(null)).asked.length, 1);
    });
  }

  test('T01 a checkout without settings requires no consent', async () => {
    put('.claude/settings.json', '{"model": "m"}');
    assert.deepEqual((await run(null)).asked, []);
    assert.equal(own.realCalls().length, 1);
  });

  test('S04 an agent that calls "sqlforge apply" is refused, and the refusal is shown', async () => {
    put('sqlforge.yml', 'default_environment: dev\n');
    const tools = join(own.run.folder, 'tools');
    const log = join(own.run.folder, 'sqlforge.log');
    mkdirSync(tools);
    writeFileSync(join(tools, 'sqlforge'), `#!/bin/sh\necho "$@" >> '${log}'\n`, { mode: 0o755 });
    const program = 'sqlforge';
    own.play({
      steps: [
        { do: 'run', program, args: ['plan', 'dev'] },
        { do: 'run', program, args: ['apply', 'dev'] },
        { do: 'run', program, args: ['--verbose', 'apply', "it's"] },
      ],
    });
    const path = `${tools}:${own.request().env['PATH'] ?? ''}`;
    assert.equal((await own.start({ env: { PATH: path } })).kind, 'done');
    assert.equal(readFileSync(log, 'utf8'), 'plan dev\n');
    const notes = own.host.ofType('note').map(({ text }) => text);
    assert.deepEqual(notes, [
      'Refused, as only a person may do it: sqlforge apply dev',
      "Refused, as only a person may do it: sqlforge --verbose apply it's",
    ]);
    const said = own.host.ofType('output').map(({ text }) => text);
    assert.ok(
      said.some((text) => /sqlforge: 77 .*only a person/.test(text)),
      said.join('\n'),
    );
    assert.ok(!existsSync(`${own.request().logPath}.bin`), 'the shim is gone');
  });
});
