// A real Prometheus for a test: it scrapes the text that the test provides, and evaluates the alert
// rules.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';
import { removeFolder } from '../../remove-folder.ts';
import { eventually } from './eventually.ts';

const program = '/usr/bin/prometheus';

export const alertsFile = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'docs',
  'telemetry',
  'alerts.yml',
);

export interface Answer {
  readonly status: string;
  readonly data: { readonly result: readonly unknown[] };
}

export type Ask = (query: string) => Promise<Answer>;

export interface Prometheus {
  readonly folder: string;
  /** `rules`: the text of a file with alert rules. */
  scraping(text: () => string, rules?: string | null): Promise<Ask>;
  /** Scrapes with all alerts, which fire without the usual delay. */
  scrapingWithAlerts(text: () => string): Promise<Ask>;
}

/** Call in a suite; the returned function serves the running test. */
export function usePrometheus(): () => Prometheus {
  let running: RunningPrometheus | null = null;
  setup(() => {
    assert.ok(existsSync(program), `${program} is missing: apt-get install prometheus`);
    running = new RunningPrometheus();
  });
  teardown(async () => {
    const ending = running;
    running = null;
    await ending?.end();
  });
  return () => {
    assert.ok(running !== null);
    return running;
  };
}

export async function fires(ask: Ask, alert: string): Promise<void> {
  const query = `ALERTS{alertname="${alert}",alertstate="firing"}`;
  await eventually(`${alert} fires`, async () => {
    const answer = await ask(query).catch(() => null);
    return answer !== null && answer.data.result.length === 1;
  });
}

class RunningPrometheus implements Prometheus {
  readonly folder = mkdtempSync(join(tmpdir(), 'drover-prometheus-'));
  #server: Server | null = null;
  #process: ChildProcess | null = null;

  async scraping(text: () => string, rules: string | null = null): Promise<Ask> {
    const serving = createServer((_, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end(text());
    });
    await new Promise<void>((resolve) => {
      serving.listen(0, '127.0.0.1', resolve);
    });
    this.#server = serving;
    const { folder } = this;
    const target = `127.0.0.1:${(serving.address() as AddressInfo).port}`;
    if (rules !== null) writeFileSync(join(folder, 'rules.yml'), rules);
    writeFileSync(
      join(folder, 'prometheus.yml'),
      `global:\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n  evaluation_interval: 200ms\nrule_files: [rules.yml]\nscrape_configs:\n  - job_name: drover\n    static_configs:\n      - targets: ['${target}']\n`,
    );
    const port = await freePort();
    this.#process = spawn(
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

  scrapingWithAlerts(text: () => string): Promise<Ask> {
    const rules = readFileSync(alertsFile, 'utf8')
      .replaceAll(/^ +for: .*\n/gmu, '')
      .replace('drover_landing_oldest_seconds > 900', 'drover_landing_oldest_seconds > 0');
    return this.scraping(text, rules);
  }

  async end(): Promise<void> {
    const running = this.#process;
    if (running !== null && running.exitCode === null) {
      const ended = new Promise((resolve) => running.once('exit', resolve));
      running.kill('SIGKILL');
      await ended;
    }
    this.#server?.closeAllConnections();
    this.#server?.close();
    removeFolder(this.folder);
  }
}
