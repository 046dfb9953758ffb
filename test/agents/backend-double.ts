// A backend that can be killed: runs the driver with the settings and the request from its
// argument, and prints which process it started.

import { createDriver } from '../../server/agents/drivers.ts';
import type { AgentRequest, AgentSettings } from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import { createRecordingHost } from './support.ts';

const [settings, request] = JSON.parse(process.argv[2] ?? '') as [AgentSettings, AgentRequest];
const deps = {
  processTable: createProcessTable(),
  baseDir: '/',
  version: '0',
  emptySpoolAtBytes: 50_000,
};
const driver = createDriver(settings, deps);
const host = createRecordingHost((question) => question.choices[0] ?? null);
host.onProcess = (agent) => {
  process.stdout.write(`${JSON.stringify(agent)}\n`);
  return Promise.resolve();
};
await driver.run(request, host, new AbortController().signal);
