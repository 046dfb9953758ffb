// A real Prometheus reads what `drover metrics` prints, and answers every query of the dashboard from it.

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dashboardText } from '../docs/telemetry.ts';
import { freePort } from '../free-port.ts';
import { removeFolder } from '../remove-folder.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

const program = '/usr/bin/prometheus';

/** One attempt of the second task fails, so that there is a series of every metric. */
const agent = `
cat > /dev/null
[ "$attempt" = 1 ] && [ "$id" = two ] && exit 1
echo "work of $id" > "$id.txt"
`;

interface Answer {
  readonly status: string;
  readonly data: { readonly result: readonly unknown[] };
}

suite('metrics for Prometheus', function () {
  this.timeout(120_000);
  const project = useProjects();
  let folder: string;
  let server: Server;
  let prometheus: ChildProcess | null = null;

  setup(() => {
    assert.ok(existsSync(program), `${program} is missing: apt-get install prometheus`);
    folder = mkdtempSync(join(tmpdir(), 'drover-prometheus-'));
  });

  teardown(async () => {
    const running = prometheus;
    if (running !== null && running.exitCode === null) {
      const ended = new Promise((resolve) => running.once('exit', resolve));
      running.kill('SIGKILL');
      await ended;
    }
    server.closeAllConnections();
    server.close();
    removeFolder(folder);
  });

  async function scraping(text: () => string): Promise<(query: string) => Promise<Answer>> {
    server = createServer((_, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end(text());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(
      join(folder, 'prometheus.yml'),
      `global:\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\nscrape_configs:\n  - job_name: drover\n    static_configs:\n      - targets: ['${target}']\n`,
    );
    const port = await freePort();
    prometheus = spawn(
      program,
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore', env: { PATH: '/usr/bin:/bin', HOME: folder } },
    );
    return async (query) => {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`;
      return (await (await fetch(url)).json()) as Answer;
    };
  }

  test('every query of the dashboard is answered with what a run has left', async () => {
    const here = project({ agent });
    await beginPlan(here, ['one', { id: 'two', blocked_by: ['one'] }]);
    await here.expect(0, ['run', '--gate', 'true']);
    const text = await here.expect(0, ['metrics']);
    const ask = await scraping(() => text);
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
});
