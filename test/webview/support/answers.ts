// A backend that answers everything a webview reads while it is only viewed: one attempt with a log
// of every kind.

import type { AttemptView } from '../../../server/protocol/panel-views.ts';
import { checkedLine } from '../../../server/protocol/agent-events.ts';
import type { LogLineView } from '../../../server/protocol/log-line.ts';
import type { Report } from '../../../server/core/history/report.ts';
import type { TranscriptSearch } from '../../../server/core/history/transcript-search.ts';
import { runLines, smallRun } from '../../doubles/reports.ts';
import { poolSizes } from '../../doubles/worktrees.ts';
import { smallPlan } from '../../doubles/plans.ts';
import { FakeLog } from '../stream/fake-log.ts';
import type { FakeHost } from './fake-host.ts';

const beganMs = Date.UTC(2026, 0, 2, 3, 4, 5);

export function answerReads(host: FakeHost, texts: LogTexts = plainTexts): void {
  const log = new FakeLog(logLines(texts));
  host.backend('attempts', ({ id }) => [attemptOf(id)]);
  host.backend('log.read', async (params) => ({ ...(await log.read(params)), task_id: params.id }));
  host.backend('log.prompt', () => ({ prompt: texts.text }) as never);
  host.backend('questions', () => [...(host.state.board?.questions ?? [])]);
  host.backend('status', () => {
    const { board } = host.state;
    if (board === null) throw new Error('there is no board');
    return board;
  });
  host.backend('why', ({ id }) => ({ id, reasons: [texts.text] }) as never);
  host.backend('runs.list', () => runLines(12));
  host.backend('transcripts.search', () => transcripts(texts));
  host.backend('report', () => withTexts(smallRun(), texts.text));
  host.action('readRules', () => ({
    isBlocked: false,
    rows: [{ topic: 'Approvals', level: 'warning', message: texts.text }],
  }));
  host.action('checkPlan', () => ({ problem: null, fresh: 5, changed: 0, unchanged: 0 }));
  host.action('readPlan', () => ({ plan: smallPlan(texts.text) }));
  host.backend('worktree.sizes', () => poolSizes(texts.text));
  host.backend('events.read', () => ({ events: [], next: 0 }) as never);
}

function transcripts({ text }: LogTexts): TranscriptSearch {
  const hit = { task_id: 'task-1', title: text, attempt: 1, run_id: 'run-1', agent: text };
  const place = { at_ms: beganMs, offset: 0, type: text, text };
  return { hits: [{ ...hit, ...place }], searched: 1, attempts: 1, next: null };
}

/** Everything that agents and people write in a report. */
function withTexts(report: Report, text: string): Report {
  if (text === plainTexts.text) return report;
  const titled = <T extends { readonly title: string }>(each: T): T => ({ ...each, title: text });
  return {
    ...report,
    title: text,
    landed: report.landed.map((task) => ({ ...titled(task), branch: text })),
    left: report.left.map(titled),
    attempts: report.attempts.map((attempt) => ({ ...titled(attempt), agent: text })),
    critical_path: report.critical_path.map(titled),
    waits: report.waits.map((wait) => ({ ...wait, on: [text] })),
    retries: report.retries.map((retry) => ({ ...retry, error: text, cause: text })),
  };
}

/** An agent's texts in its log, by their place. */
export interface LogTexts {
  readonly text: string;
  readonly tool: string;
  readonly result: string;
  readonly output: string;
}

const plainTexts: LogTexts = {
  text: 'I look at the tree first.',
  tool: 'src/tree.ts',
  result: 'export interface Tree {}',
  output: 'compiled 12 files',
};

export function logLines({ text, tool, result, output }: LogTexts): LogLineView[] {
  const lines: readonly object[] = [
    { type: 'started', agent: 'claude', model: 'sonnet', sessionId: 's', resumed: false },
    { type: 'text', text },
    { type: 'thinking', text },
    { type: 'tool_call', id: 't1', name: 'Read', title: tool, input: { file_path: tool } },
    { type: 'tool_result', id: 't1', isError: false, text: result },
    {
      type: 'tool_call',
      id: 't2',
      name: 'Edit',
      title: tool,
      input: { file_path: tool, old_string: text, new_string: result },
    },
    { type: 'tool_result', id: 't2', isError: true, text: result },
    { type: 'output', stream: 'stdout', text: output },
    { type: 'output', stream: 'stderr', text: output },
    { type: 'retry', attempt: 1, delayMs: 500, status: 529, error: text },
    { type: 'question', requestId: 'q-run', kind: 'permission', text, choices: ['Allow', 'Deny'] },
    { type: 'hint', id: 'h1', text, state: 'delivered' },
    { type: 'note', level: 'warning', text },
    { type: 'usage', usage: { inputTokens: 1_200, outputTokens: 340, costUsd: 0.42 } },
  ];
  return lines.map((line, index) => checkedLine({ ...line, at: beganMs + index * 1_000 }));
}

function attemptOf(id: string): AttemptView {
  return {
    task_id: id,
    number: 1,
    state: 'running',
    agent: 'claude',
    model: null,
    session_id: '00000000-0000-4000-8000-000000000000',
    branch: `drover/${id}`,
    base_sha: null,
    commit_sha: null,
    worktree_path: '/home/person/project/.drover/worktrees/1',
    machine: null,
    started_at_ms: beganMs,
    ended_at_ms: null,
    failure_kind: null,
    error: null,
    summary: null,
    input_tokens: 1_200,
    output_tokens: 340,
    cost: 0.42,
    steps: [
      { name: 'worktree', started_at_ms: beganMs, ended_at_ms: beganMs + 80, outcome: 'done' },
      { name: 'setup', started_at_ms: beganMs + 80, ended_at_ms: beganMs + 900, outcome: 'done' },
      { name: 'agent', started_at_ms: beganMs + 900, ended_at_ms: null, outcome: 'running' },
    ],
  };
}
