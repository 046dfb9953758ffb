// The small parts of the Claude driver: limits, permissions, arguments, environment, lock.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareVersions, createClaudeDriver } from '../../../server/agents/claude/driver.ts';
import { claudeArguments, claudeEnvironment } from '../../../server/agents/claude/invocation.ts';
import { claudeOutcome } from '../../../server/agents/claude/outcome.ts';
import {
  permissionResponse,
  parseQuestions,
  readingResponse,
  readPermissionRequest,
} from '../../../server/agents/claude/permissions.ts';
import { lockSession } from '../../../server/agents/kit/run/session-lock.ts';
import { deriveUuid } from '../../../server/agents/claude/session.ts';
import { Translator } from '../../../server/agents/claude/translate.ts';
import { toolTitle } from '../../../server/agents/kit/wire/message-blocks.ts';
import { objectsAt, type Json } from '../../../server/agents/kit/wire/json-line.ts';
import { noUsage, type AgentOutcome, type AgentSettings } from '../../../server/agents/port.ts';
import { removeFolder } from '../../remove-folder.ts';

const settings: AgentSettings = {
  kind: 'claude',
  path: null,
  args: [],
  env: {},
  model: null,
  permissionMode: null,
};

/** The outcome of a process that printed these lines and ended with exit code 1. */
function outcomeOf(...lines: Json[]): AgentOutcome {
  const translator = new Translator({
    cwd: '/',
    sessionId: 's',
    resumed: false,
    usageBefore: noUsage,
  });
  for (const line of lines) translator.take(line);
  return claudeOutcome(translator.facts, {
    why: 'exited',
    exit: { code: 1, signal: null },
    stderrTail: '',
    timeoutMs: null,
    silentMs: 0,
    limitUntilMs: null,
  });
}
const errorResult = (fields: Json): Json => ({
  type: 'result',
  subtype: 'success',
  is_error: true,
  terminal_reason: 'api_error',
  result: 'API Error',
  ...fields,
});
const apiError = (error: string): Json => ({
  type: 'assistant',
  is_api_error_message: true,
  error,
  message: { content: [{ type: 'text', text: 'API Error' }] },
});

function kindOf(...lines: Json[]): string {
  const outcome = outcomeOf(...lines);
  return outcome.kind === 'failed' ? outcome.failure.kind : outcome.kind;
}

suite('the output of Claude Code', () => {
  test("a tool's error is shown without the tag that is meant for the model", () => {
    const translator = new Translator({
      cwd: '/',
      sessionId: 's',
      resumed: false,
      usageBefore: noUsage,
    });
    const content = (text: string): Json => ({
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: 'a', is_error: true, content: text }],
      },
    });
    const shown = (text: string): unknown =>
      translator
        .take(content(text))
        .flatMap((notice) => (notice.kind === 'event' ? [notice.event] : []))
        .map((event) => (event.type === 'tool_result' ? event.text : null));
    assert.deepEqual(shown('<tool_use_error>File has not been read yet.</tool_use_error>'), [
      'File has not been read yet.',
    ]);
    assert.deepEqual(shown('see <tool_use_error>'), ['see <tool_use_error>']);
  });
});

suite('Claude outcome', () => {
  test('API errors are recognized by status, then by name', () => {
    assert.equal(
      kindOf(apiError('billing_error'), errorResult({ api_error_status: 400 })),
      'agent_billing',
    );
    assert.equal(kindOf(apiError('authentication_failed'), errorResult({})), 'agent_auth');
    assert.equal(kindOf(errorResult({ api_error_status: 403 })), 'agent_auth');
    assert.equal(kindOf(apiError('rate_limit'), errorResult({ api_error_status: 429 })), 'limited');
    assert.equal(
      kindOf(apiError('server_error'), errorResult({ api_error_status: 500 })),
      'agent_overloaded',
    );
    assert.equal(kindOf(errorResult({ api_error: 'connection_failed' })), 'agent_overloaded');
    assert.equal(kindOf(errorResult({ terminal_reason: 'prompt_too_long' })), 'agent_failed');
    assert.equal(kindOf(errorResult({ stop_reason: 'refusal' })), 'agent_failed');
  });
  test('a subscription limit has an end time, in seconds or milliseconds', () => {
    const rejected = (resetsAt: number): Json => ({
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt },
    });
    const expected = { kind: 'limited', untilMs: 1_795_000_000_000, message: 'API Error' };
    assert.deepEqual(outcomeOf(rejected(1_795_000_000), errorResult({})), expected);
    assert.deepEqual(outcomeOf(rejected(1_795_000_000_000), errorResult({})), expected);
  });
  test('an interrupted turn is not done, even without an error', () => {
    assert.equal(
      kindOf({
        type: 'result',
        subtype: 'success',
        is_error: false,
        terminal_reason: 'aborted_tools',
        result: '',
      }),
      'agent_failed',
    );
  });
  test('the last result counts', () => {
    const good: Json = { type: 'result', subtype: 'success', is_error: false, result: 'ok' };
    assert.equal(kindOf(errorResult({}), good), 'done');
    assert.equal(kindOf(good, errorResult({})), 'agent_failed');
  });
});

suite('Claude permissions', () => {
  const suggestions = [{ type: 'setMode', mode: 'acceptEdits', destination: 'localSettings' }];
  const bash = readPermissionRequest('r', {
    tool_name: 'Bash',
    input: { command: 'make test' },
    permission_suggestions: suggestions,
    decision_reason: 'unknown command',
  });
  test('reading a file that the prompt names is allowed without a question, and nothing else is', () => {
    const named = '/repo/.drover/attachments/a.png';
    const response = (tool: string, path: string): unknown =>
      readingResponse(readPermissionRequest('1', { tool_name: tool, input: { file_path: path } }), [
        named,
      ]);
    assert.deepEqual(response('Read', named), {
      behavior: 'allow',
      updatedInput: { file_path: named },
    });
    for (const [tool, path] of [
      ['Read', '/repo/.drover/attachments/b.png'],
      ['Read', '/repo/.drover/attachments/../backend.json'],
      ['Write', named],
      ['Edit', named],
    ] as const)
      assert.equal(response(tool, path), null, `${tool} ${path}`);
  });

  test('a permission request shows the command and is answered with its input', () => {
    assert.deepEqual(parseQuestions(bash, null), [
      {
        type: 'question',
        requestId: 'r',
        kind: 'permission',
        text: 'Claude Code wants to use Bash:\nmake test\n(unknown command)',
        choices: ['Allow', 'Allow for this session', 'Deny'],
      },
    ]);
    assert.deepEqual(permissionResponse(bash, ['Allow']), {
      behavior: 'allow',
      updatedInput: { command: 'make test' },
    });
    assert.deepEqual(permissionResponse(bash, ['Allow for this session'])['updatedPermissions'], [
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    ]);
    assert.equal(permissionResponse(bash, ['Deny'])['behavior'], 'deny');
    assert.equal(permissionResponse(bash, [null])['behavior'], 'deny');
    assert.deepEqual(permissionResponse(bash, ['not now']), {
      behavior: 'deny',
      message: 'not now',
    });
  });
  test('several questions in one request are asked one by one', () => {
    const questions = [
      { question: 'A?', options: [{ label: 'x', description: 'first' }, { label: 'y' }] },
      { question: 'B?', options: [] },
    ];
    const request = readPermissionRequest('r', {
      tool_name: 'AskUserQuestion',
      input: { questions },
    });
    const asked = parseQuestions(request, null);
    assert.deepEqual(
      asked.map((one) => [one.requestId, one.kind, one.text, one.choices]),
      [
        ['r', 'question', 'A?\n- x: first', ['x', 'y']],
        ['r#2', 'question', 'B?', []],
      ],
    );
    assert.deepEqual(permissionResponse(request, ['y', 'free text']), {
      behavior: 'allow',
      updatedInput: { questions, answers: { 'A?': 'y', 'B?': 'free text' } },
    });
  });
  test('a plan is shown even if its request is empty', () => {
    const request = readPermissionRequest('r', { tool_name: 'ExitPlanMode', input: {} });
    assert.match(parseQuestions(request, '1. do it')[0]?.text ?? '', /1\. do it/);
  });
});

suite('Claude invocation', () => {
  const options = { sessionId: 'id', resume: false, trusted: false };
  const after = (args: readonly string[], name: string): string | undefined =>
    args[args.indexOf(name) + 1];
  test('an untrusted repository runs none of its own code', () => {
    const args = claudeArguments(settings, options);
    assert.equal(after(args, '--setting-sources'), 'user');
    assert.ok(args.includes('--strict-mcp-config'));
    assert.equal(after(args, '--session-id'), 'id');
    assert.ok(!args.includes('--resume'));
    const trusted = claudeArguments(settings, { ...options, trusted: true, resume: true });
    assert.equal(after(trusted, '--setting-sources'), 'user,project');
    assert.equal(after(trusted, '--resume'), 'id');
    assert.ok(!trusted.includes('--session-id'));
  });
  test("Drover's own tools are named by a file, even if no others are wanted", () => {
    const args = claudeArguments(settings, { ...options, toolsConfig: '/logs/1.mcp.json' });
    assert.ok(args.includes('--strict-mcp-config'));
    assert.ok(args.includes('--mcp-config=/logs/1.mcp.json'));
    assert.ok(args.includes('--allowedTools=mcp__drover'));
    assert.ok(!claudeArguments(settings, options).join(' ').includes('mcp__drover'));
  });
  test('planning uses the planning mode, whatever the settings say', () => {
    const given = ['--permission-mode', 'acceptEdits'];
    const args = claudeArguments(
      { ...settings, permissionMode: 'bypassPermissions', args: given },
      { ...options, planning: true },
    );
    assert.deepEqual(args.slice(-2), ['--permission-mode', 'plan']);
    assert.ok(!args.includes('bypassPermissions'));
    const usual = claudeArguments({ ...settings, permissionMode: null }, options);
    assert.equal(after(usual, '--permission-mode'), 'acceptEdits');
  });
  test('the model, the mode and extra arguments come from the settings', () => {
    const args = claudeArguments(
      { ...settings, model: 'm', permissionMode: 'plan', args: ['--max-turns', '3'] },
      options,
    );
    assert.equal(after(args, '--model'), 'm');
    assert.equal(after(args, '--permission-mode'), 'plan');
    assert.equal(after(args, '--max-turns'), '3');
    assert.equal(after(claudeArguments(settings, options), '--permission-mode'), 'acceptEdits');
  });
  test('variables of an outer session are removed, and those of the settings stay', () => {
    const env = claudeEnvironment(
      {
        CLAUDECODE: '1',
        CLAUDE_CODE_SSE_PORT: '1',
        CLAUDE_CODE_MINE: 'x',
        CLAUDE_CODE_MAX_RETRIES: '0',
        PATH: '/',
      },
      { ...settings, env: { CLAUDE_CODE_MINE: 'x' } },
    );
    assert.equal(env['CLAUDECODE'], undefined);
    assert.equal(env['CLAUDE_CODE_SSE_PORT'], undefined);
    assert.equal(env['CLAUDE_CODE_MINE'], 'x');
    assert.equal(env['CLAUDE_CODE_MAX_RETRIES'], '0');
    assert.equal(env['CLAUDE_CODE_DISABLE_BACKGROUND_TASKS'], '1');
    assert.equal(claudeEnvironment({}, settings)['CLAUDE_CODE_MAX_RETRIES'], '3');
  });
  test('versions are compared as numbers', () => {
    assert.ok(compareVersions('2.1.9', '2.1.329') < 0);
    assert.ok(compareVersions('3.0.0', '2.1.329') > 0);
    assert.equal(compareVersions('2.1.329', '2.1.329'), 0);
  });
});

suite('Claude parts', () => {
  test('a tool call is shown in one line', () => {
    assert.equal(toolTitle('Edit', { file_path: '/repo/a/b.ts' }, '/repo'), 'Edit a/b.ts');
    assert.equal(toolTitle('Read', { file_path: '/etc/x' }, '/repo'), 'Read /etc/x');
    assert.equal(toolTitle('Bash', { command: 'a\nb', description: 'd' }, '/'), 'Bash a');
    assert.equal(toolTitle('TodoWrite', {}, '/'), 'TodoWrite');
  });
  test('the same name gives the same uuid', () => {
    assert.equal(deriveUuid('hint 1'), deriveUuid('hint 1'));
    assert.match(
      deriveUuid('hint 2'),
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
  test('a value that is not a list of objects becomes an empty list', () => {
    assert.deepEqual(objectsAt({ a: [1, { b: 2 }, null] }, 'a'), [{ b: 2 }]);
    assert.deepEqual(objectsAt({ a: 'x' }, 'a'), []);
  });
  test('a session has one live holder, and a dead one does not count', () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-lock-'));
    const path = join(folder, 'sub', 's.lock');
    try {
      const lock = lockSession(path);
      assert.ok('release' in lock);
      const second = lockSession(path);
      assert.ok(!('release' in second));
      assert.equal(second.pid, process.pid);
      lock.handTo({ pid: 2 ** 22 + 1, startTime: '1' });
      assert.match(readFileSync(path, 'utf8'), /4194305/);
      const third = lockSession(path);
      assert.ok('release' in third);
      third.release();
      writeFileSync(path, 'torn');
      assert.ok('release' in lockSession(path));
    } finally {
      removeFolder(folder);
    }
  });
});

suite('the interactive program of Claude Code', () => {
  const processTable = {
    isAlive: async () => false,
    endTree: async () => ({ ended: 0, left: null }),
    standStill: async () => false,
    goOn: async () => {},
    endOrphansIn: async () => {},
  };

  test('it is the same program, and continues the session', () => {
    const own = { ...settings, path: process.execPath };
    const driver = createClaudeDriver(own, { processTable, baseDir: '/', trusted: false });
    assert.deepEqual(driver.interactive?.('s1', {}), [process.execPath, '--resume', 's1']);
    assert.deepEqual(driver.interactive?.(null, {}), [process.execPath]);
  });
});
