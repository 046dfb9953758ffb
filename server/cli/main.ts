// The `drover` command's entry: the real process around it, and nothing loaded that the command does not need.

import { droverVersion } from '../protocol/version.ts';

const args = process.argv.slice(2);
if (args.length === 1 && args[0] === '--version') {
  process.stdout.write(`${droverVersion}\n`);
} else {
  const { runCommand } = await import('./run-command.ts');
  const { processSurroundings, flushAndExit } = await import('./process-surroundings.ts');
  await flushAndExit(await runCommand(args, processSurroundings()));
}
