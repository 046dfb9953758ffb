// A real Prometheus reads the output of `drover metrics`, answers every query of the dashboard from
// it, and raises the alerts.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardText } from '../docs/telemetry.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import { alertsFile, type Ask, fires, usePrometheus } from './support/prometheus.ts';
import { useProjects } from './support/suite-projects.ts';

/** One attempt of the second task fails, so that every metric has a series. */
const agent = `
cat > /dev/null
[ "$attempt" = 1 ] && [ "$id" = two ] && exit 1
echo "work of $id" > "$id.txt"
`;

/** One fails, one changes nothing, and two write the same file. */
const troubledAgent = `
cat > /dev/null
[ "$id" = broken ] && exit 1
[ "$id" = idle ] && exit 0
case $id in clash-*) echo "$id" > same.txt; exit 0 ;; esac
echo "work of $id" > "$id.txt"
`;

interface Cause {
  readonly alert: string;
  readonly series: string;
  /** Samples in promtool's format, one per minute. */
  readonly values: string;
  /** Other series that the rule reads. */
  readonly beside?: string;
  readonly silentAt: string;
  readonly firingAt: string;
}

/** Each rule with values that trigger it: it stays silent until its time has passed. */
const causes: readonly Cause[] = [
  waiting('DroverTaskFailed', 'failed', '0m', '2m'),
  waiting('DroverReviewWaits', 'needs_review', '10m', '20m'),
  waiting('DroverConflict', 'conflict', '4m', '10m'),
  cause('DroverQuestionOpen', 'drover_questions_open', '0 1x60', '4m', '10m'),
  cause('DroverTaskStuck', 'drover_tasks_stuck', '0 3x60', '10m', '20m'),
  {
    ...cause('DroverLandingStands', 'drover_landing_oldest_seconds', '0+60x60', '14m', '20m'),
    beside: 'drover_runs_active{project="shop"}',
  },
  cause('DroverMachineDead', 'drover_machines_dead', '0 1x60', '1m', '5m'),
  cause('DroverRemoteAway', 'drover_remote_away', '0 1x60', '1m', '5m', ',machine="m3"'),
];

function cause(
  alert: string,
  metric: string,
  values: string,
  silentAt: string,
  firingAt: string,
  labels = '',
): Cause {
  return { alert, series: `${metric}{project="shop"${labels}}`, values, silentAt, firingAt };
}

function waiting(alert: string, state: string, silentAt: string, firingAt: string): Cause {
  return cause(alert, 'drover_tasks_waiting', '0 1x60', silentAt, firingAt, `,state="${state}"`);
}

suite('metrics for Prometheus', function () {
  this.timeout(120_000);
  const project = useProjects();
  const prometheus = usePrometheus();

  test("the run's metrics answer every query of the dashboard", async () => {
    const here = project({ agent });
    await beginPlan(here, ['one', { id: 'two', blocked_by: ['one'] }]);
    await here.expect(0, ['run', '--gate', 'true']);
    const text = await here.expect(0, ['metrics']);
    const ask = await prometheus().scraping(() => text);
    await eventually('two scrapes are stored', async () => {
      const answer = await ask('count_over_time(drover_tasks_completed_total[1h]) > 1').catch(
        () => null,
      );
      return answer !== null && answer.data.result.length > 0;
    });
    const { panels } = JSON.parse(dashboardText()) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    for (const { title, targets } of panels) {
      for (const { expr } of targets) {
        const answer = await ask(expr);
        assert.equal(answer.status, 'success', title);
        assert.ok(answer.data.result.length > 0, `${title}: ${expr}\n${text}`);
      }
    }
    const completed = await ask('drover_tasks_completed_total');
    assert.match(JSON.stringify(completed.data.result), /"2"\]/);
  });

  /** Until each of them fires; only for conditions that the run caused or causes. */
  async function firing(text: string, alerts: readonly string[]): Promise<Ask> {
    const ask = await prometheus().scrapingWithAlerts(() => text);
    for (const alert of alerts) await fires(ask, alert);
    return ask;
  }

  test('a question and a gate that does not end trigger their alerts', async () => {
    const here = project({
      settings: `[gate]\ncommand = 'until [ -e "$HOME/../go" ]; do sleep 0.1; done'\n`,
      env: { DROVER_AGENT_TYPE: 'demo', DROVER_DEMO_STEP_MS: '1' },
    });
    await beginPlan(here, [
      { id: 'asks', description: 'demo: ask Which one? | yes | no' },
      { id: 'lands', description: 'demo: write a.txt a' },
    ]);
    const run = here.start(['run', '--workers', '2']);
    const text = await eventually('both wait', async () => {
      const said = await here.expect(0, ['metrics']);
      const isAsked = /^drover_questions_open\{[^}]*\} 1$/mu.test(said);
      return isAsked && /^drover_landings_waiting\{[^}]*\} 1$/mu.test(said) ? said : null;
    });
    await firing(text, ['DroverQuestionOpen', 'DroverLandingStands']);
    here.write('go', '');
    run.signal('SIGTERM');
    await run.ended;
  });

  test('failed, idle, stuck and conflicting tasks trigger their alerts', async () => {
    const here = project({ agent: troubledAgent });
    await beginPlan(here, [
      { id: 'broken', max_attempts: 1 },
      'idle',
      { id: 'clash-1', max_attempts: 1 },
      { id: 'clash-2', max_attempts: 1 },
      { id: 'after', blocked_by: ['broken'] },
    ]);
    await here.drover(['run', '--gate', 'true']);
    const text = await here.expect(0, ['metrics']);
    const ask = await firing(text, [
      'DroverTaskFailed',
      'DroverReviewWaits',
      'DroverTaskStuck',
      'DroverConflict',
    ]);
    const quiet = await ask('ALERTS{alertname=~"DroverQuestionOpen|DroverRemoteAway"}');
    assert.deepEqual(quiet.data.result, []);
  });

  test('each alert fires after its time, and not before', () => {
    const file = join(prometheus().folder, 'alerts-test.json');
    const tests = causes.map(({ alert, series, values, beside, silentAt, firingAt }) => {
      const [, labels = ''] = /\{(.*)\}/u.exec(series) ?? [];
      const pairs = [...labels.matchAll(/([a-z_]+)="([^"]*)"/gu)].map(([, name, value]) => [
        name,
        value,
      ]);
      const isOf = { severity: severities.get(alert), ...Object.fromEntries(pairs) };
      return {
        interval: '1m',
        input_series: [
          { series, values },
          ...(beside === undefined ? [] : [{ series: beside, values: '1x60' }]),
        ],
        promql_expr_test: [silentAt, firingAt].map((at) => ({
          expr: `ALERTS{alertname="${alert}",alertstate="firing"}`,
          eval_time: at,
          exp_samples:
            at === silentAt
              ? []
              : [
                  {
                    labels: `ALERTS${labelText({ alertname: alert, alertstate: 'firing', ...isOf })}`,
                    value: 1,
                  },
                ],
        })),
      };
    });
    writeFileSync(
      file,
      JSON.stringify({ rule_files: [alertsFile], evaluation_interval: '1m', tests }),
    );
    const output = execFileSync('/usr/bin/promtool', ['test', 'rules', file], { encoding: 'utf8' });
    assert.match(output, /SUCCESS/);
  });
});

const severities = new Map(
  [...readFileSync(alertsFile, 'utf8').matchAll(/alert: (\w+)[^]*?severity: (\w+)/gu)].map(
    ([, alert = '', severity = '']) => [alert, severity],
  ),
);

function labelText(labels: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `{${pairs.join(',')}}`;
}
