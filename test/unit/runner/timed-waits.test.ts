// A test waits for a fact, never for a time: if time itself is its subject, its file is named here
// with the reason. New lines are refused; the table may only become shorter.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../runner/run-job.ts';
import { timedWaits } from '../../timed-waits.ts';

/** Folders without tests: they contain measurements, or programs that take their time. */
const left = /^(?:doubles|vscode\/bench|vscode\/host|mutants)\/|node_modules|\/timed-waits/u;

const reasons = {
  limit: 'a limit of the product passes, and nothing may come of it',
  absent: 'what must not happen gets its time; a slow machine gives it more',
  moment: 'a random moment of a kill, a cut or an act',
  outage: 'something is away for so long',
  work: 'an agent, a gate or a command that takes a while, whatever else is done meanwhile',
  reader: 'a reader that is slow or late, as the test says',
  pace: 'what is written comes in pieces',
  loop: 'the pause of a loop that stands elsewhere',
} as const;

/** For each file: the number of lines, and the reason. */
const allowed: Readonly<Record<string, readonly [number, keyof typeof reasons]>> = {
  'agents/adopt.test.ts': [1, 'pace'],
  'agents/amp.test.ts': [1, 'limit'],
  'agents/claude-cut.test.ts': [4, 'limit'],
  'agents/command.test.ts': [2, 'absent'],
  'agents/stand-still.test.ts': [1, 'absent'],
  'durable/conformance-queues.ts': [1, 'absent'],
  'durable/workflows.ts': [1, 'work'],
  'e2e/bad-input/support/here.ts': [1, 'loop'],
  'e2e/crash.test.ts': [1, 'moment'],
  'e2e/panels.test.ts': [1, 'work'],
  'e2e/planted-secrets.test.ts': [1, 'pace'],
  'e2e/remote-storms.test.ts': [5, 'outage'],
  'e2e/support/crash-epic.ts': [2, 'work'],
  'e2e/support/mcp-agent.ts': [1, 'loop'],
  'e2e/thin.test.ts': [1, 'work'],
  'fleet/absence.test.ts': [3, 'outage'],
  'fleet/gone.test.ts': [1, 'moment'],
  'fleet/schedules.ts': [8, 'outage'],
  'fleet/solo.test.ts': [3, 'outage'],
  'fleet/support/epic.ts': [3, 'work'],
  'fleet/support/tokens.ts': [1, 'work'],
  'git/shells.test.ts': [1, 'work'],
  'neighbours/agent-acts.ts': [4, 'work'],
  'neighbours/play.ts': [2, 'moment'],
  'runner/run-job.ts': [1, 'loop'],
  'store-postgres/output-child.ts': [1, 'pace'],
  'unit/rpc/feed-pump.test.ts': [2, 'absent'],
  'unit/runner/limits.test.ts': [1, 'limit'],
  'unit/webview/stream/real-log.test.ts': [1, 'pace'],
  'unit/workers/client/follow-job.test.ts': [3, 'pace'],
  'workers/client/bad-network.test.ts': [1, 'pace'],
  'workers/client/defects.test.ts': [2, 'work'],
  'workers/runtime/stock-client.test.ts': [1, 'work'],
  'workers/runtime/stream.test.ts': [3, 'reader'],
};

suite('waits of tests', () => {
  test('they wait for facts: a pause is in a polling loop, or in the table', () => {
    const folder = join(root, 'test');
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.(?:ts|mjs)$/u.test(name) && !left.test(name),
    );
    const found = new Map<string, readonly string[]>();
    for (const name of names) {
      const waits = timedWaits(readFileSync(join(folder, name), 'utf8'));
      const lines = waits.map(({ line, text }) => `${name}:${line}: ${text}`);
      if (waits.length > 0) found.set(name, lines);
    }
    const more = [...found].filter(([name, lines]) => lines.length > (allowed[name]?.[0] ?? 0));
    assert.deepEqual(
      more.flatMap(([, lines]) => lines),
      [],
    );
    const fewer = Object.entries(allowed).filter(
      ([name, [count]]) => (found.get(name)?.length ?? 0) < count,
    );
    assert.deepEqual(fewer, [], 'the table allows more than there is');
  });

  test('they are distinguished from polling loops, and from programs that run until they are killed', () => {
    const source = [
      'await delay(300);',
      'while (!isThere()) await delay(10);',
      'for (;;) {',
      '  if (isThere()) return;',
      '  await new Promise((resolve) => setTimeout(resolve, 50));',
      '}',
      'await new Promise((resolve) => setTimeout(resolve, 50));',
      "const agent = 'until [ -e go ]; do sleep 0.05; done; exec sleep 600';",
      "const late = 'sleep 0.3; echo x';",
      '// await delay(5) would be for a time',
      'for (let rest = 0; rest < 8; rest += 1) {',
      '  await pause(200);',
      '}',
    ].join('\n');
    assert.deepEqual(
      timedWaits(source).map(({ line }) => line),
      [1, 7, 9, 12],
    );
  });
});
