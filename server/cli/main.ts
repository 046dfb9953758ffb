// The entry of the `drover` command: provides the real process and loads only what the command
// needs.

import { droverVersion } from '../protocol/version.ts';

async function main(args: readonly string[]): Promise<void> {
  if (args.length === 1 && args[0] === '--version') {
    process.stdout.write(`${droverVersion}\n`);
    return;
  }
  const { runCommand } = await import('./run-command.ts');
  const { processSurroundings, flushAndExit } = await import('./process-surroundings.ts');
  await flushAndExit(await runCommand(args, processSurroundings()));
}

void main(process.argv.slice(2));
