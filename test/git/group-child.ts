// A program that runs one command like Drover runs git, and survives every signal itself.

import { runOnce } from '../../server/git/process/run-once.ts';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
const [script = ''] = process.argv.slice(2);
const { code, stdout, problem } = await runOnce(
  {
    binary: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    environment: { PATH: '/usr/bin:/bin' },
    addedEnvironment: {},
    input: null,
    maxOutputBytes: 1_000,
    truncate: false,
    mayLeaveOthers: false,
    timeoutMs: 30_000,
  },
  null,
);
console.log(JSON.stringify({ code, problem, stdout: stdout.toString('utf8').trim() }));
