// The history of a real run: its report, its trace and its metrics, and nothing from before the
// run.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../server/core/history/report.ts';
import type { TranscriptSearch } from '../../server/core/history/transcript-search.ts';
import type { PruneReport } from '../../server/protocol/prune-report.ts';
import { useProjects } from './support/suite-projects.ts';

/** The task that finds its blocker's work fails once. */
const agent = `
cat > /dev/null
if [ "$attempt" = 1 ] && ls work-*.txt > /dev/null 2>&1; then echo "no luck" >&2; exit 1; fi
echo "work of $id" > "work-$id.txt"
`;

suite('drover report', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('the report is printed as Markdown, HTML and JSON', async () => {
    const here = project({ agent });
    await here.expect(0, ['init']);
    const epic = await here.json<{ id: string }>(['epic', 'add', 'An <epic> | with *marks*']);
    const base = await here.add('The base', '-e', epic.id);
    const second = await here.add('The second', '-e', epic.id, '--blocked-by', base);
    await here.expect(0, ['run', '-e', epic.id, '--gate', 'true']);
    const { run } = await here.status();

    const report = await here.json<Report>(['report', run?.id ?? '']);
    assert.deepEqual(
      report.landed.map((task) => task.id),
      [base, second],
    );
    assert.equal(report.state, 'finished');
    assert.deepEqual(
      report.critical_path.map((step) => step.task_id),
      [base, second],
    );
    for (const wait of report.waits) assert.ok(wait.ms <= report.duration_ms, JSON.stringify(wait));
    assert.ok(report.gate.passed >= 2, JSON.stringify(report.gate));
    assert.equal(report.cost.by_model[0]?.attempts, 3);
    assert.deepEqual(
      report.retries.map((retry) => [retry.task_id, retry.attempt, retry.cause]),
      [[second, 1, 'agent_failed']],
    );

    const ofEpic = await here.json<Report>(['report', epic.id]);
    assert.deepEqual(ofEpic.landed, report.landed);
    assert.equal(ofEpic.duration_ms, report.duration_ms);

    const said = await here.json<Omit<TranscriptSearch, 'next'>>(['search', 'no', 'LUCK']);
    assert.deepEqual(
      said.hits.map((hit) => [hit.task_id, hit.attempt, hit.text]),
      [[second, 1, 'no luck']],
    );
    assert.deepEqual([said.searched, said.attempts], [3, 3]);

    const markdown = await here.expect(0, ['report', epic.id]);
    assert.match(markdown, /^# Epic An \\<epic\\> \\\| with \\\*marks\\\*/);
    assert.match(markdown, /## Critical path/);
    await here.expect(0, ['report', epic.id, '--html', '-o', 'report.html']);
    const html = readFileSync(join(here.root, 'report.html'), 'utf8');
    assert.match(html, /<h1>Epic An &lt;epic&gt;/);
    assert.doesNotMatch(html, /<script/);

    const first = await here.expect(0, ['trace', 'export', run?.id ?? '', '--otlp-json']);
    assert.equal(await here.expect(0, ['trace', 'export', run?.id ?? '']), first);
    const { resourceSpans } = JSON.parse(first);
    const names = resourceSpans[0].scopeSpans[0].spans.map((span: { name: string }) => span.name);
    assert.equal(names.filter((name: string) => name === 'drover.agent.execute').length, 3);
    assert.equal(names.filter((name: string) => name === 'drover.task.execute').length, 2);
    const ofTask = JSON.parse(await here.expect(0, ['trace', 'export', base]));
    assert.equal(ofTask.resourceSpans[0].scopeSpans[0].spans[0].traceId.length, 32);
    assert.match(
      await here.expect(0, ['metrics']),
      /^drover_tasks_completed_total\{project="[^"]+"\} 2$/m,
    );

    const dry = await here.json<PruneReport>(['prune', '--dry-run']);
    assert.deepEqual([dry.dry_run, dry.bytes], [true, 0]);
    assert.match(await here.expect(0, ['prune']), /^Nothing is older/);

    const unknown = await here.drover(['report', 'run-nothere']);
    assert.equal(unknown.code, 3);
    assert.match(unknown.stderr, /No run and no epic "run-nothere"/);
  });
});
