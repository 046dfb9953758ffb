// The simulation's own program as a process of a test.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const outputBytesMax = 64 * 1024 * 1024;

/**
 * Takes the arguments of `npm run simulate`. If the process fails, `output` contains both of its
 * outputs.
 */
export async function simulate(args: readonly string[]): Promise<{ code: number; output: string }> {
  const program = join(import.meta.dirname, 'main.ts');
  try {
    const { stdout } = await run(process.execPath, [program, ...args], {
      maxBuffer: outputBytesMax,
    });
    return { code: 0, output: stdout };
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return { code: 1, output: `${stdout ?? String(error)}\n${stderr ?? ''}` };
  }
}
