// Opens a web page in the user's browser.

import { spawn } from 'node:child_process';
import { thisPlatform } from './this-platform.ts';

/** On some systems, the program runs as long as the browser that it starts. */
const failsWithinMs = 3_000;

/** Resolves with false if the system has no program for it, or that program fails. */
export async function openLink(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const { program, args, input } = thisPlatform.openLink(url);
  return await new Promise((resolve) => {
    const child = spawn(program, [...args], {
      env: { ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: thisPlatform.hasProcessGroups,
      windowsHide: true,
    });
    const timer = setTimeout(() => resolve(true), failsWithinMs);
    const settle = (isOpened: boolean): void => {
      clearTimeout(timer);
      resolve(isOpened);
    };
    child.once('error', () => settle(false));
    child.once('exit', (code) => settle(code === 0));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.unref();
  });
}
