// A process that writes logs and stores them until it is killed: started by output-deaths.test.ts.

import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openEventLog } from '../../server/agents/kit/log/event-log.ts';
import { fileOf, openMachine } from './output-machines.ts';

export interface OutputChildOrders {
  readonly url: string;
  readonly machine: string;
  readonly logs: string;
  readonly tasks: readonly string[];
  /** Each log gets that many lines at once before the next log has its turn. */
  readonly linesAtOnce: number;
}

const pauseMs = 10;
const orders = JSON.parse(process.argv[2] ?? '{}') as OutputChildOrders;
const machine = await openMachine(orders.url, orders.machine, { logs: orders.logs });
const logs = orders.tasks.map((id) =>
  openEventLog(join(machine.logs, fileOf(id)), { maxBytes: 1e8 }),
);
for (let line = 0; ;) {
  for (const log of logs)
    for (let turn = 0; turn < orders.linesAtOnce; turn += 1)
      log.append({ type: 'text', text: `line ${line + turn} ${'x'.repeat(200)}` });
  line += orders.linesAtOnce;
  await Promise.all(logs.map((log) => log.flush()));
  await setTimeout(pauseMs);
}
