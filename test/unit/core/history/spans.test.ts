// Spans and metrics, from recorded events.

import assert from 'node:assert/strict';
import { metricKinds } from '../../../../server/core/history/metric-kinds.ts';
import { prometheusText } from '../../../../server/core/history/metrics.ts';
import { otlpTrace } from '../../../../server/core/history/otlp.ts';
import { buildSpans } from '../../../../server/core/history/spans.ts';
import { StoryTeller } from '../../../../server/core/history/stories.ts';
import { added, fails, feed, lands, type Line } from './feed.ts';
import type { TraceSpan } from '../../../../server/core/history/trace-span.ts';

const start: Line = [100_000, 'run.started', null, { run: 'run-1', workers: 2, target: 'main' }];
const chain: readonly Line[] = [
  added(0, 'a'),
  added(0, 'b', ['a']),
  start,
  ...lands('a', [101_000, 102_000, 110_000, 112_000]),
  [112_000, 'task.unblocked', 'b', { status: 'ready', by: 'a' }],
  ...fails('b', [112_100, 113_000, 120_000]),
  ...lands('b', [125_000, 126_000, 130_000, 131_000], 2).slice(0, -1),
  [130_500, 'gate.passed', null, { duration_ms: 400, task_ids: ['b'] }],
  ...lands('b', [125_000, 126_000, 130_000, 131_000], 2).slice(-1),
  [132_000, 'run.finished', null, { state: 'finished' }],
];

/** One task waits for a person when the run ends; the gate refuses the other one's first attempt. */
const left: readonly Line[] = [
  added(0, 'a'),
  added(0, 'b'),
  start,
  ...lands('a', [101_000, 101_500, 104_000, 0]).slice(0, -1),
  [105_000, 'gate.failed', null, { duration_ms: 400, task_ids: ['a'], exit_code: 1 }],
  [
    105_000,
    'task.retry',
    'a',
    { status: 'ready', kind: 'gate_failed', error: 'red', next_attempt_at: 9 },
  ],
  ...lands('b', [106_000, 107_000, 111_000, 0]).slice(0, -1),
  [112_000, 'task.needs_review', 'b', { status: 'needs_review', kind: 'protected' }],
  ...lands('a', [113_000, 113_500, 114_000, 115_000], 2),
  [118_000, 'run.stopped', null, {}],
  [119_000, 'run.finished', null, { state: 'stopped' }],
];

/** The account's limit is reached during the work; the same attempt continues. */
const parked: readonly Line[] = [
  added(0, 'a'),
  start,
  ...lands('a', [101_000, 101_500, 0, 0]).slice(0, 3),
  [105_000, 'agent.ended', 'a', { attempt: 1, outcome: 'limited' }],
  [105_000, 'task.waiting', 'a', { status: 'waiting', kind: 'account_limit', error: 'limit' }],
  [110_000, 'task.resumed', 'a', { status: 'ready' }],
  ...lands('a', [111_000, 111_500, 114_000, 116_000]),
  [117_000, 'run.finished', null, { state: 'finished' }],
];

function told(lines: readonly Line[]): StoryTeller {
  const stories = new StoryTeller();
  for (const event of feed(lines)) stories.take(event);
  return stories;
}

const hex = (text: string, digits: number): string =>
  Buffer.from(text).toString('hex').padEnd(digits, '0').slice(-digits);

function spans(lines: readonly Line[]): readonly TraceSpan[] {
  const usage = {
    task_id: 'a',
    number: 1,
    agent: 'claude',
    model: 'opus',
    input_tokens: 100,
    output_tokens: 10,
    cost_usd: 0.5,
    conversation: 'c-1',
  };
  return buildSpans(told(lines), { taskIds: null, runIds: ['run-1'] }, [usage], hex);
}

function namedIn(list: readonly TraceSpan[], name: string, task: string): readonly TraceSpan[] {
  return list.filter((span) => span.name === name && span.attributes['drover.task.id'] === task);
}

suite('spans', () => {
  test('a run contains its tasks, and a task its agents and waits, with the times of the feed', () => {
    const all = spans(chain);
    const [root] = all.filter((span) => span.name === 'drover.workflow.run');
    assert.deepEqual([root?.startMs, root?.endMs, root?.parentId], [100_000, 132_000, null]);
    const [b] = namedIn(all, 'drover.task.execute', 'b');
    assert.deepEqual([b?.startMs, b?.endMs, b?.parentId], [100_000, 131_000, root?.spanId]);
    const agents = namedIn(all, 'drover.agent.execute', 'b');
    assert.deepEqual(
      agents.map((span) => [span.startMs, span.endMs, span.parentId, span.error]),
      [
        [113_000, 120_000, b?.spanId, 'exit code 1'],
        [126_000, 130_000, b?.spanId, null],
      ],
    );
    const [wait] = namedIn(all, 'drover.wait.blocker', 'b');
    assert.deepEqual([wait?.startMs, wait?.endMs], [100_000, 112_000]);
    assert.deepEqual(wait?.attributes['drover.wait.on'], ['a']);
    const [gate] = all.filter((span) => span.name === 'drover.gate.run');
    assert.deepEqual([gate?.startMs, gate?.endMs, gate?.links], [130_100, 130_500, [b?.spanId]]);
    const [agent] = namedIn(all, 'drover.agent.execute', 'a');
    assert.equal(agent?.attributes['gen_ai.request.model'], 'opus');
    assert.equal(agent?.attributes['gen_ai.usage.input_tokens'], 100);
  });

  test('each span has an id that never changes, and an existing parent', () => {
    const all = spans(chain);
    assert.deepEqual(all, spans(chain));
    const ids = new Set(all.map((span) => span.spanId));
    for (const span of all) assert.ok(span.endMs >= span.startMs);
    for (const span of all)
      if (span.parentId !== null) assert.ok(ids.has(span.parentId), span.name);
  });

  test('only a failed task has an error', () => {
    const lost: readonly Line[] = [
      added(0, 'a'),
      start,
      ...fails('a', [112_100, 113_000, 120_000]).slice(0, -1),
      [120_000, 'task.failed', 'a', { status: 'failed', kind: 'agent_failed', error: 'lost' }],
      [121_000, 'run.finished', null, { state: 'finished' }],
    ];
    const errorOf = (lines: readonly Line[], id: string): string | null | undefined =>
      namedIn(spans(lines), 'drover.task.execute', id)[0]?.error;
    assert.deepEqual([errorOf(chain, 'a'), errorOf(chain, 'b')], [null, null]);
    assert.match(errorOf(lost, 'a') ?? '', /./);
  });

  test('the gates are those of its tasks, or of no task, that ended during the run', () => {
    const gate = (atMs: number, tasks: readonly string[]): Line => [
      atMs,
      'gate.passed',
      null,
      { duration_ms: 1, task_ids: tasks },
    ];
    const [early, late] = [gate(99_000, ['a']), gate(140_000, ['a'])];
    const inside = [gate(120_100, ['of-another-run']), gate(120_200, [])];
    const lines = [...chain.slice(0, 2), early, ...chain.slice(2, -1), ...inside];
    lines.push(...chain.slice(-1), late);
    const endsOf = (taskIds: ReadonlySet<string> | null): readonly number[] =>
      buildSpans(told(lines), { taskIds, runIds: ['run-1'] }, [], hex)
        .filter(({ name }) => name === 'drover.gate.run')
        .map(({ endMs }) => endMs);
    assert.deepEqual(endsOf(null), [120_200, 130_500]);
    assert.deepEqual(endsOf(new Set(['b'])), [130_500]);
    assert.deepEqual(endsOf(new Set(['a'])), []);
  });

  test('running parts are left out until they end', () => {
    const half = chain.slice(0, 10);
    const names = spans(half).map((span) => span.name);
    assert.ok(!names.includes('drover.workflow.run'), names.join(' '));
    const known = new Map(spans(chain).map((span) => [span.spanId, span]));
    for (const span of spans(half)) assert.ok(known.has(span.spanId), span.name);
  });

  for (const [name, lines] of Object.entries({ chain, left, parked })) {
    test(`${name}: a span that was sent at an earlier event never changes`, () => {
      const known = new Map(spans(lines).map((span) => [span.spanId, span]));
      assert.equal(known.size, spans(lines).length);
      for (let length = 1; length < lines.length; length += 1) {
        for (const span of spans(lines.slice(0, length))) {
          assert.deepEqual(span, known.get(span.spanId), `after ${length} events`);
        }
      }
    });
  }

  test('waits that are open when their run ends have lasted until then', () => {
    const all = spans(left);
    const [b] = namedIn(all, 'drover.task.execute', 'b');
    const [wait] = namedIn(all, 'drover.wait.person', 'b');
    assert.deepEqual([b?.endMs, wait?.startMs, wait?.endMs], [119_000, 112_000, 119_000]);
    assert.equal(wait?.parentId, b?.spanId);
  });

  test('an agent that was parked at a limit is one span, to the end of its last turn', () => {
    const [agent, ...more] = namedIn(spans(parked), 'drover.agent.execute', 'a');
    assert.deepEqual(more, []);
    assert.deepEqual([agent?.startMs, agent?.endMs, agent?.error], [101_500, 114_000, null]);
    assert.equal(namedIn(spans(parked), 'drover.wait.quota', 'a').length, 1);
  });

  test('OTLP has nanoseconds and integers as text', () => {
    const trace = JSON.parse(JSON.stringify(otlpTrace(spans(chain), '1.2.3')));
    const [first] = trace.resourceSpans[0].scopeSpans[0].spans;
    assert.equal(first.startTimeUnixNano, '100000000000');
    assert.deepEqual(first.status, { code: 1 });
    assert.deepEqual(trace.resourceSpans[0].resource.attributes[0], {
      key: 'service.name',
      value: { stringValue: 'drover' },
    });
  });
});

suite('metrics', () => {
  const usage = [{ agent: 'a"b', input_tokens: 5, output_tokens: 6, cost_usd: 0.25 }];
  const waiting = { failed: 1, needs_review: 2, conflict: 0, paused: 0, blocked: 4 };
  const alive = [
    { name: 'm1', isRemoteAway: false },
    { name: 'm3', isRemoteAway: true },
  ];
  const text = prometheusText(told(chain), {
    project: 'shop',
    usage,
    waits: { blocked: 12 },
    carried: new Map([['drover_gates_total{result="failed"}', 3]]),
    board: {
      waiting,
      stuck: 3,
      questions: 1,
      landings: 2,
      oldestLandingMs: 61_500,
      runs: 1,
      fleet: { alive, dead: 1 },
    },
  });

  function assertLines(lines: readonly string[]): void {
    for (const line of lines) assert.ok(text.split('\n').includes(line), `${line}\n${text}`);
  }

  test('counters match the feed', () => {
    assertLines([
      'drover_tasks_completed_total{project="shop"} 2',
      'drover_tasks_claimed_total{project="shop",agent_type="claude"} 3',
      'drover_tasks_retried_total{project="shop",error_type="agent_failed"} 1',
      'drover_gates_total{project="shop",result="passed"} 1',
      'drover_gates_total{project="shop",result="failed"} 3',
      'drover_task_wait_seconds_total{project="shop",kind="blocked"} 12',
      'drover_agent_tokens_total{project="shop",agent_type="a\\"b",token_type="input"} 5',
      'drover_agent_duration_seconds_bucket{project="shop",agent_type="claude",le="5"} 1',
      'drover_agent_duration_seconds_bucket{project="shop",agent_type="claude",le="+Inf"} 3',
      'drover_agent_duration_seconds_sum{project="shop",agent_type="claude"} 19',
      'drover_tasks_active{project="shop"} 0',
    ]);
  });

  test('gauges report the waits and the state of the machines', () => {
    assertLines([
      'drover_tasks_waiting{project="shop",state="failed"} 1',
      'drover_tasks_waiting{project="shop",state="needs_review"} 2',
      'drover_tasks_waiting{project="shop",state="conflict"} 0',
      'drover_tasks_stuck{project="shop"} 3',
      'drover_questions_open{project="shop"} 1',
      'drover_landings_waiting{project="shop"} 2',
      'drover_landing_oldest_seconds{project="shop"} 61.5',
      'drover_runs_active{project="shop"} 1',
      'drover_machines_alive{project="shop"} 2',
      'drover_machines_dead{project="shop"} 1',
      'drover_remote_away{project="shop",machine="m1"} 0',
      'drover_remote_away{project="shop",machine="m3"} 1',
    ]);
  });

  test('counters with labels start at zero, so that their first event is an increase', () => {
    assertLines([
      'drover_tasks_failed_total{project="shop",error_type="push_refused"} 0',
      'drover_tasks_retried_total{project="shop",error_type="gate_failed"} 0',
      'drover_tasks_claimed_total{project="shop",agent_type="codex"} 0',
      'drover_agent_cost_usd_total{project="shop",agent_type="codex"} 0',
      'drover_agent_tokens_total{project="shop",agent_type="codex",token_type="output"} 0',
      'drover_task_wait_seconds_total{project="shop",kind="review"} 0',
    ]);
    for (const { name, kind } of metricKinds) {
      if (kind !== 'counter') continue;
      assert.ok(text.includes(`\n${name}{`), `${name} has no series`);
    }
  });

  test('every line is from the table or a value of a metric in it', () => {
    const names = new Set<string>(metricKinds.map((metric) => metric.name));
    for (const line of text.trim().split('\n')) {
      const name = /^(?:# (?:HELP|TYPE) )?([a-z_]+)/u.exec(line)?.[1] ?? '';
      const base = names.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/u, '');
      assert.ok(names.has(base), line);
      const labels = /\{(.*)\}/u.exec(line)?.[1] ?? '';
      const known = metricKinds.find((metric) => metric.name === base)?.labels as readonly string[];
      for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/gu)) {
        assert.ok(label === 'le' || label === 'project' || known.includes(label), line);
      }
    }
  });
});
