// The command as a real process with an in-memory backend, for behavior that only a real process
// shows (pipes, signals, exit). It has two tasks, which change every few milliseconds until the run
// is stopped.

import { flushAndExit, processSurroundings } from '../../server/cli/process-surroundings.ts';
import { runCommand } from '../../server/cli/run-command.ts';
import { memoryBackend } from './memory-backend.ts';

const everyMs = 5;

const backend = memoryBackend({
  'run.stop': () => {
    backend.feed.append(
      { type: 'run.stopped', run_id: 'run-1' },
      { type: 'run.finished', run_id: 'run-1', data: { state: 'stopped' } },
    );
    return { stopped: ['run-1'] };
  },
});
backend.setTask({ id: 'task-1', status: 'in_progress', phase: 'agent', started_at: 1_700_000_000 });
backend.setTask({ id: 'task-2', title: 'Waits' });
setInterval(() => {
  const event = { type: 'task.heartbeat', task_id: 'task-1', at_ms: Date.now() };
  backend.feed.append(...Array.from({ length: 20 }, () => event));
}, everyMs);

const code = await runCommand(process.argv.slice(2), {
  ...processSurroundings(),
  loadBackends: async () => backend.backends,
});
await flushAndExit(code);
