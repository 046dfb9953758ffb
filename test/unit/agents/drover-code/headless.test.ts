// The pure parts of headless mode: the output, the result file, and how both are judged. Titles
// start with the line of the checklist.

import assert from 'node:assert/strict';
import {
  HeadlessTranslator,
  isDenial,
} from '../../../../server/agents/drover-code/headless-events.ts';
import {
  headlessEnvironment,
  promptText,
} from '../../../../server/agents/drover-code/invocation.ts';
import { headlessOutcome } from '../../../../server/agents/drover-code/outcome.ts';
import { parseResult } from '../../../../server/agents/drover-code/result-file.ts';
import { noFacts, withEvent, type LogFacts } from '../../../../server/agents/kit/log/log-facts.ts';
import type { AgentOutcome, AgentRequest } from '../../../../server/agents/port.ts';
import { settingsOf } from '../../../agents/support.ts';

function factsOf(lines: readonly object[]): LogFacts {
  const translator = new HeadlessTranslator(noFacts.usage);
  const events = lines.flatMap((line) => translator.take(JSON.stringify(line)));
  return [...events, ...translator.flush()].reduce(
    (facts, event) => withEvent(facts, event, isDenial),
    noFacts,
  );
}

function judge(code: number | null, result: object | null, facts = noFacts): AgentOutcome {
  return headlessOutcome(facts, {
    why: 'exited',
    exit: { code, signal: code === null ? 'SIGKILL' : null },
    result: result === null ? { kind: 'missing' } : parseResult(JSON.stringify(result)),
    timeoutMs: null,
    turnsMax: 10,
    hasChanges: null,
  });
}

suite('Drover Code headless: pure parts', () => {
  const transient = [
    'api error 529',
    'dial tcp: lookup x: no such host',
    'api error 503: Overloaded',
    'EOF',
  ];
  for (const error of transient) {
    test(`H01 exit code 1 with "${error}" is transient`, () => {
      const outcome = judge(1, { schema_version: 1, ok: false, error });
      assert.ok(outcome.kind === 'failed');
      assert.equal(outcome.failure.kind, 'agent_overloaded');
      assert.equal(outcome.failure.retryable, true);
    });
  }

  test('H01 exit code 1 with another text is a failure of the task', () => {
    const outcome = judge(1, { schema_version: 1, ok: false, error: 'api error 400: bad' });
    assert.equal(outcome.kind === 'failed' && outcome.failure.kind, 'agent_failed');
  });

  test('H04 unknown fields are ignored, missing ones are tolerated, and another version gives an unknown outcome', () => {
    assert.equal(judge(0, { schema_version: 1, ok: true, from_the_future: {} }).kind, 'done');
    for (const result of [
      { schema_version: 2, ok: true },
      { ok: true },
      { schema_version: 1 },
      [],
    ]) {
      const outcome = judge(0, result);
      assert.match((outcome.kind === 'failed' && outcome.failure.message) || '', /unknown/);
    }
    assert.equal(parseResult('{"schema_ver').kind, 'unreadable');
  });

  test('H09 the summary is the text after the last tool call', () => {
    const facts = factsOf([
      { type: 'text_delta', text: 'I look. ' },
      { type: 'tool_start', id: '1', name: 'bash' },
      { type: 'tool_done', id: '1', name: 'bash' },
      { type: 'text_delta', text: 'It is ' },
      { type: 'usage', total_input_tokens: 1 },
      { type: 'text_delta', text: 'done.' },
    ]);
    assert.equal(facts.summary, 'It is done.');
    assert.equal(facts.turns, 1);
  });

  test('H10 an event is read whatever the precision of its time', () => {
    for (let digits = 0; digits <= 9; digits++) {
      const ts = `2026-01-02T03:04:05${digits === 0 ? '' : `.${'123456789'.slice(0, digits)}`}Z`;
      assert.equal(factsOf([{ type: 'text_delta', text: ts, ts }]).summary, ts);
    }
  });

  test('B25 only a text that looks like a command gets words in front', () => {
    assert.equal(promptText('do /this'), 'do /this');
    for (const text of ['/quit', ' \n\t/x']) assert.doesNotMatch(promptText(text), /^\s*\//);
  });

  test("B22 a person's configuration is kept, but settings that would change the answers never apply", () => {
    const env = { DROVER_CODE_HEADLESS: 'no', DROVER_CODE_HEADLESS_PLAIN: '1' };
    const request = { env, timeoutMs: 90_500 } as unknown as AgentRequest;
    const settings = settingsOf('drover-code', { env, model: 'm', permissionMode: 'unikernel' });
    assert.deepEqual(headlessEnvironment(request, settings), {
      DROVER_CODE_HEADLESS: 'no',
      DROVER_CODE_PERMISSION_PRESET: 'unikernel',
      DROVER_CODE_TIMEOUT_SECS: '91',
      DROVER_CODE_JSONL: '1',
      ANTHROPIC_MODEL: 'm',
    });
  });

  test('a rejected key, a crash and the documented exit code 3 are recognized', () => {
    const refused = judge(1, { schema_version: 1, ok: false, error: 'api error 401: no' });
    assert.equal(refused.kind === 'failed' && refused.failure.kind, 'agent_auth');
    const killed = judge(null, { schema_version: 1, ok: true });
    assert.match((killed.kind === 'failed' && killed.failure.message) || '', /killed by SIGKILL/);
    const denied = judge(3, null);
    assert.equal(denied.kind === 'failed' && denied.failure.retryable, false);
  });

  test('arbitrary output is accepted', () => {
    const translator = new HeadlessTranslator(noFacts.usage);
    const lines = [
      'null',
      '[]',
      '{}',
      '{"type":"usage","total_input_tokens":"x"}',
      '{"type":"tool_done"}',
    ];
    assert.doesNotThrow(() => lines.flatMap((line) => translator.take(line)));
  });
});
