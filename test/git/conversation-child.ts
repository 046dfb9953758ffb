// Asks one question, prints the answer, and keeps running.

import { openGitProcesses } from '../../server/git/process/process.ts';

const [binary = '', cwd = '', ...args] = process.argv.slice(2);
const processes = openGitProcesses({
  binary,
  environment: { PATH: process.env['PATH'] ?? '', HOME: cwd },
  concurrency: 1,
  maxOutputBytes: 1_000,
  timeoutMs: 10_000,
});
const git = processes.converse(() => Promise.resolve({ args, cwd }));
const answer = await git.ask({ input: 'one\n', read: (output) => output.toString() });
process.stdout.write(answer.ok ? answer.value : 'none\n');
setInterval(() => undefined, 60_000);
